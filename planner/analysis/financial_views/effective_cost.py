"""Effective cost: payments assigned to the months that use them, whenever they are paid. Only moves payments between
months. Both views are also summed by quarter of the fiscal year."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from planner.finance.cashflow import Payment
from planner.optimization import solution
from planner.optimization.solution import PlanningContext, ResourceOrder
from planner.optimization.strategy import SolvedStrategy
from planner.request.calendar import name_fiscal_year, name_month
from planner.result import Strategy
from planner.result.financial_views import EffectiveCost, FiscalQuarter
from planner.supply import payments

MONTHS_A_QUARTER = 3


def spread_effective_cost(solved: SolvedStrategy, setting: PlanningContext) -> tuple[EffectiveCost, ...]:
    """The rows of one strategy by month and category; they add up to its total cost."""
    sums: dict[tuple[int, str], list[float]] = defaultdict(list)
    for month, category, amount in _spread_decisions(solved, setting):
        sums[month, category].append(amount)
    amounts = ((month, category, math.fsum(parts)) for (month, category), parts in sorted(sums.items()))
    return tuple(EffectiveCost(solved.strategy.name, *row) for row in amounts if row[2])


def _spread_decisions(solved: SolvedStrategy, setting: PlanningContext) -> Iterator[tuple[int, str, float]]:
    for order in solved.decisions.bought:
        yield from spread_purchase(order, setting)
    for share in solved.decisions.shares:
        yield from _list_payments_as_paid(solution.use_payments(setting, share))
    for overhead in solved.decisions.overheads:
        yield from _list_payments_as_paid(solution.overhead_payments(setting, overhead))


def spread_purchase(order: ResourceOrder, setting: PlanningContext) -> Iterator[tuple[int, str, float]]:
    """Month, category and amount: evenly over the months covered; the running cost of an owned node stays as paid."""
    covered = payments.covered_months(order.resource, order.month, setting.assumptions, setting.terms)
    rows = solution.purchase_payments(setting, order)
    as_paid = payments.RUNNING_CATEGORIES if order.resource.node is not None else frozenset()
    if not covered:
        yield from _list_payments_as_paid(rows)
        return
    yield from _list_payments_as_paid(row for row in rows if row.category in as_paid)
    totals: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.category not in as_paid:
            totals[row.category].append(row.amount)
    for category, amounts in totals.items():
        each = math.fsum(amounts) / len(covered)
        yield from ((month, category, each) for month in covered)


def _list_payments_as_paid(rows: Iterable[Payment]) -> Iterator[tuple[int, str, float]]:
    return ((row.month, row.category, row.amount) for row in rows)


def sum_fiscal_quarters(
    strategy: Strategy, effective: Sequence[EffectiveCost], first: str, months: int, starts: int
) -> tuple[FiscalQuarter, ...]:
    """The quarters of one strategy with its `effective` rows, in order of time; the plan has `months` from `first`."""
    cash, spread = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
    for row in strategy.cash:
        cash[row.month].append(row.amount)
    for each in effective:
        spread[each.month].append(each.amount)
    quarters: dict[int, list[int]] = {}
    in_year = int(first[5:7]) - starts  # months from the start of a fiscal year to the first of the plan
    for month in sorted({*range(1, months + 1), *cash, *spread}):
        quarters.setdefault((in_year + month - 1) // MONTHS_A_QUARTER, []).append(month)
    return tuple(
        FiscalQuarter(
            strategy.name,
            name_fiscal_year(first, its[0], starts),
            number % 4 + 1,
            name_month(first, its[0]),
            name_month(first, its[-1]),
            math.fsum(amount for month in its for amount in cash[month]),
            math.fsum(amount for month in its for amount in spread[month]),
        )
        for number, its in quarters.items()
    )
