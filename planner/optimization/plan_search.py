"""The search for the least-cost plan of a strategy, as long as its effort says. All of it is counted work, never time.

A small problem is solved whole. Of others the relaxation of the program by place gives a bound. A search on the cost of
each home, or that program itself, chooses homes (home_selection.py), which gives a plan; then the whole problem is
searched from that plan among the homes that cheaper plans may have, where these are not too many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from planner.optimization.dominance import build_choice_set
from planner.optimization.home_selection import (
    HomeChoice,
    HomeRanking,
    carry_plan,
    choose_homes,
    find_homes,
    fix_starts,
    improve_homes,
    keep_homes,
    rank_homes,
    rank_overflow,
)
from planner.optimization.linear_program import LinearProgram, keeps_rows
from planner.optimization.model import StrategyScope, build_program, count_columns
from planner.optimization.place_program import PlaceProgram
from planner.optimization.program_parts import (
    FAR_GAP,
    drop_costly_values,
    may_cost,
    solve_parts,
    solve_settled,
    solve_used,
)
from planner.optimization.promising_stays import PromisingStays, relax_promising
from planner.optimization.search_end import LEAST_WORK, allows_relaxation, grant_work, work_left
from planner.optimization.search_limits import EFFORTS, SMALL_COLUMNS, SearchLimits
from planner.optimization.search_progress import bounds_listener
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import (
    GAP_TARGET,
    NO_SOLUTION,
    RELAXED_COLUMNS,
    UNSOLVED,
    Solution,
    is_impossible,
    relax_program,
    solve_program,
    solve_small_program,
    take_if_whole,
)
from planner.optimization.solver_model import SearchAim
from planner.optimization.stays import Place
from pricing.frozen_values import dataclass

EXACT_COLUMNS = 15_000
"""Programs of at most so many columns are searched to the smallest gap, where they are searched whole."""
LARGE_WORK, VERY_FAR_GAP, FAR_BOUND_WORK = 0.2, 0.25, 0.3
"""Share of the work of a search that larger ones have: each occasion of theirs takes 0.1 s and more. Share of that for
the bound of all, where the plan stays so far above it (33,333 columns: 11 instead of 28 s, the bound 0.3 % lower)."""
LITTLE_MORE = 0.01
"""Of the relaxation: the most that a unit may add in a search for a plan of a large program. One of 22,968 columns has
a plan that is 36 % cheaper there in 9 s and its bound in 10 s more; at once they took 75 s, for a plan 2 % dearer."""
NEAR_GAP = 0.02
"""From a plan that is nearer to its bound, the whole is searched for the bound alone: from one 2.4 % above it, a
search of 19,728 columns for a plan, too, took 9 instead of 6 s and found one that is 0.7 % cheaper."""
UNITS_LOSS = 0.01
"""Above the program by place, units that it chose are chosen again with all that it leaves out."""
NEAREST_OVERFLOW = 4
"""Places for the overflow of each workload at chosen homes: all of them make programs of 340,000 columns."""
HOURLY_COLUMNS, HOURLY_GAP, HOURLY_WORK = 50_000, 0.1, 0.1
"""Programs of chosen homes with more columns are planned from work that is paid by the hour, to this gap with this
share of the work: a search of 90,000 columns found no plan in six minutes, and so takes 20 s."""
MORE_HOMES, FEWER_HOMES, NEARLY_ALL, HUGE_COLUMNS = 4, 2, 2, 400_000
"""Times as many homes where a selection cannot do all of the work; all, if they are not many more, or before a large
selection unless all are huge (328,087 columns have a plan in 25 s, 597,291 none in five minutes)."""
MOST_COLUMNS, MOST_KNOWN = 0.8, 0.5
"""Of all columns: a selection with more is not searched for a first or for a better plan. A search of 9,352 columns for
one took 18 s, that of all 10,779 from its plan 15 s, without it 27 s, with the same plan."""
MORE_WORK = START_WORK = 0.1
"""Of the work of a search, for a better plan among more homes, or for a start."""
STARTED_COLUMNS = 1_500
"""A program with more is searched from a start: one of 5,474 columns came to its first plan after 36 s of rounds of
cuts, to its optimum after 54, begun with a plan 4 % dearer (0.4 s) after 23; one of 2,227 takes 1.5 instead of 6 s."""


@dataclass(frozen=True, slots=True)
class SearchedPlan:
    """A solution of `program`, that of `allowed` in `setting`: of all homes, or some of a program of about `columns`
    columns. Its bound holds for all. The `homes` and the places for `overflow` that its search began with (none: all),
    and the `choice` that these are of."""

    setting: PlanningContext
    allowed: StrategyScope
    program: LinearProgram
    solution: Solution
    columns: int
    homes: Sequence[frozenset[Place]] = ()
    overflow: Sequence[frozenset[Place]] = ()
    choice: HomeChoice | None = None


def search_plan(
    setting: PlanningContext, scope_of: Callable[[PlanningContext], StrategyScope], bound: float = -math.inf
) -> SearchedPlan:
    """The best plan of a strategy that the effort of the request finds. `bound`: a bound that is known already, of a
    strategy that may do all that this one may.

    Where what is left out could keep targets on commitments for less, the bound is that of the same problem without
    these targets, whose plan is the answer where it keeps them.
    """
    plan = _search_targets(setting, scope_of, bound)
    if not setting.rules.commitment_targets:
        return plan
    return replace(plan, solution=solve_settled(plan.program, plan.solution))


def _search_targets(
    setting: PlanningContext, scope_of: Callable[[PlanningContext], StrategyScope], bound: float
) -> SearchedPlan:
    """The same, with targets on commitments kept to the tolerance of the search."""
    if not setting.choice.is_partial:
        return _search_choice(setting, scope_of(setting), bound)
    rules = setting.rules.without_commitment_targets()
    choice = build_choice_set(setting.market, setting.demands, setting.assumptions, setting.terms, rules)
    without = replace(setting, rules=rules, choice=choice)
    free = _search_choice(without, scope_of(without), bound)
    if not free.solution.values:
        return free
    targeted = replace(free.setting, rules=setting.rules)
    program = build_program(targeted, free.allowed)
    if keeps_rows(program, free.solution.values):
        return replace(free, setting=targeted, program=program)
    plan = _search_choice(setting, scope_of(setting), -math.inf, proves=False)
    return _prove(replace(plan, solution=replace(plan.solution, bound=-math.inf)), free.solution.bound)


def _search_choice(
    setting: PlanningContext, allowed: StrategyScope, bound: float, *, proves: bool = True
) -> SearchedPlan:
    """The best plan of the choice as it is, with its bound. Not `proves`: the bound is not used, so that a large
    program is searched only among units that add little to its relaxation."""
    limits, columns, report = EFFORTS[setting.effort], count_columns(setting, allowed), bounds_listener()
    if columns <= SMALL_COLUMNS:
        whole = build_program(setting, allowed)
        if len(whole.columns) <= SMALL_COLUMNS:  # gangs and replicas have columns that are not counted before
            work, gap, has_start = limits.work, limits.small_gap, len(whole.columns) > STARTED_COLUMNS
            begin = partial(solve_used, work=START_WORK * work, gap=gap) if has_start else None
            solution = solve_small_program(whole, work=work, gap=gap, find_start=begin, report=report)
            return SearchedPlan(setting, allowed, whole, solution, len(whole.columns))
    promising = relax_promising(setting, allowed, limits.gap, limits.rounds)
    ranking = rank_homes(promising)
    if ranking is None:
        return SearchedPlan(setting, allowed, LinearProgram(), Solution("infeasible", 0.0, 0.0, ()), columns)
    gap = GAP_TARGET if columns <= EXACT_COLUMNS else limits.gap
    overflow = [rank_overflow(setting, index) for index in range(len(setting.demands.needs))]
    search = _Search(setting, allowed, promising, ranking, limits, columns, overflow, proves)
    if report is not None:
        report(math.inf, max(bound, ranking.bound))
    plan = _prove(search.search_nearest(limits.nearest), bound)
    if report is not None and plan.solution.values:
        report(plan.solution.objective, plan.solution.bound)
    if plan.solution.status == "infeasible" or plan.solution.is_within(gap):
        return plan
    if (narrowed := search.narrow(plan)) is None:
        return plan
    far = limits.far if columns > limits.whole_columns else math.inf
    return _prove(_cheaper(plan, _search_whole(narrowed, limits.work, gap, far, proves=proves)), bound)


def _search_whole(plan: SearchedPlan, work: float, gap: float, far: float, *, proves: bool) -> SearchedPlan:
    """The best plan of the whole program of a plan that is known, if it has values; the same one where the relaxation
    of a large program is `far` from it. Of a large one first units that add little to its relaxation, unless the plan
    is near its bound; only these if not `proves`; if it stays very far then, of all only the bound."""
    numbers, report, known = plan.program.to_arrays(), bounds_listener(), plan.solution
    is_large = len(plan.program.columns) > EXACT_COLUMNS
    work, stays_far = work * (LARGE_WORK if is_large else 1), False
    if known.values and (relaxed := relax_program(numbers)).values:
        plan = _prove(plan, relaxed.objective)
        is_far = is_large and known.objective - relaxed.objective > far * abs(known.objective)
        if is_far or work_left() <= 0 or plan.solution.is_within(gap):
            return plan
        if (optimum := take_if_whole(numbers, relaxed)) is not None:
            return replace(plan, solution=optimum)
        if is_large and not (proves and plan.solution.is_within(FAR_GAP)):
            work /= 2 if proves else 1
            little = drop_costly_values(numbers, relaxed, known, LITTLE_MORE)
            found = solve_program(little, start=known, work=work, gap=gap)  # reports none of its bounds
            plan = _cheaper(plan, replace(plan, solution=found.bounded_by(plan.solution.bound)))
            stays_far = not plan.solution.is_within(VERY_FAR_GAP)
        if is_large and not proves:
            return plan
        numbers = drop_costly_values(numbers, relaxed, plan.solution)
    aim: SearchAim = "bound" if stays_far or plan.solution.is_within(NEAR_GAP) else "optimum"
    work *= FAR_BOUND_WORK if stays_far else 1
    solution = solve_program(numbers, start=plan.solution, work=work, gap=gap, aim=aim, report=report)
    return _cheaper(plan, replace(plan, solution=solution))


@dataclass(frozen=True, slots=True)
class _Search:
    """The search of a problem of about `columns` columns; `overflow` are the places that may take that of each
    workload, as `rank_overflow` gives them."""

    setting: PlanningContext
    allowed: StrategyScope
    promising: PromisingStays
    ranking: HomeRanking
    limits: SearchLimits
    columns: int
    overflow: list[list[list[Place]]]
    proves: bool
    """Whether its bound is used."""

    def search_nearest(self, nearest: int) -> SearchedPlan:
        """Homes found by moves and their best units; the model decides all the rest. Where that plan is not near enough
        to the bound, the program by place chooses among so many of the nearest (all where it is small). Where neither
        can do all of the work, or only far above the bound, or no work is left, the model alone, with more homes."""
        limits, ranking, by_place = self.limits, self.ranking, self.promising.program
        has_work = allows_relaxation(len(by_place.program.columns))
        choice = find_homes(by_place, self.setting, self.allowed, ranking, limits.work) if has_work else None
        best = self.solve_choice(choice)
        if best is None or not best.solution.is_within(limits.near):
            if (everything := self._list_all(best)) is not None:
                best = self._choose_all(best, everything)
            elif limits.chooses_nearest and allows_relaxation(len(by_place.program.columns)):
                choice = choose_homes(by_place, ranking, nearest, limits.work, limits.gap)
                best = self._take_better(best, choice, is_bound=False)
        whole = build_program(self.setting, self.allowed) if best is None else LinearProgram()
        if best is None and is_impossible(whole):
            return SearchedPlan(self.setting, self.allowed, whole, NO_SOLUTION, self.columns)
        taking = (places for groups in self.overflow for places in groups)
        more, most = max(nearest, 1), max(map(len, (*ranking.nearest, *taking)), default=0)
        tried = 0 if best is None else len(best.program.columns)
        grant_work(LEAST_WORK if best is None else 0.0)
        while best is None or not self._is_enough(best, tried):
            homes = [used.union(near[:more]) for used, near in zip(ranking.used, ranking.nearest, strict=True)]
            known = best if best is not None and best.solution.values else None
            more_taking = self._nearest_overflow(more)
            share = MOST_COLUMNS if known is None else MOST_KNOWN
            some = keep_homes(self.setting, self.allowed, homes, more_taking)
            if self.columns <= limits.whole_columns and count_columns(*some) > share * self.columns:
                return known or SearchedPlan(self.setting, self.allowed, whole, UNSOLVED, self.columns)
            searched = self if known is None else replace(self, limits=replace(limits, work=MORE_WORK * limits.work))
            aim: SearchAim = "better" if known else "plan" if more >= most else "trial"
            plan = searched.solve_homes(homes, more_taking, aim=aim)
            best, tried = plan if best is None else _cheaper(best, plan), len(plan.program.columns)
            # none of a larger program would be sooner, and a search of the whole that follows goes on from the first
            if known and (self.columns <= min(EXACT_COLUMNS, limits.whole_columns) or not plan.solution.values):
                return best
            size, is_large = len(whole.columns), min(len(whole.columns), MORE_HOMES * tried) > RELAXED_COLUMNS
            is_searched = size <= limits.whole_columns and (more >= most or size <= NEARLY_ALL * tried)
            if not best.solution.values and (is_searched or (more < most and is_large and size <= HUGE_COLUMNS)):
                return SearchedPlan(self.setting, self.allowed, whole, UNSOLVED, self.columns)
            if more >= most:
                return best
            more *= FEWER_HOMES if is_large else MORE_HOMES
        return best

    def _is_enough(self, plan: SearchedPlan, tried: int) -> bool:
        """Whether there is a plan that is not far from its bound, or with more homes the program that was tried last,
        of so many columns, would be larger than one that is searched whole."""
        is_large = tried * MORE_HOMES > self.limits.whole_columns
        is_last = is_large or not self.proves or work_left() <= 0
        return bool(plan.solution.values) and (is_last or plan.solution.is_within(FAR_GAP))

    def narrow(self, plan: SearchedPlan) -> SearchedPlan | None:
        """The plan as one of the program of all homes that cheaper plans have, whose bound so holds for all; None where
        that program is too large to be searched whole."""
        most = self.limits.whole_columns
        if not plan.solution.values:
            return None if plan.homes else plan
        if most <= SMALL_COLUMNS:
            return None
        stays = self.promising.list_within(plan.solution.objective - self.ranking.bound)
        homes = [known.union(stay.place for stay in each) for each, known in zip(stays, plan.homes, strict=True)]
        taking = [{stay.overflow for stay in each if stay.overflow is not None} for each in stays]
        overflow = [places | more for places, more in zip(plan.overflow, taking, strict=True)]
        part, scope = keep_homes(self.setting, self.allowed, homes, overflow)
        program = build_program(part, scope) if count_columns(part, scope) <= most else None
        if program is None or len(program.columns) > most:
            return None
        work = MORE_WORK * self.limits.work
        solution = carry_plan(program, plan.program, plan.solution.values, work, self.limits.gap)
        if not solution.values:
            return None
        cut = solution.cut_by_clock or plan.solution.cut_by_clock
        # its own bound is of these units and shares alone
        known = replace(solution, cut_by_clock=cut).bounded_by(plan.solution.bound)
        return replace(plan, setting=part, allowed=scope, program=program, solution=known)

    def _list_all(self, best: SearchedPlan | None) -> PlaceProgram | None:
        """The program by place of all stays of plans that are cheaper than the best one; None where it is too large,
        sooner without a plan: the reason that the first choice cannot do the work may be outside of such programs."""
        most_columns = self.limits.place_columns if best is not None else min(self.limits.place_columns, EXACT_COLUMNS)
        if len(self.promising.program.program.columns) > most_columns:
            return None
        reach = best.solution.objective - self.ranking.bound if best is not None else math.inf
        widened = self.promising.widen(self.setting, self.allowed, reach)
        return widened if len(widened.program.columns) <= most_columns else None

    def _choose_all(self, best: SearchedPlan | None, everything: PlaceProgram) -> SearchedPlan | None:
        """The better of the best plan and that of homes chosen among all, whose bound holds for all plans that are
        cheaper than the best one."""
        work, gap = self.limits.work, self.limits.gap
        if best is None or best.choice is None:
            choice = choose_homes(everything, self.ranking, None, work, gap)
        else:
            choice = improve_homes(everything, best.choice, work, gap)
        return self._take_better(best, choice, is_bound=True)

    def _take_better(
        self, best: SearchedPlan | None, choice: HomeChoice | None, *, is_bound: bool
    ) -> SearchedPlan | None:
        """The better of the best plan so far and that of a choice, unless it is the same. `is_bound`: the choice is of
        the whole problem, so that its bound holds for all plans."""
        if choice is None:
            return best
        if best is None or best.choice is None or not choice.is_same(best.choice):
            plan = self.solve_choice(choice, "trial" if best is None else "better")
            best = _cheaper(best, plan) if best is not None and plan is not None else best or plan
        return _prove(best, choice.bound) if best is not None and is_bound else best

    def solve_choice(self, choice: HomeChoice | None, aim: SearchAim = "trial") -> SearchedPlan | None:
        """The plan of a choice with its units at each start. Where these cannot do the work, or not for about as much:
        with the best units for its homes, and overflow to the nearest places, too; where the program is too large to be
        searched so, with more of the same units, if they can. None where no units can."""
        if choice is None:
            return None
        near = self._nearest_overflow(NEAREST_OVERFLOW)
        named = [
            frozenset((choice.overflow[need],)) if need in choice.overflow else places
            for need, places in enumerate(near)
        ]
        most = choice.cost * (1 + UNITS_LOSS)
        plan = self.solve_homes(choice.used, named, choice.units, most=most, aim=aim)
        is_large = len(plan.program.columns) > HOURLY_COLUMNS
        if is_large and (not plan.solution.values or plan.solution.objective > most):
            plan = _cheaper(plan, self.solve_homes(choice.used, named, choice.units, at_least=True, aim=aim))
        if not plan.solution.values or (plan.solution.objective > most and not is_large):
            wider = [one | other for one, other in zip(named, near, strict=True)]
            plan = _cheaper(plan, self.solve_homes(choice.used, wider, aim=aim))
        cut = plan.solution.cut_by_clock or choice.cut_by_clock
        solution = replace(plan.solution, cut_by_clock=cut)
        return replace(plan, solution=solution, choice=choice) if solution.values else None

    def _nearest_overflow(self, most: int) -> list[frozenset[Place]]:
        """By workload, so many of the cheapest places for its overflow."""
        return [frozenset(place for places in groups for place in places[:most]) for groups in self.overflow]

    def solve_homes(
        self,
        homes: Sequence[frozenset[Place]],
        overflow: Sequence[frozenset[Place]],
        units: Mapping[tuple[int, int], float] | None = None,
        *,
        at_least: bool = False,
        most: float = math.inf,
        aim: SearchAim = "trial",
    ) -> SearchedPlan:
        """The problem of some homes and places for overflow; with these `units` at each start (its owner and month), or
        `at_least` as many. Unsolved where the relaxation costs more than `most`, unless it is a large program."""
        part, scope = keep_homes(self.setting, self.allowed, homes, overflow)
        program, limits = build_program(part, scope), self.limits
        fixed = program if units is None else fix_starts(program, units, at_least=at_least)
        is_large = len(fixed.columns) > HOURLY_COLUMNS
        solution = self._solve_from_hours(fixed) if is_large and units is None else None
        if not is_large and most < math.inf and not may_cost(fixed, most):
            solution = UNSOLVED
        if solution is None:
            solution = solve_parts(fixed, limits.work, limits.gap, aim)
        cut = solution.cut_by_clock or self.ranking.cut_by_clock
        solution = replace(solution, bound=self.ranking.bound, cut_by_clock=cut)
        return _prove(SearchedPlan(part, scope, program, solution, self.columns, homes, overflow), -math.inf)

    def _solve_from_hours(self, program: LinearProgram) -> Solution | None:
        """A plan of a program too large to be searched: the best of what its relaxation uses and a plan without
        commitments and purchases. None where there is no such plan."""
        work, gap = self.limits.work, self.limits.gap
        by_hour = solve_parts(fix_starts(program, {}), work * HOURLY_WORK, HOURLY_GAP, "start")
        return solve_used(program.to_arrays(), work, gap, by_hour) if by_hour.values else None


def _cheaper(one: SearchedPlan, other: SearchedPlan) -> SearchedPlan:
    """The cheaper of two plans of one problem, with the better bound, cut by the clock where either is; the other where
    neither is one."""
    known = (plan for plan in (one, other) if plan.solution.values)
    best = min(known, key=lambda plan: plan.solution.objective, default=other)
    solution = replace(best.solution, cut_by_clock=one.solution.cut_by_clock or other.solution.cut_by_clock)
    return _prove(replace(best, solution=solution), max(one.solution.bound, other.solution.bound))


def _prove(plan: SearchedPlan, bound: float) -> SearchedPlan:
    """The plan with the better of two proven bounds, of its own search and another."""
    solution = plan.solution
    return replace(plan, solution=solution.bounded_by(max(solution.bound, bound))) if solution.values else plan
