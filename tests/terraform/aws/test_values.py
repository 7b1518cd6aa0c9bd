"""Values that the AWS modules refuse, each by its name, and names that they make fit for AWS."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder

AWS = find_shipped_folder("terraform") / "aws"
HOSTILE = 'a"b${file("/etc/passwd")}%{ if true }\\ \n\t|`$(id)<é😀' + "x" * 300

Call = Mapping[str, Any]
Plans = Callable[[str, Mapping[str, Call]], Any]


POOL: Call = {"instance_type": "g6.xlarge"}
BUDGET: Call = {"currency": "USD", "monthly_amount": 1, "start_month": "2027-01"}
BAD: dict[str, tuple[Call, ...]] = {
    "gpu_pool": (
        POOL | {"node_count": 1.5, "spot_fraction": 1.1, "efa_interface_count": 33, "purchase_option": "reserved"},
        POOL | {"reservation_end": "soon", "cuda_line": "twelve", "container_image": "job 1"},
        POOL | {"capacity_block_search": {"duration_hours": 30, "starts_after": "now", "ends_before": "later"}},
        POOL
        | {
            "schedule": [{"start": "2027-13", "node_count": 1}, {"start": "2027-13", "node_count": -1}],
            "week": [{"month": "2027-13", "days": ["MON"], "hour": 20, "hours": 6, "node_count": 1}],
        },
        {"instance_type": "g6", "capacity_reservation_id": "block", "on_demand_base_count": -1, "subnet_ids": []},
    ),
    "eks_pool": (POOL | {"ami_type": "AL2_x86_64_GPU", "node_role_arn": "node", "cluster_name": "a b"},),
    "budget": (
        {"currency": "usd", "monthly_amount": 0, "start_month": "2027", "contacts": ["me"], "usd_per_currency": 0},
        BUDGET | {"contacts": [f"{n}@example.com" for n in range(11)]},
    ),
    "storage": (
        {"name": "A", "workload": "w", "capacity_gb": 0, "kind": "tape", "throughput_mbps_per_tib": 200},
        {"workload": "w", "capacity_gb": 1, "backup_days": 91, "keep_old_versions_days": 0, "subnet_ids": ["net"]},
    ),
    "quota": (
        {"requests": [{"region": "here", "code": "P", "title": "", "unit": "vcpu", "value": 0}]},
        {"requests": [{"region": "us-east-1", "code": "L-417A185B", "title": "", "unit": "vcpu", "value": 1}] * 2},
    ),
}
TOLD = {"gpu_pool": 18, "eks_pool": 3, "budget": 6, "storage": 7, "quota": 4}
"""Faults in the values above: how many rules of the variables they break."""
MOST = max(TOLD, key=lambda module: TOLD[module])
"""The module of every day."""


@pytest.mark.parametrize(
    "module", [name if name == MOST else pytest.param(name, marks=pytest.mark.slow) for name in sorted(BAD)]
)
def test_every_bad_value_is_told_in_the_words_of_its_variable(module: str, plans: Plans) -> None:
    told = plans(module, {f"call_{n}": call for n, call in enumerate(BAD[module])}).failure
    rules = re.findall(r'error_message = "(.*)"', (AWS / module / "variables.tf").read_text())
    assert len([rule for rule in rules if rule in told]) == TOLD[module], told


@pytest.mark.slow
def test_hostile_names_become_tags_that_aws_takes(plans: Plans) -> None:
    hostile = {"tags": {HOSTILE: HOSTILE, "a?": "1", "a!": "2", "aws:x": "y", "empty": ""}, "plan_id": HOSTILE}
    pool: Call = {"instance_type": "g6.xlarge", "workloads": [HOSTILE], "teams": [HOSTILE, "b"], **hostile}
    found = plans("gpu_pool", {"one": pool}).by_call("aws_launch_template")["one"]["tags"]
    _within_the_rules(found)
    assert set(found) >= {"Name", "managed_by", "plan", "workloads", "team", "a_", "aws_x"}
    assert "empty" not in found
    node_group = plans("eks_pool", {"one": pool}).by_call("aws_eks_node_group")["one"]
    _within_the_rules(node_group["tags"])
    assert set(node_group["labels"]) == {"gpu-planner/plan", "gpu-planner/team"}
    for value in node_group["labels"].values():
        assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", value), value
    store: Call = {"region": "us-east-1", "workload": HOSTILE, "capacity_gb": 1, **hostile}
    _within_the_rules(plans("storage", {"one": store}).by_call("aws_s3_bucket")["one"]["tags"])


def _within_the_rules(tags: Mapping[str, str]) -> None:
    for text in (*tags, *tags.values()):
        assert re.fullmatch(r"[\w +=.:/@-]{1,256}", text), text
    assert all(len(key) <= 128 and not key.startswith("aws:") for key in tags)
