"""What the Azure pool of nodes would create, read back from terraform's own plan, and which sizes it takes."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder
from planner.reports.terraform.provisioning.module_catalog import ModuleMatch, load_clouds, match_module
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog

Check = Callable[..., Any]
UNIFORM = "azurerm_linux_virtual_machine_scale_set"
FLEXIBLE = "azurerm_orchestrated_virtual_machine_scale_set"


@pytest.mark.slow
def test_a_flexible_set_mixes_regular_and_spot_nodes(example: Check) -> None:
    (one,) = example("spot").resources(FLEXIBLE)
    assert (one["sku_name"], one["location"], one["instances"], one["zones"]) == (
        "Standard_NC24ads_A100_v4", "westeurope", 10, ["1", "2"],
    )  # fmt: skip
    assert (one["priority"], one["eviction_policy"], one["max_bid_price"]) == ("Spot", "Delete", 1.75)
    assert one["priority_mix"] == [{"base_regular_count": 2, "regular_percentage_above_base": 25}]
    assert one["encryption_at_host_enabled"] is True
    assert [item["type"] for item in one["extension"]] == ["NvidiaGpuDriverLinux"]
    assert one["source_image_reference"][0]["offer"] == "0001-com-ubuntu-server-jammy"


def test_a_plans_spot_pool_is_all_spot_and_its_on_demand_pool_all_regular(planned: Check, gpu_pool: Check) -> None:
    checked = planned(gpu_pool(purchase_option='"spot"') + gpu_pool("other", name='"gp-other"'))
    assert checked.ok, checked.told
    spot, regular = sorted(checked.resources(FLEXIBLE), key=lambda item: str(item["priority"]), reverse=True)
    assert (spot["priority"], spot["priority_mix"]) == (
        "Spot",
        [{"base_regular_count": 0, "regular_percentage_above_base": 0}],
    )
    assert (regular["priority"], regular["priority_mix"], regular["eviction_policy"]) == ("Regular", [], None)


def test_infiniband_nodes_are_one_uniform_set_in_one_placement_group(example: Check) -> None:
    checked = example("infiniband")
    (one,) = checked.resources(UNIFORM)
    assert checked.resources(FLEXIBLE) == []
    assert (one["sku"], one["instances"], one["single_placement_group"], one["overprovision"]) == (
        "Standard_ND96isr_H100_v5", 4, True, False,
    )  # fmt: skip
    image = one["source_image_reference"][0]
    assert (image["publisher"], image["offer"], image["sku"]) == ("microsoft-dsvm", "ubuntu-hpc", "2404")
    assert one["extension"] == []
    assert checked.resources("azurerm_resource_group") == []
    assert checked.resources("azurerm_virtual_network") == []


def test_which_sizes_have_infiniband_is_what_azure_says_of_their_names() -> None:
    """An r among the features, which are the letters after the number of processors."""
    cloud = load_clouds()["azure"]
    fabrics = set()
    for (provider, name), offering in Catalog.embedded().offerings.items():
        found = match_module(cloud, name) if provider == "azure" and offering.status != "retired" else ""
        if isinstance(found, ModuleMatch):
            features = re.fullmatch(r"Standard_[A-Z]+\d+([a-z]*)(?:_.*)?", name)
            assert features, name
            assert found.arguments.get("single_placement_group", False) == ("r" in features[1]), name
            fabrics.add("r" in features[1])
    assert fabrics == {True, False}


@pytest.mark.slow
def test_only_the_pool_reaches_its_nodes_unless_ranges_are_given(
    planned: Check, example: Check, gpu_pool: Check
) -> None:
    closed, opened = planned(gpu_pool()), example("infiniband")
    ours = {
        name: {rule["name"]: rule for rule in checked.resources("azurerm_network_security_group")[0]["security_rule"]}
        for name, checked in {"closed": closed, "opened": opened}.items()
    }
    assert set(ours["closed"]) == {"nodes", "nothing-else"}
    deny = ours["closed"]["nothing-else"]
    assert (deny["access"], deny["direction"], deny["source_address_prefix"], deny["protocol"]) == (
        "Deny", "Inbound", "*", "*",
    )  # fmt: skip
    assert set(ours["opened"]) == {"nodes", "ssh", "lustre", "nothing-else"}
    assert ours["opened"]["ssh"]["source_address_prefixes"] == ["10.0.0.0/24"]
    assert sorted(ours["opened"]["lustre"]["destination_port_ranges"]) == ["1019-1023", "988"]
    priorities = [rule["priority"] for rule in ours["opened"].values() if rule["access"] == "Allow"]
    assert max(priorities) < deny["priority"]


@pytest.mark.parametrize("name", ["spot", "infiniband", "container", "reserved"])
def test_no_node_has_a_public_address_or_a_password(name: str, example: Check) -> None:
    checked = example(name)
    sets = [*checked.resources(UNIFORM), *checked.resources(FLEXIBLE)]
    assert sets
    for one in sets:
        linux = one["os_profile"][0]["linux_configuration"][0] if "os_profile" in one else one
        assert linux["disable_password_authentication"] is True
        assert linux["admin_password"] is None
        assert len(linux["admin_ssh_key"]) == 1
        (inside,) = one["network_interface"][0]["ip_configuration"]
        assert inside["public_ip_address"] == []
    ways_out = checked.resources("azurerm_nat_gateway")
    assert len(checked.resources("azurerm_public_ip")) == len(ways_out) == (1 if name == "spot" else 0)


@pytest.mark.slow
def test_a_network_without_a_way_out_is_told(planned: Check, gpu_pool: Check, told: Check) -> None:
    checked = planned(gpu_pool(subnet_id="null"))
    assert checked.ok, checked.told
    assert "has no way out" in told(checked)
    (subnet,) = checked.resources("azurerm_subnet")
    assert subnet["default_outbound_access_enabled"] is False


def test_capacity_is_reserved_only_when_asked(planned: Check, example: Check, gpu_pool: Check) -> None:
    nothing = planned(gpu_pool())
    assert nothing.resources("azurerm_capacity_reservation") == []
    asked = example("reserved")
    (group,) = asked.resources("azurerm_capacity_reservation_group")
    (reserved,) = asked.resources("azurerm_capacity_reservation")
    assert group["zones"] == ["1"]
    assert (reserved["sku"], reserved["zone"]) == ([{"name": "Standard_NC24ads_A100_v4", "capacity": 3}], "1")
    (near,) = asked.resources("azurerm_proximity_placement_group")
    assert (near["allowed_vm_sizes"], near["zone"]) == (["Standard_NC96ads_A100_v4"], "1")


@pytest.mark.slow
def test_more_nodes_than_a_placement_holds_are_in_several_of_whole_jobs(planned: Check, gpu_pool: Check) -> None:
    """Jobs of 16 nodes: six of them are 96 of the 100 nodes of a placement; 104 nodes take two, and hours of both."""
    rows = "[" + ", ".join(
        f'{{ start = "{start}", node_count = {count} }}'
        for start, count in (("2996-12-01T00:00:00Z", 104), ("2996-12-02T00:00:00Z", 98), ("2997-01-01T00:00:00Z", 0))
    ) + "]"  # fmt: skip
    checked = planned(
        gpu_pool(
            single_placement_group="true", nvidia_driver_extension="false", hpc_image="true", node_count="104",
            gang_nodes="16", schedule=rows,
        )
    )  # fmt: skip
    assert checked.ok, checked.told
    sets = checked.resources("azurerm_linux_virtual_machine_scale_set")
    assert [(one["name"], one["instances"]) for one in sets] == [("gp-pool", 96), ("gp-pool-1", 8)]
    assert all(one["single_placement_group"] for one in sets)
    counts = [
        [profile["capacity"][0]["default"] for profile in setting["profile"]]
        for setting in checked.resources("azurerm_monitor_autoscale_setting")
    ]
    # before the plan, from its start, from the second day, after it
    assert counts == [[96, 96, 96, 0], [8, 8, 2, 0]]


@pytest.mark.slow
def test_nodes_are_repaired_where_asked(planned: Check, gpu_pool: Check) -> None:
    uniform = {"single_placement_group": "true", "nvidia_driver_extension": "false", "hpc_image": "true"}
    checked = planned(
        gpu_pool("flexible", repair_nodes="true")
        + gpu_pool("uniform", repair_nodes="true", **uniform)
        + gpu_pool("plain")
    )
    assert checked.ok, checked.told
    (one,) = checked.resources("azurerm_linux_virtual_machine_scale_set")
    asked, plain = checked.resources("azurerm_orchestrated_virtual_machine_scale_set")
    for scale in (one, asked):
        assert scale["automatic_instance_repair"][0] == {
            "enabled": True, "grace_period": "PT90M", "action": "Replace",
        }  # fmt: skip
        health = next(each for each in scale["extension"] if each["name"] == "health")
        assert (health["publisher"], health["type"]) == ("Microsoft.ManagedServices", "ApplicationHealthLinux")
        assert json.loads(health["settings"])["port"] == 8490
    assert plain["automatic_instance_repair"] == []
    text = base64.b64decode(one["custom_data"]).decode()
    assert "ListenStream=127.0.0.1:8490" in text


def test_a_node_tells_the_scale_set_what_it_found_twice(tmp_path: Path) -> None:
    """The scripts themselves, with an nvidia-smi that has eight GPUs, then seven: well, still well, then broken."""
    module = find_shipped_folder("terraform") / "azure" / "gpu_pool"
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\nseq $(cat {tmp_path}/gpus)\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}

    def run(name: str) -> str:
        command = ["bash", "-c", (module / f"{name}.sh").read_text().replace("/run/", f"{tmp_path}/")]
        return subprocess.run(
            command, env=env, input="GET / HTTP/1.1\r\n\r\n", capture_output=True, text=True, check=True
        ).stdout

    found = [run("answer-check").splitlines()[0]]
    for gpus in (8, 7, 7, 8):
        (tmp_path / "gpus").write_text(str(gpus))
        run("check-node")
        found.append(run("answer-check").splitlines()[0])
    broken, well = "HTTP/1.1 503 Service Unavailable", "HTTP/1.1 200 OK"
    assert found == [broken, well, well, broken, well]


ILL_FITTING: list[tuple[dict[str, str], str]] = [
    ({"reserve_capacity": "true", "vm_size": '"Standard_ND96is_H100_v5"'}, "does not reserve capacity for ND"),
    ({"reserve_capacity": "true", "vm_size": '"Standard_NC80adis_H100_v5"'}, "does not reserve capacity for ND"),
    ({"reserve_capacity": "true", "purchase_option": '"spot"'}, "Capacity is reserved neither for spot nodes"),
    (
        {"reserve_capacity": "true", "purchase_option": '"spot"', "regular_base": "1"},
        "a scale set with spot nodes takes none for its regular ones either",
    ),
    ({"reserve_capacity": "true", "zones": '["1", "2"]'}, "A capacity reservation is in one zone at most"),
    ({"reserve_capacity": "true", "capacity_reservation_group_id": '"/x"'}, "Set reserve_capacity, or give a"),
    (
        {"proximity_placement_group": "true", "zones": '["1", "2"]'},
        "A proximity placement group is in one zone at most",
    ),
    ({"single_placement_group": "true", "gang_nodes": "101"}, "A single placement group holds at most 100 nodes"),
    ({"repair_nodes": "true", "user_data": '"#cloud-config"'}, "repair_nodes is for NVIDIA GPUs without user_data"),
    ({"single_placement_group": "true", "purchase_option": '"spot"', "regular_base": "1"}, "all regular or all spot"),
    ({"regular_percentage": "10"}, "an on-demand pool is all regular"),
    ({"hpc_image": "true"}, "set nvidia_driver_extension to false"),
    ({"container_image": '"a/b:1"', "user_data": '"#cloud-config"'}, "container_image or user_data, not both"),
]
WRONG: list[tuple[dict[str, str], str]] = [
    ({"container_image": '"a b"'}, "container_image is a reference"),
    ({"cuda_line": '"12"'}, "cuda_line is a version"),
    ({"ssh_from": '["0.0.0.0/0"]'}, "ssh_from holds private IPv4 ranges"),
    ({"lustre_from": '["8.8.8.0/24"]'}, "lustre_from holds private IPv4 ranges"),
    ({"ssh_public_key": '"secret"'}, "ssh_public_key is a public key"),
    ({"node_count": "1.5"}, "node_count is a whole number"),
    ({"vm_size": '"p5.48xlarge"'}, "vm_size starts with Standard_"),
    ({"regular_percentage": "101"}, "regular_percentage is a whole number from 0 to 100"),
    ({"hpc_image_sku": '"1804"'}, "hpc_image_sku is 2404"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "cases", [pytest.param(ILL_FITTING, marks=pytest.mark.slow), WRONG], ids=["ill_fitting", "wrong"]
)
def test_what_azure_would_refuse_is_refused_before(
    cases: list[tuple[dict[str, str], str]], planned: Check, gpu_pool: Check, told: Check
) -> None:
    """All cases in one root: terraform tells every fault, each with the module call it is in."""
    calls = (gpu_pool(f"case_{at}", **case) for at, (case, _) in enumerate(cases))
    checked = planned("\n".join(calls))
    assert not checked.ok
    said = told(checked)
    assert [error for _, error in cases if error not in said] == []


@pytest.mark.parametrize("kind", ["nodes", "kubernetes"])
@pytest.mark.parametrize(
    ("instance_type", "successor"),
    [
        ("Standard_NC6", "Standard_NC4as_T4_v3"),
        ("Standard_NC24rs_v2", "Standard_NC96ads_A100_v4"),
        ("Standard_ND24rs", "Standard_ND96amsr_A100_v4"),
        ("Standard_NV12", "Standard_NV72ads_A10_v5"),
        ("Standard_NC6s_v3", "Standard_NC24ads_A100_v4"),
        ("Standard_NC24rs_v3", "Standard_NC96ads_A100_v4"),
        ("Standard_NV12s_v3", "Standard_NV36ads_A10_v5"),
        ("Standard_NV16as_v4", "Standard_NV18ads_A10_v5"),
    ],
)
def test_a_retired_size_is_refused_with_its_successor(kind: Any, instance_type: str, successor: str) -> None:
    reason = match_module(load_clouds()["azure"], instance_type, kind)
    assert isinstance(reason, Message)
    assert reason.code == "type_retired"
    assert reason.parameters["successor"] == successor
    assert "retired" in reason.text


@pytest.mark.parametrize(
    ("instance_type", "arguments", "asks"),
    [
        (
            "Standard_ND96isr_MI300X_v5",
            {"hpc_image": True, "hpc_image_sku": "2404-rocm", "gpu_vendor": "amd", "single_placement_group": True},
            (),
        ),
        ("Standard_ND40rs_v2", {"hpc_image": True, "hpc_image_sku": "2204-v100", "single_placement_group": True}, ()),
        ("Standard_NC80adis_H100_v5", {"hpc_image": True}, ()),
        ("Standard_NV8ads_V710_v5", {"gpu_vendor": "amd"}, ("image_id",)),
        ("Standard_ND128isr_NDR_GB200_v6", {"single_placement_group": True}, ("image_id",)),
    ],
)
def test_which_image_brings_the_driver(instance_type: str, arguments: dict[str, Any], asks: tuple[str, ...]) -> None:
    found = match_module(load_clouds()["azure"], instance_type)
    assert isinstance(found, ModuleMatch)
    assert found.arguments == {"vm_size": instance_type, "nvidia_driver_extension": False, **arguments}
    assert found.asks == asks
