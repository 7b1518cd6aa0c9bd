"""Sums of measured use: by month, by hour of the week, by workload and accelerator."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from planner.inputs.measured_use.use_record import UNALLOCATED, MeasuredUse
from pricing.frozen_values import dataclass

WEEK_HOURS = 168


@dataclass(slots=True)
class UseSum:
    """Sums of uses. `hours` are accelerator-hours in use, `measured_hours` those of which it is known how busy they
    were, `busy_hours` the busy part of these; `lost_hours` are of runs that did not complete, `unallocated_hours` of
    accelerators that ran unallocated and are not in `hours`. `waits` are the hours in the queue of each start."""

    runs: int = 0
    hours: float = 0.0
    measured_hours: float = 0.0
    busy_hours: float = 0.0
    lost_hours: float = 0.0
    unallocated_hours: float = 0.0
    cost: float | None = None
    waits: list[float] = field(default_factory=list)

    def add(self, use: MeasuredUse, fraction: float = 1.0) -> None:
        """Adds a part of a use; its start and its wait count with the whole."""
        hours = use.accelerator_hours * fraction
        if use.cost is not None:
            self.cost = (self.cost or 0.0) + use.cost * fraction
        if use.workload == UNALLOCATED:
            self.unallocated_hours += hours
            return
        self.hours += hours
        if use.busy is not None:
            self.measured_hours += hours
            self.busy_hours += hours * use.busy
        if use.completed is False:
            self.lost_hours += hours

    def add_start(self, use: MeasuredUse) -> None:
        if use.is_run:
            self.runs += 1
            if use.waited_hours is not None:
                self.waits.append(use.waited_hours)

    @property
    def utilisation(self) -> float | None:
        """The busy fraction of the hours for which it is known."""
        return self.busy_hours / self.measured_hours if self.measured_hours else None

    @property
    def idle_hours(self) -> float:
        """Hours in which accelerators in use were idle, as far as it is known."""
        return self.measured_hours - self.busy_hours

    @property
    def mean_wait_hours(self) -> float | None:
        return math.fsum(self.waits) / len(self.waits) if self.waits else None

    @property
    def long_wait_hours(self) -> float | None:
        """The wait that nine of ten starts did not exceed."""
        return sorted(self.waits)[math.ceil(0.9 * len(self.waits)) - 1] if self.waits else None


@dataclass(frozen=True, slots=True)
class HourOfWeek:
    """One hour of the week (0 is Monday 0:00), over all weeks: how often it was there, and its sums."""

    hour: int
    times: float
    sums: UseSum

    @property
    def accelerators(self) -> float:
        """The mean of accelerators in use in this hour."""
        return self.sums.hours / self.times if self.times else 0.0


def sum_uses(uses: Iterable[MeasuredUse]) -> UseSum:
    total = UseSum()
    for use in uses:
        total.add(use)
        total.add_start(use)
    return total


def sum_uses_by(uses: Iterable[MeasuredUse], by: Callable[[MeasuredUse], str]) -> dict[str, UseSum]:
    """The sums by a key, in its order."""
    sums: dict[str, UseSum] = defaultdict(UseSum)
    for use in uses:
        its = sums[by(use)]
        its.add(use)
        its.add_start(use)
    return dict(sorted(sums.items()))


def sum_by_month(uses: Iterable[MeasuredUse]) -> dict[str, UseSum]:
    """The sums of each month; a use that lasts over its end is divided, and starts in its first."""
    sums: dict[str, UseSum] = defaultdict(UseSum)
    for use in uses:
        sums[f"{use.start:%Y-%m}"].add_start(use)
        for month, fraction in split_by_month(use):
            sums[month].add(use, fraction)
    return dict(sorted(sums.items()))


def split_by_month(use: MeasuredUse) -> list[tuple[str, float]]:
    """Each month of a use with the fraction of its time that falls into it."""
    at, end, parts = use.start, use.end, list[tuple[str, float]]()
    while at < end:
        following = at.replace(
            year=at.year + at.month // 12, month=at.month % 12 + 1, day=1, hour=0, minute=0, second=0
        )
        until = min(following.replace(microsecond=0), end)
        parts.append((f"{at:%Y-%m}", (until - at) / (end - use.start)))
        at = until
    return parts


def sum_by_hour_of_week(uses: Sequence[MeasuredUse]) -> tuple[HourOfWeek, ...]:
    """All hours of the week; empty without uses."""
    if not uses:
        return ()
    sums = [UseSum() for _ in range(WEEK_HOURS)]
    for use in uses:
        for at, hours in use.split_by_hour():
            sums[24 * at.weekday() + at.hour].add(use, hours / use.hours)
    whole = MeasuredUse("", "", "", "", min(use.start for use in uses), 0.0, 1.0)
    span = (max(use.end for use in uses) - whole.start).total_seconds() / 3600
    times = [0.0] * WEEK_HOURS
    for at, hours in MeasuredUse("", "", "", "", whole.start, span, 1.0).split_by_hour():
        times[24 * at.weekday() + at.hour] += hours
    return tuple(HourOfWeek(hour, times[hour], its) for hour, its in enumerate(sums))
