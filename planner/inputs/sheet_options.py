"""What the asker says about a file beside the file: which column is what, the order of dates, which types are known.

Knows the words of the choices, not where they come from (options, a mapping file, a form).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planner.inputs.notation.header_terms import MEANINGS
from planner.request.errors import InputProblem

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog

IGNORE = "ignore"
DATE_ORDERS = ("dmy", "mdy")
FIELDS: tuple[str, ...] = (*sorted({meaning for meaning, _ in MEANINGS}), IGNORE)
"""What a column may be said to be; a calendar month (2026-12) is one too."""
_MONTH = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True)
class SheetOptions:
    """`columns` maps titles (as `titled` writes them) to fields; those in `required` must be in the file.

    `dates` is dmy, mdy or empty: a date that could be two is then refused. `catalog` tells the accelerators of instance
    types in estimates; None is the one that is shipped.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    required: Mapping[str, str] = field(default_factory=dict)
    dates: str = ""
    catalog: Catalog | None = None

    def field_of(self, title: str) -> str:
        """The field that a column of that title was said to be, else empty."""
        return self.columns.get(normalize_title(title), "") if self.columns else ""


NO_SHEET_OPTIONS = SheetOptions()


def normalize_title(text: str) -> str:
    """A title without regard to case and spacing (a header may break its lines)."""
    return " ".join(text.casefold().split())


def month_field(name: str) -> str:
    """The calendar month that a field is, else empty."""
    return name if _MONTH.fullmatch(name) else ""


def check_field_names(columns: Iterable[tuple[str, str, str]]) -> list[InputProblem]:
    """A complaint for each (title, field, place) whose field is none, with the nearest."""
    from pricing.csv_tables import find_nearest_names

    problems = []
    for title, name, place in columns:
        if name in FIELDS or month_field(name):
            continue
        close = ", ".join(find_nearest_names(name, FIELDS)) or ", ".join(FIELDS)
        message = f"the column {title!r} cannot be that"
        problems.append(InputProblem("", place, message, name, f"one of {close}, or a month (2026-12)"))
    return problems
