"""What terraform itself would create, read back from its plan and held against the plan it was made from.

Twenty plans of types, regions and purchase options of the catalogue, as machines of one's own and as node pools of
Kubernetes, each in its first month, which is run where none is named, in its middle one and in the one after its last,
when nothing is left.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import hcl2
import pytest

from planner.reports.terraform import KINDS, files, unprovisioned_lines
from planner.reports.terraform.provisioning.module_catalog import ModuleMatch, load_clouds, match_module
from planner.reports.terraform.running_hours import month_after
from planner.result import Plan
from pricing.catalog.price_catalog import Catalog

Nodes = tuple[str, str, str, int]
"""Instance type or slice, region, how it is started, nodes."""
Found = Counter[tuple[str, str, str]]
"""(instance type or slice, region, how it is started) -> nodes."""
QUICK = {"vm": (2,), "kubernetes": (3,)}
"""The seeds of every day."""
PLANS = 20
MONTHS = 3


def resources(checked: Any, label: str, kind: str) -> list[dict[str, Any]]:
    start = f"module.{label}."
    same = [item for item in checked.planned if item["address"].startswith(start) and item["type"] == kind]
    return [item["values"] for item in sorted(same, key=lambda item: item["address"])]


def region_of(call: dict[str, Any], text: str) -> str:
    """The region of the provider that a module call of AWS is given."""
    alias = re.search(r"aws = aws\.(\w+)", str(call["providers"])) or re.search(r"aws\.(\w+)", str(call["providers"]))
    assert alias
    region = re.search(rf'alias  = "{alias[1]}"\n  region = "([^"]+)"', text)
    assert region
    return region[1]


def aws_nodes(checked: Any, label: str, call: dict[str, Any], text: str) -> Iterator[Nodes]:
    region = region_of(call, text)
    (template,) = resources(checked, label, "aws_launch_template")
    if groups := resources(checked, label, "aws_eks_node_group"):
        name = template["instance_type"] or groups[0]["instance_types"][0]
        yield name, region, groups[0]["capacity_type"].lower(), groups[0]["scaling_config"][0]["desired_size"]
        return
    (group,) = resources(checked, label, "aws_autoscaling_group")
    name, nodes = template["instance_type"], group["desired_capacity"]
    if template["instance_market_options"]:
        yield name, region, template["instance_market_options"][0]["market_type"].replace("-", "_"), nodes
        return
    policy = group["mixed_instances_policy"][0]["instances_distribution"][0]
    above = {0: "spot", 100: "on_demand"}[policy["on_demand_percentage_above_base_capacity"]]
    base = min(nodes, policy["on_demand_base_capacity"])
    yield name, region, "on_demand", base
    yield name, region, above, nodes - base


def azure_nodes(checked: Any, label: str, call: dict[str, Any], text: str) -> Iterator[Nodes]:
    del call, text
    kinds = (
        "azurerm_linux_virtual_machine_scale_set",
        "azurerm_orchestrated_virtual_machine_scale_set",
        "azurerm_kubernetes_cluster_node_pool",
    )
    for item in (each for kind in kinds for each in resources(checked, label, kind)):
        started = {"Regular": "on_demand", "Spot": "spot"}[item["priority"]]
        if "kubernetes_cluster_id" in item:
            (region,) = re.findall(r"resourceGroups/gpu-(\w+)/", item["kubernetes_cluster_id"])
            yield item["vm_size"], region, started, item["node_count"]
            continue
        base = min(item["instances"], sum(mix["base_regular_count"] for mix in item.get("priority_mix") or ()))
        name = item.get("sku") or item["sku_name"]
        yield name, item["location"], "on_demand", base
        yield name, item["location"], started, item["instances"] - base


def gke_nodes(pools: list[dict[str, Any]]) -> Iterator[Nodes]:
    for pool in pools:
        config = pool["node_config"][0]
        held = [each["consume_reservation_type"] for each in config["reservation_affinity"]] == ["SPECIFIC_RESERVATION"]
        started = (
            "spot"
            if config["spot"]
            else "flex_start"
            if config["flex_start"]
            else "reservation"
            if held
            else "on_demand"
        )
        cards = config["guest_accelerator"] if config["machine_type"].startswith("n1-") else ()
        name = config["machine_type"] + "".join(f"+{card['count']}x{card['type']}" for card in cards)
        nodes = pool["node_count"]
        if nodes is None:  # pods start the nodes
            nodes = pool["autoscaling"][0]["total_max_node_count"]
        topology = [each["tpu_topology"] for each in pool["placement_policy"] if each["tpu_topology"]]
        # the node pool of a slice over several machines is one node of the plan
        yield name, pool["location"], started, 1 if topology and nodes > 1 else nodes


def gcp_nodes(checked: Any, label: str, call: dict[str, Any], text: str) -> Iterator[Nodes]:
    module = call["source"].strip('"').rpartition("/")[2]
    if module == "gke_pool":
        yield from gke_nodes(resources(checked, label, "google_container_node_pool"))
        return
    if module == "tpu_pool":
        slices = Counter(
            (each["accelerator_type"], each["zone"].rpartition("-")[0], bool(each["scheduling_config"][0]["spot"]))
            for each in resources(checked, label, "google_tpu_v2_vm")
        )
        for (name, region, spot), nodes in slices.items():
            yield name, region, "spot" if spot else "on_demand", nodes
        return
    (template,) = resources(checked, label, "google_compute_instance_template")
    model = template["scheduling"][0]["provisioning_model"]
    held = [affinity["type"] for affinity in template["reservation_affinity"]]
    started = STARTED[model, "SPECIFIC_RESERVATION" in held]
    cards = "".join(f"+{card['count']}x{card['type']}" for card in template["guest_accelerator"])
    name = template["machine_type"] + cards
    if wide := resources(checked, label, "google_compute_region_instance_group_manager"):
        yield name, wide[0]["region"], started, wide[0]["target_size"]
        return
    (manager,) = resources(checked, label, "google_compute_instance_group_manager")
    autoscalers = resources(checked, label, "google_compute_autoscaler")
    rows = [row for each in autoscalers for row in each["autoscaling_policy"][0]["scaling_schedules"]]
    asked = [each["resize_by"] for each in resources(checked, label, "google_compute_resize_request")]
    # of a group with hours: what its schedules ask for in the month that terraform was told of
    year, month = re.findall(r'coalesce\(.*?"(\d{4})-(\d\d)"', text)[0]
    counts = [r["min_required_replicas"] for r in rows if r["schedule"].split()[3::2] == [str(int(month)), year]]
    yield name, manager["zone"].rpartition("-")[0], started, max([*asked, *counts], default=0)


STARTED = {
    ("STANDARD", False): "on_demand",
    ("STANDARD", True): "reservation",
    ("SPOT", False): "spot",
    ("RESERVATION_BOUND", True): "calendar",
    ("FLEX_START", False): "flex_start",
}
PROVISIONED = {"spot", "capacity_block", "calendar", "flex_start"}
"""Purchase options that are ways of starting nodes; the others bill nodes that start on demand, or in a reservation."""
READERS = {"aws": aws_nodes, "azure": azure_nodes, "gcp": gcp_nodes}


def would_create(provider: str, folder: Path, checked: Any) -> dict[str, list[Nodes]]:
    """What each pool of a root would create."""
    text = (folder / "main.tf").read_text()
    chosen = re.search(r'^month = "(\d{4}-\d\d)"', (folder / "own.auto.tfvars").read_text(), re.MULTILINE)
    text = text.replace("coalesce(var.month, ", f'coalesce("{chosen[1]}", ') if chosen else text
    calls = {label.strip('"'): body for block in hcl2.loads(text)["module"] for label, body in block.items()}
    pools = {label: body for label, body in calls.items() if label.startswith(f"{provider}_")}
    return {label: list(READERS[provider](checked, label, body, text)) for label, body in pools.items()}


def started_as(provider: str, instance_type: str, region: str, option: str) -> str:
    """By hand: what the terms of sale say, for options that are no way of starting."""
    if option in PROVISIONED:
        return option
    terms = Catalog.embedded().sale_terms(provider, instance_type)
    here = [t for t in terms if t.region in ("", region)]
    held = any(t.needs_reservation and option.startswith(t.purchase_option) for t in here)
    not_sold = any(t.purchase_option == "on_demand" and t.sold is False for t in here)
    return "reservation" if held and not_sold else "on_demand"


def written_as(provider: str, instance_type: str, nodes: str) -> str:
    """What Terraform calls the type: an accelerator alone sits on the machine that the example fills in, a TPU's
    machine is a slice."""
    found = match_module(load_clouds()[provider], instance_type, KINDS[nodes])
    assert isinstance(found, ModuleMatch)
    if "accelerator_type" not in found.arguments:
        return str(found.arguments.get("machine_type") or instance_type)
    if "accelerator_count" not in found.arguments:
        return str(found.arguments["accelerator_type"])
    machine = found.arguments.get("machine_type", "n1-standard-8")
    return f"{machine}+{found.arguments['accelerator_count']}x{found.arguments['accelerator_type']}"


def expected(plan: Plan, month: int, nodes: str) -> dict[str, Found]:
    """By provider, what the plan rents in a month, by hand: whole nodes of each use."""
    lost = unprovisioned_lines(plan, nodes=nodes)
    found: dict[str, Found] = {}
    for use in plan.strategies[0].uses:
        if (
            use.month == month
            and use.nodes
            and not any(f"{use.name} in {use.provider} {use.region}:" in e for e in lost)
        ):
            started = started_as(use.provider, use.name, use.region, use.purchase_option)
            if nodes == "kubernetes" and started == "calendar":
                started = "reservation"  # a node pool is told of the reservation only
            key = (written_as(use.provider, use.name, nodes), use.region, started)
            found.setdefault(use.provider, Counter())[key] += int(use.nodes)
    return found


def check(
    plan: Plan, month: int, nodes: str, tfcheck: Callable[..., Any], write: Callable[..., Path], folder: Path
) -> int:
    """Compare every root of a plan in a month (0: without saying which; one after the last: none is left); gives how
    many nodes were read back."""
    names = (*plan.month_names, month_after(plan.month_names[-1]))
    own = f'\nmonth = "{names[month - 1]}"\n' if month else ""
    written = files(plan, nodes=nodes)
    write(folder, written, own)
    wanted = expected(plan, month or 1, nodes)
    seen = 0
    for provider in sorted({path.partition("/")[0] for path in written if path.endswith("/main.tf")}):
        checked = tfcheck(folder / provider, plan=True)
        assert checked.ok, checked.told
        read: Found = Counter()
        for pool in would_create(provider, folder / provider, checked).values():
            for name, region, started, count in pool:
                read[name, region, started] += count
        assert +read == +wanted.get(provider, Counter())
        seen += read.total()
    return seen


def varied(seed: int, nodes: str) -> list[tuple[str, str, str, list[int]]]:
    """Rows of the catalogue at random: (place, type, option, nodes by month), of types that some module takes; where a
    type is sold on spot, often both on demand and on spot, which is one home."""
    dice = random.Random(seed)
    provider = sorted(load_clouds())[seed % len(load_clouds())]
    catalog = Catalog.embedded()
    offers = [
        offering
        for offering in catalog.priced
        if offering.provider == provider and not offering.part and offering.status == "current"
        and isinstance(match_module(load_clouds()[provider], offering.instance_type, KINDS[nodes]), ModuleMatch)
    ]  # fmt: skip
    rows = {}
    for offering in dice.sample(offers, 5):
        quoted = [quote.price for quote in catalog.of_type(offering)]
        price = dice.choice(quoted)
        here = {each.purchase_option for each in quoted if each.region == price.region}
        mixed = {"on_demand", "spot"} <= here and dice.random() < 0.6
        for option in ("on_demand", "spot") if mixed else (price.purchase_option,):
            started = started_as(provider, offering.instance_type, price.region, option)
            counts = [dice.randint(0, 6) for _ in range(MONTHS)]
            rows[price.region, offering.instance_type, started] = (price.region, offering, option, counts)
    return [(f"{provider}/{region}", o.instance_type, option, counts) for region, o, option, counts in rows.values()]


def plan_of(seed: int, nodes: str, build: Callable[..., Plan]) -> Plan:
    def uses() -> Iterator[Any]:
        for place, name, option, counts in varied(seed, nodes):
            one = build([(place, name, option, 1)], months=MONTHS).strategies[0].uses[0]
            yield from (
                replace(one, month=month, nodes=float(count), node_hours=count * 730.0)
                for month, count in enumerate(counts, start=1)
            )

    plan = build([("aws/us-east-1", "p5.48xlarge", "on_demand", 1)], months=MONTHS, plan_id=f"plan {seed}")
    # far ahead: what a schedule has begun decides, and these have not
    plan = replace(plan, start="2996-12", month_names=("2996-12", "2997-01", "2997-02"))
    return replace(plan, strategies=(replace(plan.strategies[0], uses=tuple(uses())),))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "seed"),
    [
        (nodes, seed) if seed in QUICK[nodes] else pytest.param(nodes, seed, marks=pytest.mark.slow)
        for nodes in KINDS
        for seed in range(PLANS)
    ],
)
def test_what_would_be_created_is_what_the_plan_rents(
    nodes: str,
    seed: int,
    build: Callable[..., Plan],
    tfcheck: Callable[..., Any],
    write: Callable[..., Path],
    tmp_path: Path,
) -> None:
    plan = plan_of(seed, nodes, build)
    first, middle, after = (
        check(plan, month, nodes, tfcheck, write, tmp_path / str(month)) for month in (0, MONTHS // 2 + 1, MONTHS + 1)
    )
    assert first + middle > 0
    assert after == 0


@pytest.mark.slow
def test_three_clouds_by_hand(
    plans: dict[str, Plan], tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    """Types, counts, regions, ways of starting and images of 2026-12, the first month."""
    write(tmp_path, files(plans["three_clouds"]))
    aws, azure, gcp = (tfcheck(tmp_path / provider, plan=True) for provider in ("aws", "azure", "gcp"))
    assert (aws.ok, azure.ok, gcp.ok) == (True, True, True), (aws.told, azure.told, gcp.told)

    def found(provider: str, checked: Any) -> set[Nodes]:
        pools = would_create(provider, tmp_path / provider, checked).values()
        return {nodes for pool in pools for nodes in pool if nodes[3]}

    assert found("aws", aws) == {
        ("g6e.xlarge", "eu-west-1", "spot", 1),
        ("trn1.32xlarge", "eu-west-1", "on_demand", 1),
        ("p5.48xlarge", "us-east-1", "on_demand", 4),
        ("p5en.48xlarge", "us-east-2", "capacity_block", 2),
    }
    assert {t["metadata_options"][0]["http_tokens"] for t in aws.resources("aws_launch_template")} == {"required"}
    assert found("azure", azure) == {
        ("Standard_ND96isr_H100_v5", "eastus", "on_demand", 4),
        ("Standard_ND96isr_MI300X_v5", "eastus", "on_demand", 1),
        ("Standard_NC24ads_A100_v4", "westeurope", "on_demand", 2),
        ("Standard_NC24ads_A100_v4", "westeurope", "spot", 3),
    }
    assert found("gcp", gcp) == {
        ("a3-ultragpu-8g", "europe-west4", "on_demand", 1),
        ("a3-highgpu-8g", "us-central1", "on_demand", 1),
        ("a3-highgpu-8g", "us-central1", "spot", 2),
        ("n1-standard-16+2xnvidia-tesla-t4", "us-west1", "on_demand", 2),
        ("n1-standard-8+1xnvidia-tesla-v100", "us-west1", "spot", 1),
        ("v5litepod-8", "us-central1", "on_demand", 2),
        ("v6e-4", "us-east5", "spot", 3),
    }
