"""When a search ends: by its own work, and by the budget of all searches for a plan; worked by hand, and the same from
memory."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import pytest

from planner.optimization import search_end, solver
from planner.optimization.linear_program import LinearProgram, ProgramColumn
from planner.optimization.search_end import limit_by_budget, limit_work, spend_work, work_left
from planner.optimization.solver import relax_program, remember_solutions, solve_program
from planner.optimization.solver_model import LARGE_COLUMNS, options_of

NODE = ProgramColumn("start", 0, 1)


def knapsack() -> LinearProgram:
    """30 things of which 15.5 of weight may be taken: not whole in its relaxation."""
    program = LinearProgram()
    things = [program.column(NODE, -(1.0 + number % 7 / 10), 1.0, whole=True) for number in range(30)]
    program.row(-math.inf, 15.5, [(thing, 1.0 + number % 5 / 10) for number, thing in enumerate(things)])
    return program


@pytest.mark.parametrize(("more", "is_again"), [(0, False), (1, True)])
def test_only_large_programs_are_presolved_again_for_their_bound(more, is_again):
    assert options_of(LARGE_COLUMNS + more, "bound")["mip_allow_restart"] is is_again


@pytest.mark.parametrize("aim", ["trial", "better"])
@pytest.mark.parametrize(("more", "ended_at"), [(0, 1 + 4 + 1), (1, 1 + 2 + 1)])
def test_a_trial_of_many_columns_ends_after_half_as_many_occasions_without_a_better_plan(aim, more, ended_at):
    """Of 40 occasions, a tenth is 4: the plan of the first one is within 1 % of its bound, and none is better."""
    columns = search_end.IDLE_COLUMNS + more
    end = search_end.limit_search(40.0 * columns, columns, math.inf, aim, None)
    interrupted: list[int] = []
    progress = SimpleNamespace(mip_primal_bound=50.5, mip_dual_bound=50.0, mip_node_count=1)
    for at in range(1, 100):
        end(SimpleNamespace(data_out=progress, interrupt=partial(interrupted.append, at)))
    assert interrupted[0] == ended_at


@pytest.mark.parametrize(("aim", "ended_at"), [("optimum", 1 + 5 + 1), ("bound", 1 + 50 + 1)])
def test_nodes_of_a_search_for_a_bound_count_a_tenth_until_it_stalls(aim, ended_at):
    end = search_end.limit_search(99.0, 1, 5.0, aim, None)
    interrupted: list[int] = []
    progress = SimpleNamespace(mip_primal_bound=100.0, mip_dual_bound=50.0, mip_node_count=1)
    for at in range(1, 100):
        end(SimpleNamespace(data_out=progress, interrupt=partial(interrupted.append, at)))
    assert interrupted[0] == ended_at


@pytest.mark.parametrize(
    ("best", "node", "needs_plan", "ended_at"),
    [
        (100.0, 0, True, 6),  # 1,000 columns x 20 microseconds: 0.02 each, 0.1 after five
        (100.0, 1, True, 56),  # a tenth of it at a node
        (math.inf, 0, True, None),
        (math.inf, 0, False, 6),
    ],
)
def test_a_search_ends_where_the_budget_does_if_it_may(best, node, needs_plan, ended_at):
    progress = SimpleNamespace(mip_primal_bound=best, mip_node_count=node)
    ended = []
    with limit_work(0.111) as budget:
        spend = limit_by_budget(1_000, needs_plan=needs_plan)
        for at in range(1, 100):
            spend(SimpleNamespace(data_out=progress, interrupt=partial(ended.append, at)))
    assert ended[:1] == ([] if ended_at is None else [ended_at])
    assert budget.is_cut == bool(ended)


def test_a_budget_in_another_has_no_more_than_that_and_spends_of_it():
    assert work_left() == math.inf
    with limit_work(5.0):
        spend_work(2.0)
        with limit_work(10.0):
            assert work_left() == 3.0
            spend_work(1.0)
        with limit_work(1.0):
            assert work_left() == 1.0
        assert work_left() == 2.0
        spend_work(4.0)
        assert work_left() == -2.0
    assert work_left() == math.inf


def test_a_relaxation_takes_work_by_its_columns():
    """30 x 30 x 2e-9; from a basis an eighth of it; the same where it is remembered."""
    program = knapsack()
    with limit_work(1.0) as budget, remember_solutions():
        relaxed = relax_program(program)
        assert budget.spent == pytest.approx(1.8e-6)
        assert relax_program(program) is relaxed
        assert budget.spent == pytest.approx(3.6e-6)
        relax_program(program, relaxed.basis)
        assert budget.spent == pytest.approx(3.825e-6)


def test_a_remembered_search_spends_what_it_took_and_is_made_again_where_less_is_left(monkeypatch):
    program, runs, run = knapsack(), [], solver._run_search
    monkeypatch.setattr(solver, "_run_search", lambda *given: runs.append(1) or run(*given))
    with remember_solutions():
        with limit_work(1.0) as first:
            whole = solve_program(program)
        with limit_work(1.0) as second:
            assert solve_program(program) is whole
        assert (second.spent, second.is_cut, len(runs)) == (first.spent, False, 1)
        assert first.spent > 0
        with limit_work(first.spent / 2) as third:
            cut = solve_program(program)
        assert (third.is_cut, len(runs)) == (True, 2)
        assert cut.bound <= whole.objective <= cut.objective
        assert solve_program(program) is whole  # what was cut is not remembered
