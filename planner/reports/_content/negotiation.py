"""What to ask vendors for, as a section of the readable report."""

from __future__ import annotations

from planner.reports._content.number_format import NO_VALUE, format_money, format_number
from planner.reports._content.sections import Section, make_table
from planner.result import Plan
from planner.result.risk import NegotiationTarget
from pricing.counted_nouns import format_count

FIXED = "With the decisions of both strategies fixed; `planner negotiate` confirms each price by planning again."
CONFIRMED = "Each price was confirmed by planning again just below and above it."
NOTE = (
    "Beyond each price another strategy is the choice, all other prices kept. Spend is the present cost paid at it: a"
    " discount of 1 % saves 1 % of that."
)
UNITS = {"rate": "node-hour", "term": "node-hour, price not known", "quote": "system"}


def negotiation_section(plan: Plan) -> Section | None:
    """A row for each price that changes the choice, and hardware; None where there is nothing to compare with."""
    if not plan.negotiation:
        return None
    titles = ("per", "counted", "choice changes at", "change", "to", "spend", "saving at stake", "")
    shown = [each for each in plan.negotiation if each.change_fraction is not None or each.kind == "quote"]
    rows = [(*_target_row(each), describe_target(each)) for each in shown]
    rest = len(plan.negotiation) - len(shown)
    more = f" No price up to ten times today's of {format_count(rest, 'other')} does." if rest else ""
    confirmed = all(each.basis == "planned_again" for each in shown if each.change_fraction is not None)
    table = make_table(titles, rows, range(1, 7), has_prose=True)
    title = f"What to ask vendors for, {plan.currency}"
    return Section(title, (table, f"{NOTE}{more} {CONFIRMED if confirmed else FIXED}"))


def describe_target(target: NegotiationTarget) -> str:
    """The thing that the price is for."""
    place = (target.provider, target.region, target.name, "" if target.kind == "quote" else target.purchase_option)
    return f"{' '.join(part for part in place if part)}, paid by {target.paid_by}"


def _target_row(target: NegotiationTarget) -> tuple[str, ...]:
    change = target.change_fraction
    return (
        UNITS[target.kind],
        _format_price(target.price, target),
        _format_price(target.flip_price, target),
        "no price does" if change is None else f"{change:+.0%}",
        target.becomes or NO_VALUE,
        format_money(target.spend),
        format_money(target.at_stake),
    )


def _format_price(price: float | None, target: NegotiationTarget) -> str:
    if price is None:
        return NO_VALUE
    return format_money(price) if target.kind == "quote" else format_number(price)
