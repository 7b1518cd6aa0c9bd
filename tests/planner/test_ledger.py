"""The ledger says how everything that is paid came about: its formulas make the payments of the plan, and those of the
same decisions at other figures."""

from __future__ import annotations

import importlib.util
import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner.pipeline
from planner.analysis.risk import uncertain_assumptions
from planner.analysis.risk.cost_model import build_cost_model
from planner.analysis.risk.fixed_decisions import build_fixed_costs
from planner.analysis.risk.switching_values import search_switching_values
from planner.application import plan
from planner.reports._content.repricing import LedgerRepricing
from planner.result.audit_trail import AuditDecision, AuditLine, AuditTrail
from planner.result.formulas import evaluate_formula, parse_formula, referenced_names
from planner.result.ledger_costs import DISCOUNT, SUPPORT, TAX, build_ledger_costs

FEW = settings(max_examples=settings.default.max_examples // 8)
MANY = settings(max_examples=300)
seeds = st.integers(0, 10**6)
SURCHARGES = ("cloud_support", "tax")
LENGTHS = {"loan_months"}
"""How often something is paid is no factor of a formula: the workbook says of these that they act on the plan."""


@pytest.fixture(scope="module")
def question():
    """A small random question of every kind by its seed: those of the proofs."""
    path = Path(__file__).parent / "proof" / "instances.py"
    spec = importlib.util.spec_from_file_location("ledger_instances", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.question


@pytest.fixture
def case_of(monkeypatch):
    """A plan with all that its look at risk is given: the decisions and what they were made of."""
    seen = []
    first = planner.pipeline.find_switching_values
    monkeypatch.setattr(
        planner.pipeline, "find_switching_values", lambda case, *more: seen.append(case) or first(case, *more)
    )

    def make(request, catalog):
        found = plan(request, catalog)
        return found, seen[-1]

    return make


@pytest.fixture
def asked(question, priced, ask):
    """The catalogue and request of a seed, for all strategies."""

    def make(seed):
        prices, document, _ = question(seed)
        return ask(*document.pop("workloads"), **document), priced(prices)

    return make


def paid(found):
    """The ledger's amounts by strategy, category, moment and month; surcharges worked out as the workbook does."""
    at, ledger, sums = LedgerRepricing(found).figures, found.ledger, defaultdict(list)
    support, tax = at[SUPPORT], at[TAX]
    for line in ledger.lines:
        rate = evaluate_formula(parse_formula(line.rate), at)
        assert rate == pytest.approx(line.rate_value, rel=1e-12, abs=1e-12)
        name = ledger.choices[line.choice].strategy
        for month, amount in ledger.amounts(line, rate, at[line.growth] if line.growth else 0.0).items():
            sums[name, line.category, line.at, month].append(amount)
            if line.is_billed:
                sums[name, "cloud_support", line.at, month].append(amount * support)
                sums[name, "tax", line.at, month].append(amount * (1 + support) * tax)
    return {key: math.fsum(amounts) for key, amounts in sums.items()}


def borne(found):
    """The same by the months that bear it."""
    at, ledger, sums = LedgerRepricing(found).figures, found.ledger, defaultdict(list)
    times = {"cloud_support": at[SUPPORT], "tax": (1 + at[SUPPORT]) * at[TAX]}
    for line in ledger.lines:
        by_month = ledger.amounts(line, line.rate_value, at[line.growth] if line.growth else 0.0)
        if line.borne_to:
            months = range(line.borne_from, line.borne_to + 1)
            by_month = dict.fromkeys(months, math.fsum(by_month.values()) / len(months))
        for month, amount in by_month.items():
            name = ledger.choices[line.choice].strategy
            sums[name, line.category, month].append(amount)
            for category in SURCHARGES if line.is_billed else ():
                sums[name, category, month].append(amount * times[category])
    return {key: math.fsum(amounts) for key, amounts in sums.items()}


def alike(one, other):
    """Nothing is more than a ten-thousandth of a cent apart, nor in one only."""
    apart = {key: (one.get(key, 0.0), other.get(key, 0.0)) for key in {*one, *other}}
    return {key: pair for key, pair in apart.items() if pair[0] != pytest.approx(pair[1], rel=1e-9, abs=1e-6)} == {}


def what_holds(found):
    """The laws of one plan's ledger."""
    cash, effective = defaultdict(list), defaultdict(list)
    for strategy in found.strategies:
        for row in strategy.cash:
            cash[strategy.name, row.category, row.at, row.month].append(row.amount)
    for cost in found.views.effective:
        effective[cost.strategy, cost.category, cost.month].append(cost.amount)
    assert alike(paid(found), {key: math.fsum(amounts) for key, amounts in cash.items()})
    assert alike(borne(found), {key: math.fsum(amounts) for key, amounts in effective.items()})
    known = {each.name for each in found.assumptions} | {*found.ledger.offers, "hours_per_month"}
    for line in found.ledger.lines:
        assert referenced_names(parse_formula(line.rate)) <= known
        assert not line.growth or line.growth in known
        assert 1 <= line.first <= line.last
    for choice in found.ledger.choices:
        assert len(choice.quantity) == found.months
        assert not choice.parts or math.fsum(part for _, part in choice.parts) == pytest.approx(1)
    again = LedgerRepricing(found)
    for strategy in found.strategies:
        if strategy.status != "infeasible":
            expected = strategy.total_cost, strategy.present_cost
            assert again.costs(strategy.name, {}) == pytest.approx(expected, rel=1e-9, abs=1e-5)


def moved(figure):
    """A value that the figure could have: an end of its range, or a little more than planned."""
    if uncertain_assumptions.has_range(figure):
        low, high = uncertain_assumptions.range_ends(figure)
        return low + (high - low) * 0.37
    return figure.value * 1.03 + 0.001


def what_moves(found, case):
    """Paying again by formulas costs what paying again by the functions of the payments costs, figure by figure."""
    again, known = LedgerRepricing(found), case.setting.assumptions
    figures = [
        f for f in uncertain_assumptions.list_repriced_assumptions(known) if f.name in known and f.name not in LENGTHS
    ]
    assert not LENGTHS & again.read_assumptions
    for each in case.solved:
        if each.strategy.status == "infeasible":
            continue
        name = each.strategy.name
        functions = build_cost_model(name, each.decisions, case.setting, case.terms_of, figures)
        for figure in figures:
            move = {figure.name: moved(figure)}
            expected = functions.cost(move)
            assert again.costs(name, move)[1] == pytest.approx(expected, rel=1e-9, abs=1e-5), (name, move)


def test_costs_at_other_figures_by_hand():
    """100 and 200 hours at 3 less a tenth, doubling each month (4,095 a year), on a bill with 10 % support and 20 % tax
    on both (1.32), and worth half a month later: 2.7 x (100 + 200 x 2) x 1.32 = 1,782, now
    2.7 x (100 / 2 + 400 / 4) x 1.32 = 534.6. One payment of 7 at the start of month 2 is worth 3.5."""
    hours = AuditDecision("cloud", "aws", "job", "node-hours", (100.0, 200.0))
    order = AuditDecision("cloud", "aws", "", "nodes", (1.0, 0.0))
    other = AuditDecision("onprem", "box", "", "nodes", (9.0, 9.0))
    rate = AuditLine(0, "on_demand", "end", "offer_1 * (1 - less)", 2.7, "growth", None, 1, 2, True, True)
    once = AuditLine(1, "hardware", "start", "7", 7.0, "", None, 2, 2, False, False)
    ledger = AuditTrail((hours, order, other), (rate, once, replace(once, choice=2)), ("offer_1",))
    figures = {"offer_1": 3.0, "less": 0.1, "growth": 4095.0, DISCOUNT: 4095.0, SUPPORT: 0.1, TAX: 0.2}
    costs = build_ledger_costs(ledger, "cloud", figures)
    assert costs.total_and_present({}) == pytest.approx((1789.0, 538.1))
    assert costs.total_and_present({"offer_1": 6.0}) == pytest.approx((2 * 1782 + 7, 2 * 534.6 + 3.5))
    assert costs.total_and_present({TAX: 0.0}) == pytest.approx((1782 / 1.2 + 7, 534.6 / 1.2 + 3.5))
    assert costs.cost({"growth": 0.0}) == pytest.approx(2.7 * (100 / 2 + 200 / 4) * 1.32 + 3.5)
    assert costs.cost({DISCOUNT: 0.0, "less": 0.0}) == pytest.approx(3 * 500 * 1.32 + 7)


def what_flips(found, case):
    """The formulas give the present cost that the functions of the payments give, with every figure that a flip is
    searched for at both ends of the search, and so the same flips: to ten digits."""
    known, planned = case.setting.assumptions, LedgerRepricing(found).figures
    figures = [
        f for f in uncertain_assumptions.list_repriced_assumptions(known) if uncertain_assumptions.is_searched(f)
    ]
    pairs = []
    for each in case.solved:
        if each.strategy.status == "infeasible":
            continue
        name = each.strategy.name
        functions = build_cost_model(name, each.decisions, case.setting, case.terms_of, figures)
        formulas = build_fixed_costs(each, case.setting, found.ledger, planned)
        pairs.append((functions, formulas))
        for figure in figures:
            for end in uncertain_assumptions.search_range(figure):
                move = {figure.name: end}
                assert formulas.cost(move) == pytest.approx(functions.cost(move), rel=1e-10, abs=1e-6), (name, move)
    by_name = {functions.name: (functions, formulas) for functions, formulas in pairs}
    if case.advice.runner_up is not None:
        chosen, runner_up = (by_name[name] for name in case.pair)
        paid_again = search_switching_values(figures, chosen[0], runner_up[0])
        assert {flip.name: flip for flip in found.flips}.keys() == {flip.name for flip in paid_again}
        for flip, other in zip(sorted(found.flips, key=named), sorted(paid_again, key=named), strict=True):
            assert flip.at == (other.at and pytest.approx(other.at, rel=1e-10, abs=1e-10))
            assert (flip.cheaper_beyond, flip.is_inside_range) == (other.cheaper_beyond, other.is_inside_range)


def named(flip):
    return flip.name


GROWING = {"cloud_price_change_annual": -0.1, "spot_price_change_annual": 0.05, "commitment_price_change_annual": -0.02}
BILL = {"cloud_support_fraction": 0.03, "cloud_tax_fraction": 0.07, "enterprise_discount_fraction": 0.1}
EVERY_WAY = {
    ("aws", "us-east-1", "p5.48xlarge", "on_demand"): 55.04,
    ("aws", "us-east-1", "p5.48xlarge", "spot"): 41.5,
    ("aws", "us-east-1", "p5.48xlarge", "reserved_1y_partial_upfront"): 46.0,
    ("aws", "us-east-1", "p5.48xlarge", "savings_plan_1y_instance_no_upfront"): 47.0,
    ("aws", "us-east-1", "g5.xlarge", "on_demand"): 1.006,
}
PLANS = {
    "bought": {},
    "borrowed": {"finance": {"hardware": "loan"}, "assumptions": GROWING | {"electricity_price_growth_annual": 0.03}},
    "leased": {"finance": {"hardware": "lease"}, "assumptions": BILL},
    "own room": {"site": {"facility": "own_room"}, "assumptions": GROWING | BILL},
    "whole operators": {"site": {"staff": "whole"}, "assumptions": GROWING},
    "there already": {
        "existing": {"nodes": [{"system": "8x H100 server", "count": 1, "bought": "2026-02"}]},
        "existing_value": "market",
    },
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", PLANS)
def test_flips_by_formulas_are_those_of_paying_again(name, priced, ask, hours, case_of):
    more = {**PLANS[name]}
    at_once = {"lead_time_months": 0 if name == "borrowed" else 3, **more.pop("assumptions", {})}
    jobs = (
        hours("H100", 2 * 8 * 700, gang=8, interruptible=True, storage_gb=5000),
        hours("A10G", 400, "small", may_be_owned=False),
    )
    what_flips(*case_of(ask(*jobs, months=14, assumptions=at_once, **more), priced(EVERY_WAY)))


@FEW
@given(seeds)
def test_the_ledger_makes_every_payment(asked, seed):
    what_holds(plan(*asked(seed)))


@FEW
@given(seeds)
def test_moving_a_figure_in_the_ledger_is_paying_again(asked, case_of, seed):
    what_moves(*case_of(*asked(seed)))


@pytest.mark.slow
@MANY
@given(seeds)
def test_both_for_many_questions(asked, case_of, seed):
    found, case = case_of(*asked(seed))
    what_holds(found)
    what_moves(found, case)
    what_flips(found, case)
