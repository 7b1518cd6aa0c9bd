"""What gpu_pool would create: nodes, capacity and flex start, read back from the real terraform's plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

ONE_ZONE = {"machine_type": "a3-highgpu-8g", "zones": ["us-central1-a"]}
SUBNET = "projects/p/regions/us-central1/subnetworks/gpu"
Plans = Callable[..., Any]


def test_gpu_nodes_are_closed_and_started_as_the_plan_says(plans: Plans) -> None:
    checked = plans(
        "gpu_pool",
        {
            "plain": {"machine_type": "a2-highgpu-8g"},
            "spot": {"machine_type": "g2-standard-4", "purchase_option": "spot", "termination_action": "DELETE"},
            "n1": {"machine_type": "n1-standard-8", "accelerator_type": "nvidia-tesla-t4", "accelerator_count": 2},
            "key": {
                "machine_type": "a2-highgpu-1g",
                "kms_key": "k",
                "compact_placement": True,
                "zones": ["us-central1-b"],
            },
            "held": {**ONE_ZONE, "reservation": "r"},
        },
    )
    templates = checked.by_call("google_compute_instance_template")
    for template in templates.values():
        (interface,) = template["network_interface"]
        assert (interface["subnetwork"], interface["access_config"]) == (SUBNET, [])
        assert set(template["metadata"]) == {"block-project-ssh-keys", "enable-oslogin", "user-data"}
        assert "prepare-node.service" in template["metadata"]["user-data"]
        (shielded,) = template["shielded_instance_config"]
        assert (shielded["enable_vtpm"], shielded["enable_integrity_monitoring"]) == (True, True)
        assert template["service_account"] == []
    scheduling = {name: template["scheduling"][0] for name, template in templates.items()}
    assert {
        name: (s["provisioning_model"], s["automatic_restart"], s["instance_termination_action"])
        for name, s in scheduling.items()
        if name in {"plain", "spot"}
    } == {"plain": ("STANDARD", True, None), "spot": ("SPOT", False, "DELETE")}
    assert templates["n1"]["guest_accelerator"] == [{"count": 2, "type": "nvidia-tesla-t4"}]
    nics = {name: template["network_interface"][0]["nic_type"] for name, template in templates.items()}
    assert nics == {"plain": "GVNIC", "spot": "GVNIC", "n1": None, "key": "GVNIC", "held": "GVNIC"}
    assert templates["key"]["disk"][0]["disk_encryption_key"][0]["kms_key_self_link"] == "k"
    affinity = {name: template["reservation_affinity"] for name, template in templates.items()}
    assert affinity.pop("held") == [
        {
            "type": "SPECIFIC_RESERVATION",
            "specific_reservation": [{"key": "compute.googleapis.com/reservation-name", "values": ["r"]}],
        }
    ]
    assert set(map(len, affinity.values())) == {0}
    assert set(checked.by_call("google_compute_resource_policy")) == {"key"}
    assert set(checked.by_call("google_compute_instance_group_manager")) == {"key", "held"}
    assert set(checked.by_call("google_compute_region_instance_group_manager")) == {"plain", "spot", "n1"}


@pytest.mark.slow
def test_nothing_is_reserved_or_bought_unless_asked_for(plans: Plans) -> None:
    buy = {"reserve_capacity": True, "buy_commitment": True, "reserved_node_count": 3}
    n1 = {"machine_type": "n1-highmem-8", "accelerator_type": "nvidia-tesla-v100", "zones": ["us-central1-a"]}
    checked = plans(
        "gpu_pool",
        {
            "plain": ONE_ZONE,
            "held": {**ONE_ZONE, "reserve_capacity": True},
            "a3": {**ONE_ZONE, **buy},
            "n1": {**n1, **buy, "commitment_years": 3},
        },
    )
    held = checked.by_call("google_compute_reservation")
    assert {
        name: (r["zone"], r["specific_reservation"][0]["count"], r["specific_reservation_required"])
        for name, r in held.items()
    } == {name: ("us-central1-a", count, False) for name, count in (("held", 2), ("a3", 3), ("n1", 3))}
    properties = held["n1"]["specific_reservation"][0]["instance_properties"][0]
    assert properties["machine_type"] == "n1-highmem-8"
    assert properties["guest_accelerators"] == [{"accelerator_count": 1, "accelerator_type": "nvidia-tesla-v100"}]
    bought = checked.by_call("google_compute_region_commitment")
    amounts = {name: {r["type"]: r["amount"] for r in c["resources"]} for name, c in bought.items()}
    # 3 x 208 vCPUs, 3 x 1872 GiB x 1024 MB, 3 x 8 GPUs, 3 x 6000 GB; 3 x 8 vCPUs, 3 x 8 x 6.5 x 1024 = 159744 MB.
    assert amounts == {
        "a3": {"VCPU": "624", "MEMORY": "5750784", "ACCELERATOR": "24", "LOCAL_SSD": "18000"},
        "n1": {"VCPU": "24", "MEMORY": "159744", "ACCELERATOR": "3"},
    }
    terms = {name: (c["plan"], c["type"], c["auto_renew"]) for name, c in bought.items()}
    assert terms == {
        "a3": ("TWELVE_MONTH", "ACCELERATOR_OPTIMIZED_A3", False),
        "n1": ("THIRTY_SIX_MONTH", "GENERAL_PURPOSE", False),
    }


@pytest.mark.slow
def test_flex_start_asks_once_for_all_nodes_and_their_time(plans: Plans) -> None:
    checked = plans("gpu_pool", {"flex": {**ONE_ZONE, "purchase_option": "flex_start", "flex_start_hours": 1.5}})
    request = checked.by_call("google_compute_resize_request")["flex"]
    assert (request["resize_by"], request["requested_run_duration"][0]["seconds"]) == (2, "5400")
    assert request["name"] == "gp-flex-2x90m"
    group = checked.by_call("google_compute_instance_group_manager")["flex"]
    assert group.get("target_size") is None
    assert group["instance_lifecycle_policy"][0]["default_action_on_failure"] == "DO_NOTHING"
    template = checked.by_call("google_compute_instance_template")["flex"]
    assert template["reservation_affinity"][0]["type"] == "NO_RESERVATION"
    scheduling = template["scheduling"][0]
    assert (scheduling["automatic_restart"], scheduling["provisioning_model"]) == (False, "FLEX_START")
    assert (scheduling["instance_termination_action"], scheduling["max_run_duration"][0]["seconds"]) == ("DELETE", 5400)


@pytest.mark.slow
def test_what_a_gpu_pool_cannot_be_is_said_before_anything_is_made(plans: Plans) -> None:
    spot = {"machine_type": "g2-standard-4", "purchase_option": "spot"}
    told = plans(
        "gpu_pool",
        {
            "bare_n1": {"machine_type": "n1-standard-8"},
            "elsewhere": {"machine_type": "g2-standard-4", "zones": ["europe-west4-a"]},
            "two_starts": {"machine_type": "g2-standard-4", "startup_script": "x", "container_image": "y"},
            "spread": {"machine_type": "a2-highgpu-8g", "compact_placement": True},
            "both": {**ONE_ZONE, "compact_placement": True, "reserve_capacity": True},
            "spot_held": {**spot, "reservation": "r"},
            "spot_flex": {**spot, "zones": [], "purchase_option": "flex_start"},
            "spot_reserve": {**spot, "zones": ["us-central1-a"], "reserve_capacity": True},
            "no_zone": {"machine_type": "g2-standard-4", "reserve_capacity": True},
            "none": {**ONE_ZONE, "reserve_capacity": True, "node_count": 0},
            "unheld": {**ONE_ZONE, "buy_commitment": True},
            "unknown": {
                **ONE_ZONE, "machine_type": "a4-highgpu-8g", "reserve_capacity": True, "reserved_node_count": 1,
                "buy_commitment": True,
            },
        },
    ).failure  # fmt: skip
    for sentence in (
        "An N1 machine needs accelerator_type",
        "zones must lie in the region.",
        "Give startup_script or container_image, not both.",
        "Nodes that are close together or share a job lie in one zone: give one zone.",
        "choose compact_placement or reserve_capacity.",
        "Spot and flex_start nodes cannot start in a reservation.",
        "flex_start is for nodes in one zone without a reservation.",
        "reserve_capacity is for on_demand nodes without a reservation.",
        "reserve_capacity holds nodes in one zone: give one zone.",
        "reserve_capacity needs reserved_node_count, or a node_count above 0.",
        "buy_commitment needs reserve_capacity and reserved_node_count: the same nodes in every month.",
        "What a commitment for this machine type covers is not known here: buy it in the console.",
    ):
        assert sentence in told, sentence
