"""A program in independent parts: the same optimum as in one piece."""

from __future__ import annotations

import itertools
import math
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.optimization import program_parts
from planner.optimization.linear_program import LinearProgram, ProgramColumn, keeps_rows
from planner.optimization.program_parts import (
    drop_costly_values,
    fix_settled,
    solve_parts,
    solve_settled,
    solve_used,
    split_program,
)
from planner.optimization.solver import Solution, relax_program, solve_program, solve_small_program

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
    assert split_program(program.to_arrays()) is None
    assert solve_parts(program, 1e6, 1e-6).status == "infeasible"


@pytest.mark.parametrize("bought", [0.0, 1.0])
def test_months_are_apart_where_nothing_is_bought_for_them(bought):
    """In each of two months 1,200 units of work, by the hour at 1 or on what is bought at 0, of which a month has 600
    if it is bought; a row joins what runs on it in both months. Without any of it all is settled: 2,400 by the hour.
    With it months are one program, and 600 of each are spared."""
    program = LinearProgram()
    start = program.column(UNIT, 0.0, bought, whole=True, lower=bought)
    owned = [program.column(UNIT, 0.0, 1200.0, whole=False) for _ in range(2)]
    for on_it in owned:
        hourly = [program.column(UNIT, 1.0, 1.0, whole=False) for _ in range(1_200)]
        program.row(1200.0, math.inf, [(on_it, 1.0), *((each, 1.0) for each in hourly)])
        program.row(-math.inf, 0.0, [(on_it, 1.0), (start, -600.0)])
    program.row(-1.0, math.inf, [(each, -1.0) for each in owned] + [(start, 1200.0)])
    parts = split_program(fix_settled(program.to_arrays()))
    assert [len(part.columns) for part in parts] == ([2_402] if bought else [])
    assert solve_parts(program, 1e6, 1e-6).objective == pytest.approx(2400.0 - 1200.0 * bought)


def test_an_entry_of_nothing_settles_nothing():
    """No node may be bought, so a row of nodes and operators is at its limit; operators have an entry of 0 there, and
    none is hired."""
    program = LinearProgram()
    node, operators = program.column(UNIT, 1.0, 0.0, whole=True), program.column(UNIT, 750.0, 1.0, whole=True)
    program.row(-math.inf, 0.0, [(node, 1.0), (operators, 0.0)])
    assert solve_parts(program, 1e6, 1e-6).values == (0.0, 0.0)


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
    parts = split_program(program.to_arrays())
    assert [len(part.columns) for part in parts] == ([2_400] if joined else [1_200, 1_200])


def draw_program(data: st.DataObject) -> LinearProgram:
    """A program of a few columns and rows, all numbers small and whole."""
    program, number = LinearProgram(), st.integers(-5, 5)
    for _ in range(data.draw(st.integers(1, 6))):
        lower = data.draw(st.integers(0, 2))
        upper = lower + data.draw(st.integers(0, 2))
        program.column(UNIT, data.draw(number), upper, whole=data.draw(st.booleans()), lower=lower)
    for _ in range(data.draw(st.integers(0, 4))):
        columns = data.draw(st.sets(st.integers(0, len(program.columns) - 1), min_size=1, max_size=3))
        program.row(-math.inf, data.draw(number), [(each, data.draw(number)) for each in sorted(columns)])
    return program


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_program_costs_the_same_in_parts_as_in_one_piece(data):
    program = draw_program(data)
    whole, parts = solve_program(program), solve_parts(program, 1e6, 1e-6)
    assert (parts.status == "infeasible") == (whole.status == "infeasible")
    if whole.values:
        assert parts.objective == pytest.approx(whole.objective, abs=1e-6)
        assert parts.bound <= parts.objective + 1e-9


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_small_program_costs_the_same_from_its_relaxation(data):
    program = draw_program(data)
    whole = solve_program(program)
    for find_start in (None, partial(solve_used, work=1e5, gap=1e-6)):
        small = solve_small_program(program, work=1e6, find_start=find_start)
        assert small.status == whole.status
        assert small.objective == pytest.approx(whole.objective, abs=1e-6)
        assert not small.values or keeps_rows(program, small.values)


def test_values_that_cost_more_than_a_known_plan_are_dropped():
    """At least 2.5 units, of at most 10 each at 2 and at 7: in parts 5. A plan of 8 leaves 3 to spare, and each unit of
    the second costs 7 - 2 = 5 more: none. A plan of 15 leaves 10: two; one where no unit may cost more than the
    relaxation alone, 5, and none at half of that. The row leaves the first free in all."""
    program = LinearProgram()
    both = [(program.column(UNIT, cost, 10.0, whole=True), 1.0) for cost in (2.0, 7.0)]
    program.row(2.5, math.inf, both)
    numbers = program.to_arrays()
    relaxed = relax_program(numbers)
    dear, dearer = (8.0, (4.0, 0.0)), (15.0, (7.0, 0.0))
    for (cost, values), share, most in ((dear, 9, 0.0), (dearer, 9, 2.0), (dearer, 1, 1.0), (dearer, 0.5, 0.0)):
        known = Solution("within_gap", cost, 0.0, values)
        left = drop_costly_values(numbers, relaxed, known, share)
        assert left.lower.tolist() == [0.0, 0.0]
        assert left.upper.tolist() == [10.0, most]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_costs_less_than_a_known_plan_stays(data):
    """Of any program with a plan of any gap, nothing that is dropped is part of an optimum."""
    program = draw_program(data)
    numbers, best = program.to_arrays(), solve_program(program)
    rough = solve_program(program, gap=1.0)
    if best.values:
        left = drop_costly_values(numbers, relax_program(numbers), rough)
        # bounds are left open by a millionth of the cost for each of six columns; the solver takes either end of that
        assert solve_program(left).objective == pytest.approx(best.objective, rel=1e-5, abs=1e-5)


def two_sorts(least: float, most: float = math.inf) -> LinearProgram:
    """Whole units of 2 at a cost of 1 and of 3 at a cost of 10, together from `least` to `most`."""
    program = LinearProgram()
    units = [(program.column(UNIT, cost, 10.0, whole=True), size) for cost, size in ((1.0, 2.0), (10.0, 3.0))]
    program.row(least, most, units)
    return program


def test_what_the_relaxation_uses_gives_a_good_solution_and_its_bound():
    """At least 3: the relaxation takes 1.5 of the cheap ones, so two of them; no solution costs less than 1.5."""
    found = solve_used(two_sorts(3.0).to_arrays(), 1e6, 1e-6)
    assert (found.status, found.objective, found.values) == ("within_gap", 2.0, (2.0, 0.0))
    assert found.bound == pytest.approx(1.5, rel=1e-5)


def test_what_the_relaxation_uses_may_have_no_solution(monkeypatch):
    """Just 3: cheap ones alone never give it, one dear one does. Ten of each are 50, never 51."""
    exactly = two_sorts(3.0, 3.0).to_arrays()
    assert solve_used(exactly, 1e6, 1e-6).status == "unsolved"
    assert solve_used(two_sorts(51.0).to_arrays(), 1e6, 1e-6).status == "infeasible"
    monkeypatch.setattr(program_parts, "LARGE_COLUMNS", 0)  # then all columns are searched
    assert solve_parts(exactly, 1e6, 1e-6, "start").values == (0.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_good_solution_keeps_all_rows_and_its_bound_holds(data):
    program = draw_program(data)
    best, found = solve_program(program), solve_used(program.to_arrays(), 1e6, 1e-6)
    assert found.status != "infeasible" or best.status == "infeasible"
    if found.values:
        assert keeps_rows(program, found.values)
        assert found.objective >= best.objective - 1e-6
        assert found.bound <= best.objective + 1e-6
        if found.status == "optimal":
            assert found.objective == pytest.approx(best.objective, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("aim", ["start", "plan"])
@pytest.mark.parametrize(("least", "searches"), [(4.0, 1), (3.9, 2), (3.0, 1)])
def test_a_large_part_is_searched_again_only_where_little_is_left_to_gain(monkeypatch, aim, least, searches):
    """Two of the cheap ones cost 2; the relaxation says 2 where at least 4 are due, 1.95 where 3.9 are, 1.5 where 3."""
    monkeypatch.setattr(program_parts, "LARGE_COLUMNS", 0)
    searched, solve = [], program_parts.solve_program
    monkeypatch.setattr(
        program_parts, "solve_program", lambda *given, **more: searched.append(given) or solve(*given, **more)
    )
    assert solve_parts(two_sorts(least), 1e6, 1e-3, aim).values == (2.0, 0.0)
    assert len(searched) == searches


def test_rows_of_small_amounts_are_kept_to_a_part_of_these():
    program = LinearProgram()
    unit = program.column(ProgramColumn("start", 0, 1), 1.0, 5.0, whole=True)
    money = program.column(ProgramColumn("start", 1, 1), 1.0, 5.0, whole=False)
    dearest = program.column(ProgramColumn("start", 2, 1), 1.0, 5.0, whole=True)
    program.row(1.0, 1.0, [(unit, 1.0)])
    program.row(-math.inf, 0.0, [(unit, 1.0), (money, -1.0), (dearest, 1e4)])  # money >= units + 10,000 x dearest
    short = (1.0, 0.995, 0.0)  # by 0.5 % of the unit, 5e-7 of the largest entry
    assert keeps_rows(program, short)
    settled = solve_settled(program, Solution("within_gap", 1.995, 1.9, short))
    assert settled.values == pytest.approx((1.0, 1.0, 0.0), abs=1e-6)
    assert settled.objective == pytest.approx(2.0, abs=1e-6)
    assert settled.bound == 1.9
