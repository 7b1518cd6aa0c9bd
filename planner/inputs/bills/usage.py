"""Bills together: by workload tag, by month, used against paid.

Answers what was used and what it cost; does not plan.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from planner.inputs.bills.bill import Bill, BilledUsageLine, sum_or_none
from planner.inputs.bills.line_classification import full_months

WORKLOAD_KEYS = (
    "workload", "application", "app", "project", "job", "experiment", "model", "service", "component", "product",
    "team", "squad", "costcenter", "businessunit", "owner",
)  # fmt: skip
"""Tags that usually tell workloads apart, the closest first; case and separators aside."""
TAGGED_FRACTION_MIN = 0.5
Key = TypeVar("Key", str, tuple[str, ...])


@dataclass(frozen=True)
class Usage:
    """Bills read together. `key` is the tag that tells workloads apart, "" where accounts do; `chosen` says why."""

    bills: tuple[Bill, ...]
    key: str
    chosen: str

    @cached_property
    def lines(self) -> tuple[BilledUsageLine, ...]:
        return tuple(line for bill in self.bills for line in bill.lines)

    @cached_property
    def currencies(self) -> tuple[str, ...]:
        """Those of lines, in order."""
        return tuple(sorted({line.currency for line in self.lines}))

    @cached_property
    def full_months(self) -> tuple[str, ...]:
        """Months that the bills cover from the first day to the last."""
        return full_months(day for bill in self.bills for day in bill.days)

    def workload(self, line: BilledUsageLine) -> str:
        """The workload that a line belongs to; what no tag tells is named as such."""
        if line.kind in ("commitment", "upfront"):
            return f"(commitment {line.commitment or 'of capacity'})"
        if not self.key:
            return f"account {line.account}" if line.account else "(no account)"
        own = next((value for key, value in line.tags if fold_alphanumeric(key) == fold_alphanumeric(self.key)), "")
        return own or f"(no {self.key})"


def combine_bills(bills: Sequence[Bill], wanted: str = "") -> Usage:
    """The bills with the tag `wanted`, or the one that tells workloads apart best.

    Raises LookupError, with what is expected instead, for a tag that no row of accelerators carries.
    """
    hours: dict[str, float] = defaultdict(float)
    spelled: dict[str, str] = {}
    used = [line for bill in bills for line in bill.lines if line.kind == "used"]
    for line in used:
        for key, _ in line.tags:
            spelled.setdefault(fold_alphanumeric(key), key)
            hours[fold_alphanumeric(key)] += line.hours_used
    if wanted:
        if fold_alphanumeric(wanted) not in spelled:
            keys = ", ".join(sorted(spelled.values()))
            raise LookupError(f"one of {keys}" if keys else "no tag: no row of accelerators has one")
        return Usage(tuple(bills), spelled[fold_alphanumeric(wanted)], "as asked")
    total = math.fsum(line.hours_used for line in used)
    known = [key for key in WORKLOAD_KEYS if key in spelled]
    for key in known:
        if hours[key] >= TAGGED_FRACTION_MIN * total:
            share = f"{hours[key] / total:.0%} of the accelerator-hours carry it" if total else "rows carry it"
            return Usage(tuple(bills), spelled[key], share)
    return Usage(tuple(bills), "", "no usual tag is on half of the accelerator-hours: accounts tell workloads apart")


def fold_alphanumeric(key: str) -> str:
    return "".join(c for c in key.casefold() if c.isalnum())


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Lines together. Hours are accelerator-hours; paid are used and unused ones; amounts None where not told."""

    rows: int
    hours_used: float
    hours_unused: float
    billed: float | None
    effective: float | None

    @property
    def hours_paid(self) -> float:
        return self.hours_used + self.hours_unused


def sum_lines_by(lines: Iterable[BilledUsageLine], by: Callable[[BilledUsageLine], Key]) -> dict[Key, UsageSum]:
    """The lines by a key, in its order. Amounts of two currencies are added only if `by` leaves the currency out."""
    parts: dict[Key, list[BilledUsageLine]] = defaultdict(list)
    for line in lines:
        parts[by(line)].append(line)
    return {key: sum_lines(parts[key]) for key in sorted(parts)}


def sum_lines(lines: Sequence[BilledUsageLine]) -> UsageSum:
    """The lines together."""
    return UsageSum(
        sum(line.rows for line in lines),
        math.fsum(line.hours_used for line in lines),
        math.fsum(line.hours_unused for line in lines),
        sum_or_none(line.billed for line in lines),
        sum_or_none(line.effective for line in lines),
    )
