"""Financial views of the strategies beyond their cash, as sections of the readable report."""

from __future__ import annotations

from collections.abc import Iterable

from planner.reports._content.number_format import (
    NO_VALUE,
    apportion,
    format_money,
    format_number,
    format_percent,
    format_quantity,
    format_signed,
    format_unit_cost,
    in_words,
    month_name,
    month_range_name,
    plan_year_name,
    split_total,
)
from planner.reports._content.sections import Section, make_bullets, make_table, recommended_strategy
from planner.result import Plan
from planner.result.financial_views import BreakEvenPrice, Depreciation, OwningReturn, UnitCost
from planner.result.marginal_values import MarginalValue

METHODS = {"straight_line": "straight line", "macrs": "MACRS"}
PRICES = {"hourly": "on-demand and spot prices", "cloud": "cloud prices (commitments too)"}


def bridge_section(plan: Plan) -> Section | None:
    """Savings of the recommendation against the runner-up by category; None without a runner-up."""
    steps, advice = plan.views.bridge, plan.recommendation
    if not steps or advice.strategy is None or advice.runner_up is None:
        return None
    now = apportion([step.recommended for step in steps], plan.strategy(advice.strategy).present_cost)
    # both columns and their difference are whole units: the runner-up total follows from the printed saving
    before = split_total(sum(now) + round(advice.worth), [step.runner_up for step in steps])
    names = [in_words(step.category) for step in steps]
    lines = [*zip(names, before, now, strict=True), ("total", sum(before), sum(now))]
    rows = [(name, format_money(was), format_money(will), format_signed(was - will)) for name, was, will in lines]
    titles = ("present cost of", advice.runner_up, advice.strategy, "saved")
    table = make_table(titles, rows, (1, 2, 3), has_total=True)
    return Section(f"From runner-up to recommendation, {plan.currency}", (table,))


def owning_section(plan: Plan) -> Section | None:
    """The return on buying hardware instead of renting; None where no strategy buys any."""
    if not plan.views.owning:
        return None
    rows = [_owning_row(plan, each) for each in plan.views.owning]
    titles = ("strategy", f"net present value, {plan.currency}", "IRR a year", "paid back in", "discounted")
    facts = [
        _break_even_sentence(plan, each, price) for each in plan.views.owning for price in _distinct_break_evens(each)
    ]
    note = (
        "Monthly savings of each strategy against cloud, before tax. Break-even prices leave the purchases and "
        "rentals of both strategies unchanged."
    )
    blocks = (make_table(titles, rows, (1, 2, 3, 4)), make_bullets(facts), note)
    return Section("Owning against renting", blocks)


def unit_economics_section(plan: Plan) -> Section | None:
    """Cost per readable amount of work, by workload and strategy; None where the plan has none."""
    costs = {(row.workload, row.strategy): row for row in plan.views.unit_costs}
    names = [s.name for s in plan.strategies if any(row.strategy == s.name for row in plan.views.unit_costs)]
    if not costs:
        return None
    rows = []
    for workload in dict.fromkeys(row.workload for row in plan.views.unit_costs):
        its = [costs.get((workload, name)) for name in names]
        first_cost = next(row for row in its if row is not None)
        rows.append((workload, first_cost.each, *map(_unit_cost_text, its)))
    titles = ("workload", "cost of each", *names)
    note = "Total cost over the work done and, in brackets, present cost over the same work; idle hours are in both."
    return Section(f"Unit economics, {plan.currency}", (make_table(titles, rows, range(2, len(titles))), note))


def depreciation_section(plan: Plan) -> Section | None:
    """Depreciation under the recommended strategy, or the first that buys hardware; None if not requested."""
    if not plan.views.depreciation:
        return None
    chosen = recommended_strategy(plan)
    names = dict.fromkeys(row.strategy for row in plan.views.depreciation)
    name = chosen.name if chosen is not None and chosen.name in names else next(iter(names))
    purchases = [row for row in plan.views.depreciation if row.strategy == name]
    rows = [row for each in purchases for row in _depreciation_rows(plan, each)]
    titles = ("year", "deducted", "left in the books", "tax saved")
    facts = []
    for each in names:
        present = sum(row.present_value for row in plan.views.depreciation if row.strategy == each)
        facts.append(f"{each}: present value {format_money(present)} {plan.currency}.")
    fraction = format_percent(purchases[0].tax_fraction)
    note = f"Costs of the plan are before tax. Tax saved at {fraction} income tax, less the tax on a gain at resale:"
    blocks = (make_table(titles, rows, (1, 2, 3)), note, make_bullets(facts))
    return Section(f"Depreciation and tax, strategy {name}, {plan.currency}", blocks)


def internal_rates_text(each: OwningReturn) -> str:
    """The internal rates of return a year: one, none, or all of several."""
    percentages = ", ".join(map(format_percent, each.internal_rates_annual))
    return f"several: {percentages}" if len(each.internal_rates_annual) > 1 else percentages or "none"


def payback_text(plan: Plan, month: int | None) -> str:
    """The month by whose end savings equal spending."""
    if month is None:
        return "never"
    return f"month {month} ({month_name(plan, month)})" if month else "at once"


def break_even_price_text(price: BreakEvenPrice) -> str:
    """At which level of prices owning costs less, in words."""
    prices = PRICES[price.prices]
    if price.multiple is None:
        return f"at any level of {prices}" if price.owning_is_cheaper == "always" else f"at no level of {prices}"
    return f"where all {prices} are {price.owning_is_cheaper} {format_number(price.multiple, 3)} times today's"


def _owning_row(plan: Plan, each: OwningReturn) -> tuple[str, ...]:
    paybacks = (payback_text(plan, each.payback_month), payback_text(plan, each.discounted_payback_month))
    return (each.strategy, format_money(each.net_present_value), internal_rates_text(each), *paybacks)


def _distinct_break_evens(each: OwningReturn) -> list[BreakEvenPrice]:
    """The break-even prices without repetition: without commitments those of all cloud prices are the hourly ones."""
    distinct: dict[tuple[float | None, str, float | None], BreakEvenPrice] = {}
    for price in each.break_even_prices:
        distinct.setdefault((price.multiple, price.owning_is_cheaper, price.paid_per_accelerator_hour), price)
    return list(distinct.values())


def _break_even_sentence(plan: Plan, each: OwningReturn, price: BreakEvenPrice) -> str:
    text = f"{each.strategy} costs less than cloud {break_even_price_text(price)}"
    if price.price_per_accelerator_hour is None or price.paid_per_accelerator_hour is None:
        return f"{text}."
    level, paid = f"{price.price_per_accelerator_hour:,.2f}", f"{price.paid_per_accelerator_hour:,.2f}"
    return f"{text}: {level} instead of {paid} {plan.currency} per accelerator-hour."


def _unit_cost_text(row: UnitCost | None) -> str:
    return NO_VALUE if row is None else f"{format_number(row.cost_each)} ({format_number(row.present_cost_each)})"


def _depreciation_rows(plan: Plan, each: Depreciation) -> Iterable[tuple[str, ...]]:
    """A heading, a row for each year and the sale; deductions and the remaining book value add up to the cost."""
    used = month_range_name(plan, each.in_use_from, each.sold_in)
    yield (f"{each.count} x {each.name}, in use {used}: {METHODS[each.method]} of {format_money(each.cost)}",)
    parts = apportion([*(year.deduction for year in each.years), each.adjusted_basis], each.cost)
    left = sum(parts)
    for year, deduction in zip(each.years, parts, strict=False):
        left -= deduction
        yield plan_year_name(plan, year.year), format_money(deduction), format_money(left), format_money(year.tax_saved)
    sale = f"sold for {format_money(each.resale)}, {'loss' if each.gain < 0 else 'gain'}"
    yield sale, format_money(-each.gain), NO_VALUE, format_money(-each.tax_on_gain)


def marginal_cost_section(plan: Plan) -> Section | None:
    """One row for each workload and each limit; None where there is no plan."""
    if not plan.margins:
        return None
    titles = ("one more", "added", f"present cost, {plan.currency}", "each")
    text = (
        "1 % more work in every month with unchanged purchases; each limit raised by a tenth (a whole one to a whole "
        "number), planned again."
    )
    return Section("Marginal cost", (text, make_table(titles, [_marginal_row(row) for row in plan.margins], (1, 2, 3))))


def _marginal_row(row: MarginalValue) -> tuple[str, ...]:
    subject = f"{row.subject}: {row.unit}"
    if row.worth is None or row.per_unit is None:
        missing = "cannot be served" if row.kind == "demand" else NO_VALUE
        return (subject, format_quantity(row.added), missing if row.is_known else "unknown", NO_VALUE)
    worth = format_money(row.worth)
    if worth == NO_VALUE:  # the solver's tolerance: a rate of it would be noise
        each = NO_VALUE
    elif row.kind == "demand":
        each = format_unit_cost(row.per_unit, row.unit)
    else:
        each = format_number(row.per_unit)  # of the limit's unit, which the subject names
    return (subject, format_quantity(row.added), worth, each)
