"""The steps of a year: what an apply leaves behind, and when the next one is due."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files
from planner.result import Plan

MADE = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
MONTHS = tuple(f"2996-{month:02}" for month in range(1, 13))


def a_year(where: str, name: str, option: str = "on_demand", per_node: float = 8, months: int = 12) -> Plan:
    """A job of two nodes (one slice) that runs for 20 hours of each month."""
    nodes = 16 / per_node if per_node == 8 else 1
    names = tuple(f"{2996 + at // 12}-{at % 12 + 1:02}" for at in range(months))
    uses = [
        replace(MADE["use"](where, name, option, nodes, month=month, per_node=per_node), node_hours=nodes * 20)
        for month in range(1, months + 1)
    ]
    plan: Plan = MADE["make_plan"](uses, months=months, gangs={"w": nodes * per_node})
    return replace(plan, start=names[0], month_names=names)


def steps_of(plan: Plan) -> list[str]:
    text = files(plan)["README.md"].decode().partition("## Hours")[0]
    return re.findall(r"^\| \d{4}-\d\d \| (?:first )?(.*?)(?:, `month.*)? \| \d+ \|$", text, re.MULTILINE)


def test_a_slice_starts_at_an_apply_only() -> None:
    """It ended itself in each month, and no step said to start it in the next."""
    found = steps_of(a_year("gcp/us-central1", "tpu-v5litepod-64", per_node=64))
    assert found == ["apply"] * 12 + ["`terraform destroy`"]


def test_an_apply_leaves_as_many_changes_as_azure_takes() -> None:
    """Two changes a month: 18 are those of nine months, so that the tenth needs an apply; EC2 takes a year of them."""
    found = steps_of(a_year("azure/eastus", "Standard_ND96isr_H100_v5"))
    assert found == ["apply", *["no change"] * 8, "apply", "no change", "no change", "`terraform destroy`"]
    assert steps_of(a_year("aws/us-east-1", "p5.48xlarge"))[1:12] == ["no change"] * 11


@pytest.fixture
def planned(tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path) -> Callable[[Plan], Any]:
    def run(plan: Plan) -> Any:
        written = files(plan)
        (folder,) = {path.partition("/")[0] for path in written if path.endswith("/main.tf")}
        checked = tfcheck(write(tmp_path, written) / folder, plan=True)
        assert checked.ok, checked.told
        return checked

    return run


@pytest.mark.slow
def test_what_azure_does_not_take_has_no_nodes_until_the_next_apply(planned: Callable[[Plan], Any]) -> None:
    """The count of the apply would have run from the tenth month on: 3 x 730 hours for 60."""
    (setting,) = planned(a_year("azure/eastus", "Standard_ND96isr_H100_v5")).resources(
        "azurerm_monitor_autoscale_setting"
    )
    dated = [p for p in setting["profile"] if p["fixed_date"]]
    assert len(setting["profile"]) == 20
    last = dated[-1]
    assert (last["fixed_date"][0]["start"], last["capacity"][0]["default"]) == ("2996-10-01T00:00:00Z", 0)


@pytest.mark.slow
def test_what_ec2_does_not_take_has_no_nodes_until_the_next_apply(planned: Callable[[Plan], Any]) -> None:
    """36 months have 72 changes and the end; 60 actions are made, the last of them without nodes."""
    plan = a_year("aws/us-east-1", "p5.48xlarge", months=36)
    actions = sorted(
        (action["start_time"], action["desired_capacity"])
        for action in planned(plan).resources("aws_autoscaling_schedule")
    )
    assert (len(actions), actions[-1][1]) == (60, 0)
    assert steps_of(plan)[29] == "apply"
