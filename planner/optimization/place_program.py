"""The planning problem by place: a program far smaller than the model, below whose optimum no plan is.

Work of all workloads at a place that is worth the same is added up, but for work at any hour that committed money may
pay, which is told apart. Decide:

    u[k,p]      whether workload k lives at place p, where all of its work is at first paid by the hour
    y[i,a]      units of a shared resource i started in a: the columns of the model
    c[g,l,t,b]  node-hours of level l (work at a place in a month or block that is worth as much by the hour) that the
                shared resources g of the place do instead, which saves their rate by the hour

Minimise  sum cost[k,p] u + sum cost[i,a] y - sum (rate[l,t] - use[g,t]) c   subject to

    sum_p u = 1                                      one home
    sum_g c <= sum_k hours[k,l,t,b] u[k,p]           no more is done instead than there is (equal: no hour is sold)
    sum_l c <= hours[b] sum_a y                      no shared capacity is used twice
    nodes price sum_b c <= hours[k,l] sum_a y        money pays in each hour for what runs then, of work at any hour

Work up to a deadline and work that may be spread have columns for their shares of each month (and block, where nodes
stand for it). Every plan of the model gives a solution here that costs no more, so any bound of this program holds for
the model. It leaves out what only makes plans dearer: whole gangs on shared nodes, whole nodes for parts of a workload,
jobs at once, quotas, budgets and the emission of overflow; and it takes the best of each gang for work that may be
spread.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from planner.optimization.constraints import is_done_in_month
from planner.optimization.home_constraints import list_tasks, task_of
from planner.optimization.limit_constraints import add_carbon_rows, add_ownership_constraints
from planner.optimization.linear_program import (
    ANY_HOUR,
    DemandTask,
    LinearProgram,
    ProgramArrays,
    ProgramColumn,
    RowEntries,
)
from planner.optimization.model import StrategyScope, add_start_columns
from planner.optimization.solution import PlanningContext
from planner.optimization.stays import Place, Stay, list_stays
from planner.supply.carbon import node_energy
from planner.supply.homes import is_owned_place
from planner.supply.limits import budget_year
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

ROUNDING = 1e-9
RATE_DIGITS = 6
"""Rates that agree to so many digits are one level, which saves the highest of them."""


@dataclass(frozen=True, slots=True)
class PlaceProgram:
    """The program and its numbers, the columns that bring work of a workload to a place, where the overflow of those on
    owned nodes goes, and what it was made of: the stays of each workload and the shared resources of each place."""

    program: LinearProgram
    numbers: ProgramArrays
    homes: dict[tuple[int, Place], list[int]]
    overflow: dict[int, Place]
    stays: list[list[Stay]]
    groups: dict[Place, list[ResourceGroup]]


class _Level(NamedTuple):
    """What makes work of a place and slot alike: its rate by the hour (infinite: no hour is sold)."""

    place: Place
    month: int
    block: int
    rate: float
    elsewhere: frozenset[int]
    """Shared resources of other places that may do it, too."""
    span: int
    """Nodes of one gang."""
    need: int
    """The workload, of work at any hour where committed money may pay it; else -1."""


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Shared resources that are used alike at a place: nodes, days of nodes, or money (`weight` an hour of a node)."""

    items: tuple[int, ...]
    weight: float
    by_month: bool
    use_costs: tuple[float, ...]
    is_money: bool


def build_place_program(setting: PlanningContext, allowed: StrategyScope) -> PlaceProgram:
    """The program of one strategy."""
    builder = _Builder(setting, allowed)
    stays_by_need = list_stays(setting, allowed)
    for index, stays in enumerate(stays_by_need):
        need = setting.demands.needs[index]
        if need.may_spread:
            builder.add_spread_work(index, stays)
        elif need.deadline is not None:
            builder.add_deadline(index, stays)
        else:
            builder.add_homes(index, stays)
    builder.add_levels()
    add_ownership_constraints(builder.program, setting, allowed.shared)
    add_carbon_rows(builder.program, setting, allowed.shared, builder.emitted)
    program = builder.program
    return PlaceProgram(program, program.to_arrays(), builder.homes, builder.overflow, stays_by_need, builder.groups)


@dataclass(slots=True)
class _Builder:
    setting: PlanningContext
    allowed: StrategyScope
    program: LinearProgram = field(default_factory=LinearProgram)
    homes: dict[tuple[int, Place], list[int]] = field(default_factory=lambda: defaultdict(list))
    overflow: dict[int, Place] = field(default_factory=dict)
    levels: dict[_Level, dict[int, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    task_hours: dict[_Level, float] = field(default_factory=lambda: defaultdict(float))
    """The most node-hours of the whole tasks of which a level is a part."""
    started: dict[tuple[int, int], list[int]] = field(init=False)
    emitted: dict[int, RowEntries] = field(default_factory=lambda: defaultdict(list))
    """By year, the emission of work at places in the cloud, where carbon is limited; that of owned nodes and of what
    exceeds them is none here."""
    kg_per_hour: dict[Place, float] = field(default_factory=dict)
    groups: dict[Place, list[ResourceGroup]] = field(init=False)
    money: frozenset[Place] = field(init=False)
    """Places where committed money may pay."""

    def __post_init__(self) -> None:
        if self.setting.rules.limits_carbon:
            rules, assumptions = self.setting.rules, self.setting.assumptions
            for resource in self.setting.market.resources:
                if resource.node is None:
                    energy = node_energy(resource, rules.carbon, assumptions)
                    self.kg_per_hour[resource.place] = energy.extra_kg_per_hour or 0.0
        self.groups = _list_groups(self.setting, self.allowed)
        self.money = frozenset(place for place, there in self.groups.items() if any(g.is_money for g in there))
        self.started = add_start_columns(self.program, self.allowed.shared, self.setting.demands)

    def add_homes(self, index: int, stays: Sequence[Stay]) -> None:
        """Work that is due in its months: one home, and another one from the end of its type on."""
        chosen = [(stay, self._add_home(stay, 1, whole=True)) for stay in stays]
        self.program.row(1.0, 1.0, [(u, 1.0) for _, u in chosen] or [self._impossible(index)], index)
        months = self.setting.terms.months
        for end in sorted({stay.last_month for stay in stays if stay.last_month < months}):
            leaving = [(u, -1.0) for stay, u in chosen if stay.last_month == end]
            lasting = [stay for stay in stays if stay.last_month >= months and not is_owned_place(stay.place)]
            moves = [(self._add_home(stay, end + 1, whole=True), 1.0) for stay in lasting]
            self.program.row(0.0, 0.0, [*moves, *leaving])

    def add_deadline(self, index: int, stays: Sequence[Stay]) -> None:
        """Work that is done by a month: one home, and a share for each month."""
        chosen = []
        for stay in stays:
            u = self.program.column(ProgramColumn("home", index, 0), 0.0, 1.0, whole=True)
            self._note_home(stay, u)
            chosen.append((u, 1.0))
            steady, spot = self._add_shares(stay)
            self.program.row(0.0, 0.0, [*((f, 1.0) for f in (*steady, *spot)), (u, -1.0)])
            if steady and spot:
                limit = self.setting.rules.spot_share(self.setting.demands.needs[index])
                self.program.row(-math.inf, 0.0, [*((f, 1.0) for f in spot), (u, -limit)])
        self.program.row(1.0, 1.0, chosen or [self._impossible(index)], index)

    def add_spread_work(self, index: int, stays: Sequence[Stay]) -> None:
        """Work that several places may do: shares of each task add up to all of it."""
        of_task: dict[DemandTask, RowEntries] = defaultdict(list)
        on_spot: dict[DemandTask, RowEntries] = defaultdict(list)
        demands = self.setting.demands
        for stay in stays:
            for is_spot, columns in enumerate(self._add_shares(stay)):
                self.homes[index, stay.place] += columns
                for column in columns:
                    there = self.program.columns[column]
                    task, _ = task_of(index, there.month, there.block, demands)
                    of_task[task].append((column, 1.0))
                    on_spot[task] += [(column, 1.0)] if is_spot else []
        for task in list_tasks(index, demands):
            self.program.row(1.0, 1.0, of_task[task] or [self._impossible(index)], index)
            self.program.row(-math.inf, self.setting.rules.spot_share(demands.needs[index]), on_spot[task])

    def add_levels(self) -> None:
        """What shared resources do at each level, and no more than they can in all."""
        groups = self.groups
        capacity: dict[tuple[tuple[int, ...], int, int], RowEntries] = defaultdict(list)
        for level, entries in self.levels.items():
            others = (self.allowed.shared[item].resource.place for item in level.elsewhere)
            there = [
                *groups.get(level.place, ()),
                *(g for place in others for g in groups[place] if not level.elsewhere.isdisjoint(g.items)),
            ]
            covered = [(group, list(self._cover(level, group, capacity))) for group in there]
            for group, doing in covered:
                if group.is_money and level.need >= 0 and doing:
                    self._hold_money(level, group, doing)
            covering = [entry for _, doing in covered for entry in doing]
            lower = 0.0 if math.isinf(level.rate) else -math.inf
            if covering or lower == 0.0:
                self.program.row(lower, 0.0, [*covering, *((u, -hours) for u, hours in entries.items())])
        for (items, month, _), uses in capacity.items():
            self.program.row(-math.inf, 0.0, [*uses, *((y, -1.0) for i in items for y in self.started[i, month])])

    def _hold_money(self, level: _Level, group: ResourceGroup, doing: RowEntries) -> None:
        """Money for a part of a gang's nodes does no more than that part of a task; where a part of the task is done in
        other months or places it does all or none."""
        hours = self.task_hours[level]
        of_gang = level.span * group.weight
        starts = [(y, -1.0) for item in group.items for y in self.started[item, level.month]]
        shares = [(column, each / hours) for column, each in doing]
        if is_done_in_month(self.setting.demands.needs[level.need]):
            if hours < level.span * math.fsum(self.setting.demands.block_hours):  # else hours of the month tell
                self.program.row(-math.inf, 0.0, [*((c, share * of_gang) for c, share in shares), *starts])
        else:
            z = self.program.column(ProgramColumn("gang", -1, level.month), 0.0, 1.0, whole=True)
            self.program.row(-math.inf, 0.0, [*shares, (z, -1.0)])
            self.program.row(-math.inf, 0.0, [(z, of_gang), *starts])

    def _cover(
        self, level: _Level, group: ResourceGroup, capacity: dict[tuple[tuple[int, ...], int, int], RowEntries]
    ) -> Iterator[tuple[int, float]]:
        """Columns for the units of a group that do work of a level, with the node-hours that each does."""
        if not any((item, level.month) in self.started for item in group.items):
            return
        use = group.use_costs[level.month - 1] if group.use_costs else 0.0
        saving = -use if math.isinf(level.rate) else level.rate - use
        if saving <= 0 and math.isfinite(level.rate):
            return
        blocks = self.setting.demands.block_hours
        at = range(len(blocks)) if level.block == ANY_HOUR else (level.block,)
        for block in (ANY_HOUR,) if group.by_month else at:
            hours = float(HOURS_PER_DAY) if group.by_month else blocks[block]
            units = ProgramColumn("covered", -1, level.month, block)
            column = self.program.column(units, -saving * hours, math.inf, whole=False)
            if group.by_month and level.span > 1:  # days of whole gangs
                days = self.program.column(ProgramColumn("gang_days", -1, level.month), 0.0, math.inf, whole=True)
                self.program.row(-math.inf, 0.0, [(column, 1.0), (days, -float(level.span))])
                capacity[group.items, level.month, block].append((days, float(level.span)))
            else:
                capacity[group.items, level.month, block].append((column, group.weight))
            yield column, hours

    def _add_home(self, stay: Stay, first: int, *, whole: bool) -> int:
        """The column of a home from a month on, with its work: none where some of that is not sold and no unit may do
        it."""
        there, levels = (stay.months >= first) & (stay.months <= stay.last_month), tuple(stay.levels())
        kind = ProgramColumn("home", stay.need, first - 1)
        possible = stay.is_shared or not any(
            (there & (hours > 0) & (rates == math.inf)).any() for hours, rates in levels
        )
        u = self.program.column(kind, float(stay.cost()[there].sum()), 1.0 if possible else 0.0, whole=whole)
        self._note_home(stay, u)
        for hours, rates in levels:
            for slot in (there & (hours > 0)).nonzero()[0].tolist():
                self._add_work(stay, slot, u, float(hours[slot]), float(rates[slot]))
        return u

    def _note_home(self, stay: Stay, column: int) -> None:
        self.homes[stay.need, stay.place].append(column)
        if stay.overflow is not None:
            self.overflow[column] = stay.overflow

    def _add_shares(self, stay: Stay) -> tuple[list[int], list[int]]:
        """Columns for the shares of work by month, and block of standing work: by steady ways, and on spot."""
        sides: tuple[list[int], list[int]] = ([], [])
        hours = stay.steady_hours + stay.spot_hours
        for slot in (stay.months <= stay.last_month).nonzero()[0].tolist():
            for side, rates, done in ((0, stay.steady_rates, stay.steady_hours), (1, stay.spot_rates, stay.spot_hours)):
                rate = float(rates[slot])
                if not done[slot] or (math.isinf(rate) and not stay.is_shared):
                    continue
                paid = float(stay.data[slot]) + (0.0 if math.isinf(rate) else rate * float(hours[slot]))
                share = ProgramColumn("work", stay.need, int(stay.months[slot]), int(stay.blocks[slot]))
                column = self.program.column(share, paid, stay.most_a_month, whole=False)
                self._add_work(stay, slot, column, float(hours[slot]), rate)
                sides[side].append(column)
        return sides

    def _add_work(self, stay: Stay, slot: int, column: int, hours: float, rate: float) -> None:
        if kg := self.kg_per_hour.get(stay.place):
            self.emitted[budget_year(int(stay.months[slot]))].append((column, kg * hours))
        if stay.is_shared:
            month, block = int(stay.months[slot]), int(stay.blocks[slot])
            elsewhere = frozenset(stay.overflows_to)
            need = stay.need if block == ANY_HOUR and stay.place in self.money else -1
            level = _Level(stay.place, month, block, _round_up(rate), elsewhere, stay.span, need)
            self.levels[level][column] += hours
            of_task = float(stay.steady_hours[slot] + stay.spot_hours[slot])
            self.task_hours[level] = max(self.task_hours[level], of_task)

    def _impossible(self, need: int) -> tuple[int, float]:
        """The entry of a task that cannot be done."""
        return self.program.column(ProgramColumn("short", need, 0), 0.0, 0.0, whole=False), 1.0


def _round_up(rate: float) -> float:
    if not math.isfinite(rate) or rate <= 0:
        return rate
    scale = 10.0 ** (RATE_DIGITS - 1 - math.floor(math.log10(rate)))
    return math.ceil(rate * scale - ROUNDING) / scale


def _list_groups(setting: PlanningContext, allowed: StrategyScope) -> dict[Place, list[ResourceGroup]]:
    """The shared resources of each place: its nodes together, days of nodes, and each commitment to money."""
    resources = setting.market.resources
    alike: dict[tuple[Place, str], dict[int, float]] = defaultdict(dict)
    for index, item in enumerate(allowed.shared):
        for candidate in item.candidates:
            kind = f"money {index}" if item.weights else item.resource.unit
            here, weight = alike[resources[candidate.resource].place, kind], item.weight(candidate)
            here[index] = min(weight, here.get(index, weight))
    groups: dict[Place, list[ResourceGroup]] = defaultdict(list)
    for (place, _), weights in alike.items():
        first = allowed.shared[next(iter(weights))]
        is_money = bool(first.weights)
        groups[place].append(
            ResourceGroup(tuple(weights), min(weights.values()), first.by_month, first.use_costs, is_money)
        )
    return groups
