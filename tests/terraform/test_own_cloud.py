"""A cloud of one's own is provisioned from modules that its folder brings, or from those of a shipped provider."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files, unprovisioned_lines
from planner.result import Plan

ROOT = Path(__file__).resolve().parents[2]
CLOUD = """\
[provider.aws]
each_region = true
arguments = { region = "{region}" }
"""
POOL = """\
hours_note = "nothing: run an apply"

[purchase_options]
on_demand = []

[arguments]
region = "{region}"

[[shape]]
pattern = '(?P<plan>gpu_8x_[a-z0-9_]+)'
arguments = { plan = "{plan}" }

[inputs.key_name]
scope = "plan"
example = "team"
"""
VARIABLES = "\n".join(
    f'variable "{name}" {{\n  description = "{name}."\n  type        = {kind}\n}}\n'
    for name, kind in {
        "name": "string", "plan_id": "string", "workloads": "list(string)", "teams": "list(string)",
        "purchase_option": "string", "node_count": "number", "region": "string", "plan": "string", "key_name": "string",
        "schedule": "list(object({ start = string, node_count = number }))",
    }.items()
)  # fmt: skip
MAIN = """\
resource "terraform_data" "node" {
  count = var.node_count

  input = "${var.plan} in ${var.region} as ${var.purchase_option} for ${var.key_name}"
}
"""
PLACE = ("lambda/us-west-1", "gpu_8x_h100_sxm5", "on_demand", 2)


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the example cloud in a data folder of its own."""
    folder = tmp_path / "data" / "providers" / "lambda"
    shutil.copytree(ROOT / "examples" / "own-cloud" / "lambda", folder)
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    return folder


def name_modules(folder: Path, name: str) -> None:
    text = (folder / "provider.toml").read_text()
    (folder / "provider.toml").write_text(text.replace('terraform_module = ""', f'terraform_module = "{name}"'))


def bring_modules(folder: Path) -> Path:
    name_modules(folder, "modules")
    pool = folder / "modules" / "pool"
    pool.mkdir(parents=True)
    (folder / "modules" / "cloud.toml").write_text("")
    (pool / "pool.toml").write_text(POOL)
    (pool / "variables.tf").write_text(VARIABLES)
    (pool / "main.tf").write_text(MAIN)
    (pool / "versions.tf").write_text('terraform {\n  required_version = ">= 1.5"\n}\n')
    return pool


def test_its_own_module_provisions_it(
    cloud: Path, build: Callable[..., Plan], tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    bring_modules(cloud)
    plan = build([PLACE], months=1)
    assert unprovisioned_lines(plan) == ()
    checked = tfcheck(write(tmp_path / "out", files(plan)) / "lambda", plan=True)
    assert checked.ok, checked.told
    nodes = checked.resources("terraform_data")
    assert [node["input"] for node in nodes] == ["gpu_8x_h100_sxm5 in us-west-1 as on_demand for team"] * 2


def test_without_modules_it_is_named(cloud: Path, build: Callable[..., Plan]) -> None:
    (line,) = unprovisioned_lines(build([PLACE]))
    assert line.endswith("there are no modules for lambda")
    assert cloud.is_dir()


def test_every_fault_of_its_modules_is_told(cloud: Path, build: Callable[..., Plan]) -> None:
    pool = bring_modules(cloud)
    (pool / "variables.tf").write_text(VARIABLES.replace('variable "plan"', 'variable "planet"'))
    (line,) = unprovisioned_lines(build([PLACE]))
    assert line.endswith("the modules of lambda cannot be used: pool/variables.tf has no variable plan")
    (pool / "pool.toml").write_text("[purchase_options")
    (line,) = unprovisioned_lines(build([PLACE]))
    assert "the modules of lambda cannot be used: modules: TOMLDecodeError" in line


def test_modules_that_are_named_and_not_there_are_told(cloud: Path, build: Callable[..., Plan]) -> None:
    name_modules(cloud, "../elsewhere")
    (line,) = unprovisioned_lines(build([PLACE]))
    assert "terraform_module is '../elsewhere'" in line
    assert "nor is it one of aws, azure, gcp" in line


def test_it_may_take_the_modules_of_a_shipped_provider(cloud: Path, build: Callable[..., Plan]) -> None:
    name_modules(cloud, "aws")
    plan = build([PLACE])
    (line,) = unprovisioned_lines(plan)  # AWS has no such type
    assert "no module under terraform/lambda/ takes this instance type" in line
    sold_on = replace(plan.strategies[0].uses[0], name="p5.48xlarge")
    plan = replace(plan, strategies=(replace(plan.strategies[0], uses=(sold_on,)),))
    assert unprovisioned_lines(plan) == ()
    assert {path.partition("/")[0] for path in files(plan) if path.endswith("/main.tf")} == {"lambda"}


def test_zones_that_the_catalogue_knows_are_filled_in(build: Callable[..., Plan]) -> None:
    """Dated days of a TPU are sold in one zone of us-west4."""
    plan = build([("gcp/us-west4", "ct5lp-hightpu-4t", "calendar", 2)])
    text = files(plan, nodes="kubernetes")["gcp/main.tf"].decode()
    assert 'lookup(var.node_zone, "gcp_us_west4_ct5lp_hightpu_4t_calendar", "us-west4-b")' in text
    values = files(plan, nodes="kubernetes")["gcp/terraform.tfvars"].decode()
    assert "# Optional: " in values.partition("# node_zone")[0].rpartition("\n\n")[2]
