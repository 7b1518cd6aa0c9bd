"""A digest of what a plan says: equal digests, the same decisions and amounts, whoever made the plan and where.

The digest is the start of the SHA-256 of a JSON text in ASCII. The text has the fields in COVERED, those of nested
records too, with sorted names and without spaces. Numbers are rounded to a millionth and to nine significant digits
and written as text, so that the last bits of a float, in which processors may differ, change nothing. Records of a list
are in the order of their own text: the order of workloads in the input changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

from planner.result import Assumption, Plan, PriceUsed, Recommendation, RequestedWorkload, Strategy, WorkloadCost
from planner.result.message import Message

COVERED: dict[type, tuple[str, ...]] = {
    Plan: (
        "as_of", "start", "months", "currency", "hours_per_month", "discount_rate_annual", "status", "recommendation",
        "strategies", "workloads", "prices", "assumptions", "exchange_rates", "reasons",
    ),
    Recommendation: ("strategy", "runner_up"),
    Strategy: (
        "name", "status", "cut_by_clock", "present_cost", "total_cost", "purchases", "uses", "cash", "workloads",
        "reasons",
    ),
    WorkloadCost: ("workload", "unit", "units", "cost"),
    RequestedWorkload: ("name", "kind", "unit", "demand"),
    PriceUsed: ("provider", "region", "instance_type", "purchase_option", "price_per_hour", "currency", "as_of"),
    Assumption: ("name", "value"),
    Message: ("code", "parameters"),
}  # fmt: skip
"""What is covered, by record; of all other records every field. Left out: ids, checksums, the input and places in it,
sentences, how the search went (bound, gap, size), and analyses, which follow from what is covered and the request."""
DIGITS = 12
"""Hexadecimal digits shown, as many as of the plan's id."""
DECIMALS, NUMBER_FORMAT = 6, "%.9g"


def digest_content(plan: Plan) -> str:
    """The content digest of a plan."""
    return hashlib.sha256(canonical_text(plan).encode("ascii")).hexdigest()[:DIGITS]


def canonical_text(plan: Plan) -> str:
    """The text that the digest is made of.

    >>> _canonical_value(0.1 + 0.2), _canonical_value(3), _canonical_value(("b", 2.5))
    ('0.3', '3', ['b', '2.5'])
    """
    return _write(_canonical_value(plan))


def _canonical_value(value: Any) -> Any:
    """The JSON value of a value of a plan: objects, lists, texts and booleans."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        return NUMBER_FORMAT % (round(value, DECIMALS) + 0.0)
    if isinstance(value, tuple):
        members = [_canonical_value(each) for each in value]
        return sorted(members, key=_write) if members and isinstance(members[0], dict) else members
    if isinstance(value, dict):
        return {name: _canonical_value(each) for name, each in value.items()}
    if names := _covered_fields(type(value)):  # type: ignore[arg-type]  # a type is hashable
        return {name: _canonical_value(getattr(value, name)) for name in names}
    return str(value)


@lru_cache
def _covered_fields(kind: type) -> tuple[str, ...]:
    """The fields of a record that are covered; none of another type."""
    return COVERED.get(kind) or (tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ())


def _write(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
