"""What the strategies come to beyond their cash, as sections of the readable report: words and shown figures."""

from __future__ import annotations

from collections.abc import Iterable

from planner.answer import Plan
from planner.answer.views import BreakEvenPrice, Depreciation, OwningReturn, UnitCost
from planner.reports._shared.figures import (
    NONE,
    apportion,
    money,
    month_name,
    months_named,
    number,
    parts_of,
    percent,
    year_named,
)
from planner.reports._shared.sections import Section, bullets, recommended, table

METHODS = {"straight_line": "straight line", "macrs": "MACRS"}
PRICES = {"hourly": "on-demand and spot prices", "cloud": "cloud prices (commitments too)"}


def bridge(plan: Plan) -> Section | None:
    """What the recommendation saves against the runner-up, category by category; None without a runner-up."""
    steps, advice = plan.views.bridge, plan.recommendation
    if not steps or advice.strategy is None or advice.runner_up is None:
        return None
    now = apportion([step.recommended for step in steps], plan.strategy(advice.strategy).present_cost)
    before = parts_of(sum(now) + round(advice.worth), [step.runner_up for step in steps])
    names = [step.category.replace("_", " ") for step in steps]
    lines = [*zip(names, before, now, strict=True), ("total", sum(before), sum(now))]
    rows = [(name, money(was), money(will_be), signed(was - will_be)) for name, was, will_be in lines]
    titles = ("present cost of", advice.runner_up, advice.strategy, "saved")
    return Section(
        f"From runner-up to recommendation, {plan.currency}", (table(titles, rows, (1, 2, 3), has_total=True),)
    )


def owning(plan: Plan) -> Section | None:
    """What buying hardware returns against renting; None where no strategy buys any."""
    if not plan.views.owning:
        return None
    rows = [_return(plan, each) for each in plan.views.owning]
    titles = ("strategy", f"net present value, {plan.currency}", "IRR a year", "paid back in", "discounted")
    facts = [_level(plan, each, price) for each in plan.views.owning for price in _unlike(each)]
    note = (
        "What each strategy saves and spends against cloud, month by month, before tax. "
        "Break-even prices keep what both plans buy and rent."
    )
    blocks = (table(titles, rows, (1, 2, 3, 4)), bullets(facts), note)
    return Section("Owning against renting", blocks)


def unit_economics(plan: Plan) -> Section | None:
    """Cost per readable amount of work, by workload and strategy; None where the plan does not tell it."""
    costs = {(row.workload, row.strategy): row for row in plan.views.unit_costs}
    names = [s.name for s in plan.strategies if any(row.strategy == s.name for row in plan.views.unit_costs)]
    if not costs:
        return None
    rows = []
    for workload in dict.fromkeys(row.workload for row in plan.views.unit_costs):
        its = [costs.get((workload, name)) for name in names]
        told = next(row for row in its if row is not None)
        rows.append((workload, told.each, *map(_each, its)))
    titles = ("workload", "cost of each", *names)
    note = "Total cost over the work done and, in brackets, present cost over the same work; idle hours are in both."
    return Section(f"Unit economics, {plan.currency}", (table(titles, rows, range(2, len(titles))), note))


def tax(plan: Plan) -> Section | None:
    """Depreciation of what the recommended strategy buys, or the first that buys anything; None where not asked for."""
    if not plan.views.depreciation:
        return None
    chosen = recommended(plan)
    names = dict.fromkeys(row.strategy for row in plan.views.depreciation)
    name = chosen.name if chosen is not None and chosen.name in names else next(iter(names))
    shown = [row for row in plan.views.depreciation if row.strategy == name]
    rows = [row for each in shown for row in _schedule(plan, each)]
    titles = ("year", "deducted", "left in the books", "tax saved")
    worth = {each: sum(row.present_value for row in plan.views.depreciation if row.strategy == each) for each in names}
    facts = [f"{each}: worth {money(amount)} {plan.currency} today." for each, amount in worth.items()]
    fraction = percent(shown[0].tax_fraction)
    note = (
        f"Costs of the plan are before tax. What is saved at {fraction} income tax, less the tax on a gain at resale:"
    )
    blocks = (table(titles, rows, (1, 2, 3)), note, bullets(facts))
    return Section(f"Depreciation and tax, strategy {name}, {plan.currency}", blocks)


def signed(amount: int) -> str:
    """
    >>> signed(1200), signed(-1200), signed(0)
    ('+1,200', '-1,200', '-')
    """
    return f"{amount:+,d}" if amount else NONE


def rates(each: OwningReturn) -> str:
    """The internal rates of return a year: one, none, or all of several."""
    found = [percent(rate) for rate in each.internal_rates_annual]
    return "none" if not found else found[0] if len(found) == 1 else f"several: {', '.join(found)}"


def paid_back(plan: Plan, month: int | None) -> str:
    """The month by whose end what was spent is back."""
    if month is None:
        return "never"
    return f"month {month} ({month_name(plan, month)})" if month else "at once"


def break_even_level(price: BreakEvenPrice) -> str:
    """At which level of prices owning costs less, in words."""
    what = PRICES[price.prices]
    if price.multiple is None:
        return f"at any level of {what}" if price.owning_is_cheaper == "always" else f"at no level of {what}"
    return f"where all {what} are {price.owning_is_cheaper} {number(price.multiple, 3)} times today's"


def _return(plan: Plan, each: OwningReturn) -> tuple[str, ...]:
    paybacks = (paid_back(plan, each.payback_month), paid_back(plan, each.discounted_payback_month))
    return (each.strategy, money(each.net_present_value), rates(each), *paybacks)


def _unlike(each: OwningReturn) -> list[BreakEvenPrice]:
    """The break-even prices but those of all cloud prices where nothing is committed to, which are the hourly ones."""
    found: dict[tuple[float | None, str, float | None], BreakEvenPrice] = {}
    for price in each.break_even_prices:
        found.setdefault((price.multiple, price.owning_is_cheaper, price.paid_per_accelerator_hour), price)
    return list(found.values())


def _level(plan: Plan, each: OwningReturn, price: BreakEvenPrice) -> str:
    text = f"{each.strategy} costs less than cloud {break_even_level(price)}"
    if price.price_per_accelerator_hour is None or price.paid_per_accelerator_hour is None:
        return f"{text}."
    level, paid = f"{price.price_per_accelerator_hour:,.2f}", f"{price.paid_per_accelerator_hour:,.2f}"
    return f"{text}: {level} instead of {paid} {plan.currency} per accelerator-hour."


def _each(row: UnitCost | None) -> str:
    return NONE if row is None else f"{number(row.cost_each)} ({number(row.present_cost_each)})"


def _schedule(plan: Plan, each: Depreciation) -> Iterable[tuple[str, ...]]:
    """A heading, a row a year and what the sale brings; what is deducted and what is left add up to the cost."""
    used = months_named(plan, each.in_use_from, each.sold_in)
    yield (f"{each.count} x {each.name}, in use {used}: {METHODS[each.method]} of {money(each.cost)}",)
    parts = apportion([*(year.deduction for year in each.years), each.adjusted_basis], each.cost)
    left = sum(parts)
    for year, deduction in zip(each.years, parts, strict=False):
        left -= deduction
        yield year_named(plan, year.year), money(deduction), money(left), money(year.tax_saved)
    word = "loss" if each.gain < 0 else "gain"
    yield f"sold for {money(each.resale)}, {word}", money(-each.gain), NONE, money(-each.tax_on_gain)
