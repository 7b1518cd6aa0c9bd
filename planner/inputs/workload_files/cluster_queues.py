"""Queues of a cluster: Kueue's ResourceFlavor, ClusterQueue and LocalQueue, and Volcano's Queue.

kueue.sigs.k8s.io/docs/concepts, volcano.sh/en/docs/queue; read 2026-11-23. A queue states which accelerators its jobs
use; it is demand of its own only in a file without jobs, as accelerators that are ready.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from planner.inputs.cell_grid import Cell
from planner.inputs.workload_files.kubernetes_objects import ManifestObject
from planner.inputs.workload_files.pod_hardware import (
    COUNTED,
    NodeLabel,
    PodHardware,
    apply_labels,
    parse_quantity,
)
from planner.inputs.workload_files.workload_draft import RunTime, WorkloadDraft
from planner.inputs.workload_files.workload_log import WorkloadLog
from pricing.frozen_values import dataclass

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
VOLCANO_AMOUNTS = ("deserved", "capability", "guarantee")


@dataclass(frozen=True, slots=True)
class QueueQuota:
    """Accelerators of one flavor in a queue."""

    queue: str
    flavor: str
    amount: float
    cell: Cell


@dataclass(slots=True)
class ClusterQueues:
    """The queues of a file; `flavors` are the nodes of each flavor."""

    flavors: dict[str, PodHardware] = field(default_factory=dict)
    quotas: list[QueueQuota] = field(default_factory=list)
    local: dict[tuple[str, str], str] = field(default_factory=dict)

    def find_flavor(self, item: ManifestObject) -> PodHardware | None:
        """The nodes of the queue of a job, where the queue has one flavor of accelerators alone."""
        name = item.document.take_text(*item.path, "metadata", "labels", QUEUE_LABEL)
        queue = self.local.get((item.namespace, name), name)
        names = {each.flavor for each in self.quotas if each.queue == queue}
        return self.flavors.get(names.pop()) if name and len(names) == 1 else None


def read_queues(log: WorkloadLog, objects: list[ManifestObject]) -> ClusterQueues:
    """The queues among the objects of a file."""
    queues = ClusterQueues()
    for item in objects:
        if item.kind == "ResourceFlavor":
            queues.flavors[item.name] = _read_flavor(log, item)
        elif item.kind == "ClusterQueue":
            queues.quotas += _read_cluster_queue(log, item)
        elif item.kind == "LocalQueue":
            queues.local[item.namespace, item.name] = item.document.take_text(*item.path, "spec", "clusterQueue")
        elif item.is_volcano and item.kind == "Queue":
            queues.quotas += _read_volcano_queue(log, item)
    return queues


def _read_flavor(log: WorkloadLog, item: ManifestObject) -> PodHardware:
    nodes, labels = PodHardware(), (*item.path, "spec", "nodeLabels")
    apply_labels(
        log,
        nodes,
        [
            NodeLabel(name, (item.document.take_text(*labels, name),), item.document.cell(*labels, name))
            for name in item.document.names(*labels)
        ],
    )
    return nodes


def _read_cluster_queue(log: WorkloadLog, item: ManifestObject) -> Iterator[QueueQuota]:
    document, groups = item.document, (*item.path, "spec", "resourceGroups")
    for group in document.indexes(*groups):
        for flavor in document.indexes(*groups, group, "flavors"):
            at = (*groups, group, "flavors", flavor)
            name = document.take_text(*at, "name")
            for index in document.indexes(*at, "resources"):
                resource = (*at, "resources", index)
                if document.find(*resource, "name") in COUNTED:
                    amount = parse_quantity(document.take(*resource, "nominalQuota"))
                    cell = document.cell(*resource, "nominalQuota")
                    if amount is None:
                        log.add_problem(cell, "no quota", "a number of accelerators")
                    elif amount:
                        yield QueueQuota(item.name, name, amount, cell)


def _read_volcano_queue(log: WorkloadLog, item: ManifestObject) -> Iterator[QueueQuota]:
    for part in VOLCANO_AMOUNTS:
        at = (*item.path, "spec", part, *(("resource",) if part == "guarantee" else ()))
        for name in item.document.names(*at):
            amount = parse_quantity(item.document.take(*at, name))
            if name in COUNTED and amount:
                yield QueueQuota(item.name, "", amount, item.document.cell(*at, name))
                return
    log.note(f"{item.cell.place}: queue {item.name} has no amount of accelerators")


def add_queue_workloads(log: WorkloadLog, queues: ClusterQueues) -> None:
    """One workload for each quota of accelerators."""
    several = len({each.queue for each in queues.quotas}) < len(queues.quotas)
    for quota in queues.quotas:
        name = f"{quota.queue} {quota.flavor}" if several and quota.flavor else quota.queue
        nodes = queues.flavors.get(quota.flavor, PodHardware())
        accelerators = find_named_accelerators(log, name, nodes, quota.cell)
        if accelerators:
            log.add_workload(
                WorkloadDraft(
                    name,
                    quota.cell,
                    "batch",
                    accelerators,
                    1.0,
                    RunTime("queue", quota.cell),
                    quota.amount,
                    fields=dict(nodes.fields),
                    cells=dict(nodes.cells),
                )
            )


def find_named_accelerators(log: WorkloadLog, name: str, pod: PodHardware, cell: Cell) -> tuple[str, ...]:
    """The accelerators of a pod, or those of the answer where its file names none; a problem where there is neither."""
    if pod.accelerators:
        return pod.accelerators
    answer = log.find_answer("accelerator", name)
    if answer and (matched := log.find_accelerator(answer)):
        return (matched,)
    expected = f"a label of its node, or the answer 'accelerator: {name}' (or 'accelerator' for all), such as H100"
    message = "is no accelerator of the catalogue" if answer else "its accelerator is not named"
    log.add_problem(Cell(cell.place, answer or cell.text), f"{name}: {message}", expected)
    return ()
