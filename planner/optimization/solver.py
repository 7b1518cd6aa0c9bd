"""A program in, the best values and the proof out. With solver_model.py the only file that knows the solver (HiGHS
through highspy, plain arrays)."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from planner.optimization.linear_program import LinearProgram, ProgramArrays
from planner.optimization.search_end import (
    FIRST_PLAN,
    STALL,
    STALL_SHARE,
    Report,
    limit_by_budget,
    limit_search,
    limit_work,
    spend_on_relaxation,
    spend_work,
    work_left,
)
from planner.optimization.search_progress import note_cut, seconds_left
from planner.optimization.solver_model import (
    AGGREGATION,
    LARGE_COLUMNS,
    SMALL_SEARCH,
    Basis,
    SearchAim,
    load_solver,
    options_of,
    read_basis,
    set_basis,
)
from planner.request.errors import InternalError
from planner.supply.recent_values import RecentValues
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GAP_TARGET = 1e-6
"""Relative distance of the best plan from the proven bound at which the search ends: 0.0001 %."""
SEARCH_WORK = 4e7
"""Work after which a search ends with the best plan so far: occasions at which the solver may be interrupted, times
columns, FEWEST_COLUMNS at least. Counted, so that the same program ends the same on every machine."""
FEWEST_COLUMNS = 1_000
GLANCE, CONFIRMATION = 0.3, 1.0
"""Occasions of a search that only looks whether there is a solution at all, and of one without presolve that confirms
that a large program has none."""
GLANCED_COLUMNS, RELAXED_COLUMNS = 30_000, 100_000
"""Of larger programs the presolve takes 20 s and more, the relaxation 2 to 5; of the largest either may take long
(the relaxation of 267,175 columns more than four minutes)."""
TIME_LIMIT_S = 600.0
"""A last resort: a plan cut off by it has the status within_gap, as the cut depends on the machine."""
PRIMAL, PRIMAL_COLUMNS = 4, 2
"""The primal simplex method, and the columns for each row from which on it is taken where all work may stay undone: an
eighth to a third of the time of the dual one with five columns a row (2.6 instead of 7.8 to 21 s), but 12 to 27 instead
of 0.3 to 2.4 s with one."""
INTERIOR_ROWS, INTERIOR_COLUMNS = 50_000, 1.2
"""Such a relaxation with more rows than this goes by interior points, if it has more columns for each than this and at
most PRIMAL_COLUMNS: 22 s with 1.5 (98,190 columns; dual 92, primal 48), but 12 to 17 instead of 2 s with one."""
WHOLE = 1e-9
"""A number of units nearer than this to a whole one is one."""
SMALL_ENTRY, EXACT = 1e-6, {"mip_feasibility_tolerance": 1e-9, "primal_feasibility_tolerance": 1e-9}
"""A program with smaller entries (work that needs next to nothing of a node) is searched with tolerances below them:
with those of 1e-6, presolve loses solutions (HiGHS 1.15.1 called a plan of 43,685 optimal where one of 1,516 is)."""
RELAXATION_ACCURACY = 1e-6
"""How far a relaxation may come out above its optimum: its tolerances are a tenth of this."""


StartSearch = Callable[[ProgramArrays], "Solution"]
"""Finds a solution to begin the search of a program with; one without values where it has none."""
VALUES_REMEMBERED = 1_000_000
"""Numbers in all solutions that are remembered (32 MB)."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The best known values, by column. `bound` is proven: no solution costs less; minus infinity where nothing is.
    Infeasible (proven) and unsolved (out of work or time): no values. `reduced_costs` of the columns and `multipliers`
    of the rows, and the `basis`: of a relaxation only.
    `cut_by_clock`: the last resort ended it: another machine may find another. `spent`: of a remembered one, the work
    that it took (search_end.py)."""

    status: Literal["optimal", "within_gap", "infeasible", "unsolved"]
    objective: float
    bound: float
    values: tuple[float, ...]
    reduced_costs: tuple[float, ...] = ()
    multipliers: tuple[float, ...] = ()
    cut_by_clock: bool = False
    basis: Basis | None = None
    spent: float = 0.0

    def is_within(self, gap: float) -> bool:
        """Whether it has values whose cost is at most this share of it above the bound."""
        return bool(self.values) and self.objective - self.bound <= gap * abs(self.objective)

    def bounded_by(self, bound: float) -> Solution:
        """The same values with this bound, which is proven: optimal where that is within GAP_TARGET."""
        least = min(bound, self.objective)
        is_near = self.objective - least <= GAP_TARGET * max(abs(self.objective), 1.0)
        return replace(self, status="optimal" if is_near else "within_gap", bound=least)


NO_SOLUTION = Solution("infeasible", 0.0, -math.inf, ())
UNSOLVED = replace(NO_SOLUTION, status="unsolved")

KnownSolutions = RecentValues[Solution]
"""The last solutions by the digest of their programs."""


def new_known_solutions() -> KnownSolutions:
    """None yet."""
    return RecentValues(
        VALUES_REMEMBERED, lambda each: len(each.values) + len(each.reduced_costs) + len(each.multipliers)
    )


_SOLUTIONS: ContextVar[KnownSolutions | None] = ContextVar("solutions", default=None)


def solve_program(
    program: LinearProgram | ProgramArrays,
    time_limit_s: float = TIME_LIMIT_S,
    start: Solution | None = None,
    work: float = SEARCH_WORK,
    gap: float = GAP_TARGET,
    *,
    aim: SearchAim = "optimum",
    report: Report | None = None,
) -> Solution:
    """The least-cost solution. One thread and a fixed seed: equal programs give equal values.

    `start` is a solution to begin from, of a program with the same columns; `gap` the relative distance from the bound
    at which the search ends. `report` hears of the best cost and the bound while it lasts.
    Raises InternalError when the solver stops for another reason than its work or the time.
    """
    numbers = program.to_arrays() if isinstance(program, LinearProgram) else program
    search = partial(_search_program, numbers, time_limit_s, start, report, work, gap, aim)
    known = () if start is None else start.values
    return _solve_once(_digest_program(numbers, (time_limit_s, work, gap, aim, known)), search)


def _search_program(
    numbers: ProgramArrays,
    time_limit_s: float,
    start: Solution | None,
    report: Report | None,
    work: float,
    gap: float,
    aim: SearchAim = "optimum",
    options: Mapping[str, float | str] | None = None,
) -> Solution:
    run = partial(_run_search, numbers, time_limit_s, start, report)
    solution = run(work, gap, aim, options)
    if solution.status == "infeasible" and aim not in ("trial", "better", "used", "start") and numbers.whole.any():
        # Rules of the presolve of HiGHS 1.15.1 took programs for infeasible that have solutions (its issue 3296).
        columns = len(numbers.cost)
        enough = work / FIRST_PLAN if columns <= LARGE_COLUMNS else CONFIRMATION * columns
        confirmed = run(enough, gap, aim, {**(options or {}), "presolve": "off"})
        return solution if confirmed.status == "unsolved" else confirmed
    return solution


def solve_small_program(
    program: LinearProgram,
    *,
    work: float,
    gap: float = GAP_TARGET,
    find_start: StartSearch | None = None,
    report: Report | None = None,
) -> Solution:
    """The same as `solve_program` for programs whose relaxation takes far less time than a search: where it has no
    solution there is none, and where its optimum is whole that is the optimum. `find_start`: of a search, if there is
    one; the same for equal programs."""
    numbers = program.to_arrays()
    key = _digest_program(numbers, ("small", work, gap, find_start is not None))
    return _solve_once(key, lambda: _relax_or_search(numbers, find_start, work, gap, report))


def _relax_or_search(
    numbers: ProgramArrays, find_start: StartSearch | None, work: float, gap: float, report: Report | None
) -> Solution:
    relaxed = _run_relaxation(numbers, None, {"presolve": "off"})
    if relaxed.status == "infeasible":
        return relaxed
    if (optimum := take_if_whole(numbers, relaxed)) is not None:
        return optimum
    start = None if find_start is None else find_start(numbers)
    return _search_program(numbers, TIME_LIMIT_S, start, report, work, gap, options=SMALL_SEARCH)


def take_if_whole(numbers: ProgramArrays, relaxed: Solution) -> Solution | None:
    """The optimum of a relaxation as that of its program, where it is whole; else None."""
    import numpy as np

    values = np.array(relaxed.values)
    if not relaxed.values:
        return None
    nearest = np.rint(values[numbers.whole]) + 0.0  # no negative zeros
    if np.abs(nearest - values[numbers.whole]).max(initial=0.0) > WHOLE:
        return None
    values[numbers.whole] = nearest
    return Solution("optimal", relaxed.objective, relaxed.objective, tuple(values.tolist()))


@contextmanager
def remember_solutions(known: KnownSolutions | None = None) -> Iterator[None]:
    """Within it, a program that is equal to one of the last solved, or to one of `known`, has its solution: plans that
    are made again with other figures have many programs in common."""
    token = _SOLUTIONS.set(new_known_solutions() if known is None else known)
    try:
        yield
    finally:
        _SOLUTIONS.reset(token)


def _solve_once(key: bytes, solve: Callable[[], Solution]) -> Solution:
    known = _SOLUTIONS.get()
    if known is None:
        return solve()
    solution = known.find(key)
    if solution is not None and solution.spent <= max(work_left(), 0.0):  # else it would be cut now
        spend_work(solution.spent)
        return solution
    with limit_work() as budget:
        solution = solve()
    if not solution.cut_by_clock and not budget.is_cut:
        solution = replace(solution, spent=budget.spent)
        known.add(key, solution)
    return solution


def _digest_program(numbers: ProgramArrays, options: tuple[object, ...]) -> bytes:
    """Equal for equal programs that are solved alike."""
    if _SOLUTIONS.get() is None:
        return b""
    digest = hashlib.sha256(repr(options).encode())
    for each in fields(numbers):
        digest.update(getattr(numbers, each.name).tobytes())
        digest.update(b"|")
    return digest.digest()


def _run_search(
    numbers: ProgramArrays,
    time_limit_s: float,
    start: Solution | None,
    report: Report | None,
    work: float,
    gap: float,
    aim: SearchAim,
    more: Mapping[str, float | str] | None = None,
) -> Solution:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads for a linear algebra unused here
    import highspy

    columns = len(numbers.cost)
    exact = EXACT if abs(numbers.entry_value).min(initial=1.0) < SMALL_ENTRY else {}
    options = {"random_seed": 0, "mip_rel_gap": gap, **options_of(columns, aim), **exact, **(more or {})}
    highs = load_solver(numbers, time_limit=seconds_left(time_limit_s), **options)
    if start is not None and start.values:
        known = highspy.HighsSolution()
        known.col_value = list(start.values)
        highs.setSolution(known)
    integer = bool(numbers.whole.any())
    if integer:
        stall = max(STALL, STALL_SHARE * work) / columns if columns > LARGE_COLUMNS else math.inf
        highs.cbMipInterrupt += limit_search(work, max(columns, FEWEST_COLUMNS), stall, aim, report)
        highs.cbMipInterrupt += limit_by_budget(columns, needs_plan=aim != "better")
    highs.run()
    status = highs.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return NO_SOLUTION
    info = highs.getInfo()
    cut = status == highspy.HighsModelStatus.kTimeLimit
    if cut:
        note_cut()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        if cut or status in (highspy.HighsModelStatus.kInterrupt, highspy.HighsModelStatus.kSolutionLimit):
            return replace(UNSOLVED, cut_by_clock=cut)
        raise InternalError(f"the solver stopped without a solution: {highs.modelStatusToString(status)}")
    best = info.objective_function_value
    is_optimal = status == highspy.HighsModelStatus.kOptimal
    bound = info.mip_dual_bound if integer else best if is_optimal else -math.inf
    proven = is_optimal and (best - bound <= GAP_TARGET * max(abs(best), 1e-9) + 1e-9)
    return Solution(
        "optimal" if proven else "within_gap",
        best,
        bound if math.isfinite(bound) else -math.inf,
        tuple(highs.getSolution().col_value),
        cut_by_clock=cut,
    )


def relax_program(
    program: LinearProgram | ProgramArrays, basis: Basis | None = None, *, starts_feasible: bool = False
) -> Solution:
    """The optimum of the linear relaxation, with the reduced costs of the columns; infeasible where it has none. It
    goes on from a `basis`, if there is one: several optima may be equal, and this may be another. `starts_feasible`: a
    solution of all rows is at hand, and only its cost is high."""
    numbers = program.to_arrays() if isinstance(program, LinearProgram) else program
    rows = len(numbers.row_lower)
    method: dict[str, float | str] = {}
    if starts_feasible and len(numbers.cost) > PRIMAL_COLUMNS * rows:
        method = {"simplex_strategy": PRIMAL}
    elif starts_feasible and rows > INTERIOR_ROWS and len(numbers.cost) > INTERIOR_COLUMNS * rows:
        method = {"solver": "ipm"}
    spend_on_relaxation(len(numbers.cost), goes_on=basis is not None)
    key = _digest_program(numbers, ("relaxed", basis, starts_feasible))
    return _solve_once(key, lambda: _run_relaxation(numbers, basis, method))


def is_impossible(program: LinearProgram) -> bool:
    """Whether the beginning of a search shows that there is no solution; of large programs their relaxation, of the
    largest nothing."""
    if len(program.columns) > GLANCED_COLUMNS:
        return len(program.columns) <= RELAXED_COLUMNS and relax_program(program).status == "infeasible"
    return solve_program(program, work=GLANCE * len(program.columns)).status == "infeasible"


def find_conflict(numbers: ProgramArrays) -> NDArray[np.float64] | None:
    """Multipliers of rows that together show that the relaxation has no solution (Farkas); None where it has one, or
    the solver gives none."""
    import highspy
    import numpy as np

    parts = replace(numbers, whole=np.zeros_like(numbers.whole))
    highs = load_solver(parts, time_limit=seconds_left(TIME_LIMIT_S), solver="simplex", presolve="off")
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kInfeasible:
        return None
    _, has_ray, multipliers = highs.getDualRay()
    return np.array(multipliers) if has_ray else None


def _run_relaxation(
    numbers: ProgramArrays, basis: Basis | None = None, more: Mapping[str, float | str] | None = None
) -> Solution:
    import highspy
    import numpy as np

    parts = replace(numbers, whole=np.zeros_like(numbers.whole))
    # 50 workloads x 36 months in the cloud by place: 5 s; the interior point method 26 s, and without prices that prove
    options = {"solver": "simplex", "presolve_rule_off": AGGREGATION, **(more or {})}
    highs = load_solver(parts, time_limit=seconds_left(TIME_LIMIT_S), **options)
    if basis is not None:
        set_basis(highs, basis)
    highs.run()
    status = highs.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return NO_SOLUTION
    if status != highspy.HighsModelStatus.kOptimal:
        cut = status == highspy.HighsModelStatus.kTimeLimit
        if cut:
            note_cut()
        return replace(UNSOLVED, cut_by_clock=cut)
    solution, objective = highs.getSolution(), highs.getInfo().objective_function_value
    bound = objective - RELAXATION_ACCURACY * abs(objective)
    values, reduced, multipliers = map(tuple, (solution.col_value, solution.col_dual, solution.row_dual))
    return Solution("optimal", objective, bound, values, reduced, multipliers, basis=read_basis(highs))
