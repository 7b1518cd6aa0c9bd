"""How work changed between two states: hours for the same work, more or less of it, and the cost of its data."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from planner.analysis.comparison.state_reconstruction import find_deadline_workloads
from planner.analysis.comparison.strategy_state import ROUNDING_TOLERANCE, Place, PlacedWork, StrategyState, WorkKey
from planner.result import Plan, RequestedWorkload, Strategy
from pricing.frozen_values import dataclass

NO_WORK = PlacedWork(0.0, 0.0, 0.0, 0.0)
WorkloadPlace = tuple[str, Place]
"""A workload at a place."""


@dataclass(frozen=True, slots=True)
class ComparedPlan:
    """A plan, the strategy of it that is compared, and its state."""

    plan: Plan
    strategy: Strategy
    state: StrategyState

    def workloads(self) -> Mapping[str, RequestedWorkload]:
        return {workload.name: workload for workload in self.plan.workloads}


@dataclass(frozen=True, slots=True)
class PlanPair:
    """Both sides, and the last month that both have."""

    before: ComparedPlan
    after: ComparedPlan
    common: int

    def workload(self, name: str) -> tuple[RequestedWorkload | None, RequestedWorkload | None]:
        """A workload in both plans; None where a plan does not have it."""
        return self.before.workloads().get(name), self.after.workloads().get(name)

    def has_same_unit(self, name: str) -> bool:
        """Whether both plans have a workload and count it in the same unit."""
        old, new = self.workload(name)
        return old is not None and new is not None and old.unit == new.unit

    def is_job(self, name: str) -> bool:
        """Whether its hours follow its work in both; services rent whole nodes."""
        return all(each is not None and each.kind in ("training", "batch") for each in self.workload(name))

    def in_both(self, state: StrategyState) -> list[WorkloadPlace]:
        """Workloads at places where both the state and the new plan do some work."""
        return sorted({key[:2] for key in state.work if key in self.after.state.work and key[2] <= self.common})

    def hours_per_unit(self, work: Mapping[WorkKey, PlacedWork], where: WorkloadPlace) -> float:
        """Over the months that both plans have; 0 where there is no work."""
        its = [each for key, each in work.items() if key[:2] == where and key[2] <= self.common]
        units = math.fsum(each.units for each in its)
        return math.fsum(each.hours for each in its) / units if units else 0.0

    def units_per_hour(self, state: StrategyState, where: WorkloadPlace) -> float | None:
        """Work of a node-hour; None where there is none."""
        hours = self.hours_per_unit(state.work, where)
        return 1 / hours if hours else None

    def ratio(self, state: StrategyState, where: WorkloadPlace) -> float:
        """New over present node-hours for a unit of a job's work; 1 where gangs of several sizes may do it."""
        if not self.is_job(where[0]) or not self.has_same_unit(where[0]) or self.throughput_ratio(where) is None:
            return 1.0
        present, new = (self.hours_per_unit(work, where) for work in (state.work, self.after.state.work))
        return new / present if present and new else 1.0

    def throughput_ratio(self, where: WorkloadPlace) -> float | None:
        """Old over new throughput; None where it is not that of one size of gang in both."""
        rates = []
        for side in (self.before, self.after):
            parts = {u.accelerator for u in side.strategy.uses if (u.workload, u.name) == (where[0], where[1][2])}
            known = [t for t in side.plan.throughput if t.workload == where[0] and t.accelerator in parts]
            if len(known) != 1 or not known[0].units_per_hour:
                return None
            rates.append(known[0])
        old, new = rates
        return old.units_per_hour / new.units_per_hour if old.gang == new.gang else None


def is_close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=ROUNDING_TOLERANCE, abs_tol=1e-12)


def scale_hours(state: StrategyState, factors: Mapping[WorkloadPlace, float], last: int) -> StrategyState:
    """The same work in more (less) node-hours, in the months up to `last`."""
    work = {
        key: replace(each, hours=each.hours * factors[key[:2]]) if key[:2] in factors and key[2] <= last else each
        for key, each in state.work.items()
    }
    return replace(state, work=work)


def replace_data_costs(
    state: StrategyState, there: Mapping[WorkKey, PlacedWork], where: WorkloadPlace
) -> StrategyState:
    """The same work at a place with the cost of its data there."""
    work = {
        key: replace(each, data=there[key].data) if key[:2] == where and key in there else each
        for key, each in state.work.items()
    }
    return replace(state, work=work)


def is_demand_changed(compared: PlanPair, name: str) -> bool:
    """Whether the demand of a workload is another in the months that both plans have."""
    old, new = compared.workload(name)
    if old is None or new is None or not compared.has_same_unit(name):
        return True
    pairs = zip(old.demand[: compared.common], new.demand[: compared.common], strict=True)
    return not all(is_close(a, b) for a, b in pairs)


def replace_demand(compared: PlanPair, state: StrategyState, name: str) -> StrategyState:
    """The work of a workload as much as in the new plan: more (less) of it where the new plan does more (less).

    Of the rises of a month the part is made that the month's work rose in all, of the falls none; where it fell, the
    other way round. Work that is due once is summed over all months.
    """
    target = compared.after.state
    keys = sorted(k for k in {*state.work, *target.work} if k[0] == name and k[2] <= compared.common)
    sides = (compared.before, compared.after)
    pooled = any(name in find_deadline_workloads(side.plan, side.strategy) for side in sides)
    groups: dict[int, list[WorkKey]] = defaultdict(list)
    for key in keys:
        groups[0 if pooled else key[2]].append(key)
    work = dict(state.work)
    by_unit = compared.is_job(name) and compared.has_same_unit(name)
    for group in groups.values():
        for key, part in _progress_fractions(state, target, group, whole=not compared.has_same_unit(name)).items():
            now, there = state.work.get(key, NO_WORK), target.work.get(key, NO_WORK)
            work[key] = _interpolate_work(now, there, part, by_unit=by_unit)
    return replace(state, work=work)


def _progress_fractions(
    state: StrategyState, target: StrategyState, group: Collection[WorkKey], *, whole: bool
) -> dict[WorkKey, float]:
    """How far each key goes towards the new plan's work."""
    if whole:
        return dict.fromkeys(group, 1.0)
    moved = {key: target.work.get(key, NO_WORK).units - state.work.get(key, NO_WORK).units for key in group}
    net = math.fsum(moved.values())
    with_it = math.fsum(v for v in moved.values() if v * net > 0)
    return {key: min(1.0, net / with_it) if v * net > 0 else 0.0 for key, v in moved.items()}


def _interpolate_work(now: PlacedWork, there: PlacedWork, part: float, *, by_unit: bool) -> PlacedWork:
    """Part of the way: hours in proportion to units where `by_unit` and both do some, else to the way."""
    if not part:
        return now
    units = now.units + (there.units - now.units) * part
    hours = now.hours + (there.hours - now.hours) * part
    if by_unit and now.units and there.units:
        hours = now.hours * units / now.units
    share = now.share + (there.share - now.share) * part
    return PlacedWork(hours, units, share, now.data or there.data)
