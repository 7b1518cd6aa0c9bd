"""Calendar months in headers: 2026-12, Dec-26, December 2026, 12/2026, real dates."""

from __future__ import annotations

import calendar
import re
from datetime import date

from planner.inputs.cell_grid import Cell
from planner.inputs.notation.languages import translate_months

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
_QUARTER = re.compile(
    r"(?:fy ?(?:20)?\d\d[-/ ]?)?[qtk]([1-4])[-/ ']*(?:(?:fy ?)?(?:20)?\d\d)?(?: total)?"
    r"|(?:fy ?)?(?:20)?\d\d[-/ ]?q([1-4])"
)
_UNDATED = re.compile(r"(?:1[0-2]|0?[1-9])[/.-]\d\d|(?:fy ?)?20\d\d|fy ?\d\d(?:/\d\d)?")
_AMBIGUOUS_NAMES = frozenset({"set", "out", "gen", "ago", "mag"})
"""Names of months in another language that are also English words in headers."""
_ORDINAL = re.compile(r"(?:month|m|mo)[ -]?#?(\d{1,3})")


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
    month = parse_month(cell)
    if not month or not isinstance(cell.value, date):
        day = re.fullmatch(r"20\d\d-\d\d-(\d\d)(?:[ T]00:00:00)?", cell.text)
        return _month_finished_by(month, int(day.group(1))) if month and day else month
    return _month_finished_by(month, cell.value.day)


def _month_finished_by(month: str, day: int) -> str:
    year, number = (int(part) for part in month.split("-"))
    if day in (1, calendar.monthrange(year, number)[1]):
        # Sheets store a bare month as its first day.
        return month
    return f"{year - (number == 1)}-{(number - 2) % 12 + 1:02d}"


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
