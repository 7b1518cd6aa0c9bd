"""Replicas of a served model on an accelerator: how many arrivals need, and what a million tokens cost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from planner.performance.parallelism import USUAL_SERVER_SIZE
from planner.performance.serving.replicas import Replica, size_replica
from planner.performance.serving.second_estimator import SecondEstimate, second_estimate
from planner.request.models import Request, Workload
from planner.result.message import Message
from planner.supply.price_rules import is_offered, may_run, plan_start
from pricing.accelerator import Accelerator
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass

MILLION = 1e6
COUNTS_OVER_NODES = (16, 32, 64)
"""Accelerators of a replica over several servers, tried where the model fits on none."""
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class ReplicaAssessment:
    """One size of replica on one accelerator. `replicas` by rate of arrivals, with spares; the price is the lowest by
    the hour on demand of a node with room for a replica, None where none is offered. Costs are of a million tokens with
    all places in use: a replica's hour is divided between input and output by the time of prompts and of generation.
    `second` is the estimate of another program at the same requests at once, None where it is not installed."""

    accelerator: str
    count: int
    replica: Replica
    replicas: tuple[int, ...]
    price_per_accelerator_hour: float | None
    where: str
    cost_per_million_input: float | None
    cost_per_million_output: float | None
    second: SecondEstimate | None

    @property
    def accelerators(self) -> int:
        """Accelerators at the last, usually highest, rate."""
        return self.replicas[-1] * self.count


@dataclass(frozen=True, slots=True)
class UnservedAccelerator:
    """An accelerator on which no size of replica serves, with the reason of the largest."""

    accelerator: str
    reason: Message


@dataclass(frozen=True, slots=True)
class MixedPart:
    """Replicas of one assessment, spares included, with the share of the arrivals that they take."""

    accelerator: str
    count: int
    replicas: int
    share: float


@dataclass(frozen=True, slots=True)
class ReplicaMix:
    """The least costly replicas of at most two assessments for a rate of arrivals, at the hourly price of their
    accelerators, whole nodes and places aside; and the least cost of one alone."""

    requests_per_s: float
    parts: tuple[MixedPart, ...]
    cost_per_hour: float
    cost_of_one: float


def mix_replicas(rows: Sequence[ReplicaAssessment], rates: Sequence[float], spares: int) -> list[ReplicaMix]:
    """The least costly mix at each rate of arrivals; none without prices. Each part has `spares` of its own. Two rows
    cost least where the replicas of one are full."""
    priced = [row for row in rows if row.price_per_accelerator_hour is not None]
    return [_mix_at(priced, rate, spares) for rate in rates if priced]


def _mix_at(rows: Sequence[ReplicaAssessment], rate: float, spares: int) -> ReplicaMix:
    def take(row: ReplicaAssessment, share: float) -> tuple[float, MixedPart]:
        replicas = row.replica.replicas_for(rate * share) + spares
        cost = (row.price_per_accelerator_hour or 0.0) * row.count * replicas
        return cost, MixedPart(row.accelerator, row.count, replicas, share)

    alone = [(take(row, 1.0),) for row in rows]
    pairs = [
        (take(first, share), take(second, 1 - share))
        for first, second in itertools.permutations(rows, 2)
        for share in first.replica.queue.list_full_shares(first.replica.requests_per_s, [rate])
    ]
    cost_of_one = min(cost for ((cost, _),) in alone)
    best = min((*alone, *pairs), key=lambda parts: (math.fsum(cost for cost, _ in parts), len(parts)))
    return ReplicaMix(rate, tuple(part for _, part in best), math.fsum(cost for cost, _ in best), cost_of_one)


def assess_serving(
    request: Request, workload: Workload, catalog: Catalog, parts: Iterable[Accelerator], counts: Sequence[int],
    rates: Sequence[float], *, every_size: bool,
) -> tuple[list[ReplicaAssessment], list[UnservedAccelerator]]:  # fmt: skip
    """The replicas on each accelerator (`every_size`, or only the size with the fewest accelerators at the last rate),
    the cheapest output first; and the accelerators that cannot serve."""
    served: list[ReplicaAssessment] = []
    unserved: list[UnservedAccelerator] = []
    for part in parts:
        sizes, reason = [], None
        for count in counts:
            outcome = _assess_size(request, workload, catalog, part, count, rates)
            if isinstance(outcome, Message):
                reason = outcome
            else:
                sizes.append(outcome)
        if not sizes and not every_size and reason is not None and reason.code == "replica_memory_too_small":
            over_nodes = (_assess_size(request, workload, catalog, part, count, rates) for count in COUNTS_OVER_NODES)
            sizes = [each for each in over_nodes if not isinstance(each, Message)][:1]
        if sizes and not every_size:
            sizes = [min(sizes, key=lambda each: (each.accelerators, each.count))]
        served += sizes
        if not sizes and reason is not None:
            unserved.append(UnservedAccelerator(part.name, reason))

    def cheapest_first(row: ReplicaAssessment) -> tuple[bool, float, str, int]:
        cost = row.cost_per_million_output
        return cost is None, cost or 0.0, row.accelerator, row.count

    return sorted(served, key=cheapest_first), unserved


def _assess_size(
    request: Request, workload: Workload, catalog: Catalog, part: Accelerator, count: int, rates: Sequence[float]
) -> ReplicaAssessment | Message:
    assert workload.network is not None
    assert workload.serving is not None
    nodes = math.ceil(count / USUAL_SERVER_SIZE)
    replica = size_replica(workload.network, workload.serving, part, count, catalog.names, nodes)
    if isinstance(replica, Message):
        return replica
    price, where = _lowest_price(request, workload, catalog, part, count // nodes, nodes)
    cost_in = cost_out = None
    if price is not None:
        hour = price * count
        requests = replica.requests_per_s * SECONDS_PER_HOUR
        cost_in = hour * replica.prompt_share / (requests * workload.serving.input_tokens) * MILLION
        cost_out = hour * (1 - replica.prompt_share) / (requests * workload.serving.output_tokens) * MILLION
    replicas = tuple(replica.replicas_for(rate) + workload.spare_replicas for rate in rates)
    second = second_estimate(workload.network, workload.serving, part, count, replica.concurrency)
    return ReplicaAssessment(part.name, count, replica, replicas, price, where, cost_in, cost_out, second)


def _lowest_price(
    request: Request, workload: Workload, catalog: Catalog, part: Accelerator, count: int, nodes: int
) -> tuple[float | None, str]:
    """Per accelerator and hour on demand of a node with room for the replica's part, and where; of nodes that are
    joined where it is over several."""
    start = plan_start(request)
    offered = [
        (quote.price.price_per_hour / quote.offering.accelerator_count, quote.price.key)
        for quote in catalog.quotes(accelerators=[part.name], options=["on_demand"])
        if quote.offering.accelerator_count
        and quote.offering.accelerator_count >= count
        and catalog.fabric(quote.offering).joins(nodes)
        and is_offered(quote, request, start)
        and may_run(catalog, request, workload, quote)
    ]
    if not offered:
        return None, ""
    price, key = min(offered)
    return price, " ".join(key[:3])
