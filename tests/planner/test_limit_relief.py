"""Which limits are not in the way alone: the other rows contradict each other without them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.optimization.limit_relief import shows_conflict
from planner.optimization.linear_program import LinearProgram, ProgramColumn
from planner.optimization.solver import find_conflict

WORK = ProgramColumn("work", 0, 1)


def five_to_do(*limits: float) -> LinearProgram:
    """x + y of 0 to 10 each is at least 5, and at most each of some limits."""
    program = LinearProgram()
    both = [(program.column(WORK, 1.0, 10.0, whole=False), 1.0) for _ in range(2)]
    program.row(5.0, math.inf, both)
    for limit in limits:
        program.row(-math.inf, limit, both)
    return program


def test_a_conflict_needs_the_rows_that_contradict_each_other():
    """At least 5 and at most 3: 5 - 3 = 2 more is demanded than any values give. At most 7 is not in the way."""
    numbers = five_to_do(3.0, 7.0).to_arrays()
    assert shows_conflict(numbers, np.array([1.0, -1.0, 0.0]))
    assert not shows_conflict(numbers, np.array([1.0, 0.0, -1.0]))
    assert not shows_conflict(numbers, np.array([1.0, 0.0, 0.0]))
    assert not shows_conflict(numbers, np.zeros(3))


def test_the_bounds_of_columns_are_part_of_a_conflict():
    """Two columns of at most 10 each give 20 at most, so that at least 21 is a conflict alone and at least 20 none."""
    program = LinearProgram()
    both = [(program.column(WORK, 1.0, 10.0, whole=False), 1.0) for _ in range(2)]
    program.row(21.0, math.inf, both)
    program.row(20.0, math.inf, both)
    assert shows_conflict(program.to_arrays(), np.array([1.0, 0.0]))
    assert not shows_conflict(program.to_arrays(), np.array([0.0, 1.0]))


@pytest.mark.parametrize(("limits", "in_the_way"), [((3.0, 7.0), 1), ((7.0, 3.0), 2)])
def test_the_conflict_that_the_solver_finds_is_one(limits, in_the_way):
    """Without the limit of 3 it shows nothing any more, without that of 7 as much as before."""
    numbers = five_to_do(*limits).to_arrays()
    conflict = find_conflict(numbers)
    assert conflict is not None
    assert shows_conflict(numbers, conflict)
    for row in (1, 2):
        rest = conflict.copy()
        rest[row] = 0.0
        assert shows_conflict(numbers, rest) == (row != in_the_way)


def test_what_has_a_solution_has_no_conflict():
    assert find_conflict(five_to_do(7.0).to_arrays()) is None
