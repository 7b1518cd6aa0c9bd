"""A program solved as the independent parts that it falls into once some of its columns are fixed.

Where homes are chosen, what is left to decide at one place has nothing to do with another, unless a limit, committed
money or overflow joins them. Columns are in one part when a row has both.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from planner.optimization.linear_program import FEASIBILITY, LinearProgram, ProgramArrays
from planner.optimization.solver import NO_SOLUTION, Solution, relax_program, solve_program
from planner.optimization.solver_model import LARGE_COLUMNS, Basis, SearchAim
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

FAR_GAP = 0.05
"""A plan is far from its bound from this distance on: more homes are tried then, and a better bound is looked for."""
PART_COLUMNS = 1_000
"""Smaller parts are solved with others, in programs of about so many columns."""
DUAL_ACCURACY = 1e-6
"""Of the cost of a plan: how far the reduced costs of a relaxation may be wrong in all."""
LEAST_WORK = 0.1
"""Share of the work that each part may take at least; else it has its share by its columns."""


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A program of some `columns` (their numbers) of another."""

    columns: list[int]
    program: ProgramArrays


def solve_parts(
    program: LinearProgram | ProgramArrays, work: float, gap: float, aim: SearchAim = "optimum"
) -> Solution:
    """The same as `solve_program`, part by part: each to the relative gap."""
    numbers = fix_settled(program.to_arrays() if isinstance(program, LinearProgram) else program)
    parts = split_program(numbers)
    if parts is None:
        return NO_SOLUTION
    values, free = numbers.lower.tolist(), sum(len(part.columns) for part in parts)
    solved = []
    for part in parts:
        share = max(LEAST_WORK, len(part.columns) / free)
        solution = _solve_part(part.program, work * share, gap, aim)
        if not solution.values:
            return solution
        solved.append(solution)
        for column, value in zip(part.columns, solution.values, strict=True):
            values[column] = value
    objective = sum(cost * value for cost, value in zip(numbers.cost.tolist(), values, strict=True))
    return Solution(
        "optimal" if all(each.status == "optimal" for each in solved) else "within_gap",
        objective,
        objective - sum(each.objective - each.bound for each in solved),
        tuple(values),
        cut_by_clock=any(each.cut_by_clock for each in solved),
    )


def solve_settled(program: LinearProgram, solution: Solution) -> Solution:
    """The solution with its whole columns as they are and all else solved anew, each row kept to a part of the amounts
    in it. The search keeps a row to a part of its largest entry: of a target on commitments that is the dearest of all
    nodes, against which a small commitment may be wrong by far more."""
    import numpy as np

    if not solution.values:
        return solution
    numbers, values = program.to_arrays(), np.array(solution.values)
    amounts = np.zeros(len(numbers.row_lower))
    np.maximum.at(amounts, numbers.entry_row, np.abs(numbers.entry_value * values[numbers.entry_column]))
    scale = np.where(amounts > 0, np.clip(amounts, FEASIBILITY, 1.0), 1.0)
    settled = replace(
        numbers,
        lower=np.where(numbers.whole, np.rint(values), numbers.lower),
        upper=np.where(numbers.whole, np.rint(values), numbers.upper),
        row_lower=numbers.row_lower / scale,
        row_upper=numbers.row_upper / scale,
        entry_value=numbers.entry_value / scale[numbers.entry_row],
    )
    again = relax_program(settled)
    if not again.values:
        return solution
    return replace(solution, objective=again.objective, values=again.values).bounded_by(solution.bound)


def _solve_part(program: ProgramArrays, work: float, gap: float, aim: SearchAim) -> Solution:
    """For a start or a plan, a large part only by the columns that its relaxation uses, unless that is nearer than
    FAR_GAP but not near enough: searches of such parts are long."""
    if aim in ("start", "plan", "trial", "better") and len(program.cost) > LARGE_COLUMNS:
        used = solve_used(program, work, gap)
        if used.status == "infeasible" or used.is_within(gap) or (used.values and not used.is_within(FAR_GAP)):
            return used
        return solve_program(program, start=used, work=work, gap=gap, aim="plan" if used.values else aim)
    return solve_program(program, work=work, gap=gap, aim=aim)


def solve_used(
    program: ProgramArrays,
    work: float,
    gap: float,
    known: Solution | None = None,
    *,
    basis: Basis | None = None,
    starts_feasible: bool = False,
) -> Solution:
    """A good solution of a large program, with the bound of its relaxation: that of the program without the whole
    columns that the relaxation has at 0 (relaxation-enforced neighbourhood search; Berthold, Mathematical Programming
    Computation 6, 2014), and that a `known` solution has at 0, if there is one: the search begins from that. Unsolved:
    without these columns there is none; others there may be. `basis`, `starts_feasible`: see `relax_program`."""
    relaxed = relax_program(program, basis, starts_feasible=starts_feasible)
    if not relaxed.values:
        return relaxed
    if known is None:
        solution = solve_parts(keep_used(program, relaxed), work, gap, "used")
    else:
        solution = solve_program(keep_used(program, relaxed, known), start=known, work=work, gap=gap, aim="used")
    return solution.bounded_by(relaxed.bound) if solution.values else replace(solution, status="unsolved")


def may_cost(program: LinearProgram, most: float) -> bool:
    """Whether a plan of a program may cost so much and no more: its relaxation does."""
    relaxed = relax_program(program.to_arrays())
    return relaxed.cut_by_clock or (relaxed.status != "infeasible" and relaxed.objective <= most)


def fix_settled(program: ProgramArrays) -> ProgramArrays:
    """The program with columns fixed that are settled by the others: the only one left in an equation, those of a row
    whose limit they reach at their nearest bounds (nothing runs on what is not bought), and one that costs nothing and
    that no row keeps from its upper bound. Some optimum has them so."""
    import numpy as np

    lower, upper = program.lower.copy(), program.upper.copy()
    row, column, value, cost = program.entry_row, program.entry_column, program.entry_value, program.cost
    least, most = program.row_lower, program.row_upper
    while True:
        is_free = upper > lower
        free = is_free[column]
        fixed = np.bincount(row[~free], (value * lower[column])[~free], minlength=len(least))
        alone = free & (np.bincount(row[free], minlength=len(least)) == 1)[row] & (least == most)[row]
        settled, at = column[alone], (least - fixed)[row[alone]] / value[alone]
        nearest = np.where(program.whole[settled], np.rint(at) + 0.0, at)  # no negative zeros
        possible = (at >= lower[settled] - FEASIBILITY) & (at <= upper[settled] + FEASIBILITY)
        possible &= np.abs(at - nearest) <= FEASIBILITY
        settled, at = settled[possible], nearest[possible]
        highest, lowest = (
            np.where(value > 0, upper[column], lower[column]),
            np.where(value > 0, lower[column], upper[column]),
        )
        up, down = (np.bincount(row, value * bounds, minlength=len(least)) for bounds in (highest, lowest))
        reach_up, reach_down = up > most, down < least
        held = np.bincount(column, np.where(value > 0, reach_up[row], reach_down[row]), minlength=len(lower)) > 0
        raised = np.flatnonzero(is_free & ~held & (cost <= 0) & np.isfinite(upper))
        counts = free & (value != 0)  # an entry of 0 forces nothing
        forced_down, forced_up = (np.flatnonzero(counts & reached[row]) for reached in (down == most, up == least))
        lower[raised] = upper[raised]
        for forced, bounds in ((forced_down, lowest), (forced_up, highest)):
            lower[column[forced]] = upper[column[forced]] = bounds[forced]
        lower[settled] = upper[settled] = at
        if not any(map(len, (settled, raised, forced_down, forced_up))):
            return replace(program, lower=lower, upper=upper)


def drop_costly_values(
    program: ProgramArrays, relaxed: Solution, known: Solution, most: float = math.inf
) -> ProgramArrays:
    """The program without values of columns that no solution has that costs less than a known one: by its reduced cost
    in the relaxation each unit more would cost more than lies between the two, or than `most`, a share of the
    relaxation, where that is less: better solutions may be lost then."""
    import numpy as np

    reduced, values = np.array(relaxed.reduced_costs), np.array(known.values)
    spare = known.objective - relaxed.objective + DUAL_ACCURACY * max(abs(known.objective), 1.0)
    spare = min(spare, most * abs(relaxed.objective))
    reach = spare / np.where(reduced == 0, np.nan, np.abs(reduced))
    reach = np.where(program.whole, np.floor(reach + FEASIBILITY), reach)
    highest, lowest = np.maximum(program.lower + reach, values), np.minimum(program.upper - reach, values)
    upper = np.where(reduced > 0, np.minimum(program.upper, highest), program.upper)
    lower = np.where(reduced < 0, np.maximum(program.lower, lowest), program.lower)
    return replace(program, lower=lower, upper=upper)


def keep_used(program: ProgramArrays, *solutions: Solution) -> ProgramArrays:
    """The program with each whole column at 0 that all these solutions, of its relaxation too, have at 0."""
    import numpy as np

    most = np.max([solution.values for solution in solutions], axis=0)
    unused = program.whole & (most <= FEASIBILITY) & (program.lower <= 0)
    return replace(program, upper=np.where(unused, 0.0, program.upper))


def split_program(program: ProgramArrays) -> list[ProgramPart] | None:
    """The parts of the columns that are not fixed by their bounds; None where the fixed ones alone break a row."""
    import numpy as np

    lower, upper = program.lower, program.upper
    row, column, value = program.entry_row, program.entry_column, program.entry_value
    is_free = upper > lower
    open_entry = is_free[column]
    fixed = np.bincount(row[~open_entry], (value * lower[column])[~open_entry], minlength=len(program.row_lower))
    row_lower, row_upper = program.row_lower - fixed, program.row_upper - fixed
    row, column, value = row[open_entry], column[open_entry], value[open_entry]
    is_open = np.bincount(row, minlength=len(fixed)) > 0
    if ((row_lower > FEASIBILITY) | (row_upper < -FEASIBILITY))[~is_open].any():
        return None
    part = _number_parts(_join_columns(row, column, len(fixed), len(lower)), is_free)
    part_of_row = np.full(len(fixed), -1)
    part_of_row[row] = part[column]
    columns, rows, entries = (_group_places(numbers) for numbers in (part, part_of_row, part[column]))
    at_column, at_row = np.zeros(len(lower), dtype=np.int64), np.zeros(len(fixed), dtype=np.int64)
    parts = []
    for number, here in columns.items():
        there, inside = rows.get(number, here[:0]), entries.get(number, here[:0])
        at_column[here], at_row[there] = np.arange(len(here)), np.arange(len(there))
        numbers = ProgramArrays(
            program.cost[here], lower[here], upper[here], program.whole[here], row_lower[there], row_upper[there],
            at_row[row[inside]], at_column[column[inside]], value[inside],
        )  # fmt: skip
        parts.append(ProgramPart(here.tolist(), numbers))
    return parts


def _join_columns(row: Numbers, column: Numbers, rows: int, columns: int) -> Numbers:
    """For each column the least number of all columns that rows join it to."""
    import numpy as np

    least = np.arange(columns)
    while True:
        of_row = np.full(rows, columns)
        np.minimum.at(of_row, row, least[column])
        joined = least.copy()
        np.minimum.at(joined, column, of_row[row])
        joined = joined[joined]
        if (joined == least).all():
            return joined
        least = joined


def _number_parts(least: Numbers, is_free: NDArray[np.bool_]) -> Numbers:
    """For each column the number of its part, small ones taken together; -1 for those that are fixed."""
    import numpy as np

    _, index, sizes = np.unique(least[is_free], return_inverse=True, return_counts=True)
    part = np.full(len(least), -1)
    part[is_free] = (np.cumsum(sizes) // PART_COLUMNS)[index]
    return part


def _group_places(numbers: Numbers) -> dict[int, Numbers]:
    """The places at which each number stands, -1 left out."""
    import numpy as np

    order = np.argsort(numbers, kind="stable")
    kinds, starts = np.unique(numbers[order], return_index=True)
    return {int(kind): each for kind, each in zip(kinds, np.split(order, starts)[1:], strict=True) if kind >= 0}
