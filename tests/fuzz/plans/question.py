"""What a request asks, read from its document alone: months, demand hour by hour of a week, permissions, amounts."""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from tests.fuzz.plans import facts
from tests.fuzz.plans.facts import HOURS

Document = dict[str, Any]
WEEK = 168


@dataclass(frozen=True)
class Work:
    """One workload of the document."""

    row: Document
    months: tuple[str, ...]
    factor: float
    """Work units of an accelerator-hour, where its hours were measured."""

    @property
    def name(self) -> str:
        return self.row["name"]

    @property
    def sweep(self) -> Document:
        return self.row.get("sweep") or {}

    @cached_property
    def demand(self) -> Document:
        if not self.sweep:
            return self.row["demand"]
        units = (self.sweep.get("experiments") or self.sweep["experiments_per_month"]) * self.sweep["units_each"]
        if "experiments" in self.sweep:
            return {"total_units": units, "deadline_month": self.sweep["deadline_month"]}
        return {"units_per_month": units}

    @property
    def kind(self) -> str:
        return self.row.get("kind", "batch")

    @cached_property
    def deadline(self) -> int | None:
        last = self.demand.get("deadline_month")
        return self.months.index(last) + 1 if isinstance(last, str) else last

    @cached_property
    def monthly(self) -> tuple[float, ...]:
        """Units due in each month; of total work all in the last."""
        if self.deadline is not None:
            return tuple(self.demand["total_units"] if n + 1 == self.deadline else 0.0 for n in range(len(self.months)))
        for field, units in (
            ("units_per_month", 1.0),
            ("accelerator_hours_per_month", self.factor),
            ("requests_per_second", 3600 * HOURS * self.demand.get("units_per_request", 1)),
        ):
            if (value := self.demand.get(field)) is not None:
                return tuple(amount * units for amount in self._by_month(value))
        raise KeyError(self.name)

    def _by_month(self, value: float | Sequence[float] | Mapping[str, float]) -> list[float]:
        if isinstance(value, Mapping):
            return [value[name] for name in self.months]
        if isinstance(value, Sequence):
            return list(value[: len(self.months)])
        growth = 1 + self.demand.get("growth_per_month", 0)
        return [value * growth**n for n in range(len(self.months))]

    @cached_property
    def week(self) -> tuple[float, ...] | None:
        """Relative level of every hour of the week, mean 1; None for work at any hour."""
        shape = self.demand.get("daily_shape", "flat")
        any_hour = shape == "flat" and self.kind in ("training", "batch") and "requests_per_second" not in self.demand
        if self.deadline is not None or any_hour:
            return None
        mean = math.fsum(raw := _hours(shape)) / len(raw)
        return tuple(each / mean for each in (raw if len(raw) == WEEK else raw * 7))

    @property
    def stands(self) -> bool:
        return self.week is not None

    @property
    def spreads(self) -> bool:
        return bool(self.row.get("spread"))

    @property
    def at_once(self) -> int | None:
        """Gangs that may run at once."""
        if self.sweep:
            together = self.sweep.get("experiments") or self.sweep["experiments_per_month"]
            return min(self.sweep.get("at_once") or together, together)
        if self.row.get("parallel_jobs") is not None:
            return self.row["parallel_jobs"]
        return 1 if self.kind == "training" and self.deadline is not None else None

    @property
    def is_measured(self) -> bool:
        return bool(self.row.get("measurements"))

    @property
    def holds_failures(self) -> bool:
        """Whether the hours asked for are hours billed: accelerator-hours, not work of a known or described rate."""
        is_described = "network" in self.row and not self.demand.get("accelerator")
        return not self.is_measured and not is_described

    def hourly_due(self, month: int) -> list[tuple[float, float]]:
        """Hours of the month and units an hour, for each hour of the week in which work is due (month from 1)."""
        assert self.week is not None
        rate = self.monthly[month - 1] / HOURS
        return [(HOURS / WEEK, rate * level) for level in self.week if rate * level]


def _hours(shape: str | Sequence[float]) -> list[float]:
    if not isinstance(shape, str):
        return [float(each) for each in shape]
    if shape == "business_hours":
        return [1.0 if 9 <= hour < 18 else 0.0 for hour in range(24)] * 5 + [0.0] * 48
    return [1.0 if shape == "flat" or 8 <= hour < 23 else 0.3 for hour in range(24)]


@dataclass(frozen=True)
class Question:
    """A request as its document says it, with the defaults of the reference."""

    document: Document
    per_dollar: float = 1.0
    """Units of the plan's currency for one US dollar."""

    @property
    def as_of(self) -> date:
        return date.fromisoformat(self.document["as_of"])

    @cached_property
    def months(self) -> tuple[str, ...]:
        start = self.document.get("start")
        first = 12 * self.as_of.year + self.as_of.month
        if start:
            first = 12 * int(start[:4]) + int(start[5:]) - 1
        return tuple(f"{n // 12}-{n % 12 + 1:02}" for n in range(first, first + self.document.get("months", 12)))

    @property
    def start(self) -> date:
        return date.fromisoformat(f"{self.months[0]}-01")

    def days(self, month: int) -> int:
        name = self.months[month - 1]
        return monthrange(int(name[:4]), int(name[5:]))[1]

    @cached_property
    def works(self) -> dict[str, Work]:
        found = (Work(row, self.months, _units_per_hour(row)) for row in self.document["workloads"])
        return {work.name: work for work in found}

    @property
    def limits(self) -> Document:
        return self.document.get("limits", {})

    @property
    def strategies(self) -> list[str]:
        return self.document.get("strategies", ["cloud", "onprem", "hybrid"])

    def spot_share(self, work: Work) -> float:
        own = work.row.get("spot_fraction_max")
        return own if own is not None else self.limits.get("spot_fraction_max", 1.0)

    def grid(self, provider: str, region: str) -> float:
        """Grams of CO2e for each kWh at a place; infinite where nobody knows."""
        if not provider:
            own = self.document.get("site", {}).get("grid_gco2e_per_kwh")
            return math.inf if own is None else own
        stated = self.document.get("grid_gco2e_per_kwh", {}).get(f"{provider} {region}")
        return stated if stated is not None else facts.grids().get((provider, region), math.inf)

    def by_year(self, yearly: float | list[float]) -> list[float]:
        amounts = yearly if isinstance(yearly, list) else [yearly]
        return [amounts[min(year, len(amounts) - 1)] for year in range(-(-len(self.months) // 12))]

    def may_run(self, work: Work, key: facts.Key) -> bool:
        """Whether request and workload let it be at that provider and region."""
        region = facts.regions()[key[0], key[1]]
        places = {region["country"], *region["blocs"].split()}
        for source in (self.document, work.row):
            allowed = (source.get("providers"), source.get("regions"), source.get("residency"))
            if allowed[0] and key[0] not in allowed[0]:
                return False
            if allowed[1] and key[1] not in allowed[1]:
                return False
            if allowed[2] and not places & set(allowed[2]):
                return False
        return True

    def named_providers(self) -> set[str]:
        rows = [self.document, *self.document["workloads"]]
        held = self.document.get("existing", {}).get("commitments", [])
        beside = {row["provider"] for row in (*held, *self.document.get("quotas", []))}
        return beside | {name for row in rows for name in row.get("providers", ())}


def _units_per_hour(row: Document) -> float:
    """Units of one accelerator-hour: measured, where hours are stated with a measurement on their accelerator."""
    demand, measured = row.get("demand") or {}, row.get("measurements") or []
    if demand.get("accelerator_hours_per_month") is None or not measured:
        return 1.0
    own = next(each for each in measured if each["accelerator"] == demand["accelerator"])
    return job_rate(own) / own.get("count", 1)


def job_rate(measured: Document) -> float:
    """Units an hour of all its accelerators together."""
    rate = measured.get("units_per_hour") or measured.get("units_per_second", 0.0) * 3600
    return rate * (measured.get("count", 1) if measured["per"] == "device" else 1)
