"""`planner estimate` as a gate of a pipeline: budgets and the age of prices, exit code 5."""

import json
from dataclasses import replace
from datetime import date

import pytest

from planner.application import plan_document
from planner.cli._plan_gates import Gates, find_gate_failures, parse_gates
from planner.reports import formats
from planner.result import CashRow, PriceUsed, Recommendation, RequestedWorkload, Strategy, WorkloadCost
from pricing.catalog.price_catalog import Catalog

HOURS = {
    "as_of": "2026-11-21", "months": 2, "strategies": ["cloud"],
    "workloads": [{"name": "batch", "demand": {"accelerator_hours_per_month": 1460, "accelerator": "L4"}}],
}  # fmt: skip


def price(day, name="p5.48xlarge", source="P1"):
    return PriceUsed("aws", "us-east-1", name, "on_demand", 40.0, "USD", day, source, "a page", "read")


@pytest.fixture(scope="module")
def plan():
    """Three months that cost 100, 250 and 150: 500 in all, of which one workload bears 450 and one 50."""
    empty = plan_document(HOURS, Catalog.embedded())
    cash = tuple(
        CashRow(month, "end", "on_demand", "x", amount) for month, amount in ((1, 100.0), (2, 250.0), (3, 150.0))
    )
    costs = (
        WorkloadCost("train", "a", "hours", 1.0, 450.0, 450.0, "x"),
        WorkloadCost("=serve", "b", "hours", 1.0, 50.0, 50.0, "x"),
    )
    strategy = Strategy("cloud", "optimal", 490.0, 500.0, 490.0, 0.0, cash=cash, workloads=costs)
    asked_for = tuple(
        RequestedWorkload(name, "", "batch", "hours", (1.0,) * 3, (), 1.0, False, "", budget, "")
        for name, budget in (("train", 120.0), ("=serve", 20.0))
    )
    return replace(
        empty, months=3, month_names=("2026-12", "2027-01", "2027-02"), as_of=date(2026, 11, 21), currency="EUR",
        strategies=(strategy,), recommendation=Recommendation("cloud", "Rent.", None, 0.0, 0.0), workloads=asked_for,
        prices=(price(date(2026, 11, 1)), price(date(2025, 11, 21), "p4d.24xlarge", "P2"), price(date(2026, 9, 1))),
    )  # fmt: skip


def test_the_whole_plan_against_a_budget(plan):
    assert find_gate_failures(plan, Gates(totals=(500.0, 600.0))) == []
    assert find_gate_failures(plan, Gates(totals=(400.0,))) == [
        "cloud costs 500.00 EUR over 3 months, 100.00 EUR (25 %) over the budget of 400.00 EUR"
    ]


def test_every_month_that_is_over_is_named(plan):
    assert find_gate_failures(plan, Gates(monthly=(120.0,))) == [
        "cloud pays 250.00 EUR in 2027-01, 130.00 EUR (108.3 %) over the budget of 120.00 EUR a month",
        "cloud pays 150.00 EUR in 2027-02, 30.00 EUR (25 %) over the budget of 120.00 EUR a month",
    ]


def test_workloads_against_their_own_budgets(plan):
    """450 over three months are 150 a month against 120; 50 are 16.67 against 20."""
    assert find_gate_failures(plan, Gates(workloads=True)) == [
        "train costs 150.00 EUR a month on average, 30.00 EUR (25 %) over its budget of 120.00 EUR"
    ]


def test_budgets_that_nobody_states_are_no_pass(plan):
    silent = replace(plan, workloads=tuple(replace(each, budget_per_month=None) for each in plan.workloads))
    assert find_gate_failures(silent, Gates(workloads=True)) == ["no workload has a budget to compare with"]


def test_every_price_that_is_too_old_is_named_with_its_source(plan):
    """At 21 November 2026: 20, 365 and 81 days."""
    assert find_gate_failures(plan, Gates(max_price_age_days=365)) == []
    assert find_gate_failures(plan, Gates(max_price_age_days=80)) == [
        "1 price of P2 older than 80 days: aws us-east-1 p4d.24xlarge on_demand of 2025-11-21 (365 days)",
        "1 price of P1 older than 80 days: aws us-east-1 p5.48xlarge on_demand of 2026-09-01 (81 days)",
    ]


def test_all_gates_are_told_at_once(plan):
    assert (
        len(find_gate_failures(plan, Gates((400.0,), (120.0,), workloads=True, max_price_age_days=80))) == 1 + 2 + 1 + 2
    )


def test_a_budget_of_what_was_shown_is_kept(plan):
    """Shown are cents: 500.00 for all that is under 500.005."""
    assert find_gate_failures(plan, Gates(totals=(499.996, 500.0 * (1 - 1e-12)))) == []
    (over,) = find_gate_failures(plan, Gates(totals=(499.99,)))
    assert "0.01 EUR (0 %) over the budget of 499.99 EUR" in over


@pytest.mark.parametrize("text", ["", "1,5", "1.500,00", "-3", "1e5", "5 /month", "EUR 5", "/month", "inf", "month"])
def test_what_is_no_budget_is_refused(text):
    gates, complaints = parse_gates({"fail_over_budget": (text,)})
    assert [(each.place, each.value) for each in complaints] == [("--fail-over-budget", text)]
    assert gates == Gates()


@pytest.mark.parametrize("text", ["", "-1", "1.5", "ten", "1" * 7])
def test_what_is_no_age_is_refused(text):
    _, complaints = parse_gates({"max_price_age": text})
    assert [each.place for each in complaints] == ["--max-price-age"]


def test_what_is_asked_for():
    gates, complaints = parse_gates(
        {"fail_over_budget": ("250000", "20000.5/month", "workloads", "3"), "max_price_age": "90"}
    )
    assert complaints == []
    assert gates == Gates((250000.0, 3.0), (20000.5,), workloads=True, max_price_age_days=90)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", list(formats()))
def test_a_plan_that_fails_is_written_all_the_same(planner, job, name):
    passed = planner("estimate", str(job), "--format", name)
    failed = planner("estimate", str(job), "--format", name, "--fail-over-budget", "1", "--max-price-age", "0")
    assert (passed.code, failed.code) == (0, 5)
    assert failed.data == passed.data
    assert "over the budget of 1.00 USD" in failed.err
    assert "older than 0 days" in failed.err


def test_outputs_are_written_before_the_gates(planner, job, tmp_path):
    done = planner("estimate", str(job), "-o", "plan.json", "--fail-over-budget", "1")
    assert done.code == 5
    assert json.loads((tmp_path / "plan.json").read_bytes())["status"] == "optimal"
    assert "wrote plan.json" in done.err


def test_a_plan_inside_its_limits_passes_without_a_word(planner, job):
    done = planner("estimate", str(job), "--fail-over-budget", "1000000", "--max-price-age", "36500")
    assert (done.code, done.err) == (0, "")


def test_no_plan_is_still_no_plan(planner, impossible, tmp_path):
    path = tmp_path / "impossible.json"
    path.write_text(json.dumps(impossible))
    done = planner("estimate", str(path), "--fail-over-budget", "1", "--max-price-age", "0")
    assert done.code == 3
    assert "gates" not in done.err


def test_bad_limits_are_told_with_every_other_fault(planner, job, written):
    before = written()
    done = planner("estimate", str(job), "--fail-over-budget", "a lot", "--max-price-age", "old", "--months", "none",
                   "-o", "plan.json")  # fmt: skip
    assert done.code == 2
    assert "3 problems" in done.err
    for told in ("--fail-over-budget", "a lot", "--max-price-age", "--months"):
        assert told in done.err
    assert written() == before
