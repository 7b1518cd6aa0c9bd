"""A program in independent parts: the same optimum as in one piece."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.optimization.linear_program import LinearProgram, ProgramColumn
from planner.optimization.program_parts import solve_parts, split_program
from planner.optimization.solver import solve_program

UNIT = ProgramColumn("start", 0, 1)


def two_places(joined: bool) -> LinearProgram:
    """At each of two places whole units at 3 and 5 do at least 2.5 of work; a third thing is settled already. Joined:
    all units together are at most 5."""
    program = LinearProgram()
    for cost in (3.0, 5.0):
        unit = program.column(UNIT, cost, 10.0, whole=True)
        program.row(2.5, math.inf, [(unit, 1.0)])
    settled = program.column(UNIT, 7.0, 1.0, whole=True, lower=1.0)
    program.row(-math.inf, 4.0, [(0, 1.0), (settled, 1.0)])
    if joined:
        program.row(-math.inf, 5.0, [(0, 1.0), (1, 1.0)])
    return program


def test_what_no_row_joins_is_solved_apart_and_added_up():
    """3 units at 3, 3 at 5 and 1 at 7: 31. The second row leaves 4 - 1 = 3 of the first, just enough."""
    found = solve_parts(two_places(joined=False), 1e6, 1e-6)
    assert found.values == (3.0, 3.0, 1.0)
    assert (found.status, found.objective, found.bound) == ("optimal", 31.0, 31.0)


def test_a_part_without_a_solution_leaves_none():
    """Joined, 5 units are too few for 3 and 3."""
    assert solve_parts(two_places(joined=True), 1e6, 1e-6).status == "infeasible"


def test_settled_columns_alone_may_break_a_row():
    program = LinearProgram()
    settled = program.column(UNIT, 1.0, 2.0, whole=True, lower=2.0)
    program.row(-math.inf, 1.0, [(settled, 1.0)])
    assert split_program(program) is None
    assert solve_parts(program, 1e6, 1e-6).status == "infeasible"


@pytest.mark.parametrize("joined", [False, True])
def test_large_parts_are_apart_where_nothing_joins_them(joined):
    """Two chains of 1,200 columns: two programs, one when a row has a column of each."""
    program = LinearProgram()
    for chain in range(2):
        columns = [program.column(UNIT, 1.0, 1.0, whole=False) for _ in range(1_200)]
        for first, second in itertools.pairwise(columns):
            program.row(1.0, math.inf, [(first, 1.0), (second, 1.0)])
        assert columns[0] == 1_200 * chain
    if joined:
        program.row(-math.inf, 1.0, [(0, 1.0), (1_200, 1.0)])
    parts = split_program(program)
    assert [len(part.columns) for part in parts] == ([2_400] if joined else [1_200, 1_200])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_program_costs_the_same_in_parts_as_in_one_piece(data):
    program, number = LinearProgram(), st.integers(-5, 5)
    for _ in range(data.draw(st.integers(1, 6))):
        lower = data.draw(st.integers(0, 2))
        upper = lower + data.draw(st.integers(0, 2))
        program.column(UNIT, data.draw(number), upper, whole=data.draw(st.booleans()), lower=lower)
    for _ in range(data.draw(st.integers(0, 4))):
        columns = data.draw(st.sets(st.integers(0, len(program.columns) - 1), min_size=1, max_size=3))
        program.row(-math.inf, data.draw(number), [(each, data.draw(number.filter(bool))) for each in sorted(columns)])
    whole, parts = solve_program(program), solve_parts(program, 1e6, 1e-6)
    assert (parts.status == "infeasible") == (whole.status == "infeasible")
    if whole.values:
        assert parts.objective == pytest.approx(whole.objective, abs=1e-6)
        assert parts.bound <= parts.objective + 1e-9
