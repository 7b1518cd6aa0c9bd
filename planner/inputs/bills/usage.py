"""The usage of several bills together: by workload tag, by month, used against paid."""

from __future__ import annotations

import math
from calendar import monthrange
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from planner.inputs.bills.bill import Bill, BilledUsageLine, sum_or_none
from planner.inputs.bills.export_columns import fold_alphanumeric
from planner.inputs.bills.line_classification import full_months
from pricing.frozen_values import dataclass

WORKLOAD_KEYS = (
    "workload", "application", "app", "project", "job", "experiment", "model", "service", "component", "product",
    "team", "squad", "costcenter", "businessunit", "owner",
)  # fmt: skip
"""Tags that usually identify workloads, the most specific first; without case and separators."""
TAGGED_FRACTION_MIN = 0.5
Key = TypeVar("Key", str, tuple[str, ...])


@dataclass(frozen=True)
class Usage:
    """Several bills. `key` is the tag that identifies workloads, "" where accounts do; `chosen` is the reason."""

    bills: tuple[Bill, ...]
    key: str
    chosen: str

    @cached_property
    def lines(self) -> tuple[BilledUsageLine, ...]:
        return tuple(line for bill in self.bills for line in bill.lines)

    @cached_property
    def currencies(self) -> tuple[str, ...]:
        """The currencies of lines, in order."""
        return tuple(sorted({line.currency for line in self.lines}))

    @cached_property
    def full_months(self) -> tuple[str, ...]:
        """The months that the bills cover from the first day to the last."""
        return full_months(day for bill in self.bills for day in bill.days)

    def workload(self, line: BilledUsageLine) -> str:
        """The workload of a line; a placeholder in brackets where it has no tag."""
        if line.kind in ("commitment", "upfront"):
            return f"(commitment {line.commitment or 'of capacity'})"
        if not self.key:
            return f"account {line.account}" if line.account else "(no account)"
        own = next((value for key, value in line.tags if fold_alphanumeric(key) == fold_alphanumeric(self.key)), "")
        return own or f"(no {self.key})"


def combine_bills(bills: Sequence[Bill], tag: str = "") -> Usage:
    """The bills with workloads by `tag`, or by the usual tag that covers enough hours.

    Raises LookupError, with the existing tags, for a tag that no row of accelerators has.
    """
    hours: dict[str, float] = defaultdict(float)
    spelled: dict[str, str] = {}
    used = [line for bill in bills for line in bill.lines if line.kind == "used"]
    for line in used:
        for key, _ in line.tags:
            spelled.setdefault(fold_alphanumeric(key), key)
            hours[fold_alphanumeric(key)] += line.hours_used
    if tag:
        if fold_alphanumeric(tag) not in spelled:
            keys = ", ".join(sorted(spelled.values()))
            raise LookupError(f"one of {keys}" if keys else "no tag: no row of accelerators has one")
        return Usage(tuple(bills), spelled[fold_alphanumeric(tag)], "as requested")
    total = math.fsum(line.hours_used for line in used)
    known = [key for key in WORKLOAD_KEYS if key in spelled]
    for key in known:
        if hours[key] >= TAGGED_FRACTION_MIN * total:
            share = f"{hours[key] / total:.0%} of the accelerator-hours have it" if total else "rows have it"
            return Usage(tuple(bills), spelled[key], share)
    return Usage(tuple(bills), "", "no usual tag is on half of the accelerator-hours")


@dataclass(frozen=True, slots=True)
class UsageSum:
    """The sums of lines. Hours are accelerator-hours; paid are used and unused ones; unknown amounts are None."""

    rows: int
    hours_used: float
    hours_unused: float
    billed: float | None
    effective: float | None

    @property
    def hours_paid(self) -> float:
        return self.hours_used + self.hours_unused


def sum_lines_by(lines: Iterable[BilledUsageLine], by: Callable[[BilledUsageLine], Key]) -> dict[Key, UsageSum]:
    """The sums by a key, in its order. Amounts in two currencies are added unless the key has the currency."""
    parts: dict[Key, list[BilledUsageLine]] = defaultdict(list)
    for line in lines:
        parts[by(line)].append(line)
    return {key: sum_lines(parts[key]) for key in sorted(parts)}


def sum_lines(lines: Sequence[BilledUsageLine]) -> UsageSum:
    return UsageSum(
        sum(line.rows for line in lines),
        math.fsum(line.hours_used for line in lines),
        math.fsum(line.hours_unused for line in lines),
        sum_or_none(line.billed for line in lines),
        sum_or_none(line.effective for line in lines),
    )


def hours_in_month(month: str) -> int:
    return monthrange(int(month[:4]), int(month[5:]))[1] * 24
