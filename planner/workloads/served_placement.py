"""A replica of a service as the planner counts it: requests an hour with all places taken, and its queue."""

from __future__ import annotations

from planner.performance.serving.replicas import Replica, size_replica
from planner.performance.serving.staffing import ServiceQueue
from planner.performance.throughput import Throughput
from planner.request.models import Workload
from planner.result.message import Message, message
from pricing.accelerator import Accelerator, AcceleratorNames


def serve_replica(
    workload: Workload, part: Accelerator, count: int, names: AcceleratorNames, nodes: int, between_gbps: float | None
) -> tuple[Throughput, ServiceQueue] | Message:
    """The throughput of a replica on `count` accelerators of so many nodes, or the reason why there is none."""
    assert workload.network is not None
    assert workload.serving is not None
    replica = size_replica(workload.network, workload.serving, part, count, names, nodes, between_gbps)
    if isinstance(replica, Message):
        return replica
    per_hour, rate = replica.requests_per_s * 3600, replica.rate
    low, high = (per_hour * bound / rate.output_tokens_per_s for bound in (rate.low, rate.high))
    basis = "measured" if rate.basis in ("own", "measured") else "served"
    return Throughput(per_hour, low, high, basis, (describe_replica(replica),)), replica.queue


def describe_replica(replica: Replica) -> Message:
    """How a replica serves, and the results behind it."""
    return message(
        "replica_estimate", count=replica.count, nodes=replica.nodes, accelerator=replica.accelerator,
        concurrency=replica.concurrency,
        limit=replica.limit, output_tokens_per_s=replica.rate.output_tokens_per_s,
        tpot_ms=1000 * replica.tpot_at_percentile_s, ttft_ms=1000 * replica.ttft_at_percentile_s,
        basis=replica.rate.basis,
        nearest=[f"{each.source}{f', {each.date}' if each.date else ''}" for each in replica.rate.nearest[:1]],
    )  # fmt: skip
