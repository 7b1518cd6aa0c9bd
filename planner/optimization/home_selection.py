"""A large planning problem cut down to the homes that matter, with a bound that holds for the whole of it.

The program by place (place_program.py) comes first: it leaves out only what makes plans dearer, so its bound holds for
every plan. The model then has the homes that its relaxation uses, even in part, and those that are nearest to being
used, by their reduced costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from planner.optimization.linear_program import LinearProgram
from planner.optimization.model import StrategyScope
from planner.optimization.place_program import PlaceProgram
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import relax_program, solve_program
from planner.optimization.stays import Place
from planner.supply.candidates import Candidate

USED_SHARE = 1e-3
"""Of a workload: a home of the relaxation that has less is left by rounding."""


@dataclass(frozen=True, slots=True)
class HomeRanking:
    """The places of each workload: those that are used, and all as they lose least. `bound`: no plan costs less.
    `cut_by_clock`: the last resort of the solver ended it."""

    bound: float
    used: tuple[frozenset[Place], ...]
    nearest: tuple[tuple[Place, ...], ...]
    cut_by_clock: bool


def rank_homes(by_place: PlaceProgram, needs: int) -> HomeRanking | None:
    """The places of all workloads by the relaxation of the program by place; None where it has no solution: then no
    plan has one."""
    relaxed = relax_program(by_place.program)
    if relaxed.status == "infeasible":
        return None
    losses: list[list[tuple[float, Place]]] = [[] for _ in range(needs)]
    for (need, place), columns in by_place.homes.items():
        loss = min((relaxed.reduced_costs[column] for column in columns), default=0.0) if relaxed.values else 0.0
        losses[need].append((round(loss, 2), place))  # equal but for rounding is equal
    nearest = tuple(tuple(place for _, place in sorted(each)) for each in losses)
    bound = relaxed.bound if relaxed.values else -math.inf
    return HomeRanking(bound, _used_places(by_place, relaxed.values, needs), nearest, relaxed.cut_by_clock)


def improve_ranking(ranking: HomeRanking, by_place: PlaceProgram, work: float, gap: float) -> HomeRanking:
    """The ranking with the better bound, and the homes, of the same program in whole numbers."""
    found = solve_program(by_place.program, work=work, gap=gap)
    cut = ranking.cut_by_clock or found.cut_by_clock
    if not found.values:
        return replace(ranking, cut_by_clock=cut)
    both = zip(ranking.used, _used_places(by_place, found.values, len(ranking.used)), strict=True)
    used = tuple(one | other for one, other in both)
    return replace(ranking, bound=max(ranking.bound, found.bound), used=used, cut_by_clock=cut)


def _used_places(by_place: PlaceProgram, values: Sequence[float], needs: int) -> tuple[frozenset[Place], ...]:
    used: list[set[Place]] = [set() for _ in range(needs)]
    for (need, place), columns in by_place.homes.items():
        if values and any(values[column] > USED_SHARE for column in columns):
            used[need].add(place)
    return tuple(map(frozenset, used))


def keep_homes(
    setting: PlanningContext, allowed: StrategyScope, ranking: HomeRanking, nearest: int
) -> tuple[PlanningContext, StrategyScope]:
    """The same problem with only the homes that are used and so many of the nearest for each workload. Overflow of
    owned nodes and existing capacity stay."""
    stays = _keeps(setting, ranking, nearest)
    hourly = tuple(tuple(filter(stays, candidates)) for candidates in setting.choice.hourly)
    shared = []
    for item in allowed.shared:
        candidates = item.candidates if item.resource.held else tuple(filter(stays, item.candidates))
        if candidates or item.resource.held:
            shared.append(replace(item, candidates=candidates))
    choice = replace(setting.choice, hourly=hourly)
    return replace(setting, choice=choice), replace(allowed, shared=tuple(shared))


def close_homes(program: LinearProgram, setting: PlanningContext, ranking: HomeRanking, nearest: int) -> LinearProgram:
    """The whole program with no work at homes other than those of `keep_homes`: its solutions are solutions of both."""
    stays = _keeps(setting, ranking, nearest)
    closed = [not step.overflow and not stays(step.candidate) for step in program.steps]
    upper = [
        0.0 if column.kind == "work" and closed[column.owner] else most
        for column, most in zip(program.columns, program.upper, strict=True)
    ]
    return replace(program, upper=upper)


def _keeps(setting: PlanningContext, ranking: HomeRanking, nearest: int) -> Callable[[Candidate], bool]:
    """Tells the candidates at a place that stays."""
    resources = setting.market.resources
    kept = [used.union(places[:nearest]) for used, places in zip(ranking.used, ranking.nearest, strict=True)]
    return lambda candidate: resources[candidate.resource].place in kept[candidate.need]
