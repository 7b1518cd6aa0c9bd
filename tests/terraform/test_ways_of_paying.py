"""Every way of paying has its own way of starting nodes, or is refused by its name and with the reason."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files, unprovisioned_lines
from planner.reports.terraform.node_pools import BILLED
from planner.reports.terraform.provisioning.module_catalog import load_clouds
from planner.result import Plan
from planner.supply.purchase_options import load_purchase_options

MADE = runpy.run_path(str(Path(__file__).with_name("conftest.py")))
A3 = ("gcp/us-central1", "a3-highgpu-8g")
FAR: Mapping[str, Any] = {"start": "2996-12", "month_names": ("2996-12",)}


def plan_of(where: str, name: str, option: str, nodes: float = 2, hours: float = 730) -> Plan:
    one = replace(MADE["use"](where, name, option, nodes), node_hours=nodes * hours)
    plan: Plan = replace(MADE["make_plan"]([one], months=1), **FAR)
    return plan


@pytest.mark.parametrize("option", sorted(load_purchase_options()))
def test_each_option_is_billed_on_demand_or_started_or_refused(option: str) -> None:
    """Of every way of paying that the planner finds: none is started as another one in silence."""
    for where, name in (("aws/us-east-1", "p5.48xlarge"), A3, ("azure/eastus", "Standard_ND96isr_H100_v5"),
                        ("gcp/us-west4", "tpu-v5litepod-8")):  # fmt: skip
        full = f"{option}_1y" if option in ("reserved", "committed_use", "savings_plan") else option
        plan = plan_of(where, name, full)
        written, lost = files(plan), unprovisioned_lines(plan)
        provider = where.partition("/")[0]
        if lost:
            assert f" as {option}" in lost[0]
            assert f"{provider}/main.tf" not in written
        else:
            started = "on_demand" if option in BILLED else option
            assert f'purchase_option = "{started}"' in " ".join(written[f"{provider}/main.tf"].decode().split())


def test_what_no_module_starts_is_refused_by_name_and_with_the_reason() -> None:
    (line,) = unprovisioned_lines(plan_of("gcp/us-west4", "tpu-v5litepod-8", "flex_start"))
    assert (
        "the module tpu_pool cannot start nodes as flex_start: queued resources of the Terraform provider take no run"
        in line
    )
    (line,) = unprovisioned_lines(plan_of("aws/us-east-1", "p5.48xlarge", "calendar"))
    assert line.endswith("the module gpu_pool cannot start nodes as calendar")
    (line,) = unprovisioned_lines(plan_of("aws/us-east-1", "p5.48xlarge", "barter"))
    assert line.endswith("the module gpu_pool cannot start nodes as barter")


@pytest.fixture
def template(
    tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> Callable[..., tuple[Any, dict[str, Any]]]:
    def planned(plan: Plan) -> tuple[Any, dict[str, Any]]:
        checked = tfcheck(write(tmp_path, files(plan)) / "gcp", plan=True)
        assert checked.ok, checked.told
        (found,) = checked.resources("google_compute_instance_template")
        return checked, found

    return planned


def test_flex_start_is_flex_start(template: Callable[..., tuple[Any, dict[str, Any]]]) -> None:
    """It was started as STANDARD, at another price. 2 nodes for 50 hours each."""
    checked, found = template(plan_of(*A3, "flex_start", 2, 50))
    scheduling = found["scheduling"][0]
    assert (scheduling["provisioning_model"], scheduling["instance_termination_action"]) == ("FLEX_START", "DELETE")
    assert scheduling["max_run_duration"][0]["seconds"] == 50 * 3600
    (request,) = checked.resources("google_compute_resize_request")
    assert (request["resize_by"], request["requested_run_duration"][0]["seconds"]) == (2, str(50 * 3600))


def test_a_model_that_older_providers_take_for_standard_needs_a_newer_one() -> None:
    """They make a standard machine of FLEX_START in silence."""
    for option, newer in (("flex_start", True), ("calendar", True), ("on_demand", False), ("spot", False)):
        text = files(plan_of(*A3, option))["gcp/versions.tf"].decode()
        assert ('">= 7.42, < 8.0"' in text) == newer, text


@pytest.mark.slow
def test_flex_start_runs_a_week_at_most(template: Callable[..., tuple[Any, dict[str, Any]]]) -> None:
    _, found = template(plan_of(*A3, "flex_start", 2, 400))
    assert found["scheduling"][0]["max_run_duration"][0]["seconds"] == 7 * 86400


@pytest.mark.slow
def test_dated_days_are_bound_to_their_reservation(template: Callable[..., tuple[Any, dict[str, Any]]]) -> None:
    _, found = template(plan_of(*A3, "calendar"))
    scheduling = found["scheduling"][0]
    assert (scheduling["provisioning_model"], scheduling["instance_termination_action"]) == (
        "RESERVATION_BOUND",
        "DELETE",
    )
    (affinity,) = found["reservation_affinity"]
    assert (affinity["type"], affinity["specific_reservation"][0]["values"]) == ("SPECIFIC_RESERVATION", ["training"])


@pytest.mark.slow
def test_a_gang_in_a_reservation_has_no_placement_of_its_own(
    template: Callable[..., tuple[Any, dict[str, Any]]],
) -> None:
    """With a policy they match a reservation only if it has that policy too, and calendar days have none."""
    for option, policies in (("on_demand", 1), ("calendar", 0)):
        one = replace(MADE["use"](*A3, option, 4), node_hours=4 * 730)
        plan: Plan = replace(MADE["make_plan"]([one], months=1, gangs={"w": 32}), **FAR)
        checked, found = template(plan)
        assert len(checked.resources("google_compute_resource_policy")) == policies
        assert len(found["network_interface"]) == 5  # GPUDirect joins them either way


@pytest.mark.slow
def test_a_commitment_that_needs_a_reservation_starts_in_it(
    template: Callable[..., tuple[Any, dict[str, Any]]],
) -> None:
    """A3 Ultra is not sold on demand; its commitments exist with a reservation."""
    _, found = template(plan_of("gcp/us-central1", "a3-ultragpu-8g", "committed_use_1y"))
    assert found["scheduling"][0]["provisioning_model"] == "STANDARD"
    assert found["reservation_affinity"][0]["type"] == "SPECIFIC_RESERVATION"


@pytest.mark.slow
def test_each_month_has_the_reservation_of_its_own_purchase(
    tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    uses = [MADE["use"]("aws/us-east-1", "p5.48xlarge", "capacity_block", 2, month=month) for month in (1, 2)]
    plan: Plan = replace(
        MADE["make_plan"](uses, months=3), start="2996-12", month_names=("2996-12", "2997-01", "2997-02")
    )
    folder = write(tmp_path, files(plan)) / "aws"
    label = "aws_us_east_1_p5_48xlarge_capacity_block"
    ids = f'capacity_reservation_id = {{ {label} = {{ "2996-12" = "cr-1", "2997-01" = "cr-2" }} }}\n'
    found = []
    for month in ("2996-12", "2997-01", "2997-02"):
        (folder / "zz.auto.tfvars").write_text(f'{ids}\nmonth = "{month}"\n')
        checked = tfcheck(folder, plan=True)
        assert checked.ok, checked.told
        (one,) = checked.resources("aws_launch_template")
        targets = [each["capacity_reservation_target"] for each in one["capacity_reservation_specification"]]
        found.append([target[0]["capacity_reservation_id"] for target in targets])
    assert found == [["cr-1"], ["cr-2"], ["cr-1"]]  # no nodes in the third: it needs none of its own


def test_every_option_of_a_module_is_one_that_the_planner_can_name() -> None:
    known = {*load_purchase_options(), "reservation"}
    for cloud in load_clouds().values():
        for module in cloud.modules:
            assert {*module.purchase_options, *module.option_refusals} <= known
            assert not set(module.purchase_options) & set(module.option_refusals)
