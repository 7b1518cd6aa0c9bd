"""A number with its noun, singular or plural: the one place that decides it."""

from __future__ import annotations

import string
from typing import Any

_ES = ("s", "x", "ch", "sh")


def format_count(number: float, noun: str) -> str:
    """1 day, 2 days; the noun in the singular, its last word is inflected.

    >>> format_count(1, "month"), format_count(0, "open day"), format_count(1200, "entry"), format_count(2.5, "hour")
    ('1 month', '0 open days', '1,200 entries', '2.5 hours')
    """
    digits = f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    return f"{digits} {noun if digits == '1' else plural_of(noun)}"


class CountFormatter(string.Formatter):
    """Formats texts in which {months:#month} is a number with its noun.

    >>> CountFormatter().format("{rows:#row} in {months:#month}", rows=1, months=12)
    '1 row in 12 months'
    """

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec.startswith("#") and format_spec[1:2].isalpha() and isinstance(value, int | float):
            return format_count(value, format_spec[1:])
        return super().format_field(value, format_spec)


def plural_of(noun: str) -> str:
    """The regular plural: days, boxes, quotas, entries; a y after a vowel stays."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(_ES) else f"{noun}s"
