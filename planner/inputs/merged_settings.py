"""The settings of a caller over the document of a file, and the defaults that the file itself gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from planner.inputs.parsed_file import ParsedFile
from planner.request.calendar import month_index
from planner.request.errors import InputProblem
from planner.request.models import Request
from planner.request.validation import validate_currency_override
from pricing.clock import today

Place = Callable[[str], str]
"""Formats the name of a setting as its caller wrote it."""
MONTHS_PLANNED: int = Request.model_fields["months"].default
MERGED_FIELDS = ("assumptions", "risk", "uncertainty")
"""Mappings of a document whose entries settings override one by one."""
PLACES = frozenset({"providers", "regions"})
"""Fields that narrow one another: who states one means it alone."""
DISCOUNT_RATE = "discount_rate_annual"
"""A field of a request, and an assumption of the same name."""


def merge_settings(
    document: Mapping[str, Any], settings: Mapping[str, Any], place: Place, source: ParsedFile | None = None
) -> tuple[dict[str, Any], list[InputProblem]]:
    """The document with `settings` over it, dated today by default, and a problem if they change its currency.

    A plan starts by default in the first month of its `source` that is still to come, and ends with the months of it if
    they are fewer than MONTHS_PLANNED; that of a bill stays in its providers and regions. `assumptions`, `risk` and
    `uncertainty` are merged by name; any other setting replaces the field of the document.
    """
    home = {} if source is None or "providers" in settings else source.home
    months = () if source is None else source.months
    merged = {"as_of": today().isoformat(), **home, **document, **settings}
    for field in MERGED_FIELDS:
        original, override = document.get(field), settings.get(field)
        if isinstance(original, Mapping) and isinstance(override, Mapping):
            merged[field] = merge_mappings(original, override)
    if "start" not in merged and (left := [month for month in months if month > str(merged["as_of"])[:7]]):
        merged["start"] = left[0]
        merged.setdefault("months", min(month_index(left[-1]) - month_index(left[0]) + 1, MONTHS_PLANNED))
    return merged, [*validate_currency_override(document, settings, place("currency"))]


def select_unstated(defaults: Mapping[str, Any], *stated: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `defaults` that none of the documents `stated` speaks against: the entries of MERGED_FIELDS one by one,
    places only where no place is stated.

    >>> select_unstated({"currency": "EUR", "regions": ["eu-west-1"]}, {"providers": ["gcp"]})
    {'currency': 'EUR'}
    """
    fields = {name for document in stated for name in document}
    assumed = {name for document in stated for name in document.get("assumptions") or ()}
    narrowed, rated = PLACES & fields, DISCOUNT_RATE in assumed
    unstated: dict[str, Any] = {}
    for field, value in defaults.items():
        spoken = field in fields or (field in PLACES and narrowed) or (field == DISCOUNT_RATE and rated)
        if field in MERGED_FIELDS and isinstance(value, Mapping):
            parts = {name for document in stated for name in document.get(field) or ()}
            parts |= {DISCOUNT_RATE} & fields
            if left := {name: part for name, part in value.items() if name not in parts}:
                unstated[field] = left
        elif not spoken:
            unstated[field] = value
    return unstated


def merge_mappings(original: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """`original` with the entries of `override` over it; mappings in both are merged in the same way."""
    merged = {**original, **override}
    for name in original.keys() & override.keys():
        if isinstance(original[name], Mapping) and isinstance(override[name], Mapping):
            merged[name] = merge_mappings(original[name], override[name])
    return merged
