"""The start and the end of a workload: its demand by month, with an explicit zero before and after.

A start or end within a month counts the share of its days. Ambiguous dates and unknown words are problems.
"""

from __future__ import annotations

import calendar
import re
from datetime import date

from planner.inputs.cell_grid import Cell
from planner.inputs.notation.dates import date_problem, parse_month, written_day
from planner.inputs.notation.units import normalize_text
from planner.inputs.spreadsheet.row_values import WorkloadRow
from pricing.frozen_values import dataclass

OPEN_ENDED_WORDS = frozenset(
    {"open", "open end", "open ended", "ongoing", "permanent", "indefinite", "continuous", "now", "today"}
)
YEARS_BEFORE, YEARS_AFTER = 3, 5
"""Years with explicit zeros before and after the period: a plan needs a value for each of its months."""


@dataclass(frozen=True, slots=True)
class ActivePeriod:
    """The first and last day of a workload, both included; None is open. `cells` are where they were read."""

    first: date | None
    last: date | None
    cells: tuple[tuple[Cell, str], ...]

    def by_month(self, value: float) -> dict[str, float]:
        """`value` in each month of the period, its share in a partial month, 0 in all others."""
        known = [day for day in (self.first, self.last) if day]
        years = range(min(known).year - YEARS_BEFORE, max(known).year + YEARS_AFTER + 1)
        months = ((year, month) for year in years for month in range(1, 13))
        return {f"{year}-{month:02d}": value * self._month_share(year, month) for year, month in months}

    def _month_share(self, year: int, month: int) -> float:
        days = calendar.monthrange(year, month)[1]
        first, last = date(year, month, 1), date(year, month, days)
        inside = (min(self.last or last, last) - max(self.first or first, first)).days + 1
        return max(inside, 0) / days


def read_active_period(line: WorkloadRow) -> ActivePeriod | None:
    """The active period of a row's workload; None where the row has none, or after a problem."""
    cells: list[tuple[Cell, str]] = []
    problem_count = len(line.ledger.complaints)
    first = _read_day(line, "start", cells)
    last = _read_day(line, "end", cells)
    if (length := line.cell("duration")) is not None:
        months = _read_duration(line, length)
        if first is None or last is not None or first.day != 1:
            if not (first and last) and months is not None:
                line.ledger.add_problem(
                    length, "a duration without the month it starts in", "a Start in the row: Jan-27"
                )
        elif months is not None:
            last = _end_of_duration(first, months)
            cells.append((length, f"until the end of {last:%Y-%m}"))
    if len(line.ledger.complaints) > problem_count or (first is None and last is None):
        return None
    if first and last and last < first:
        line.ledger.add_problem(cells[-1][0], "ends before it starts", f"a day after {first}")
        return None
    return ActivePeriod(first, last, tuple(cells))


def _read_day(line: WorkloadRow, meaning: str, cells: list[tuple[Cell, str]]) -> date | None:
    """The first day of a start, the last day of an end. Sheets store a month alone as its first day."""
    cell = line.cell(meaning)
    if cell is None or normalize_text(cell.text) in OPEN_ENDED_WORDS:
        return None
    month = parse_month(cell)
    if not month or cell.fault:
        expected = "a month or a day: Jan-27, 2027-01-15"
        line.ledger.add_problem(cell, *date_problem(cell, f"not a month, under {meaning!r}", expected))
        return None
    year, number, written = int(month[:4]), int(month[5:]), written_day(cell) or 0
    last = calendar.monthrange(year, number)[1]
    day = date(year, number, min(written, last) if written > 1 else 1 if meaning == "start" else last)
    cells.append((cell, f"{'from' if meaning == 'start' else 'until'} {day}"))
    return day


def _read_duration(line: WorkloadRow, cell: Cell) -> int | None:
    number = line.number("duration")
    if number is None:
        return None
    unit = number.unit_words or number.column.words
    if not re.search(r"\b(?:months?|mos?)\b", unit) or not number.value.is_integer() or not 1 <= number.value <= 600:
        line.ledger.add_problem(cell, "not a number of months", "full months: a column Duration (months)")
        return None
    return int(number.value)


def _end_of_duration(first: date, months: int) -> date:
    """The last day of a period of `months`."""
    ahead = first.month - 1 + months - 1
    year, month = first.year + ahead // 12, ahead % 12 + 1
    return date(year, month, calendar.monthrange(year, month)[1])
