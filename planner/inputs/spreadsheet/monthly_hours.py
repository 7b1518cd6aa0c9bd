"""Hours per accelerator and month in any form: a number, 24/7, 8h x 22d, hours a day with days, hours of a run.

Hours that do not determine a number a month (a run without the number of runs, a runtime in days) are a problem.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from planner.inputs.cell_grid import Cell
from planner.inputs.notation.header_terms import RUN
from planner.inputs.notation.units import PER_MONTH, Metric, adjust_metric, parse_period
from planner.inputs.spreadsheet.column_meanings import SheetColumn
from planner.inputs.spreadsheet.demand_period import settle_period
from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_MONTH

DAYS_IN = {"week": 7, "month": 31, "year": 366}
HOURS_PER_MONTH_MAX = 744.0
_ALWAYS = re.compile(
    r"24 ?h? ?[x/*×] ?7(?: ?d)?(?:/365)?|always(?: on)?|around the clock|rund um die uhr|continuous(?:ly)?"
    r"|full[ -]?time",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"(?P<hours>\d{1,2}(?:[.,]\d)?) ?(?P<h>h(?:ours?|rs?)?)?(?: ?(?:/|per|a) ?d(?:ay)?)? ?[x×*,/] ?"
    r"(?P<days>\d{1,2}) ?(?P<d>d(?:ays?)?)?(?: ?(?:/|per|a) ?(?P<period>w(?:ee)?k|week|mo(?:nth)?))?",
    re.IGNORECASE,
)
"""8h x 22d, 10 h/day x 5 days/week, 24x5."""
_OF_A_RUN = re.compile(rf"(?: per |/)(?:training )?{RUN}\b")
_OF_A_PERSON = re.compile(r"(?: per |/)(?:user|person|student|seat|developer|engineer|researcher|head)\b")
_PER = re.compile(r"(?: per |/)\w+")
Repetitions = tuple[float, tuple[tuple[Cell, str], ...]]
"""A number a month, and the cells that it was read from."""


@dataclass(frozen=True, slots=True)
class MonthlyHours:
    """Hours per accelerator and month with their cell, and the cells that they were multiplied by."""

    value: float
    cell: Cell
    by: tuple[tuple[Cell, str], ...] = ()


def read_monthly_hours(line: WorkloadRow) -> MonthlyHours | None:
    """The hours of a row; None where it has none or after a problem."""
    column, cell = line.table.column("hours"), line.cell("hours")
    if column is None or cell is None:
        return _full_month_share(line)
    if isinstance(cell.value, str) and (scheduled := _parse_schedule(cell.text)) is not None:
        return MonthlyHours(scheduled, cell)
    if not _is_clear(line, column, cell):
        return None
    number = line.number_in(column, cell)
    scaled = scale_amount(line, number, column.metric or Metric("hours")) if number else None
    factor = repetitions_per_month(line, number, scaled[1]) if number and scaled else None
    if number is None or scaled is None or factor is None:
        return None
    hours, metric = scaled
    hours = number.value * metric.scale * factor[0] if factor[1] else hours
    if not metric.period and not factor[1]:
        hours *= settle_period(line, number, metric)
    if hours > HOURS_PER_MONTH_MAX:
        message = f"{hours:,.15g} hours a month exceed the hours of a month"
        line.ledger.add_problem(cell, message, "hours of one GPU; name the column GPU-hours if it adds up all GPUs")
        return None
    return MonthlyHours(hours, cell, factor[1])


def repetitions_per_month(line: WorkloadRow, hours: CellNumber, metric: Metric) -> Repetitions | None:
    """The repetitions a month of the hours of a run, or of a day in a row with days; None after a problem.

    Without cells where the period of the column alone decides.
    """
    of_a_run = bool(_OF_A_RUN.search(hours.column.words)) and not metric.period
    problem = _find_ambiguity(line, hours, metric, of_a_run=of_a_run)
    if problem is not None:
        line.ledger.add_problem(hours.cell, *problem)
        return None
    if of_a_run:
        return _read_repetitions(line, hours.cell, "runs", "hours of one run without the number of runs a month")
    if metric.period == "day" and line.cell("days") is not None:
        return _read_repetitions(line, hours.cell, "days", "hours a day without the number of days a month")
    for meaning in ("days", "runs"):
        if line.cell(meaning) is not None and (other := line.table.column(meaning)) is not None:
            line.ledger.note(f"{other.header.quoted} is not used: the hours have a period of their own")
    return metric.factor, ()


def _find_ambiguity(line: WorkloadRow, hours: CellNumber, metric: Metric, *, of_a_run: bool) -> tuple[str, str] | None:
    """The message and the expectation for ambiguous hours; None for clear ones."""
    if _OF_A_PERSON.search(hours.column.words):
        return "hours of one person without the number of people", "GPU-hours / month, of all people together"
    if not metric.period and hours.value <= 24 and line.cell("days") is not None:
        return "ambiguous: hours a day or a month", "a column Hours / day, or Hours / month"
    if not metric.period and not of_a_run and line.cell("runs") is not None:
        return "ambiguous: hours of a run or of a month", "a column Hours per run, or Hours / month"
    if metric.period == "day" and hours.value > 24 and metric.kind == "hours" and line.cell("days") is not None:
        return f"{hours.value:g} hours a day exceed the hours of a day", "24 at most"
    return None


def _read_repetitions(line: WorkloadRow, hours_cell: Cell, meaning: str, problem: str) -> Repetitions | None:
    """The number of days or runs a month, in the column of that meaning; the problem where there is none."""
    number = line.number(meaning)
    period = number.stated(parse_period) if number else ""
    most = DAYS_IN.get(period, math.inf) if meaning == "days" else math.inf
    if number is None or not period or number.value > most:
        line.ledger.add_problem(number.cell if number else hours_cell, problem, f"a column {meaning.title()} per month")
        return None
    return number.value * PER_MONTH[period], ((number.cell, f"{number.value:g} {meaning} a {period}"),)


def _parse_schedule(text: str) -> float | None:
    """The hours a month of "24/7", "8h x 22d" or "24x5"; None for any other text, or where the period is unclear."""
    if _ALWAYS.fullmatch(text):
        return HOURS_PER_MONTH
    match = _PLAN.fullmatch(text)
    if not match or bool(match["h"]) != bool(match["d"]):
        return None
    hours, days = float(match["hours"].replace(",", ".")), int(match["days"])
    period = (match["period"] or "").casefold()[:1]
    if not period:
        period = "w" if days in (5, 6, 7) else "m" if 8 <= days <= 31 and match["d"] else ""
    if not period or hours > 24 or days > (7 if period == "w" else 31):
        return None
    return hours * days * (PER_MONTH["week"] if period == "w" else 1.0)


def _is_clear(line: WorkloadRow, column: SheetColumn, cell: Cell) -> bool:
    """Whether the header means hours of each accelerator in a known period; adds a problem where it does not."""
    words = column.words
    if not _is_in_hours(words):
        line.ledger.add_problem(
            cell, f"{column.header.text!r} is not in hours", "hours per month: a column Hours / month"
        )
        return False
    if "total" in words and re.search(r"\btotal\b", words) and not parse_period(words):
        message = "ambiguous: the hours of each GPU or of all, in a month or in total"
        line.ledger.add_problem(cell, message, "a column Hours / month (of each GPU) or GPU-hours / month (of all)")
        return False
    return True


@lru_cache(maxsize=1024)
def _is_in_hours(words: str) -> bool:
    """Whether a header names hours, or no unit at all, rather than days or minutes."""
    unit = _PER.sub("", words)
    other = re.search(r"\b(?:days?|minutes?|mins?|weeks?)\b", unit)
    return not other or bool(re.search(r"\b(?:hours?|hrs?|h)\b", unit))


def _full_month_share(line: WorkloadRow) -> MonthlyHours | None:
    """All hours of a month, for a row with a share of the hours and without hours."""
    column, cell = line.table.column("utilisation"), line.cell("utilisation")
    if column is None or cell is None or line.table.column("hours") or not column.is_share_of_hours:
        return None
    if any(line.cell(each) is not None for each in ("accelerator_hours", "node_hours", "units_per_month", "amount")):
        return None
    line.ledger.note(f"{column.header.quoted} is a share of the {HOURS_PER_MONTH:g} hours a month")
    return MonthlyHours(HOURS_PER_MONTH, cell)


def scale_amount(line: WorkloadRow, number: CellNumber, base: Metric) -> tuple[float, Metric] | None:
    """The amount per month (per second for requests) and its metric; None after a problem."""
    metric = adjust_metric(base, number.quantity.unit)
    if metric is None or number.quantity.percent or number.quantity.currency:
        line.ledger.add_problem(
            number.cell, f"does not fit {number.column.header.text!r}", f"a number of {base.unit or base.kind}"
        )
        return None
    return number.value * metric.factor, metric
