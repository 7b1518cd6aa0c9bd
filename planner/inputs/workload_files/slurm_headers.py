"""The jobs of Slurm batch scripts: slurm.schedmd.com/sbatch.html, read 2026-11-23.

A heterogeneous job is one workload for each of its components. --time is the longest that a run may take.
"""

from __future__ import annotations

import math
import re

from planner.inputs.cell_grid import Cell
from planner.inputs.workload_files.hardware_names import find_accelerator
from planner.inputs.workload_files.pod_hardware import parse_quantity
from planner.inputs.workload_files.slurm_options import (
    GPU_OPTIONS,
    USED,
    WITHOUT_EFFECT,
    BatchHeader,
    list_headers,
)
from planner.inputs.workload_files.workload_draft import RunTime, WorkloadDraft
from planner.inputs.workload_files.workload_log import WorkloadLog
from pricing.frozen_values import dataclass
from pricing.units import GIB

MEMORY = re.compile(r"(\d+(?:\.\d+)?)([KMGT])?B?", re.IGNORECASE)
"""Without a unit: megabytes."""
_GRES = re.compile(r"(?:gres/)?gpu(?:[:/](?P<kind>[A-Za-z][\w.-]*))?(?:[:=](?P<count>\d+))?(?:\(.*\))?")
_COUNT = re.compile(r"(?:(?P<kind>[A-Za-z][\w.-]*):)?(?P<count>\d+)")
_TIME = re.compile(r"(?:(?P<days>\d+)-)?(?P<first>\d+)(?::(?P<second>\d+))?(?::(?P<third>\d+))?")


@dataclass(frozen=True, slots=True)
class GpuCount:
    """GPUs of the whole job and on each node; `kind` is the type that is requested, empty for none."""

    total: float
    per_node: float | None
    kind: str
    cell: Cell


def read_script(log: WorkloadLog, text: str) -> None:
    """Adds a workload for each component of the script."""
    headers = list(list_headers(log, text))
    for index, header in enumerate(headers):
        for name, cell in header.options.items():
            if name not in USED | WITHOUT_EFFECT:
                log.note(f"{cell.place}: not used: --{name}{f'={cell.text}' if cell.text else ''}")
        _read_header(log, header, headers[0], index if len(headers) > 1 else None)


def _read_header(log: WorkloadLog, header: BatchHeader, first: BatchHeader, component: int | None) -> None:
    title = header.text("job-name") or first.text("job-name") or log.name.rpartition(".")[0] or log.name
    name = title if component is None else f"{title} {component}"
    faults = len(log.complaints)
    nodes, gpus = _read_nodes(log, header), None
    if len(log.complaints) == faults:
        gpus = _count_gpus(log, header, nodes)
    if len(log.complaints) > faults:
        return
    if gpus is None:
        log.refuse(Cell(header.cell.place, name), "no accelerators: --gres, --gpus or --gpus-per-node request none")
        return
    accelerator = _name_accelerator(log, name, header, gpus)
    tasks, at_once = _read_array(log, header)
    limit = _read_time(log, header)
    fields, cells = _read_settings(log, header, gpus)
    if at_once:
        fields["parallel_jobs"] = at_once
    if len(log.complaints) > faults or not accelerator:
        return
    run = RunTime("job", header.options.get("time", gpus.cell), limit)
    team = header.text("account") or first.text("account")
    cells |= {"gang": gpus.cell, "demand.accelerator": gpus.cell}
    draft = WorkloadDraft(
        name, gpus.cell, "batch", (accelerator,), gpus.total, run, tasks, gpus.per_node, team, fields, cells
    )
    log.add_workload(draft)


def _read_whole(log: WorkloadLog, header: BatchHeader, name: str) -> int | None:
    """A whole number above 0; None where the option is not given."""
    cell = header.options.get(name)
    if cell is None:
        return None
    if not re.fullmatch(r"[1-9]\d{0,8}", cell.text):
        log.add_problem(cell, f"--{name} is no number", "a whole number above 0")
        return None
    return int(cell.text)


def _read_nodes(log: WorkloadLog, header: BatchHeader) -> float:
    """Nodes of the job: --nodes (of a range the most, with a question), else by tasks, else 1."""
    cell = header.options.get("nodes")
    tasks, each = _read_whole(log, header, "ntasks"), _read_whole(log, header, "ntasks-per-node")
    if cell is None:
        return float(math.ceil(tasks / each)) if tasks and each else 1.0
    match = re.fullmatch(r"([1-9]\d{0,5})([kK]?)(?:-([1-9]\d{0,5})([kK]?))?", cell.text)
    if match is None:
        log.add_problem(cell, "--nodes is no number of nodes", "a number or a range, such as 4 or 2-4")
        return 1.0
    low = float(match[1]) * (1024 if match[2] else 1)
    high = float(match[3]) * (1024 if match[4] else 1) if match[3] else low
    if high <= low:
        return low
    question = f"On how many nodes does it run, between {low:g} and {high:g}?"
    choices = {f"{each:g}": each / high for each in (low, high)}
    return float(log.doubts.decide("nodes", cell, question, choices, f"{high:g}", len(log.workloads)))


def _parse_gpus(log: WorkloadLog, cell: Cell, name: str) -> tuple[str, float] | None:
    """Type and number of GPUs of an option: [type:]number, or gpu[:type][:number] in a list of resources."""
    matched: tuple[str, float] | None = None
    is_list = name in ("gres", "tres-per-task", "tres-per-job")
    for part in cell.text.split(","):
        if is_list and not re.match(r"(?:gres/)?gpu(?![\w-])", part):
            if re.match(r"(?:gres/)?(?:shard|mps)(?![\w-])", part):
                log.add_problem(Cell(cell.place, part), "a part of a GPU of unknown size", "whole GPUs: gpu:1")
            continue
        match = (
            _GRES.fullmatch(part) if is_list else re.fullmatch(r"(?:(?P<kind>[A-Za-z][\w.-]*):)?(?P<count>\d+)", part)
        )
        if match is None:
            log.add_problem(Cell(cell.place, part), f"--{name} is no number of GPUs", "such as gpu:a100:4, or a100:4")
        elif matched is not None:
            log.add_problem(cell, "GPUs of two types in one job", "one type, or a heterogeneous job")
        else:
            matched = match["kind"] or "", float(match["count"] or 1)
    return matched


def _count_gpus(log: WorkloadLog, header: BatchHeader, nodes: float) -> GpuCount | None:
    """The GPUs of a job by the first option that states them; None where none does."""
    stated = {
        name: (*parsed, header.options[name])
        for name in GPU_OPTIONS
        if name in header.options and (parsed := _parse_gpus(log, header.options[name], name)) is not None
    }
    tasks, per_node_tasks = _read_whole(log, header, "ntasks"), _read_whole(log, header, "ntasks-per-node")
    tasks = tasks or (int(per_node_tasks * nodes) if per_node_tasks else int(nodes))
    for name, (kind, count, cell) in stated.items():
        if not count:
            continue
        if name in ("gpus", "tres-per-job"):
            even = count / nodes
            return GpuCount(count, even if "nodes" in header.options and even == int(even) else None, kind, cell)
        if name in ("gpus-per-node", "gres"):
            return GpuCount(count * nodes, count, kind, cell)
        if name in ("gpus-per-task", "tres-per-task"):
            even = count * tasks / nodes
            return GpuCount(count * tasks, even if even == int(even) else None, kind, cell)
        sockets = _read_whole(log, header, "sockets-per-node")
        if sockets is None:
            log.add_problem(
                cell, "GPUs of each socket, and no number of sockets", "--sockets-per-node, or --gpus-per-node"
            )
            return None
        return GpuCount(count * sockets * nodes, count * sockets, kind, cell)
    return None


def _name_accelerator(log: WorkloadLog, name: str, header: BatchHeader, gpus: GpuCount) -> str:
    """The accelerator: the type of the GPUs, an answer, a feature (--constraint) or the partition that is one."""
    if answer := log.find_answer("accelerator", name):
        if not (matched := find_accelerator(log.catalog, answer)):
            log.add_problem(Cell(gpus.cell.place, answer), "no accelerator of the catalogue", "such as H100")
        return matched
    if gpus.kind and (matched := find_accelerator(log.catalog, gpus.kind)):
        return matched
    if not gpus.kind:
        for option in ("constraint", "partition"):
            for word in re.split(r"[&|,()\[\]*!\s]+", header.text(option)):
                for part in (word, *re.split(r"[-_:]", word)):
                    if len(part) > 1 and (matched := find_accelerator(log.catalog, part)):
                        log.note(f"{header.options[option].place}: --{option}={word} is read as {matched}")
                        return matched
    cell = Cell(gpus.cell.place, gpus.kind or gpus.cell.text)
    message = "no accelerator of the catalogue" if gpus.kind else "the type of its GPUs is not named"
    expected = f"a type, such as gpu:h100:8, or the answer 'accelerator: {name}', such as H100"
    log.add_problem(cell, f"{name}: {message}", expected)
    return ""


def _read_array(log: WorkloadLog, header: BatchHeader) -> tuple[float, int | None]:
    """Tasks of an array, and how many may run at once: 0-15%4, 1,3,5, 1-7:2."""
    cell = header.options.get("array")
    if cell is None:
        return 1.0, None
    ranges, percent, most = cell.text.partition("%")
    indexes: set[int] = set()
    for part in ranges.split(","):
        match = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7})(?::([1-9]\d{0,6}))?)?", part)
        if match is None or (percent and not re.fullmatch(r"[1-9]\d{0,6}", most)):
            log.add_problem(cell, "--array is no list of tasks", "such as 0-15, 1,3,5 or 0-99%8")
            return 1.0, None
        indexes |= set(range(int(match[1]), int(match[2] or match[1]) + 1, int(match[3] or 1)))
    if not indexes:
        log.add_problem(cell, "--array has no tasks", "such as 0-15")
    return float(max(1, len(indexes))), min(int(most), len(indexes)) if percent and indexes else None


def parse_time(text: str) -> float | None:
    """Hours of a time limit; inf for none, None for a text that is no time.

    >>> parse_time("90"), parse_time("2-12"), parse_time("1:30:00"), parse_time("30:00"), parse_time("soon")
    (1.5, 60.0, 1.5, 0.5, None)
    """
    if text.casefold() in ("unlimited", "infinite", "0"):
        return math.inf
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    parts = [int(each) for each in (match["first"], match["second"], match["third"]) if each is not None]
    if match["days"] is not None:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
        return int(match["days"]) * 24 + hours + minutes / 60 + seconds / 3600
    hours, minutes, seconds = {1: (0, *parts, 0), 2: (0, *parts), 3: parts}[len(parts)]
    return hours + minutes / 60 + seconds / 3600


def _read_time(log: WorkloadLog, header: BatchHeader) -> float | None:
    """The time limit in hours; None where there is none."""
    cell = header.options.get("time")
    if cell is None:
        return None
    hours = parse_time(cell.text)
    if hours is None:
        log.add_problem(cell, "--time is no time", "minutes, hours:minutes:seconds or days-hours")
        return None
    return hours if 0 < hours < math.inf else None


def _read_settings(
    log: WorkloadLog, header: BatchHeader, gpus: GpuCount
) -> tuple[dict[str, float | bool], dict[str, Cell]]:
    """Interruption, processors and memory for each GPU, with their places; options without effect are noted."""
    fields: dict[str, float | bool] = {}
    cells: dict[str, Cell] = {}
    if "requeue" in header.options:
        fields["interruptible"] = True
        cells["interruptible"] = Cell(header.options["requeue"].place, "--requeue")
        log.note(f"{header.options['requeue'].place}: --requeue: it may be interrupted, and so run on spot")
    if "exclusive" in header.options:
        log.note(f"{header.options['exclusive'].place}: --exclusive: whole nodes, as the plan rents them")
    per_task, tasks = _read_whole(log, header, "cpus-per-task"), _read_whole(log, header, "ntasks")
    cpus = _read_whole(log, header, "cpus-per-gpu")
    if cpus is None and per_task is not None:
        nodes = gpus.total / gpus.per_node if gpus.per_node else 1
        number = tasks or (_read_whole(log, header, "ntasks-per-node") or 1) * nodes
        fields["cpus_per_accelerator"] = round(per_task * number / gpus.total, 6)
        cells["cpus_per_accelerator"] = header.options["cpus-per-task"]
    elif cpus is not None:
        fields["cpus_per_accelerator"] = float(cpus)
        cells["cpus_per_accelerator"] = header.options["cpus-per-gpu"]
    for name, gpus_each in (("mem-per-gpu", 1.0), ("mem", gpus.per_node or gpus.total)):
        cell = header.options.get(name)
        if cell is None or cell.text == "0":
            continue
        match = MEMORY.fullmatch(cell.text)
        amount = parse_quantity(f"{match[1]}{(match[2] or 'M').upper()}i") if match else None
        if amount is None:
            log.add_problem(cell, f"--{name} is no memory", "such as 480G")
        else:
            fields["host_memory_gib_per_accelerator"] = round(amount / GIB / gpus_each, 6)
            cells["host_memory_gib_per_accelerator"] = cell
            break
    return fields, cells
