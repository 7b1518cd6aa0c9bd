"""Usages of a region, through the real client, into quotas over instance types."""

from __future__ import annotations

import pytest

from pricing.adapters.protocol import RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.providers.azure import fetch, quotas
from pricing.quota import Quota

A100, NV6, NV6ADS = "Standard_ND96amsr_A100_v4", "Standard_NV6", "Standard_NV6ads_A10_v5"


def read(asked):
    (task,) = fetch.quota_tasks(asked)
    return list(task.read())


@pytest.fixture
def usages(world, make):
    """The codes as Azure writes them; the SKUs write the same with other capitals and spaces."""
    world.usages["eastus"] = [
        make.usage("availabilitySets", 0, 2500, "Availability Sets"),
        make.usage("cores", 12, 350, "Total Regional vCPUs"),
        make.usage("lowPriorityCores", 0, 100, "Total Regional Low-priority vCPUs"),
        make.usage("Standard NDAMSv4_A100 Family", 0, 96, "Standard NDAMSv4_A100Family vCPUs"),
        make.usage("standardNVFamily", 6, 24, "Standard NV Family vCPUs"),
        make.usage("standardNVADSA10v5Family", 0, 0, "Standard NVADSA10v5 Family vCPUs"),
        make.usage("standardDv2Family", 4, 350, "Standard Dv2 Family vCPUs"),
    ]
    return world.usages["eastus"]


def test_quotas_by_family_by_region_and_for_spot(live, usages):
    _, asked = live("eastus")
    told = read(asked)
    found = {q.code: q for q in told if isinstance(q, Quota)}
    every = f"{A100} {NV6} {NV6ADS}"
    assert {q.code: (q.limit, q.used, q.types, q.kinds) for q in found.values()} == {
        "cores": (350, 12, every, quotas.ON_DEMAND_KINDS),
        "lowPriorityCores": (100, 0, every, "spot"),
        "Standard NDAMSv4_A100 Family": (96, 0, A100, quotas.ON_DEMAND_KINDS),
        "standardNVFamily": (24, 6, NV6, quotas.ON_DEMAND_KINDS),
        "standardNVADSA10v5Family": (0, 0, NV6ADS, quotas.ON_DEMAND_KINDS),
    }
    assert {q.unit for q in found.values()} == {"vcpu"}
    assert [r for r in told if isinstance(r, SkippedRows)] == [SkippedRows(quotas.OTHER_QUOTAS, 2)]
    assert len(found) + 2 == len(usages)


@pytest.mark.usefixtures("usages")
def test_a_restricted_size_is_named_in_the_title(live):
    _, asked = live("eastus")
    titles = {q.code: q.title for q in read(asked) if isinstance(q, Quota)}
    said = "Standard NV Family vCPUs (Standard_NV6: NotAvailableForSubscription in zones 1 2 3)"
    assert titles["standardNVFamily"] == said
    assert titles["cores"] == "Total Regional vCPUs"


@pytest.mark.usefixtures("usages")
def test_what_counts_against_what(live):
    _, asked = live("eastus")
    found = {q.code: q for q in read(asked) if isinstance(q, Quota)}
    assert found["standardNVADSA10v5Family"].counts(NV6ADS, "reserved")
    assert not found["standardNVADSA10v5Family"].counts(NV6ADS, "spot")
    assert found["lowPriorityCores"].counts(NV6ADS, "spot")


def test_a_family_without_a_quota_is_a_named_gap(live, usages):
    usages.pop(3)
    _, asked = live("eastus")
    (refused,) = [r for r in read(asked) if isinstance(r, RejectedRow)]
    assert refused.subject == "azure eastus standardNDAMSv4_A100Family"


def test_a_limit_below_zero_is_refused(live, usages, make):
    usages[1] = make.usage("cores", 0, -1)
    _, asked = live("eastus")
    assert [r.reason for r in read(asked) if isinstance(r, RejectedRow)] == ["the limit is -1 and the usage 0"]


@pytest.mark.parametrize("name", ["limit", "currentValue", "name"])
def test_a_renamed_field_is_named(live, usages, name):
    for row in usages:
        row[f"new{name}"] = row.pop(name)
    _, asked = live("eastus")
    with pytest.raises(ProviderFailure, match=r"usage\.list of eastus: .* is missing") as failed:
        read(asked)
    assert failed.value.kind == "changed_format"


def test_no_usage_at_all(live):
    _, asked = live("eastus")
    with pytest.raises(ProviderFailure, match="no usage at all"):
        read(asked)


@pytest.mark.usefixtures("usages")
def test_no_family_at_all(live, world):
    for row in world.skus["eastus"]:
        row["newfamily"] = row.pop("family")
    _, asked = live("eastus")
    with pytest.raises(ProviderFailure, match="family is missing"):
        read(asked)


@pytest.mark.usefixtures("usages")
def test_no_right_to_usages(live, kit):
    running, asked = live("eastus")
    forbidden = {"error": {"code": "AuthorizationFailed", "message": "no right"}}
    running.faults = [kit.Fault(kit.Answer(forbidden, 403), where=lambda r: r.path.endswith("/usages"))]
    with pytest.raises(ProviderFailure, match=r"usage\.list of eastus: 403 AuthorizationFailed") as failed:
        read(asked)
    assert failed.value.kind == "denied"
