"""Allocation of a strategy's costs to workloads: their own use, their shares of purchases and of overheads.

All amounts are payments of `solution`; they are only distributed here, so that the parts add up to the whole.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from planner.finance.cashflow import Payment
from planner.optimization import solution
from planner.optimization.solution import Decisions, PlanningContext
from planner.result import WorkloadCost

Valuation = Callable[[Iterable[Payment]], float]
"""The value of payments: their sum, or their present cost."""


def sum_payments(payments: Iterable[Payment]) -> float:
    """The sum of payments."""
    return math.fsum(payment.amount for payment in payments)


def purchase_shares(decisions: Decisions, setting: PlanningContext) -> dict[tuple[str, ...], tuple[float, ...]]:
    """By key of the resource ordered, the share of each need: by node-hours (of committed money by the money used), so
    that idle hours are shared alike; equal shares where it is not used at all."""
    resources, needs = setting.market.resources, len(setting.demands.needs)
    used: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0] * needs)
    for share in decisions.shares:
        resource = resources[share.candidate.resource]
        weight = resource.quote.price.price_per_hour if resource.pool and resource.quote is not None else 1.0
        used[resource.pool or resource.key][share.candidate.need] += share.node_hours * weight
    return {order.resource.key: _normalise_weights(used[order.resource.key]) for order in decisions.bought}


def allocate_costs(decisions: Decisions, setting: PlanningContext, value_of: Valuation) -> list[float]:
    """The cost of each need, in their order: own use, its share of purchases, and of overheads by its other costs."""
    costs: list[list[float]] = [[] for _ in setting.demands.needs]
    for share in decisions.shares:
        costs[share.candidate.need].append(value_of(solution.use_payments(setting, share)))
    of_purchases = purchase_shares(decisions, setting)
    for order in decisions.bought:
        amount = value_of(solution.purchase_payments(setting, order))
        _distribute_amount(amount, of_purchases[order.resource.key], costs)
    of_all = _normalise_weights([math.fsum(amounts) for amounts in costs])
    for overhead in decisions.overheads:
        _distribute_amount(value_of(solution.overhead_payments(setting, overhead)), of_all, costs)
    return [math.fsum(amounts) for amounts in costs]


def _normalise_weights(weights: Sequence[float]) -> tuple[float, ...]:
    total = math.fsum(weights)
    return tuple(weight / total if total else 1 / len(weights) for weight in weights)


def _distribute_amount(amount: float, of: Sequence[float], costs: list[list[float]]) -> None:
    for need, part in enumerate(of):
        if part:
            costs[need].append(amount * part)


def workload_costs(decisions: Decisions, setting: PlanningContext) -> tuple[WorkloadCost, ...]:
    """The cost of each workload, and where it runs."""
    needs, resources = setting.demands.needs, setting.market.resources
    cost = allocate_costs(decisions, setting, sum_payments)
    units = [0.0] * len(needs)
    work: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    ends: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for share in decisions.shares:
        index, rate = share.candidate.need, share.candidate.throughput
        units[index] += share.units
        ends[index][0] += share.units * rate.units_per_hour / rate.high
        ends[index][1] += share.units * rate.units_per_hour / rate.low
        work[index][resources[share.candidate.resource].title] += share.units
    return tuple(
        WorkloadCost(
            need.workload.name,
            need.workload.team,
            need.unit,
            units[index],
            cost[index],
            cost[index] / units[index] if units[index] else 0.0,
            _describe_locations(work[index]),
            *(cost[index] * (end / units[index] if units[index] else 1.0) for end in ends[index]),
        )
        for index, need in enumerate(needs)
    )


def _describe_locations(work: Mapping[str, float]) -> str:
    """Where the work is done, largest part first, with its percentage."""
    total = math.fsum(work.values())
    ordered = sorted(work.items(), key=lambda item: (-item[1], item[0]))
    shares = ((name, amount / total) for name, amount in ordered)
    return "; ".join(f"{name} ({_format_percent(share)})" if len(work) > 1 else name for name, share in shares)


def _format_percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "under 1%"
