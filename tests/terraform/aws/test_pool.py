"""What gpu_pool would create: interfaces, capacity, months and spot, read back from the real terraform's plan."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder
from pricing.catalog.price_catalog import Catalog

AWS = find_shipped_folder("terraform") / "aws"
SUBNET = "subnet-0123456789abcdef0"

Call = Mapping[str, Any]
Plans = Callable[[str, Mapping[str, Call]], Any]


@pytest.mark.slow
def test_efa_interfaces_and_placement_follow_from_the_instance_type(plans: Plans) -> None:
    checked = plans(
        "gpu_pool",
        {
            "p5": {"instance_type": "p5.48xlarge"},
            "p6_b300": {"instance_type": "p6-b300.48xlarge"},
            "g5": {"instance_type": "g5.8xlarge"},
            "g6": {"instance_type": "g6.xlarge"},
            "off": {"instance_type": "p5.48xlarge", "efa_interface_count": 0},
            "zones": {"instance_type": "g5.8xlarge", "subnet_ids": [SUBNET, "subnet-1"]},
            "same": {"instance_type": "g5.8xlarge", "alternative_instance_types": ["g6.8xlarge"]},
            "mixed": {"instance_type": "g6e.48xlarge", "alternative_instance_types": ["g6e.24xlarge"]},
            "block": {
                "instance_type": "p5.48xlarge",
                "purchase_option": "capacity_block",
                "capacity_reservation_id": "cr-1",
            },
        },
    )
    templates = checked.by_call("aws_launch_template")
    layout = {
        name: [
            (i["network_card_index"], i["device_index"], i["interface_type"]) for i in template["network_interfaces"]
        ]
        for name, template in templates.items()
    }
    plain = (0, 0, "interface")
    # 32 cards: one EFA beside the first interface on card 0, and one on each of cards 1 to 31.
    assert layout["p5"] == [plain, (0, 1, "efa-only"), *((card, 0, "efa-only") for card in range(1, 32))]
    # 17 cards, of which card 0 has no EFA.
    assert layout["p6_b300"] == [plain, *((card, 0, "efa-only") for card in range(1, 17))]
    assert layout["g5"] == layout["zones"] == layout["same"] == [plain, (0, 1, "efa-only")]
    assert layout["g6"] == layout["off"] == layout["mixed"] == [plain]
    assert layout["block"] == layout["p5"]
    assert set(checked.by_call("aws_placement_group")) == {"p5", "p6_b300", "g5", "same"}
    # EC2 gives no public address to several interfaces and refuses the argument with them.
    public = {name: t["network_interfaces"][0]["associate_public_ip_address"] for name, t in templates.items()}
    assert {name: public[name] for name in ("g6", "off", "p5")} == {"g6": "false", "off": "false", "p5": None}


def test_nodes_are_closed_and_encrypted(plans: Plans) -> None:
    for module in ("gpu_pool", "eks_pool"):
        template = plans(module, {"one": {"instance_type": "g6.xlarge"}}).by_call("aws_launch_template")["one"]
        (options,) = template["metadata_options"]
        assert (options["http_tokens"], options["http_put_response_hop_limit"]) == ("required", 1)
        (disk,) = template["block_device_mappings"]
        assert (disk["ebs"][0]["volume_type"], disk["ebs"][0]["encrypted"]) == ("gp3", "true")
        assert template["key_name"] is None


def test_the_efa_table_is_one_file_and_names_offerings_that_exist() -> None:
    assert (AWS / "eks_pool" / "efa.tf").read_bytes() == (AWS / "gpu_pool" / "efa.tf").read_bytes()
    table = dict(re.findall(r'^    "(\S+)"\s+= (\d+)$', (AWS / "gpu_pool" / "efa.tf").read_text(), re.MULTILINE))
    current = {o.instance_type for o in Catalog.embedded().offerings.values() if o.provider == "aws"}
    assert set(table) <= current
    whole = re.compile(r"p[456]\S*\.(24|48)xlarge|trn\S+\.(32|48)xlarge")
    assert {name for name in current if whole.fullmatch(name)} <= set(table)
    assert table["p5en.48xlarge"] == "16"


@pytest.mark.slow
def test_nothing_is_reserved_or_bought_unless_asked_for(plans: Plans) -> None:
    block = {"instance_type": "p5en.48xlarge", "purchase_option": "capacity_block"}
    search = {"duration_hours": 336, "starts_after": "2027-03-01T00:00:00Z", "ends_before": "2027-03-31T00:00:00Z"}
    checked = plans(
        "gpu_pool",
        {
            "plain": {"instance_type": "p5.48xlarge"},
            "held": {"instance_type": "p5.48xlarge", "reserve_capacity": True},
            "until": {
                "instance_type": "g6.xlarge",
                "reserve_capacity": True,
                "reservation_end": "2027-12-31T00:00:00Z",
            },
            "mixed": {
                "instance_type": "g6.xlarge",
                "purchase_option": "spot",
                "on_demand_base_count": 1,
                "reserve_capacity": True,
            },
            "seen": {**block, "capacity_reservation_id": "cr-1", "capacity_block_search": search},
            "bought": {**block, "buy_capacity_block": True, "capacity_block_search": search},
            "chosen": {**block, "buy_capacity_block": True, "capacity_block_offering_id": "cb-1"},
        },
    )
    held = checked.by_call("aws_ec2_capacity_reservation")
    assert {
        name: (r["instance_type"], r["instance_count"], r["instance_match_criteria"], r["end_date_type"], r["end_date"])
        for name, r in held.items()
    } == {
        "held": ("p5.48xlarge", 2, "targeted", "unlimited", None),
        "until": ("g6.xlarge", 2, "targeted", "limited", "2027-12-31T00:00:00Z"),
        # a template that names a reservation starts no spot node: what is open is taken by nodes on demand alone
        "mixed": ("g6.xlarge", 1, "open", "unlimited", None),
    }
    bought = checked.by_call("aws_ec2_capacity_block_reservation")
    assert {name: r["capacity_block_offering_id"] for name, r in bought.items()} == {
        "bought": "standin-capacity-block-offering-id",
        "chosen": "cb-1",
    }
    templates = checked.by_call("aws_launch_template")
    started_in = {name: bool(t["capacity_reservation_specification"]) for name, t in templates.items()}
    assert started_in == {name: name not in ("plain", "mixed") for name in templates}
    markets = {name for name, t in templates.items() if t["instance_market_options"]}
    assert markets == {"seen", "bought", "chosen"}


@pytest.mark.slow
def test_what_cannot_be_is_said_before_anything_is_made(plans: Plans) -> None:
    """One call a fault; terraform reports them together."""
    block: Call = {"instance_type": "p5.48xlarge", "purchase_option": "capacity_block"}
    plain: Call = {"instance_type": "g6.xlarge"}
    told = plans(
        "gpu_pool",
        {
            "no_block": block,
            "nothing_to_buy": {**block, "buy_capacity_block": True},
            "buy_on_demand": {**plain, "buy_capacity_block": True, "capacity_block_offering_id": "cb-1"},
            "spot_in_reservation": {**plain, "purchase_option": "spot", "capacity_reservation_id": "cr-1"},
            "reserve_spot": {**plain, "purchase_option": "spot", "reserve_capacity": True},
            "reserve_zones": {**plain, "reserve_capacity": True, "subnet_ids": [SUBNET, "subnet-1"]},
            "reserve_nothing": {**plain, "reserve_capacity": True, "node_count": 0},
            "placed_apart": {**plain, "placement_group": True, "subnet_ids": [SUBNET, "subnet-1"]},
            "two_starts": {**plain, "user_data": "#!/bin/sh", "container_image": "job:1"},
            "amd": {"instance_type": "g4ad.xlarge", "container_image": "job:1"},
            "long": {**plain, "user_data": "x" * 16385},
        },
    ).failure
    for sentence in (
        "capacity_block needs capacity_reservation_id, or buy_capacity_block to buy one.",
        "buy_capacity_block needs capacity_block_offering_id, or capacity_block_search to find it.",
        "buy_capacity_block is for purchase_option capacity_block without a capacity_reservation_id.",
        "Spot nodes cannot start in a capacity reservation.",
        "reserve_capacity is for nodes on demand without a capacity_reservation_id;",
        "reserve_capacity holds one instance type in one zone: give one subnet and no alternative types.",
        "reserve_capacity needs a node_count above 0.",
        "A placement group lies in one zone: give one subnet.",
        "Give user_data or container_image, not both.",
        "container_image is for NVIDIA GPUs, Trainium and Inferentia: start other devices in user_data.",
        "EC2 takes at most 16 KiB of user data.",
    ):
        assert sentence in told, sentence


@pytest.mark.slow
def test_a_schedule_sets_the_month_that_has_begun_and_plans_the_coming_ones(plans: Plans) -> None:
    rows = [
        {"start": "2998-02-01T00:00:00Z", "node_count": 0},
        {"start": "2020-02-01T00:00:00Z", "node_count": 5},
        {"start": "2998-01-01T00:00:00Z", "node_count": 7},
        {"start": "2020-01-01T00:00:00Z", "node_count": 3},
    ]
    checked = plans(
        "gpu_pool",
        {
            "begun": {"instance_type": "g6.xlarge", "schedule": rows},
            "ahead": {"instance_type": "g6.xlarge", "schedule": rows[:1]},
            "none": {"instance_type": "g6.xlarge", "max_node_count": 4},
        },
    )
    groups = checked.by_call("aws_autoscaling_group")
    # Of the rows that have begun 2020-02 is the last; the limit is the most of any month, and of node_count.
    assert {name: (g["desired_capacity"], g["min_size"], g["max_size"]) for name, g in groups.items()} == {
        "begun": (5, 0, 7),
        "ahead": (2, 0, 2),
        "none": (2, 0, 4),
    }
    actions = [values for _, values in checked.each("aws_autoscaling_schedule")]
    found = [(a["autoscaling_group_name"], a["start_time"], a["desired_capacity"]) for a in actions]
    assert sorted(found) == [
        ("gp-ahead", "2998-02-01T00:00:00Z", 0),
        ("gp-begun", "2998-01-01T00:00:00Z", 7),
        ("gp-begun", "2998-02-01T00:00:00Z", 0),
    ]
    assert {(a["min_size"], a["max_size"]) for a in actions} == {(-1, -1)}


@pytest.mark.slow
def test_spot_is_a_share_above_an_on_demand_base(plans: Plans) -> None:
    spot: Call = {"instance_type": "g6.xlarge", "purchase_option": "spot", "on_demand_base_count": 1}
    checked = plans(
        "gpu_pool",
        {
            "all": spot,
            "most": {**spot, "spot_fraction": 0.75},
            "none": {**spot, "spot_fraction": 0},
            "on_demand": {"instance_type": "g6.xlarge", "on_demand_base_count": 1, "spot_fraction": 0.5},
        },
    )
    groups = checked.by_call("aws_autoscaling_group")
    shares = {name: group["mixed_instances_policy"][0]["instances_distribution"][0] for name, group in groups.items()}
    assert {
        name: (s["on_demand_base_capacity"], s["on_demand_percentage_above_base_capacity"])
        for name, s in shares.items()
    } == {"all": (1, 0), "most": (1, 25), "none": (1, 100), "on_demand": (0, 100)}
    assert {name for name, group in groups.items() if group["capacity_rebalance"]} == {"all", "most"}


@pytest.mark.slow
def test_nodes_are_repaired_and_refreshed_where_asked(plans: Plans) -> None:
    asked: Call = {"instance_type": "g6.xlarge", "repair_nodes": True, "refresh_nodes": True}
    checked = plans(
        "gpu_pool", {"plain": {"instance_type": "g6.xlarge"}, "kept": asked | {"instance_profile_name": "n"}}
    )
    data = {
        name: base64.b64decode(template["user_data"]).decode()
        for name, template in checked.by_call("aws_launch_template").items()
    }
    assert {name: "check-node.timer" in text for name, text in data.items()} == {"plain": False, "kept": True}
    assert all("prepare-node.service" in text for text in data.values())
    groups = checked.by_call("aws_autoscaling_group")
    assert [len(groups[name]["instance_refresh"]) for name in ("plain", "kept")] == [0, 1]


@pytest.mark.slow
def test_a_repair_that_has_no_rights_is_refused(plans: Plans) -> None:
    told = plans("gpu_pool", {"bare": {"instance_type": "g6.xlarge", "repair_nodes": True}}).failure
    assert "repair_nodes is for NVIDIA GPUs, with instance_profile_name and without user_data." in told


def test_a_node_is_given_up_when_it_is_found_broken_twice(tmp_path: Path) -> None:
    """The script itself: two GPUs, then one, once and again, and two; each time it is found broken but the first."""
    script = (AWS / "gpu_pool" / "check-node.sh").read_text()
    for name, text in (("nvidia-smi", f"seq $(cat {tmp_path}/gpus)"), ("give-up-node", f"echo >> {tmp_path}/told")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    told = []
    for gpus in (2, 1, 1, 1, 2, 1):
        (tmp_path / "gpus").write_text(str(gpus))
        command = ["bash", "-c", script.replace("/run/", f"{tmp_path}/")]
        subprocess.run(command, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, check=True, capture_output=True)
        told.append((tmp_path / "told").read_text().count("\n") if (tmp_path / "told").exists() else 0)
    assert told == [0, 0, 1, 2, 2, 2]
