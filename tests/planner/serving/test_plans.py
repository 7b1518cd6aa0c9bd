"""Services of served models in plans: replicas by load block on whole nodes, and what is refused."""

from __future__ import annotations

import math

import pytest

from planner.pipeline import plan
from planner.request.errors import InvalidRequest

P5, HOURLY = ("aws", "us-east-1", "p5.48xlarge", "on_demand"), 50.0
NETWORK = {"model": "llama-3-70b", "precision": "fp8", "run": "inference"}
SERVING = {"input_tokens": 1000, "output_tokens": 400, "ttft_ms": 2000, "tpot_ms": 50}

APART = {"prefill_accelerators": 2, "ttft_ratio": 0.8, "tpot_ratio": 0.7}


def chat(rate, **changes):
    return {
        "name": "chat", "kind": "inference", "network": NETWORK, "serving": SERVING, "accelerators": ["H100"],
        "gang": 2, "demand": {"requests_per_second": rate},
    } | changes  # fmt: skip


@pytest.fixture
def nodes(priced, ask):
    """The cost of a month of one service on p5.48xlarge at 50 USD an hour, and the plan."""
    catalog = priced({P5: HOURLY})

    def planned(**service):
        found = plan(ask(chat(**service), months=1, strategies=["cloud"], providers=["aws"]), catalog)
        strategy = found.strategies[0]
        return strategy.total_cost, found

    return planned


def test_replicas_stand_on_whole_nodes(nodes):
    """Replicas of two H100 (test_replicas.py): 6 at 20 a second are 12 accelerators, two nodes; 49 at 200 are 98, 13
    nodes."""
    for rate, count in ((2, 1), (20, 2), (200, 13)):
        cost, found = nodes(rate=rate)
        assert cost == pytest.approx(count * 730 * HOURLY), rate
        (used,) = found.throughput
        assert used.units_per_hour == pytest.approx(4.158 * 3600, rel=1e-3)
        assert used.basis == "measured"
        assert (used.explanation[0].code, used.explanation[0].parameters["concurrency"]) == ("replica_estimate", 78)


def test_a_spare_replica_may_take_a_node_more(nodes):
    """49 replicas and four spares are 106 accelerators: 14 nodes."""
    cost, _ = nodes(rate=200, spare_replicas=4)
    assert cost == pytest.approx(math.ceil(53 * 2 / 8) * 730 * HOURLY)


def test_each_block_has_its_own_replicas(nodes):
    """By day 15 hours at 1 and 9 at 0.3 of the level, mean 0.7375: 20 a second are 27.1 and 8.14. 508.7 and 152.7
    at once take 7 replicas (546 places) and 3 (of two, with 156, most wait too long): 2 nodes and 1."""
    cost, _ = nodes(rate=20, demand={"requests_per_second": 20, "daily_shape": "day_and_evening"})
    assert cost == pytest.approx((2 * 15 / 24 + 1 * 9 / 24) * 730 * HOURLY)


def test_the_planner_chooses_the_size_of_a_replica(nodes):
    """Without `gang` every size is a home: at 20 a second two nodes are the fewest for any, and cost the same."""
    cost, _ = nodes(rate=20, gang=None)
    assert cost == pytest.approx(2 * 730 * HOURLY)


def test_what_is_not_served_says_why(nodes):
    _, found = nodes(rate=20, serving={**SERVING, "tpot_ms": 3})
    assert found.strategies[0].status == "infeasible"
    assert "tpot_limit_unmet" in repr(found)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"serving": None}, "workloads[0].serving"),
        ({"network": None}, "workloads[0].network"),
        ({"network": {**NETWORK, "run": "pretraining"}}, "workloads[0].network.run"),
        ({"kind": "batch"}, "workloads[0].kind"),
        ({"demand": {"units_per_month": 5}}, "workloads[0].demand"),
        ({"unit": "tokens"}, "workloads[0].unit"),
        ({"gang": 1.5}, "workloads[0].gang"),
        ({"gang": None, "serving": {**SERVING, "disaggregation": APART}}, "workloads[0].gang"),
        ({"gang": 2, "serving": {**SERVING, "disaggregation": APART}}, "workloads[0].gang"),
        ({"measurements": [{"accelerator": "H100", "units_per_second": 1, "per": "job"}]}, "workloads[0].measurements"),
    ],
)
def test_contradictions_are_refused(catalog, ask, changes, place):
    """Also a rate of requests to a described model without their lengths: it would be planned at one stream."""
    with pytest.raises(InvalidRequest) as refused:
        plan(ask(chat(20, **changes)), catalog)
    assert place in [problem.path for problem in refused.value.complaints]


def test_a_model_that_fits_on_no_node_takes_two_that_are_joined(priced, ask):
    """llama-3.1-405b in bf16 on 16 H100 of two p5, which EFA joins: whole gangs of two nodes. ND96is has no fabric: the
    reason says so beside the memory that is needed."""
    network = {"model": "llama-3.1-405b", "precision": "bf16", "run": "inference"}
    service = chat(
        1, may_be_owned=False, network=network, gang=None, serving={**SERVING, "ttft_ms": 4000, "tpot_ms": 100}
    )
    found = plan(ask(service, months=1, strategies=["cloud"], providers=["aws"]), priced({P5: HOURLY}))
    assert found.strategies[0].total_cost == pytest.approx(2 * 730 * HOURLY)
    assert found.throughput[0].explanation[0].parameters["nodes"] == 2
    alone = ("azure", "eastus", "Standard_ND96is_H100_v5", "on_demand")
    refused = plan(ask(service, months=1, strategies=["cloud"], providers=["azure"]), priced({alone: HOURLY}))
    assert refused.strategies[0].status == "infeasible"
    for code in ("replica_over_nodes", "replica_memory_too_small", "nodes_not_joined"):
        assert code in repr(refused.reasons)


def test_twenty_requests_a_second_of_400_tokens_take_eight_h200(catalog, ask):
    """They were planned on 864. Four replicas of two H200 or fewer: one p5en.48xlarge on the one-year plan, 39.87648 an
    hour for 8,760 hours. Without the lengths of prompts they are refused (tests/doors/test_serving.py)."""
    service = chat(20, accelerators=["H200"], serving={**SERVING, "input_tokens": 100})
    asked = ask(service, months=12, strategies=["cloud"], providers=["aws"], regions=["us-east-1"])
    found = plan(asked, catalog).strategies[0]
    assert found.total_cost == pytest.approx(39.87648 * 8_760, abs=0.05)
    assert {use.nodes_at_once for use in found.uses} == {1}
