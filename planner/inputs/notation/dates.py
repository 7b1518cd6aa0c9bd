"""Dates written as text in either order (3/4/2027): read where only one order fits or an order is given."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from planner.inputs.cell_grid import Cell, GridRow, InputSheet

EXPECTED_DATE_FORMAT = "2027-04-03, or --dates dmy (day first) or --dates mdy (month first)"
EXPECTED_MONTH = "month and year: Dec-26 or 2026-12"
TEXT_MAX = 100
_FORM = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2((?:20)?\d\d)(?:[ T]00:00(?::00)?)?")


def resolve_dates(sheet: InputSheet, order: str) -> InputSheet:
    """The sheet with its date texts as dates, as far as they are unambiguous."""
    texts = (cell.value for row in sheet.rows for cell in row.cells if isinstance(cell.value, str))
    if not any(_FORM.fullmatch(text.strip()) for text in texts if len(text) < TEXT_MAX):
        return sheet
    return replace(sheet, rows=tuple(_resolve_row(row, order) for row in sheet.rows))


def possible_dates(text: str) -> tuple[date, ...]:
    """The dates that a text can mean, day first before month first; empty for any other text."""
    match = _FORM.fullmatch(text.strip())
    if not match:
        return ()
    first, second, year = int(match[1]), int(match[3]), int(match[4]) % 100 + 2000
    dates = [_valid_date(year, month, day) for day, month in ((first, second), (second, first))]
    return tuple(dict.fromkeys(each for each in dates if each is not None))


def is_ambiguous_date(cell: Cell) -> bool:
    """Whether a cell is a text that can mean two dates."""
    return isinstance(cell.value, str) and len(possible_dates(cell.text)) == 2


def date_problem(cell: Cell, message: str = "", expected: str = "") -> tuple[str, str]:
    """The message and the expectation for a cell that is not a date: those given, unless it can mean two dates."""
    if not is_ambiguous_date(cell):
        return message, expected
    dates = " or ".join(f"{each.day} {each:%B %Y}" for each in possible_dates(cell.text))
    return f"ambiguous: {dates}", EXPECTED_DATE_FORMAT


def _resolve_row(row: GridRow, order: str) -> GridRow:
    return replace(row, cells=tuple(_resolve_cell(cell, order) for cell in row.cells))


def _resolve_cell(cell: Cell, order: str) -> Cell:
    if not isinstance(cell.value, str) or not (dates := possible_dates(cell.text)):
        return cell
    if len(dates) == 1:
        return replace(cell, value=dates[0])
    return replace(cell, value=dates[0 if order == "dmy" else 1]) if order else cell


def _valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
