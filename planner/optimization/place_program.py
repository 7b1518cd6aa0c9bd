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
    sum_l c <= hours[b] sum_a y                      no shared capacity is used twice: work that stands in a block,
    sum_b sum_l c <= hours sum_a y                   and with it the work at any hour of the month
    nodes price sum_b c <= hours[k,l] sum_a y        money pays in each hour for what runs then, of work at any hour

Work up to a deadline and work that may be spread have columns for their shares of each month (and block, where nodes
stand for it); up to a deadline a month has no more of it than gangs at once can do, times u. Every plan of the model
gives a solution here that costs no more, so any bound of this program holds for the model. It leaves out what only
makes plans dearer: whole gangs on shared nodes, whole nodes for parts of a workload, jobs at once in other work,
quotas, budgets and the emission of overflow; and it takes the best of each gang for work that may be spread.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from planner.optimization.covered_levels import CapacityRows, SharedOffers, add_levels
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
from planner.optimization.place_levels import LevelWork
from planner.optimization.program_names import NameList, ProgramNames, name_numbers
from planner.optimization.resource_groups import ResourceGroup, list_groups, list_starts
from planner.optimization.solution import PlanningContext
from planner.optimization.stays import Place, Stay, list_stays
from planner.supply.carbon import node_energy
from planner.supply.homes import is_owned_place
from planner.supply.limits import budget_year
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PlaceProgram:
    """The program and its numbers, the columns that bring work of a workload to a place, where the overflow of those on
    owned nodes goes, and what it was made of: the stays of each workload, the shared resources of each place, and the
    hours of each load block in a month."""

    program: LinearProgram
    numbers: ProgramArrays
    homes: dict[tuple[int, Place], list[int]]
    overflow: dict[int, Place]
    stays: list[list[Stay]]
    groups: dict[Place, list[ResourceGroup]]
    capacity: CapacityRows
    names: ProgramNames
    block_hours: Sequence[float]


def build_place_program(
    setting: PlanningContext, allowed: StrategyScope, included: list[list[Stay]] | None = None
) -> PlaceProgram:
    """The program of one strategy, with the stays of each workload that are `included` (None: all), and the shared
    resources of their places."""
    stays_by_need = list_stays(setting, allowed) if included is None else included
    used = None if included is None else {stay.place for stays in included for stay in stays}
    builder = _Builder(setting, allowed, used)
    for index, stays in enumerate(stays_by_need):
        need = setting.demands.needs[index]
        if need.may_spread:
            builder.add_spread_work(index, stays)
        elif need.deadline is not None:
            builder.add_deadline(index, stays)
        else:
            builder.add_homes(index, stays)
    capacity = builder.add_levels()
    add_ownership_constraints(builder.program, setting, allowed.shared)
    add_carbon_rows(builder.program, setting, allowed.shared, builder.emitted)
    program = builder.program
    builder.names.name_rest(program, "limits")
    numbers, names = program.to_arrays(), builder.names.list_names()
    homes, overflow, groups = builder.homes, builder.overflow, builder.groups
    hours = setting.demands.block_hours
    return PlaceProgram(program, numbers, homes, overflow, stays_by_need, groups, capacity, names, hours)


@dataclass(slots=True)
class _Builder:
    setting: PlanningContext
    allowed: StrategyScope
    used: Collection[Place] | None
    """Places whose shared resources may be started; None: all."""
    program: LinearProgram = field(default_factory=LinearProgram)
    names: NameList = field(default_factory=NameList)
    homes: dict[tuple[int, Place], list[int]] = field(default_factory=lambda: defaultdict(list))
    overflow: dict[int, Place] = field(default_factory=dict)
    work: LevelWork = field(default_factory=LevelWork)
    started: dict[tuple[int, int], list[int]] = field(init=False)
    emitted: dict[int, RowEntries] = field(default_factory=lambda: defaultdict(list))
    """By year, the emission of work at places in the cloud, where carbon is limited; that of owned nodes and of what
    exceeds them is none here."""
    kg_per_hour: dict[Place, float] = field(default_factory=dict)
    groups: dict[Place, list[ResourceGroup]] = field(init=False)
    money: frozenset[Place] = field(init=False)
    """Places where committed money may pay."""

    def __post_init__(self) -> None:
        import numpy as np

        if self.setting.rules.limits_carbon:
            rules, assumptions = self.setting.rules, self.setting.assumptions
            for resource in self.setting.market.resources:
                if resource.node is None:
                    energy = node_energy(resource, rules.carbon, assumptions)
                    self.kg_per_hour[resource.place] = energy.extra_kg_per_hour or 0.0
        self.groups = list_groups(self.setting, self.allowed)
        self.money = frozenset(place for place, there in self.groups.items() if any(g.is_money for g in there))
        open_items = None if self.used is None else set(_list_open(self.setting, self.allowed, self.used))
        self.started = add_start_columns(self.program, self.allowed.shared, self.setting.demands, open_items)
        starts = np.array([(each.owner, each.month) for each in self.program.columns], dtype=np.int64).reshape(-1, 2)
        self.names.add(name_numbers(*starts.T.copy()), np.empty(0, dtype=np.int64))

    def add_homes(self, index: int, stays: Sequence[Stay]) -> None:
        """Work that is due in its months: one home, and another one from the end of its type on."""
        chosen = []
        for stay in stays:
            chosen.append((stay, self._add_home(stay, 1, whole=True)))
            self._name_stay(stay)
        self.program.row(1.0, 1.0, [(u, 1.0) for _, u in chosen] or [self._impossible(index)], index)
        months = self.setting.terms.months
        for end in sorted({stay.last_month for stay in stays if stay.last_month < months}):
            leaving = [(u, -1.0) for stay, u in chosen if stay.last_month == end]
            lasting = [stay for stay in stays if stay.last_month >= months and not is_owned_place(stay.place)]
            moves = [(self._add_home(stay, end + 1, whole=True), 1.0) for stay in lasting]
            self.program.row(0.0, 0.0, [*moves, *leaving])
        self.names.name_rest(self.program, index)

    def add_deadline(self, index: int, stays: Sequence[Stay]) -> None:
        """Work that is done by a month: one home, and a share for each month."""
        chosen = []
        for stay in stays:
            u = self.program.column(ProgramColumn("home", index, 0), 0.0, 1.0, whole=True)
            self._note_home(stay, u)
            chosen.append((u, 1.0))
            steady, spot = self._add_shares(stay)
            self.program.row(0.0, 0.0, [*((f, 1.0) for f in (*steady, *spot)), (u, -1.0)])
            if stay.most_a_month < 1:
                self._limit_months(stay, u, (*steady, *spot))
            if steady and spot:
                limit = self.setting.rules.spot_share(self.setting.demands.needs[index])
                self.program.row(-math.inf, 0.0, [*((f, 1.0) for f in spot), (u, -limit)])
            self._name_stay(stay)
        self.program.row(1.0, 1.0, chosen or [self._impossible(index)], index)
        self.names.name_rest(self.program, index)

    def _limit_months(self, stay: Stay, u: int, shares: Sequence[int]) -> None:
        """In a month no more of the work than gangs at once can do, of a home in part no more than that part: the bound
        is up to 1 % better so."""
        of_month: dict[int, RowEntries] = defaultdict(list)
        for share in shares:
            of_month[self.program.columns[share].month].append((share, 1.0))
        for entries in of_month.values():
            self.program.row(-math.inf, 0.0, [*entries, (u, -stay.most_a_month)])

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
        self.names.name_rest(self.program, index)

    def add_levels(self) -> CapacityRows:
        """What shared resources do at each level, and no more than they can in all."""
        levels, demands = self.work.group_levels(), self.setting.demands
        starts = list_starts(self.groups.values(), self.started, self.setting.terms.months)
        if levels is None:
            return CapacityRows.none(starts.numbers)
        offers = SharedOffers(self.allowed.shared, self.groups, starts)
        return add_levels(self.program, levels, offers, demands, self.names)

    def _add_home(self, stay: Stay, first: int, *, whole: bool) -> int:
        """The column of a home from a month on, with its work: none where some of that is not sold and no unit may do
        it."""
        import numpy as np

        there, levels = (stay.months >= first) & (stay.months <= stay.last_month), tuple(stay.levels())
        kind = ProgramColumn("home", stay.need, first - 1)
        possible = stay.is_shared or not any(
            (there & (hours > 0) & (rates == math.inf)).any() for hours, rates in levels
        )
        u = self.program.column(kind, float(stay.cost()[there].sum()), 1.0 if possible else 0.0, whole=whole)
        self._note_home(stay, u)
        for hours, rates in levels:
            slots = (there & (hours > 0)).nonzero()[0]
            self._add_work(stay, slots, np.full(len(slots), u), hours[slots], rates[slots])
        return u

    def _name_stay(self, stay: Stay) -> None:
        """The columns and rows that a stay has of its own are called after it."""
        hours = stay.steady_hours.tobytes(), stay.spot_hours.tobytes(), stay.steady_rates.tobytes()
        self.names.name_rest(self.program, stay.need, stay.place, stay.overflow, stay.last_month, *hours)

    def _note_home(self, stay: Stay, column: int) -> None:
        self.homes[stay.need, stay.place].append(column)
        if stay.overflow is not None:
            self.overflow[column] = stay.overflow

    def _add_shares(self, stay: Stay) -> tuple[list[int], list[int]]:
        """Columns for the shares of work by month, and block of standing work: by steady ways, and on spot."""
        import numpy as np

        rates = np.stack((stay.steady_rates, stay.spot_rates), axis=1)
        has_work = np.stack((stay.steady_hours, stay.spot_hours), axis=1) != 0
        there = (stay.months <= stay.last_month)[:, None] & has_work & (stay.is_shared | ~np.isinf(rates))
        slots, side = there.nonzero()  # slot by slot, both sides of each
        hours, rate = (stay.steady_hours + stay.spot_hours)[slots], rates[slots, side]
        paid = stay.data[slots] + np.where(np.isinf(rate), 0.0, rate) * hours
        at = zip(stay.months[slots].tolist(), stay.blocks[slots].tolist(), strict=True)
        shares = [ProgramColumn("work", stay.need, month, block) for month, block in at]
        columns = len(self.program.columns) + np.arange(len(shares))
        most, is_whole = np.full(len(shares), stay.most_a_month), np.zeros(len(shares), dtype=np.bool_)
        self.program.add_columns(shares, paid, most, is_whole)
        self._add_work(stay, slots, columns, hours, rate)
        return columns[side == 0].tolist(), columns[side == 1].tolist()

    def _add_work(self, stay: Stay, slots: Numbers, columns: Numbers, hours: Floats, rates: Floats) -> None:
        """The work that columns bring to slots of a stay."""
        if kg := self.kg_per_hour.get(stay.place):
            for column, month, each in zip(columns.tolist(), stay.months[slots].tolist(), hours.tolist(), strict=True):
                self.emitted[budget_year(month)].append((column, kg * each))
        if stay.is_shared and len(slots):
            is_told_apart = stay.blocks[0] == ANY_HOUR and stay.place in self.money
            self.work.add(stay, stay.need if is_told_apart else -1, slots, columns, hours, rates)

    def _impossible(self, need: int) -> tuple[int, float]:
        """The entry of a task that cannot be done."""
        return self.program.column(ProgramColumn("short", need, 0), 0.0, 0.0, whole=False), 1.0


def _list_open(setting: PlanningContext, allowed: StrategyScope, used: Collection[Place]) -> Iterator[int]:
    """The shared resources of places in use, and those that are there in any case."""
    resources = setting.market.resources
    for index, item in enumerate(allowed.shared):
        settled = item.resource.held is not None or any(start.decided is not None for start in item.starts)
        if settled or any(resources[each.resource].place in used for each in item.candidates):
            yield index
