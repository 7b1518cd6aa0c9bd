"""A workload as files describe it: accelerators that work together, copies of them, and how long they run."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from planner.inputs.cell_grid import Cell
from pricing.frozen_values import dataclass

RunKind = Literal["service", "job", "scheduled", "queue"]


@dataclass(frozen=True, slots=True)
class RunTime:
    """How long each copy runs. `hours_limit` is the longest time of a run that the file allows, `runs_per_month` what
    it states itself; None where it does not. `cell` is where the file states most of it."""

    kind: RunKind
    cell: Cell
    hours_limit: float | None = None
    runs_per_month: float | None = None


@dataclass(frozen=True, slots=True)
class CopyBounds:
    """A number of copies that the file leaves open between two bounds; `stated` is the number it starts with."""

    low: float
    high: float
    cell: Cell
    stated: float | None = None


@dataclass(frozen=True, slots=True)
class WorkloadDraft:
    """`gang` accelerators work together, `per_node` of them on one node; `copies` of the gang run.

    `accelerators` are names of the catalogue; hours are counted on the first of them. Further fields of a workload
    are in `fields`, and `cells` has the place of each value by its path in the workload.
    """

    name: str
    cell: Cell
    kind: str
    accelerators: tuple[str, ...]
    gang: float
    run: RunTime
    copies: float | CopyBounds = 1.0
    per_node: float | None = None
    team: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    cells: dict[str, Cell] = field(default_factory=dict)
