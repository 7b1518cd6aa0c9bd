"""When nodes run: hand sums of months, hours and hours of the week, and what the real terraform makes of them."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files
from planner.reports.terraform.node_pools import RentedNodes, group_rented_nodes
from planner.reports.terraform.running_hours import MonthProfile, WeekWindow, list_steps, list_week_windows, month_after
from planner.result import Plan, Use

MADE = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
P5 = ("aws/us-east-1", "p5.48xlarge")
BUSINESS = tuple(1 if hour % 24 in range(9, 18) and hour < 120 else 0 for hour in range(168))
"""The load blocks of the shape business_hours: 45 of the 168 hours of a week."""


def make_use(option: str, nodes: float, hours: float, **rest: Any) -> Use:
    used: Use = MADE["use"](*P5, option, nodes, **rest)
    return replace(used, node_hours=nodes * hours)


def rented(uses: list[Use], purchases: Any = (), gangs: Any = None, months: int = 1, **rest: Any) -> RentedNodes:
    plan: Plan = replace(MADE["make_plan"](uses, purchases, months=months, gangs=gangs), **rest)
    (part,) = group_rented_nodes(plan, plan.strategies[0])
    return part


def test_sixteen_node_hours_a_month_are_not_sixteen_machines_that_stay_on() -> None:
    """A remainder of 16 node-hours of a gang of 16 nodes: one hour, and not 16 x 730 = 11,680 node-hours."""
    part = rented([make_use("on_demand", 16, 1)], gangs={"w": 128})
    assert part.profiles == (MonthProfile(16, ((0, 16), (1, 0))),)
    assert part.profiles[0].node_hours(730) == 16


def test_a_gang_that_fills_its_month_has_no_hours() -> None:
    # 730 / 670 = 1.09 is within a tenth, 730 / 660 = 1.106 is not
    assert not rented([make_use("on_demand", 4, 670)], gangs={"w": 32}).is_partial
    assert rented([make_use("on_demand", 4, 660)], gangs={"w": 32}).profiles[0].steps == ((0, 4), (660, 0))


def test_work_without_a_gang_fills_whole_nodes_and_a_part_of_one_more() -> None:
    # 1,000 node-hours of a month are 1.37 nodes on average: one for 730 hours and one for 270; two would be 1,460
    part = rented([make_use("on_demand", 1000 / 730, 730)])
    assert part.profiles == (MonthProfile(2, ((0, 2), (270, 1))),)
    assert part.profiles[0].node_hours(730) == 1000


def test_committed_nodes_run_for_the_whole_month() -> None:
    # 3 nodes are committed and used for 100 hours each; a gang takes 2 more on demand for 50 hours
    part = rented(
        [
            make_use("reserved_1y_no_upfront", 3, 100, workload="a"),
            make_use("on_demand", 2, 50, workload="b"),
        ],
        [MADE["commitment"](*P5, "reserved_1y_no_upfront", 3)],
        gangs={"b": 16},
    )
    assert part.profiles == (MonthProfile(5, ((0, 5), (50, 3))),)


def test_standing_work_follows_the_hours_of_the_week() -> None:
    # 3 nodes from 9 to 18 on five days: 45 of 168 hours, 586.6 of 2,190 node-hours a month
    used = replace(make_use("on_demand", 3, 730 * 45 / 168), block_nodes=(0.0, 3.0))
    part = rented([used], block_of_hour=BUSINESS)
    (profile,) = part.profiles
    assert (profile.peak, profile.steps, sum(profile.week)) == (3, ((0, 0),), 135)
    assert profile.node_hours(730) == pytest.approx(586.607, abs=0.001)
    weekdays, weekend = ("MON", "TUE", "WED", "THU", "FRI"), ("SAT", "SUN")
    assert list_week_windows(("2026-12",), part.profiles) == (
        WeekWindow("2026-12", weekdays, 0, 9, 0),
        WeekWindow("2026-12", weekdays, 9, 9, 3),
        WeekWindow("2026-12", weekdays, 18, 6, 0),
        WeekWindow("2026-12", weekend, 0, 24, 0),
    )


def test_months_follow_one_another_and_end_with_none() -> None:
    profiles = (MonthProfile(4, ((0, 4), (30, 1))), MonthProfile(2, ((0, 2),)))
    assert list_steps(("2026-12", "2027-01"), profiles) == (
        ("2026-12-01T00:00:00Z", 4),
        ("2026-12-02T06:00:00Z", 1),
        ("2027-01-01T00:00:00Z", 2),
        ("2027-02-01T00:00:00Z", 0),
    )
    assert (month_after("2026-12"), month_after("2027-02")) == ("2027-01", "2027-03")


def test_a_short_month_has_no_hours_beyond_its_end() -> None:
    # 650 hours of the plan's 730 are a part of a month, but February 2027 has 672: the nodes stay on to its end
    used = [make_use("on_demand", 2, 650, month=month) for month in (1, 2, 3)]
    part = rented(used, gangs={"w": 16}, months=3)
    assert [profile.steps for profile in part.profiles] == [((0, 2), (650, 0)), ((0, 2), (650, 0)), ((0, 2),)]


def test_capacity_blocks_end_by_themselves() -> None:
    assert not rented([make_use("capacity_block", 2, 48)], gangs={"w": 16}).is_partial


def test_a_service_and_a_job_at_one_place_have_their_own_hours() -> None:
    """3 nodes on business hours and 1 at others: (45 x 3 + 123 x 1) / 168 x 730 = 1,121.07 node-hours. A gang of 2
    nodes for 30 hours: 60. One pool would follow the week with 2 nodes more at all hours (2,581.07), or the end of the
    gang with 3 nodes to the end of the month (2,250)."""
    service = replace(make_use("on_demand", 3, 0, workload="web"), node_hours=1121.07, block_nodes=(1.0, 3.0))
    job = make_use("on_demand", 2, 30, workload="job")
    plan: Plan = MADE["make_plan"]([service, job], months=1, gangs={"job": 16})
    plan = replace(plan, block_of_hour=BUSINESS)
    web, gang = group_rented_nodes(plan, plan.strategies[0])
    assert (web.label, web.workloads) == ("aws_us_east_1_p5_48xlarge_on_demand", ("web",))
    assert web.profiles[0].node_hours(730) == pytest.approx(1121.07, abs=0.01)
    assert (gang.label, gang.workloads) == ("aws_us_east_1_p5_48xlarge_on_demand_hours", ("job",))
    assert gang.profiles == (MonthProfile(2, ((0, 2), (30, 0))),)
    assert (web.gang_nodes, gang.gang_nodes) == (1, 2)


def test_a_service_and_a_job_that_fills_its_month_share_a_pool() -> None:
    service = replace(make_use("on_demand", 3, 0, workload="web"), node_hours=1121.07, block_nodes=(1.0, 3.0))
    plan: Plan = replace(
        MADE["make_plan"]([service, make_use("on_demand", 2, 730, workload="job")], months=1), block_of_hour=BUSINESS
    )
    (part,) = group_rented_nodes(plan, plan.strategies[0])
    assert part.profiles[0].node_hours(730) == pytest.approx(1121.07 + 1460, abs=0.01)


def varied(seed: int) -> Plan:
    """A plan of several ways of using nodes, at random."""
    from random import Random

    dice = Random(seed)
    uses = []
    for month in (1, 2):
        for workload, kind in (("job", "gang"), ("batch", "any"), ("service", "standing"), ("reserved", "committed")):
            if dice.random() < 0.4:
                continue
            nodes = dice.randint(1, 8)
            where = (dice.choice(["aws/us-east-1", "azure/eastus", "gcp/us-central1"]), "x.8")
            option = "reserved_1y_no_upfront" if kind == "committed" else "on_demand"
            used = MADE["use"](*where, option, float(nodes), month=month, workload=workload)
            if kind == "gang":
                used = replace(used, node_hours=nodes * dice.uniform(1, 730))
            elif kind == "any":
                hours = dice.uniform(1, 3000)
                used = replace(used, node_hours=hours, nodes=hours / 730)
            elif kind == "standing":
                low = dice.randint(0, nodes)
                hours = 730 * (45 * nodes + 123 * low) / 168
                used = replace(used, node_hours=hours, block_nodes=(float(low), float(nodes)))
            uses.append(used)
    bought = [MADE["commitment"](where, "x.8", "reserved_1y_no_upfront", 8) for where in {
        f"{each.provider}/{each.region}" for each in uses if each.purchase_option != "on_demand"
    }]  # fmt: skip
    plan: Plan = MADE["make_plan"](uses, bought, gangs={"job": 16})
    return replace(plan, block_of_hour=BUSINESS)


@pytest.mark.parametrize("seed", range(50))
def test_left_running_or_with_hours_a_place_takes_at_most_a_tenth_more_than_the_plan_pays(seed: int) -> None:
    plan = varied(seed)
    parts = group_rented_nodes(plan, plan.strategies[0])
    for provider in {part.provider for part in parts}:
        here = [part for part in parts if part.provider == provider]
        for month in range(1, plan.months + 1):
            same = [u for u in plan.strategies[0].uses if u.month == month and u.provider == provider]
            paid = fsum(u.node_hours for u in same if u.purchase_option == "on_demand")
            paid += 730 * fsum(u.nodes for u in same if u.purchase_option != "on_demand")
            profiles = [part.profiles[month - 1] for part in here]
            left = 730.0 * sum(profile.peak for profile in profiles)
            by_hours = fsum(profile.node_hours(730) for profile in profiles)
            assert any(profile.is_partial for profile in profiles) or left <= 1.1 * paid + 1e-6
            # whole hours: at most one more for each of the nodes that stop
            assert by_hours <= 1.1 * paid + sum(profile.peak for profile in profiles)
            assert by_hours <= left + 1e-6


@pytest.fixture
def planned(tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path) -> Callable[..., Any]:
    """One provider's root of a plan, planned by the real terraform; far ahead, so that no time has begun."""

    def run(provider: str, where: str, name: str, **rest: Any) -> Any:
        job = replace(MADE["use"](where, name, "on_demand", 2.0, workload="job"), node_hours=2 * 30.0)
        service = replace(
            MADE["use"](where, name, "spot", 3.0, workload="web"), node_hours=586.6, block_nodes=(1.0, 3.0)
        )
        plan: Plan = MADE["make_plan"]([job, service], gangs={"job": 16}, months=1)
        plan = replace(plan, month_names=("2996-12",), start="2996-12", block_of_hour=BUSINESS)
        checked = tfcheck(write(tmp_path, files(plan, **rest)) / provider, plan=True)
        assert checked.ok, checked.told
        return checked

    return run


def test_an_auto_scaling_group_follows_hours_and_week(planned: Callable[..., Any]) -> None:
    checked = planned("aws", "aws/us-east-1", "p5.48xlarge")
    actions = {
        (a.get("start_time"), a.get("recurrence"), a.get("end_time"), a["desired_capacity"])
        for a in checked.resources("aws_autoscaling_schedule")
    }
    start, end, days = "2996-12-01T00:00:00Z", "2997-01-01T00:00:00Z", "MON,TUE,WED,THU,FRI"
    assert {action for action in actions if action[1] is None or not action[1]} == {
        (start, None, None, 2), ("2996-12-02T06:00:00Z", None, None, 0), (end, None, None, 0),
        (start, None, None, 1),
    }  # fmt: skip
    assert {action for action in actions if action[1]} == {
        (start, f"0 0 * * {days}", end, 1), (start, f"0 9 * * {days}", end, 3), (start, f"0 18 * * {days}", end, 1),
        (start, "0 0 * * SAT,SUN", end, 1),
    }  # fmt: skip
    groups = checked.resources("aws_autoscaling_group")
    assert sorted((group["desired_capacity"], group["min_size"], group["max_size"]) for group in groups) == [
        (2, 0, 2),
        (3, 0, 3),
    ]


@pytest.mark.slow
def test_a_group_of_google_follows_hours_and_week(planned: Callable[..., Any]) -> None:
    checked = planned("gcp", "gcp/us-central1", "a3-highgpu-8g")
    found = {
        (s["schedule"], s["min_required_replicas"], s["duration_sec"])
        for each in checked.resources("google_compute_autoscaler")
        for s in each["autoscaling_policy"][0]["scaling_schedules"]
    }
    assert found == {
        ("0 0-23 1-1 12 * 2996", 2, 3600), ("0 0-5 2-2 12 * 2996", 2, 3600),  # 30 hours
        ("0 0-23 1-31 12 * 2996", 1, 3600),  # the least of the service
        ("0 0-8 * 12 MON,TUE,WED,THU,FRI 2996", 1, 3600), ("0 9-17 * 12 MON,TUE,WED,THU,FRI 2996", 3, 3600),
        ("0 18-23 * 12 MON,TUE,WED,THU,FRI 2996", 1, 3600), ("0 0-23 * 12 SAT,SUN 2996", 1, 3600),
    }  # fmt: skip
    managers = checked.resources("google_compute_instance_group_manager")
    assert [manager.get("target_size") for manager in managers] == [None, None]


@pytest.mark.slow
def test_a_scale_set_follows_hours_and_week(planned: Callable[..., Any]) -> None:
    checked = planned("azure", "azure/eastus", "Standard_ND96isr_H100_v5")
    by_name = {
        (setting["name"][-8:], profile["name"]): profile
        for setting in checked.resources("azurerm_monitor_autoscale_setting")
        for profile in setting["profile"]
    }
    assert all(p["capacity"][0]["minimum"] == p["capacity"][0]["maximum"] for p in by_name.values())
    dated = {(p["fixed_date"][0]["start"], p["fixed_date"][0]["end"], p["capacity"][0]["default"])
             for p in by_name.values() if p["fixed_date"]}  # fmt: skip
    assert dated == {
        ("2996-12-01T00:00:00Z", "2996-12-02T06:00:00Z", 2), ("2996-12-02T06:00:00Z", "2997-01-01T00:00:00Z", 0),
        ("2997-01-01T00:00:00Z", "3006-12-31T00:00:00Z", 0),
    }  # fmt: skip
    weekly = sorted(
        (p["recurrence"][0]["days"], p["recurrence"][0]["hours"], p["capacity"][0]["default"])
        for p in by_name.values()
        if p["recurrence"]
    )
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    assert weekly == [(days, [0], 1), (days, [9], 3), (days, [18], 1), (["Saturday", "Sunday"], [0], 1)]


@pytest.mark.slow
def test_a_slice_used_in_part_ends_without_an_apply(
    tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    """19.5 hours in each of 12 months are 234: left running from the first month on, they were 8,760, and are 20."""
    used = MADE["use"]("gcp/us-central1", "tpu-v5litepod-64", "on_demand", 19.5 / 730, per_node=64)
    uses = [replace(used, month=month, node_hours=19.5) for month in range(1, 13)]
    plan: Plan = replace(
        MADE["make_plan"](uses, months=12, gangs={"w": 64}),
        start="2996-01",
        month_names=tuple(f"2996-{month:02}" for month in range(1, 13)),
    )
    checked = tfcheck(write(tmp_path, files(plan)) / "gcp", plan=True)
    assert checked.ok, checked.told
    (slice_,) = checked.resources("google_tpu_v2_vm")
    assert slice_["metadata"]["end-at"] == "2996-01-01T20:00:00Z"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "where", "name", "kind"),
    [
        ("gcp", "gcp/us-central1", "a3-highgpu-8g", "google_container_node_pool"),
        ("azure", "azure/eastus", "Standard_ND96isr_H100_v5", "azurerm_kubernetes_cluster_node_pool"),
    ],
)
def test_a_node_pool_used_in_part_scales_to_zero(
    provider: str, where: str, name: str, kind: str, planned: Callable[..., Any]
) -> None:
    pools = planned(provider, where, name, nodes="kubernetes").resources(kind)
    found = [
        (pool["autoscaling"][0]["total_min_node_count"], pool["autoscaling"][0]["total_max_node_count"])
        if provider == "gcp"
        else (pool["min_count"], pool["max_count"])
        for pool in pools
    ]
    assert sorted(found) == [(0, 2), (0, 3)]
    assert {pool.get("node_count") for pool in pools} == {None}
