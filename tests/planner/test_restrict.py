"""A restricted program against the whole one: its bound is the whole relaxation's optimum, and no plan beats it."""

from __future__ import annotations

import math
import random

import highspy
import numpy as np
import pytest

from planner.application import plan
from planner.optimization import solver
from planner.optimization.dominance import full_choice_set
from planner.optimization.dual_bounds import bound_from_duals
from planner.optimization.linear_program import CandidateActivity, LinearProgram, ProgramColumn
from planner.optimization.model import StrategyScope, build_program
from planner.optimization.restriction import Relaxation, restrict_program, solve_stepwise
from planner.optimization.solver import solve_program
from planner.reports import load

PLACE = ("aws", "us-east-1")
TYPES = {"g4dn.xlarge": 1, "g4dn.12xlarge": 4, "g4dn.metal": 8}
OPTIONS = ("reserved_1y_no_upfront", "reserved_1y_all_upfront", "reserved_3y_no_upfront", "spot")


def relax(program: LinearProgram) -> Relaxation:
    """The linear relaxation by the solver itself, row by row, without the product's own way to it."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    nothing, none = np.array([], dtype=np.int32), np.array([], dtype=float)
    for cost, lower, upper in zip(program.cost, program.lower, program.upper, strict=True):
        highs.addCol(cost, lower, upper, 0, nothing, none)
    entries: dict[int, list[tuple[int, float]]] = {}
    for row, column, value in zip(program.entry_row, program.entry_column, program.entry_value, strict=True):
        entries.setdefault(row, []).append((column, value))
    for row, (lower, upper) in enumerate(zip(program.row_lower, program.row_upper, strict=True)):
        found = entries.get(row, [])
        columns = np.array([column for column, _ in found], dtype=np.int32)
        highs.addRow(lower, upper, len(found), columns, np.array([value for _, value in found]))
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return Relaxation(0.0, ())
    solution = highs.getSolution()
    return Relaxation(highs.getInfo().objective_function_value, tuple(solution.row_dual))


@pytest.fixture
def instance(priced, ask):
    """Some jobs of every kind with owned nodes, commitments and spot: the program of hybrid."""

    def make(seed: int) -> LinearProgram:
        from planner.finance.cashflow import Terms
        from planner.optimization.solution import PlanningContext
        from planner.request import assumptions as figures
        from planner.supply.candidates import build_market
        from planner.supply.onprem import buyable_nodes
        from planner.workloads.demand import compute_demands
        from planner.workloads.eligibility import accelerator_hours_rate

        chance = random.Random(seed)
        prices = {}
        for name, count in TYPES.items():
            for region in ("us-east-1", "us-east-2"):
                base = 0.5 * count * chance.uniform(0.8, 1.3)
                prices["aws", region, name, "on_demand"] = base
                prices |= {("aws", region, name, option): base * chance.uniform(0.3, 0.9) for option in OPTIONS}
        asked = ask(*(job(chance, number) for number in range(4)), months=chance.choice([6, 14]), providers=["aws"])
        catalog = priced(prices)
        assumed = figures.override_assumptions(figures.load_defaults(), {}, asked.as_of)
        terms = Terms(asked.months, 730.0, 0.08, 0.0, 0.5, True)
        needed = compute_demands(
            asked, 730.0, {w.name: accelerator_hours_rate(w, catalog.names) for w in asked.workloads}
        )
        systems, _ = buyable_nodes(catalog, assumed, asked)
        found = build_market(asked, needed, catalog, systems, assumed)
        every = PlanningContext(
            needed, found, full_choice_set(found, assumed, terms, len(needed.needs)), assumed, terms
        )
        return build_program(every, StrategyScope(every.choice.shared, tuple(asked.months for _ in needed.needs)))

    return make


def job(chance: random.Random, number: int) -> dict:
    measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
    common = {"name": f"job {number}", "interruptible": chance.random() < 0.5}
    kind = number % 4
    if kind == 0:
        demand = {"accelerator_hours_per_month": chance.uniform(500, 5000), "accelerator": "T4"}
        return {**common, "kind": "training", "demand": demand, "gang": chance.choice([1, 8, 16])}
    if kind == 1:
        demand = {"requests_per_second": chance.uniform(1, 20), "daily_shape": "day_and_evening"}
        return {**common, "kind": "inference", "demand": demand, "measurements": measured}
    if kind == 2:
        demand = {"total_units": chance.uniform(1, 3) * 730 * 3600 * 2.0, "deadline_month": 5}
        return {**common, "kind": "training", "demand": demand, "measurements": measured, "accelerators": ["T4"]}
    demand = {"units_per_month": chance.uniform(1, 9) * 730 * 3600 * 2.0}
    return {**common, "kind": "batch", "demand": demand, "measurements": measured, "accelerators": ["T4"]}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cheapest", [1, 3])
def test_the_bound_is_the_optimum_of_the_whole_relaxation(instance, seed, cheapest):
    program = instance(seed)
    found = restrict_program(program, relax, cheapest)
    whole = relax(program).objective
    assert found.complete
    assert found.bound <= whole * (1 + 1e-9)
    assert found.bound == pytest.approx(whole, rel=1e-4)
    assert len(found.columns) < len(program.columns)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rounds", [1, 2])
def test_the_bound_holds_whenever_the_search_for_columns_ends(instance, seed, rounds):
    program = instance(seed)
    assert restrict_program(program, relax, 1, rounds).bound <= relax(program).objective * (1 + 1e-9)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", [5, *range(5)])
def test_a_restricted_plan_is_a_plan_of_the_whole_between_bound_and_optimum(instance, seed):
    program = instance(seed)
    found = restrict_program(program, relax, 2)
    part, every = solve_program(found.program, 20.0), solve_program(program, 20.0)
    assert found.bound <= every.objective * (1 + 1e-6)
    assert part.objective >= every.bound * (1 - 1e-6)
    values = np.zeros(len(program.columns))
    values[list(found.columns)] = part.values
    used = np.bincount(
        program.entry_row,
        weights=np.array(program.entry_value) * values[program.entry_column],
        minlength=len(program.row_lower),
    )
    assert (used >= np.array(program.row_lower) - 1e-5).all()
    assert (used <= np.array(program.row_upper) + 1e-5).all()
    assert math.fsum(np.array(program.cost) * values) == pytest.approx(part.objective, rel=1e-9)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(30))
def test_any_prices_of_the_rows_bound_the_whole(instance, seed):
    """Weak duality: whatever the prices, right or wrong in sign."""
    program = instance(seed % 3)
    chance = random.Random(seed)
    best = relax(program)
    prices = [y * chance.uniform(0.5, 1.5) + chance.choice([0, 0, 0, -1, 1]) for y in best.duals]
    assert bound_from_duals(program, prices) <= best.objective + 1e-6 * abs(best.objective)
    assert bound_from_duals(program, best.duals) == pytest.approx(best.objective, rel=1e-6)


def test_a_bound_by_hand():
    """Least 2 x + 3 y with x + y = 1 and x <= 0.5 as a row: x = y = 0.5, so 2.5.

    At prices 3 of the first row and -1 of the second the
    columns cost 2 - 3 + 1 = 0 and 3 - 3 = 0: bound 3 * 1 - 1 * 0.5 = 2.5. At 2 and 0: 0 and 1 >= 0: bound 2.
    """
    program = LinearProgram()
    x = program.column(ProgramColumn("work", 0, 1), 2.0, 1.0, whole=False)
    y = program.column(ProgramColumn("work", 1, 1), 3.0, 1.0, whole=False)
    program.row(1.0, 1.0, [(x, 1.0), (y, 1.0)], need=0)
    program.row(-math.inf, 0.5, [(x, 1.0)])
    program.steps = [CandidateActivity(None, None, True), CandidateActivity(None, None, True)]
    assert bound_from_duals(program, [3.0, -1.0]) == pytest.approx(2.5)
    assert bound_from_duals(program, [2.0, 0.0]) == pytest.approx(2.0)
    assert bound_from_duals(program, [2.0, 7.0]) == pytest.approx(
        2.0
    )  # a price of a bound that is not there counts nothing


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_stepwise_solution_is_one(instance, seed):
    program = instance(seed)
    values = solve_stepwise(program, lambda part: solve_program(part, 20.0).values)
    best = solve_program(program, 20.0)
    cost = math.fsum(c * v for c, v in zip(program.cost, values, strict=True))
    assert cost >= best.bound * (1 - 1e-6)
    assert all(abs(v - round(v)) < 1e-5 for v, is_whole in zip(values, program.whole, strict=True) if is_whole)


def test_what_cannot_be_restricted_is_left_whole(instance):
    """A relaxation that is not solved gives no bound, and all columns stay."""
    program = instance(0)
    found = restrict_program(program, lambda _: Relaxation(0.0, ()))
    assert found.bound == -math.inf
    assert not found.complete
    assert found.program is program


@pytest.mark.slow
def test_a_large_program_is_searched_in_part_against_a_bound_of_the_whole(instance, monkeypatch):
    """Above COLUMNS_MAX (here 0) the plan is one of the whole, and what is said of it holds for the whole."""
    monkeypatch.setattr(solver, "COLUMNS_MAX", 0)
    program = instance(3)
    every = solve_program(program, 20.0)
    found = solver.solve_large(program)
    assert found.searched < len(program.columns) == len(found.values)
    assert found.bound <= every.objective * (1 + 1e-6)
    assert every.bound * (1 - 1e-6) <= found.objective <= every.objective * 1.01
    assert math.fsum(c * v for c, v in zip(program.cost, found.values, strict=True)) == pytest.approx(found.objective)
    assert found.status == ("optimal" if found.objective - found.bound <= 1e-6 * found.objective else "within_gap")


def test_a_plan_of_a_restricted_search_says_so(priced, ask, monkeypatch):
    monkeypatch.setattr(solver, "COLUMNS_MAX", 0)
    monkeypatch.setattr("planner.optimization.strategy.COLUMNS_MAX", 0)
    monkeypatch.setattr("planner.optimization.restriction.SEARCH_COLUMNS_MAX", 40)
    monkeypatch.setattr(  # all places, so that there is something to leave out
        "planner.pipeline.build_choice_set",
        lambda market, needed, assumed, terms, _: full_choice_set(market, assumed, terms, len(needed.needs)),
    )
    prices = {
        ("aws", region, name, way): (1.0 - 0.1 * number) * count * (1 + 0.05 * ((number + place) % 4))
        for number, way in enumerate(("on_demand", *OPTIONS))
        for place, region in enumerate(("us-east-1", "us-east-2", "us-west-2", "eu-west-1"))
        for name, count in TYPES.items()
    }
    jobs = [job(random.Random(number), number) for number in range(4)]
    found = plan(ask(*jobs, months=6, providers=["aws"]), priced(prices))
    cloud = next(s for s in found.strategies if s.name == "cloud")
    assert 0 < cloud.columns_searched < cloud.columns
    text = load("text").render(found).decode()
    assert f"cloud: too large to search in full, so restricted to {cloud.columns_searched:,d} of" in " ".join(
        text.split()
    )
