"""Calendar months as people write them in headers: 2026-12, Dec-26, December 2026, 12/2026, real dates."""

from __future__ import annotations

import calendar
import re
from datetime import date

from planner.intake._grid import Cell
from planner.intake._tongues import months_in_english

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
_OTHER = re.compile(r"(?:1[0-2]|0?[1-9])[/.-]\d\d|(?:fy ?)?20\d\d|fy ?\d\d(?:/\d\d)?")
_WORDS_TOO = frozenset({"set", "out", "gen", "ago", "mag"})
"""Names of months in another language that are words of their own in a header."""
_ORDINAL = re.compile(r"(?:month|m|mo)[ -]?#?(\d{1,3})")


def month_of(cell: Cell) -> str:
    """The calendar month (2026-12) that a header cell names, else empty."""
    if isinstance(cell.value, date):
        return f"{cell.value.year}-{cell.value.month:02d}"
    text = months_in_english(cell.text.casefold())
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            parts = found.groupdict()
            month = parts.get("month") or str(NAMES.index(_name_in(found)[:3]) + 1)
            return f"{int(parts['year']) % 100 + 2000}-{int(month):02d}"
    return ""


def done_by(cell: Cell) -> str:
    """The last month that ends by a deadline: a month is its own, a day in the middle of one leaves the month
    before."""
    month = month_of(cell)
    if not month or not isinstance(cell.value, date):
        day = re.fullmatch(r"20\d\d-\d\d-(\d\d)(?:[ T]00:00:00)?", cell.text)
        return _before_middle(month, int(day.group(1))) if month and day else month
    return _before_middle(month, cell.value.day)


def _before_middle(month: str, day: int) -> str:
    year, number = (int(part) for part in month.split("-"))
    if day in (1, calendar.monthrange(year, number)[1]):
        # Sheets store a bare month as its first day.
        return month
    return f"{year - (number == 1)}-{(number - 2) % 12 + 1:02d}"


def ordinal_of(cell: Cell) -> int:
    """The number of the plan's month that a header names ("Month 3", "M3"), else 0."""
    found = _ORDINAL.fullmatch(cell.text.casefold())
    return int(found.group(1)) if found else 0


def is_yearless(cell: Cell) -> bool:
    """Whether a header names a month without a year, a quarter, a year or 01/27: none says which months are meant."""
    return bool(name_of_month(cell) or quarter_of(cell) or _OTHER.fullmatch(cell.text.casefold()))


def name_of_month(cell: Cell) -> int:
    """The number of the month (1 to 12) that a header names without a year, else 0."""
    text = cell.text.casefold()
    found = re.fullmatch(_NAME, months_in_english(text)) if text not in _WORDS_TOO else None
    return NAMES.index(found[1][:3]) + 1 if found else 0


def quarter_of(cell: Cell) -> int:
    """The number of the quarter that a header names, with a year or without; else 0."""
    found = _QUARTER.fullmatch(cell.text.casefold())
    return int(found[1] or found[2]) if found else 0


def _name_in(found: re.Match[str]) -> str:
    return next(part for part in found.groups() if part and part[0].isalpha())
