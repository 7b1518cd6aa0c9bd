"""A service on two types of accelerators: shares of its arrivals, replicas for each, only where that costs less."""

from __future__ import annotations

import pytest

from planner.messages import text_of
from planner.performance.serving.replicas import Replica
from planner.pipeline import plan
from planner.request.errors import InvalidRequest

P5, G6E = ("aws", "us-east-1", "p5.48xlarge", "on_demand"), ("aws", "us-east-1", "g6e.48xlarge", "on_demand")
NETWORK = {"model": "llama-3-70b", "precision": "fp8", "run": "inference"}
SERVING = {"input_tokens": 1000, "output_tokens": 400, "ttft_ms": 2000, "tpot_ms": 50}
SIZES = {"H100-80GB-SXM": (1, 2, 4, 8), "L40S-48GB": (4, 8)}


@pytest.fixture
def served(priced, ask):
    """The plan of one month of the service at 50 USD an hour for 8 H100 and another price for 8 L40S."""

    def planned(rate, l40s, mixed=True, **changes):
        service = {
            "name": "chat", "kind": "inference", "network": NETWORK, "accelerators": ["H100", "L40S"],
            "serving": {**SERVING, "mixed_accelerators": mixed}, "demand": {"requests_per_second": rate},
        }  # fmt: skip
        catalog = priced({P5: 50.0, G6E: l40s})
        return plan(ask(service | changes, months=1, strategies=["cloud"], providers=["aws"]), catalog)

    return planned


def test_two_types_cost_less_where_one_leaves_a_node_half_empty(served):
    """20 requests a second take 6 replicas of two H100 (test_replicas.py): two nodes, 100 USD an hour; or 19 replicas
    of eight L40S at 6: 114. Four replicas on one node of H100 keep 15.55 a second; of the 4.45 that are left, four
    nodes of L40S keep 3.84 and five 4.87: 50 + 5 x 6 = 80 USD an hour, 14,600 less a month, paid at its end (at 8 % a
    year 14,507)."""
    assert served(20, 6.0, mixed=False).strategies[0].total_cost == pytest.approx(100 * 730)
    found = served(20, 6.0)
    assert found.strategies[0].total_cost == pytest.approx(80 * 730)
    nodes = {use.name: use.node_hours / 730 for use in found.strategies[0].uses}
    assert nodes == {"p5.48xlarge": pytest.approx(1), "g6e.48xlarge": pytest.approx(5)}
    (reason,) = (each for each in found.recommendation.reasons if each.code == "service_divided")
    assert text_of(reason) == (
        "chat is served on several types of accelerators in aws us-east-1, which takes 14,507 USD off the present cost:"
        " 78% on H100-80GB-SXM, 22% on L40S-48GB of its requests."
    )


def test_one_type_stays_where_two_cost_more(served):
    """At 20 USD an hour five nodes of L40S cost more than the second node of H100."""
    found = served(20, 20.0)
    assert found.strategies[0].total_cost == pytest.approx(100 * 730)
    assert [row.name for row in found.workloads] == ["chat"]
    assert "service_not_divided" in [each.code for each in found.recommendation.reasons]


@pytest.mark.slow
def test_no_share_costs_less(served, sized):
    """Every share in thousandths, every size of replica on each side, counted from the queues alone."""
    replicas = {
        name: [replica for count in counts if isinstance(replica := sized(name, count), Replica)]
        for name, counts in SIZES.items()
    }

    def least(name, rate, price):
        if rate == 0:
            return 0.0
        return min(-(-each.replicas_for(rate) * each.count // 8) * price for each in replicas[name])

    for rate, l40s in ((3.0, 9.0), (17.0, 3.0), (24.0, 9.0)):
        by_hand = min(
            least("H100-80GB-SXM", rate * share / 1000, 50.0) + least("L40S-48GB", rate * (1 - share / 1000), l40s)
            for share in range(1001)
        )
        cost = served(rate, l40s).strategies[0].total_cost
        assert cost <= by_hand * 730 * (1 + 1e-9), (rate, l40s)
        assert cost == pytest.approx(by_hand * 730), (rate, l40s)


def test_every_hour_of_a_division_is_sized(served):
    """By day 15 hours at 1 and 9 at 0.3 of the level, mean 0.7375: 24 a second are 32.54 and 9.76. Eight replicas of
    two H100 keep 31.92, so one type takes three nodes by day and one at night. 98 % of the arrivals leave 0.62 a second
    by day, which one node of L40S keeps: 106 USD an hour by day and 56 at night."""
    shape = {"requests_per_second": 24, "daily_shape": "day_and_evening"}
    one, two = (served(24, 6.0, mixed=mixed, demand=shape).strategies[0].total_cost for mixed in (False, True))
    assert one == pytest.approx((150 * 15 + 50 * 9) / 24 * 730)
    assert two == pytest.approx((106 * 15 + 56 * 9) / 24 * 730)


@pytest.mark.slow
def test_shares_may_differ_by_hour(served):
    """A service with replicas of both types in one region, whose shares differ by hour, is one of the divisions that
    are tried."""
    shape = {"requests_per_second": 24, "daily_shape": "day_and_evening", "growth_per_month": 0.05}
    for l40s in (6.0, 20.0):
        mixed = served(24, l40s, demand=shape).strategies[0].present_cost
        for whole in ({}, {"spread": True, "regions": ["us-east-1"]}):
            alone = served(24, l40s, mixed=False, demand=shape, **whole).strategies[0].present_cost
            assert mixed <= alone * (1 + 1e-6)


def test_parts_have_no_budget_of_their_own(served):
    with pytest.raises(InvalidRequest) as refused:
        served(20, 6.0, budget_per_month=1000)
    assert [each.path for each in refused.value.complaints] == ["workloads[0].serving.mixed_accelerators"]
