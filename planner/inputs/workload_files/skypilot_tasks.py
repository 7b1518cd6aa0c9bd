"""SkyPilot tasks, services and pipelines: docs.skypilot.co/en/latest/reference/yaml-spec.html, read 2026-11-23.

`any_of` and `ordered` are alternatives, each over the other fields of `resources`. A task is one gang of
`num_nodes` nodes with the accelerators of `resources` on each; a service has replicas of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from planner.inputs.cell_grid import Cell
from planner.inputs.workload_files.hardware_names import find_instance_type, find_place, find_skypilot_accelerator
from planner.inputs.workload_files.placed_document import ANY, Path, PlacedDocument, positive_number
from planner.inputs.workload_files.workload_draft import CopyBounds, RunTime, WorkloadDraft
from planner.inputs.workload_files.workload_log import WorkloadLog

KEYS = frozenset({"resources", "num_nodes", "run", "setup", "service", "file_mounts", "workdir", "envs", "pool"})
"""Keys at the top of a task; a file with one of them and none of a request is SkyPilot's."""
OWN_CLUSTERS = ("k8s", "kubernetes", "ssh", "slurm")
"""`infra` of clusters of one's own, which no catalogue sells."""
HARDWARE_FIELDS = (
    "infra", "cloud", "region", "zone", "accelerators", "gpus", "instance_type", "use_spot", "cpus", "memory",
)  # fmt: skip
WITHOUT_EFFECT: tuple[Path, ...] = (
    *((name,) for name in ("name", "workdir", "envs", "secrets", "file_mounts", "setup", "run", "config", "volumes")),
    *(("resources", name) for name in ("ports", "image_id", "labels", "autostop", "job_recovery", "accelerator_args")),
    *(("resources", name) for name in ("disk_size", "disk_tier", "network_tier", "priority", "local_disk")),
    *(
        ("resources", kind, ANY, name)
        for kind in ("any_of", "ordered")
        for name in ("disk_size", "disk_tier", "labels")
    ),
    *(("service", name) for name in ("readiness_probe", "ports", "load_balancing_policy", "tls")),
    *(("service", "replica_policy", name) for name in ("target_qps_per_replica", "upscale_delay_seconds")),
    ("service", "replica_policy", "downscale_delay_seconds"),
)
"""Known fields without effect on a plan: commands, and the disks and addresses of nodes."""
EXPECTED_ACCELERATORS = "a name with a count, such as H100:8, or a list or mapping of them"
EXPECTED_SIZE = "a number, such as 8, with + for at least so many"


@dataclass(slots=True)
class TaskHardware:
    """The alternatives of one task: accelerators with their numbers on a node, places, and whether one is spot."""

    accelerators: dict[str, float] = field(default_factory=dict)
    places: list[tuple[str, str]] = field(default_factory=list)
    spot: set[bool] = field(default_factory=set)
    cells: dict[str, Cell] = field(default_factory=dict)
    sellers: set[str] = field(default_factory=set)
    """The provider of the instance type of an alternative that names no other place."""


def is_skypilot(document: PlacedDocument) -> bool:
    """Whether a document is a task, or the head of a pipeline."""
    return bool(KEYS & set(document.names()))


def read_tasks(log: WorkloadLog, documents: list[PlacedDocument]) -> None:
    """Adds the task of each document; a first one with a name alone is that of the pipeline."""
    pipeline = ""
    for number, document in enumerate(documents):
        if number == 0 and len(documents) > 1 and not is_skypilot(document):
            pipeline = document.take_text("name")
            log.refuse(Cell(document.place(), pipeline), "the name of the pipeline")
            document.take("execution")
        else:
            _read_task(log, document, pipeline, number)
        log.name_unused(document, WITHOUT_EFFECT)


def _read_task(log: WorkloadLog, document: PlacedDocument, pipeline: str, number: int) -> None:
    name = document.take_text("name") or (f"{pipeline or 'task'} {number}" if number else pipeline or "task")
    cell = Cell(document.place(), name)
    faults = len(log.complaints)
    nodes = _read_count(log, document, "num_nodes")
    hardware = TaskHardware()
    alternatives = list(_list_alternatives(document))
    sold = [path for path in alternatives if _is_sold(log, document, path)]
    for path in alternatives:
        if path in (sold or alternatives):
            _read_alternative(log, document, path, hardware)
        else:
            place = document.cell(*path)
            document.take(*path)
            log.note(f"{place.place}: an alternative is left out, its cloud is not in the catalogue: {place.text}")
    if len(log.complaints) > faults:
        return
    if not hardware.accelerators:
        log.refuse(cell, "no accelerators: nodes with CPUs alone are not planned")
        return
    names = tuple(hardware.accelerators)
    per_node = _choose_per_node(log, name, hardware, cell)
    fields = _place_fields(log, hardware)
    if True in hardware.spot:
        fields["interruptible"] = True
    if hardware.spot == {True, False}:
        log.note(f"{cell.place}: {name}: spot is one of its alternatives; all of the work may run on spot")
    _read_node_size(log, document, per_node, fields)
    if len(log.complaints) > faults:
        return
    is_service = bool(document.names("service"))
    copies = _read_replicas(log, document) if is_service else 1.0
    log.add_workload(
        WorkloadDraft(
            name,
            cell,
            "inference" if is_service else "batch",
            names,
            per_node * nodes,
            RunTime("service" if is_service else "job", cell),
            copies,
            per_node,
            fields=fields,
            cells=hardware.cells,
        )
    )


def _list_alternatives(document: PlacedDocument) -> Iterator[Path]:
    """The paths of the alternatives of `resources`: the mapping itself, or each element of its lists."""
    matched = False
    if document.indexes("resources"):
        yield from (("resources", index) for index in document.indexes("resources"))
        return
    for kind in ("any_of", "ordered"):
        for index in document.indexes("resources", kind):
            matched = True
            yield "resources", kind, index
    if not matched:
        yield ("resources",)


def _is_sold(log: WorkloadLog, document: PlacedDocument, path: Path) -> bool:
    """Whether the cloud of an alternative is in the catalogue, one of your own, or not named."""
    infra, cloud = ((document.find(*path, name) or document.find("resources", name)) for name in ("infra", "cloud"))
    name = str(infra or cloud or "").partition("/")[0].casefold().strip("* ")
    return not name or name in (*OWN_CLUSTERS, *log.catalog.providers)


def _take_hardware(document: PlacedDocument, path: Path, name: str) -> tuple[Any, Path]:
    """A field of an alternative, else of `resources` above it, with its path; both are used."""
    value = document.take(*path, name)
    common = document.take("resources", name) if len(path) > 1 else None
    return (value, (*path, name)) if value is not None else (common, ("resources", name))


def _read_alternative(log: WorkloadLog, document: PlacedDocument, path: Path, hardware: TaskHardware) -> None:
    values = {name: _take_hardware(document, path, name) for name in HARDWARE_FIELDS}
    written, at = values["accelerators"] if values["accelerators"][0] is not None else values["gpus"]
    spot, spot_path = values["use_spot"]
    hardware.spot.add(spot is True)
    if spot is True:
        hardware.cells["interruptible"] = document.cell(*spot_path)
    machine, machine_path = values["instance_type"]
    if written is not None:
        _read_accelerators(log, document.cell(*at), written, hardware)
        if hardware.accelerators:
            hardware.cells.setdefault("demand.accelerator", document.cell(*at))
    elif machine is not None:
        cell, matched = document.cell(*machine_path), find_instance_type(log.catalog, str(machine))
        if matched is None:
            log.refuse(cell, "an instance type without accelerators, or one that the catalogue does not know")
        else:
            hardware.accelerators.setdefault(matched[1], matched[2])
            hardware.cells.setdefault("demand.accelerator", cell)
            log.note(
                f"{cell.place}: {machine} is read as {matched[2]:g} x {matched[1]}; any type with them may be planned"
            )
            hardware.sellers.add(matched[0])
    _read_place(log, document, values, hardware)


def _read_accelerators(log: WorkloadLog, cell: Cell, written: Any, hardware: TaskHardware) -> None:
    """`H100:8`, `{H100: 8, A100: 8}`, `[H100:8, A100:8]` or the set `{H100:8, A100:8}`."""
    if isinstance(written, dict):
        pairs = [(name, count) if count is not None else _split_count(name) for name, count in written.items()]
    elif isinstance(written, list):
        pairs = [_split_count(each) for each in written]
    else:
        pairs = [_split_count(written)]
    if isinstance(written, list) and pairs:
        log.note(f"{cell.place}: accelerators are a list in order of preference; the plan takes the cheapest of them")
    for name, count in pairs:
        number = positive_number(count)
        accelerator, each = find_skypilot_accelerator(log.catalog, name)
        if number is None or not accelerator:
            place = Cell(cell.place, f"{name}:{count}" if count != 1 else name)
            message = "no accelerator of the catalogue" if not accelerator else "no number of accelerators"
            log.add_problem(place, message, EXPECTED_ACCELERATORS)
        else:
            hardware.accelerators.setdefault(accelerator, number * each)


def _split_count(written: Any) -> tuple[str, Any]:
    name, _, count = str(written).partition(":")
    return name.strip(), count.strip() or 1


def _read_place(
    log: WorkloadLog, document: PlacedDocument, values: dict[str, tuple[Any, Path]], hardware: TaskHardware
) -> None:
    """Provider and region of an alternative: `infra: aws/us-east-1/us-east-1a`, or cloud, region and zone."""
    infra, at = values["infra"]
    parts = [part.strip() for part in str(infra).split("/")] if infra is not None else []
    cloud, region, zone = (str(values[name][0] or "") for name in ("cloud", "region", "zone"))
    if infra is not None:
        cloud, region, zone = (*parts, "", "", "")[:3]
    elif cloud or region or zone:
        at = next(values[name][1] for name in ("cloud", "region", "zone") if values[name][0] is not None)
    else:
        hardware.places.append((hardware.sellers.pop() if hardware.sellers else "", ""))
        return
    cell = document.cell(*at)
    cloud, where = cloud.casefold().strip("*"), (zone or region).strip("*")
    if cloud in OWN_CLUSTERS:
        log.note(f"{cell.place}: {cell.text}: a cluster of your own; the plan may run anywhere")
        hardware.places.append(("", ""))
        return
    matched = [place for place in find_place(log.catalog, where) if cloud in ("", place[0])] if where else []
    if where and not matched:
        log.add_problem(Cell(cell.place, where), "no region or zone of the catalogue", f"one of {cloud or 'a cloud'}")
        return
    hardware.places += matched or [(cloud, "")]
    hardware.cells["regions" if matched else "providers"] = cell


def _place_fields(log: WorkloadLog, hardware: TaskHardware) -> dict[str, Any]:
    """Providers and regions of all alternatives together, as far as a workload can state them."""
    providers = sorted({provider for provider, _ in hardware.places})
    regions = sorted({region for _, region in hardware.places})
    fields: dict[str, Any] = {}
    if "" not in providers:
        fields["providers"] = providers
    if "" not in regions:
        fields["regions"] = regions
    elif any(regions) and (cell := hardware.cells.get("regions")):
        named = ", ".join(filter(None, regions))
        log.note(f"{cell.place}: regions are not used, since another alternative names none: {named}")
    hardware.cells = {
        path: cell for path, cell in hardware.cells.items() if path in fields or path not in ("regions", "providers")
    }
    return fields


def _choose_per_node(log: WorkloadLog, name: str, hardware: TaskHardware, cell: Cell) -> float:
    """Accelerators on a node: those of the first alternative; others with another number are left out by name."""
    first, *others = hardware.accelerators.items()
    for accelerator, count in others:
        if count != first[1]:
            del hardware.accelerators[accelerator]
            log.note(f"{cell.place}: {name}: {count:g} x {accelerator} is left out: a job has one size, {first[1]:g}")
    return first[1]


def _read_node_size(log: WorkloadLog, document: PlacedDocument, per_node: float, fields: dict[str, Any]) -> None:
    """Processors and memory of a node, for each accelerator: `8`, `8+`, for memory also `4x` (times the processors)."""
    sizes: dict[str, float] = {}
    for name in ("cpus", "memory"):
        if (value := document.take("resources", name)) is None:
            continue
        text, cell = str(value).strip(), document.cell("resources", name)
        match = re.fullmatch(r"(?i)(\d+(?:\.\d+)?)\s*(x|gb|gib)?(\+?)", text)
        number = positive_number(match[1]) if match else None
        if match is None or number is None or (name == "cpus" and match[2]):
            log.add_problem(cell, f"no size of {name}", EXPECTED_SIZE)
            continue
        if (match[2] or "").casefold() == "x":
            if "cpus" not in sizes:
                log.note(f"{cell.place}: memory {text} is not used: cpus are not stated")
                continue
            number *= sizes["cpus"]
        sizes[name] = number
        if not match[3]:
            log.note(f"{cell.place}: {name} {text} is read as at least so many")
    for name, path in (("cpus", "cpus_per_accelerator"), ("memory", "host_memory_gib_per_accelerator")):
        if name in sizes:
            fields[path] = sizes[name] / per_node


def _read_count(log: WorkloadLog, document: PlacedDocument, *path: str | int) -> float:
    """A whole number of nodes or replicas, 1 by default."""
    if (value := document.take(*path)) is None:
        return 1.0
    number = positive_number(value)
    if number is None or number != int(number):
        log.add_problem(document.cell(*path), "no number", "a whole number above 0")
        return 1.0
    return number


def _read_replicas(log: WorkloadLog, document: PlacedDocument) -> float | CopyBounds:
    """`replicas`, or the bounds of `replica_policy`."""
    policy = ("service", "replica_policy")
    if not document.names(*policy):
        return _read_count(log, document, "service", "replicas")
    low = _read_count(log, document, *policy, "min_replicas") if document.find(*policy, "min_replicas") != 0 else 0.0
    document.take(*policy, "min_replicas")
    high = _read_count(log, document, *policy, "max_replicas") if document.find(*policy, "max_replicas") else low
    return CopyBounds(low, max(low, high), document.cell(*policy))
