"""Dates and calendar months in cells and headers: 2026-12, Dec-26, December 2026, 12/2026, real dates.

Dates written as text in either order (3/4/2027) are read where only one order fits or an order is given.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import replace
from datetime import date

from planner.inputs.cell_grid import Cell, InputSheet
from planner.inputs.notation.languages import translate_months

EXPECTED_DATE_FORMAT = "2027-04-03, or --dates dmy (day first) or --dates mdy (month first)"
EXPECTED_MONTH = "month and year: Dec-26 or 2026-12"
TEXT_MAX = 100
_EITHER_ORDER = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2((?:20)?\d\d)(?:[ T]00:00(?::00)?)?")
NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_FORMS = (
    re.compile(r"(?P<year>20\d\d)[-/. ](?P<month>1[0-2]|0?[1-9])(?:[-/. ][0-3]?\d)?(?:[ T]00:00:00)?"),
    re.compile(r"(?P<month>1[0-2]|0?[1-9])[-/. ](?P<year>20\d\d)"),
    re.compile(rf"{_NAME}[-/ ,.]*(?:d?e )?['’]?(?P<year>(?:20)?\d\d)"),
    re.compile(rf"(?P<year>20\d\d)[-/ ]*{_NAME}"),
)
_YEARS = r"(?:fy ?)?(?:20)?\d\d(?:/(?:20)?\d\d)?"
_QUARTER = re.compile(rf"(?:{_YEARS}[-/ ]?)?[qtk]([1-4])[-/ ']*(?:{_YEARS})?(?: total)?|{_YEARS}[-/ ]?q([1-4])")
_UNDATED = re.compile(r"(?:1[0-2]|0?[1-9])[/.-]\d\d|(?:fy ?)?20\d\d|fy ?\d\d(?:/\d\d)?")
_AMBIGUOUS_NAMES = frozenset({"set", "out", "gen", "ago", "mag"})
"""Names of months in another language that are also English words in headers."""
_ORDINAL = re.compile(r"(?:month|m|mo)[ -]?#?(\d{1,3})")


def resolve_dates(sheet: InputSheet, order: str) -> InputSheet:
    """The sheet with its date texts as dates, as far as they are unambiguous."""
    texts = (cell.value for row in sheet.rows for cell in row.cells if isinstance(cell.value, str))
    if not any(_EITHER_ORDER.fullmatch(text.strip()) for text in texts if len(text) < TEXT_MAX):
        return sheet
    rows = (replace(row, cells=tuple(_resolve_cell(cell, order) for cell in row.cells)) for row in sheet.rows)
    return replace(sheet, rows=tuple(rows))


def possible_dates(text: str) -> tuple[date, ...]:
    """The dates that a text can mean, day first before month first; empty for any other text."""
    match = _EITHER_ORDER.fullmatch(text.strip())
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


def parse_month(cell: Cell) -> str:
    """The calendar month (2026-12) that a header cell names, else empty."""
    if isinstance(cell.value, date):
        return f"{cell.value.year}-{cell.value.month:02d}"
    text = translate_months(cell.text.casefold())
    for form in _FORMS:
        match = form.fullmatch(text)
        if match:
            parts = match.groupdict()
            month = parts.get("month") or str(NAMES.index(_matched_name(match)[:3]) + 1)
            return f"{int(parts['year']) % 100 + 2000}-{int(month):02d}"
    return ""


def last_finished_month(cell: Cell) -> str:
    """The last month that ends by a deadline: a month alone is that month, a day within a month the one before."""
    month, day = parse_month(cell), written_day(cell)
    if not month or day is None or day == 1:  # sheets store a bare month as its first day
        return month
    return last_full_month(int(month[:4]), int(month[5:]), day)


def written_day(cell: Cell) -> int | None:
    """The day of the month in a date; None for a month alone."""
    if isinstance(cell.value, date):
        return cell.value.day
    day = re.fullmatch(r"20\d\d-\d\d-(\d\d)(?:[ T]00:00:00)?", cell.text)
    return int(day[1]) if day else None


def last_full_month(year: int, month: int, day: int) -> str:
    """The last month that is over at the end of a day."""
    is_over = day == calendar.monthrange(year, month)[1]
    index = year * 12 + month - (1 if is_over else 2)
    return f"{index // 12:04d}-{index % 12 + 1:02d}"


def parse_month_number(cell: Cell) -> int:
    """The number of the plan's month that a header names ("Month 3", "M3"), else 0."""
    match = _ORDINAL.fullmatch(cell.text.casefold())
    return int(match.group(1)) if match else 0


def is_yearless(cell: Cell) -> bool:
    """Whether a header is a month without a year, a quarter, a year or 01/27: its months are unknown."""
    return bool(parse_month_name(cell) or parse_quarter(cell) or _UNDATED.fullmatch(cell.text.casefold()))


def parse_month_name(cell: Cell) -> int:
    """The number of the month (1 to 12) that a header names without a year, else 0."""
    text = cell.text.casefold()
    match = re.fullmatch(_NAME, translate_months(text)) if text not in _AMBIGUOUS_NAMES else None
    return NAMES.index(match[1][:3]) + 1 if match else 0


def parse_quarter(cell: Cell) -> int:
    """The number of the quarter that a header names, with a year or without; else 0."""
    match = _QUARTER.fullmatch(cell.text.casefold())
    return int(match[1] or match[2]) if match else 0


def _matched_name(match: re.Match[str]) -> str:
    return next(part for part in match.groups() if part and part[0].isalpha())
