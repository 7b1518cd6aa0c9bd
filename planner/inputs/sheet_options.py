"""Options of reading a file: the meaning of columns, the order of dates, the catalogue, how a bill is projected.

They are the same values whether they come from the command line, a mapping file or a form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from planner.inputs.notation.header_terms import MEANINGS
from planner.request.errors import InputProblem
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog

IGNORE = "ignore"
DATE_ORDERS = ("dmy", "mdy")
FIELDS: tuple[str, ...] = (*sorted({meaning for meaning, _ in MEANINGS}), IGNORE)
"""The fields that a column may be mapped to, in addition to a calendar month (2026-12)."""
LISTED_MAX = 12
_MONTH = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True)
class UsageProjection:
    """How the usage of a bill continues: monthly growth of the hours, the tag that identifies workloads ("" for the
    most complete one), and whether other accelerators may do the work."""

    growth_per_month: float = 0.0
    tag: str = ""
    substitution: bool = False


UNCHANGED_USAGE = UsageProjection()


@dataclass(frozen=True, slots=True)
class SheetOptions:
    """`columns` maps normalized titles to fields; the columns in `required`, with the place of each, must exist.

    `dates` is dmy, mdy or empty: a date that could be either is then rejected. `catalog` None is the shipped one.
    `projection` and `seconds` (the time limit of reading, None: no limit) are for billing exports. `answers` are the
    choices for doubts by id, `cells` texts that replace cells by place, `edited` the days of these edits where known;
    `sheets` are the only ones to read, if any.
    `fiscal_year_starts` is the month that a setting gives, 0 for none.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    required: Mapping[str, str] = field(default_factory=dict)
    dates: str = ""
    catalog: Catalog | None = None
    projection: UsageProjection = UNCHANGED_USAGE
    seconds: float | None = 60.0
    answers: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, str] = field(default_factory=dict)
    edited: Mapping[str, date] = field(default_factory=dict)
    sheets: tuple[str, ...] = ()
    fiscal_year_starts: int = 0

    def under_settings(self, settings: Mapping[str, Any]) -> SheetOptions:
        """With the settings of a request that matter for reading; invalid ones are problems of the request."""
        stated = str(settings.get("fiscal_year_starts", ""))
        starts = int(stated) if stated.isdecimal() and 1 <= int(stated[:3]) <= 12 else 0
        return replace(self, fiscal_year_starts=starts)

    def field_of(self, title: str) -> str:
        """The field that a title is mapped to, else empty."""
        return self.columns.get(normalize_title(title), "") if self.columns else ""


NO_SHEET_OPTIONS = SheetOptions()


def normalize_title(text: str) -> str:
    """A title without regard to case and spacing (a header may break its lines)."""
    return " ".join(text.casefold().split())


def month_field(name: str) -> str:
    """The calendar month that a field names, else empty."""
    return name if _MONTH.fullmatch(name) else ""


def check_field_names(columns: Iterable[tuple[str, str, str]]) -> list[InputProblem]:
    """A problem for each (title, field, place) whose field does not exist, with the nearest names."""
    return [
        InputProblem(
            "", place, f"no such field for the column {title!r}", name,
            f"{expected_names(name, FIELDS, len(FIELDS))}, or a month (2026-12)",
        )
        for title, name, place in columns
        if name not in FIELDS and not month_field(name)
    ]  # fmt: skip


def expected_names(written: str, known: Iterable[str], listed_max: int = LISTED_MAX) -> str:
    """ "one of a, b, c": the known names nearest to an unknown one, else the first `listed_max` of them."""
    from pricing.csv_tables import find_nearest_names

    names = tuple(known)
    return "one of " + ", ".join(find_nearest_names(written, names) or names[:listed_max])
