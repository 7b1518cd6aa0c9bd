"""A large planning problem cut down to the homes that matter, with a bound that holds for the whole of it.

The program by place (place_program.py) comes first: it leaves out only what makes plans dearer, so its bound holds for
every plan. In whole numbers it then chooses homes and starts among those that its relaxation uses, even in part, and
those that are nearest to being used, by their reduced costs; the model of these homes decides all the rest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from planner.optimization.home_search import search_homes
from planner.optimization.linear_program import LinearProgram, ProgramArrays
from planner.optimization.model import StrategyScope
from planner.optimization.paid_nodes import pay_whole_nodes
from planner.optimization.place_program import PlaceProgram
from planner.optimization.program_parts import solve_parts
from planner.optimization.promising_stays import PromisingStays
from planner.optimization.search_end import work_left
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import UNSOLVED, Solution, solve_program, take_if_whole
from planner.optimization.stays import Place
from planner.supply.candidates import Candidate
from planner.supply.homes import has_fixed_gang_type
from pricing.frozen_values import dataclass

STEPWISE_COLUMNS, FIRST_STEP_GAP = 30_000, 2e-3
"""Programs by place with more columns are solved in two steps, the first to this gap."""
SEARCHED, UNITS_GAP = 4, 1e-3
"""Nearest homes of each workload that are searched by moves, and the gap of the units for what is found."""
MOVED_COLUMNS = 50_000
"""Of a program by place with more columns, no home is searched but those that its relaxation uses: of 100 workloads
over 60 months the plan is 0.4 % cheaper so, in a fifth less time; of 1,000 0.4 %, in a sixth of the time for moves."""
NO_UNITS = 1e-6
USED_SHARE = 1e-3
"""Of a workload: a home of the relaxation that has less is left by rounding."""


@dataclass(frozen=True, slots=True)
class HomeRanking:
    """The places of each workload: those that are used, and the others as they lose least. `bound`: no plan costs less.
    `cut_by_clock`: the last resort of the solver ended it."""

    bound: float
    used: tuple[frozenset[Place], ...]
    nearest: tuple[tuple[Place, ...], ...]
    cut_by_clock: bool


def rank_homes(promising: PromisingStays) -> HomeRanking | None:
    """The places of all workloads by the relaxation by place; None where it has no solution: then no plan has one."""
    by_place, relaxed, needs = promising.program, promising.relaxed, len(promising.stays)
    if relaxed.status == "infeasible":
        return None
    least: list[dict[Place, float]] = [{} for _ in range(needs)]
    for (need, place), columns in by_place.homes.items():
        least[need][place] = min((relaxed.reduced_costs[column] for column in columns if relaxed.values), default=0.0)
    for stays, losses, there in zip(promising.stays, promising.losses, least, strict=True):
        left_out = {stay.place for stay in stays}.difference(there)
        for stay, loss in zip(stays, losses, strict=True):
            if stay.place in left_out:
                there[stay.place] = min(loss, there.get(stay.place, math.inf))
    used = _used_places(by_place, relaxed.values, needs)
    nearest = tuple(
        tuple(place for place in sorted(each, key=lambda place: (round(each[place], 2), place)) if place not in there)
        for each, there in zip(least, used, strict=True)
    )  # equal but for rounding is equal
    bound = relaxed.bound if relaxed.values else -math.inf
    return HomeRanking(bound, used, nearest, relaxed.cut_by_clock)


@dataclass(frozen=True, slots=True)
class HomeChoice:
    """A solution of the program by place in whole units: the places of each workload, where that on owned nodes goes
    with what exceeds them, and units by resource (its number) and month of start; its `cost`, and the `bound` of its
    program."""

    used: tuple[frozenset[Place], ...]
    overflow: dict[int, Place]
    units: dict[tuple[int, int], float]
    cost: float
    bound: float
    cut_by_clock: bool

    def is_same(self, other: HomeChoice) -> bool:
        """Whether the other has the same homes and starts."""
        return (self.used, self.overflow) == (other.used, other.overflow) and all(
            abs(self.units.get(start, 0.0) - other.units.get(start, 0.0)) < NO_UNITS
            for start in self.units.keys() | other.units.keys()
        )


def find_homes(
    by_place: PlaceProgram, setting: PlanningContext, allowed: StrategyScope, ranking: HomeRanking, work: float
) -> HomeChoice | None:
    """Homes found by moves among those that are used and the nearest ones (home_search.py), and the best units for
    them; None where they cannot do all of the work."""
    searched = SEARCHED if len(by_place.program.columns) <= MOVED_COLUMNS else 0
    near = [frozenset(places[:searched]) for places in ranking.nearest]
    homes = search_homes(by_place, setting, allowed, ranking.used, near)
    elsewhere = _list_columns(by_place, lambda need, place: homes.get(need, place) != place)
    closed = [column for column in elsewhere if by_place.program.columns[column].month == 0]
    return _choose_open(by_place, closed, work, UNITS_GAP)


def choose_homes(
    by_place: PlaceProgram, ranking: HomeRanking, nearest: int | None, work: float, gap: float
) -> HomeChoice | None:
    """The best homes among those that are used and so many of the nearest for each workload (None: among all); None
    where they cannot do all of the work."""

    def is_far(need: int, place: Place) -> bool:
        return nearest is not None and place not in {*ranking.used[need], *ranking.nearest[need][:nearest]}

    return _choose_open(by_place, _list_columns(by_place, is_far), work, gap)


def improve_homes(by_place: PlaceProgram, known: HomeChoice, work: float, gap: float) -> HomeChoice | None:
    """The best homes among all of a program, from a choice that is good already: most of the search is for the
    bound."""
    by_place = pay_whole_nodes(by_place)
    closed = _list_columns(by_place, lambda need, place: place not in known.used[need])
    start = _solve_closed(by_place, closed, work, UNITS_GAP)
    if not start.values:
        return None
    solution = solve_program(by_place.numbers, start=start, work=work, gap=gap, aim="bound")
    return _read_choice(by_place, replace(solution, cut_by_clock=solution.cut_by_clock or start.cut_by_clock))


def _list_columns(by_place: PlaceProgram, closes: Callable[[int, Place], bool]) -> list[int]:
    """The columns of homes that are closed, by workload and place."""
    return [column for home, columns in by_place.homes.items() if closes(*home) for column in columns]


def _choose_open(by_place: PlaceProgram, closed: list[int], work: float, gap: float) -> HomeChoice | None:
    """The choice of the program by place with some columns of homes closed."""
    by_place = pay_whole_nodes(by_place)
    return _read_choice(by_place, _solve_closed(by_place, closed, work, gap))


def _solve_closed(by_place: PlaceProgram, closed: list[int], work: float, gap: float) -> Solution:
    upper = by_place.numbers.upper.copy()
    upper[closed] = 0.0
    return _solve_stepwise(by_place.program, replace(by_place.numbers, upper=upper), work, gap)


def _read_choice(by_place: PlaceProgram, solution: Solution) -> HomeChoice | None:
    """The choice that a solution is; None where there is none."""
    if not solution.values:
        return None
    program = by_place.program
    units = {
        (column.owner, column.month): value
        for column, value in zip(program.columns, solution.values, strict=True)
        if column.kind == "start"
    }
    used = _used_places(by_place, solution.values, len(by_place.stays))
    columns = program.columns
    overflow = {columns[u].owner: to for u, to in by_place.overflow.items() if solution.values[u] > USED_SHARE}
    return HomeChoice(used, overflow, units, solution.objective, solution.bound, solution.cut_by_clock)


def _solve_stepwise(program: LinearProgram, numbers: ProgramArrays, work: float, gap: float) -> Solution:
    """A good solution of a program with these numbers. A large one is solved in two steps: homes with parts of units,
    then units for those homes. Its bound is that of the first step."""
    import numpy as np

    if len(program.columns) <= STEPWISE_COLUMNS:
        return solve_parts(numbers, work, gap)
    is_home = np.array([column.kind == "home" for column in program.columns])
    rough = solve_parts(replace(numbers, whole=numbers.whole & is_home), work, min(gap, FIRST_STEP_GAP))
    if not rough.values or take_if_whole(numbers, rough) is not None:
        return rough
    if work_left() <= 0:
        return UNSOLVED
    at_home = np.rint(rough.values) + 0.0  # no negative zeros
    lower, upper = (np.where(is_home, at_home, bounds) for bounds in (numbers.lower, numbers.upper))
    solution = solve_parts(replace(numbers, lower=lower, upper=upper), work, gap)
    cut = rough.cut_by_clock or solution.cut_by_clock
    return replace(solution, bound=min(rough.bound, solution.objective), cut_by_clock=cut)


def _used_places(by_place: PlaceProgram, values: Sequence[float], needs: int) -> tuple[frozenset[Place], ...]:
    used: list[set[Place]] = [set() for _ in range(needs)]
    for (need, place), columns in by_place.homes.items():
        if values and any(values[column] > USED_SHARE for column in columns):
            used[need].add(place)
    return tuple(map(frozenset, used))


def keep_homes(
    setting: PlanningContext,
    allowed: StrategyScope,
    kept: Sequence[frozenset[Place]],
    overflow: Sequence[frozenset[Place]] | None = None,
) -> tuple[PlanningContext, StrategyScope]:
    """The same problem with only these places for each workload, and for its `overflow` (None: all). Existing capacity
    stays, and so do all shared resources, some with nobody to use them."""
    stays, takes = _keeps(setting, kept), _takes_overflow(setting, overflow)
    hourly = tuple(tuple(filter(stays, candidates)) for candidates in setting.choice.hourly)
    taking = tuple(tuple(filter(takes, candidates)) for candidates in setting.choice.overflow)
    shared = tuple(
        item if item.resource.held else replace(item, candidates=tuple(filter(stays, item.candidates)))
        for item in allowed.shared
    )
    choice = replace(setting.choice, hourly=hourly, overflow=taking)
    return replace(setting, choice=choice), replace(allowed, shared=shared)


def carry_plan(
    program: LinearProgram, planned: LinearProgram, values: Sequence[float], work: float, gap: float
) -> Solution:
    """A plan as a solution of this program: its units at each start and its shares of the work, from which all else
    follows. It has these `values` in a program of some of the homes of this one, or with other limits."""
    numbers = {step: number for number, step in enumerate(program.steps)}
    units, shares = {}, {}
    for column, value in zip(planned.columns, values, strict=True):
        if column.kind == "start":
            units[column.owner, column.month] = value
        elif column.kind == "work" and value > 0:
            shares[numbers[planned.steps[column.owner]], column.month, column.block] = value
    lower, upper = list(program.lower), list(program.upper)
    for number, column in enumerate(program.columns):
        if column.kind == "work":
            share = shares.get((column.owner, column.month, column.block), 0.0)
            lower[number] = upper[number] = min(share, upper[number])
    return solve_program(fix_starts(replace(program, lower=lower, upper=upper), units), work=work, gap=gap)


def fix_starts(
    program: LinearProgram, units: Mapping[tuple[int, int], float], *, at_least: bool = False
) -> LinearProgram:
    """The program with as many whole `units` at each start (its owner and month) as are given, or `at_least` as many
    where any are, and no money where none are. Without any it has only what is there in any case, and falls into
    months."""
    lower, upper = list(program.lower), list(program.upper)
    for number, column in enumerate(program.columns):
        if column.kind == "start" and lower[number] < upper[number]:
            count = units.get((column.owner, column.month), 0.0)
            if count < NO_UNITS:
                upper[number] = 0.0
            elif program.whole[number]:
                lower[number] = min(max(lower[number], float(round(count))), upper[number])
                upper[number] = upper[number] if at_least else lower[number]
    return replace(program, lower=lower, upper=upper)


def _keeps(setting: PlanningContext, kept: Sequence[frozenset[Place]]) -> Callable[[Candidate], bool]:
    """Tells the candidates at a place that stays."""
    resources = setting.market.resources
    return lambda candidate: resources[candidate.resource].place in kept[candidate.need]


def _takes_overflow(
    setting: PlanningContext, overflow: Sequence[frozenset[Place]] | None
) -> Callable[[Candidate], bool]:
    """Tells the candidates that may take overflow."""
    resources = setting.market.resources
    return lambda candidate: overflow is None or resources[candidate.resource].place in overflow[candidate.need]


def rank_overflow(setting: PlanningContext, index: int) -> list[list[Place]]:
    """The places that may take the overflow of a workload, the least cost of its work in the first month first; of a
    job that stays on its accelerator, those of each apart."""
    resources, rates = setting.market.resources, setting.choice.rates
    is_fixed = has_fixed_gang_type(setting.demands.needs[index])
    offered = [
        (rates[c.resource][0] / c.units_per_node_hour, resources[c.resource]) for c in setting.choice.overflow[index]
    ]
    groups: dict[str, dict[Place, None]] = defaultdict(dict)
    for _, resource in sorted(offered, key=lambda each: (each[0], each[1].place)):
        groups[resource.accelerator if is_fixed else ""][resource.place] = None
    return [list(places) for places in groups.values()]
