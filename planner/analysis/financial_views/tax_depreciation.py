"""Depreciation of purchased hardware and the income tax that it saves: given in addition to a plan, whose costs are
before tax.

A year of the plan is a tax year. Leased hardware is depreciated by its owner. Rent, power and every other running cost
is deducted as it is paid in every strategy, and is left out here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.finance.time_value import macrs_deductions, straight_line_deductions, tax_shield
from planner.optimization import solution
from planner.optimization.solution import PlanningContext, ResourceOrder
from planner.optimization.strategy import SolvedStrategy
from planner.request.ownership import Finance
from planner.result.financial_views import Depreciation, DepreciationYear
from planner.supply import onprem, payments

INCOME_TAX = "income_tax_fraction"
USEFUL_LIFE = "useful_life_months"


def schedule_depreciation(
    solved: SolvedStrategy, setting: PlanningContext, finance: Finance
) -> tuple[Depreciation, ...]:
    """One schedule for each purchase of hardware used within the plan; none where the request has no tax method."""
    if finance.tax == "none" or finance.hardware == "lease":
        return ()
    return tuple(
        _schedule_purchase(solved, order, working, setting, finance)
        for order in solved.decisions.bought
        if order.resource.node is not None
        and order.resource.held is None
        and (working := payments.covered_months(order.resource, order.month, setting.assumptions, setting.terms))
    )


def _schedule_purchase(
    solved: SolvedStrategy, order: ResourceOrder, working: range, setting: PlanningContext, finance: Finance
) -> Depreciation:
    assert finance.tax != "none"
    rate, tax = setting.terms.discount_rate_annual, setting.assumptions[INCOME_TAX].value
    paid = solution.purchase_payments(setting, order)
    cost = _hardware_cost(order, setting)
    resale = -math.fsum(p.amount for p in paid if p.category == "resale")
    life = round(setting.assumptions[USEFUL_LIFE].value)
    deductions = (
        sum_months_by_year(straight_line_deductions(cost, life, 0.0)[: len(working)], working.start)
        if finance.tax == "straight_line"
        else align_to_plan_years(
            macrs_deductions(cost, _plan_year(working[-1]) - _plan_year(working.start) + 1), _plan_year(working.start)
        )
    )
    basis = cost - math.fsum(deductions)
    gain = resale - basis
    saved, _ = tax_shield(deductions, tax, rate)
    _, present_value = tax_shield([*deductions[:-1], deductions[-1] - gain], tax, rate)
    return Depreciation(
        strategy=solved.strategy.name,
        name=order.resource.name,
        count=round(order.quantity),
        month=payments.order_month(order.resource, order.month, setting.assumptions, setting.terms),
        in_use_from=working.start,
        sold_in=working[-1],
        method=finance.tax,
        tax_fraction=tax,
        cost=cost,
        years=_list_yearly_rows(cost, deductions, saved),
        resale=resale,
        adjusted_basis=basis,
        gain=gain,
        tax_on_gain=gain * tax,
        present_value=present_value,
    )


def _hardware_cost(order: ResourceOrder, setting: PlanningContext) -> float:
    """The cost of the hardware, however it is financed."""
    assert order.resource.node is not None
    cost = onprem.node_costs(order.resource.node, setting.assumptions, setting.terms.hours_per_month)
    return cost.capital * order.quantity


def sum_months_by_year(deductions: Sequence[float], first_month: int) -> list[float]:
    """Deductions of consecutive months from `first_month` on, added up by year of the plan; years before are 0."""
    years: list[list[float]] = [[] for _ in range(_plan_year(first_month + len(deductions) - 1))]
    for month, amount in enumerate(deductions, start=first_month):
        years[_plan_year(month) - 1].append(amount)
    return [math.fsum(amounts) for amounts in years]


def align_to_plan_years(deductions: Sequence[float], first_year: int) -> list[float]:
    """Deductions of consecutive years from `first_year` on; years before are 0."""
    return [*(0.0 for _ in range(first_year - 1)), *deductions]


def _list_yearly_rows(cost: float, deductions: Sequence[float], saved: Sequence[float]) -> tuple[DepreciationYear, ...]:
    left = [cost - math.fsum(deductions[:count]) for count in range(1, len(deductions) + 1)]
    rows = enumerate(zip(deductions, left, saved, strict=True), start=1)
    return tuple(DepreciationYear(year, *amounts) for year, amounts in rows)


def _plan_year(month: int) -> int:
    """The year of the plan that a month lies in."""
    return (month + 11) // 12
