"""What eks_pool would create, and which offerings it takes."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder
from planner.reports.terraform.provisioning.module_catalog import ModuleMatch, load_clouds, match_module
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog

Call = Mapping[str, Any]
Plans = Callable[[str, Mapping[str, Call]], Any]


CALLS = {
    "demand": {"instance_type": "p4d.24xlarge", "teams": ["research & development"]},
    "spot": {
        "instance_type": "g6.xlarge",
        "alternative_instance_types": ["g6.2xlarge"],
        "purchase_option": "spot",
        "node_count": 0,
        "taint": False,
    },
    "block": {
        "instance_type": "p5.48xlarge",
        "purchase_option": "capacity_block",
        "capacity_reservation_id": "cr-1",
    },
    "neuron": {"instance_type": "trn1.32xlarge", "ami_type": "AL2023_x86_64_NEURON", "max_node_count": 9},
}


@pytest.mark.slow
def test_a_node_group_starts_what_was_asked_for(plans: Plans) -> None:
    checked = plans("eks_pool", CALLS)
    groups = checked.by_call("aws_eks_node_group")
    assert {name: (g["capacity_type"], g["ami_type"], g.get("instance_types")) for name, g in groups.items()} == {
        "demand": ("ON_DEMAND", "AL2023_x86_64_NVIDIA", ["p4d.24xlarge"]),
        "spot": ("SPOT", "AL2023_x86_64_NVIDIA", ["g6.xlarge", "g6.2xlarge"]),
        "block": ("CAPACITY_BLOCK", "AL2023_x86_64_NVIDIA", None),
        "neuron": ("ON_DEMAND", "AL2023_x86_64_NEURON", ["trn1.32xlarge"]),
    }
    sizes = {name: tuple(g["scaling_config"][0].values()) for name, g in groups.items()}
    assert {name: sorted(size) for name, size in sizes.items()} == {
        "demand": [0, 2, 2],
        "spot": [0, 0, 1],
        "block": [0, 2, 2],
        "neuron": [0, 2, 9],
    }
    assert {name: [t["key"] for t in g["taint"]] for name, g in groups.items()} == {
        "demand": ["nvidia.com/gpu"],
        "spot": [],
        "block": ["nvidia.com/gpu"],
        "neuron": ["aws.amazon.com/neuron"],
    }
    assert groups["demand"]["labels"] == {"gpu-planner/plan": "p1", "gpu-planner/team": "research---development"}


@pytest.mark.slow
def test_a_launch_template_has_the_network_of_its_type(plans: Plans) -> None:
    checked = plans("eks_pool", CALLS)
    templates = checked.by_call("aws_launch_template")
    assert {name: t["instance_type"] for name, t in templates.items()} == {
        "demand": None,
        "spot": None,
        "block": "p5.48xlarge",
        "neuron": None,
    }
    assert {name: len(t["network_interfaces"]) for name, t in templates.items()} == {
        "demand": 5,
        "spot": 1,
        "block": 33,
        "neuron": 9,
    }
    assert set(checked.by_call("aws_placement_group")) == {"demand", "neuron"}


def test_every_offering_has_a_node_group_or_a_reason() -> None:
    cloud = load_clouds()["aws"]
    images = set()
    for offering in Catalog.embedded().offerings.values():
        if offering.provider != "aws":
            continue
        found = match_module(cloud, offering.instance_type, "kubernetes")
        if isinstance(found, ModuleMatch):
            assert found.module.name == "eks_pool"
            images.add(found.arguments.get("ami_type"))
        else:
            assert re.search("retired|UltraServers|no accelerated image", found.text), found
    assert images == {None, "AL2023_ARM_64_NVIDIA", "AL2023_x86_64_NEURON"}


@pytest.mark.parametrize(
    ("instance_type", "successor"),
    [
        ("p2.xlarge", "p3.2xlarge"),
        ("p2.16xlarge", "p3.16xlarge"),
        ("g3.8xlarge", "g4dn"),
        ("eg1.medium", "g4dn.xlarge"),
    ],
)
@pytest.mark.parametrize("kind", ["nodes", "kubernetes"])
def test_what_is_gone_is_refused_with_its_successor(instance_type: str, successor: str, kind: Any) -> None:
    told = match_module(load_clouds()["aws"], instance_type, kind)
    assert isinstance(told, Message)
    assert successor in told.text


def test_what_the_cluster_needs_once_is_told(plans: Plans) -> None:
    given = {
        "p5": {"instance_type": "p5.48xlarge"},
        "trn": {"instance_type": "trn1.32xlarge", "ami_type": "AL2023_x86_64_NEURON"},
        "g6": {"instance_type": "g6.xlarge"},
    }
    checked = plans("eks_pool", given)
    templates = checked.by_call("aws_launch_template")
    for template in templates.values():
        assert '"strategy": "RAID0"' in base64.b64decode(template["user_data"]).decode()
    # outputs of a module are not in the plan of a root that passes none on: the text has each chart once
    text = (find_shipped_folder("terraform") / "aws" / "eks_pool" / "outputs.tf").read_text()
    for chart in ("neuron-helm-chart", "nvidia-device-plugin", "aws-efa-k8s-device-plugin"):
        assert text.count(f"helm upgrade --install {chart}") == 1
