"""What a plan needs beside its nodes on Google Cloud: storage, a budget, quota; and the labels of it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

NETWORK = {"zone": "us-central1-a", "network": "projects/my-project/global/networks/gpu"}
Plans = Callable[..., Any]


@pytest.mark.slow
def test_storage_is_private_and_of_the_next_size_there_is(plans: Plans) -> None:
    sizes = {
        # 1 GB is 1 GiB: the least, 1024. 1500 GB = 1396.98 GiB -> 6 x 256. 10000 GB = 9313.2 GiB -> 37 x 256 = 9472.
        # 11000 GB = 10244.5 GiB, above 9.75 TiB -> 5 x 2560 = 12800.
        "f1": ("filestore", 1, 1000, 1024), "f2": ("filestore", 1500, 1000, 1536),
        "f3": ("filestore", 10000, 1000, 9472), "f4": ("filestore", 11000, 1000, 12800),
        # 12000 GB = 11175.9 GiB -> 2 x 9000, or one step of 18000, 36000, 72000.
        "l1": ("lustre", 12000, 1000, 18000), "l2": ("lustre", 12000, 500, 18000), "l3": ("lustre", 12000, 250, 36000),
        "l4": ("lustre", 12000, 125, 72000),
    }  # fmt: skip
    calls = {
        name: {**NETWORK, "kind": kind, "capacity_gb": gb, "throughput_mbps_per_tib": rate}
        for name, (kind, gb, rate, _) in sizes.items()
    }
    checked = plans("storage", {**calls, "bucket": {}})
    made = {name: f["file_shares"][0]["capacity_gb"] for name, f in checked.each("google_filestore_instance")}
    made |= {name: int(system["capacity_gib"]) for name, system in checked.each("google_lustre_instance")}
    assert made == {name: size for name, (*_, size) in sizes.items()}
    bucket = checked.by_call("google_storage_bucket")["bucket"]
    assert (bucket["name"], bucket["location"]) == ("my-project-gp-bucket", "us-central1")
    assert (bucket["public_access_prevention"], bucket["uniform_bucket_level_access"]) == ("enforced", True)
    assert (bucket["force_destroy"], bucket["versioning"]) == (False, [{"enabled": True}])


@pytest.mark.slow
def test_a_file_system_says_what_it_lacks(plans: Plans) -> None:
    told = plans(
        "storage",
        {
            "nfs": {"kind": "filestore"},
            "lustre": {"kind": "lustre"},
            "large": {**NETWORK, "kind": "filestore", "capacity_gb": 120000},
            "keyed": {**NETWORK, "kind": "lustre", "kms_key": "k"},
        },
    ).failure
    assert "kind filestore needs zone and network" in told
    assert "kind lustre needs zone and network" in told
    assert "Filestore holds at most 100 TiB" in told
    assert "Managed Lustre takes no kms_key" in told


@pytest.mark.slow
def test_a_budget_needs_somebody_to_tell(plans: Plans) -> None:
    told = {"contacts": ["a@example.com", "b@example.com"]}
    checked = plans("budget", {"quiet": {}, "own": told, "all": {**told, "only_labelled": False}})
    budgets = checked.by_call("google_billing_budget")
    assert set(budgets) == {"own", "all"}
    assert budgets["own"]["amount"][0]["specified_amount"][0]["units"] == "1235"
    assert budgets["own"]["amount"][0]["specified_amount"][0]["currency_code"] == "EUR"
    filters = {name: budget["budget_filter"][0] for name, budget in budgets.items()}
    assert filters["own"]["labels"] == {"plan": "p1"}
    assert filters["all"].get("labels") is None
    alarms = {(r["spend_basis"], r["threshold_percent"]) for r in budgets["own"]["threshold_rules"]}
    assert alarms == {("CURRENT_SPEND", s) for s in (0.5, 0.8, 1)} | {("FORECASTED_SPEND", 1)}
    channels = [
        values["labels"]["email_address"] for _, values in checked.each("google_monitoring_notification_channel")
    ]
    assert sorted(channels) == ["a@example.com", "a@example.com", "b@example.com", "b@example.com"]


def test_quotas_are_named_as_cloud_quotas_does_and_asked_for_on_request_only(plans: Plans) -> None:
    ids = {
        "NVIDIA_T4_GPUS": ("NVIDIA-T4-GPUS-per-project-region", None),
        "NVIDIA_A100_80GB_GPUS": ("NVIDIA-A100-80GB-GPUS-per-project-region", None),
        "NVIDIA_H100_MEGA_GPUS": ("GPUS-PER-GPU-FAMILY-per-project-region", "NVIDIA_H100_MEGA"),
        "PREEMPTIBLE_NVIDIA_H100_GPUS": ("PREEMPTIBLE-NVIDIA-H100-GPUS-per-project-region", None),
        "COMMITTED_NVIDIA_L4_GPUS": ("COMMITTED-NVIDIA-L4-GPUS-per-project-region", None),
    }
    requests = [
        {"region": "us-central1", "code": code, "title": "t", "unit": "accelerator", "value": 7.5} for code in ids
    ]
    checked = plans("quota", {"told": {"requests": requests}, "asked": {"requests": requests, "request": True}})
    asked = checked.each("google_cloud_quotas_quota_preference")
    assert {name for name, _ in asked} == {"asked"}
    assert {(v["quota_id"], v["dimensions"].get("gpu_family")) for _, v in asked} == set(ids.values())
    assert {v["dimensions"]["region"] for _, v in asked} == {"us-central1"}
    assert {v["quota_config"][0]["preferred_value"] for _, v in asked} == {"8"}


@pytest.mark.slow
def test_labels_are_what_google_takes_and_the_plans_own_win(plans: Plans) -> None:
    tags = {"Cost Centre": "K-1 €", "1st": "x", "google": "y", "PLAN": "not mine", "long" * 30: "z" * 90, "none": ""}
    pool = {"machine_type": "g2-standard-4", "tags": tags, "workloads": ["A (b)", "c"], "teams": []}
    labels = plans("gpu_pool", {"one": pool}).by_call("google_compute_instance_template")["one"]["labels"]
    assert labels == {
        "cost-centre": "k-1--",
        "x-1st": "x",
        "x-google": "y",
        "plan": "p1",
        ("long" * 30)[:63]: "z" * 63,
        "workloads": "a--b--c",
        "managed_by": "terraform",
    }
