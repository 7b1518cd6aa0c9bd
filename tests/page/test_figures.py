"""What the page computes is what the server computes: formulas, and every figure of a plan at every slider."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan_document
from planner.reports import review
from planner.reports.json import loads
from planner.reports.json import render as render_json
from planner.result import Plan
from planner.result.formulas import evaluate_formula, parse_formula
from planner.result.ledger_costs import build_ledger_costs
from pricing.catalog.price_catalog import Catalog
from tests.page.conftest import REPOSITORY

FIGURES = {"a": 0.5, "rate": 1e-12, "zero": 0.0, "price": 338_496.0}
READ = """async ([texts, figures]) => {
  const { readFormula } = await import('/page/formula.js');
  return texts.map((text) => { try { return readFormula(text).value(figures); } catch (error) { return error.name; } });
}"""
COSTS = """async ([plan, figures, moves]) => {
  const { readLedger, costStrategies } = await import('/page/ledger.js');
  const ledger = readLedger(plan);
  return moves.map((each) => Object.fromEntries([...costStrategies(ledger, { ...figures, ...each })].map(
    ([name, sums]) => [name, [sums.total, sums.present, [...sums.byMonth.values()].reduce((a, b) => a + b, 0),
      [...sums.byCategory.values()].reduce((a, b) => a + b, 0)]])));
}"""
EQUAL = 1e-9
WORKED = {  # worked by hand
    "2 + 3 * 4": 14.0,
    "-2 ^ 2": -4.0,
    "2 ^ 3 ^ 2": 64.0,
    "(1 - a) * 8 / 2 / 2": 1.0,
    "MAX(a, 0.75) - -1": 1.75,
    "PV(zero, 12, -1)": 12.0,
    "1.5e2 * a": 75.0,
}
REFUSED = ("", "1 +", "2 3", "MAX(1)", "alert(1)", "a.b", "constructor(1, 2)", "(1", "1)", "$", "PV(1, 2)")


@pytest.fixture(scope="module")
def modules(browser, site):
    """A tab on the page, whose modules are called."""
    page = browser.new_page()
    page.goto(site)
    yield page
    page.close()


def test_formulas_are_read_as_worked_by_hand(modules):
    assert modules.evaluate(READ, [list(WORKED), FIGURES]) == list(WORKED.values())


def test_what_is_no_formula_is_refused(modules):
    assert modules.evaluate(READ, [list(REFUSED), FIGURES]) == ["SyntaxError"] * len(REFUSED)


NUMBERS = st.sampled_from(["0", "1", "12", "0.3333333333333333", "8760", "1e-3", *FIGURES])
FORMULAS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda each: f"({each[0]}) {each[1]} {each[2]}"),
        st.tuples(inner, st.sampled_from(["+", "-", "*", "^"]), NUMBERS).map(" ".join),
        st.tuples(inner, inner).map(lambda each: f"MAX({each[0]}, {each[1]})"),
        inner.map(lambda each: f"-({each})"),
    ),
    max_leaves=8,
)


@given(st.lists(FORMULAS, min_size=20, max_size=60))
def test_formulas_have_the_value_of_the_server(modules, texts):
    found = modules.evaluate(READ, [texts, FIGURES])
    for text, value in zip(texts, found, strict=True):
        try:
            expected = evaluate_formula(parse_formula(text), FIGURES)
        except (ArithmeticError, TypeError):  # no number in Python: the page has an infinity or none at all
            assert value is None or not math.isfinite(value)
            continue
        assert math.isclose(value, expected, rel_tol=EQUAL) or not math.isfinite(expected)


def moved(plan: Plan, names: list[str], figures: dict[str, float]) -> list[dict[str, float]]:
    """Every slider at five places between its ends, and beyond; then all of them together."""
    known = {each.name: each for each in plan.assumptions}
    moves: list[dict[str, float]] = [{}]
    for name in names:
        low, high = known[name].low, known[name].high
        first, last = (0.5 * figures[name], 1.5 * figures[name] or 1.0) if low is None or high is None else (low, high)
        moves += [{name: first + part * (last - first)} for part in (0.0, 0.25, 0.5, 0.9, 1.0, 1.1)]
    together = {name: move[name] for move in moves[1:] for name in move}
    return [*moves, together]


def assert_equal_to_server(page: Any, plan: Plan) -> int:
    """Every strategy at every move: total, present cost, sums over months and over categories; the cases compared."""
    document = json.loads(review.render(plan))
    figures = document["screen"]["figures"]
    moves = moved(plan, document["screen"]["sliders"], figures)
    found = page.evaluate(COSTS, [document["plan"], figures, moves])
    compared = 0
    for strategy in plan.strategies:
        if strategy.status == "infeasible":
            continue
        costs = build_ledger_costs(plan.ledger, strategy.name, figures)
        for move, answer in zip(moves, found, strict=True):
            total, present = costs.total_and_present(move)
            got = answer[strategy.name]
            assert got == pytest.approx([total, present, total, total], rel=EQUAL, abs=1e-6), (strategy.name, move)
            compared += 1
    return compared


def test_a_small_plan_costs_what_the_server_says(modules):
    request = {
        "as_of": "2026-11-21", "start": "2026-12", "months": 12, "strategies": ["cloud", "onprem"],
        "assumptions": {"cloud_tax_fraction": 0.1, "cloud_support_fraction": 0.05, "spot_price_change_annual": 0.2},
        "workloads": [{"name": "batch", "demand": {"accelerator_hours_per_month": 5840, "accelerator": "H100"}}],
    }  # fmt: skip
    plan = plan_document(request, Catalog.current())
    assert assert_equal_to_server(modules, plan) > 50


CHARGES = """async ([plan, figures]) => {
  const { readLedger } = await import('/page/ledger.js');
  const { chargeWorkloads, listCentreMonths } = await import('/page/charges.js');
  return listCentreMonths(plan, chargeWorkloads(plan, readLedger(plan), figures));
}"""
SHARED = {
    "as_of": "2026-11-21", "start": "2026-12", "months": 12, "strategies": ["onprem"],
    "workloads": [
        {"name": "train", "team": "Search", "budget_per_month": 20_000.0,
         "demand": {"accelerator_hours_per_month": 9000, "accelerator": "H100"}},
        {"name": "serve", "team": "Ads", "demand": {"accelerator_hours_per_month": 2500, "accelerator": "H100"}},
    ],
}  # fmt: skip
"""Servers that two teams share and leave idle in part, with operators whose cost goes by all other costs."""
RENTED = {**SHARED, "strategies": ["cloud"], "assumptions": {"cloud_tax_fraction": 0.1, "cloud_support_fraction": 0.05}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "moves"),
    [
        (SHARED, {"electricity_price_per_kwh": 0.31, "staff_cost_annual": 190_000.0}),
        (RENTED, {"enterprise_discount_fraction": 0.12, "cloud_tax_fraction": 0.2}),
    ],
)
def test_cost_centres_at_moved_figures_are_those_of_a_plan_made_with_them(modules, request_, moves):
    """Equal where the plan made with the moved figures decides the same; what is planned is the case without moves."""
    for stated in ({}, moves):
        own = plan_document(request_, Catalog.current())
        assumptions = {**request_.get("assumptions", {}), **stated}
        other = plan_document(request_ | {"assumptions": assumptions}, Catalog.current())
        (before,), (after,) = own.strategies, other.strategies
        bought = [[(each.name, each.month, each.amount) for each in of.purchases] for of in (before, after)]
        assert bought[0] == bought[1], "the moves change the decisions: choose smaller ones"
        document = json.loads(review.render(own))
        found = modules.evaluate(CHARGES, [document["plan"], {**document["screen"]["figures"], **stated}])
        expected = {(row.month, row.team): row for row in other.views.cost_centres}
        assert {(row["month"], row["team"]) for row in found} == expected.keys()
        for row in found:
            charge = expected[row["month"], row["team"]]
            for name in ("cash", "effective", "idle", "shared", "budget", "variance"):
                assert row[name] == (value := getattr(charge, name)) or row[name] == pytest.approx(
                    value, rel=EQUAL, abs=1e-6
                ), (row["month"], row["team"], name)
        assert any(row["idle"] > 0 for row in found) or request_ is RENTED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["request.json"])
def test_every_slider_of_an_example_is_that_of_the_server(modules, name):
    request = json.loads((REPOSITORY / "examples" / name).read_text()) | {"as_of": "2026-11-21"}
    plan = plan_document(request, Catalog.current())
    assert assert_equal_to_server(modules, plan) > 300
    assert assert_equal_to_server(modules, loads(render_json(plan))) > 300


ORDERS = """async ([document, figures]) => {
  const { Review } = await import('/page/model.js');
  const { costOrder, findStakes } = await import('/page/stakes.js');
  const review = new Review(document, 'x');
  review.setMoves(figures);
  const cost = (lines) => costOrder(review.ledger, review.figures, lines);
  const amounts = document.screen.orders.map((order) => [cost(order.upfront_lines), cost(order.per_month_lines)]);
  const { byMonth, byCategory } = review.amounts.get(review.chosen);
  return [amounts, findStakes(review), [...byMonth], [...byCategory]];
}"""
YEARS = {**SHARED, "months": 36, "effort": "quick"}
SURCHARGED = {
    **YEARS,
    "strategies": ["cloud"],
    "assumptions": {"cloud_tax_fraction": 0.1, "cloud_support_fraction": 0.05},
}
TRAINING = [{"name": "train", "demand": {"accelerator_hours_per_month": 5840, "accelerator": "H100"}}]
SERVING = [{"name": "serve", "demand": {"accelerator_hours_per_month": 5840, "accelerator": "A10G"}}]
SPOT = [{"name": "batch", "interruptible": True, "checkpoint_minutes": 10,
         "demand": {"accelerator_hours_per_month": 900, "accelerator": "L4"}}]  # fmt: skip
MEASURED = {"accelerator": "A100-80GB", "count": 8, "units_per_second": 37130, "per": "job", "source": "a run"}
PREDICTED = [{"name": "tune", "kind": "training", "unit": "tokens", "gang": 8, "measurements": [MEASURED],
              "demand": {"units_per_month": 9e10}}]  # fmt: skip
ORDERED = {
    "bought": (YEARS, {"electricity_price_per_kwh": 0.13, "hardware_discount_fraction": 0.03}),
    "loan": (
        {**YEARS, "finance": {"hardware": "loan"}},
        {"loan_rate_annual": 0.085, "hardware_discount_fraction": 0.02},
    ),
    "lease": ({**YEARS, "finance": {"hardware": "lease"}}, {"lease_fraction_per_month": 0.032}),
    "committed upfront": (
        {**SURCHARGED, "providers": ["aws"], "workloads": SERVING},
        {"enterprise_discount_fraction": 0.02, "commitment_price_change_annual": 0.01},
    ),
    "committed by month": (
        {**SURCHARGED, "providers": ["azure"], "workloads": TRAINING},
        {"cloud_tax_fraction": 0.12},
    ),
    "spot": ({**RENTED, "workloads": SPOT, "providers": ["gcp"]}, {"cloud_tax_fraction": 0.12}),
    "predicted": ({**RENTED, "workloads": PREDICTED, "providers": ["gcp"]}, {"enterprise_discount_fraction": 0.02}),
    "both": ({**YEARS, "strategies": ["cloud", "onprem"]}, {"electricity_price_per_kwh": 0.13}),
}
STAKES = {
    "committed": "committed upfront",
    "resale": "bought",
    "slower": "predicted",
    "spot": "spot",
    "lead": "both",
    "idle": "loan",
}
"""A case for each kind of stake."""


@pytest.mark.parametrize("name", ORDERED)
def test_orders_stakes_and_cash_at_moved_figures_are_those_of_a_plan_made_with_them(modules, name):
    """Equal where the plan made with the moved figures decides the same; what is planned is the case without moves."""
    request, moves = ORDERED[name]
    own = plan_document(request, Catalog.current())
    document = json.loads(review.render(own))
    chosen = next(each for each in own.strategies if each.name == own.recommendation.strategy)
    money = [each for each in document["screen"]["orders"] if each["upfront"] is not None]
    assert len(money) == len(chosen.purchases)
    for stated in ({}, moves):
        assumptions = {**request.get("assumptions", {}), **stated}
        other = plan_document(request | {"assumptions": assumptions}, Catalog.current())
        after = next(each for each in other.strategies if each.name == chosen.name)
        bought = [[(each.name, each.month, each.amount) for each in of.purchases] for of in (chosen, after)]
        assert bought[0] == bought[1], "the moves change the decisions: choose smaller ones"
        amounts, stakes, by_month, by_category = modules.evaluate(ORDERS, [document, stated])
        assert_same_sums(dict(by_month), [(row.month, row.amount) for row in after.cash])
        assert_same_sums(dict(by_category), [(row.category, row.amount) for row in after.cash])
        screen = json.loads(review.render(other))["screen"]
        expected = [(each["upfront"], each["per_month"]) for each in screen["orders"]]
        for got, planned in zip(amounts, expected, strict=True):
            assert got == [pytest.approx(value, rel=EQUAL, abs=1e-6) for value in planned] or planned == (None, None)
        for risk in screen["risks"]:
            assert stakes[risk["stake"]] == pytest.approx(risk["amount"], rel=EQUAL, abs=1e-6), risk
    stated_here = {each["stake"] for each in document["screen"]["risks"]}
    assert {stake for stake, case in STAKES.items() if case == name} <= stated_here


def assert_same_sums(found: dict[Any, float], rows: list[tuple[Any, float]]) -> None:
    """The amount of each month, or of each category, is that of the rows of the server."""
    expected: dict[Any, float] = {}
    for name, amount in rows:
        expected[name] = expected.get(name, 0.0) + amount
    for name in expected.keys() | found.keys():
        assert found.get(name, 0.0) == pytest.approx(expected.get(name, 0.0), rel=EQUAL, abs=1e-6), name


def test_a_commitment_by_month_is_owed_with_support_and_tax():
    """One ND96isr_H100_v5 for three years: its fee of the month x 1.05 x 1.1, as its upfront payments are."""
    request, _ = ORDERED["committed by month"]
    (strategy,) = plan_document(request, Catalog.current()).strategies
    (bare,) = plan_document(request | {"assumptions": {}}, Catalog.current()).strategies
    assert [each.name for each in strategy.purchases] == [each.name for each in bare.purchases] != []
    for order, plain in zip(strategy.purchases, bare.purchases, strict=True):
        assert order.per_month == pytest.approx(plain.per_month * 1.05 * 1.1)
