"""Instance types that can no longer be started, and their successors.

The catalogue marks its types that are retired; retired.csv in this folder adds ended families without a catalogue.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache

from planner.reports.terraform.provisioning import read_table
from planner.reports.terraform.provisioning.reasons import reason
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog


@dataclass(frozen=True, slots=True)
class RetiredFamily:
    """Types of `provider` that match `pattern` have ended (`what`); `successor` is in the provider's words."""

    provider: str
    pattern: re.Pattern[str]
    what: str
    successor: str
    source: str


def retirement_reason(provider: str, instance_type: str) -> Message | None:
    """The reason why a type can no longer be started, with its successor; None for one that can."""
    for row in load_retired_families():
        if row.provider == provider and row.pattern.fullmatch(instance_type):
            return reason("family_ended", announcement=row.what, successor=row.successor, source=row.source)
    offering = Catalog.embedded().offerings.get((provider, instance_type))
    if offering is None or offering.status != "retired":
        return None
    if not offering.successor:
        return reason("type_retired_without_successor")
    return reason("type_retired", successor=offering.successor)


@cache
def load_retired_families() -> tuple[RetiredFamily, ...]:
    """The rows of retired.csv."""
    return tuple(
        RetiredFamily(row["provider"], re.compile(row["pattern"]), row["what"], row["successor"], row["source"])
        for row in csv.DictReader(read_table("retired.csv").splitlines())
    )
