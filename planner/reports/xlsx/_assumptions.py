"""The sheet Assumptions: figures that no price list holds, with range, source and date; one of them is live."""

from __future__ import annotations

from dataclasses import dataclass

from planner.answer import Assumption, Plan
from planner.reports.xlsx._book import Cell, Formula, Sheet

TITLES = ("name", "meaning", "value", "unit", "low", "high", "source", "as of", "changed by the request")
STYLES = ("text", "wrap", "input", "wrap", "figure", "figure", "wrap", "date", "text")
DISCOUNT, MONTHLY = "discount_rate_annual", "discount_rate_monthly"
VALUE = 2


@dataclass(frozen=True, slots=True)
class Rate:
    """The two names under which the discount rate stands in formulas, and its monthly value."""

    annual: str
    monthly: str
    monthly_value: float


def write(sheet: Sheet, plan: Plan) -> Rate:
    """Writes the sheet and names its values."""
    sheet.widths((36, 38, 13, 18, 10, 10, 60, 11, 11))
    note = "Blue values are inputs: plan again to see their effect. Only discount_rate_annual is live here: "
    sheet.heading("Assumptions", note + "it discounts the cash flow anew, but does not change what is bought.")
    given = [a for a in plan.assumptions if a.name != DISCOUNT or a.value == plan.discount_rate_annual]
    rows = [_row(a) for a in given]
    if not any(a.name == DISCOUNT for a in given):
        meaning, source = "discount rate of this plan", "the request"
        own = (DISCOUNT, meaning, plan.discount_rate_annual, "fraction per year", None, None, source, plan.as_of, "yes")
        rows.insert(0, own)
    hours, source = "hours in a month of this plan", "convention of this plan"
    rows.append(("hours_per_month", hours, plan.hours_per_month, "hours", None, None, source, plan.as_of, ""))
    end = sheet.table(TITLES, STYLES, rows)
    for row, cells in enumerate(rows, start=end - len(rows)):
        sheet.book.name(str(cells[0]), sheet.name, row, VALUE)
    monthly = float((1 + plan.discount_rate_annual) ** (1 / 12) - 1)
    live = Formula(f"=(1+{DISCOUNT})^(1/12)-1", monthly)
    styles = ("text", "wrap", "rate", "wrap")
    sheet.put_row(end, (MONTHLY, "(1 + yearly rate)^(1/12) - 1", live, "fraction per month"), styles)
    sheet.book.name(MONTHLY, sheet.name, end, VALUE)
    return Rate(DISCOUNT, MONTHLY, monthly)


def _row(a: Assumption) -> tuple[Cell, ...]:
    return a.name, a.meaning, a.value, a.unit, a.low, a.high, a.source, a.as_of, "yes" if a.overridden else ""
