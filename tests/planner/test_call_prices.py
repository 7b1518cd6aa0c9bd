"""Build or call, by hand.

One H100 does 2,500 tokens a second: 6,570 million in 730 hours. A p5.4xlarge costs 6.88 an hour on demand in us-east-1,
5,022.40 a month.
"""

from __future__ import annotations

import pytest

from planner.application import plan
from planner.request.errors import InvalidRequest

NODE = 6.88 * 730
CAPACITY = 2_500 * 3_600 * 730 / 1e6
"""Million tokens a month of one node."""
AWS = {
    "providers": ["aws"], "regions": ["us-east-1"], "strategies": ["cloud"],
    "limits": {"purchase_options": ["on_demand"]},
}  # fmt: skip


def service(millions: float, **more) -> dict:
    return {
        "name": "chat", "kind": "inference", "unit": "tokens", "accelerators": ["H100"],
        "demand": {"units_per_month": millions * 1e6},
        "measurements": [{"accelerator": "H100", "units_per_second": 2_500, "per": "device", "scaling": "replicas"}],
        **more,
    }  # fmt: skip


def compared(catalog, ask, workload: dict, **price):
    asked = ask(workload, **AWS, call_prices=[{"workload": "chat", "input_per_million": 0, **price}])
    [row] = plan(asked, catalog).calls
    return row


def test_one_node_meets_a_price_where_the_calls_cost_as_much(catalog, ask):
    """1,500 million tokens on one node: 3.3483 a million; calls at 2 cost 3,000 a month. Both cost 5,022.40 at
    2,511.2 million a month."""
    row = compared(catalog, ask, service(1_500), output_per_million=2)
    assert row.tokens_per_month == pytest.approx(1.5e9)
    assert row.own_cost_per_million == pytest.approx(NODE / 1_500)
    assert row.call_cost_per_million == pytest.approx(2)
    assert (row.own_cost, row.call_cost) == (pytest.approx(12 * NODE), pytest.approx(36_000))
    assert row.meet_tokens_per_month == pytest.approx(NODE / 2 * 1e6)


def test_a_price_below_the_full_node_is_never_met(catalog, ask):
    """At full use a million costs 5,022.40 / 6,570 = 0.7644: calls at 0.5 stay cheaper."""
    row = compared(catalog, ask, service(20_000), output_per_million=0.5)
    assert row.meet_tokens_per_month is None
    assert row.own_cost_per_million == pytest.approx(4 * NODE / 20_000)  # 20,000 / 6,570: four nodes
    assert row.call_cost == pytest.approx(12 * 10_000)


def test_whole_replicas_put_the_meeting_where_the_steps_allow_it(catalog, ask):
    """With a spare replica two nodes stand up to 6,570 million and three up to 13,140: at 1.2 two cost as much as
    8,370.67 million, more than one does; three cost as much as 12,556 million, which two do with one to spare."""
    row = compared(catalog, ask, service(1_500, spare_replicas=1), output_per_million=1.2)
    assert pytest.approx(8_370.67, abs=0.01) == 2 * NODE / 1.2
    assert CAPACITY < 2 * NODE / 1.2 < 3 * NODE / 1.2 < 2 * CAPACITY
    assert row.meet_tokens_per_month == pytest.approx(3 * NODE / 1.2 * 1e6)


def test_input_and_output_have_their_own_price(catalog, ask):
    """A request of 800 tokens in at 0.5 and 200 out at 1.5 costs 0.0004 + 0.0003: 0.7 a million tokens. Measured 5
    requests a second, 1,314,000 of them a month are a tenth of a node: 1,314 million tokens a month. Both cost as
    much at 5,022.40 / 0.7 = 7,174.86 million."""
    requests = service(1.314, unit="requests")
    requests["measurements"][0]["units_per_second"] = 5
    tokens = {"input_tokens_per_unit": 800, "output_tokens_per_unit": 200}
    row = compared(catalog, ask, requests, **tokens, input_per_million=0.5, output_per_million=1.5)
    assert row.tokens_per_month == pytest.approx(1_314e6)
    assert row.call_cost_per_million == pytest.approx(0.7)
    assert row.call_cost == pytest.approx(12 * 1_314 * 0.7)
    assert row.meet_tokens_per_month == pytest.approx(NODE / 0.7 * 1e6)


def test_work_by_the_hour_is_cheaper_from_the_first_token_or_never(catalog, ask):
    """A batch packs: a million costs 0.7644 at every volume, but for work that is done again after failures (0.2 %)."""
    batch = service(657, kind="batch")
    dear = compared(catalog, ask, batch, output_per_million=1)
    assert NODE / CAPACITY < dear.own_cost_per_million < 1.003 * NODE / CAPACITY
    assert dear.meet_tokens_per_month == 0
    assert compared(catalog, ask, batch, output_per_million=0.7).meet_tokens_per_month is None


def test_other_workloads_do_not_change_the_volume(catalog, ask):
    other = {"name": "train", "demand": {"accelerator_hours_per_month": 500, "accelerator": "A100"}}
    price = {"workload": "chat", "input_per_million": 0, "output_per_million": 2}
    [row] = plan(ask(service(1_500), other, **AWS, call_prices=[price]), catalog).calls
    assert row.own_cost == pytest.approx(12 * NODE)
    assert row.meet_tokens_per_month == pytest.approx(NODE / 2 * 1e6)


@pytest.mark.parametrize(
    ("workload", "price", "path"),
    [
        (service(1), {"workload": "chad", "output_per_million": 1}, "call_prices[0].workload"),
        (service(1, unit="requests"), {"workload": "chat", "output_per_million": 1},
         "call_prices[0].output_tokens_per_unit"),
    ],
)  # fmt: skip
def test_a_price_of_no_workload_or_of_no_tokens_is_a_fault(catalog, ask, workload, price, path):
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(workload, **AWS, call_prices=[{"input_per_million": 0, **price}]), catalog)
    assert [fault.path for fault in caught.value.complaints] == [path]


def test_a_price_of_nothing_is_a_fault(ask):
    with pytest.raises(InvalidRequest, match="more than 0"):
        ask(service(1), call_prices=[{"workload": "chat", "input_per_million": 0, "output_per_million": 0}])


@pytest.mark.slow
def test_a_price_near_nothing_is_met_at_none_of_the_volumes_that_may_be_asked_for(catalog, ask):
    """At a millionth of a cent a million, one node costs as much as calls of 5e14 million: the search ends before."""
    assert compared(catalog, ask, service(1_500), output_per_million=1e-8).meet_tokens_per_month is None
    assert compared(catalog, ask, service(1e7), output_per_million=0.7).meet_tokens_per_month is None
