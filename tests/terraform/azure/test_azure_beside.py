"""What Azure has beside pools of its own: node pools of AKS, budgets, storage."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from planner.reports.terraform.provisioning import find_shipped_folder

Check = Callable[..., Any]
AZURE = find_shipped_folder("terraform") / "azure"
SUBNET = "/subscriptions/0/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/gpu/subnets/nodes"


def test_node_pools_of_aks(example: Check) -> None:
    spot, regular = example("kubernetes").resources("azurerm_kubernetes_cluster_node_pool")
    assert (spot["vm_size"], spot["node_count"], spot["priority"], spot["spot_max_price"]) == (
        "Standard_NC24ads_A100_v4", 4, "Spot", 1.75,
    )  # fmt: skip
    assert spot["node_taints"] == ["sku=gpu:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
    assert spot["node_labels"] == {
        "kubernetes.azure.com/scalesetpriority": "spot",
        "plan": "example",
        "pool": "gp-nc24ads-batch",
        "team": "search-ads",
        "workloads": "nightly-embeddings",
    }
    assert (regular["vm_size"], regular["node_count"], regular["priority"], regular["spot_max_price"]) == (
        "Standard_ND96isr_H100_v5", 2, "Regular", None,
    )  # fmt: skip
    for pool in (spot, regular):
        assert re.fullmatch("[a-z][a-z0-9]{0,11}", pool["name"])
        assert re.fullmatch("[a-z][a-z0-9]{0,11}", pool["temporary_name_for_rotation"])
        assert pool["node_public_ip_enabled"] is False
        assert pool["gpu_driver"] == "Install"
    assert len({p[key] for p in (spot, regular) for key in ("name", "temporary_name_for_rotation")}) == 4


def test_a_budget_is_made_only_where_somebody_is_warned(planned: Check, example: Check, call: Check) -> None:
    (budget,) = example("extras").resources("azurerm_consumption_budget_subscription")
    assert (budget["amount"], budget["time_grain"]) == (250000, "Monthly")
    assert [(tag["name"], tag["values"]) for tag in budget["filter"][0]["tag"]] == [("plan", ["example"])]
    assert sorted((n["threshold_type"], n["threshold"]) for n in budget["notification"]) == [
        ("Actual", 80), ("Actual", 100), ("Forecasted", 100),
    ]  # fmt: skip
    assert {tuple(n["contact_emails"]) for n in budget["notification"]} == {("finance@example.com",)}
    arguments = {"name": '"gp-budget"', "plan_id": '"p"', "currency": '"EUR"', "monthly_amount": "10"}
    arguments["start_month"] = '"2099-12"'
    checked = planned(
        call("budget", **arguments)
        + call("budget", "warned", **arguments, contacts='["a@example.com"]')
        + call("budget", "late", **arguments | {"start_month": '"2020-01"'}, contacts='["a@example.com"]')
    )
    assert checked.ok, checked.told
    late, warned = sorted(
        item["time_period"][0]["start_date"] for item in checked.resources("azurerm_consumption_budget_subscription")
    )
    assert warned == "2099-12-01T00:00:00Z"
    assert re.fullmatch(r"20(?!20)\d\d-\d\d-01T00:00:00Z", late), "a month that is over becomes the current one"


@pytest.mark.slow
def test_a_budget_in_another_currency_than_the_bill_is_refused(planned: Check, call: Check, told: Check) -> None:
    checked = planned(
        call(
            "budget", name='"gp-budget"', plan_id='"p"', currency='"EUR"', billing_currency='"USD"',
            monthly_amount="10", start_month='"2099-12"', contacts='["a@example.com"]',
        )
    )  # fmt: skip
    assert not checked.ok
    assert "in another currency than the subscription is billed in" in told(checked)


def test_a_storage_account_is_closed_and_takes_no_key(example: Check) -> None:
    checked = example("extras")
    (account,) = checked.resources("azurerm_storage_account")
    assert account["public_network_access_enabled"] is False
    assert account["shared_access_key_enabled"] is False
    assert account["allow_nested_items_to_be_public"] is False
    assert account["min_tls_version"] == "TLS1_2"
    assert re.fullmatch("[a-z0-9]{3,24}", account["name"])
    (endpoint,) = checked.resources("azurerm_private_endpoint")
    assert endpoint["private_service_connection"][0]["subresource_names"] == ["blob"]
    assert len(endpoint["private_dns_zone_group"]) == 1


SIZES = [
    # 20,000 GB = 20e12 / 2^40 = 18.19 TiB: two steps of 16, five of 4 (20), one of 48.
    (20000, "AMLFS-Durable-Premium-125", 32),
    (20000, "AMLFS-Durable-Premium-500", 20),
    (20000, "AMLFS-Durable-Premium-40", 48),
    # 8 TiB = 8,796.09 GB: 8,796 fit in one step of 8, 8,797 do not.
    (8796, "AMLFS-Durable-Premium-250", 8),
    (8797, "AMLFS-Durable-Premium-250", 16),
]


@pytest.mark.slow
def test_a_file_system_holds_what_was_asked_in_the_next_size_there_is(planned: Check, call: Check) -> None:
    shared = {
        "plan_id": '"p"',
        "workload": '"w"',
        "region": '"westeurope"',
        "kind": '"lustre"',
        "subnet_id": f'"{SUBNET}"',
    }
    calls = (
        call(
            "storage",
            f"case_{at}",
            name=f'"gp-storage-{at}"',
            capacity_gb=str(capacity_gb),
            lustre_sku=f'"{sku}"',
            **shared,
        )
        for at, (capacity_gb, sku, _) in enumerate(SIZES)
    )
    checked = planned("\n".join(calls))
    assert checked.ok, checked.told
    made = checked.resources("azurerm_managed_lustre_file_system")
    assert [(item["sku_name"], item["storage_capacity_in_tb"]) for item in made] == [
        (sku, tib) for _, sku, tib in SIZES
    ]
    assert checked.resources("azurerm_storage_account") == []


def test_the_pools_make_tags_alike() -> None:
    assert (AZURE / "gpu_pool" / "tags.tf").read_text() == (AZURE / "aks_pool" / "tags.tf").read_text()
