"""The work of each workload per month and load block.

Hours of the week in which every workload has a level of the same group (load_levels.py) form one load block, so that
peaks, nights and idle capacity appear without 24 x 7 copies of each variable. The work of a block is that of its hours;
nodes stand ready for its highest hour. Work that may run at any hour of its month (training, batch) has no level per
block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field

from planner.request.calendar import month_names, monthly_values, resolve_deadline
from planner.request.models import DEMAND_KINDS, Demand, Request, Workload
from planner.workloads.load_levels import group_levels
from pricing.frozen_values import dataclass

WEEK = 168


@dataclass(frozen=True, slots=True)
class WorkloadDemand:
    """The demand of one workload. `monthly` is work units per month (for a deadline: none before the last, all in it).

    `levels[block]` is the relative level (mean 1 over the month), None for work that may run at any hour of the month;
    `peaks[block]` that of the highest hour of the block.
    `deadline` is the month by whose end all of `monthly` is done.
    """

    workload: Workload
    unit: str
    monthly: tuple[float, ...]
    levels: tuple[float, ...] | None
    peaks: tuple[float, ...]
    deadline: int | None
    total: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", math.fsum(self.monthly))

    @property
    def serving(self) -> bool:
        """Whether whole nodes stand ready in each block: services, interactive work, and all work tied to hours of the
        week. Its accelerator-hours are accelerators that are there, not work that can be packed."""
        return self.levels is not None

    @property
    def may_spread(self) -> bool:
        """Whether its work, or the replicas of a service, may be divided over several places at once."""
        return self.workload.spread

    def block_units(self, month: int, block: int, block_hours: tuple[float, ...]) -> float:
        """Work units due in a block of a month (month counts from 0); the blocks of a month add up to `monthly`."""
        assert self.levels is not None
        return self.monthly[month] * self.levels[block] * block_hours[block] / math.fsum(block_hours)

    def ready_units(self, month: int, block: int, block_hours: tuple[float, ...]) -> float:
        """Work units of a block whose every hour is as its highest: what nodes stand ready for."""
        return self.monthly[month] * self.peaks[block] * block_hours[block] / math.fsum(block_hours)

    def excess_fraction(self, block_hours: tuple[float, ...]) -> float:
        """By how much more than the work due nodes stand ready for, as a fraction of it."""
        if self.levels is None:
            return 0.0
        above = (
            hours * (peak - level) for hours, peak, level in zip(block_hours, self.peaks, self.levels, strict=True)
        )
        return math.fsum(above) / math.fsum(block_hours)


@dataclass(frozen=True, slots=True)
class PortfolioDemand:
    """All needs over one set of load blocks; `block_hours` adds up to the hours of a month, and `block_of_hour` tells
    the block of each hour of the week, from Monday 0:00."""

    needs: tuple[WorkloadDemand, ...]
    block_hours: tuple[float, ...]
    month_names: tuple[str, ...]
    block_of_hour: tuple[int, ...]

    def count_slots(self, need: WorkloadDemand) -> int:
        """The months, and blocks of standing work, in which work of a workload may be done."""
        return (need.deadline or len(self.month_names)) * (len(self.block_hours) if need.serving else 1)


def compute_demands(
    request: Request, hours_per_month: float, units_per_accelerator_hour: dict[str, float]
) -> PortfolioDemand:
    """The needs of all workloads. `units_per_accelerator_hour` turns accelerator-hours into measured units, by
    workload."""
    names = month_names(request)
    shapes = [_weekly_shape(w.demand, w.kind) for w in request.workloads]
    groups = sorted({group_levels(shape) for shape in shapes if shape is not None})
    columns = list(zip(*groups, strict=True)) if groups else [()] * WEEK
    blocks = sorted(set(columns))
    members = [[hour for hour in range(WEEK) if columns[hour] == block] for block in blocks]
    hours = tuple(len(member) / WEEK * hours_per_month for member in members)
    needs = []
    for workload, shape in zip(request.workloads, shapes, strict=True):
        levels = None if shape is None else tuple(_mean([shape[hour] for hour in member]) for member in members)
        peaks = () if shape is None else tuple(max(shape[hour] for hour in member) for member in members)
        factor = units_per_accelerator_hour.get(workload.name, 1.0)
        needs.append(_compute_demand(workload, names, levels, peaks, hours_per_month, factor))
    return PortfolioDemand(tuple(needs), hours, names, tuple(blocks.index(column) for column in columns))


def scale_demand(demand: Demand, share: float) -> Demand:
    """That share of a demand, in every month."""
    kind = next(name for name in DEMAND_KINDS if getattr(demand, name) is not None)
    value = getattr(demand, kind)
    if isinstance(value, Mapping):
        scaled: object = {month: amount * share for month, amount in value.items()}
    else:
        scaled = [amount * share for amount in value] if isinstance(value, list) else value * share
    return demand.model_copy(update={kind: scaled})


def _mean(levels: list[float]) -> float:
    """Their mean; exactly the level where they are one."""
    return levels[0] if len(set(levels)) == 1 else math.fsum(levels) / len(levels)


def _compute_demand(
    workload: Workload,
    names: tuple[str, ...],
    levels: tuple[float, ...] | None,
    peaks: tuple[float, ...],
    hours_per_month: float,
    factor: float,
) -> WorkloadDemand:
    demand = workload.demand
    if demand.total_units is not None:
        last = resolve_deadline(demand, names)
        monthly = tuple(demand.total_units if month == last else 0.0 for month in range(1, len(names) + 1))
        return WorkloadDemand(workload, workload.unit or "units", monthly, None, (), last)
    values = monthly_values(demand, names)
    unit = workload.unit
    if demand.requests_per_second is not None:
        unit = unit or "requests"
        values = tuple(v * 3600 * hours_per_month * demand.units_per_request for v in values)
    elif demand.accelerator_hours_per_month is not None:
        unit = unit or "units" if factor != 1.0 else "accelerator-hours"
        values = tuple(v * factor for v in values)
    return WorkloadDemand(workload, unit or "units", values, levels, peaks, None)


def _weekly_shape(demand: Demand, kind: str) -> tuple[float, ...] | None:
    """168 levels with mean 1, or None for work that may run at any hour of its month."""
    if not demand.is_tied_to_hours(kind):
        return None
    raw = _hourly_levels(demand.daily_shape)
    mean = math.fsum(raw) / len(raw)
    return tuple(level / mean for level in (raw if len(raw) == WEEK else raw * 7))


def _hourly_levels(shape: str | list[float]) -> list[float]:
    if isinstance(shape, list):
        return [float(level) for level in shape]
    day = {
        "flat": [1.0] * 24,
        "day_and_evening": [1.0 if 8 <= hour < 23 else 0.3 for hour in range(24)],
        "business_hours": [1.0 if 9 <= hour < 18 else 0.0 for hour in range(24)],
    }[shape]
    return day * 5 + [0.0] * 48 if shape == "business_hours" else day
