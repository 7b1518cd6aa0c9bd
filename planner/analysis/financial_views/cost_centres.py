"""Chargeback: the recommended strategy's cost by cost centre (team) and month, in cash and as effective cost.

The parts of each workload are those of its cost (`cost_allocation`), so that cost centres add up to the cash of each
month and to the cost of their workloads.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from planner.analysis.financial_views.effective_cost import spread_purchase
from planner.optimization import solution
from planner.optimization.cost_allocation import (
    allocate_costs,
    normalise_weights,
    purchase_shares,
    sum_payments,
    used_fractions,
)
from planner.optimization.solution import Decisions, PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.result.financial_views import CostCentreMonth

Amounts = dict[int, float]
"""Money by month."""


@dataclass(slots=True)
class _WorkloadMonths:
    """The charges of one workload; `idle` and `shared` are parts of `effective`."""

    cash: Amounts = field(default_factory=lambda: defaultdict(float))
    effective: Amounts = field(default_factory=lambda: defaultdict(float))
    idle: Amounts = field(default_factory=lambda: defaultdict(float))
    shared: Amounts = field(default_factory=lambda: defaultdict(float))


def charge_cost_centres(solved: SolvedStrategy, setting: PlanningContext) -> tuple[CostCentreMonth, ...]:
    """A row for each team and month in which anything is paid or charged, in order of time."""
    decisions, needs = solved.decisions, setting.demands.needs
    charged = [_WorkloadMonths() for _ in needs]
    for share in decisions.shares:
        for row in solution.use_payments(setting, share):
            _add_payment(charged[share.candidate.need], row.month, row.amount)
    _charge_purchases(decisions, setting, charged)
    parts = normalise_weights(allocate_costs(decisions, setting, sum_payments))
    for overhead in decisions.overheads:
        for row in solution.overhead_payments(setting, overhead):
            for its, part in zip(charged, parts, strict=True):
                _add_payment(its, row.month, part * row.amount)
                its.shared[row.month] += part * row.amount
    return tuple(_list_rows(charged, setting))


def _add_payment(charged: _WorkloadMonths, month: int, amount: float) -> None:
    """An amount that the month of its payment is charged with."""
    charged.cash[month] += amount
    charged.effective[month] += amount


def _charge_purchases(decisions: Decisions, setting: PlanningContext, charged: Sequence[_WorkloadMonths]) -> None:
    shares, used = purchase_shares(decisions, setting), used_fractions(decisions, setting)
    for order in decisions.bought:
        key = order.resource.key
        for its, part in zip(charged, shares[key], strict=True):
            if not part:
                continue
            for row in solution.purchase_payments(setting, order):
                its.cash[row.month] += part * row.amount
            for month, _, amount in spread_purchase(order, setting):
                its.effective[month] += part * amount
                its.idle[month] += part * amount * (1 - used.get((key, month), 0.0))


def _list_rows(charged: Sequence[_WorkloadMonths], setting: PlanningContext) -> Iterator[CostCentreMonth]:
    teams: dict[str, list[int]] = {}
    for index, need in enumerate(setting.demands.needs):
        teams.setdefault(need.workload.team, []).append(index)
    for month in sorted({month for its in charged for month in (*its.cash, *its.effective)}):
        for team in sorted(teams):
            its = [charged[index] for index in teams[team]]
            budgets = [
                (setting.demands.needs[index].workload.budget_per_month, charged[index].effective.get(month, 0.0))
                for index in teams[team]
            ]
            stated = [(budget, cost) for budget, cost in budgets if budget is not None]
            is_budgeted = bool(stated) and 1 <= month <= setting.terms.months
            yield CostCentreMonth(
                month,
                team,
                _sum_month((each.cash for each in its), month),
                _sum_month((each.effective for each in its), month),
                _sum_month((each.idle for each in its), month),
                _sum_month((each.shared for each in its), month),
                math.fsum(budget for budget, _ in stated) if is_budgeted else None,
                math.fsum(cost - budget for budget, cost in stated) if is_budgeted else None,
            )


def _sum_month(amounts: Iterable[Amounts], month: int) -> float:
    return math.fsum(each.get(month, 0.0) for each in amounts)
