"""The real terraform on all that is written by hand or emitted, through the stand-in providers of tests/tfcheck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from planner.answer import Plan
from planner.reports.terraform import files
from planner.shipped import shipped
from planner.shipped.pools import clouds
from pricing.catalog import Catalog

ROOT = shipped("terraform")
MODULES = sorted(str(path.parent.relative_to(ROOT)) for path in ROOT.glob("*/*/pool.toml"))
EXAMPLES = sorted(str(path.parent.relative_to(ROOT)) for path in ROOT.glob("*/examples/*/main.tf"))

Write = Callable[[Path, Mapping[str, bytes]], Path]
Check = Callable[..., Any]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_valid_by_itself(name: str, tfcheck: Check) -> None:
    checked = tfcheck(ROOT / name)
    assert checked.ok, checked.told


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_can_be_planned(name: str, tfcheck: Check) -> None:
    checked = tfcheck(ROOT / name, plan=True, root=ROOT)
    assert checked.ok, checked.told
    assert checked.planned


@pytest.mark.parametrize("name", ["aws", "azure", "gcp_gpu", "gcp_n1", "gcp_tpu", "hostile"])
def test_an_emitted_root_is_valid(
    name: str, plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    checked = tfcheck(write(tmp_path, files(plans[name])))
    assert checked.ok, checked.told


def test_what_would_be_created_is_what_the_plan_rents(
    plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    """Three clouds at once: types, counts, regions and ways of starting, read back from terraform's own plan."""
    checked = tfcheck(write(tmp_path, files(plans["three_clouds"])), plan=True)
    assert checked.ok, checked.told

    templates = checked.resources("aws_launch_template")
    groups = checked.resources("aws_autoscaling_group")
    types = [item["instance_type"] for item in templates]
    assert list(zip(types, [item["desired_capacity"] for item in groups], strict=True)) == [
        ("g6e.xlarge", 1),
        ("trn1.32xlarge", 1),
        ("p5.48xlarge", 4),
        ("g4ad.xlarge", 5),
        ("p5en.48xlarge", 2),
    ]
    shares = [item["mixed_instances_policy"] for item in groups]
    on_demand = [
        s[0]["instances_distribution"][0]["on_demand_percentage_above_base_capacity"] if s else None for s in shares
    ]
    assert on_demand == [0, 100, 100, 0, None]
    assert [t["instance_market_options"] for t in templates][-1][0]["market_type"] == "capacity-block"
    assert {t["metadata_options"][0]["http_tokens"] for t in templates} == {"required"}
    assert templates[3]["image_id"] == "ami-0123456789abcdef0"

    sets = checked.resources("azurerm_linux_virtual_machine_scale_set")
    assert [(s["sku"], s["location"], s["instances"], s["priority"]) for s in sets] == [
        ("Standard_ND96isr_H100_v5", "eastus", 4, "Regular"),
        ("Standard_ND96isr_MI300X_v5", "eastus", 1, "Regular"),
        ("Standard_NC24ads_A100_v4", "westeurope", 2, "Regular"),
        ("Standard_NC24ads_A100_v4", "westeurope", 3, "Spot"),
    ]
    assert [len(s["extension"]) for s in sets] == [0, 0, 1, 1]

    machines = checked.resources("google_compute_instance_template")
    managers = checked.resources("google_compute_region_instance_group_manager")
    assert [
        (t["machine_type"], m["region"], m["target_size"], t["scheduling"][0]["provisioning_model"])
        for t, m in zip(machines, managers, strict=True)
    ] == [
        ("a3-ultragpu-8g", "europe-west4", 1, "STANDARD"),
        ("a3-highgpu-8g", "us-central1", 1, "STANDARD"),
        ("a3-highgpu-8g", "us-central1", 2, "SPOT"),
        ("n1-standard-16", "us-west1", 2, "STANDARD"),
        ("n1-standard-8", "us-west1", 1, "SPOT"),
    ]
    assert [t["guest_accelerator"] for t in machines] == [
        [],
        [],
        [],
        [{"type": "nvidia-tesla-t4", "count": 2}],
        [{"type": "nvidia-tesla-v100", "count": 1}],
    ]

    slices = checked.resources("google_tpu_v2_vm")
    found = Counter(
        (s["accelerator_type"], s["zone"], s["runtime_version"], s["scheduling_config"][0]["spot"]) for s in slices
    )
    assert found == {
        ("v5litepod-8", "us-central1-a", "v2-alpha-tpuv5-lite", False): 2,
        ("v6e-4", "us-east5-a", "v2-alpha-tpuv6e", True): 3,
    }


def test_tags_carry_the_plan_the_workloads_and_the_team_within_each_clouds_rules(
    plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    checked = tfcheck(write(tmp_path, files(plans["hostile"])), plan=True)
    assert checked.ok, checked.told
    tags = checked.resources("aws_launch_template")[0]["tags"]
    assert tags["plan"].startswith("a_b__file__/etc/passwd")
    assert all(len(value) <= 256 for value in tags.values())
    assert {"plan", "workloads", "team"} <= set(tags)
    labels = checked.resources("google_compute_instance_template")[0]["labels"]
    assert labels["plan"].startswith("a-b--file---etc-passwd--")
    assert all(len(value) <= 63 and value == value.lower() for value in labels.values())


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("purchase_option  ", "purchase_optino  ", "Unsupported argument"),
        ('accelerator_type = "v5litepod-8"', 'accelerator_type = ["v5litepod-8"]', "Invalid value for input variable"),
        ("var.gcp_project", "var.gcp_projetc", "Reference to undeclared input variable"),
        ('"google-beta" {', '"google-alpha" {', None),
        ('version = "~> 6.0"', 'version = "~> 99.0"', None),
    ],
)
def test_a_fault_in_the_root_is_rejected(
    old: str, new: str, error: str | None, plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    written = files(plans["gcp_tpu"])
    text = written["main.tf"].decode()
    assert old in text
    checked = tfcheck(write(tmp_path, written | {"main.tf": text.replace(old, new, 1).encode()}))
    assert not checked.ok
    assert error in checked.errors if error else checked.steps["init"]["rc"] != 0


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
    written = {path.name: path.read_bytes() for path in (ROOT / module).glob("*.tf")}
    text = written["main.tf"].decode()
    assert old in text
    checked = tfcheck(write(tmp_path, written | {"main.tf": text.replace(old, new, 1).encode()}))
    assert not checked.ok
    assert error in checked.errors


def test_bad_layout_is_rejected(plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path) -> None:
    written = files(plans["gcp_n1"])
    text = written["main.tf"].decode().replace("  project = ", "  project   = ", 1).encode()
    checked = tfcheck(write(tmp_path, written | {"main.tf": text}))
    assert checked.steps["fmt"]["rc"] != 0
    assert not checked.ok


def test_what_is_not_filled_in_is_named(plans: dict[str, Plan], tfcheck: Check, write: Write, tmp_path: Path) -> None:
    written = files(plans["aws"])
    values = b'aws_subnet_ids = { "us-east-1" = ["subnet-1"] }\naws_ami_id = {}\naws_capacity_reservation_id = {}\n'
    checked = tfcheck(write(tmp_path, written | {"terraform.tfvars.example": values}), plan=True)
    assert not checked.ok
    told = " ".join(checked.steps["plan"]["output"].replace("│", " ").split())
    assert "aws_subnet_ids needs a value for: eu-west-1, us-east-1, us-east-2." in told
    assert "aws_ami_id needs a value for: aws_us_east_2_g4ad_xlarge_spot." in told


@pytest.mark.slow
@pytest.mark.parametrize("provider", sorted(clouds()))
def test_every_offering_of_the_catalogue_is_valid(
    provider: str, build: Callable[..., Plan], tfcheck: Check, write: Write, tmp_path: Path
) -> None:
    """One root with a pool for every offering that is not retired, on demand and on spot."""
    names = [
        o.instance_type
        for o in Catalog.embedded().offerings.values()
        if o.provider == provider and o.status != "retired"
    ]
    region = {"aws": "us-east-1", "azure": "eastus", "gcp": "us-central1"}[provider]
    rows = [(f"{provider}/{region}", name, option, 1) for name in names for option in ("on_demand", "spot")]
    checked = tfcheck(write(tmp_path, files(build(rows))))
    assert checked.ok, checked.told
