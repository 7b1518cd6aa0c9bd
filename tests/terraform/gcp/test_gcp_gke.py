"""What gke_pool would create, and which offerings it takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from planner.reports.terraform.provisioning.module_catalog import ModuleMatch, load_clouds, match_module
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog

Plans = Callable[..., Any]


def test_node_pools_have_the_accelerators_of_their_machines(plans: Plans) -> None:
    checked = plans(
        "gke_pool",
        {
            "g2": {"machine_type": "g2-standard-24", "purchase_option": "spot"},
            "n1": {"machine_type": "n1-standard-8", "accelerator_type": "nvidia-tesla-t4", "accelerator_count": 2},
            "tpu": {"machine_type": "ct6e-standard-4t"},
            "queued": {"machine_type": "a3-highgpu-8g", "queued": True},
            "held": {"machine_type": "a3-highgpu-8g", "reservation": "r", "compact_placement": True},
        },
    )
    pools = checked.by_call("google_container_node_pool")
    nodes = {name: pool["node_config"][0] for name, pool in pools.items()}
    cards = {name: [(g["type"], g["count"]) for g in node["guest_accelerator"]] for name, node in nodes.items()}
    h100 = [("nvidia-h100-80gb", 8)]
    assert cards == {"g2": [("nvidia-l4", 2)], "n1": [("nvidia-tesla-t4", 2)], "tpu": [], "queued": h100, "held": h100}
    assert {name for name, node in nodes.items() if node["spot"]} == {"g2"}
    assert {name: [t["key"] for t in node["taint"]] for name, node in nodes.items() if name in {"g2", "tpu"}} == {
        "g2": ["nvidia.com/gpu"],
        "tpu": [],
    }
    assert {name: pool["node_count"] for name, pool in pools.items() if name != "queued"} == dict.fromkeys(
        ("g2", "n1", "tpu", "held"), 3
    )
    queued = pools["queued"]
    assert queued["initial_node_count"] == 0
    assert queued["queued_provisioning"] == [{"enabled": True}]
    assert queued["management"][0]["auto_repair"] is False
    scale = queued["autoscaling"][0]
    assert (scale["total_min_node_count"], scale["total_max_node_count"], scale["location_policy"]) == (0, 3, "ANY")
    assert nodes["queued"]["reservation_affinity"][0]["consume_reservation_type"] == "NO_RESERVATION"
    assert nodes["held"]["reservation_affinity"][0]["values"] == ["r"]
    assert {
        name: pool["placement_policy"][0]["tpu_topology"] for name, pool in pools.items() if pool["placement_policy"]
    } == {"held": None}
    for pool in pools.values():
        assert pool["network_config"][0]["enable_private_nodes"] is True
        assert pool["node_config"][0]["shielded_instance_config"][0]["enable_secure_boot"] is True
        assert (pool["project"], pool["location"], pool["cluster"]) == ("my-project", "us-central1", "ml")


@pytest.mark.slow
def test_a_slice_over_several_machines_is_a_node_pool(plans: Plans) -> None:
    """4x4 are 16 chips, 4 machines of 4; 2x2x4 of v4 as many. Of three slices one is kept where nodes follow pods."""
    checked = plans(
        "gke_pool",
        {
            "v6e": {"machine_type": "ct6e-standard-4t", "tpu_topology": "4x4"},
            "v4": {"machine_type": "ct4p-hightpu-4t", "tpu_topology": "2x2x4", "node_count": 1, "scale_to_zero": True},
            "single": {"machine_type": "ct5lp-hightpu-4t", "tpu_topology": "2x2"},
            "none": {"machine_type": "ct6e-standard-4t", "tpu_topology": "4x4", "node_count": 0},
        },
    )
    found = [
        (call, pool["name"], pool.get("node_count"), [s["total_max_node_count"] for s in pool["autoscaling"]],
         [(p["type"], p["tpu_topology"]) for p in pool["placement_policy"]])
        for call, pool in checked.each("google_container_node_pool")
    ]  # fmt: skip
    assert sorted(found) == [
        ("single", "gp-single", 3, [], [("COMPACT", "2x2")]),
        ("v4", "gp-v4-0", None, [4], [("COMPACT", "2x2x4")]),
        ("v6e", "gp-v6e-0", 4, [], [("COMPACT", "4x4")]),
        ("v6e", "gp-v6e-1", 4, [], [("COMPACT", "4x4")]),
        ("v6e", "gp-v6e-2", 4, [], [("COMPACT", "4x4")]),
    ]


@pytest.mark.slow
def test_what_a_node_pool_cannot_be_is_said(plans: Plans) -> None:
    told = plans(
        "gke_pool",
        {
            "bare_n1": {"machine_type": "n1-standard-8"},
            "unknown": {"machine_type": "z9-standard-8"},
            "elsewhere": {"machine_type": "g2-standard-4", "zone": "europe-west4-a"},
            "flat": {"machine_type": "g2-standard-4", "tpu_topology": "2x4"},
            "odd": {"machine_type": "ct6e-standard-4t", "tpu_topology": "3x3"},
            "spot_queued": {"machine_type": "g2-standard-4", "queued": True, "purchase_option": "spot"},
            "spot_held": {"machine_type": "g2-standard-4", "reservation": "r", "purchase_option": "spot"},
        },
    ).failure
    for sentence in (
        "An N1 machine needs accelerator_type",
        "Which accelerators z9-standard-8 brings is not known here.",
        "zone must lie in the cluster's location, us-central1.",
        "tpu_topology is for TPU machines.",
        "tpu_topology is a whole number of machines",
        "queued is for on_demand and flex_start nodes without a reservation.",
        "Spot and flex_start nodes cannot start in a reservation.",
    ):
        assert sentence in told, sentence


@pytest.mark.parametrize(
    ("instance_type", "arguments"),
    [
        ("a2-ultragpu-1g", {"machine_type": "a2-ultragpu-1g"}),
        ("a4-highgpu-8g", {"machine_type": "a4-highgpu-8g", "boot_disk_type": "hyperdisk-balanced"}),
        ("tpu7x-standard-4t", {"machine_type": "tpu7x-standard-4t", "boot_disk_type": "hyperdisk-balanced"}),
        ("ct5l-hightpu-4t", {"machine_type": "ct5l-hightpu-4t"}),
        ("tpu-v5litepod-8", {"machine_type": "ct5lp-hightpu-8t"}),
        ("tpu-v6e-4", {"machine_type": "ct6e-standard-4t"}),
        ("tpu-v4-8", {"machine_type": "ct4p-hightpu-4t"}),
        ("tpu-v5p-8", {"machine_type": "ct5p-hightpu-4t"}),
        ("tpu-v5litepod-64", {"machine_type": "ct5lp-hightpu-4t"}),
        ("tpu-v6e-16", {"machine_type": "ct6e-standard-4t"}),
    ],
)
def test_an_offering_becomes_a_node_pool(instance_type: str, arguments: dict[str, object]) -> None:
    found = match_module(load_clouds()["gcp"], instance_type, "kubernetes")
    assert isinstance(found, ModuleMatch)
    assert (found.module.name, found.arguments) == ("gke_pool", arguments)


def test_every_offering_has_a_node_pool_or_a_reason() -> None:
    lost = {}
    for (provider, name), offering in Catalog.embedded().offerings.items():
        found = match_module(load_clouds()["gcp"], name, "kubernetes") if provider == "gcp" else None
        if isinstance(found, Message) and offering.status != "retired":
            lost[name] = found
    assert not [name for name, reason in lost.items() if reason.code == "no_kubernetes_module_for_type"]
    assert {name for name in lost if not re.fullmatch(r"tpu-.*|tpu7x-\d+", name)} == {
        "a4x-highgpu-4g", "a4x-maxgpu-4g-metal", "ct3p-hightpu-4t", "g4-standard-6", "g4-standard-12", "g4-standard-24",
    }  # fmt: skip
    assert [name for name in lost if name.startswith("tpu-") and not re.fullmatch(r"tpu-(v2-\d+|v3-8)", name)] == []
