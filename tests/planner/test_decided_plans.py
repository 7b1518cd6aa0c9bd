"""Plans that take the first decisions of the scenarios: sums by hand."""

from __future__ import annotations

import math

import pytest

from planner.application import plan

EAST = ("aws", "us-east-1", "g4dn.xlarge")
RESERVED = "reserved_1y_no_upfront"
YEAR = 8_760.0
CHAT = {
    "name": "chat", "kind": "inference",
    "demand": {"accelerator_hours_per_month": 2 * 730, "accelerator": "T4"},
}  # fmt: skip
"""Two T4 that stand in every hour of the year."""
CERTAIN = {
    "throughput_level": 1, "cloud_price_change_annual": 0, "spot_price_change_annual": 0,
    "commitment_price_change_annual": 0, "spot_hours_to_interruption": 24, "hardware_price_level": 1,
    "value_loss_annual": 0.276, "lead_time_months": 8,
}  # fmt: skip


def with_demand(low: float, high: float, **asked) -> dict:
    """Only demand is uncertain; all of the year is decided now."""
    ranges = {name: {"low": value, "high": value} for name, value in CERTAIN.items()}
    ranges["demand_change_annual"] = {"low": low, "high": high}
    return {"ranges": ranges, "scenarios": 6, "draws": 100, "decide_months": 12, **asked}


def standing(change: float, month: int) -> int:
    """Whole nodes of a month, at its middle after a change of demand a year."""
    return math.ceil(2 * (1 + change) ** ((month - 0.5) / 12) - 1e-9)


def cost_of(committed: int, price: float, change: float) -> float:
    """Commitments for the year at a price an hour, the rest by the hour at 10."""
    by_hour = sum(max(0, standing(change, month) - committed) for month in range(1, 13))
    return committed * price * YEAR + by_hour * 10 * 730


@pytest.fixture
def made(priced, ask):
    def make(uncertainty: dict | None, price: float = 6.0, **settings):
        catalog = priced({(*EAST, "on_demand"): 10.0, (*EAST, RESERVED): price})
        settings = {"strategies": ["cloud"], "discount_rate_annual": 0.0, "months": 12, **settings}
        return plan(ask(CHAT, uncertainty=uncertainty, **settings), catalog)

    return make


@pytest.mark.parametrize(("low", "high", "price"), [(-0.9, 0.0, 9.5), (0.0, 2.0, 6.0)])
def test_the_plan_commits_to_what_is_best_over_the_scenarios(made, low, high, price):
    """Two nodes stand: two commitments are best for the planned figures. Over scenarios where demand falls fewer are,
    where it grows more; the plan has those, costs what they cost at the planned demand, and says how much that is above
    the best."""
    found = made(with_demand(low, high), price)
    scenarios = [(each.weight, dict(each.figures)["demand_change_annual"]) for each in found.uncertainty.scenarios]
    mean = {n: math.fsum(w * cost_of(n, price, change) for w, change in scenarios) for n in range(8)}
    best = min(mean, key=mean.__getitem__)
    assert best != 2
    cloud = found.strategy("cloud")
    assert {(p.purchase_option, p.month): p.count for p in cloud.purchases} == ({(RESERVED, 1): best} if best else {})
    assert cloud.present_cost == pytest.approx(cost_of(best, price, 0.0))
    assert (cloud.status, cloud.bound) == ("optimal", pytest.approx(cost_of(best, price, 0.0)))
    [outcome] = found.uncertainty.strategies
    assert outcome.objective == pytest.approx(mean[best], rel=1e-5)
    more = cost_of(best, price, 0.0) - 2 * price * YEAR
    assert outcome.robustness_cost == pytest.approx(more)
    said = str(found.recommendation.sentence)
    assert f"With the planned figures that costs {more:,.0f} USD more than the best plan for them alone" in said
    assert f"Decide now for {best} x g4dn.xlarge" in said or not best
    assert "The plan below decides that: " in said
    assert said.count("x g4dn.xlarge") == (1 if best else 0)


def test_first_decisions_of_the_planned_figures_change_nothing(made):
    """Demand is certain: the plan with scenarios is the plan without."""
    found, alone = made(with_demand(0.0, 0.0)), made(None)
    assert found.strategies == alone.strategies
    [outcome] = found.uncertainty.strategies
    assert outcome.robustness_cost == 0
    assert "the planned figures alone say the same" in str(found.recommendation.sentence)


def test_decisions_that_a_limit_forbids_are_not_planned_and_the_plan_says_so(made):
    """Demand grows: more than two commitments are best over the scenarios, and cost more than 13 x 8,760 a year, the
    most that may be paid. Two cost 12 x 8,760."""
    found = made(with_demand(0.0, 2.0), limits={"opex_per_year": 13 * YEAR})
    [outcome] = found.uncertainty.strategies
    assert outcome.robustness_cost is None
    assert found.strategy("cloud").present_cost == pytest.approx(12 * YEAR)
    assert "No plan can decide that under its limits" in str(found.recommendation.sentence)


def test_every_report_has_the_plan_that_decides_for_the_scenarios(made):
    """Payments and use follow the decided plan: of two nodes one is committed to, the other rented by the hour."""
    found = made(with_demand(-0.9, 0.0), 9.5)
    cloud = found.strategy("cloud")
    committed = sum(p.count for p in cloud.purchases)
    paid = math.fsum(row.amount for row in cloud.cash)
    assert paid == pytest.approx(cost_of(int(committed), 9.5, 0.0)) == pytest.approx(cloud.total_cost)
    by_way: dict[str, float] = {}
    for use in cloud.uses:
        by_way[use.purchase_option] = by_way.get(use.purchase_option, 0.0) + use.node_hours
    assert by_way.get(RESERVED, 0.0) == pytest.approx(committed * YEAR)
    assert by_way["on_demand"] == pytest.approx((2 - committed) * YEAR)
