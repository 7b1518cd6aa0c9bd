"""Plans of the planner itself as Terraform: gangs in one placement, slice or fabric; the hours of every example."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.application import plan_document
from planner.cli._plan_comparison import read_plan
from planner.reports.terraform import files, unprovisioned_lines
from planner.reports.terraform.dated_nodes import DATED
from planner.reports.terraform.node_pools import group_rented_nodes
from planner.result import Plan
from pricing.catalog.price_catalog import Catalog

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ("capacity-review.xlsx", "finetune.yaml", "request.json", "sweep.yaml")
Planned = Callable[..., Any]


def plan_of(provider: str, accelerator: str, hours: float, gang: int, months: int = 3, **rest: Any) -> Plan:
    """The plan of one job, as it is asked for in JSON."""
    demand = {"accelerator_hours_per_month": hours, "accelerator": accelerator}
    request = {
        "as_of": "2026-11-21", "start": "2026-12", "months": months, "providers": [provider], "strategies": ["cloud"],
        "workloads": [{"name": "job", "demand": demand, "gang": gang}], **rest,
    }  # fmt: skip
    return plan_document(request, Catalog.embedded())


@pytest.fixture
def planned(tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path) -> Planned:
    """The root of a plan's provider in its first month, far ahead so that no time of a schedule has begun."""

    def run(plan: Plan) -> Any:
        assert unprovisioned_lines(plan) == ()
        names = tuple(name.replace("202", "299") for name in plan.month_names)
        (folder,) = {path.partition("/")[0] for path in files(plan) if path.endswith("/main.tf")}
        written = files(replace(plan, start=names[0], month_names=names))
        checked = tfcheck(write(tmp_path, written) / folder, plan=True)
        assert checked.ok, checked.told
        return checked

    return run


@pytest.mark.slow
def test_a_gang_of_128_h100_on_azure_is_one_placement_of_infiniband(planned: Planned) -> None:
    checked = planned(plan_of("azure", "H100", 93_440, 128))
    (scale,) = checked.resources("azurerm_linux_virtual_machine_scale_set")
    assert (scale["sku"], scale["instances"], scale["single_placement_group"]) == ("Standard_ND96isr_H100_v5", 16, True)


@pytest.mark.slow
def test_a_gang_of_64_v5e_is_one_slice(planned: Planned) -> None:
    checked = planned(plan_of("gcp", "TPU-v5e", 46_720, 64))
    (one,) = checked.resources("google_tpu_v2_vm")
    assert one["accelerator_type"] == "v5litepod-64"


@pytest.mark.slow
def test_a_gang_of_h100_on_google_has_gpudirect(planned: Planned) -> None:
    plan = plan_of("gcp", "H100", 23_360, 32)
    checked = planned(plan)
    plain = {"a3-highgpu-8g": 4, "a3-edgegpu-8g": 4, "a3-megagpu-8g": 8}
    templates = checked.resources("google_compute_instance_template")
    assert templates
    for template in templates:
        assert len(template["network_interface"]) == 1 + plain[template["machine_type"]]


@pytest.mark.slow
def test_blocks_leave_no_remainder_that_runs_on() -> None:
    """16 node-hours a month in another region became 16 p5 that stay on: 881 USD planned, 1.9 million left running."""
    plan = plan_of("aws", "H100", 93_440, 128)
    pools = group_rented_nodes(plan, plan.strategies[0])
    assert len({(pool.region, pool.instance_type) for pool in pools}) == 1
    check_hours(plan)


def check_hours(plan: Plan) -> None:
    """What stays on takes at most 1.1 times the node-hours that the plan pays, in every month of every pool; what would
    take more has hours, and keeps to that with them, but for whole hours and for the days of what is dated."""
    strategy = plan.strategy(plan.recommendation.strategy or "")
    for pool in group_rented_nodes(plan, strategy):
        committed: dict[int, float] = defaultdict(float)
        for item in strategy.purchases:
            if (item.provider, item.region, item.name) == (pool.provider, pool.region, pool.instance_type):
                for month in range(item.usable_from, min(item.usable_to, plan.months) + 1):
                    committed[month] += item.count * plan.hours_per_month if item.unit == "node" else 0.0
        for month, (profile, hours) in enumerate(zip(pool.profiles, pool.node_hours, strict=True), start=1):
            if pool.started in DATED or not hours:
                continue
            paid = max(hours, committed[month])
            left = profile.peak * plan.hours_per_month
            with_hours = profile.node_hours(plan.hours_per_month)
            assert profile.is_partial or left <= 1.1 * paid + 1e-6, (pool.label, month)
            assert with_hours <= 1.1 * (hours + committed[month]) + profile.peak, (pool.label, month)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_left_running_costs_what_was_planned(name: str, tmp_path: Path) -> None:
    target = tmp_path / "plan.json"
    dated = ["--months", "12", "--start", "2026-12", "--as-of", "2026-11-21"]
    command = [str(Path(sys.executable).with_name("planner")), "estimate", *dated]
    done = subprocess.run(
        [*command, str(ROOT / "examples" / name), "-o", str(target)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    problems: list[Any] = []
    plan = read_plan(str(target), problems)
    assert isinstance(plan, Plan), problems
    check_hours(plan)
