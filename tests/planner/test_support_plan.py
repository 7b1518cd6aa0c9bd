"""The least fee of a support plan is due in each month in which something is billed or a commitment runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner import pipeline
from planner.analysis.comparison import compare_costs
from planner.application import plan
from planner.optimization.strategy import solve_strategy
from planner.optimization.verification import find_violations
from planner.optimization.verified_plan import VerifiedPlan

T4 = ("aws", "us-east-1", "g4dn.xlarge")
LEAST_FEE = {"cloud_support_minimum_per_month": 100}


@pytest.fixture
def cloud(priced, ask):
    """A plan for the cloud alone: on demand 0.5 an hour, a year paid all upfront for what is given."""

    def make(job: dict, reserved: float, *, months: int = 3, **settings):
        catalog = priced({(*T4, "on_demand"): 0.5, (*T4, "reserved_1y_all_upfront"): reserved})
        settings = {
            "discount_rate_annual": 0.0,
            "commitments_beyond_horizon": "full",
            "assumptions": LEAST_FEE,
            **settings,
        }
        request = ask(job, months=months, strategies=["cloud"], **settings)
        return plan(request, catalog)

    return make


def test_a_year_paid_upfront_is_not_free_of_support(cloud, hours):
    """A year at 0.3 is 2,628, paid in month 1, and 12 months of support 1,200; on demand 4,380 + 1,200."""
    [strategy] = cloud(hours("T4", 730, may_be_owned=False), 0.3, months=12).strategies
    assert [row.amount for row in strategy.cash if row.category == "cloud_support"] == pytest.approx([100] * 12)
    assert strategy.total_cost == pytest.approx(8760 * 0.3 + 1200)


def test_no_year_is_bought_to_be_rid_of_the_support_plan(cloud, hours):
    """Work in months 1 and 2 of 3. On demand: 730 + 2 x 100 = 930. A year at 0.09 is 788.4, and 100 more if support
    were due with bills alone; it runs in all three months, so it costs 1,088.4."""
    job = hours("T4", 1, may_be_owned=False)
    job["demand"] = {"accelerator_hours_per_month": [730, 730, 0], "accelerator": "T4"}
    [strategy] = cloud(job, 0.09).strategies
    assert strategy.purchases == ()
    assert strategy.total_cost == pytest.approx(930)


def test_verification_wants_the_fee_in_months_without_a_bill(priced, ask, hours):
    catalog = priced({(*T4, "on_demand"): 0.5, (*T4, "reserved_1y_all_upfront"): 0.1})
    job = hours("T4", 730, may_be_owned=False)
    basis = pipeline._prepare_basis(ask(job, months=3, strategies=["cloud"], assumptions=LEAST_FEE), catalog)
    setting, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, (), {})
    made = solve_strategy("cloud", setting)
    sound = VerifiedPlan(made.strategy, made.decisions, setting, basis.request, basis.catalog)
    assert not find_violations(sound)
    without = replace(sound, decisions=replace(made.decisions, overheads=()))
    missing = [v for v in find_violations(without) if v.rule == "support_fee"]
    assert [(v.month, v.found, v.allowed) for v in missing] == [(1, 0, 100), (2, 0, 100), (3, 0, 100)]


def test_a_comparison_counts_the_fee_in_months_without_a_bill(cloud, hours):
    """A year at 0.1 is 876, paid in month 1; the least fee adds 3 x 100 to it, all of it by the assumption."""
    job = hours("T4", 730, may_be_owned=False)
    free, paid = (cloud(job, 0.1, assumptions=figures) for figures in ({}, LEAST_FEE))
    found = compare_costs(free, paid, "cloud", "cloud")
    assert (free.strategies[0].total_cost, paid.strategies[0].total_cost) == pytest.approx((876, 1176))
    assert {step.cause: step.total for step in found.steps if step.total} == pytest.approx({"assumption": 300})
