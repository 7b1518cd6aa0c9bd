"""Gangs read back from the real terraform: one placement, one slice, the networks of GPUDirect; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform import files, unprovisioned_lines
from planner.result import Plan
from pricing.catalog.price_catalog import Catalog

Row = tuple[str, str, str, float]
Root = Callable[..., Any]
TWO_SUBNETS = 'subnet_ids = { us-east-1 = ["subnet-1", "subnet-2"] }\n'


@pytest.fixture
def root(
    build: Callable[..., Plan], tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> Callable[..., Any]:
    """One provider's root of a gang, planned; far ahead, so that no time of a schedule has begun."""

    def planned(row: Row, gang: int, nodes: str = "vm", own: str = "") -> Any:
        plan = replace(build([row], gangs={"w": gang}, months=1), start="2996-12", month_names=("2996-12",))
        assert unprovisioned_lines(plan, nodes=nodes) == ()
        provider = row[0].partition("/")[0]
        folder = write(tmp_path, files(plan, nodes=nodes)) / provider
        (folder / "zz.auto.tfvars").write_text(own)  # read last
        checked = tfcheck(folder, plan=True)
        assert checked.ok, checked.told
        return checked

    return planned


@pytest.mark.slow
def test_a_gang_on_infiniband_has_one_placement_group(root: Root) -> None:
    # 128 accelerators on nodes of 8: 16 nodes
    checked = root(("azure/eastus", "Standard_ND96isr_H100_v5", "on_demand", 16), 128)
    (scale,) = checked.resources("azurerm_linux_virtual_machine_scale_set")
    assert (scale["sku"], scale["instances"], scale["single_placement_group"]) == ("Standard_ND96isr_H100_v5", 16, True)
    assert not scale["zones"]
    assert checked.resources("azurerm_orchestrated_virtual_machine_scale_set") == []


def test_a_gang_on_efa_has_one_subnet_and_one_placement_group(root: Root) -> None:
    checked = root(("aws/us-east-1", "p5.48xlarge", "on_demand", 2), 16, own=TWO_SUBNETS)
    (group,) = checked.resources("aws_autoscaling_group")
    assert group["vpc_zone_identifier"] == ["subnet-1"]
    assert group["suspended_processes"] == ["AZRebalance"]
    (placement,) = checked.resources("aws_placement_group")
    assert placement["strategy"] == "cluster"
    (template,) = checked.resources("aws_launch_template")
    assert template["placement"][0]["group_name"] == placement["name"]
    # the plain first interface, and EFA on each of the 32 cards
    assert [each["interface_type"] for each in template["network_interfaces"]] == ["interface", *["efa-only"] * 32]


@pytest.mark.slow
def test_nodes_without_a_gang_keep_their_subnets(root: Root) -> None:
    checked = root(("aws/us-east-1", "p5.48xlarge", "on_demand", 2), 8, own=TWO_SUBNETS)
    (group,) = checked.resources("aws_autoscaling_group")
    assert group["vpc_zone_identifier"] == ["subnet-1", "subnet-2"]
    assert not group.get("suspended_processes")
    assert checked.resources("aws_placement_group") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "plain", "rdma"), [("a3-highgpu-8g", 4, 0), ("a3-megagpu-8g", 8, 0), ("a3-ultragpu-8g", 1, 8)]
)
def test_a_gang_on_a3_has_the_networks_of_its_accelerators(machine: str, plain: int, rdma: int, root: Root) -> None:
    """GPUDirect-TCPX, GPUDirect-TCPXO, RDMA: as many interfaces beside the first, with networks of their own."""
    checked = root(("gcp/us-central1", machine, "on_demand", 4), 32)
    networks = checked.resources("google_compute_network")
    assert sorted(network["mtu"] for network in networks) == [8244] * plain + [8896] * (rdma > 0)
    profiles = [network["network_profile"] for network in networks if network.get("network_profile")]
    assert profiles == ["projects/my-project/global/networkProfiles/us-central1-a-vpc-roce"] * (rdma > 0)
    ranges = [subnet["ip_cidr_range"] for subnet in checked.resources("google_compute_subnetwork")]
    assert len(set(ranges)) == plain + rdma
    (template,) = checked.resources("google_compute_instance_template")
    assert [each["nic_type"] for each in template["network_interface"]] == [
        *["GVNIC"] * (1 + plain), *["MRDMA"] * rdma,
    ]  # fmt: skip
    (manager,) = checked.resources("google_compute_instance_group_manager")
    assert manager["zone"] == "us-central1-a"
    (policy,) = checked.resources("google_compute_resource_policy")
    if rdma:
        assert policy["workload_policy"][0]["type"] == "HIGH_THROUGHPUT"
    else:
        assert policy["group_placement_policy"][0]["collocation"] == "COLLOCATED"


@pytest.mark.slow
def test_one_node_of_a3_needs_no_further_network(root: Root) -> None:
    checked = root(("gcp/us-central1", "a3-highgpu-8g", "on_demand", 4), 8)
    assert checked.resources("google_compute_network") == []
    assert checked.resources("google_compute_resource_policy") == []


@pytest.mark.slow
def test_a_node_pool_of_a_gang_has_the_networks_too(root: Root) -> None:
    checked = root(("gcp/us-central1", "a3-megagpu-8g", "on_demand", 4), 32, nodes="kubernetes")
    (pool,) = checked.resources("google_container_node_pool")
    assert len(pool["network_config"][0]["additional_node_network_configs"]) == 8
    assert pool["placement_policy"][0]["type"] == "COMPACT"
    # 6,000 GB of local disks of 375 GB
    assert pool["node_config"][0]["ephemeral_storage_local_ssd_config"][0]["local_ssd_count"] == 16


@pytest.fixture
def slice_plan(build: Callable[..., Plan]) -> Plan:
    plan = build([("gcp/us-west4", "tpu-v5litepod-64", "on_demand", 1)], gangs={"w": 64})
    uses = tuple(replace(each, accelerators_per_node=64.0) for each in plan.strategies[0].uses)
    return replace(plan, strategies=(replace(plan.strategies[0], uses=uses),))


@pytest.mark.slow
@pytest.mark.parametrize("nodes", ["vm", "kubernetes"])
def test_a_gang_on_tpus_is_one_slice(
    nodes: str, slice_plan: Plan, tfcheck: Callable[..., Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    """By its name, or as a node pool of its 64 chips: 16 machines of 4, arranged 8x8."""
    assert unprovisioned_lines(slice_plan, nodes=nodes) == ()
    checked = tfcheck(write(tmp_path, files(slice_plan, nodes=nodes)) / "gcp", plan=True)
    assert checked.ok, checked.told
    if nodes == "vm":
        (slice_,) = checked.resources("google_tpu_v2_vm")
        assert slice_["accelerator_type"] == "v5litepod-64"
        return
    (pool,) = checked.resources("google_container_node_pool")
    assert pool["placement_policy"][0]["tpu_topology"] == "8x8"
    assert (pool["node_count"], pool["node_config"][0]["machine_type"]) == (16, "ct5lp-hightpu-4t")


def refusal(plan: Plan) -> str:
    (line,) = unprovisioned_lines(plan)
    assert [path for path in files(plan) if path.endswith("/main.tf")] == []
    return line


def test_a_gang_without_a_fabric_is_refused(build: Callable[..., Plan]) -> None:
    """ND96is has no InfiniBand, and was provisioned for jobs of two nodes."""
    plan = build([("azure/eastus", "Standard_ND96is_H100_v5", "on_demand", 2)], gangs={"w": 16})
    assert "a job of 2 nodes needs a fabric, and none joins nodes of Standard_ND96is_H100_v5" in refusal(plan)
    anyhow = replace(plan, workloads=(replace(plan.workloads[0], fabric="any"),))
    assert unprovisioned_lines(anyhow) == ()


def test_a_gang_over_several_slices_is_refused(build: Callable[..., Plan]) -> None:
    """Eight slices of v5litepod-8 are not one of v5litepod-64."""
    plan = build([("gcp/us-west4", "tpu-v5litepod-8", "on_demand", 8)], gangs={"w": 64})
    assert "a job of 8 slices needs them joined, and nothing joins slices of tpu-v5litepod-8" in refusal(plan)


def test_a_gang_too_large_for_a_placement_is_refused(build: Callable[..., Plan]) -> None:
    # 832 accelerators are 104 nodes; a placement group holds 100
    plan = build([("azure/eastus", "Standard_ND96isr_H100_v5", "on_demand", 104)], gangs={"w": 832})
    assert "the jobs of 104 nodes need 104 nodes of Standard_ND96isr_H100_v5 in one placement" in refusal(plan)
    # jobs of 16 nodes find room in two placements
    smaller = build([("azure/eastus", "Standard_ND96isr_H100_v5", "on_demand", 104)], gangs={"w": 128})
    assert unprovisioned_lines(smaller) == ()
    catalog = Catalog.embedded()
    assert catalog.fabric(catalog.offerings["azure", "Standard_ND96isr_H100_v5"]).nodes_joined == 100
