"""The program by place against the model: its bound is below every plan, and the homes that it selects make good
plans."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from planner.application import plan
from planner.finance.cashflow import Terms
from planner.optimization import home_selection, plan_search, promising_stays
from planner.optimization.covered_levels import CapacityRows
from planner.optimization.dominance import build_choice_set, full_choice_set
from planner.optimization.linear_program import LinearProgram
from planner.optimization.model import StrategyScope, build_program
from planner.optimization.node_prices import CapacityPrices, price_nodes
from planner.optimization.place_program import build_place_program
from planner.optimization.plan_search import EFFORTS, search_plan
from planner.optimization.program_names import NamedBasis
from planner.optimization.resource_groups import list_groups
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import Solution, relax_program, solve_program
from planner.reports.text import render_sections
from planner.request import assumptions as figures
from planner.request.limits import PlanLimits
from planner.supply.candidates import build_market
from planner.supply.carbon import SITE, CarbonFigures
from planner.supply.limits import LimitRules
from planner.supply.onprem import buyable_nodes
from planner.workloads.demand import compute_demands
from planner.workloads.eligibility import accelerator_hours_rate

EAST = ("aws", "us-east-1")
TYPES = {"g4dn.xlarge": 1, "g4dn.12xlarge": 4, "g4dn.metal": 8}
OPTIONS = ("reserved_1y_no_upfront", "reserved_1y_all_upfront", "reserved_3y_no_upfront", "spot")
PART = {"whole_columns": 0, "place_columns": 0}


def job(chance: random.Random, number: int) -> dict:
    measured = [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}]
    common = {"name": f"job {number}", "interruptible": chance.random() < 0.5}
    kind = number % 5
    if kind == 0:
        demand = {"accelerator_hours_per_month": chance.uniform(500, 5000), "accelerator": "T4"}
        return {**common, "kind": "training", "demand": demand, "gang": chance.choice([1, 8, 16])}
    if kind == 1:
        demand = {"requests_per_second": chance.uniform(1, 20), "daily_shape": "day_and_evening"}
        spares = {"spare_replicas": chance.choice([0, 1]), "shares_nodes": chance.random() < 0.3}
        return {**common, **spares, "kind": "inference", "demand": demand, "measurements": measured}
    if kind == 2:
        demand = {"total_units": chance.uniform(1, 3) * 730 * 3600 * 2.0, "deadline_month": 5}
        return {**common, "kind": "training", "demand": demand, "measurements": measured, "accelerators": ["T4"]}
    demand = {"units_per_month": chance.uniform(1, 9) * 730 * 3600 * 2.0}
    batch = {**common, "kind": "batch", "demand": demand, "measurements": measured, "accelerators": ["T4"]}
    if kind == 3:
        return batch | {"spot_fraction_max": chance.choice([0, 0.4, 1])}
    return batch | {"spread": True}


@pytest.fixture
def instance(priced, ask):
    """Some jobs of every kind with owned nodes, commitments and spot."""

    def make(seed: int, **of_service) -> tuple[PlanningContext, StrategyScope]:
        chance = random.Random(seed)
        prices = {}
        for name, count in TYPES.items():
            for region in ("us-east-1", "us-east-2"):
                base = 0.5 * count * chance.uniform(0.8, 1.3)
                prices["aws", region, name, "on_demand"] = base
                prices |= {("aws", region, name, option): base * chance.uniform(0.3, 0.9) for option in OPTIONS}
        jobs = [job(chance, number) | (of_service if number == 1 else {}) for number in range(5)]
        asked = ask(*jobs, months=chance.choice([6, 14]), providers=["aws"])
        catalog = priced(prices)
        assumed = figures.override_assumptions(figures.load_defaults(), {}, asked.as_of)
        terms = Terms(asked.months, 730.0, 0.08, 0.0, 0.5, True)
        rates = {w.name: accelerator_hours_rate(w, catalog.names) for w in asked.workloads}
        needed = compute_demands(asked, 730.0, rates)
        systems, _ = buyable_nodes(catalog, assumed, asked)
        market = build_market(asked, needed, catalog, systems, assumed)
        choice = full_choice_set(market, assumed, terms, len(needed.needs))
        context = PlanningContext(needed, market, choice, assumed, terms, LimitRules(asked.limits))
        return context, StrategyScope(choice.shared, tuple(asked.months for _ in needed.needs))

    return make


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", [4, *range(4), *range(5, 12)])  # the cheapest first: it runs every day
def test_no_plan_is_below_the_program_by_place(instance, seed):
    setting, allowed = instance(seed)
    by_place = build_place_program(setting, allowed).program
    best = solve_program(build_program(setting, allowed))
    found = solve_program(by_place)
    assert relax_program(by_place).bound <= found.objective
    assert found.bound <= best.objective * (1 + 1e-6)
    assert found.objective >= best.objective * 0.6  # it leaves out little, nodes that small services share above all


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_plan_with_a_service_in_several_places_is_below_the_program_by_place(instance, seed):
    """Parts of nodes in each place, none of them rounded up, are no more than whole ones."""
    setting, allowed = instance(
        seed, spread=True, interruptible=True, spot_fraction_max=0.4, shares_nodes=seed % 3 == 0
    )
    by_place = build_place_program(setting, allowed).program
    best = solve_program(build_program(setting, allowed), work=1e7)
    assert best.status in ("optimal", "within_gap")
    assert relax_program(by_place).bound <= best.objective
    assert solve_program(by_place, work=1e7).bound <= best.objective * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_no_plan_within_a_limit_on_carbon_is_below_the_program_by_place(instance, seed):
    """Half of what the cheapest plan emits: us-east-2 is clean, the site of owned nodes in between. Nothing that a plan
    within the limit needs is pruned."""
    setting, allowed = instance(seed)
    carbon = CarbonFigures({("aws", "us-east-1"): 0.4, ("aws", "us-east-2"): 0.02, SITE: 0.05})

    def limited(kg: float) -> PlanningContext:
        return replace(setting, rules=LimitRules(PlanLimits(carbon_kg_per_year=kg), carbon=carbon))

    free = build_program(limited(1e12), allowed)
    values = solve_program(free).values
    rows = [number for number, limit in enumerate(free.row_limit) if limit is not None]
    entries = list(zip(free.entry_row, free.entry_column, free.entry_value, strict=True))
    emitted = [
        sum(value * values[column] for at, column, value in entries if at == row) * free.row_scale[row] for row in rows
    ]
    half = limited(max(emitted) / 2)
    best = solve_program(build_program(half, allowed))
    if best.values:
        found = solve_program(build_place_program(half, allowed).program)
        assert found.bound <= best.objective * (1 + 1e-6)
        choice = build_choice_set(half.market, half.demands, half.assumptions, half.terms, half.rules)
        scope = StrategyScope(choice.shared, allowed.hourly_until)
        pruned = solve_program(build_program(replace(half, choice=choice), scope))
        assert pruned.objective == pytest.approx(best.objective, rel=2e-6)


GAP, ROUNDS = 1e-4, 60
ALL_YEAR = {
    "months": 12, "providers": ["aws"], "strategies": ["cloud"], "discount_rate_annual": 0.0,
    "commitments_beyond_horizon": "pro_rata", "assumptions": {"cloud_price_change_annual": 0.0},
}  # fmt: skip
ONE_PLACE = {(*EAST, "g4dn.xlarge", "on_demand"): 0.5, (*EAST, "g4dn.xlarge", "reserved_3y_no_upfront"): 0.2}


@pytest.mark.parametrize("seed", range(6))
def test_a_relaxation_of_promising_stays_bounds_all_of_them(instance, monkeypatch, seed):
    """Its bound is at most what the relaxation of all stays costs, and less by no more than it may lose."""
    monkeypatch.setattr(promising_stays, "NEAREST", 1)
    setting, allowed = instance(seed)
    promising = promising_stays.relax_promising(setting, allowed, GAP, 1)
    everything = relax_program(build_place_program(setting, allowed).program)
    lost = promising_stays.LEFT_SHARE * GAP
    assert promising.relaxed.bound <= everything.objective * (1 + 1e-6)
    assert promising.relaxed.bound >= everything.objective * (1 - lost - 2e-6)
    assert sum(map(len, promising.program.stays)) < sum(map(len, promising.stays))


@pytest.mark.parametrize("seed", range(6))
def test_a_relaxation_in_rounds_bounds_all_stays(instance, monkeypatch, seed):
    """After each round its bound is at most what the relaxation of all stays costs, no lower than the round before, and
    in the end that cost."""
    monkeypatch.setattr(promising_stays, "NEAREST", 1)
    monkeypatch.setattr(promising_stays, "MANY_STAYS", 0)
    setting, allowed = instance(seed)
    everything = relax_program(build_place_program(setting, allowed).program)
    bounds = [
        promising_stays.relax_promising(setting, allowed, GAP, rounds).relaxed.bound for rounds in (1, 2, 4, ROUNDS)
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] > 0
    assert bounds[-1] <= everything.objective * (1 + 1e-6)
    assert bounds[-1] >= everything.objective * (1 - promising_stays.LEFT_SHARE * GAP - 2e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_relaxation_of_more_stays_goes_on_from_that_of_some(instance, seed):
    """The columns of some stays are among those of all by their names, which tell all of them apart; from their basis
    the relaxation of all has the same optimum."""
    setting, allowed = instance(seed)
    everything = build_place_program(setting, allowed)
    some = build_place_program(setting, allowed, [stays[::2] for stays in everything.stays])
    for part, whole in ((some.names.columns, everything.names.columns), (some.names.rows, everything.names.rows)):
        assert len(set(whole.tolist())) == len(whole)
        assert len(set(part.tolist()) - set(whole.tolist())) == 0
    assert len(everything.names.columns) == len(everything.numbers.cost) > len(some.numbers.cost)
    assert len(everything.names.rows) == len(everything.numbers.row_lower)
    before = NamedBasis.of(some.names, relax_program(some.numbers))
    from_nothing = relax_program(everything.numbers)
    going_on = relax_program(everything.numbers, before.carry(everything.names))
    assert going_on.objective == pytest.approx(from_nothing.objective, rel=1e-6)
    again = NamedBasis.of(everything.names, going_on)
    assert again.carry(everything.names) == going_on.basis


@pytest.mark.one_in(4)
@pytest.mark.parametrize("many", [promising_stays.MANY_STAYS, 0])
@pytest.mark.parametrize("seed", range(4))
def test_a_plan_with_a_stay_is_dearer_than_the_bound_by_its_loss(instance, monkeypatch, seed, many):
    """Made to live there, its workload makes the best plan cost at least the bound and the loss."""
    monkeypatch.setattr(promising_stays, "NEAREST", 1)
    monkeypatch.setattr(promising_stays, "MANY_STAYS", many)
    setting, allowed = instance(seed)
    promising = promising_stays.relax_promising(setting, allowed, GAP, 2)
    tried = 0
    for need, (stays, losses) in enumerate(zip(promising.stays, promising.losses, strict=True)):
        for stay, loss in list(zip(stays, losses, strict=True))[::9]:
            forced = [[stay] if number == need else every for number, every in enumerate(promising.stays)]
            found = solve_program(build_place_program(setting, allowed, forced).program)
            least = promising.relaxed.bound + loss
            assert found.status == "infeasible" or found.objective >= least - 1e-6 * abs(found.objective)
            tried += loss > 0
    assert tried > 2


def test_a_node_hour_in_full_use_costs_what_its_commitment_does(priced, ask):
    """A three-year commitment at 0.20 an hour, charged for the months of the plan, and nothing discounted: every hour
    of the year costs 0.20, in each block and at any hour. Where a row prices January's nodes at 73.00 a month and the
    rest of the cost is 11 months of it (each 730 h x 0.20 = 146), that is 0.10 in January and 0.20 after it."""
    asked = ask(
        {"name": "j", "kind": "batch", "demand": {"accelerator_hours_per_month": 700.0, "accelerator": "T4"}},
        **ALL_YEAR,
    )
    catalog = priced(ONE_PLACE)
    seen = []

    def keep(setting, scope_of, bound):
        seen.append((setting, scope_of(setting)))
        return search_plan(setting, scope_of, bound)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("planner.optimization.strategy.search_plan", keep)
        plan(asked, catalog)
    setting, allowed = seen[0]
    groups, hours = list_groups(setting, allowed), setting.demands.block_hours
    place = (*EAST, "g4dn.xlarge")
    full = price_nodes(groups, allowed.shared, hours, 12, None).by_place[place]
    assert full == pytest.approx(0.2)
    (items,) = {group.items for group in groups[place]}
    (item,) = (number for number in items if allowed.shared[number].starts)
    first = {(item, start.month): 11 * 146.0 for start in allowed.shared[item].starts if start.month == 1}
    rows = CapacityRows({items: 0}, *(np.array([each]) for each in (0, 1, -1, 0)))
    known = price_nodes(groups, allowed.shared, hours, 12, CapacityPrices(rows, np.array([73.0]), first))
    assert known.by_place[place][0] == pytest.approx(0.1)
    assert known.by_place[place][1:] == pytest.approx(0.2)


def test_the_program_by_place_is_exact_for_one_place_and_one_way_more(priced, ask):
    """A service on 3 T4 (5 requests a second at 2 each) all year: 0.50 an hour on demand, 0.20 on a three-year
    commitment charged for the months of the plan. All three committed: 3 x 8,760 h x 0.20 = 5,256."""
    asked = ask(
        {
            "name": "service",
            "kind": "inference",
            "demand": {"requests_per_second": 5.0},
            "measurements": [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}],
        },
        **ALL_YEAR,
    )
    catalog = priced(ONE_PLACE)
    seen = []

    def keep(setting, scope_of, bound):
        seen.append(solve_program(build_place_program(setting, scope_of(setting)).program).objective)
        return search_plan(setting, scope_of, bound)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("planner.optimization.strategy.search_plan", keep)
        cost = plan(asked, catalog).strategy("cloud").present_cost
    assert cost == pytest.approx(5256.0)
    assert seen == [pytest.approx(5256.0)]


@pytest.mark.one_in(72)
@pytest.mark.parametrize("seed", [4, *range(4), *range(5, 8)])
@pytest.mark.parametrize("limits", [{"whole_columns": 0, "chooses_nearest": False}, {"whole_columns": 0}, {}])
@pytest.mark.parametrize(("stepwise", "all_homes"), [(0, 0), (30_000, 0), (30_000, 30_000)])
def test_a_search_of_some_homes_gives_a_plan_and_a_bound_of_all(
    instance, monkeypatch, seed, limits, stepwise, all_homes
):
    monkeypatch.setattr(promising_stays, "NEAREST", 1)
    monkeypatch.setattr(home_selection, "STEPWISE_COLUMNS", stepwise)
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "EXACT_COLUMNS", 0)
    efforts = replace(EFFORTS["standard"], **{"nearest": 1, "place_columns": all_homes, **limits})
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": efforts})
    setting, allowed = instance(seed)
    best = solve_program(build_program(setting, allowed))
    found = search_plan(setting, lambda _: allowed)
    assert found.solution.objective >= best.bound * (1 - 1e-6)
    assert found.solution.objective <= best.objective * 1.1
    assert found.solution.bound <= best.objective * (1 + 1e-6)
    if not limits:  # searched whole in the end
        assert found.solution.objective <= best.objective * (1 + 5e-4 + 1e-6)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(8))
def test_the_homes_of_cheaper_plans_alone_prove_a_plan_of_all(instance, monkeypatch, seed):
    """Too large to be searched whole, a problem is searched with the homes that plans cheaper than the best one have:
    they are as good, and the bound is one of the whole."""
    monkeypatch.setattr(promising_stays, "NEAREST", 1)
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    counted = iter([10**9])  # the whole, and then its parts
    monkeypatch.setattr(plan_search, "count_columns", lambda *_: next(counted, 0))
    limits = {"nearest": 1, "place_columns": 0, "chooses_nearest": False}
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], **limits)})
    setting, allowed = instance(seed)
    whole = build_program(setting, allowed)
    best = solve_program(whole)
    found = search_plan(setting, lambda _: allowed)
    assert found.solution.objective == pytest.approx(best.objective, rel=5e-4)
    assert best.objective * (1 - 5e-4) <= found.solution.bound <= best.objective * (1 + 1e-6)
    assert len(found.program.columns) <= len(whole.columns)


@pytest.mark.parametrize("room", [-1, 0])
def test_a_program_that_is_larger_than_it_was_estimated_is_not_searched_whole(instance, monkeypatch, room):
    """Gangs and replicas have columns that are not estimated: there is to be room for the columns that there are."""
    setting, allowed = instance(2)
    searched, search = [], plan_search._search_whole
    monkeypatch.setattr(
        plan_search,
        "_search_whole",
        lambda plan, *given, **more: searched.append(len(plan.program.columns)) or search(plan, *given, **more),
    )
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "FAR_GAP", math.inf)
    monkeypatch.setattr(plan_search, "count_columns", lambda *_: 1)
    limits = replace(EFFORTS["standard"], place_columns=0, near=1.0)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": limits})
    assert search_plan(setting, lambda _: allowed).solution.values
    (columns,) = searched
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(limits, whole_columns=columns + room)})
    assert search_plan(setting, lambda _: allowed).solution.values
    assert searched == [columns] * (2 + room)


@pytest.mark.parametrize("effort", ["quick", "standard", "proof"])
def test_every_effort_plans_a_small_request_alike(priced, ask, effort):
    prices = {(*EAST, name, "on_demand"): 0.5 * count for name, count in TYPES.items()}
    jobs = [job(random.Random(number), number) for number in range(3)]
    usual, found = (
        plan(ask(*jobs, months=6, providers=["aws"], **settings), priced(prices))
        for settings in ({}, {"effort": effort})
    )
    assert [s.present_cost for s in found.strategies] == [s.present_cost for s in usual.strategies]
    assert all(s.status == "optimal" for s in found.strategies if s.status != "infeasible")


@pytest.mark.slow
def test_a_plan_of_some_homes_says_so(priced, ask, monkeypatch):
    monkeypatch.setattr(plan_search, "SMALL_COLUMNS", 0)
    monkeypatch.setattr(plan_search, "EFFORTS", {"standard": replace(EFFORTS["standard"], nearest=0, **PART)})
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
    text = " ".join(render_sections(found).decode().split())
    assert f"cloud: searched in {cloud.columns_searched:,d} of about {cloud.columns:,d} decisions" in text


@pytest.mark.parametrize("first_is_cut", [False, True])
def test_the_cheaper_of_two_plans_is_cut_by_the_clock_where_either_is(first_is_cut):
    """Another day the search that was cut might have the cheaper plan."""
    dear, cheap = (
        plan_search.SearchedPlan(None, None, LinearProgram(), Solution("within_gap", cost, 1.0, (cost,)), 1)
        for cost in (3.0, 2.0)
    )
    cut = replace(dear, solution=replace(dear.solution, cut_by_clock=first_is_cut))
    for pair in ((cut, cheap), (cheap, cut)):
        best = plan_search._cheaper(*pair).solution
        assert (best.objective, best.cut_by_clock) == (2.0, first_is_cut)
