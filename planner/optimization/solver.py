"""The only file that knows the solver: a program in, the best values and the proof out (HiGHS through highspy, plain
arrays)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from planner.optimization.linear_program import LinearProgram
from planner.optimization.restriction import COLUMNS_MAX, Relaxation, expand_values, restrict_program, solve_stepwise
from planner.request.errors import InternalError

NO_SOLUTION_YET = 1e100
GAP_TARGET = 1e-6
"""Relative distance of the best plan from the proven bound at which the search ends: 0.0001 %."""
LONG_SEARCH_GAPS = ((3_000, 1e-4), (6_000, 5e-4), (12_000, 1e-3))
"""After so many nodes of the search, a gap that is near enough to end it. Counted in nodes and not in seconds, so that
equal programs end the same on every machine."""
SEARCH_WORK, STEP_WORK = 4e7, 1e7
"""Work after which a search ends with the best plan so far, and each step to a first plan: occasions at which the
solver may be interrupted, times columns. Counted, so that the same program ends the same on every machine."""
TIME_LIMIT_S = 600.0
"""A last resort: a plan cut off by it has the status within_gap, as the cut depends on the machine."""
INTERIOR_COLUMNS = 20_000
"""From here on the interior point method is faster than the simplex (50 workloads x 36 months: 22 against 198 s)."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The best known values, by column. `bound` is proven: no solution costs less. Infeasible (proven) and unsolved
    (out of time): no values. `searched`: of how many columns, where not all were (the bound holds for all)."""

    status: Literal["optimal", "within_gap", "infeasible", "unsolved"]
    objective: float
    bound: float
    values: tuple[float, ...]
    searched: int | None = None


def solve_program(
    program: LinearProgram,
    time_limit_s: float = TIME_LIMIT_S,
    start: Solution | None = None,
    work: float = SEARCH_WORK,
) -> Solution:
    """The least-cost solution. One thread and a fixed seed: equal programs give equal values.

    `start` is a solution to begin from, of a program with the same columns.
    Raises InternalError when the solver stops for another reason than the time.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads for a linear algebra unused here
    import highspy

    highs = _load_solver(program, time_limit=time_limit_s, random_seed=0, mip_rel_gap=GAP_TARGET)
    if start is not None and start.values:
        known = highspy.HighsSolution()
        known.col_value = list(start.values)
        highs.setSolution(known)
    if any(program.whole):
        highs.cbMipInterrupt += _limit_search(int(work / len(program.columns)))
    highs.run()
    status = highs.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return Solution("infeasible", 0.0, 0.0, ())
    info = highs.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        if status == highspy.HighsModelStatus.kTimeLimit:
            return Solution("unsolved", 0.0, 0.0, ())
        raise InternalError(f"the solver stopped without a solution: {highs.modelStatusToString(status)}")
    integer = any(program.whole)
    bound = info.mip_dual_bound if integer else info.objective_function_value
    proven = status == highspy.HighsModelStatus.kOptimal
    return Solution(
        "optimal" if proven else "within_gap",
        info.objective_function_value,
        bound if math.isfinite(bound) else 0.0,
        tuple(highs.getSolution().col_value),
    )


def solve_large(program: LinearProgram, start: Solution | None = None) -> Solution:
    """As `solve_program`; a program of more than COLUMNS_MAX columns is restricted to those that matter, with a bound
    that holds for all of them."""
    if len(program.columns) <= COLUMNS_MAX:
        return solve_program(program, start=start)
    part = restrict_program(program, solve_relaxation)
    if not math.isfinite(part.bound):
        return solve_program(program)
    first_values = solve_stepwise(part.program, lambda step: solve_program(step, work=STEP_WORK).values)
    restricted = solve_program(
        part.program, start=Solution("within_gap", 0.0, 0.0, first_values) if first_values else None
    )
    if not restricted.values:
        return solve_program(program)
    gap = (restricted.objective - part.bound) / max(abs(restricted.objective), 1e-9)
    status: Literal["optimal", "within_gap"] = "optimal" if gap <= GAP_TARGET else "within_gap"
    values = expand_values(part, restricted.values, len(program.columns))
    return Solution(status, restricted.objective, min(part.bound, restricted.objective), values, len(part.columns))


def solve_relaxation(program: LinearProgram) -> Relaxation:
    """The optimum of the linear relaxation with the prices of its rows; no prices where the time ends first."""
    import highspy

    solver = "ipm" if len(program.columns) > INTERIOR_COLUMNS else "simplex"
    parts = replace(program, whole=[False] * len(program.whole))
    # Prices inside the optimal face prove as much as those of a corner; the crossover to one takes most of the time.
    highs = _load_solver(parts, time_limit=TIME_LIMIT_S, solver=solver, run_crossover="off")
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return Relaxation(0.0, ())
    solution = highs.getSolution()
    return Relaxation(highs.getInfo().objective_function_value, tuple(solution.row_dual))


def _limit_search(occasions: int) -> Callable[[Any], None]:
    """Ends a search with a plan after so many occasions, or whose gap is small enough for its number of nodes."""
    seen = 0

    def end(event: Any) -> None:
        nonlocal seen
        seen += 1
        progress = event.data_out
        best, bound = progress.mip_primal_bound, progress.mip_dual_bound
        if not math.isfinite(best) or abs(best) > NO_SOLUTION_YET:
            return
        gap = (best - bound) / max(abs(best), 1e-9) if math.isfinite(bound) else math.inf
        near_enough = any(progress.mip_node_count >= nodes and gap <= near for nodes, near in LONG_SEARCH_GAPS)
        if near_enough or seen > occasions:
            event.interrupt()

    return end


def _load_solver(program: LinearProgram, **options: float | str) -> Any:
    """The solver with a program in it, silent and with one thread."""
    import highspy

    highs = highspy.Highs()  # type: ignore[no-untyped-call]  # highspy has no types
    for option, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(option, value)
    highs.passModel(_build_highs_model(program))
    return highs


def _build_highs_model(program: LinearProgram) -> Any:
    import highspy
    import numpy as np

    columns, rows = len(program.columns), len(program.row_lower)
    row = np.array(program.entry_row, dtype=np.int32)
    column = np.array(program.entry_column, dtype=np.int32)
    order = np.lexsort((row, column))
    starts = np.searchsorted(column[order], np.arange(columns + 1))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, rows
    lp.col_cost_ = np.array(program.cost)
    lp.col_lower_ = np.array(program.lower)
    lp.col_upper_ = np.array(program.upper)
    lp.row_lower_ = np.array(program.row_lower)
    lp.row_upper_ = np.array(program.row_upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = starts.astype(np.int32)
    lp.a_matrix_.index_ = row[order]
    lp.a_matrix_.value_ = np.array(program.entry_value)[order]
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[whole] for whole in program.whole]
    return lp
