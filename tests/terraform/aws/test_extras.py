"""What the quota, budget and storage modules would create, read back from the real terraform's plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

SUBNET = "subnet-0123456789abcdef0"

Call = Mapping[str, Any]
Plans = Callable[[str, Mapping[str, Call]], Any]


@pytest.mark.slow
def test_quota_is_asked_for_only_when_told_to_and_never_below_what_is_granted(plans: Plans) -> None:
    """The stand-in provider says that 1 is granted of each."""
    wanted = [("us-east-1", 192), ("eu-west-1", 0.5)]
    requests = [
        {"region": region, "code": "L-417A185B", "title": "Running On-Demand P", "unit": "vcpu", "value": value}
        for region, value in wanted
    ]
    checked = plans("quota", {"told": {"requests": requests}, "asked": {"requests": requests, "request": True}})
    asked = checked.each("aws_servicequotas_service_quota")
    assert {(call, quota["region"], quota["value"]) for call, quota in asked} == {
        ("asked", "us-east-1", 192),
        ("asked", "eu-west-1", 1),
    }
    assert {quota["service_code"] for _, quota in asked} == {"ec2"}


@pytest.mark.slow
def test_a_budget_is_in_dollars_and_only_where_somebody_is_told(plans: Plans) -> None:
    base: Call = {"currency": "USD", "monthly_amount": 1234.5, "start_month": "2026-12"}
    people: Call = {**base, "contacts": ["a@example.com", "b@example.com"]}
    checked = plans(
        "budget",
        {
            "nobody": base,
            "dollars": people,
            "euros": {**people, "currency": "EUR", "monthly_amount": 50000, "usd_per_currency": 1.1},
            "tagged": {**people, "only_tagged": True, "plan_id": "a$b"},
        },
    )
    budgets = checked.by_call("aws_budgets_budget")
    # 50,000 EUR at 1.1 USD are 55,000 USD.
    assert {name: (b["limit_amount"], b["limit_unit"], b["time_period_start"]) for name, b in budgets.items()} == {
        "dollars": ("1234.50", "USD", "2026-12-01_00:00"),
        "euros": ("55000.00", "USD", "2026-12-01_00:00"),
        "tagged": ("1234.50", "USD", "2026-12-01_00:00"),
    }
    alarms = [(n["notification_type"], n["threshold"]) for n in budgets["dollars"]["notification"]]
    assert sorted(alarms) == [("ACTUAL", 50), ("ACTUAL", 80), ("ACTUAL", 100), ("FORECASTED", 100)]
    assert budgets["dollars"]["cost_filter"] == []
    assert budgets["tagged"]["cost_filter"] == [{"name": "TagKeyValue", "values": ["user:plan$a_b"]}]


@pytest.mark.slow
def test_a_budget_in_another_currency_needs_a_rate(plans: Plans) -> None:
    call: Call = {"currency": "EUR", "monthly_amount": 1, "start_month": "2026-12", "contacts": ["a@example.com"]}
    assert "the plan in EUR: give usd_per_currency." in plans("budget", {"one": call}).failure


def test_storage_is_private_encrypted_and_of_a_size_that_exists(plans: Plans) -> None:
    lustre: Call = {
        "workload": "w",
        "kind": "lustre",
        "subnet_ids": [SUBNET, "subnet-1"],
        "security_group_ids": ["sg-1"],
    }
    # 1,288 GB are 1,199.5 GiB, 1,289 GB are 1,200.5 GiB and 6,000 GB are 5,587.9 GiB.
    sizes = {"tiny": 1, "full": 1288, "over": 1289, "large": 6000}
    checked = plans(
        "storage",
        {"bucket": {"workload": "w", "capacity_gb": 20000, "region": "eu-west-1"}}
        | {name: {**lustre, "capacity_gb": size} for name, size in sizes.items()},
    )
    systems = checked.by_call("aws_fsx_lustre_file_system")
    assert {name: s["storage_capacity"] for name, s in systems.items()} == {
        "tiny": 1200,
        "full": 1200,
        "over": 2400,
        "large": 7200,
    }
    system = systems["tiny"]
    assert (system["deployment_type"], system["subnet_ids"], system["security_group_ids"]) == (
        "PERSISTENT_2",
        [SUBNET],
        ["sg-1"],
    )
    assert system["automatic_backup_retention_days"] == 7
    assert not system["skip_final_backup"]
    bucket = checked.by_call("aws_s3_bucket")
    assert {name: (b["force_destroy"], b["region"]) for name, b in bucket.items()} == {"bucket": (False, "eu-west-1")}
    closed = checked.by_call("aws_s3_bucket_public_access_block")["bucket"]
    kinds = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")
    assert all(closed[kind] for kind in kinds)
    encryption = checked.by_call("aws_s3_bucket_server_side_encryption_configuration")["bucket"]["rule"][0]
    assert encryption["apply_server_side_encryption_by_default"][0]["sse_algorithm"] == "aws:kms"
    versions = checked.by_call("aws_s3_bucket_versioning")["bucket"]
    assert versions["versioning_configuration"][0]["status"] == "Enabled"
    assert (
        {"bucket"}
        == set(checked.by_call("aws_s3_bucket_policy"))
        == set(checked.by_call("aws_s3_bucket_lifecycle_configuration"))
    )


def test_a_file_system_without_its_network_is_named(plans: Plans) -> None:
    told = plans("storage", {"one": {"workload": "w", "capacity_gb": 1, "kind": "lustre"}}).failure
    assert "kind lustre needs subnet_ids and security_group_ids" in told
