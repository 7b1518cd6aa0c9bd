"""The views of a plan as one tidy list: a value of one measure of one thing, for tables that a program reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.result import Plan
from planner.result.financial_views import Depreciation, OwningReturn

NON_MONEY_MEASURES = frozenset(
    {"internal_rate_annual", "payback_month", "discounted_payback_month", "break_even_multiple"}
)


@dataclass(frozen=True, slots=True)
class TidyMeasure:
    """`month` is 0 without one, and the last of its year for a value of a year; `name` is the purchase,
    the prices or the amount of work that is measured."""

    kind: str
    strategy: str
    measure: str
    value: float
    month: int = 0
    category: str = ""
    workload: str = ""
    name: str = ""

    @property
    def is_money(self) -> bool:
        """Whether the value is an amount in the plan's currency; else a number of months, a rate or a multiple."""
        return self.measure not in NON_MONEY_MEASURES


def list_measures(plan: Plan) -> Iterator[TidyMeasure]:
    """Every value of the financial views; a missing value has no row."""
    views = plan.views
    for cost in views.effective:
        yield TidyMeasure("effective", cost.strategy, "effective_cost", cost.amount, cost.month, cost.category)
    for unit in views.unit_costs:
        for measure, value in (("cost_each", unit.cost_each), ("present_cost_each", unit.present_cost_each)):
            yield TidyMeasure("unit_cost", unit.strategy, measure, value, workload=unit.workload, name=unit.each)
    for own in views.owning:
        yield from _owning_measures(own)
    for step in views.bridge:
        chosen = plan.recommendation.strategy or ""
        yield TidyMeasure("bridge", chosen, "present_cost_saved", step.difference, category=step.category)
    for purchase in views.depreciation:
        yield from _depreciation_measures(plan, purchase)


def _owning_measures(own: OwningReturn) -> Iterator[TidyMeasure]:
    for time, saved in enumerate(own.savings):
        yield TidyMeasure("owning", own.strategy, "saved", saved, name=f"{time} months from the start")
    known = (
        ("net_present_value", own.net_present_value),
        *(("internal_rate_annual", rate) for rate in own.internal_rates_annual),
        ("payback_month", own.payback_month),
        ("discounted_payback_month", own.discounted_payback_month),
    )
    for measure, value in known:
        if value is not None:
            yield TidyMeasure("owning", own.strategy, measure, value)
    for price in own.break_even_prices:
        levels = (
            ("break_even_multiple", price.multiple),
            ("break_even_price_per_accelerator_hour", price.price_per_accelerator_hour),
        )
        for measure, value in levels:
            if value is not None:
                yield TidyMeasure("owning", own.strategy, measure, value, name=f"{price.prices} prices")


def _depreciation_measures(plan: Plan, each: Depreciation) -> Iterator[TidyMeasure]:
    name = f"{each.count} x {each.name}, ordered in month {each.month}"
    for year in each.years:
        last = min(12 * year.year, plan.months)
        figures = (("deduction", year.deduction), ("book_value", year.book_value), ("tax_saved", year.tax_saved))
        for measure, value in figures:
            yield TidyMeasure("depreciation", each.strategy, measure, value, last, name=name)
    sale = (("gain_at_resale", each.gain), ("tax_on_gain", each.tax_on_gain), ("present_value", each.present_value))
    for measure, value in sale:
        yield TidyMeasure("depreciation", each.strategy, measure, value, each.sold_in, name=name)
