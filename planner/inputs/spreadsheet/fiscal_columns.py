"""Columns of quarters, and of months under a fiscal year, as months of the calendar.

A quarter is a third of an amount in each month, a rate or a count in each. Where a fiscal year starts is read from a
setting, a sheet of assumptions, a title or the order of the months, else it is a doubt; so is which of its two years it
is named by, unless both are («FY26/27»).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.doubt_record import UNKNOWN
from planner.inputs.notation.dates import parse_month_name
from planner.inputs.reading_log import ReadingLog
from planner.inputs.spreadsheet.column_meanings import FiscalMonth, SheetColumn
from planner.inputs.spreadsheet.month_titles import list_titles
from planner.request.calendar import month_index, name_month
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from planner.inputs.spreadsheet.table_detection import SheetTable

MONTHS = 3
IDENTITY = "fiscal year starts"
_QUARTER = re.compile(r"(?<![a-z0-9])[qt]([1-4])(?![0-9])", re.IGNORECASE)
_YEAR = re.compile(
    r"(?<![\w.])(fy ?|(?:fiscal|financial) year |')?(20[2-9]\d|(?<=fy)\d\d|(?<=fy )\d\d|(?<=')\d\d)"
    r"(?:[/-]((?:20)?\d\d))?(?!\w)",
    re.IGNORECASE,
)
_STARTS = re.compile(
    r"(?:fiscal|financial) year (?:starts|begins|from|starting|beginning)(?: in| on| with| from)?(?: 1(?:st)?(?: of)?)?"
    r" (\w+)",
    re.IGNORECASE,
)
USUAL_STARTS = (2, 4, 7, 10)
"""Months in which fiscal years start, besides January."""


@dataclass(frozen=True, slots=True)
class _NamedYear:
    """A year of a header or a title; `has_both`: it names the year that follows too, as fiscal years do."""

    year: int
    is_fiscal: bool
    has_both: bool


def expand_quarters(
    sheet: InputSheet, above: Sequence[GridRow], columns: Sequence[SheetColumn]
) -> tuple[SheetColumn, ...]:
    """The columns with three months in place of each quarter; unchanged beside months, or periods that are none."""
    if any(column.meaning == "month" for column in columns):
        return tuple(columns)
    titles = [cell.text for cell in list_titles(sheet, above)]
    quarters = {c.index: _read_quarter(c.header, titles) for c in columns if c.meaning == "yearless"}
    if not quarters or None in quarters.values():
        return tuple(columns)
    result: list[SheetColumn] = []
    for column in columns:
        quarter = quarters.get(column.index)
        result += [column] if quarter is None else _list_months(column, *quarter)
    return tuple(result)


def _read_quarter(header: Cell, titles: Sequence[str]) -> tuple[_NamedYear, int] | None:
    """The quarter of a header, in the year that it names or the only one that the titles name."""
    number = _QUARTER.search(header.text)
    own = _find_year(header.text)
    named = [year for text in titles if (year := _find_year(text))]
    if not number or not (own or named) or (own is None and len({each.year for each in named}) > 1):
        return None
    year = own or named[0]
    return replace(year, is_fiscal=year.is_fiscal or "fy" in header.text.casefold()), int(number[1])


def _find_year(text: str) -> _NamedYear | None:
    match = _YEAR.search(text)
    if match is None:
        return None
    year = int(match[2]) % 100 + 2000
    has_both = bool(match[3]) and int(match[3]) % 100 == (year + 1) % 100
    return _NamedYear(year, bool((match[1] or "").strip(" '")) or has_both, has_both)


def _list_months(column: SheetColumn, year: _NamedYear, number: int) -> list[SheetColumn]:
    """The three months of a quarter, those of a fiscal year as in a year from January until that is settled."""
    offsets = range(MONTHS * (number - 1), MONTHS * number)
    of_quarter = replace(column, meaning="month", share=1 / MONTHS, rule=f"a third of {column.header.text}")
    return [
        replace(
            of_quarter,
            month=name_month(f"{year.year}-01", 1 + offset),
            fiscal=FiscalMonth(year.year, year.has_both, offset=offset) if year.is_fiscal else None,
        )
        for offset in offsets
    ]


def date_fiscal_months(
    sheet: InputSheet, above: Sequence[GridRow], columns: Sequence[SheetColumn]
) -> tuple[SheetColumn, ...]:
    """Columns of months without a year as those of the only fiscal year that the titles name, in the order in which
    they stand in it; unchanged where there is none."""
    named = [(c, parse_month_name(c.header)) for c in columns if c.meaning == "yearless"]
    numbers = [number for _, number in named if number]
    years = {year for cell in list_titles(sheet, above) if (year := _find_year(cell.text)) and year.is_fiscal}
    is_in_order = sum(later < earlier for earlier, later in pairwise(numbers)) <= 1 and len(set(numbers)) == len(
        numbers
    )
    if len(numbers) < 2 or len(years) != 1 or not is_in_order or any(c.meaning == "month" for c in columns):
        return tuple(columns)
    (year,) = years
    wraps = (12, 1) in pairwise(numbers)  # December before January: the year starts with the first of them
    dated = {
        c.index: replace(
            c,
            meaning="month",
            month=f"{year.year}-{number:02d}",
            rule=f"of the fiscal year {year.year}",
            fiscal=FiscalMonth(year.year, year.has_both, month=number, first_listed=numbers[0] if wraps else 0),
        )
        for c, number in named
        if number
    }
    return tuple(dated.get(c.index, c) for c in columns)


def find_fiscal_start(sheet: InputSheet, above: Sequence[GridRow]) -> int:
    """The month in which the fiscal year starts by a title, else 0."""
    texts = [cell.text for cell in list_titles(sheet, above)]
    named = next((match[1] for text in texts if (match := _STARTS.search(text))), "")
    return parse_month_name(Cell("", named)) if named else 0


def settle_fiscal_year(tables: Sequence[SheetTable], log: ReadingLog) -> list[SheetTable]:
    """The tables with their fiscal months in the calendar: the first year of them starts in the month of the answer."""
    stated = log.fiscal_year_starts or next((each.fiscal_year_starts for each in tables if each.fiscal_year_starts), 0)
    columns = [column for table in tables for column in table.columns]
    fiscal = [(column.header, column.fiscal) for column in columns if column.fiscal is not None]
    if not fiscal:
        log.fiscal_year_starts = stated
        return list(tables)
    starts = stated or fiscal[0][1].first_listed
    year, has_both = min((each.year, each.has_both) for _, each in fiscal)
    choices = _list_starts(year, has_both, starts)
    chosen = choices[0]
    if len(choices) > 1:
        question = f"in which month does the fiscal year {year % 100:02d} start?"
        chosen = log.doubts.decide(IDENTITY, fiscal[0][0], question, dict.fromkeys(choices, UNKNOWN), chosen)
    log.fiscal_year_starts = int(chosen[5:])
    return [
        replace(table, columns=tuple(_date_column(each, chosen, year) for each in table.columns)) for table in tables
    ]


def _list_starts(year: int, has_both: bool, starts: int) -> list[str]:
    """The months in which the fiscal year `year` may start, the proposal first; `starts` 0: any of the usual ones."""
    years = (year,) if has_both or starts == 1 else (year, year - 1)
    months = (starts,) if starts else USUAL_STARTS
    return [*([] if starts or has_both else [f"{year}-01"]), *(f"{y}-{m:02d}" for y in years for m in months)]


def _date_column(column: SheetColumn, start: str, first_year: int) -> SheetColumn:
    """The column with its calendar month, where the fiscal year `first_year` starts in `start`."""
    if column.fiscal is None:
        return column
    number = column.fiscal.month
    offset = (number - 1 - month_index(start)) % 12 if number else column.fiscal.offset
    return replace(column, month=name_month(start, 1 + 12 * (column.fiscal.year - first_year) + offset))
