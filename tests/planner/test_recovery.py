"""Disaster recovery with compute: each level by hand, and nodes that really stand in the second place.

One node of eight H100 (p5.48xlarge) costs 55.04 an hour in us-east-1 and us-west-2, and 58.8928 in eu-north-1, on
demand. A service of 32 accelerators stands on four of them: 4 x 55.04 x 8,760 = 1,928,601.60 a year.
"""

from __future__ import annotations

import pytest

from planner.application import plan
from planner.reports.text import render_sections
from planner.request.errors import InvalidRequest

AWS = {
    "providers": ["aws"], "strategies": ["cloud"], "regions": ["us-east-1", "eu-north-1"], "discount_rate_annual": 0,
    "limits": {"purchase_options": ["on_demand"]},
}  # fmt: skip
EAST, NORTH = 55.04 * 8_760, 58.8928 * 8_760
"""A node for a year."""


def service(level: str | None, place: str = "aws eu-north-1", accelerators: int = 32, **more) -> dict:
    made = {
        "name": "chat", "kind": "inference", "gang": 8, "accelerators_per_node": 8,
        "demand": {"accelerator_hours_per_month": 730 * accelerators, "accelerator": "H100"},
    }  # fmt: skip
    return made | ({"recovery": {"level": level, "place": place}} if level else {}) | more


def standing(found, workload: str) -> set[tuple[str, float]]:
    return {(use.region, use.nodes_at_once) for use in found.strategy("cloud").uses if use.workload == workload}


def test_a_warm_standby_stands_in_the_second_place(catalog, ask):
    """A quarter of four replicas is one node in eu-north-1: 4 x 482,150.40 + 515,900.93."""
    found = plan(ask(service("warm_standby"), **AWS), catalog)
    assert found.strategy("cloud").total_cost == pytest.approx(4 * EAST + NORTH)
    assert standing(found, "chat") == {("us-east-1", 4)}
    assert standing(found, "chat (warm standby)") == {("eu-north-1", 1)}


def test_a_stated_share_stands_by_in_whole_replicas(catalog, ask):
    """0.3 of four replicas is 1.2: two nodes."""
    found = plan(ask(service("warm_standby"), **AWS, assumptions={"standby_fraction": 0.3}), catalog)
    assert standing(found, "chat (warm standby)") == {("eu-north-1", 2)}


def test_active_in_two_places_has_all_nodes_in_both(catalog, ask):
    found = plan(ask(service("active_active"), **AWS), catalog)
    assert found.strategy("cloud").total_cost == pytest.approx(4 * EAST + 4 * NORTH)
    assert standing(found, "chat (active in a second place)") == {("eu-north-1", 4)}


def test_a_pilot_light_has_its_data_and_no_node(catalog, ask):
    """1,000 GB at 0.023 a GB and month are 276 a year; eu-north-1 has no price of its own, so its copy is estimated at
    the same, with a gap. 200 GB a month to another region at 0.02 are 48 a year. No node beside the four."""
    copied = {"level": "pilot_light", "place": "aws eu-north-1", "replicated_gb_per_month": 200}
    found = plan(ask(service(None, storage_gb=1_000, recovery=copied), **AWS), catalog)
    paid: dict[str, float] = {}
    for row in found.strategy("cloud").cash:
        paid[row.category] = paid.get(row.category, 0.0) + row.amount
    assert paid["storage"] == pytest.approx(276 + 276)
    assert paid["transfer"] == pytest.approx(48)
    assert paid["on_demand"] == pytest.approx(4 * EAST)
    assert found.recovery[0].cost_added == pytest.approx(276 + 48)
    assert any(gap.subject == "aws eu-north-1 object_storage" for gap in found.gaps)
    assert {use.region for use in found.strategy("cloud").uses} == {"us-east-1"}


def test_the_levels_stand_beside_each_other_with_cost_and_hours(catalog, ask):
    """Failover 5 minutes, start of a node 10, restart of the workload 20: a pilot light is back after 35 minutes, a
    warm standby serves a part after 5 and all after 35, two active places go on."""
    found = plan(ask(service("warm_standby", restart_minutes=20), **AWS), catalog)
    rows = {row.level: row for row in found.recovery}
    assert list(rows) == ["pilot_light", "warm_standby", "active_active"]
    assert [row.is_chosen for row in found.recovery] == [False, True, False]
    assert rows["pilot_light"].cost_added == pytest.approx(0, abs=0.01)
    assert rows["warm_standby"].cost_added == pytest.approx(NORTH)
    assert rows["active_active"].cost_added == pytest.approx(4 * NORTH)
    assert [row.nodes for row in found.recovery] == [0, 1, 4]
    assert [(row.hours_to_part, row.hours_to_all) for row in found.recovery] == [
        pytest.approx((35 / 60, 35 / 60)), pytest.approx((5 / 60, 35 / 60)), (0, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stated", "marked"),
    [({}, [True, True, False]), ({"failover_minutes": 3, "node_start_minutes": 6}, [False, False, False])],
)
def test_hours_of_our_own_are_marked_as_planning_values(catalog, ask, stated, marked):
    """Two active places need no minutes. Of a drill: 3 minutes to the standby, 19 with new nodes and a
    restart of 10."""
    found = plan(ask(service("warm_standby"), **AWS, assumptions=stated), catalog)
    assert [not row.is_stated for row in found.recovery] == marked
    shown = " ".join(render_sections(found).decode().split())
    assert ("~ 0.42 ~ 0.42" in shown) is bool(marked[0])
    assert ("planning value, not a measurement" in shown) is any(marked)
    if stated:
        assert (found.recovery[0].hours_to_all, found.recovery[1].hours_to_part) == pytest.approx((19 / 60, 3 / 60))


def test_the_first_place_is_never_the_second(catalog, ask):
    """us-east-1 is the cheaper one: with the second place there, the service itself goes to eu-north-1."""
    found = plan(ask(service("warm_standby", "aws us-east-1"), **AWS), catalog)
    assert {region for region, _ in standing(found, "chat")} == {"eu-north-1"}
    assert {region for region, _ in standing(found, "chat (warm standby)")} == {"us-east-1"}


def test_work_at_any_hour_has_a_pilot_light_alone(catalog, ask):
    batch = {"name": "train", "demand": {"accelerator_hours_per_month": 100, "accelerator": "H100"}}
    with pytest.raises(InvalidRequest, match="state pilot_light"):
        ask({**batch, "recovery": {"level": "warm_standby", "place": "aws eu-north-1"}})
    asked = ask({**batch, "recovery": {"level": "pilot_light", "place": "aws eu-north-1"}}, **AWS)
    assert [row.level for row in plan(asked, catalog).recovery] == ["pilot_light"]


def test_an_unknown_place_and_a_taken_name_are_faults(catalog, ask):
    with pytest.raises(InvalidRequest) as caught:
        plan(ask(service("pilot_light", "aws eu-nord-1")), catalog)
    assert [fault.path for fault in caught.value.complaints] == ["workloads[0].recovery.place"]
    with pytest.raises(InvalidRequest, match="two workloads of one name"):
        plan(ask(service("warm_standby"), {**service(None), "name": "Chat (warm standby)"}), catalog)
    with pytest.raises(InvalidRequest, match="does not allow this place"):
        plan(ask(service("warm_standby", "aws us-west-2"), **AWS), catalog)


def test_where_the_second_place_cannot_serve_the_plan_says_so(catalog, ask):
    found = plan(ask(service("warm_standby", "aws eu-west-3"), **{**AWS, "regions": []}), catalog)
    assert found.status == "infeasible"
    assert any("chat (warm standby)" in str(reason) for reason in found.strategy("cloud").reasons)
