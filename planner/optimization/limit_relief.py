"""What is in the way of an impossible strategy: work that stays undone, and limits that would have to be higher."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from planner.optimization.home_constraints import list_tasks
from planner.optimization.linear_program import (
    FEASIBILITY,
    LinearProgram,
    ProgramArrays,
    RequestLimit,
    allow_shortage,
    keeps_rows,
    raise_limit,
    relax_limit,
)
from planner.optimization.model import build_program
from planner.optimization.narrowed_setting import NarrowedProblem, narrow_large_problem
from planner.optimization.program_parts import solve_used
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import UNSOLVED, Solution, find_conflict, solve_program
from planner.optimization.solver_model import LARGE_COLUMNS
from planner.optimization.strategy import NEGLIGIBLE_SHARE
from planner.result import StrategyName
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEGLIGIBLE_MULTIPLIER = 1e-9
"""Of the largest multiplier of a conflict of rows: smaller ones are rounding."""
EXPLAIN_WORK = 2e6
"""Work of each search for what is in the way of an impossible strategy, or what a higher limit is worth: beyond it that
is not known."""
ALL_LIMITS_WORK = 4e6
"""Work of such searches for all limits of one plan: each of several limits of 3,662 columns took 7 to 16 s."""
LARGE_WORK = 5e5
"""The same of all limits of a large program together: one of 8,781 columns had rounds of cuts of 6 s."""
TARGET_SEARCHES = 8
"""The most for one target on commitments, the first at the least strict: they halve a hundred per cents."""
LARGE_GAP = 0.05
"""Of the least work that stays undone, and of the least increase of a limit, in programs that are not searched to the
smallest gap."""
SEARCHED_COLUMNS = 2_500
"""Of larger programs the columns of the relaxation are searched: for how little work can stay undone (whole, one of
4,132 columns took 50 s), and for what a higher limit is worth (one of 3,757 took as long as its plan)."""
MOST_COLUMNS = 30_000
"""Of a program: a relaxation of 56,250 columns took 37 s, a search for a target on commitments of 51,110 33 s."""


@dataclass(frozen=True, slots=True)
class Shortage:
    """By workload index, the share of its work that stays undone (only those above 0). Not `is_known`: the search ended
    before it found any; not `is_least`: it ended before it was proven that no less can stay undone."""

    shares: dict[int, float]
    is_known: bool
    is_least: bool


@dataclass(frozen=True, slots=True)
class LimitRelief:
    """The amount of a limit that alone lets a strategy be planned; None: no amount does, or (not `is_known`) the search
    ended before one was found."""

    limit: RequestLimit
    enough: float | None
    is_known: bool


def share_work(searches: int, work: float) -> float:
    """The work of each of so many searches that share it: EXPLAIN_WORK at most."""
    return min(EXPLAIN_WORK, work / max(searches, 1))


def compute_shortage(name: StrategyName, setting: PlanningContext) -> Shortage:
    """The share of each workload's work that cannot be done at best under `name`; of large problems among the homes
    that `narrow_large_problem` keeps."""
    problem, program = _build_problem(name, setting)
    relaxed = allow_shortage(program)
    solution = _find_shortage(relaxed)
    missing: dict[int, float] = defaultdict(float)
    for column, value in zip(relaxed.columns, solution.values, strict=False):
        if column.kind == "short" and value > 0:
            missing[column.owner] += value
    shares = {need: value / len(tuple(list_tasks(need, setting.demands))) for need, value in sorted(missing.items())}
    large = {need: share for need, share in shares.items() if share > NEGLIGIBLE_SHARE}
    return Shortage(large, bool(solution.values), problem.is_whole and solution.status == "optimal")


def _find_shortage(program: LinearProgram) -> Solution:
    """The least work that stays undone; of a larger program by its relaxation, and by the whole where that is near."""
    columns = len(program.columns)
    if columns <= SEARCHED_COLUMNS:
        return solve_program(program, work=EXPLAIN_WORK)
    numbers = program.to_arrays()
    used = solve_used(numbers, EXPLAIN_WORK, LARGE_GAP, starts_feasible=True)
    if columns > LARGE_COLUMNS or not used.is_within(LARGE_GAP):
        return used
    return solve_program(numbers, start=used, work=EXPLAIN_WORK)


def relax_each_limit(name: StrategyName, setting: PlanningContext) -> list[LimitRelief]:
    """What each limit of an impossible strategy alone would have to be in all of its rows; of large problems among the
    homes that `narrow_large_problem` keeps. A limit without which the other rows still contradict each other is not
    searched."""
    problem, program = _build_problem(name, setting)
    limits, numbers = program.limits, program.to_arrays()
    conflict = find_conflict(numbers) if len(limits) > 1 else None
    shared = ALL_LIMITS_WORK if len(program.columns) <= LARGE_COLUMNS else LARGE_WORK
    work = share_work(len(limits), shared)
    reliefs = []
    for limit in limits:
        if conflict is not None and shows_conflict(numbers, _leave_out(conflict, program, limit)):
            reliefs.append(LimitRelief(limit, None, is_known=problem.is_whole))
        else:
            reliefs.append(_find_enough(program, limit, work, is_whole=problem.is_whole))
    return reliefs


def _build_problem(name: StrategyName, setting: PlanningContext) -> tuple[NarrowedProblem, LinearProgram]:
    """The problem of a strategy and its program; of large ones those that `narrow_large_problem` keeps."""
    problem = narrow_large_problem(name, setting)
    program = build_program(problem.setting, problem.scope)
    if problem.is_whole and len(program.columns) > MOST_COLUMNS:  # work by block has more columns than are counted
        problem = narrow_large_problem(name, setting, whole_columns=0)
        program = build_program(problem.setting, problem.scope)
    return problem, program


def _leave_out(multipliers: NDArray[np.float64], program: LinearProgram, limit: RequestLimit) -> NDArray[np.float64]:
    """The multipliers without those of the rows of a limit."""
    rest = multipliers.copy()
    rest[[row for row, of in enumerate(program.row_limit) if of == limit]] = 0.0
    return rest


def shows_conflict(numbers: ProgramArrays, multipliers: NDArray[np.float64]) -> bool:
    """Whether multipliers of rows show that no values within their bounds keep these rows: added up so, the rows demand
    more than any values give."""
    import numpy as np

    used = np.abs(multipliers) > NEGLIGIBLE_MULTIPLIER * np.abs(multipliers).max(initial=0.0)
    weights = np.where(used, multipliers, 0.0)
    sums = np.bincount(numbers.entry_column, weights[numbers.entry_row] * numbers.entry_value, len(numbers.cost))
    sums[np.abs(sums) <= NEGLIGIBLE_MULTIPLIER * np.abs(weights).max(initial=0.0)] = 0.0
    demanded = weights[used] * np.where(weights > 0, numbers.row_lower, numbers.row_upper)[used]
    given = sums[sums != 0] * np.where(sums > 0, numbers.upper, numbers.lower)[sums != 0]
    return bool(demanded.sum() - given.sum() > FEASIBILITY * np.abs(weights).sum())


def _find_enough(program: LinearProgram, limit: RequestLimit, work: float, *, is_whole: bool) -> LimitRelief:
    """The least amount of a limit that suffices, rounded up to a figure that was tried: the least itself holds only to
    the solver's tolerance. That none does is known of the whole program only."""
    solution = _find_least(relax_limit(program, limit), work)
    if not solution.values:
        return LimitRelief(limit, None, is_whole and solution.status != "unsolved")
    least, values = limit.amount + solution.objective, solution.values[:-1]  # the last one is what exceeds the limit
    for margin in (0.0, 1e-4, 1e-3, 1e-2):
        enough = _round_up(least * (1 + margin))
        raised = raise_limit(program, limit, enough - limit.amount)
        if keeps_rows(raised, values) or solve_program(raised, work=work, gap=1.0).values:
            return LimitRelief(limit, enough, is_known=True)
    return LimitRelief(limit, None, is_known=False)


def _find_least(program: LinearProgram, work: float) -> Solution:
    """The optimum; of a large program to LARGE_GAP or the best before a search branches, by its relaxation if that is
    near enough."""
    if len(program.columns) <= LARGE_COLUMNS:
        return solve_program(program, work=work)
    numbers = program.to_arrays()
    used = solve_used(numbers, work, LARGE_GAP, starts_feasible=True)
    if used.status == "infeasible" or used.is_within(LARGE_GAP):
        return used
    return solve_program(numbers, start=used, work=work, gap=LARGE_GAP, aim="root")


@dataclass(frozen=True, slots=True)
class TargetRelief:
    """The nearest whole per cent at which a target on commitments can be met with all other limits; None: it is not
    in the way alone, or the search ended before it met one."""

    name: str
    target: float
    attainable: float | None


def relax_each_target(name: StrategyName, setting: PlanningContext) -> list[TargetRelief]:
    """For each target on commitments, the share that an impossible strategy could meet; of large problems among the
    homes that `narrow_large_problem` keeps."""
    targets = setting.rules.commitment_targets
    if not targets:
        return []
    problem, program = _build_problem(name, setting)
    is_large = len(program.columns) > LARGE_COLUMNS
    work = share_work(TARGET_SEARCHES * len(targets), LARGE_WORK if is_large else EXPLAIN_WORK)
    search = partial(solve_program, work=work, gap=1.0, aim="start" if is_large else "optimum")
    return [
        TargetRelief(field_name, target, _relax_target(problem, field_name, target, search))
        for field_name, target in targets.items()
    ]


def _relax_target(
    problem: NarrowedProblem, field_name: str, target: float, search: Callable[[LinearProgram], Solution]
) -> float | None:
    """The nearest share that the plans of a search meet: one that was asked for less may meet more."""
    rules, known = problem.setting.rules, UNSOLVED

    def meets(percent: int) -> bool:
        nonlocal known
        limits = rules.limits.model_copy(update={field_name: percent / 100})
        program = build_program(replace(problem.setting, rules=replace(rules, limits=limits)), problem.scope)
        if known.values and keeps_rows(program, known.values):
            return True
        solution = search(program)
        known = solution if solution.values else known
        return bool(solution.values)

    strict, met = round(100 * target), 100 if field_name.endswith("_max") else 0
    if not meets(met):
        return None
    while abs(strict - met) > 1:
        middle = (strict + met) // 2
        strict, met = (strict, middle) if meets(middle) else (middle, met)
    return met / 100


def _round_up(amount: float) -> float:
    """To four digits and never below the amount."""
    if amount <= 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(amount)) - 3)
    return math.ceil(amount / step - 1e-9) * step
