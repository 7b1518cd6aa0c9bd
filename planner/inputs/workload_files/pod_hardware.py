"""The accelerators, node labels and sizes that the pods of a template request.

Requests: kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus; init containers: the larger of their greatest and the
sum of the others (kubernetes.io/docs/concepts/workloads/pods/init-containers). Labels of GKE (GPUs, TPUs),
GPU feature discovery, Karpenter for AWS, EKS and AKS; read 2026-11-23.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from planner.inputs.cell_grid import Cell
from planner.inputs.workload_files.hardware_names import find_accelerator, find_instance_type, find_place
from planner.inputs.workload_files.placed_document import Path, PlacedDocument, positive_number
from planner.inputs.workload_files.workload_log import WorkloadLog
from pricing.frozen_values import dataclass
from pricing.mig_slices import load_slices
from pricing.units import GB, GIB

GPU, TPU = "nvidia.com/gpu", "google.com/tpu"
COUNTED = (
    GPU,
    TPU,
    "amd.com/gpu",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
    "habana.ai/gaudi",
    "aws.amazon.com/neuron",
)
"""Resources of which one is a whole accelerator."""
MIG_PREFIX = "nvidia.com/mig-"
PARTS = ("nvidia.com/gpu.shared", "aws.amazon.com/neuroncore", "nvidia.com/gpumem", "cloud-tpus.google.com/")
"""Resources of which one is an unknown part of an accelerator."""
PART_LABELS = (
    "cloud.google.com/gke-accelerator", "nvidia.com/gpu.product", "k8s.amazonaws.com/accelerator",
    "karpenter.k8s.aws/instance-gpu-name", "karpenter.k8s.aws/instance-accelerator-name", "amd.com/gpu.product-name",
    "cloud.google.com/gke-tpu-accelerator", "gpu.nvidia.com/model", "gpu.nvidia.com/class", "accelerator",
)  # fmt: skip
TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
PLACE_LABELS = (
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
)  # fmt: skip
SPOT_LABELS = {
    "cloud.google.com/gke-spot": "true", "cloud.google.com/gke-preemptible": "true",
    "karpenter.sh/capacity-type": "spot",
    "eks.amazonaws.com/capacityType": "spot", "kubernetes.azure.com/scalesetpriority": "spot",
}  # fmt: skip
TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"
IGNORED_LABELS = ("kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch")
QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:[eE]\d+)?)(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?")
FACTORS = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": GB, "T": 1e12, "P": 1e15} | {
    f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTP", 1)
}


@dataclass(slots=True)
class PodHardware:
    """The request of one pod: `count` accelerators of one of `accelerators` (empty: not named), and where."""

    count: float = 0.0
    resource: str = ""
    cell: Cell = field(default_factory=lambda: Cell("", ""))
    accelerators: tuple[str, ...] = ()
    fields: dict[str, Any] = field(default_factory=dict)
    cells: dict[str, Cell] = field(default_factory=dict)
    topology_chips: float | None = None


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A label that nodes must have, with one of `values`."""

    name: str
    values: tuple[str, ...]
    cell: Cell


def parse_quantity(value: Any) -> float | None:
    """
    >>> parse_quantity("500m"), parse_quantity("2Gi"), parse_quantity(8), parse_quantity("lots")
    (0.5, 2147483648.0, 8.0, None)
    """
    match = QUANTITY.fullmatch(str(value).strip()) if not isinstance(value, bool) else None
    number = float(match[1]) * FACTORS.get(match[2], 1.0) if match else math.inf
    return number if math.isfinite(number) else None


def read_pod(log: WorkloadLog, document: PlacedDocument, spec: Path) -> PodHardware | None:
    """The hardware of a pod's spec; None, with a problem, where it requests parts of unknown size or cannot be read."""
    amounts = _sum_requests(log, document, spec)
    if amounts is None:
        return None
    pod = PodHardware()
    labels = list(read_node_labels(document, spec))
    for name, (amount, cell) in amounts.items():
        if not amount:
            continue
        if name.startswith(PARTS):
            log.add_problem(
                cell, f"{name} is a part of an accelerator of unknown size", f"{GPU}, or a slice ({MIG_PREFIX}...)"
            )
            return None
        if name in COUNTED or name.startswith(MIG_PREFIX):
            if pod.count:
                log.add_problem(cell, "pods that request two kinds of accelerators", "one kind in a pod")
                return None
            pod.count, pod.resource, pod.cell = amount, name, cell
    if not pod.count:
        return pod
    apply_labels(log, pod, labels)
    if pod.resource.startswith(MIG_PREFIX):
        return _read_slices(log, pod)
    _read_sizes(pod, amounts)
    return pod


def _sum_requests(log: WorkloadLog, document: PlacedDocument, spec: Path) -> dict[str, tuple[float, Cell]] | None:
    """The amount of each resource that a pod holds, with the first place that requests it."""
    sums: dict[str, tuple[float, Cell]] = {}
    largest: dict[str, tuple[float, Cell]] = {}
    faults = len(log.complaints)
    for group in ("containers", "initContainers"):
        for index in document.indexes(*spec, group):
            runs_on = document.find(*spec, group, index, "restartPolicy") == "Always"
            target = largest if group == "initContainers" and not runs_on else sums
            for name, amount, cell in _list_resources(log, document, (*spec, group, index, "resources")):
                known, first = target.get(name, (0.0, cell))
                target[name] = (max(known, amount) if target is largest else known + amount, first)
    for name, (amount, cell) in largest.items():
        known, first = sums.get(name, (0.0, cell))
        sums[name] = (max(known, amount), first)
    return None if len(log.complaints) > faults else sums


def _list_resources(log: WorkloadLog, document: PlacedDocument, path: Path) -> Iterator[tuple[str, float, Cell]]:
    """Each resource of a container: its request, for accelerators also its limit, which must be equal."""
    names = dict.fromkeys((*document.names(*path, "limits"), *document.names(*path, "requests")))
    for name in names:
        request, limit = document.take(*path, "requests", name), document.take(*path, "limits", name)
        is_device = "/" in name
        at = (*path, "limits" if (is_device and limit is not None) or request is None else "requests", name)
        amount, cell = parse_quantity(document.find(*at)), document.cell(*at)
        if amount is None:
            log.add_problem(cell, f"no amount of {name}", "a number, such as 8")
        elif is_device and None not in (request, limit) and parse_quantity(request) != amount:
            log.add_problem(cell, f"{name}: requests and limits differ", "equal ones (Kubernetes refuses others)")
        else:
            yield name, amount, cell


def read_node_labels(document: PlacedDocument, spec: Path) -> Iterator[NodeLabel]:
    """Labels of nodeSelector and of required node affinity; preferred ones do not bind and are named as unused."""
    for name in document.names(*spec, "nodeSelector"):
        yield NodeLabel(
            name, (document.take_text(*spec, "nodeSelector", name),), document.cell(*spec, "nodeSelector", name)
        )
    terms = (*spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    by_name: dict[str, NodeLabel] = {}
    for term in document.indexes(*terms):
        for index in document.indexes(*terms, term, "matchExpressions"):
            at = (*terms, term, "matchExpressions", index)
            name, operator = str(document.find(*at, "key")), document.find(*at, "operator")
            if operator != "In" or name in IGNORED_LABELS:
                continue
            values = tuple(document.take_text(*at, "values", each) for each in document.indexes(*at, "values"))
            if not values:
                continue
            document.take(*at)
            known = by_name.get(name)
            by_name[name] = NodeLabel(name, (*(known.values if known else ()), *values), document.cell(*at, "values"))
    yield from by_name.values()
    for index in document.indexes(*spec, "tolerations"):
        at = (*spec, "tolerations", index)
        name = str(document.find(*at, "key"))
        if name in SPOT_LABELS:
            yield NodeLabel(name, (SPOT_LABELS[name],), document.cell(*at))


def apply_labels(log: WorkloadLog, pod: PodHardware, labels: Sequence[NodeLabel]) -> None:
    """Sets accelerators, places and spot of a pod from the labels of its nodes; unknown labels are named."""
    accelerators: dict[str, None] = {}
    places: list[tuple[str, str]] = []
    for label in sorted(labels, key=lambda label: _rank_label(label.name)):
        if label.name in PART_LABELS:
            for value in label.values:
                _add_accelerator(log, label, value, accelerators)
            pod.cells.setdefault("demand.accelerator", label.cell)
        elif label.name in TYPE_LABELS:
            _add_types(log, pod, label, accelerators)
        elif label.name in PLACE_LABELS:
            places = _read_places(log, pod, label) or places
        elif label.name in SPOT_LABELS:
            if any(value.casefold() == SPOT_LABELS[label.name] for value in label.values):
                pod.fields["interruptible"] = True
                pod.cells["interruptible"] = label.cell
        elif label.name == TOPOLOGY_LABEL:
            sides = [positive_number(side) for side in label.values[0].split("x")]
            pod.topology_chips = math.prod(side or math.nan for side in sides)
        elif label.name not in IGNORED_LABELS:
            log.note(f"{label.cell.place}: not used: label {label.name} = {', '.join(label.values)}")
    if places:
        pod.fields |= {"providers": sorted({p for p, _ in places}), "regions": sorted({r for _, r in places})}
    pod.accelerators = tuple(accelerators)


def _rank_label(name: str) -> int:
    """Parts before types: a part named by itself is more precise than the type that has it."""
    return (name in PART_LABELS) * -1


def _add_accelerator(log: WorkloadLog, label: NodeLabel, value: str, accelerators: dict[str, None]) -> None:
    if re.search(r"(?i)-SHARED$", value):
        log.note(f"{label.cell.place}: {value}: GPUs that pods share in turns; each is planned as a whole one")
    if matched := find_accelerator(log.catalog, value):
        accelerators[matched] = None
    else:
        log.add_problem(Cell(label.cell.place, value), f"{label.name}: no accelerator of the catalogue", "such as H100")


def _add_types(log: WorkloadLog, pod: PodHardware, label: NodeLabel, accelerators: dict[str, None]) -> None:
    is_named = bool(accelerators)
    providers = set()
    for value in label.values:
        matched = find_instance_type(log.catalog, value)
        if matched is None:
            log.add_problem(Cell(label.cell.place, value), "no instance type with accelerators of the catalogue")
            continue
        providers.add(matched[0])
        if not is_named:
            accelerators[matched[1]] = None
    if providers:
        pod.fields["providers"] = sorted(providers)
        pod.cells["providers"] = label.cell
        pod.cells.setdefault("demand.accelerator", label.cell)
        log.note(f"{label.cell.place}: {', '.join(label.values)}: any type with its accelerator may be planned")


def _read_places(log: WorkloadLog, pod: PodHardware, label: NodeLabel) -> list[tuple[str, str]]:
    matched = []
    for value in label.values:
        if places := find_place(log.catalog, value):
            matched += places
        else:
            log.add_problem(Cell(label.cell.place, value), "no region or zone of the catalogue")
    pod.cells["regions"] = label.cell
    return matched


def _read_slices(log: WorkloadLog, pod: PodHardware) -> PodHardware | None:
    """A pod with slices of NVIDIA's Multi-Instance GPU: one of `instances` on an accelerator."""
    profile = pod.resource.removeprefix(MIG_PREFIX).split(".me")[0]
    known = {
        name: 1 / each.instances
        for name, slices in load_slices().items()
        for each in slices
        if each.profile == profile and (not pod.accelerators or _is_of(log, name, pod.accelerators))
    }
    shares = set(known.values())
    if not known:
        log.add_problem(pod.cell, f"no slice {profile} of {', '.join(pod.accelerators) or 'any accelerator'} is known")
        return None
    if pod.accelerators and len(shares) > 1:
        log.add_problem(
            pod.cell, f"{profile} divides these accelerators into different numbers", ", ".join(sorted(known))
        )
        return None
    if pod.count != 1:
        log.add_problem(pod.cell, "pods with several slices", "one slice in a pod")
        return None
    pod.count = min(shares)
    pod.resource = f"{MIG_PREFIX}{profile}"
    return pod


def _is_of(log: WorkloadLog, name: str, accelerators: Sequence[str]) -> bool:
    return any(name in {form.name for form in log.catalog.names.match(each)} for each in accelerators)


def _read_sizes(pod: PodHardware, amounts: dict[str, tuple[float, Cell]]) -> None:
    """Processors and memory of a pod, for each accelerator."""
    units = (("cpu", "cpus_per_accelerator", 1.0), ("memory", "host_memory_gib_per_accelerator", GIB))
    for name, path, unit in units:
        if (matched := amounts.get(name)) is not None and matched[0] > 0:
            pod.fields[path] = round(matched[0] / unit / pod.count, 6)
            pod.cells[path] = matched[1]
