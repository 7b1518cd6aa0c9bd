"""One home in one group where its provider can hold nodes on demand below nodes on spot; in several with the reason."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files
from planner.result import Plan

MADE = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
Rows = list[tuple[str, int, int]]
"""(purchase option, month, nodes)"""
TWO_MONTHS: Rows = [("on_demand", 1, 2), ("spot", 1, 3), ("reserved_1y_no_upfront", 2, 1), ("spot", 2, 6)]
P5 = ("aws/us-east-1", "p5.48xlarge")


def plan_of(place: tuple[str, str], rows: Rows = TWO_MONTHS, gang: int = 1, spot_workload: str = "web") -> Plan:
    """A home that is on demand and on spot; far ahead, so that no time of a schedule has begun."""
    uses = [
        MADE["use"](*place, option, nodes, month=month, workload=spot_workload if option == "spot" else "web")
        for option, month, nodes in rows
    ]
    plan: Plan = MADE["make_plan"](uses, gangs={"web": gang})
    return replace(plan, start="2996-12", month_names=("2996-12", "2997-01"))


@pytest.fixture
def planned(tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path) -> Callable[..., Any]:
    """What the real terraform plans of a provider's root in a month."""

    def run(plan: Plan, month: str, nodes: str = "vm") -> Any:
        provider = plan.strategies[0].uses[0].provider
        folder = write(tmp_path / month, files(plan, nodes=nodes), f'\nmonth = "{month}"\n') / provider
        checked = tfcheck(folder, plan=True)
        assert checked.ok, checked.told
        return checked

    return run


@pytest.mark.slow
def test_an_auto_scaling_group_holds_both(planned: Callable[..., Any]) -> None:
    """2 on demand and 3 on spot are 5 with 2 on demand first; then 1 of 7."""
    for month, desired, base in (("2996-12", 5, 2), ("2997-01", 7, 1)):
        (group,) = planned(plan_of(P5), month).resources("aws_autoscaling_group")
        policy = group["mixed_instances_policy"][0]["instances_distribution"][0]
        assert (group["desired_capacity"], policy["on_demand_base_capacity"]) == (desired, base)
        assert policy["on_demand_percentage_above_base_capacity"] == 0


@pytest.mark.slow
def test_a_flexible_scale_set_holds_both(planned: Callable[..., Any]) -> None:
    place = ("azure/westeurope", "Standard_NC24ads_A100_v4")
    for month, instances, base in (("2996-12", 5, 2), ("2997-01", 7, 1)):
        (scale,) = planned(plan_of(place), month).resources("azurerm_orchestrated_virtual_machine_scale_set")
        mix = scale["priority_mix"][0]
        assert (scale["instances"], mix["base_regular_count"], mix["regular_percentage_above_base"]) == (
            instances, base, 0,
        )  # fmt: skip


def test_the_readme_tells_both_parts_of_a_group() -> None:
    text = files(plan_of(P5))["README.md"].decode()
    assert "on demand of its nodes: 2 in 2996-12, 1 in 2997-01; the others on spot" in text
    assert "| on_demand and spot | on_demand, reserved_1y_no_upfront, spot | 7 |" in text
    assert "One place in several groups" not in text


@pytest.mark.parametrize(
    ("place", "nodes", "told"),
    [
        (P5, "kubernetes", "a managed node group of EKS is on demand or on spot as a whole"),
        (("azure/westeurope", "Standard_NC24ads_A100_v4"), "kubernetes", "a node pool of AKS is regular or spot"),
        (("azure/eastus", "Standard_ND96isr_H100_v5"), "vm", "a scale set in one placement group is regular or spot"),
        (("gcp/us-central1", "a3-highgpu-8g"), "vm", "a managed instance group has one template"),
        (("gcp/us-central1", "a3-highgpu-8g"), "kubernetes", "a node pool of GKE is standard or spot as a whole"),
        (("gcp/us-west4", "tpu-v5litepod-8"), "vm", "a slice is on demand or on spot"),
    ],
)
def test_where_no_group_holds_both_there_are_two_with_the_reason(place: tuple[str, str], nodes: str, told: str) -> None:
    written = files(plan_of(place), nodes=nodes)
    provider = place[0].partition("/")[0]
    assert written[f"{provider}/main.tf"].decode().count(f'module "{provider}_') == 2
    (line,) = [each for each in written["README.md"].decode().splitlines() if "since" in each]
    assert told in line


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (plan_of(P5, gang=16), "a job that spans nodes is on demand or on spot as a whole"),
        (plan_of(P5, spot_workload="batch"), "other workloads run on the nodes on demand"),
        (plan_of(P5, [("on_demand", 1, 2), ("capacity_block", 1, 3)]), "nodes that start as capacity_block need"),
    ],
)
def test_what_one_group_should_not_hold_has_two(plan: Plan, told: str) -> None:
    written = files(plan)
    assert written["aws/main.tf"].decode().count('module "aws_') == 2
    assert told in written["README.md"].decode()


def test_nodes_on_demand_for_a_part_of_the_month_keep_their_own_group() -> None:
    """A mixed group starts nodes on demand first: the end of those would end spot nodes."""
    plan = plan_of(P5, [("on_demand", 1, 2), ("spot", 1, 3)])
    uses = tuple(
        replace(use, node_hours=200.0) if use.purchase_option == "on_demand" else use for use in plan.strategies[0].uses
    )
    text = files(replace(plan, strategies=(replace(plan.strategies[0], uses=uses),)))["README.md"].decode()
    assert "nodes on demand run for a part of the month" in text
