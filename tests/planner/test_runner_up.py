"""What a recommendation is compared with: another plan, further off than the proofs leave open."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date

import pytest

from planner.analysis.recommendation import recommend
from planner.application import plan
from planner.messages import text_of
from planner.request.calendar import month_index
from planner.result import Purchase, Strategy
from pricing.catalog.agreed_prices import agree_price
from pricing.private_prices import PrivatePriceRule

EAST = ("aws", "us-east-1")
BOX = {"name": "box", "accelerator": "T4", "accelerators": 4, "price": 9_000, "max_power_kw": 0.5}
AT_ONCE = {"lead_time_months": 0}


def strategy(name: str, cost: float, bound: float | None = None, owned: int = 0) -> Strategy:
    purchases = () if not owned else (
        Purchase(1, "owned", "box", "", "", "owned", "T4", 4, owned, 1, 60, 60, cost, 0.0, cost),
    )  # fmt: skip
    bound = cost if bound is None else bound
    return Strategy(name, "optimal", cost, cost, bound, (cost - bound) / cost, purchases=purchases)


def rival(*strategies: Strategy) -> tuple[str | None, str | None]:
    advice = recommend(strategies, 12, "USD", 0.0)
    return advice.strategy, advice.runner_up


def test_a_plan_with_the_same_decisions_is_no_rival():
    """Cloud and hybrid buy nothing alike, 47 apart in cost: on-premises is the rival."""
    found = rival(strategy("cloud", 1000.0), strategy("hybrid", 1047.0), strategy("onprem", 1300.0, owned=2))
    assert found == ("cloud", "onprem")


@pytest.mark.parametrize(
    ("own_bound", "cloud_bound", "expected"),
    [
        (1250.0, 990.0, "onprem"),  # 300 apart, the proofs leave 50 and 10 open
        (990.0, 1000.0, None),  # its optimum may lie below the recommended plan
        (1300.0, 600.0, None),  # the recommended plan may be 400 dearer than its own optimum
    ],
)
def test_a_rival_is_outside_both_gaps(own_bound, cloud_bound, expected):
    found = rival(strategy("cloud", 1000.0, cloud_bound), strategy("onprem", 1300.0, own_bound, owned=2))
    assert found == ("cloud", expected)


def test_what_the_proofs_cannot_tell_apart_is_said():
    advice = recommend((strategy("cloud", 1000.0, 950.0), strategy("hybrid", 1040.0, 950.0, owned=1)), 12, "USD", 0.0)
    (told,) = [reason for reason in advice.reasons if reason.code == "not_told_apart"]
    assert told.parameters["strategy"] == "hybrid"
    assert told.parameters["difference"] == pytest.approx(40)


def test_a_plan_without_any_bound_is_not_told_apart_in_finite_figures():
    """A search that the clock ends early proves nothing: the reason says so instead of naming an infinite amount."""
    cut = Strategy("hybrid", "within_gap", 1040.0, 1040.0, None, None, cut_by_clock=True)
    cut = replace(cut, purchases=strategy("onprem", 1040.0, owned=1).purchases)
    advice = recommend((strategy("cloud", 1000.0), cut), 12, "USD", 0.0)
    assert (advice.strategy, advice.runner_up) == ("cloud", None)
    (told,) = [reason for reason in advice.reasons if reason.code == "not_told_apart"]
    assert told.parameters["open_difference"] is None
    assert text_of(told) == (
        "hybrid is planned otherwise and costs +40 USD: the search ended before it had a proof for both, so which of"
        " the two is cheaper is not known."
    )


def test_what_is_there_is_not_called_renting(catalog, ask, hours):
    """Two existing servers do all of the work: nothing is rented or bought, and the sentence says so."""
    there = {"nodes": [{"system": "8x H100 server", "count": 2}]}
    found = plan(ask(hours("H100", 5000), existing=there), catalog)
    sentence = found.recommendation.sentence.text
    assert sentence.startswith("Use what you have already: ")
    assert found.recommendation.runner_up is None
    assert "-" not in sentence.split(" USD")[0]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(12))
def test_no_rival_is_inside_a_gap_and_no_work_costs_less_than_nothing(priced, ask, hours, seed):
    """Random prices, horizons, existing boxes and demands: a runner-up has other decisions and differs by more than
    both proofs leave open; every unit cost is positive or nothing."""
    chance = random.Random(seed)
    prices = {
        (*EAST, "g4dn.12xlarge", "on_demand"): chance.uniform(1, 5),
        (*EAST, "g4dn.12xlarge", "reserved_1y_no_upfront"): chance.uniform(0.5, 4),
        (*EAST, "g4dn.xlarge", "on_demand"): chance.uniform(0.3, 1.5),
    }
    settings = {
        "months": chance.choice([3, 12, 24]), "systems": [BOX],
        "assumptions": {"lead_time_months": chance.choice([0, 4])},
        "existing_value": chance.choice(["market", "none"]), "start": chance.choice(["2026-12", "2027-06"]),
        "limits": {"purchase_options": ["on_demand", "reserved"]},
    }  # fmt: skip
    if chance.random() < 0.4:
        settings["existing"] = {
            "nodes": [{"system": "box", "count": 1, "bought": chance.choice(["2026-06", "2024-01"])}]
        }
    jobs = [hours("T4", chance.uniform(100, 9000), name) for name in ("a", "b")[: chance.choice([1, 2])]]
    found = plan(ask(*jobs, **settings), priced(prices))
    assert all(row.cost >= 0 for each in found.strategies for row in each.workloads)
    advice = found.recommendation
    if advice.runner_up is None:
        return
    chosen, other = found.strategy(advice.strategy), found.strategy(advice.runner_up)
    assert (chosen.purchases, chosen.uses) != (other.purchases, other.uses)
    apart = abs(chosen.present_cost - other.present_cost)
    assert apart > chosen.present_cost - chosen.bound
    assert apart > other.present_cost - other.bound


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_no_rival_lacks_terms_that_are_not_named(priced, ask, hours, seed):
    """Random prices of a T4 machine that is sold in us-west-2 only, on demand, and is priced with a term in us-east-1:
    wherever a three-year price as good as free would make cloud the choice, the recommendation names it."""
    chance = random.Random(seed)
    west = ("aws", "us-west-2")
    prices = {
        (*west, "g4dn.12xlarge", "on_demand"): chance.uniform(1, 6),
        (*EAST, "g4dn.12xlarge", "reserved_3y_no_upfront"): 1.0,
    }
    catalog = priced(prices)
    settings = {"months": 36, "systems": [BOX], "regions": ["us-west-2"], "assumptions": AT_ONCE}
    asked = ask({**hours("T4", chance.uniform(1500, 6000)), "kind": "inference"}, **settings)
    found = plan(asked, catalog)
    named = {t.purchase_option for t in found.negotiation if t.kind == "term"}
    free = PrivatePriceRule(
        "aws", "", "g4dn.12xlarge", "us-west-2", "reserved_3y_no_upfront", None, 0.001, "USD", date(2026, 11, 1),
        None, "", "test:1",
    )  # fmt: skip
    flips = plan(asked, agree_price(catalog, free)).recommendation.strategy != found.recommendation.strategy
    assert named == ({"reserved_3y_no_upfront"} if flips else set())
    assert ("known price" in found.recommendation.sentence.text) is flips


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 24))])
def test_no_plan_is_better_by_a_date_in_the_past(priced, ask, hours, seed):
    """Random starts up to half a year before and after the plan's date: nothing is ordered or committed to before that
    date, nothing works before it can be delivered, no price is newer, and the same months planned half a year earlier
    cost no more."""
    chance = random.Random(seed)
    prices = {
        (*EAST, "g4dn.12xlarge", "on_demand"): chance.uniform(2, 6),
        (*EAST, "g4dn.12xlarge", "reserved_1y_no_upfront"): chance.uniform(1, 4),
    }
    lead = chance.choice([0, 3, 5])
    settings = {
        "months": chance.choice([6, 12, 18]), "systems": [BOX],
        "start": chance.choice(["2026-06", "2026-09", "2027-02"]),
        "assumptions": {"lead_time_months": lead}, "commitments_beyond_horizon": chance.choice(["full", "pro_rata"]),
    }  # fmt: skip
    job = hours("T4", chance.uniform(1500, 9000)) | {"kind": chance.choice(["training", "inference"])}
    catalog = priced(prices, dict.fromkeys(prices, "2026-05-01"))
    late = plan(ask(job, **settings), catalog)
    early = plan(ask(job, **settings, as_of="2026-05-21"), catalog)
    first_open = month_index("2026-12") - month_index(late.start) + 1  # the first month that begins after 2026-11-21
    for each in late.strategies:
        for purchase in each.purchases:
            assert purchase.month >= first_open
            assert purchase.what != "owned" or purchase.usable_from >= first_open + lead
        if each.status != "infeasible" and early.strategy(each.name).status != "infeasible":
            assert early.strategy(each.name).present_cost <= each.present_cost * (1 + 1e-5)
    assert all(price.as_of <= late.as_of for price in late.prices)
