"""Dated days: when the nodes of each order run, its own reservation, and the hours beside it, by hand."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files, unprovisioned_lines
from planner.reports.terraform.node_pools import RentedNodes, group_rented_nodes
from planner.reports.terraform.running_hours import list_steps
from planner.result import DatedOrder, Plan, Purchase, Use

MADE = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
P5 = ("aws/us-east-1", "p5.48xlarge")
A3 = ("gcp/us-central1", "a3-highgpu-8g")


def use(place: tuple[str, str], option: str, nodes: float, hours: float, **rest: Any) -> Use:
    """`nodes` at once, each for so many hours."""
    found: Use = replace(MADE["use"](*place, option, nodes, **rest), node_hours=nodes * hours)
    return found


def bought(place: tuple[str, str], option: str, *orders: tuple[int, int, int], month: int = 1) -> Purchase:
    """Orders as (nodes, first day, days)."""
    one: Purchase = MADE["commitment"](*place, option, sum(nodes * days for nodes, _, days in orders))
    return replace(
        one, month=month, usable_from=month, usable_to=month, unit="node_day",
        orders=tuple(DatedOrder(*order) for order in orders),
    )  # fmt: skip


def plan_of(uses: list[Use], purchases: list[Purchase], months: tuple[str, ...] = ("2026-12",), gang: int = 32) -> Plan:
    plan: Plan = MADE["make_plan"](uses, purchases, months=len(months), gangs={"w": gang, "other": gang})
    return replace(plan, start=months[0], month_names=months)


def pools(plan: Plan) -> dict[str, RentedNodes]:
    return {part.label: part for part in group_rented_nodes(plan, plan.strategies[0])}


BLOCK = "aws_us_east_1_p5_48xlarge_capacity_block"
ON_DEMAND = "aws_us_east_1_p5_48xlarge_on_demand"
THIRTY_DAYS = [use(P5, "capacity_block", 4, 720), use(P5, "on_demand", 4, 10)]
ORDERS = bought(P5, "capacity_block", (4, 1, 28), (4, 29, 2))


def test_each_block_has_a_group_that_is_empty_in_time() -> None:
    """30 days are blocks of 28 and of 2. They open and close at 11:30 UTC, and EC2 takes nodes from 11:00 on: a group
    has them from 12:00 of its first day (12; 28 x 24 + 12 = 684) to 10:00 of the day after its last (28 x 24 + 10 =
    682; 30 x 24 + 10 = 730)."""
    found = pools(plan_of(THIRTY_DAYS, [ORDERS]))
    assert list(found) == [BLOCK, f"{BLOCK}_2", ON_DEMAND]
    assert found[BLOCK].profiles[0].steps == ((0, 0), (12, 4), (682, 0))
    assert found[f"{BLOCK}_2"].profiles[0].steps == ((0, 0), (684, 4), (730, 0))
    assert [found[label].nodes for label in found] == [(4,), (4,), (4,)]
    # 28 of 30 days of 2,880 node-hours
    assert [found[label].node_hours[0] for label in found] == pytest.approx([2688, 192, 40])
    assert not found[BLOCK].is_partial


def test_what_is_left_of_the_month_starts_when_its_block_is_over() -> None:
    """Hour 730 is 31 December, 10:00: 10 hours on demand end at 20:00."""
    part = pools(plan_of(THIRTY_DAYS, [ORDERS]))[ON_DEMAND]
    (profile,) = part.profiles
    assert (profile.peak, profile.steps) == (4, ((0, 0), (730, 4), (740, 0)))
    assert (profile.waits_until, profile.beside_hours) == (730, 0)
    assert part.is_partial
    assert profile.node_hours(730) == 40


def test_in_a_month_without_hours_after_the_block_they_run_beside_it() -> None:
    """April has 720 hours, all of them in the block: the 10 that a month of 730 hours has more run in its last 10."""
    (profile,) = pools(plan_of(THIRTY_DAYS, [ORDERS], ("2027-04",)))[ON_DEMAND].profiles
    assert profile.steps == ((0, 0), (710, 4), (720, 0))
    assert (profile.waits_until, profile.beside_hours) == (730, 10)


def test_calendar_days_of_google_end_at_midnight() -> None:
    """30 days from 0:00: the group is empty at hour 719, an hour before, and 20 hours on demand follow."""
    found = pools(
        plan_of([use(A3, "calendar", 4, 720), use(A3, "on_demand", 4, 20)], [bought(A3, "calendar", (4, 1, 30))])
    )
    assert found["gcp_us_central1_a3_highgpu_8g_calendar"].profiles[0].steps == ((0, 4), (719, 0))
    assert found["gcp_us_central1_a3_highgpu_8g_on_demand"].profiles[0].steps == ((0, 0), (719, 4), (739, 0))


def test_work_without_a_gang_waits_as_well() -> None:
    """20 days of one node and 100 node-hours more: from hour 20 x 24 + 10 = 490 to 590."""
    uses = [use(P5, "capacity_block", 1, 480), use(P5, "on_demand", 100 / 730, 730)]
    part = pools(plan_of(uses, [bought(P5, "capacity_block", (1, 1, 20))], gang=1))[ON_DEMAND]
    assert part.profiles[0].steps == ((0, 0), (490, 1), (590, 0))


def test_other_work_of_the_place_does_not_wait() -> None:
    """Another gang has its 10 hours from the start of the month on, beside the 10 that wait."""
    uses = [*THIRTY_DAYS, use(P5, "on_demand", 4, 10, workload="other")]
    (profile,) = pools(plan_of(uses, [ORDERS]))[ON_DEMAND].profiles
    assert profile.steps == ((0, 4), (10, 0), (730, 4), (740, 0))
    assert profile.peak == 4


def test_more_hours_than_are_left_begin_before_the_block_is_over() -> None:
    """A block of 24 days is over at hour 586 of 744: 500 hours on demand begin at 244, 342 of them beside it."""
    uses = [use(P5, "capacity_block", 4, 576), use(P5, "on_demand", 4, 500)]
    (profile,) = pools(plan_of(uses, [bought(P5, "capacity_block", (4, 1, 24))]))[ON_DEMAND].profiles
    assert profile.steps == ((0, 0), (244, 4), (744, 0))
    assert (profile.waits_until, profile.beside_hours) == (586, 342)


def test_a_block_that_fills_its_month_ends_in_the_next() -> None:
    """31 days end on 1 January at 11:30; the nodes of January begin at noon. The plan ends with its last month."""
    months = ("2026-12", "2027-01")
    uses = [use(P5, "capacity_block", 4, 730, month=month) for month in (1, 2)]
    orders = [bought(P5, "capacity_block", (4, 1, 31), month=month) for month in (1, 2)]
    part = pools(plan_of(uses, orders, months))[BLOCK]
    assert list_steps(months, part.profiles) == (
        ("2026-12-01T00:00:00Z", 0), ("2026-12-01T12:00:00Z", 4),
        ("2027-01-01T00:00:00Z", 4), ("2027-01-01T10:00:00Z", 0), ("2027-01-01T12:00:00Z", 4),
        ("2027-02-01T00:00:00Z", 0),
    )  # fmt: skip


@pytest.mark.slow
def test_terraform_says_so(tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path) -> None:
    """Before the blocks open no group has nodes; each has its own reservation; the README names the times."""
    plan = plan_of(THIRTY_DAYS, [ORDERS], ("2996-12",))
    folder = write(tmp_path, files(plan)) / "aws"
    (folder / "zz.auto.tfvars").write_text(
        f'capacity_reservation_id = {{ {BLOCK} = {{ all = "cr-1" }}, {BLOCK}_2 = {{ "2996-12" = "cr-2" }} }}\n'
    )
    checked = tfcheck(folder, plan=True)
    assert checked.ok, checked.told
    assert [group["desired_capacity"] for group in checked.resources("aws_autoscaling_group")] == [0, 0, 0]
    found = {
        item["address"].split(".")[1]: item["values"]["capacity_reservation_specification"]
        for item in checked.planned
        if item["type"] == "aws_launch_template"
    }
    targets = {label: [each["capacity_reservation_target"][0]["capacity_reservation_id"] for each in spec]
               for label, spec in found.items()}  # fmt: skip
    assert targets == {BLOCK: ["cr-1"], f"{BLOCK}_2": ["cr-2"], ON_DEMAND: []}
    actions = {(a["start_time"], a["desired_capacity"]) for a in checked.resources("aws_autoscaling_schedule")}
    assert actions == {
        ("2996-12-01T00:00:00Z", 0), ("2996-12-01T12:00:00Z", 4), ("2996-12-29T10:00:00Z", 0),
        ("2996-12-29T12:00:00Z", 4), ("2996-12-31T10:00:00Z", 0),
        ("2996-12-31T10:00:00Z", 4), ("2996-12-31T20:00:00Z", 0), ("2997-01-01T00:00:00Z", 0),
    }  # fmt: skip


def readme_of(plan: Plan) -> str:
    return files(plan)["README.md"].decode()


def test_the_readme_has_the_days_of_each_order_and_what_follows_them() -> None:
    text = readme_of(plan_of(THIRTY_DAYS, [ORDERS]))
    assert f"| `{BLOCK}` | 2026-12 | 4 | 1 | 28 | 2026-12-01 12:00 | 2026-12-29 10:00 |" in text
    assert f"| `{BLOCK}_2` | 2026-12 | 4 | 29 | 2 | 2026-12-29 12:00 | 2026-12-31 10:00 |" in text
    assert f"- `{ON_DEMAND}`: from 2026-12-31 10:00 on, when the dated days of its work are over." in text
    assert "each order of dated days is a reservation of its own" in text


def test_the_readme_says_why_hours_run_beside_a_block() -> None:
    text = readme_of(plan_of(THIRTY_DAYS, [ORDERS], ("2027-04",)))
    assert (
        f"- `{ON_DEMAND}`: 10 hours in 2027-04 run beside the dated days of its work, as the month has no hours for"
        " them after these days." in text
    )


def test_plans_that_tell_no_orders_have_no_days() -> None:
    text = readme_of(plan_of(THIRTY_DAYS, []))
    assert "## Dated days" not in text


def test_each_purchase_is_asked_for_its_own_id() -> None:
    """The examples to fill in have a month for each order, and none for months without one."""
    months = ("2026-12", "2027-01", "2027-02")
    orders = [bought(P5, "capacity_block", (4, 1, 7), month=1), bought(P5, "capacity_block", (4, 1, 14), month=3)]
    uses = [use(P5, "capacity_block", 4, 168, month=1), use(P5, "capacity_block", 4, 336, month=3)]
    text = files(plan_of(uses, orders, months))["aws/terraform.tfvars"].decode()
    example = '"cr-0123456789abcdef0"'
    assert f'#   {BLOCK} = {{ "2026-12" = {example}, "2027-02" = {example} }}' in text


def test_the_readme_counts_nodes_that_run_at_the_same_time() -> None:
    """Two blocks and what follows on them have 4 nodes each, one after the other; 120 is days of a node."""
    text = readme_of(plan_of(THIRTY_DAYS, [ORDERS]))
    assert "| `aws/` | 3 | 4 |" in text
    assert "| capacity_block | 120 node-days |" in text


def test_an_order_has_no_more_nodes_than_one_block() -> None:
    """A block has at most 64 instances: 100 nodes for 7 days are two, each with a group, an id and commands."""
    plan = plan_of([use(P5, "capacity_block", 100, 168)], [bought(P5, "capacity_block", (100, 1, 7))], gang=8)
    assert [part.nodes for part in pools(plan).values()] == [(64,), (36,)]
    commands = files(plan)["purchases.md"].decode()
    assert [commands.count(f"--instance-count {count} ") for count in (100, 64, 36)] == [0, 1, 1]
    assert "Ordered as 64 nodes x 7 days, 36 nodes x 7 days." in commands


def test_a_job_that_no_block_holds_is_refused() -> None:
    plan = plan_of([use(P5, "capacity_block", 128, 168)], [bought(P5, "capacity_block", (128, 1, 7))], gang=1024)
    told = unprovisioned_lines(plan)
    assert len(told) == 2
    assert told[0].endswith(
        "a job of 128 nodes needs one order of capacity_block for all of them, and one has at most 64"
    )
