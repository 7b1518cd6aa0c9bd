"""The uses of accelerators that a file has: who used how many of what, when, and how well."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from pricing.frozen_values import dataclass

UNALLOCATED = "(unallocated)"
"""The workload of unallocated accelerators."""
HOUR = timedelta(hours=1)


class UnreadableUse(ValueError):
    """Why a file cannot be used; `place` is within it."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True)
class MeasuredUse:
    """`accelerators` of a kind in use from `start` for `hours`, in the time that the file prints.

    `written` is the accelerator as the file names it, `accelerator` the catalogue's name; empty where there is none.
    `busy` is the fraction of the time in which they ran anything, `waited_hours` the time in the queue, `completed`
    whether a run ended well, `cost` in the currency of the file: each None where the file does not have it. `is_run`
    where it is the start of a job, not a sample of what goes on.
    """

    workload: str
    team: str
    written: str
    accelerator: str
    start: datetime
    hours: float
    accelerators: float
    nodes: float | None = None
    busy: float | None = None
    waited_hours: float | None = None
    completed: bool | None = None
    cost: float | None = None
    is_run: bool = False

    @property
    def accelerator_hours(self) -> float:
        return self.accelerators * self.hours

    @property
    def end(self) -> datetime:
        return self.start + timedelta(hours=self.hours)

    def split_by_hour(self) -> Iterator[tuple[datetime, float]]:
        """Each clock hour that it touches, with the part of an hour in it."""
        at, end = self.start, self.end
        while at < end:
            following = at.replace(minute=0, second=0, microsecond=0) + HOUR
            until = min(following, end)
            yield at, (until - at) / HOUR
            at = until


@dataclass(frozen=True, slots=True)
class LeftOutRows:
    """Rows that are no use of accelerators: why, how many, and the places of the first few."""

    reason: str
    rows: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredUsage:
    """The contents of one file. rows_in = rows_used + the rows left out; `grouped_by` is what names the workloads.

    `queued` are accelerators that waited at the end. `currency` is empty where the file has no costs, or no currency.
    `first` and `last` are the ends of the time that the file covers.
    """

    name: str
    source: str
    rows_in: int
    rows_used: int
    uses: tuple[MeasuredUse, ...]
    left_out: tuple[LeftOutRows, ...]
    grouped_by: str
    notes: tuple[str, ...] = ()
    queued: float = 0.0
    currency: str = ""

    @property
    def first(self) -> datetime | None:
        return min((use.start for use in self.uses), default=None)

    @property
    def last(self) -> datetime | None:
        return max((use.end for use in self.uses), default=None)

    @property
    def days(self) -> frozenset[str]:
        """Every day from the first to the last, as 2026-09-01; a last one that ends at midnight is not begun."""
        if self.first is None or self.last is None:
            return frozenset()
        last = max(self.first, self.last - timedelta(seconds=1)).date()
        span = (last - self.first.date()).days
        return frozenset((self.first.date() + timedelta(day)).isoformat() for day in range(span + 1))


def sum_hours(uses: Iterator[MeasuredUse] | list[MeasuredUse] | tuple[MeasuredUse, ...]) -> float:
    return math.fsum(use.accelerator_hours for use in uses)


class RowCount:
    """Counts rows by why they are left out."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[int, list[str]]] = {}

    def add(self, reason: str, place: str) -> None:
        count, examples = self._rows.setdefault(reason, (0, []))
        if len(examples) < 3:
            examples.append(place)
        self._rows[reason] = (count + 1, examples)

    @property
    def total(self) -> int:
        return sum(count for count, _ in self._rows.values())

    def listed(self) -> tuple[LeftOutRows, ...]:
        return tuple(LeftOutRows(reason, count, tuple(places)) for reason, (count, places) in self._rows.items())
