"""Depreciation of what is bought and the income tax that it saves: shown beside a plan, whose costs stay before tax.

A year of the plan stands for a tax year. What is leased is its owner's to depreciate. Rent, power and every other
running cost is deducted as it is paid, whatever the strategy, and is left out here.
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
    """One schedule for each purchase of hardware that is used within the plan; none unless the request asks for tax."""
    if finance.tax == "none" or finance.hardware == "lease":
        return ()
    return tuple(
        _schedule_purchase(solved, bought, working, setting, finance)
        for bought in solved.decisions.bought
        if bought.resource.node is not None
        and bought.resource.held is None
        and (working := payments.covered_months(bought.resource, bought.month, setting.assumptions, setting.terms))
    )


def _schedule_purchase(
    solved: SolvedStrategy, bought: ResourceOrder, working: range, setting: PlanningContext, finance: Finance
) -> Depreciation:
    assert finance.tax != "none"
    rate, tax = setting.terms.discount_rate_annual, setting.assumptions[INCOME_TAX].value
    paid = solution.purchase_payments(setting, bought)
    cost = _hardware_cost(bought, setting)
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
    _, worth = tax_shield([*deductions[:-1], deductions[-1] - gain], tax, rate)
    return Depreciation(
        strategy=solved.strategy.name,
        name=bought.resource.name,
        count=round(bought.quantity),
        month=bought.month,
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
        present_value=worth,
    )


def _hardware_cost(bought: ResourceOrder, setting: PlanningContext) -> float:
    """What the hardware costs, however it is financed."""
    assert bought.resource.node is not None
    cost = onprem.node_costs(bought.resource.node, setting.assumptions, setting.terms.hours_per_month)
    return cost.capital * bought.quantity


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
