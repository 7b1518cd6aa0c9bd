"""What each workload bears of a strategy's costs: its own use, its part of what is bought, its part of the overheads.

Every amount comes from the payments of `replay`; here they are only shared out, so that all parts add up to the whole.
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
"""What payments count for: their sum, or their present cost."""


def sum_payments(payments: Iterable[Payment]) -> float:
    """The sum of payments."""
    return math.fsum(payment.amount for payment in payments)


def purchase_shares(decisions: Decisions, setting: PlanningContext) -> dict[tuple[str, ...], tuple[float, ...]]:
    """By key of what is bought, the part of each need: by node-hours (of committed money by what is drawn), so that
    idle hours go the same way; in equal parts where nobody uses it."""
    resources, needs = setting.market.resources, len(setting.demands.needs)
    used: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0] * needs)
    for share in decisions.shares:
        resource = resources[share.candidate.resource]
        weight = resource.quote.price.price_per_hour if resource.pool and resource.quote is not None else 1.0
        used[resource.pool or resource.key][share.candidate.need] += share.node_hours * weight
    return {bought.resource.key: _normalise_weights(used[bought.resource.key]) for bought in decisions.bought}


def allocate_costs(decisions: Decisions, setting: PlanningContext, worth: Valuation) -> list[float]:
    """What each need bears, in their order: own use, its part of purchases, and of overheads by all other costs."""
    costs: list[list[float]] = [[] for _ in setting.demands.needs]
    for share in decisions.shares:
        costs[share.candidate.need].append(worth(solution.use_payments(setting, share)))
    of_purchases = purchase_shares(decisions, setting)
    for bought in decisions.bought:
        _distribute_amount(worth(solution.purchase_payments(setting, bought)), of_purchases[bought.resource.key], costs)
    of_all = _normalise_weights([math.fsum(amounts) for amounts in costs])
    for overhead in decisions.overheads:
        _distribute_amount(worth(solution.overhead_payments(setting, overhead)), of_all, costs)
    return [math.fsum(amounts) for amounts in costs]


def _normalise_weights(weights: Sequence[float]) -> tuple[float, ...]:
    total = math.fsum(weights)
    return tuple(weight / total if total else 1 / len(weights) for weight in weights)


def _distribute_amount(amount: float, of: Sequence[float], costs: list[list[float]]) -> None:
    for need, part in enumerate(of):
        if part:
            costs[need].append(amount * part)


def workload_costs(decisions: Decisions, setting: PlanningContext) -> tuple[WorkloadCost, ...]:
    """What each workload costs, and where it runs."""
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
