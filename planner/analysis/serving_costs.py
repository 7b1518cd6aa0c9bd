"""Replicas of a served model on an accelerator: how many arrivals need, and what a million tokens cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.performance.serving.replicas import Replica, size_replica
from planner.request.models import Request, Workload
from planner.result.message import Message
from planner.supply.price_rules import is_offered, may_run, plan_start
from pricing.accelerator import Accelerator
from pricing.catalog.price_catalog import Catalog

MILLION = 1e6
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class ReplicaAssessment:
    """One size of replica on one accelerator. `replicas` by rate of arrivals, with spares; the price is the lowest by
    the hour on demand of a node with room for a replica, None where none is offered. Costs are of a million tokens with
    all places in use: a replica's hour is divided between input and output by the time of prompts and of generation."""

    accelerator: str
    count: int
    replica: Replica
    replicas: tuple[int, ...]
    price_per_accelerator_hour: float | None
    where: str
    cost_per_million_input: float | None
    cost_per_million_output: float | None

    @property
    def accelerators(self) -> int:
        """Accelerators at the last, usually highest, rate."""
        return self.replicas[-1] * self.count


@dataclass(frozen=True, slots=True)
class UnservedAccelerator:
    """An accelerator on which no size of replica serves, with the reason of the largest."""

    accelerator: str
    reason: Message


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
    replica = size_replica(workload.network, workload.serving, part, count, catalog.names)
    if isinstance(replica, Message):
        return replica
    price, where = _lowest_price(request, workload, catalog, part, count)
    cost_in = cost_out = None
    if price is not None:
        hour = price * count
        requests = replica.requests_per_s * SECONDS_PER_HOUR
        cost_in = hour * replica.prompt_share / (requests * workload.serving.input_tokens) * MILLION
        cost_out = hour * (1 - replica.prompt_share) / (requests * workload.serving.output_tokens) * MILLION
    replicas = tuple(replica.replicas_for(rate) + workload.spare_replicas for rate in rates)
    return ReplicaAssessment(part.name, count, replica, replicas, price, where, cost_in, cost_out)


def _lowest_price(
    request: Request, workload: Workload, catalog: Catalog, part: Accelerator, count: int
) -> tuple[float | None, str]:
    """Per accelerator and hour on demand of a node with room for the replica, and where."""
    start = plan_start(request)
    offered = [
        (quote.price.price_per_hour / quote.offering.accelerator_count, quote.price.key)
        for quote in catalog.quotes(accelerators=[part.name], options=["on_demand"])
        if quote.offering.accelerator_count
        and quote.offering.accelerator_count >= count
        and is_offered(quote, request, start)
        and may_run(catalog, request, workload, quote)
    ]
    if not offered:
        return None, ""
    price, key = min(offered)
    return price, " ".join(key[:3])
