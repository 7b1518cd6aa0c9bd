"""A program solved as the independent parts that it falls into once some of its columns are fixed.

Where homes are chosen, what is left to decide at one place has nothing to do with another, unless a limit, committed
money or overflow joins them. Columns are in one part when a row has both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.optimization.linear_program import FEASIBILITY, LinearProgram
from planner.optimization.solver import NO_SOLUTION, Solution, solve_program

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

PART_COLUMNS = 1_000
"""Smaller parts are solved with others, in programs of about so many columns."""
LEAST_WORK = 0.1
"""Share of the work that each part may take at least; else it has its share by its columns."""


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A program of some `columns` (their numbers) of another."""

    columns: list[int]
    program: LinearProgram


def solve_parts(program: LinearProgram, work: float, gap: float, *, plan_only: bool = False) -> Solution:
    """The same as `solve_program`, part by part: each to the relative gap."""
    program = fix_settled(program)
    parts = split_program(program)
    if parts is None:
        return NO_SOLUTION
    values, free = list(program.lower), sum(len(part.columns) for part in parts)
    solved = []
    for part in parts:
        share = max(LEAST_WORK, len(part.columns) / free)
        solution = solve_program(part.program, work=work * share, gap=gap, plan_only=plan_only)
        if not solution.values:
            return solution
        solved.append(solution)
        for column, value in zip(part.columns, solution.values, strict=True):
            values[column] = value
    objective = sum(cost * value for cost, value in zip(program.cost, values, strict=True))
    return Solution(
        "optimal" if all(each.status == "optimal" for each in solved) else "within_gap",
        objective,
        objective - sum(each.objective - each.bound for each in solved),
        tuple(values),
        cut_by_clock=any(each.cut_by_clock for each in solved),
    )


def fix_settled(program: LinearProgram) -> LinearProgram:
    """The program with columns fixed that are settled by the others: the only one left in an equation, and one that
    costs nothing and that no row keeps from its upper bound. Some optimum has them so."""
    import numpy as np

    lower, upper = np.array(program.lower), np.array(program.upper)
    row, column = np.array(program.entry_row, dtype=np.int64), np.array(program.entry_column, dtype=np.int64)
    value, cost = np.array(program.entry_value), np.array(program.cost)
    least, most = np.array(program.row_lower), np.array(program.row_upper)
    while True:
        is_free = upper > lower
        free = is_free[column]
        fixed = np.bincount(row[~free], (value * lower[column])[~free], minlength=len(least))
        alone = free & (np.bincount(row[free], minlength=len(least)) == 1)[row] & (least == most)[row]
        settled, at = column[alone], ((least - fixed)[row] / value)[alone]
        possible = (at >= lower[settled] - FEASIBILITY) & (at <= upper[settled] + FEASIBILITY)
        settled, at = settled[possible], at[possible]
        highest, lowest = (
            np.where(value > 0, upper[column], lower[column]),
            np.where(value > 0, lower[column], upper[column]),
        )
        reach_up = np.bincount(row, value * highest, minlength=len(least)) > most
        reach_down = np.bincount(row, value * lowest, minlength=len(least)) < least
        held = np.bincount(column, np.where(value > 0, reach_up[row], reach_down[row]), minlength=len(lower)) > 0
        raised = np.flatnonzero(is_free & ~held & (cost <= 0) & np.isfinite(upper))
        lower[raised] = upper[raised]
        lower[settled] = upper[settled] = at
        if not len(settled) and not len(raised):
            return replace(program, lower=lower.tolist(), upper=upper.tolist())


def split_program(program: LinearProgram) -> list[ProgramPart] | None:
    """The parts of the columns that are not fixed by their bounds; None where the fixed ones alone break a row."""
    import numpy as np

    lower, upper = np.array(program.lower), np.array(program.upper)
    row, column = np.array(program.entry_row, dtype=np.int64), np.array(program.entry_column, dtype=np.int64)
    value = np.array(program.entry_value)
    is_free = upper > lower
    open_entry = is_free[column]
    fixed = np.bincount(row[~open_entry], (value * lower[column])[~open_entry], minlength=len(program.row_lower))
    row_lower, row_upper = np.array(program.row_lower) - fixed, np.array(program.row_upper) - fixed
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
        listed = here.tolist()
        parts.append(
            ProgramPart(
                listed,
                LinearProgram(
                    columns=[program.columns[each] for each in listed],
                    cost=[program.cost[each] for each in listed],
                    lower=lower[here].tolist(),
                    upper=upper[here].tolist(),
                    whole=[program.whole[each] for each in listed],
                    row_lower=row_lower[there].tolist(),
                    row_upper=row_upper[there].tolist(),
                    entry_row=at_row[row[inside]].tolist(),
                    entry_column=at_column[column[inside]].tolist(),
                    entry_value=value[inside].tolist(),
                ),
            )
        )
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
