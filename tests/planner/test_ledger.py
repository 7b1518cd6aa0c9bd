"""The ledger says how everything that is paid came about: its formulas make the payments of the plan, and those of the
same decisions at other figures."""

from __future__ import annotations

import importlib.util
import math
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner.pipeline
from planner.analysis.risk import uncertain_assumptions
from planner.analysis.risk.cost_model import build_cost_model
from planner.application import plan
from planner.reports._content.repricing import SUPPORT, TAX, LedgerRepricing
from planner.result.formulas import evaluate_formula, parse_formula, referenced_names

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
    monkeypatch.setattr(planner.pipeline, "find_switching_values", lambda case: seen.append(case) or first(case))

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
    assert not LENGTHS & again.reads
    for each in case.solved:
        if each.strategy.status == "infeasible":
            continue
        name = each.strategy.name
        functions = build_cost_model(name, each.decisions, case.setting, case.terms_of, figures)
        for figure in figures:
            move = {figure.name: moved(figure)}
            expected = functions.cost(move)
            assert again.costs(name, move)[1] == pytest.approx(expected, rel=1e-9, abs=1e-5), (name, move)


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
