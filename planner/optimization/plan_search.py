"""The search for the least-cost plan of a strategy, as long as its effort says. All of it is counted work, never time.

A small problem is solved whole. Of others the homes that matter come first (home_selection.py), which gives a plan and
a bound; then the whole problem is searched from that plan, where it is not too large.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from planner.optimization.home_selection import HomeRanking, close_homes, improve_ranking, keep_homes, rank_homes
from planner.optimization.linear_program import LinearProgram
from planner.optimization.model import StrategyScope, build_program, count_columns
from planner.optimization.place_program import build_place_program
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import GAP_TARGET, Solution, solve_program
from planner.request.models import Effort

SMALL_COLUMNS = 6_000
"""Programs of at most so many columns are solved whole, to the smallest gap."""
EXACT_COLUMNS = 15_000
"""Programs of at most so many columns are searched to the smallest gap, where they are searched whole."""
STEPWISE_COLUMNS, FIRST_STEP_GAP = 20_000, 1e-2
"""Programs of some homes with more columns are solved in two steps, the first to this gap."""
MORE_HOMES = 4
"""Times as many homes where a selection cannot do all of the work."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How long to search: `whole_columns` of a program that is searched whole, `nearest` homes of each workload for the
    first plan, the `work` of a search, and the `gap` that ends it. `place_columns`: of a program by place that is
    solved in whole numbers for its bound."""

    whole_columns: int
    nearest: int
    work: float
    gap: float
    place_columns: int


EFFORTS: Mapping[Effort, SearchLimits] = {
    "quick": SearchLimits(SMALL_COLUMNS, 1, 1e7, 5e-3, 0),
    "standard": SearchLimits(40_000, 2, 2e7, 5e-4, 30_000),
    "proof": SearchLimits(400_000, 8, 4e8, 1e-6, 100_000),
}


@dataclass(frozen=True, slots=True)
class SearchedPlan:
    """A solution of `program`, that of `allowed` in `setting`: of all homes, or some of a program of about
    `columns` columns. Its bound holds for all."""

    setting: PlanningContext
    allowed: StrategyScope
    program: LinearProgram
    solution: Solution
    columns: int


def search_plan(setting: PlanningContext, allowed: StrategyScope, bound: float = -math.inf) -> SearchedPlan:
    """The best plan that the effort of the request finds. `bound`: a bound that is known already, of a strategy that
    may do all that this one may."""
    limits, columns = EFFORTS[setting.effort], count_columns(setting, allowed)
    if columns <= SMALL_COLUMNS:
        program = build_program(setting, allowed)
        found = solve_program(program, work=limits.work)
        return SearchedPlan(setting, allowed, program, found, len(program.columns))
    by_place = build_place_program(setting, allowed)
    ranking = rank_homes(by_place, len(setting.demands.needs))
    if ranking is None:
        return SearchedPlan(setting, allowed, LinearProgram(), Solution("infeasible", 0.0, 0.0, ()), columns)
    gap = GAP_TARGET if columns <= EXACT_COLUMNS else limits.gap
    plan = _prove(_search_nearest(setting, allowed, ranking, limits, columns), bound)
    if _is_near(plan, gap):
        return plan
    if columns <= limits.whole_columns:
        return _prove(_search_whole(setting, allowed, ranking, replace(limits, gap=gap)), bound)
    if len(by_place.program.columns) <= limits.place_columns:
        better = improve_ranking(ranking, by_place, limits.work, limits.gap)
        plan = _prove(plan, better.bound)
        if not _is_near(plan, gap) and better.used != ranking.used:
            plan = _cheaper(plan, _search_nearest(setting, allowed, better, limits, columns))
    return plan


def _search_nearest(
    setting: PlanningContext, allowed: StrategyScope, ranking: HomeRanking, limits: SearchLimits, columns: int
) -> SearchedPlan:
    """The problem of the homes that matter, and of more where those cannot do all of the work: in the end of all."""
    nearest, most = limits.nearest, max(map(len, ranking.nearest), default=0)
    while True:
        part, scope = keep_homes(setting, allowed, ranking, nearest)
        program = build_program(part, scope)
        found = _solve_stepwise(program, limits)
        if found.status != "infeasible" or nearest >= most:
            cut = found.cut_by_clock or ranking.cut_by_clock
            bound = found.bound if nearest >= most else -math.inf
            plan = SearchedPlan(part, scope, program, replace(found, bound=bound, cut_by_clock=cut), columns)
            return _prove(plan, ranking.bound)
        nearest *= MORE_HOMES


def _search_whole(
    setting: PlanningContext, allowed: StrategyScope, ranking: HomeRanking, limits: SearchLimits
) -> SearchedPlan:
    """The whole problem, from the best plan with the homes that matter."""
    program = build_program(setting, allowed)
    closed = close_homes(program, setting, ranking, limits.nearest)
    first = solve_program(closed, work=limits.work, gap=limits.gap)
    found = solve_program(program, start=first, work=limits.work, gap=limits.gap)
    cut = found.cut_by_clock or first.cut_by_clock or ranking.cut_by_clock
    plan = SearchedPlan(setting, allowed, program, replace(found, cut_by_clock=cut), len(program.columns))
    return _prove(plan, ranking.bound)


def _solve_stepwise(program: LinearProgram, limits: SearchLimits) -> Solution:
    """A good solution. A large program is solved in two steps: the homes and all starts with everything else relaxed,
    then all the rest for those homes. Its bound is that of the first step."""
    if len(program.columns) <= STEPWISE_COLUMNS:
        return solve_program(program, work=limits.work, gap=limits.gap)
    kinds = [column.kind for column in program.columns]
    whole = [is_whole and kind in ("home", "start") for is_whole, kind in zip(program.whole, kinds, strict=True)]
    rough = solve_program(replace(program, whole=whole), work=limits.work, gap=max(limits.gap, FIRST_STEP_GAP))
    if not rough.values:
        return rough
    at_home = [
        (float(round(value)),) * 2 if kind == "home" else bounds
        for kind, value, *bounds in zip(kinds, rough.values, program.lower, program.upper, strict=True)
    ]
    lower, upper = ([bounds[side] for bounds in at_home] for side in (0, 1))
    found = solve_program(replace(program, lower=lower, upper=upper), work=limits.work, gap=limits.gap)
    if not found.values:
        return solve_program(program, work=limits.work, gap=limits.gap)
    return replace(
        found, bound=min(rough.bound, found.objective), cut_by_clock=rough.cut_by_clock or found.cut_by_clock
    )


def _cheaper(one: SearchedPlan, other: SearchedPlan) -> SearchedPlan:
    """The cheaper of two plans of one problem, with the better bound."""
    ranked = sorted((plan for plan in (one, other) if plan.solution.values), key=lambda plan: plan.solution.objective)
    return _prove(ranked[0], max(one.solution.bound, other.solution.bound)) if ranked else one


def _is_near(plan: SearchedPlan, gap: float) -> bool:
    found = plan.solution
    return bool(found.values) and found.objective - found.bound <= gap * abs(found.objective)


def _prove(plan: SearchedPlan, bound: float) -> SearchedPlan:
    """The plan with the better of two proven bounds, of its own search and another."""
    found = plan.solution
    if not found.values:
        return plan
    best = min(max(found.bound, bound), found.objective)
    near = found.objective - best <= GAP_TARGET * max(abs(found.objective), 1.0)
    return replace(plan, solution=replace(found, status="optimal" if near else "within_gap", bound=best))
