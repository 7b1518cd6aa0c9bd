"""Pods of one template, as objects of Kubernetes run them: how many, how many at once, and how long."""

from __future__ import annotations

from planner.inputs.cell_grid import Cell
from planner.inputs.workload_files.kubernetes_objects import ManifestObject
from planner.inputs.workload_files.placed_document import Path, PlacedDocument, positive_number
from planner.inputs.workload_files.workload_draft import CopyBounds, RunTime
from planner.inputs.workload_files.workload_log import WorkloadLog
from pricing.frozen_values import dataclass

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class PodGroup:
    """Pods of one template: `copies` of them run, `at_once` at the same time. `part` names the group within its object.

    A copy is several pods that always work together where it has `hosts`. `cell` is the place that makes it likely that
    all pods work together.
    """

    spec: Path
    copies: float | CopyBounds
    run: RunTime
    kind: str
    at_once: float | None = None
    cell: Cell | None = None
    part: str = ""
    hosts: float = 1.0


def read_number(log: WorkloadLog, document: PlacedDocument, default: float, *path: str | int) -> float:
    """A whole number at a path; a problem where there is none."""
    value = document.take(*path)
    number = default if value is None else 0.0 if value == 0 and value is not False else positive_number(value)
    if number is None or number != int(number):
        log.add_problem(document.cell(*path), "no number", "a whole number")
        return default
    return number


def read_deadline(log: WorkloadLog, document: PlacedDocument, spec: Path) -> float | None:
    """The hours of activeDeadlineSeconds."""
    seconds = read_number(log, document, 0.0, *spec, "activeDeadlineSeconds")
    return seconds / HOUR_S if seconds else None


def read_job_spec(log: WorkloadLog, item: ManifestObject, spec: Path, runs: float | None) -> PodGroup:
    """The pods of a job; `runs` a month, where a schedule tells it."""
    document = item.document
    parallel = read_number(log, document, 1.0, *spec, "parallelism") or 1.0
    completions = read_number(log, document, parallel, *spec, "completions")
    deadline = read_deadline(log, document, spec)
    run = RunTime("job" if runs is None else "scheduled", item.cell, deadline, runs)
    # A deadline is that of the whole job, which runs `parallelism` pods at a time; other times are those of a pod.
    copies = min(parallel, completions) if deadline is not None else completions
    is_indexed = document.find(*spec, "completionMode") == "Indexed" and completions == parallel > 1
    cell = document.cell(*spec, "completionMode") if is_indexed else None
    return PodGroup((*spec, "template", "spec"), copies, run, "batch", min(parallel, completions), cell)
