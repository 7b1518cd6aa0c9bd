"""How sure a plan is: sums by hand, and laws that tie every shortcut to the payments of the plan itself."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner.pipeline
from planner.analysis import marginal_values
from planner.analysis.risk import BaselinePlan, monte_carlo, purchase_delay, uncertain_assumptions
from planner.analysis.risk.cost_model import StrategyCostModel, _select_used_resources
from planner.analysis.risk.replanning import with_throughputs
from planner.analysis.risk.switching_values import search_switching_values
from planner.application import plan, plan_document
from planner.cli._request_settings import parse_settings
from planner.finance.cashflow import present_cost
from planner.optimization import solution
from planner.optimization.solver import NO_SOLUTION
from planner.reports import load
from planner.reports._content import risk as risk_report
from planner.reports._content.risk import risk_section
from planner.reports.json import loads
from planner.request.errors import InvalidRequest
from planner.result.formulas import evaluate_formula, referenced_names
from pricing.catalog.price_catalog import Catalog

FEW = settings(max_examples=settings.default.max_examples // 10)
ON_DEMAND = {("aws", "us-east-1", "p5.48xlarge", "on_demand"): 55.04}
MANY = {
    **ON_DEMAND,
    ("aws", "us-east-1", "p5.48xlarge", "spot"): 21.5,
    ("aws", "us-east-1", "p5.48xlarge", "reserved_1y_partial_upfront"): 36.0,
    ("aws", "us-east-1", "g5.xlarge", "on_demand"): 1.006,
    ("gcp", "us-central1", "a3-highgpu-8g", "on_demand"): 62.0,
}


@pytest.fixture
def owning(ask, hours):
    """Two H100 servers' work, all hours, delivered at once: owning and renting share no payment."""

    def make(months: int = 12, **more):
        assumptions = {"lead_time_months": 0, **more.pop("assumptions", {})}
        return ask(hours("H100", 2 * 8 * 730, gang=8), months=months, assumptions=assumptions, **more)

    return make


def by_hand(case: BaselinePlan, name: str, moves: dict[str, float]) -> float:
    """The decisions of a strategy, neither put together nor numbered anew, under moved assumptions."""
    solved = next(s for s in case.solved if s.strategy.name == name)
    known = case.setting.assumptions
    moved = {**known, **{n: dataclasses.replace(known[n], value=v) for n, v in moves.items()}}
    setting = dataclasses.replace(case.setting, assumptions=moved, terms=case.terms_of(moved))
    rows = solution.list_payments(solved.decisions, setting)
    return present_cost((p for _, p in rows), setting.terms.discount_rate_monthly)


# -- flips


def test_prices_flip_where_the_two_plans_cost_the_same(priced, owning, case_of):
    """On demand: renting costs R x level, owning O whatever the level, so level = O / R. Hardware: what is in
    proportion to its price, H (hardware, support, resale), grows until O + H x (level - 1) = R."""
    case = case_of(owning(36), priced(ON_DEMAND))
    found = {flip.name: flip for flip in plan(owning(36), priced(ON_DEMAND)).flips}
    costs = {s.strategy.name: s.strategy for s in case.solved}
    rent, own = costs["cloud"].present_cost, costs["onprem"].present_cost
    assert own < rent
    on_demand = found["on_demand_price_level"]
    assert on_demand.at == pytest.approx(own / rent, rel=1e-8)
    assert on_demand.distance_fraction == pytest.approx(own / rent - 1, rel=1e-7)
    assert on_demand.cheaper_beyond == "cloud"
    rate = 1.08 ** (1 / 12) - 1
    in_proportion = math.fsum(
        row.amount * (1 + rate) ** -(row.month - (row.at == "start"))
        for row in costs["onprem"].cash
        if row.category in ("hardware", "support", "resale")
    )
    assert found["hardware_price_level"].at == pytest.approx(1 + (rent - own) / in_proportion, rel=1e-8)
    assert "commitment_price_level" not in found  # neither plan pays any


def test_a_flip_too_far_away_says_how_far_was_looked(priced, owning):
    found = {flip.name: flip for flip in plan(owning(36), priced(ON_DEMAND)).flips}
    tariff = found["insurance_fraction_annual"]
    assert (tariff.at, tariff.distance_fraction, tariff.cheaper_beyond) == (None, None, "")
    assert (tariff.searched_from, tariff.searched_to) == pytest.approx((0.0005, 0.05))


def test_at_every_flip_both_plans_cost_the_same(priced, owning, case_of):
    case = case_of(owning(36), priced(MANY))
    bills = case.build_cost_models(case.pair)
    chosen, runner_up = (bills[name] for name in case.pair)
    figures = uncertain_assumptions.list_repriced_assumptions(case.setting.assumptions)
    crossing = [flip for flip in search_switching_values(figures, chosen, runner_up) if flip.at is not None]
    assert len(crossing) >= 3
    for flip in crossing:
        assert chosen.cost({flip.name: flip.at}) == pytest.approx(runner_up.cost({flip.name: flip.at}), rel=1e-8)
        assert flip.searched_from <= flip.at <= flip.searched_to


def test_no_flips_without_a_runner_up(priced, owning):
    assert plan(owning(strategies=["cloud"]), priced(ON_DEMAND)).flips == ()


# -- paying again


def some_request(ask, hours, measured, chance: random.Random):
    jobs = [
        hours("H100", chance.uniform(1000, 20_000), gang=8, interruptible=chance.random() < 0.5),
        hours("A10G", chance.uniform(10, 3000), "small", storage_gb=chance.choice([0, 5000]), may_be_owned=False),
        measured("H100", 8, 5000, chance.uniform(1e9, 4e10), "tuning", storage_gb=2000, egress_gb_per_month=300),
    ]
    lead = chance.choice([0, 2, 5])
    return ask(*chance.sample(jobs, 2), months=chance.choice([6, 14]), assumptions={"lead_time_months": lead})


@FEW
@given(st.integers(0, 10**6))
def test_decisions_put_together_cost_what_they_cost_apart(priced, ask, hours, measured, case_of, seed):
    """Whatever moves, within and outside of its range; and nothing moved is the plan itself."""
    chance = random.Random(seed)
    case = case_of(some_request(ask, hours, measured, chance), priced(MANY))
    names = [s.strategy.name for s in case.solved]
    figures = [
        f
        for f in uncertain_assumptions.list_repriced_assumptions(case.setting.assumptions)
        if uncertain_assumptions.has_range(f)
    ]
    for name, bill in case.build_cost_models(names).items():
        solved = next(s for s in case.solved if s.strategy.name == name)
        assert bill.cost({}) == pytest.approx(solved.strategy.present_cost, rel=1e-11)
        whole = _select_used_resources(name, solved.decisions, case.setting, case.terms_of)
        assert len(bill.decisions.shares) <= len(whole.decisions.shares)
        for _ in range(4):
            moves = {f.name: chance.triangular(f.low, f.high) for f in chance.sample(figures, 6)}
            assert bill.cost(moves) == pytest.approx(whole.cost(moves), rel=1e-10)
            assumed = {n: v for n, v in moves.items() if n in case.setting.assumptions}
            assert whole.cost(assumed) == pytest.approx(by_hand(case, name, assumed), rel=1e-12)


def test_the_tariff_moves_what_the_power_costs(priced, owning):
    """One month, 2 servers of 10.2 kW: 2 x 10.2 x 0.75 x 1.54 x 730 kWh at the end of the month; low 0.108, high 0.295
    a kWh, so 17,200.26 kWh x 0.187 = 3,216.45, discounted by 1.08^(1/12)."""
    found = plan(owning(1, risk={"draws": 100}, strategies=["cloud", "onprem"]), priced(ON_DEMAND)).risk
    row = next(row for row in found.tornado if row.name == "electricity_price_per_kwh")
    costs = {cost.strategy: cost for cost in row.costs}
    kwh = 2 * 10.2 * 0.75 * 1.54 * 730
    assert kwh == pytest.approx(17_200.26)
    assert costs["onprem"].at_high - costs["onprem"].at_low == pytest.approx(kwh * 0.187 / 1.08 ** (1 / 12))
    assert costs["cloud"].at_high == costs["cloud"].at_low
    assert row.swing == pytest.approx(3_216.45 / 1.08 ** (1 / 12), rel=1e-5)
    assert not row.planned_anew


@pytest.mark.slow
def test_what_changes_the_plan_is_planned_anew_and_may_flip(priced, ask, hours):
    """12 months: after 12 months of lead time nothing owned arrives, after 4 it does."""
    asked = ask(hours("H100", 2 * 8 * 730, gang=8), assumptions={"lead_time_months": 8}, risk={"draws": 100})
    found = plan(asked, priced(ON_DEMAND)).risk
    row = next(row for row in found.tornado if row.name == "lead_time_months")
    costs = {cost.strategy: cost for cost in row.costs}
    assert row.planned_anew
    assert costs["onprem"].at_high is None
    early = plan(ask(hours("H100", 2 * 8 * 730, gang=8), assumptions={"lead_time_months": 4}), priced(ON_DEMAND))
    assert costs["onprem"].at_low == early.strategy("onprem").present_cost
    assert costs["hybrid"].at_low == early.strategy("hybrid").present_cost


def test_a_predicted_throughput_is_taken_at_both_ends(priced, ask, measured, case_of):
    """Measured on A100, run on H100: at its low the job takes as much longer as the interval says."""
    job = measured("A100-80GB-SXM", 8, 1000, 1e9, accelerators=["H100"], checkpoint_minutes=0, restart_minutes=0)
    asked = ask(
        job, strategies=["cloud"], assumptions={"failure_interval_accelerator_hours": 1e15}, risk={"draws": 100}
    )
    found = plan(asked, priced(ON_DEMAND))
    used = found.throughput[0]
    row = next(row for row in found.risk.tornado if row.name.startswith("throughput of job on"))
    assert (row.low, row.value, row.high) == (used.low, used.units_per_hour, used.high)
    cost = found.strategy("cloud").present_cost
    assert row.costs[0].at_low == pytest.approx(cost * used.units_per_hour / used.low, rel=1e-6)
    case = case_of(asked, priced(ON_DEMAND))
    assert with_throughputs(case.setting.market, case.setting.demands, {}) is case.setting.market


def test_a_figure_of_your_own_outside_the_range_is_neither_varied_nor_drawn(priced, owning):
    cheap = {"electricity_price_per_kwh": 0.03}
    asked = owning(1, assumptions=cheap, risk={"draws": 100}, strategies=["cloud", "onprem"])
    found = plan(asked, priced(ON_DEMAND)).risk
    name = "electricity_price_per_kwh"
    assert name not in {row.name for row in found.tornado} | {figure.name for figure in found.drawn}
    assert any(name in note.parameters.get("assumptions", ()) for note in found.notes)


# -- draws


@pytest.mark.slow
def test_arrays_give_what_each_draw_costs_by_itself(priced, ask, hours, measured, case_of):
    """On every strategy and several seeds, against the payments of the plan's own decisions."""
    for seed in range(2):
        case = case_of(some_request(ask, hours, measured, random.Random(seed)), priced(MANY))
        figures = [
            f
            for f in uncertain_assumptions.list_repriced_assumptions(case.setting.assumptions)
            if uncertain_assumptions.is_drawn(f)
        ]
        drawn = monte_carlo.draw_values(figures, uncertain_assumptions.read_correlations(), 200, seed)
        for name, bill in case.build_cost_models([s.strategy.name for s in case.solved]).items():
            found, from_arrays = monte_carlo.cost_draws(bill, figures, drawn, 200)
            assert from_arrays
            whole = _select_used_resources(name, bill_of(case, name), case.setting, case.terms_of)
            for index in range(0, 200, 17):
                moves = {n: float(column[index]) for n, column in drawn.items()}
                assert found[index] == pytest.approx(whole.cost(moves), rel=1e-9)


def test_the_value_at_the_end_is_written_as_a_formula(priced, owning, case_of):
    """Levels of prices are no assumptions: they stay as planned."""
    case = case_of(owning(3), priced(ON_DEMAND))
    bill = case.build_cost_models(["onprem"])["onprem"]
    figures = uncertain_assumptions.list_repriced_assumptions(case.setting.assumptions)
    [(stream, planned)] = [each for each in bill.streams({}).items() if each[0][1] == "resale"]
    written = bill.write_formula(stream, [f.name for f in figures if uncertain_assumptions.is_drawn(f)])
    values = {f.name: f.value for f in figures} | {"resale_loss_minimum_fraction": 0.5}
    assert {"value_loss_annual", "resale_loss_minimum_fraction"} <= referenced_names(written) <= values.keys()
    assert evaluate_formula(written, values) == pytest.approx(planned * 0.5 / 0.6)  # the least loss is 0.4 as planned


def bill_of(case: BaselinePlan, name: str):
    return next(s for s in case.solved if s.strategy.name == name).decisions


def test_with_all_ranges_collapsed_every_draw_is_the_plan(priced, owning, case_of):
    case = case_of(owning(), priced(MANY))
    known = case.setting.assumptions
    sure = {n: dataclasses.replace(a, low=a.value, high=a.value) for n, a in known.items()}
    case = dataclasses.replace(case, setting=dataclasses.replace(case.setting, assumptions=sure))
    figures = [
        f
        for f in uncertain_assumptions.list_repriced_assumptions(sure)
        if uncertain_assumptions.is_drawn(f) and f.name in known
    ]
    assert figures == []
    for name, bill in case.build_cost_models([s.strategy.name for s in case.solved]).items():
        found, _ = monte_carlo.cost_draws(bill, figures, {}, 100)
        cost = next(s.strategy.present_cost for s in case.solved if s.strategy.name == name)
        assert found.tolist() == pytest.approx([cost] * 100, rel=1e-9)


# -- the answer


@pytest.mark.slow
def test_equal_seed_equal_bytes_and_it_can_be_read_back(priced, owning):
    asked = {"draws": 500, "seed": 11, "reoptimise": 2, "waits": [0, 6]}
    catalog = priced(MANY)
    one, two = (plan(owning(risk=asked), catalog) for _ in range(2))
    other = plan(owning(risk={**asked, "seed": 12}), catalog)
    render = load("json").render
    assert render(one) == render(two)
    assert one.risk.strategies != other.risk.strategies
    assert loads(render(one)) == one
    assert plan(owning(), catalog).risk is None
    assert plan(owning(), catalog).flips == one.flips


@pytest.mark.slow
def test_waiting_costs_and_never_saves(priced, owning):
    """After the horizon nothing is bought: the hybrid is then the cloud; onprem bridges all of it."""
    found = plan(owning(12, risk={"draws": 100, "waits": [0, 3, 6, 12]}), priced(ON_DEMAND))
    by_strategy = {}
    for wait in found.risk.waiting:
        by_strategy.setdefault(wait.strategy, []).append(wait)
    hybrid, cloud = by_strategy["hybrid"], found.strategy("cloud").present_cost
    assert [wait.months for wait in hybrid] == [0, 3, 6, 12]
    assert hybrid[0].present_cost == found.strategy("hybrid").present_cost
    assert hybrid[0].difference == 0
    assert [w.present_cost for w in hybrid] == sorted(w.present_cost for w in hybrid)
    assert hybrid[-1].present_cost == pytest.approx(cloud, rel=1e-6)
    assert hybrid[-1].nodes_bought == 0
    assert by_strategy["onprem"][1].present_cost == pytest.approx(hybrid[1].present_cost, rel=1e-6)


@pytest.mark.parametrize(
    ("status", "known", "told"), [("infeasible", True, "impossible"), ("unsolved", False, "unknown")]
)
def test_a_search_that_ends_without_an_answer_is_not_told_as_impossible(
    priced, owning, case_of, monkeypatch, status, known, told
):
    case = case_of(owning(3), priced(ON_DEMAND))
    ended = dataclasses.replace(NO_SOLUTION, status=status)
    for module in (purchase_delay, marginal_values):
        monkeypatch.setattr(module, "solve_program", lambda *_, **__: ended)
    waited = purchase_delay.compute_delay_costs([3], case.solved, case.setting)
    [onprem] = [wait for wait in waited if wait.strategy == "onprem"]
    assert (onprem.present_cost, onprem.difference, onprem.is_known) == (None, None, known)
    assert risk_report._waiting_cell(onprem) == told
    [more] = marginal_values.compute_marginal_values(case.solved, "onprem", case.setting, of_demand=True)
    assert (more.worth, more.per_unit, more.is_known) == (None, None, known)


@pytest.mark.slow
def test_draws_planned_anew_know_at_least_as_much(priced, owning):
    found = plan(owning(risk={"draws": 100, "reoptimise": 4, "waits": []}), priced(MANY)).risk
    again = found.reoptimised
    assert again.draws == 4 == sum(share.draws for share in again.recommended)
    assert 0 <= again.mean_regret <= again.p90_regret + 1e-6 or again.mean_regret > 0
    assert found.waiting == ()


def test_draws_that_no_plan_meets_do_not_count():
    """Hardware alone, with 2 % above what it costs to spend: dearer draws have no plan, and are told."""
    job = {"name": "training", "demand": {"accelerator_hours_per_month": 5840, "accelerator": "H100"}}
    asked = {"as_of": "2026-11-21", "months": 36, "strategies": ["onprem"], "workloads": [job]}
    [alone] = plan_document(asked, Catalog.embedded()).strategies
    most = 1.02 * alone.purchases[0].upfront
    asked |= {"limits": {"capex_per_year": most}, "risk": {"draws": 100, "reoptimise": 12, "waits": []}}
    found = plan_document(asked, Catalog.embedded()).risk
    assert 0 < found.reoptimised.draws < 12
    [note] = [note for note in found.notes if note.code == "draws_without_plan"]
    assert note.parameters == {"draws": 12 - found.reoptimised.draws}


@pytest.mark.slow
def test_the_report_says_what_a_reader_needs(priced, owning):
    found = plan(owning(12, risk={"draws": 100, "reoptimise": 1, "waits": [0, 3]}), priced(ON_DEMAND))
    section = risk_section(found)
    text = repr(section)
    for words in ("becomes cheaper where", "P90", "planned again", "Regret", "seed 0", "after 3 months"):
        assert words in text
    assert risk_section(dataclasses.replace(found, risk=None, flips=())) is None


def test_an_impossible_plan_has_no_risk(priced, ask, hours):
    asked = ask(hours("A10G", 100), risk={"draws": 100}, strategies=["cloud"])
    found = plan(asked, priced(ON_DEMAND))
    assert (found.status, found.risk, found.flips) == ("infeasible", None, ())


def test_options_of_the_command_ask_for_risk():
    fields, places, faults = parse_settings({"risk": False, "seed": "3", "draws": None, "reoptimise": "20"})
    assert fields == {"risk": {"seed": "3", "reoptimise": "20"}}
    assert places == {"risk.seed": "--seed", "risk.reoptimise": "--reoptimise"}
    assert faults == []
    assert parse_settings({"risk": True, "seed": None})[0] == {"risk": {}}


def test_too_few_draws_are_refused(owning):
    with pytest.raises(InvalidRequest, match=r"risk\.draws"):
        owning(risk={"draws": 10})


def test_every_figure_is_judged_in_one_way_only():
    """No name in the lists of exceptions that is no assumption, and none in two of them."""
    known = set(planner.request.assumptions.load_defaults())
    assert (
        known
        >= uncertain_assumptions.POLICY_ASSUMPTIONS
        | uncertain_assumptions.REPLANNED_ASSUMPTIONS
        | uncertain_assumptions.VALUATION_ASSUMPTIONS
    )
    assert not uncertain_assumptions.POLICY_ASSUMPTIONS & uncertain_assumptions.REPLANNED_ASSUMPTIONS
    assert not {f.name for f in uncertain_assumptions.read_price_levels()} & known


def test_a_bill_asks_payments_only_for_what_they_look_at(priced, owning, case_of):
    """The cloud's payments look at no assumption but through the terms: a tariff changes nothing there."""
    case = case_of(owning(), priced(ON_DEMAND))
    cloud: StrategyCostModel = case.build_cost_models(["cloud"])["cloud"]
    assert cloud.cost({"electricity_price_per_kwh": 0.9}) == cloud.planned
    assert cloud.cost({"cloud_price_change_annual": -0.3}) < cloud.planned
    assert cloud.cost({"discount_rate_annual": 0.2}) < cloud.planned


def test_the_risk_of_a_plan_that_costs_nothing_is_that_it_costs_nothing(catalog, ask, hours):
    """One free p5 node to the end of the plan does all of the work: no figure moves a sum of nothing."""
    line = {
        "provider": "aws", "region": "us-east-1", "instance_type": "p5.48xlarge", "count": 1,
        "purchase_option": "reserved_1y_no_upfront", "ends": "2027-06", "fee_per_month": 0,
    }  # fmt: skip
    asked = ask(
        hours("H100", 800), months=2, existing={"commitments": [line]}, strategies=["cloud"], risk={"draws": 100}
    )
    found = plan(asked, catalog)
    assert found.strategy("cloud").present_cost == 0
    assert {each.mean for each in found.risk.strategies} == {0}
    assert found.risk.tornado == ()
