"""How often a schedule runs in a month: five fields as crontab(5) and Kubernetes' CronJob have them, or a macro."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

MACROS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
FIRST_DAY, YEARS = date(2001, 1, 1), 28
"""In 28 years every date is on every weekday equally often."""
LEAP_DAY = (2, 29)
"""Left out: months of a plan are twelfths of 8,760 hours."""
_PART = re.compile(r"(?P<first>\*|\?|\w+)(?:-(?P<last>\w+))?(?:/(?P<step>\d+))?")


def runs_per_month(schedule: str) -> float | None:
    """The mean runs in a twelfth of a year; None for a text that is no schedule.

    >>> runs_per_month("0 */6 * * *"), runs_per_month("@monthly"), runs_per_month("every day")
    (121.66666666666667, 1.0, None)
    """
    fields = MACROS.get(schedule.strip().casefold(), re.sub(r"^(?:CRON_)?TZ=\S+\s+", "", schedule.strip())).split()
    if len(fields) != 5:
        return None
    bounds = ((0, 59, ()), (0, 23, ()), (1, 31, ()), (1, 12, MONTHS), (0, 7, WEEKDAYS))
    values = [_parse_field(text, *bound) for text, bound in zip(fields, bounds, strict=True)]
    if any(each is None for each in values):
        return None
    minutes, hours, days, months, weekdays = (each or frozenset() for each in values)
    weekdays = frozenset(each % 7 for each in weekdays)
    # Where both kinds of days are restricted, either of them starts a run (crontab(5)).
    either = not fields[2].startswith(("*", "?")) and not fields[4].startswith(("*", "?"))
    matching = 0
    for offset in range((date(FIRST_DAY.year + YEARS, 1, 1) - FIRST_DAY).days):
        day = FIRST_DAY + timedelta(offset)
        if (day.month, day.day) == LEAP_DAY:
            continue
        of_month, of_week = day.day in days, day.isoweekday() % 7 in weekdays
        matching += day.month in months and (of_month or of_week if either else of_month and of_week)
    return len(minutes) * len(hours) * matching / (12 * YEARS)


def _parse_field(text: str, low: int, high: int, names: Sequence[str]) -> frozenset[int] | None:
    """The values of a field; None for a text that is none."""
    values: set[int] = set()
    for part in text.casefold().split(","):
        match = _PART.fullmatch(part)
        if match is None:
            return None
        step = int(match["step"] or 1)
        if match["first"] in ("*", "?"):
            first, last = low, high
        else:
            numbers = [_parse_value(each, low, names) for each in (match["first"], match["last"]) if each]
            if any(each is None or not low <= each <= high for each in numbers):
                return None
            first = numbers[0] or 0
            last = (numbers[1] or 0) if len(numbers) > 1 else high if match["step"] else first
        if step < 1 or last < first:
            return None
        values |= set(range(first, last + 1, step))
    return frozenset(values)


def _parse_value(text: str, low: int, names: Sequence[str]) -> int | None:
    if text.isdecimal():
        return int(text)
    return names.index(text) + low if text in names else None
