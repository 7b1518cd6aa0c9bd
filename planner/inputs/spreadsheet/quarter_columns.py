"""Columns of quarters as columns of their months: a third of an amount each, a rate or a count in each.

Quarters of a fiscal year are those of the asker: where it starts is read from a title, else it is a doubt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.doubt_record import UNKNOWN
from planner.inputs.notation.dates import parse_month_name
from planner.inputs.reading_log import ReadingLog
from planner.inputs.spreadsheet.column_meanings import SheetColumn
from planner.inputs.spreadsheet.month_titles import list_titles

if TYPE_CHECKING:
    from planner.inputs.spreadsheet.table_detection import SheetTable

MONTHS = 3
IDENTITY = "fiscal year starts"
_QUARTER = re.compile(r"(?<![a-z0-9])[qt]([1-4])(?![0-9])", re.IGNORECASE)
_YEAR = re.compile(
    r"(?<![\w.])(fy ?|fiscal year |')?(20[2-9]\d|(?<=fy)\d\d|(?<=fy )\d\d|(?<=')\d\d)(?!\w)", re.IGNORECASE
)
_STARTS = re.compile(
    r"(?:fiscal|financial) year (?:starts|begins|from|starting|beginning)(?: in| on| with| from)?(?: 1(?:st)?(?: of)?)?"
    r" (\w+)",
    re.IGNORECASE,
)
USUAL_STARTS = (2, 4, 7, 10)
"""Months in which fiscal years start, besides January."""


@dataclass(frozen=True, slots=True)
class _Quarter:
    year: int
    number: int
    is_fiscal: bool


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
    starts = next((match[1] for text in titles if (match := _STARTS.search(text))), "")
    first = parse_month_name(Cell("", starts)) or 0 if starts else 0
    result: list[SheetColumn] = []
    for column in columns:
        quarter = quarters.get(column.index)
        result += [column] if quarter is None else _list_months(column, quarter, first)
    return tuple(result)


def _read_quarter(header: Cell, titles: Sequence[str]) -> _Quarter | None:
    """The quarter of a header, in the year that it names or the only one that the titles name."""
    number = _QUARTER.search(header.text)
    years = [match for text in (header.text, *titles) if (match := _YEAR.search(text))]
    if not number or not years or (not _YEAR.search(header.text) and len({match[2] for match in years}) > 1):
        return None
    named = years[0]
    is_fiscal = bool((named[1] or "").strip(" '")) or "fy" in header.text.casefold()
    return _Quarter(int(named[2]) % 100 + 2000, int(number[1]), is_fiscal)


def _list_months(column: SheetColumn, quarter: _Quarter, starts: int) -> list[SheetColumn]:
    """The three months of a quarter; `starts` is the first month of the fiscal year, 0 where it is not known."""
    first = quarter.year * 12 + (starts or 1) - 1 if quarter.is_fiscal else quarter.year * 12
    months = [first + MONTHS * (quarter.number - 1) + offset for offset in range(MONTHS)]
    fiscal = (quarter.year, starts) if quarter.is_fiscal else None
    rule = f"a third of {column.header.text}"
    of_quarter = replace(column, meaning="month", share=1 / MONTHS, fiscal=fiscal, rule=rule)
    return [replace(of_quarter, month=_month_name(index)) for index in months]


def _month_name(index: int) -> str:
    return f"{index // 12}-{index % 12 + 1:02d}"


def settle_fiscal_year(table: SheetTable, log: ReadingLog) -> SheetTable:
    """The table with its fiscal quarters in the calendar: the first year of them starts in the month of the answer."""
    fiscal = [column for column in table.columns if column.fiscal is not None]
    stated = [column.fiscal for column in fiscal if column.fiscal is not None]
    if not fiscal or stated[0][1] == 1:
        return table
    year, starts = min(stated)
    usual = (starts,) if starts else USUAL_STARTS
    choices = [f"{year}-{month:02d}" for month in usual] + [f"{year - 1}-{month:02d}" for month in usual]
    proposed = choices[0] if starts else f"{year}-01"
    question = f"in which month does the fiscal year {year % 100:02d} start?"
    factors = dict.fromkeys(dict.fromkeys((proposed, *choices)), UNKNOWN)
    chosen = log.doubts.decide(IDENTITY, fiscal[0].header, question, factors, proposed)
    moved = (int(chosen[:4]) - int(proposed[:4])) * 12 + int(chosen[5:]) - int(proposed[5:])
    columns = tuple(
        column if column.fiscal is None else replace(column, month=_month_name(_month_index(column.month) + moved))
        for column in table.columns
    )
    return replace(table, columns=columns)


def _month_index(month: str) -> int:
    return int(month[:4]) * 12 + int(month[5:]) - 1
