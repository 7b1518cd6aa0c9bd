"""Objects of Kubernetes and its operators that run pods, as workloads.

kubernetes.io/docs/concepts/workloads (Deployment, StatefulSet, ReplicaSet, Pod, Job, CronJob), HorizontalPodAutoscaler
(autoscaling/v1, v2), volcano.sh/en/docs/vcjob, jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2,
keda.sh/docs/latest/reference/scaledobject-spec; read 2026-11-23.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from planner.inputs.cell_grid import Cell
from planner.inputs.doubt_record import UNKNOWN
from planner.inputs.workload_files.cluster_queues import (
    ClusterQueues,
    add_queue_workloads,
    find_named_accelerators,
    read_queues,
)
from planner.inputs.workload_files.cron_schedule import runs_per_month
from planner.inputs.workload_files.kubernetes_objects import ManifestObject, list_objects
from planner.inputs.workload_files.placed_document import ANY, Path, PlacedDocument
from planner.inputs.workload_files.pod_groups import PodGroup, read_deadline, read_job_spec, read_number
from planner.inputs.workload_files.pod_hardware import PodHardware, read_pod
from planner.inputs.workload_files.ray_clusters import RAY_FIELDS, RAY_READERS, RAY_TEMPLATES
from planner.inputs.workload_files.workload_draft import CopyBounds, RunTime, WorkloadDraft
from planner.inputs.workload_files.workload_log import WorkloadLog

SERVICES = ("Deployment", "StatefulSet", "ReplicaSet")
SCALERS = {
    "HorizontalPodAutoscaler": ("minReplicas", 1.0, "maxReplicas", None),
    "ScaledObject": ("minReplicaCount", 0.0, "maxReplicaCount", 100.0),
}
"""By kind: the fields of its bounds with their defaults; without one, the most is the least."""
QUEUE_KINDS = ("ResourceFlavor", "ClusterQueue", "LocalQueue", "Queue")
TOGETHER, SEPARATE = "together", "separate"
NO_ACCELERATORS = "no accelerators"
_POD = ("containers", "initContainers", "volumes", "serviceAccountName", "restartPolicy", "imagePullSecrets")
_POD_MORE = (
    "tolerations", "schedulerName", "priorityClassName", "terminationGracePeriodSeconds", "securityContext", "hostIPC",
    "hostNetwork", "dnsPolicy", "enableServiceLinks", "subdomain", "runtimeClassName", "automountServiceAccountToken",
)  # fmt: skip
_SPEC = (
    "selector", "strategy", "updateStrategy", "serviceName", "backoffLimit", "ttlSecondsAfterFinished",
    "podFailurePolicy",
    "revisionHistoryLimit", "progressDeadlineSeconds", "volumeClaimTemplates", "podManagementPolicy", "suspend",
    "concurrencyPolicy", "successfulJobsHistoryLimit", "failedJobsHistoryLimit", "startingDeadlineSeconds",
    "minReadySeconds", "completionMode", "plugins", "policies", "queue", "schedulerName", "maxRetry", "metrics",
    "behavior", "namespaceSelector", "queueingStrategy", "preemption", "cohort", "nodeTaints", "tolerations",
    "network", "successPolicy", "failurePolicy", "startupPolicy", "coordinator", "managedBy", "volumeClaimPolicies",
    "pollingInterval", "cooldownPeriod", "initialCooldownPeriod", "triggers", "fallback", "advanced",
    "flavorFungibility", "weight", "reclaimable", "priorityClassName", "timeZone", "queueName", "template.metadata",
)  # fmt: skip


def _list_known_fields(prefix: Path) -> list[Path]:
    """Known fields of an object at a path without effect on a plan."""
    replicated: Path = (*prefix, "spec", "replicatedJobs", ANY)
    specs: list[Path] = [(*prefix, "spec"), (*prefix, "spec", "jobTemplate", "spec"), (*replicated, "template", "spec")]
    pods = [(*spec, "template", "spec") for spec in specs] + [(*prefix, "spec")]
    pods += [(*prefix, "spec", group, ANY, "template", "spec") for group in ("tasks", "podSets")]
    templates: list[Path] = [
        *((*spec, "template") for spec in specs),
        (*prefix, "spec", "jobTemplate"),
        (*replicated, "template"),
    ]
    templates += [(*prefix, "spec", group, ANY, "template") for group in ("tasks", "podSets")]
    templates += [(*prefix, "spec", *template) for template in RAY_TEMPLATES]
    pods += [(*prefix, "spec", *template, "spec") for template in RAY_TEMPLATES]
    groups = (*prefix, "spec", "resourceGroups", ANY)
    return [
        (*prefix, "metadata"),
        (*prefix, "status"),
        *((*spec, name) for spec in specs for name in _SPEC),
        *((*template, "metadata") for template in templates),
        *((*pod, name) for pod in pods for name in (*_POD, *_POD_MORE)),
        *((*prefix, "spec", "tasks", ANY, name) for name in ("name", "policies", "maxRetry", "dependsOn")),
        *((*prefix, "spec", "podSets", ANY, name) for name in ("name", "minCount", "topologyRequest")),
        *((*replicated, name) for name in ("name", "groupName", "dependsOn")),
        *((*prefix, "spec", *field) for field in RAY_FIELDS),
        (*groups, "coveredResources"),
        *((*groups, "flavors", ANY, "resources", ANY, name) for name in ("name", "nominalQuota")),
    ]


def read_manifests(log: WorkloadLog, documents: Sequence[PlacedDocument]) -> None:
    """Adds a workload for each object with accelerators; all others are left out by name."""
    objects = [item for document in documents for item in list_objects(log, document)]
    scalers = {_find_target(item): item for item in objects if item.kind in SCALERS}
    owners = {item.key for item in objects}
    queues = read_queues(log, objects)
    for item in objects:
        if item.kind not in (*QUEUE_KINDS, *SCALERS):
            _read_object(log, item, scalers, queues, owners)
    for target, scaler in scalers.items():
        if target not in owners:
            log.refuse(scaler.cell, f"its target, {target[1]} {target[2]}, is not in the file")
    if not log.workloads and not log.complaints:
        add_queue_workloads(log, queues)
    elif queues.quotas:
        names = ", ".join(dict.fromkeys(each.queue for each in queues.quotas))
        log.note(
            f"{queues.quotas[0].cell.place}: queue {names}: a limit of the jobs in the file, not demand of its own"
        )
    for document in documents:
        known = [pattern for item in objects if item.document is document for pattern in _list_known_fields(item.path)]
        log.name_unused(document, [*known, ("metadata",)])


def _find_target(scaler: ManifestObject) -> tuple[str, str, str]:
    at = (*scaler.path, "spec", "scaleTargetRef")
    scaler.document.take(*at)
    kind = scaler.document.find(*at, "kind") or "Deployment"  # KEDA's default; others must name it
    return scaler.namespace, str(kind), str(scaler.document.find(*at, "name"))


def _read_object(
    log: WorkloadLog,
    item: ManifestObject,
    scalers: Mapping[tuple[str, str, str], ManifestObject],
    queues: ClusterQueues,
    owners: set[tuple[str, str, str]],
) -> None:
    reader = READERS.get(("Volcano" if item.is_volcano else "") + item.kind)
    if reader is None:
        resources = "its kind is not read" if _mentions_accelerators(item) else NO_ACCELERATORS
        log.refuse(item.cell, resources)
        item.document.take(*item.path)
        return
    references = (*item.path, "metadata", "ownerReferences")
    named = [
        tuple(str(item.document.find(*references, index, name)) for name in ("kind", "name"))
        for index in item.document.indexes(*references)
    ]
    if any((item.namespace, *owner) in owners for owner in named):
        log.refuse(item.cell, "counted with the object that owns it")
        item.document.take(*item.path)
        return
    groups = reader(log, item, scalers.get(item.key))
    for group in groups or ():
        _add_group(log, item, group, queues, several=len(groups or ()) > 1)


def _mentions_accelerators(item: ManifestObject) -> bool:
    return any(mark in str(item.document.find(*item.path, "spec")) for mark in (".com/gpu", ".com/mig-", ".com/tpu"))


def _read_service(log: WorkloadLog, item: ManifestObject, scaler: ManifestObject | None) -> list[PodGroup]:
    document, spec = item.document, (*item.path, "spec")
    stated = read_number(log, document, 1.0, *spec, "replicas")
    copies: float | CopyBounds = stated
    if scaler is not None:
        bounds = (*scaler.path, "spec")
        least, default, most, default_most = SCALERS[scaler.kind]
        low = read_number(log, scaler.document, default, *bounds, least)
        high = read_number(log, scaler.document, low if default_most is None else default_most, *bounds, most)
        has_replicas = document.find(*spec, "replicas") is not None
        cell = scaler.document.cell(*bounds, most)
        copies = CopyBounds(low, max(low, high), cell, stated if has_replicas else None)
    elif not stated:
        log.refuse(item.cell, "0 replicas")
        return []
    return [PodGroup((*spec, "template", "spec"), copies, RunTime("service", item.cell), "inference")]


def _read_bare_pod(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    policy = item.document.find(*item.path, "spec", "restartPolicy") or "Always"
    deadline = read_deadline(log, item.document, (*item.path, "spec"))
    is_service = policy == "Always" and deadline is None
    run = RunTime("service" if is_service else "job", item.cell, deadline)
    return [PodGroup((*item.path, "spec"), 1.0, run, "inference" if is_service else "batch")]


def _read_job(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    return [read_job_spec(log, item, (*item.path, "spec"), None)]


def _read_cron_job(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    spec = (*item.path, "spec")
    schedule = item.document.take_text(*spec, "schedule")
    runs = runs_per_month(schedule)
    if item.document.find(*spec, "suspend") is True:
        log.refuse(item.cell, "suspended")
        return []
    if runs is None:
        log.add_problem(item.document.cell(*spec, "schedule"), "no schedule", "five fields, such as 0 3 * * *")
        return []
    return [read_job_spec(log, item, (*spec, "jobTemplate", "spec"), runs)]


def _read_volcano_job(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    document, tasks = item.document, (*item.path, "spec", "tasks")
    gang = read_number(log, document, 0.0, *item.path, "spec", "minAvailable")
    groups = []
    for index in document.indexes(*tasks):
        replicas = read_number(log, document, 1.0, *tasks, index, "replicas")
        spec = (*tasks, index, "template", "spec")
        deadline = read_deadline(log, document, spec)
        cell = document.cell(*item.path, "spec", "minAvailable") if gang > 1 else None
        run, part = RunTime("job", item.cell, deadline), str(document.find(*tasks, index, "name") or "")
        groups.append(PodGroup(spec, replicas, run, "batch", replicas, cell, part))
    return groups


def _read_kueue_workload(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    document, sets = item.document, (*item.path, "spec", "podSets")
    groups = []
    for index in document.indexes(*sets):
        count = read_number(log, document, 1.0, *sets, index, "count")
        run = RunTime("job", item.cell)
        part = str(document.find(*sets, index, "name") or "")
        groups.append(PodGroup((*sets, index, "template", "spec"), count, run, "batch", count, part=part))
    return groups


def _read_job_set(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    """Every replica of a replicated job is a Job; all of them are one unit."""
    document, sets = item.document, (*item.path, "spec", "replicatedJobs")
    groups = []
    for index in document.indexes(*sets):
        at = (*sets, index)
        replicas = read_number(log, document, 1.0, *at, "replicas")
        job = read_job_spec(log, item, (*at, "template", "spec"), None)
        assert isinstance(job.copies, float)
        assert job.at_once is not None
        together, part = replicas * job.at_once, str(document.find(*at, "name") or "")
        cell = document.cell(*at, "replicas") if together == replicas * job.copies > 1 else job.cell
        groups.append(replace(job, copies=replicas * job.copies, at_once=together, cell=cell, part=part))
    return groups


READERS = {
    **dict.fromkeys(SERVICES, _read_service), "Pod": _read_bare_pod, "Job": _read_job, "CronJob": _read_cron_job,
    "VolcanoJob": _read_volcano_job, "Workload": _read_kueue_workload, "JobSet": _read_job_set, **RAY_READERS,
}  # fmt: skip
"""By kind; those of Volcano with its name in front."""


def _add_group(
    log: WorkloadLog, item: ManifestObject, group: PodGroup, queues: ClusterQueues, *, several: bool
) -> None:
    """The workload of a group of pods; left out by name if they have no accelerators."""
    document = item.document
    pod = read_pod(log, document, group.spec)
    if pod is None:
        return
    name = f"{item.name} {group.part}".strip() if several else item.name
    if not pod.count:
        log.refuse(Cell(document.place(*group.spec), f"{item.kind} {name}"), NO_ACCELERATORS)
        return
    if not pod.accelerators and (flavor := queues.find_flavor(item)) is not None:
        pod.accelerators = flavor.accelerators
        pod.fields, pod.cells = {**flavor.fields, **pod.fields}, {**flavor.cells, **pod.cells}
    accelerators = find_named_accelerators(log, name, pod, pod.cell)
    if not accelerators:
        return
    gang, copies = _choose_gang(log, name, pod, group)
    fields = dict(pod.fields)
    if isinstance(group.at_once, float) and isinstance(copies, float) and group.run.kind != "service":
        fields["parallel_jobs"] = max(1, round(group.at_once * pod.count / gang))
    team = "" if item.namespace == "default" else item.namespace
    cells = {"gang": pod.cell, **pod.cells}
    draft = WorkloadDraft(
        name, item.cell, group.kind, accelerators, gang, group.run, copies, team=team, fields=fields, cells=cells
    )
    log.add_workload(replace(draft, per_node=None if pod.topology_chips else min(pod.count, gang)))


def _choose_gang(log: WorkloadLog, name: str, pod: PodHardware, group: PodGroup) -> tuple[float, float | CopyBounds]:
    """The accelerators that work together, and how many such gangs run: a pod, a TPU slice, or all pods of a job."""
    copies, together = group.copies, pod.count * group.hosts
    if isinstance(copies, CopyBounds):
        return together, copies
    chips = pod.topology_chips
    if chips and math.isfinite(chips) and chips > pod.count and not (copies * pod.count) % chips:
        return chips, copies * pod.count / chips
    if group.cell is not None and group.at_once and group.at_once > 1:
        question = f"Do the {group.at_once:g} pods of {name} work together, as one job over several nodes?"
        choices: dict[str, Any] = {TOGETHER: UNKNOWN, SEPARATE: UNKNOWN}
        chosen = log.doubts.decide(
            f"pods: {name}", group.cell, question, choices, TOGETHER, len(log.workloads), change=0.0
        )
        if chosen == TOGETHER:
            return pod.count * group.at_once, copies * group.hosts / group.at_once
    return together, copies
