"""The real terraform on what is written by hand and on emitted roots, through the stand-ins of tests/tfcheck."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files
from planner.reports.terraform.provisioning import find_shipped_folder, hcl
from planner.result import Plan

ROOT = find_shipped_folder("terraform")
MODULES = sorted(
    str(path.parent.relative_to(ROOT)) for kind in ("pool", "extra") for path in ROOT.glob(f"*/*/{kind}.toml")
)
EXAMPLES = sorted(str(path.parent.relative_to(ROOT)) for path in ROOT.glob("*/examples/*/main.tf"))

Write = Callable[..., Path]
Check = Callable[..., Any]


def slow(case: Any) -> Any:
    return pytest.param(case, marks=pytest.mark.slow)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_valid_by_itself(name: str, tfcheck: Check) -> None:
    checked = tfcheck(ROOT / name)
    assert checked.ok, checked.told


@pytest.mark.parametrize("name", [name if name.startswith("azure/") else slow(name) for name in EXAMPLES])
def test_an_example_can_be_planned(name: str, example: Check) -> None:
    assert example(name).planned


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", ["azure", "gcp_tpu", slow("gcp_n1"), slow("aws"), slow("hostile")])
def test_an_emitted_root_is_valid(
    name: str, plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    written = files(plans[name])
    write(tmp_path, written)
    for provider in {path.partition("/")[0] for path in written if path.endswith("main.tf")}:
        checked = tfcheck(tmp_path / provider)
        assert checked.ok, checked.told


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["gcp", slow("aws"), slow("azure")])
@pytest.mark.parametrize("nodes", ["vm", slow("kubernetes")])
def test_a_root_with_budget_quota_and_storage_can_be_planned(
    provider: str, nodes: str, plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    written = files(plans["extras"], nodes=nodes)
    if f"{provider}/main.tf" not in written:
        pytest.skip("no module for Kubernetes takes the type")
    declared = hcl.read_variables(written[f"{provider}/variables.tf"].decode())
    own = '\nbudget_contacts = ["finance@example.com"]\n' if "budget_contacts" in declared else ""
    quiet = tfcheck(write(tmp_path / "quiet", written) / provider, plan=True)
    assert quiet.ok, quiet.told
    assert not [item for item in quiet.planned if "budget" in item["type"] and item["mode"] == "managed"]
    own += "\nrequest_quotas = true\n" if "request_quotas" in declared else ""
    asked = tfcheck(write(tmp_path / "asked", written, own) / provider, plan=True)
    assert asked.ok, asked.told
    assert len(asked.planned) > len(quiet.planned) or not own


@pytest.mark.slow
def test_tags_carry_the_plan_the_workloads_and_the_team_within_each_clouds_rules(
    plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    write(tmp_path, files(plans["hostile"]))
    aws, gcp = tfcheck(tmp_path / "aws", plan=True), tfcheck(tmp_path / "gcp", plan=True)
    assert aws.ok, aws.told
    assert gcp.ok, gcp.told
    tags = aws.resources("aws_launch_template")[0]["tags"]
    assert tags["plan"].startswith("a_b__file__/etc/passwd")
    assert all(len(value) <= 256 for value in tags.values())
    assert {"plan", "workloads", "team"} <= set(tags)
    labels = gcp.resources("google_compute_instance_template")[0]["labels"]
    assert labels["plan"].startswith("a-b--file---etc-passwd--")
    assert all(len(value) <= 63 and value == value.lower() for value in labels.values())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("file", "old", "new", "error"),
    [
        ("main.tf", "purchase_option  ", "purchase_optino  ", "Unsupported argument"),
        (
            "main.tf",
            'accelerator_type = "v5litepod-8"',
            'accelerator_type = ["v5litepod-8"]',
            "Invalid value for input variable",
        ),
        ("main.tf", "var.project", "var.projetc", "Reference to undeclared input variable"),
        ("main.tf", '"google-beta" {', '"google-alpha" {', None),
        ("versions.tf", '">= 6.25, < 8.0"', '"~> 99.0"', None),
    ],
)
def test_a_fault_in_the_root_is_rejected(
    file: str,
    old: str,
    new: str,
    error: str | None,
    plans: dict[str, Plan],
    tfcheck: Check,
    write: Write,
    tmp_path: Path,
) -> None:
    written = files(plans["gcp_tpu"])
    text = re.sub(r" +=", lambda found: found[0] if "option" in old else " =", written[f"gcp/{file}"].decode())
    assert old in text
    write(tmp_path, written | {f"gcp/{file}": text.replace(old, new, 1).encode()})
    checked = tfcheck(tmp_path / "gcp")
    assert not checked.ok
    assert error in checked.errors if error else checked.steps["init"]["rc"] != 0


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("module", "old", "new", "error"),
    [
        ("aws/gpu_pool", "vpc_zone_identifier =", "vpc_zone_identifer  =", "Unsupported argument"),
        ("azure/gpu_pool", "  sku                             = var.vm_size\n", "", "Missing required argument"),
        ("gcp/gpu_pool", '"google_compute_instance_template"', '"google_compute_template"', "Invalid resource type"),
        ("gcp/tpu_pool", "network_config {", "network_configuration {", "Unsupported block type"),
    ],
)
def test_a_fault_in_a_module_is_rejected(
    module: str, old: str, new: str, error: str, tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    written = {path.name: path.read_bytes() for path in (ROOT / module).glob("*.*")}
    text = written["main.tf"].decode()
    assert old in text
    checked = tfcheck(write(tmp_path, written | {"main.tf": text.replace(old, new, 1).encode()}))
    assert not checked.ok
    assert error in checked.errors


@pytest.mark.slow
def test_bad_layout_is_rejected(plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path) -> None:
    written = files(plans["gcp_n1"])
    text = written["gcp/main.tf"].decode().replace("  project = ", "  project   = ", 1).encode()
    write(tmp_path, written | {"gcp/main.tf": text})
    checked = tfcheck(tmp_path / "gcp")
    assert checked.steps["fmt"]["rc"] != 0
    assert not checked.ok


@pytest.mark.slow
def test_what_is_not_filled_in_or_cannot_be_is_named_all_at_once(
    plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    write(tmp_path, files(plans["gcp_n1"]))
    own = 'project = "p"\nsubnetwork = {}\nmachine_type = {}\nmonth = "2026-11"\nname_prefix = "9"\nnode_counts = {}\n'
    (tmp_path / "gcp" / "own.auto.tfvars").write_text(own)
    checked = tfcheck(tmp_path / "gcp", plan=True)
    assert not checked.ok
    told = " ".join(checked.steps["plan"]["output"].replace("│", " ").split())
    assert "subnetwork needs a value for: us-west1." in told
    assert "machine_type needs a value for: gcp_us_west1_nvidia_tesla_v100_spot." in told
    assert (
        "month is a month such as 2026-12, the first of the plan, or later; from 2027-02 on there are no nodes." in told
    )
    assert "name_prefix is a lower-case letter" in told
    assert "node_counts needs a value for: gcp_us_west1_n1_standard_16" in told


@pytest.mark.slow
def test_half_a_node_is_refused(plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path) -> None:
    written = files(plans["gcp_n1"])
    text = written["gcp/terraform.tfvars"].decode().replace('"2026-12" = 2', '"2026-12" = 1.5')
    write(tmp_path, written | {"gcp/terraform.tfvars": text.encode()})
    checked = tfcheck(tmp_path / "gcp", plan=True)
    assert "node_counts holds whole numbers of nodes" in " ".join(checked.steps["plan"]["output"].split())
