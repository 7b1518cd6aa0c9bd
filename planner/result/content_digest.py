"""A digest of what a plan says: equal digests, the same decisions and amounts, whoever made the plan and where.

The digest is the start of the SHA-256 of a JSON text in ASCII. The text has the fields in COVERED, those of nested
records too, with sorted names and without spaces. Numbers are rounded to a millionth and to nine significant digits
and written as text, so that the last bits of a float, in which processors may differ, change nothing. Records of a list
are in the order of their own text: the order of workloads in the input changes nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from functools import lru_cache
from json import JSONEncoder
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
_write_json = JSONEncoder().encode


def digest_content(plan: Plan) -> str:
    """The content digest of a plan."""
    return hashlib.sha256(canonical_text(plan).encode("ascii")).hexdigest()[:DIGITS]


def canonical_text(plan: Plan) -> str:
    """The text that the digest is made of.

    >>> write_canonical(0.1 + 0.2), write_canonical(3), write_canonical(("b", 2.5))
    ('"0.3"', '"3"', '["b","2.5"]')
    """
    return write_canonical(plan)


def write_canonical(value: Any) -> str:
    """The JSON text of a value of a plan: objects, lists, texts and booleans. Every record is written once."""
    if value is None or isinstance(value, str | bool):
        return _write_json(value)
    if isinstance(value, int | float):
        return f'"{NUMBER_FORMAT % (round(value, DECIMALS) + 0.0)}"'
    if isinstance(value, tuple):
        members = [write_canonical(each) for each in value]
        return f"[{','.join(sorted(members) if members and members[0][0] == '{' else members)}]"
    if isinstance(value, dict):
        rows = (f"{_write_json(name)}:{write_canonical(value[name])}" for name in sorted(value))
        return f"{{{','.join(rows)}}}"
    if names := _covered_fields(type(value)):  # type: ignore[arg-type]  # a type is hashable
        return f"{{{','.join([f'{key}:{write_canonical(getattr(value, name))}' for name, key in names])}}}"
    return _write_json(str(value))


@lru_cache
def _covered_fields(kind: type) -> tuple[tuple[str, str], ...]:
    """The fields of a record that are covered, by name, each with its text; none of another type."""
    names = COVERED.get(kind) or (tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ())
    return tuple((name, _write_json(name)) for name in sorted(names))
