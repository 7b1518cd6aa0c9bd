"""The sheet Assumptions: figures that no price list holds, as inputs with range, source and date, and the scenario.

The value in use is the one that formulas read, by its name: the input, or an end of its range where a scenario is on.
"""

from __future__ import annotations

from planner.reports._content.repricing import (
    BASE,
    HIGH_COST,
    INCOME_TAX,
    LOW_COST,
    SCENARIOS,
    LedgerRepricing,
)
from planner.reports.xlsx.input_states import InputCounts, count_states, mark_states, state_formula
from planner.reports.xlsx.workbook import Cell, Formula, WorkbookSheet, a1
from planner.result import Assumption, Plan
from planner.result.ledger_costs import DISCOUNT, HOURS
from pricing.frozen_values import dataclass

COLUMNS = (
    ("name", 36, "text"), ("meaning", 34, "wrap"), ("value", 12, "input"), ("unit", 15, "wrap"), ("low", 10, "figure"),
    ("high", 10, "figure"), ("end that costs more", 8, "text"), ("value in use", 12, "figure"), ("acts on", 9, "text"),
    ("state of the input", 19, "wrap"), ("source", 44, "wrap"), ("as of", 12, "date"), ("given by request", 8, "text"),
    ("as planned", 12, "figure"),
)  # fmt: skip
VALUE, UNIT, LOW, HIGH, COSTLIER_END, IN_USE, ACTS, STATE, PLANNED = 2, 3, 4, 5, 6, 7, 8, 9, 13
PAYMENTS, TAX, PLAN = "payments", "tax", "the plan"
SHARES = ("fraction", "share")
"""How the units of figures begin that cannot be above 1."""
MONTHLY = "discount_rate_monthly"
SCENARIO = "scenario"
SCENARIO_ROW, SCENARIO_COLUMN = 2, 2
NOTE = (
    "Blue values are inputs. Assumptions that act on payments are live in every sheet, with unchanged choices; those "
    "that act on the plan are not: they may change what is possible, so plan again. The scenario takes the end of each "
    "range that costs the recommended strategy less or more."
)


@dataclass(frozen=True, slots=True)
class DiscountRateCells:
    """The names of the annual and the monthly discount rate in formulas, and the monthly value."""

    annual: str
    monthly: str
    monthly_value: float


def write(
    sheet: WorkbookSheet, plan: Plan, repricing: LedgerRepricing
) -> tuple[DiscountRateCells, dict[str, str], InputCounts]:
    """Writes the sheet; the discount rate, the cell of the value in use of every figure by its name, and the inputs."""
    costlier_end = {each.figure.name: each.costlier_end for each in repricing.recommended}
    figures = _sheet_assumptions(plan)
    rows = [_assumption_row(figure, costlier_end.get(figure.name, ""), repricing) for figure in figures]
    first = sheet.list("Assumptions", NOTE, COLUMNS, rows) - len(figures)
    sheet.put(SCENARIO_ROW, 0, "scenario: base, low cost or high cost", "total_text")
    sheet.put(SCENARIO_ROW, SCENARIO_COLUMN, BASE, "choice")
    sheet.restrict_to_words(SCENARIO_ROW, SCENARIO_COLUMN, SCENARIOS)
    sheet.book.name(SCENARIO, sheet.name, SCENARIO_ROW, SCENARIO_COLUMN)
    cells = {}
    for row, figure in enumerate(figures, start=first):
        is_share = figure.unit.startswith(SHARES)
        sheet.put(row, IN_USE, _value_in_use(row, figure.value), "percent_figure" if is_share else "figure")
        if is_share:
            sheet.put(row, VALUE, figure.value, "input_percent")
            for column, value in ((LOW, figure.low), (HIGH, figure.high), (PLANNED, figure.value)):
                sheet.put(row, column, value, "percent_figure")
        acts = f'{a1(row, ACTS)}<>"{PLAN}"'
        sheet.put(row, STATE, state_formula(a1(row, VALUE), a1(row, PLANNED), _out_of_range_formula(row), acts))
        sheet.numbers((row, VALUE, row, VALUE), *_allowed_range(figure))
        # the name of the value in use, where it may be one, else its address
        is_named = sheet.book.name(figure.name, sheet.name, row, IN_USE)
        cells[figure.name] = figure.name if is_named else sheet.address(row, IN_USE)
    end = first + len(figures)
    monthly = float((1 + plan.discount_rate_annual) ** (1 / 12) - 1)
    sheet.put(end, 0, MONTHLY)
    sheet.put(end, 1, "(1 + yearly rate)^(1/12) - 1", "wrap")
    sheet.put(end, IN_USE, Formula(f"=(1+{cells[DISCOUNT]})^(1/12)-1", monthly), "rate")
    sheet.book.name(MONTHLY, sheet.name, end, IN_USE)
    mark_states(sheet, first, end - 1, STATE, a1(first, STATE))
    inputs = count_states(sheet.column(STATE, first, end - 1))
    known = ",".join(f'{SCENARIO}="{name}"' for name in SCENARIOS)
    inputs = InputCounts(inputs.edited, f"{inputs.wrong}+IF(OR({known}),0,1)")
    return DiscountRateCells(cells[DISCOUNT], MONTHLY, monthly), cells, inputs


def _allowed_range(a: Assumption) -> tuple[float, float | None]:
    """The least and the most that may be entered: no negative value where none is planned, no share above 1."""
    least = min(0.0, a.value, a.low or 0.0)
    if not a.unit.startswith(SHARES):
        return least, None
    return (-1.0 if least else 0.0), max(1.0, a.value, a.high or 0.0)


def _out_of_range_formula(row: int) -> str:
    """The same as a formula."""
    given, low, high, planned, unit = (a1(row, column) for column in (VALUE, LOW, HIGH, PLANNED, UNIT))
    is_share = ",".join(f'LEFT({unit},{len(word)})="{word}"' for word in SHARES)
    least = f"MIN(0,{low},{planned})"
    lowest = f"IF(AND(OR({is_share}),{least}<0),-1,{least})"
    return f"OR({given}<{lowest},AND(OR({is_share}),{given}>MAX(1,{high},{planned})))"


def _sheet_assumptions(plan: Plan) -> list[Assumption]:
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


def _assumption_row(a: Assumption, costlier_end: str, repricing: LedgerRepricing) -> tuple[Cell, ...]:
    has_tax = a.name == INCOME_TAX and bool(repricing.plan.views.depreciation)
    acts = PAYMENTS if a.name in repricing.read_assumptions else TAX if has_tax else PLAN
    given = "yes" if a.overridden else ""
    return (
        a.name, a.meaning, a.value, a.unit, a.low, a.high, costlier_end, None, acts, None, a.source, a.as_of, given,
        a.value,
    )  # fmt: skip


def _value_in_use(row: int, value: float) -> Formula:
    """The input; under a scenario the end of its range, where it has one that matters and does not lie inside it."""
    given, low, high, costlier_end = (a1(row, column) for column in (VALUE, LOW, HIGH, COSTLIER_END))
    is_on = f'OR({SCENARIO}="{LOW_COST}",{SCENARIO}="{HIGH_COST}")'
    is_high = f'({SCENARIO}="{HIGH_COST}")=({costlier_end}="high")'
    end = f"IF({is_high},MAX({given},{high}),MIN({given},{low}))"
    return Formula(f'=IF(AND({is_on},{costlier_end}<>""),{end},{given})', value)
