"""Which instance types can no longer be started, and what took their place.

Knows nothing of plans. The catalogue says which of its types are retired; retired.csv beside this adds families that
have ended and are in no catalogue.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pricing.catalog.price_catalog import Catalog


@dataclass(frozen=True, slots=True)
class RetiredFamily:
    """Types of `provider` that match `pattern` have ended, as `what` says; `successor` is in the provider's words."""

    provider: str
    pattern: re.Pattern[str]
    what: str
    successor: str
    source: str


def retirement_reason(provider: str, instance_type: str) -> str | None:
    """The sentence that refuses a type that can no longer be started, with its successor; None for one that can."""
    for row in load_retired_families():
        if row.provider == provider and row.pattern.fullmatch(instance_type):
            return f"{row.what}; its successor is {row.successor} ({row.source})"
    offering = Catalog.embedded().offerings.get((provider, instance_type))
    if offering is None or offering.status != "retired":
        return None
    return (
        f"it is retired; {f'its successor is {offering.successor}' if offering.successor else 'no successor is known'}"
    )


@cache
def load_retired_families() -> tuple[RetiredFamily, ...]:
    """The rows of retired.csv."""
    text = resources.files("planner.reports.terraform.provisioning").joinpath("retired.csv").read_text(encoding="utf-8")
    return tuple(
        RetiredFamily(row["provider"], re.compile(row["pattern"]), row["what"], row["successor"], row["source"])
        for row in csv.DictReader(text.splitlines())
    )
