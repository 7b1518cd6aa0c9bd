"""The sheet Assumptions: figures that no price list holds, as inputs with range, source and date, and the scenario.

The value in use is the one that formulas read, by its name: the input, or an end of its range where a scenario is on.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.answer import Assumption, Plan
from planner.reports._shared.again import BASE, DISCOUNT, HIGH_COST, HOURS, SCENARIOS, Again
from planner.reports.xlsx._book import Book, Cell, Formula, Sheet, at, changed

COLUMNS = (
    ("name", 36, "text"), ("meaning", 38, "wrap"), ("value", 13, "input"), ("unit", 18, "wrap"), ("low", 10, "figure"),
    ("high", 10, "figure"), ("end that costs more", 9, "text"), ("value in use", 13, "figure"),
    ("acts on", 15, "wrap"), ("source", 60, "wrap"), ("as of", 11, "date"), ("changed by the request", 11, "text"),
    ("as planned", 13, "figure"),
)  # fmt: skip
VALUE, LOW, HIGH, DEARER, IN_USE, PLANNED = 2, 4, 5, 6, 7, 12
MONTHLY = "discount_rate_monthly"
SCENARIO = "scenario"
SCENARIO_ROW, SCENARIO_COLUMN = 2, 2
NOTE = (
    "Blue values are inputs. What acts on payments is live in every sheet, with choices kept; what acts on the plan "
    "is not: plan again. The scenario takes the end of each range that costs the recommended strategy less or more."
)


@dataclass(frozen=True, slots=True)
class Rate:
    """The two names under which the discount rate stands in formulas, and its monthly value."""

    annual: str
    monthly: str
    monthly_value: float


def write(sheet: Sheet, plan: Plan, again: Again) -> tuple[Rate, dict[str, str], str]:
    """Writes the sheet; the discount rate, the cell of the value in use of every figure by its name, and the formula of
    how many inputs were changed."""
    sheet.widths([width for _, width, _ in COLUMNS])
    sheet.heading("Assumptions", NOTE)
    sheet.put(SCENARIO_ROW, 0, "scenario: base, low cost or high cost", "total_text")
    sheet.put(SCENARIO_ROW, SCENARIO_COLUMN, BASE, "choice")
    sheet.choose(SCENARIO_ROW, SCENARIO_COLUMN, SCENARIOS)
    sheet.book.name(SCENARIO, sheet.name, SCENARIO_ROW, SCENARIO_COLUMN)
    dearer = {each.figure.name: each.dearer for each in again.recommended}
    figures = _figures(plan)
    first = sheet.table(
        [head for head, _, _ in COLUMNS], [style for _, _, style in COLUMNS],
        [_row(figure, dearer.get(figure.name, ""), again) for figure in figures],
    ) - len(figures)  # fmt: skip
    cells = {}
    for row, figure in enumerate(figures, start=first):
        sheet.put(row, IN_USE, _in_use(row, figure.value), "figure")
        cells[figure.name] = _named(sheet.book, sheet, figure.name, row)
    end = first + len(figures)
    monthly = float((1 + plan.discount_rate_annual) ** (1 / 12) - 1)
    sheet.put(end, 0, MONTHLY)
    sheet.put(end, 1, "(1 + yearly rate)^(1/12) - 1", "wrap")
    sheet.put(end, IN_USE, Formula(f"=(1+{cells[DISCOUNT]})^(1/12)-1", monthly), "rate")
    sheet.book.name(MONTHLY, sheet.name, end, IN_USE)
    edited = changed(sheet.column(VALUE, first, end - 1), sheet.column(PLANNED, first, end - 1))
    return Rate(cells[DISCOUNT], MONTHLY, monthly), cells, edited


def _figures(plan: Plan) -> list[Assumption]:
    """The plan's assumptions, with the discount rate and the hours of a month whether or not they are among them."""
    given = [a for a in plan.assumptions if a.name != DISCOUNT or a.value == plan.discount_rate_annual]
    if not any(a.name == DISCOUNT for a in given):
        own = Assumption(
            DISCOUNT, "discount rate of this plan", plan.discount_rate_annual, "fraction per year", None, None,
            "the request", plan.as_of, True,
        )  # fmt: skip
        given.insert(0, own)
    hours = Assumption(
        HOURS, "hours in a month of this plan", plan.hours_per_month, "hours", None, None, "convention of this plan",
        plan.as_of,
    )  # fmt: skip
    return [*given, hours]


def _row(a: Assumption, dearer: str, again: Again) -> tuple[Cell, ...]:
    acts = "payments" if a.name in again.reads else "the plan"
    asked = "yes" if a.overridden else ""
    return a.name, a.meaning, a.value, a.unit, a.low, a.high, dearer, None, acts, a.source, a.as_of, asked, a.value


def _in_use(row: int, value: float) -> Formula:
    """The input; under a scenario the end of its range, where it has one that matters and does not lie inside it."""
    given, low, high, dearer = (at(row, column) for column in (VALUE, LOW, HIGH, DEARER))
    is_high = f'({SCENARIO}="{HIGH_COST}")=({dearer}="high")'
    end = f"IF({is_high},MAX({given},{high}),MIN({given},{low}))"
    return Formula(f'=IF(OR({SCENARIO}="{BASE}",{dearer}=""),{given},{end})', value)


def _named(book: Book, sheet: Sheet, name: str, row: int) -> str:
    """The name of the value in use, where it may be one, else its address."""
    return name if book.name(name, sheet.name, row, IN_USE) else sheet.address(row, IN_USE)
