"""Clusters, jobs and services of KubeRay, as workloads: a group of pods for the head and for each group of workers.

ray-project.github.io/kuberay/reference/api; read 2026-11-23. The replicas of a group lie between its bounds; each has
`numOfHosts` pods. What Ray Serve scales within a cluster is in a text that is not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.workload_files.cron_schedule import runs_per_month
from planner.inputs.workload_files.kubernetes_objects import ManifestObject
from planner.inputs.workload_files.placed_document import ANY, Path
from planner.inputs.workload_files.pod_groups import PodGroup, read_deadline, read_number
from planner.inputs.workload_files.workload_draft import CopyBounds, RunTime
from planner.inputs.workload_files.workload_log import WorkloadLog

CLUSTERS: tuple[Path, ...] = ((), ("rayClusterSpec",), ("rayClusterConfig",))
"""Where an object has the spec of its cluster, within its own."""
GROUPS: tuple[Path, ...] = (("headGroupSpec",), ("workerGroupSpecs", ANY))
_CLUSTER = ("rayVersion", "autoscalerOptions", "headServiceAnnotations", "gcsFaultToleranceOptions", "managedBy")
_GROUP = ("rayStartParams", "serviceType", "headService", "enableIngress", "scaleStrategy", "idleTimeoutSeconds",
          "groupName")  # fmt: skip
_JOB = (
    "entrypoint", "runtimeEnvYAML", "jobId", "submissionMode", "entrypointResources", "entrypointNumCpus",
    "entrypointNumGpus", "shutdownAfterJobFinishes", "submitterPodTemplate", "submitterConfig", "deletionStrategy",
    "serveService", "upgradeStrategy", "excludeHeadPodFromServeSvc", "metadata",
)  # fmt: skip
RAY_FIELDS: tuple[Path, ...] = (
    *((name,) for name in _JOB),
    *((*cluster, name) for cluster in CLUSTERS for name in _CLUSTER),
    *((*cluster, *group, name) for cluster in CLUSTERS for group in GROUPS for name in _GROUP),
)
"""Fields below `spec` without effect on a plan."""
RAY_TEMPLATES: tuple[Path, ...] = tuple((*cluster, *group, "template") for cluster in CLUSTERS for group in GROUPS)
"""Templates of pods below `spec`."""


def _read_ray_cluster(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    return list(_read_cluster(log, item, (*item.path, "spec"), RunTime("service", item.cell), "interactive"))


def _read_ray_service(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    cluster = (*item.path, "spec", "rayClusterConfig")
    return list(_read_cluster(log, item, cluster, RunTime("service", item.cell), "inference"))


def _read_ray_job(log: WorkloadLog, item: ManifestObject, _: ManifestObject | None) -> list[PodGroup]:
    document, spec = item.document, (*item.path, "spec")
    if document.find(*spec, "clusterSelector") is not None:
        log.refuse(item.cell, "runs on a cluster that is there already")
        return []
    deadline, runs = read_deadline(log, document, spec), None
    if schedule := document.take_text(*spec, "schedule"):
        runs = runs_per_month(schedule)
        if runs is None:
            log.add_problem(document.cell(*spec, "schedule"), "no schedule", "five fields, such as 0 3 * * *")
            return []
    run = RunTime("job" if runs is None else "scheduled", item.cell, deadline, runs)
    return list(_read_cluster(log, item, (*spec, "rayClusterSpec"), run, "batch"))


def _read_cluster(log: WorkloadLog, item: ManifestObject, cluster: Path, run: RunTime, kind: str) -> Iterator[PodGroup]:
    """The head, and each group of workers, of the spec of a cluster."""
    document = item.document
    if document.take(*cluster, "suspend") is True and run.kind == "service":
        log.refuse(item.cell, "suspended")
        return
    is_scaled = document.take(*cluster, "enableInTreeAutoscaling") is True
    yield PodGroup((*cluster, "headGroupSpec", "template", "spec"), 1.0, run, kind, 1.0, part="head")
    for index in document.indexes(*cluster, "workerGroupSpecs"):
        at = (*cluster, "workerGroupSpecs", index)
        part = str(document.find(*at, "groupName") or index + 1)
        copies = _read_replicas(log, item, at, part, is_scaled=is_scaled)
        hosts = read_number(log, document, 1.0, *at, "numOfHosts") or 1.0
        if copies is None:
            continue
        pods = None if isinstance(copies, CopyBounds) else copies * hosts
        cell = document.cell(*at, "replicas") if pods and pods > hosts and run.kind != "service" else None
        yield PodGroup((*at, "template", "spec"), copies, run, kind, pods, cell, part, hosts)


def _read_replicas(
    log: WorkloadLog, item: ManifestObject, at: Path, part: str, *, is_scaled: bool
) -> float | CopyBounds | None:
    """The replicas of a group of workers: within its bounds, open between them where the cluster is scaled; None, with
    a problem, where it is scaled without end."""
    document = item.document
    low = read_number(log, document, 0.0, *at, "minReplicas")
    stated = read_number(log, document, low, *at, "replicas")
    if document.find(*at, "maxReplicas") is None:
        if is_scaled:
            log.add_problem(document.cell(*at), f"{item.name} {part}: scaled without an upper bound", "maxReplicas")
            return None
        return max(low, stated)
    high = max(low, read_number(log, document, low, *at, "maxReplicas"))
    within = min(max(low, stated), high)
    return CopyBounds(low, high, document.cell(*at, "maxReplicas"), within) if is_scaled else within


RAY_READERS = {"RayCluster": _read_ray_cluster, "RayJob": _read_ray_job, "RayService": _read_ray_service}
