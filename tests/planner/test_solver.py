"""Programs as the solver gets them: well formed, each search ended by counted work, no verdict by presolve alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import pytest

from planner import pipeline
from planner.application import plan
from planner.optimization import search_end, solver, strategy
from planner.optimization.linear_program import LinearProgram, ProgramColumn, allow_shortage
from planner.optimization.model import build_program
from planner.optimization.plan_search import search_plan
from planner.optimization.solver import (
    Solution,
    is_impossible,
    relax_program,
    remember_solutions,
    solve_program,
    solve_small_program,
)
from planner.optimization.solver_model import Basis
from planner.optimization.strategy import measure_gap, strategy_scope
from planner.request.errors import InternalError
from planner.supply import onprem

NODE = ProgramColumn("start", 0, 1)
PLACE = ("aws", "us-east-1", "g4dn.xlarge")


QUOTA = {
    "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "vCPUs of G", "unit": "vcpu", "limit": 8,
    "used": 0, "types": "g*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "x",
}  # fmt: skip


def is_relaxed(program: LinearProgram) -> bool:
    """Whether work may stay undone in it, or a limit give."""
    return program.columns[-1].kind == "short"


def whole_columns(costs: list[float], upper: float) -> LinearProgram:
    program = LinearProgram()
    for cost in costs:
        program.column(NODE, cost, upper, whole=True)
    return program


def without_solution() -> LinearProgram:
    """Even sizes that shall add up to an odd figure: impossible, and long to prove by branching."""
    program = whole_columns([1.0] * 40, 1.0)
    sizes = [2.0 * (1_000 + 37 * number % 911) for number in range(40)]
    odd = 2 * round(sum(sizes) / 4) + 1.0
    program.row(odd, odd, list(enumerate(sizes)))
    return program


def test_a_program_that_the_solver_does_not_take_is_a_defect_that_is_told():
    program = whole_columns([1.0], 10.0)
    program.row(3.0, math.inf, [(0, 1.0), (0, 2.0)])
    with pytest.raises(InternalError, match="does not take the program"):
        solve_program(program)


def test_no_row_names_a_column_twice(priced, ask, hours):
    """A commitment charged to the end of its term pays the support plan twice in the last month of the plan."""
    catalog = priced({(*PLACE, "on_demand"): 0.5, (*PLACE, "reserved_1y_no_upfront"): 0.3})
    request = ask(
        hours("T4", 2000), months=3, commitments_beyond_horizon="full", site={"staff": "whole"},
        limits={"opex_per_year": 1e6, "capex_per_year": 1e7, "owned_power_kw": 50, "owned_racks": 2},
        assumptions={"cloud_support_minimum_per_month": 1500, "cloud_support_fraction": 0.03},
    )  # fmt: skip
    basis = pipeline._prepare_basis(request, catalog)
    nodes, _ = onprem.buyable_nodes(basis.catalog, basis.assumptions, basis.request)
    setting, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, nodes, {})
    program = allow_shortage(build_program(setting, strategy_scope("hybrid", setting)))
    places = Counter(zip(program.entry_row, program.entry_column, strict=True))
    assert [place for place, count in places.items() if count > 1] == []


def test_a_search_without_any_solution_ends_by_its_work():
    found = solve_program(without_solution(), work=1.0)
    assert (found.status, found.values, found.bound, found.cut_by_clock) == ("unsolved", (), -math.inf, False)


@pytest.mark.parametrize(("aim", "branches"), [("root", False), ("optimum", True)])
def test_a_search_for_the_best_at_the_root_does_not_branch(monkeypatch, aim, branches):
    nodes, limit = [], solver.limit_search

    def record_nodes(*given):
        end = limit(*given)
        return lambda event: nodes.append(event.data_out.mip_node_count) or end(event)

    monkeypatch.setattr(solver, "limit_search", record_nodes)
    assert solve_program(without_solution(), work=1e5, aim=aim).status == "unsolved"
    assert (max(nodes) > 1) is branches


UNSOLVED = Solution("unsolved", 0.0, -math.inf, ())


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (lambda program: not is_relaxed(program), ["no plan was found within the work of the search"]),
        (
            lambda program: is_relaxed(program) and program.columns[-1].owner < 0,  # a limit was relaxed
            [
                "all work could be done without quota aws us-east-1 L-1",
                "quota aws us-east-1 L-1: whether it alone is in",
            ],
        ),
        (is_relaxed, ["quota aws us-east-1 L-1: whether it", "why no plan is possible was not found within the work"]),
    ],
)
def test_a_search_that_ended_without_an_answer_says_so(priced, ask, hours, monkeypatch, ends, told):
    """3 nodes of 4 vCPUs are needed, 8 are allowed, and nothing is sold elsewhere."""

    def solve(program, **how):
        how.pop("find_start", None)
        return UNSOLVED if ends(program) else solve_program(program, **how)

    for name in ("limit_relief.solve_program", "plan_search.solve_small_program"):
        monkeypatch.setattr(f"planner.optimization.{name}", solve)
    job = hours("T4", 2190, may_be_owned=False)
    limits = {"limits": {"quotas": "hold"}, "quotas": [QUOTA], "strategies": ["cloud"], "months": 1}
    found = plan(ask(job, **limits), priced({(*PLACE, "on_demand"): 0.5}))
    assert found.status == "infeasible"
    for reason, text in zip(found.reasons, told, strict=False):
        assert reason.text.startswith(text)
    assert not any("would do" in reason.text for reason in found.reasons)


def test_what_was_not_proven_to_be_the_least_shortage_is_the_most(priced, ask, hours, monkeypatch):
    def solve(program, **how):
        found = solve_program(program, **how)
        return replace(found, status="within_gap") if is_relaxed(program) and found.values else found

    monkeypatch.setattr("planner.optimization.limit_relief.solve_program", solve)
    job = hours("T4", 2190, may_be_owned=False)
    limits = {"limits": {"quotas": "hold"}, "quotas": [QUOTA], "strategies": ["cloud"], "months": 1}
    found = plan(ask(job, **limits), priced({(*PLACE, "on_demand"): 0.5}))
    assert [reason.text for reason in found.reasons] == [
        "quota aws us-east-1 L-1: 8 vcpu is too little; 12 would do, all other limits kept",
        "job: at most 33.3% of its work cannot be done in time",
    ]


def test_a_plan_that_nothing_bounds_has_no_bound():
    assert measure_gap(-120.0, -math.inf) == (None, None)
    assert measure_gap(-120.0, -150.0) == (-150.0, 0.25)
    assert measure_gap(100.0, 100.5) == (100.0, 0.0)  # the plan proves more than the search did


def test_a_cloud_plan_is_a_hybrid_plan_where_the_search_for_hybrid_found_none(priced, ask, hours, monkeypatch):
    """730 h of T4 at 0.5 are 365 USD, which hybrid may pay too."""

    searches = []

    def search(setting, scope, bound):
        searches.append(search_plan(setting, scope, bound))
        hybrid_comes_first = len(searches) == 1
        return replace(searches[-1], solution=UNSOLVED) if hybrid_comes_first else searches[-1]

    monkeypatch.setattr("planner.optimization.strategy.search_plan", search)
    request = ask(hours("T4", 730), months=1, strategies=["cloud", "hybrid"])
    found = plan(request, priced({(*PLACE, "on_demand"): 0.5}))
    cloud, hybrid = found.strategy("cloud"), found.strategy("hybrid")
    assert cloud.total_cost == pytest.approx(365)
    assert (hybrid.status, hybrid.total_cost, hybrid.uses) == ("within_gap", cloud.total_cost, cloud.uses)
    assert (hybrid.bound, hybrid.gap_fraction, hybrid.reasons) == (None, None, ())
    assert found.recommendation.strategy == "cloud"


def test_an_equal_program_is_not_solved_again():
    """The same columns and rows: the same solution, only while solutions are remembered. Another cost is another
    program, and so is another search of it."""
    first, again, other = (whole_columns(costs, 3) for costs in ([-2.0, 1.0], [-2.0, 1.0], [-1.0, 1.0]))
    for program in (first, again, other):
        program.row(0.5, 4.0, [(0, 1.0), (1, 1.0)])
    with remember_solutions():
        found = solve_program(first)
        assert (found.objective, found.values) == (-6.0, (3.0, 0.0))
        assert solve_program(again) is found
        assert solve_program(other).objective == -3.0
        assert solve_program(again, work=1e3) is not found
        assert relax_program(again) is relax_program(first)
        assert solve_program(again) is found
    assert solve_program(again) is not found
    assert solve_program(again) == found


@pytest.mark.parametrize("states", list(product(range(3), repeat=3)))
def test_a_relaxation_has_the_same_optimum_from_any_basis(states):
    """At most 3 units of each and 4 in all, at -2 and -1: 3 of the first and 1 of the other, -7. From any states of the
    two columns and the row (at the lower bound, basic, at the upper one), too many or too few of them basic."""
    program = whole_columns([-2.0, -1.0], 3.0)
    program.row(0.5, 4.0, [(0, 1.0), (1, 1.0)])
    found = relax_program(program, Basis(bytes(states[:2]), bytes(states[2:])))
    assert (found.objective, found.values) == (pytest.approx(-7.0), pytest.approx((3.0, 1.0)))
    assert found.basis == Basis(bytes([2, 1]), bytes([2]))


def test_a_relaxation_from_another_basis_is_another_solution():
    """Of equal optima it may find another one, so it is remembered apart."""
    program = whole_columns([-1.0, -1.0], 3.0)
    program.row(0.5, 4.0, [(0, 1.0), (1, 1.0)])
    first, other = (Basis(states, b"\x02") for states in (b"\x02\x01", b"\x01\x02"))
    with remember_solutions():
        found = relax_program(program, first)
        assert relax_program(program, first) is found
        assert (found.values, relax_program(program, other).values) == ((3.0, 1.0), (1.0, 3.0))


@pytest.mark.parametrize(
    ("short", "starts_feasible", "method"),
    [
        (1, True, {"solver": "simplex"}), (5, True, {"solver": "ipm"}), (5, False, {"solver": "simplex"}),
        (15, True, {"solver": "simplex", "simplex_strategy": solver.PRIMAL}),
    ],
)  # fmt: skip
def test_the_shape_of_a_relaxation_tells_its_method_and_the_optimum_is_the_same(
    monkeypatch, short, starts_feasible, method
):
    """Ten tasks, of each of which a node does half a unit for 1. A task with a column for what stays undone, at 3 a
    unit, is a whole unit: 1 + 0.5 x 3 = 2.5; each of the others half of one: 1."""
    program = LinearProgram()
    nodes = [program.column(NODE, 1.0, 1.0, whole=False) for _ in range(10)]
    undone = [program.column(NODE, 3.0, 1.0, whole=False) for _ in range(short)]
    for task, node in enumerate(nodes):
        ways = undone[task::10]
        program.row(1.0 if ways else 0.5, math.inf, [(node, 0.5), *((column, 1.0) for column in ways)])
    load, options = solver.load_solver, []
    monkeypatch.setattr(solver, "INTERIOR_ROWS", 5)
    monkeypatch.setattr(solver, "load_solver", lambda numbers, **more: options.append(more) or load(numbers, **more))
    found = solver.relax_program(program, starts_feasible=starts_feasible)
    assert found.objective == pytest.approx(10 + 1.5 * min(short, 10))
    assert {name: options[0].get(name) for name in ("solver", "simplex_strategy")} == {
        "simplex_strategy": None
    } | method


def test_a_small_program_whose_relaxation_is_whole_is_not_searched(monkeypatch):
    """At least 3 units at 2 and 5: 3 of the cheaper. At least 2.5 of them: 2.5 in parts, so a search says 3."""
    searched, run = [], solver._run_search
    monkeypatch.setattr(solver, "_run_search", lambda *given: searched.append(given[0]) or run(*given))
    for least, searches in ((3.0, 0), (2.5, 1)):
        program = whole_columns([2.0, 5.0], 10)
        program.row(least, math.inf, [(0, 1.0), (1, 1.0)])
        found = solve_small_program(program, work=1e6)
        assert (found.status, found.objective, found.bound, found.values) == ("optimal", 6.0, 6.0, (3.0, 0.0))
        assert len(searched) == searches


def test_the_search_of_a_small_program_ends_at_its_gap(monkeypatch):
    """Twelve units of 10 and twelve of 11, each at a cost of as much, 125 at least: so much in parts, and a plan of up
    to 250 is within half. To the smallest gap it is 125 = 7 x 10 + 5 x 11."""
    gaps, run = [], solver._run_search
    monkeypatch.setattr(solver, "_run_search", lambda *given: gaps.append(given[5]) or run(*given))
    sizes = [10.0, 11.0] * 12
    program = whole_columns(sizes, 1)
    program.row(125.0, math.inf, list(enumerate(sizes)))
    near, best = (solve_small_program(program, work=1e6, gap=gap) for gap in (0.5, 1e-6))
    assert gaps == [0.5, 1e-6]
    assert near.is_within(0.5)
    assert (best.status, best.objective) == ("optimal", 125.0)


def test_a_small_program_without_a_solution_is_not_searched():
    """Two columns of at most 10 are 20 at most, not 21."""
    program = whole_columns([1.0, 1.0], 10)
    program.row(21.0, math.inf, [(0, 1.0), (1, 1.0)])
    assert solve_small_program(program, work=1e6).status == "infeasible"


@pytest.mark.parametrize("sizes", [{}, {"GLANCED_COLUMNS": 0}, {"GLANCED_COLUMNS": 0, "RELAXED_COLUMNS": 0}])
def test_the_beginning_of_a_search_or_a_relaxation_may_show_that_nothing_is_possible(monkeypatch, sizes):
    """Two columns of at most 10 are 20 at most, not 21. Of the largest programs nothing is shown."""
    for name, columns in sizes.items():
        monkeypatch.setattr(solver, name, columns)
    for least, is_none in ((21.0, True), (20.0, False)):
        program = whole_columns([1.0, 1.0], 10)
        program.row(least, math.inf, [(0, 1.0), (1, 1.0)])
        assert is_impossible(program) is (is_none and len(sizes) < 2)


class Occasion:
    """An occasion to end a search, as the solver gives it."""

    def __init__(self, best: float, bound: float, nodes: int) -> None:
        self.data_out = SimpleNamespace(mip_primal_bound=best, mip_dual_bound=bound, mip_node_count=nodes)
        self.is_ended = False

    def interrupt(self) -> None:
        self.is_ended = True


@pytest.mark.parametrize(
    ("best", "bound", "nodes", "ended_at"),
    [
        (lambda _: 100.0, lambda _: 90.0, 0, 1 + 5 + 1),  # the first is progress, then five are allowed
        (lambda at: 100.0 - min(at, 10), lambda _: 50.0, 0, 10 + 5 + 1),
        (lambda _: 100.0, lambda at: 50.0 + min(at, 10), 0, 10 + 5 + 1),
        (lambda _: 100.0, lambda at: 50.0 + 1e-6 * at, 0, 1 + 5 + 1),  # a bound that is better by nothing
        (lambda _: 100.0, lambda _: 90.0, 1, 1 + 5 + 1),  # branches that gain nothing, too
        (lambda _: 100.0, lambda at: 50.0 + 0.1 * at, 1, 40 + 1),
        (lambda _: math.inf, lambda _: 90.0, 0, None),  # no plan yet
    ],
)
def test_a_large_search_that_does_not_get_on_is_ended(best, bound, nodes, ended_at):
    """Of 40 occasions, five without a better plan or bound end it."""
    end = search_end.limit_search(40.0, 1, 5.0, "optimum", None)
    for at in range(1, 60):
        occasion = Occasion(best(at), bound(at), nodes)
        end(occasion)
        if occasion.is_ended:
            assert at == ended_at
            return
    assert ended_at is None


@pytest.mark.parametrize(
    ("aim", "best", "ended_at"),
    [
        ("plan", math.inf, 401), ("used", math.inf, 401), ("start", math.inf, 401),
        ("better", math.inf, 13), ("better", 100.0, 41), ("better", 50.5, 6),
        ("plan", 100.0, 41), ("trial", 100.0, 41), ("used", 100.0, 6), ("start", 100.0, 3),
        ("plan", 50.5, 6), ("trial", 50.5, 6), ("root", 100.0, 10),
    ],
)  # fmt: skip
def test_how_long_a_search_goes_on_without_gain_is_told_by_its_aim(aim, best, ended_at):
    """Of 40 occasions above a bound of 50: ten times as many without a plan, 12 where one is known already. A plan at
    100 ends a search among used columns after a tenth, 4, one until it branches after a fifth, 8, and one for a start
    after 3 %, 1.2; one at 50.5, within 2 %, any after a tenth."""
    end = search_end.limit_search(40.0, 1, math.inf, aim, None)
    occasions = (Occasion(best, 50.0, 1) for _ in range(1_000))
    ended = next(at for at, occasion in enumerate(occasions, 1) if end(occasion) or occasion.is_ended)
    assert ended == ended_at


@pytest.mark.parametrize(("work", "ended_at"), [(2e6, 201), (1e7, 301), (4e7, 401)])
def test_a_search_without_a_plan_goes_on_for_ten_times_its_work_or_thirty_millions_if_its_own_is_less(work, ended_at):
    end = search_end.limit_search(work, 100_000, math.inf, "optimum", None)
    occasions = (Occasion(math.inf, 50.0, 1) for _ in range(1_000))
    assert next(at for at, occasion in enumerate(occasions, 1) if end(occasion) or occasion.is_ended) == ended_at


@pytest.mark.parametrize(("aim", "searches"), [("plan", 2), ("trial", 1), ("better", 1), ("used", 1), ("start", 1)])
def test_that_there_is_no_plan_is_confirmed_unless_another_search_follows(monkeypatch, aim, searches):
    searched, run = [], solver._run_search
    monkeypatch.setattr(solver, "_run_search", lambda *given: searched.append(given[0]) or run(*given))
    program = whole_columns([1.0, 1.0], 10)
    program.row(21.0, math.inf, [(0, 1.0), (1, 1.0)])
    assert solve_program(program, aim=aim).status == "infeasible"
    assert len(searched) == searches


@pytest.mark.parametrize(("ended", "searched"), [("proven", ["hybrid"]), ("by_work", ["hybrid", "cloud"])])
def test_what_hybrid_cannot_do_is_not_searched_in_the_cloud(priced, ask, hours, monkeypatch, ended, searched):
    """Three nodes are needed, and a quota of 8 vCPU is two of 4. Where the search for hybrid ended without a plan and
    without that proof, the cloud has a search of its own."""
    searches, search = [], strategy.search_plan

    def search_and_record(setting, scope_of, bound):
        searches.append(scope_of.args[0])
        found = search(setting, scope_of, bound)
        is_cut = ended == "by_work" and searches[-1] == "hybrid"
        return replace(found, solution=UNSOLVED) if is_cut else found

    monkeypatch.setattr(strategy, "search_plan", search_and_record)
    request = ask(
        hours("T4", 3 * 730), strategies=["cloud", "hybrid"], quotas=[QUOTA], limits={"quotas": "hold"}, months=2
    )
    cloud, hybrid = plan(request, priced({(*PLACE, "on_demand"): 0.5})).strategies
    assert searches[: len(searched)] == searched
    assert searches.count("cloud") == searched.count("cloud")
    assert cloud.status == hybrid.status == "infeasible"
    assert cloud.reasons[0].code == "limit_too_low"
    assert hybrid.is_unsolved == (ended == "by_work")


def test_risk_solves_no_program_twice(priced, ask, monkeypatch):
    """Figures that change nothing in the program of a strategy cost no search: with each of them at both ends of its
    range fewer searches are made than plans."""
    searches, plans = [], []
    solve = pipeline.solve_strategies
    run = solver._relax_or_search  # a small program: a relaxation, and a search where that is not whole
    monkeypatch.setattr(solver, "_relax_or_search", lambda *given: searches.append(given[0]) or run(*given))
    monkeypatch.setattr(pipeline, "solve_strategies", lambda *given: plans.append(given) or solve(*given))
    job = {"name": "job", "demand": {"accelerator_hours_per_month": 730, "accelerator": "T4"}, "may_be_owned": False}
    plan(ask(job, months=2, strategies=["cloud"], risk={"draws": 100}), priced({(*PLACE, "on_demand"): 0.5}))
    assert len(plans) > 10
    assert 0 < len(searches) < len(plans) / 3
