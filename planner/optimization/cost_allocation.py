"""Allocation of a strategy's costs to workloads: their own use, their shares of purchases and of overheads.

All amounts are payments of `solution`; they are only distributed here, so that the parts add up to the whole.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from planner.finance.cashflow import Payment
from planner.optimization import solution
from planner.optimization.solution import CandidateUse, Decisions, PlanningContext
from planner.result import EXISTING_SUFFIX, WorkloadCost
from planner.supply.homes import is_owned_place
from planner.supply.payments import covered_months
from planner.workloads.demand import WorkloadDemand
from pricing.units import HOURS_PER_DAY

Place = tuple[str, ...]

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
    return {order.resource.key: normalise_weights(used[order.resource.key]) for order in decisions.bought}


def used_fractions(decisions: Decisions, setting: PlanningContext) -> dict[tuple[tuple[str, ...], int], float]:
    """By key of the resource and month, the part of its hours (of committed money, of the money) that is used."""
    resources = setting.market.resources
    used: dict[tuple[tuple[str, ...], int], float] = defaultdict(float)
    for share in decisions.shares:
        resource = resources[share.candidate.resource]
        weight = resource.quote.price.price_per_hour if resource.pool and resource.quote is not None else 1.0
        used[resource.pool or resource.key, share.month] += share.node_hours * weight
    there: dict[tuple[tuple[str, ...], int], float] = defaultdict(float)
    for order in decisions.bought:
        hours = HOURS_PER_DAY if order.resource.unit == "node_day" else setting.terms.hours_per_month
        for month in covered_months(order.resource, order.month, setting.assumptions, setting.terms):
            there[order.resource.key, month] += order.quantity * hours
    return {key: min(1.0, used[key] / hours) for key, hours in there.items() if hours}


def allocate_costs(decisions: Decisions, setting: PlanningContext, value_of: Valuation) -> list[float]:
    """The cost of each need, in their order: own use, its share of purchases, and of overheads by its other costs."""
    costs: list[list[float]] = [[] for _ in setting.demands.needs]
    for share in decisions.shares:
        costs[share.candidate.need].append(value_of(solution.use_payments(setting, share)))
    of_purchases = purchase_shares(decisions, setting)
    for order in decisions.bought:
        amount = value_of(solution.purchase_payments(setting, order))
        _distribute_amount(amount, of_purchases[order.resource.key], costs)
    of_all = normalise_weights([math.fsum(amounts) for amounts in costs])
    for overhead in decisions.overheads:
        _distribute_amount(value_of(solution.overhead_payments(setting, overhead)), of_all, costs)
    return [math.fsum(amounts) for amounts in costs]


def normalise_weights(weights: Sequence[float]) -> tuple[float, ...]:
    """The part of each in their sum; equal parts where that is 0."""
    total = math.fsum(weights)
    return tuple(weight / total if total else 1 / len(weights) for weight in weights)


def _distribute_amount(amount: float, of: Sequence[float], costs: list[list[float]]) -> None:
    for need, part in enumerate(of):
        if part:
            costs[need].append(amount * part)


def workload_costs(decisions: Decisions, setting: PlanningContext) -> tuple[WorkloadCost, ...]:
    """The cost of each workload, and where it runs."""
    needs = setting.demands.needs
    cost = allocate_costs(decisions, setting, sum_payments)
    shares: list[list[CandidateUse]] = [[] for _ in needs]
    for share in decisions.shares:
        shares[share.candidate.need].append(share)
    rows = []
    for index, need in enumerate(needs):
        units = math.fsum(share.units for share in shares[index])
        rates = [(share.units, share.candidate.throughput) for share in shares[index]]
        ends = (
            math.fsum(done * rate.units_per_hour / rate.high for done, rate in rates),
            math.fsum(done * rate.units_per_hour / rate.low for done, rate in rates),
        )
        row = WorkloadCost(
            workload=need.workload.name,
            team=need.workload.team,
            unit=need.unit,
            units=units,
            cost=cost[index],
            cost_per_unit=cost[index] / units if units else 0.0,
            where=_describe_home(shares[index], need, setting),
            cost_low=cost[index] * (ends[0] / units if units else 1.0),
            cost_high=cost[index] * (ends[1] / units if units else 1.0),
        )
        rows.append(row)
    return tuple(rows)


def _describe_home(shares: Sequence[CandidateUse], need: WorkloadDemand, setting: PlanningContext) -> str:
    """Where a workload lives, how it is paid for there, and what goes elsewhere, with parts of the work:
    "aws us-east-1 g6e.xlarge: spot (60%), on_demand (40%)", "box: owned (80%); overflow to ..."."""
    total = math.fsum(share.units for share in shares)
    work: dict[Place, dict[str, float]] = {}
    first: dict[Place, int] = {}
    for share in shares:
        resource = setting.market.resources[share.candidate.resource]
        owned, way = is_owned_place(resource.place), resource.purchase_option
        place = (resource.place[0], resource.title) if owned else resource.place  # nodes that were there before say so
        if resource.held is not None and not owned:
            way += EXISTING_SUFFIX
        paid = work.setdefault(place, {})
        paid[way] = paid.get(way, 0.0) + share.units
        first[place] = min(share.month, first.get(place, share.month))
    places = sorted(work, key=lambda place: (not is_owned_place(place), first[place], -math.fsum(work[place].values())))
    parts = []
    for place in places:
        name = " ".join(place[1:] if is_owned_place(place) else place)
        ways = sorted(work[place].items(), key=lambda item: (-item[1], item[0]))
        alone = len(places) == len(ways) == 1
        told = ", ".join(way if alone else f"{way} ({_format_percent(done / total)})" for way, done in ways)
        beside = ""
        if place != places[0]:
            month = setting.demands.month_names[first[place] - 1]
            moves = f"from {month} in " if not is_owned_place(places[0]) else "overflow to "
            beside = "and " if need.may_spread or is_owned_place(place) else moves
        parts.append(f"{beside}{name}: {told}")
    return "; ".join(parts)


def _format_percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else "under 1%"
