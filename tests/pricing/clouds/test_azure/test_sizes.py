"""Resource SKUs, as the SDK's own models, into offerings: counts, fractions, names, measures."""

from __future__ import annotations

from collections import Counter
from datetime import date

import pytest

from pricing.adapters.protocol import RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.offering import Offering
from pricing.providers.azure import resource_skus

TODAY = date(2026, 11, 21)
# Names that Azure might give: each stands for a rule, none is sold.
NEW = "Standard_ND144isr_GB300_v6"


def sdk_sku(row):
    """The SDK is loaded by those who need it, not by those who collect the tests."""
    from azure.mgmt.compute.models import ResourceSku

    return ResourceSku(row)


@pytest.fixture
def asked(ask):
    return ask("azure", {})


@pytest.fixture
def told(asked):
    """told(SKU as JSON) -> what it makes."""
    known = {name.casefold(): offering for name, offering in asked.known.items()}

    def tell(row):
        sku = resource_skus.parse_sku(sdk_sku(row), "eastus")
        return resource_skus.build_offering(sku, known, asked)

    return tell


def test_recorded_sizes_worked_by_hand(sku_rows, told):
    found = {row["name"]: told(row) for row in sku_rows("southcentralus")}
    t4, a100, v100 = (found[f"Standard_{name}"] for name in ("NC16as_T4_v3", "NC24ads_A100_v4", "NC6s_v3"))
    assert (t4.accelerator, t4.accelerator_count, t4.vcpus, t4.memory_gib) == ("T4-16GB", 1, 16, 110)
    assert t4.local_ssd_gb == pytest.approx(377.957)  # 360,448 MiB x 1.048576 / 1,000
    assert a100.local_ssd_gb == pytest.approx(1028.719, abs=2e-3)  # (65,536 + 915,527) MiB x 1.048576 / 1,000
    assert (a100.accelerator, a100.accelerator_count) == ("A100-80GB-PCIe", 1)
    assert v100.local_ssd_gb == pytest.approx(790.274, abs=2e-3)  # 736 GiB
    assert t4.source_id == "anycloud-azure+azure-resource-skus"


def test_a_second_reading_tells_nothing_new(sku_rows, told, asked):
    first = told(sku_rows("southcentralus")[0])
    again = resource_skus.build_offering(
        resource_skus.parse_sku(sdk_sku(sku_rows("southcentralus")[0]), "eastus"),
        {first.instance_type.casefold(): first},
        asked,
    )
    assert again == SkippedRows(resource_skus.UNCHANGED_TYPES)


def test_an_updated_row_names_this_source_once(sku_rows, asked, told):
    first = told(sku_rows("southcentralus")[0])
    dated = Offering(
        **{f: getattr(first, f) for f in first.__dataclass_fields__}
        | {"source_id": "a+azure-resource-skus.2026-01-01", "vcpus": 8}
    )
    sku = resource_skus.parse_sku(sdk_sku(sku_rows("southcentralus")[0]), "eastus")
    again = resource_skus.build_offering(sku, {dated.instance_type.casefold(): dated}, asked)
    assert (again.source_id, again.vcpus) == ("a+azure-resource-skus", 16)


def test_recorded_types_without_accelerators_and_a_restricted_one(sku_rows, told):
    found = Counter()
    for row in sku_rows("eastus.recorded"):
        reading = told(row)
        found[reading.reason if isinstance(reading, SkippedRows) else reading.instance_type] += 1
    # Standard_NV6 is restricted for the subscription and stays an offering
    assert found == {resource_skus.NO_ACCELERATORS: 2, resource_skus.PROMOTIONS: 1, "Standard_NV6": 1}
    nv6 = next(row for row in sku_rows("eastus.recorded") if row["name"] == "Standard_NV6")
    assert resource_skus.parse_sku(sdk_sku(nv6), "eastus").restrictions == (
        "NotAvailableForSubscription in zones 1 2 3",
    )
    assert told(nv6).status == "retired"


@pytest.mark.parametrize(
    ("name", "count"),
    [("Standard_NV6ads_A10_v5", 1 / 6), ("Standard_NV12ads_A10_v5", 1 / 3), ("Standard_NV18ads_A10_v5", 1 / 2)],
)
def test_a_known_fraction_wins_over_the_rounded_count(make, told, name, count):
    offering = told(make.sku(name, "StandardNVADSA10v5Family", 1, vCPUs="7"))
    assert offering.accelerator_count == pytest.approx(count)


@pytest.mark.parametrize("written", ["0.167", "0.1667"])
def test_a_fraction_may_be_told_as_such(make, told, written):
    assert isinstance(told(make.sku("Standard_NV6ads_A10_v5", "F", written)), Offering)


@pytest.mark.parametrize(
    ("name", "gpus", "words"),
    [
        ("Standard_NV6ads_A10_v5", 2, ("GPUs is 2", "0.166667")),
        ("Standard_ND96isr_H100_v5", 12, ("GPUs is 12", "has 8")),  # really told: Azure/azure-cli issue 31176
        ("Standard_ND96isr_H100_v5", None, ("GPUs is missing", "has 8")),
        ("Standard_NC256ds_xl_RTXPRO6000BSE_v6", 3, ("GPUs is 3",)),
    ],
)
def test_a_count_that_differs_is_refused_with_both(make, told, name, gpus, words):
    refused = told(make.sku(name, "F", gpus))
    assert isinstance(refused, RejectedRow)
    assert refused.subject == name
    assert all(word in refused.reason for word in words)


def test_an_unknown_count_is_learnt_only_if_it_cannot_be_a_fraction(make, told):
    whole = told(make.sku("Standard_NC256ds_xl_RTXPRO6000BSE_v6", "F", 2, vCPUs="256"))
    rounded = told(make.sku("Standard_NC16lds_xl_RTXPRO6000BSE_v6", "F", 1, vCPUs="16"))
    assert whole.accelerator_count == 2
    assert rounded.accelerator_count is None


def test_a_known_type_keeps_its_spelling_and_family(make, told):
    offering = told(make.sku("standard_nd96ISR_h100_v5", "F", 8, vCPUs="90"))
    assert (offering.instance_type, offering.family) == ("Standard_ND96isr_H100_v5", "ND")


def test_a_known_type_retires_on_its_day(make, told):
    name = "Standard_NC24ads_A100_v4"
    assert told(make.sku(name, "F", 1, RetirementDateUtc="11/21/2026")).status == "retired"
    assert told(make.sku(name, "F", 1, RetirementDateUtc="11/22/2026")).status == "current"
    assert told(make.sku(name, "F", 1, RetirementDateUtc="soon")).status == "current"


def test_a_new_type_whose_name_tells_its_accelerator(make, told):
    offering = told(make.sku(NEW, "standardNDGB300v6Family", 4, vCPUs="144", MemoryGB="960", MaxResourceVolumeMB="0"))
    assert offering == Offering(
        provider="azure",
        family="ND",
        instance_type=NEW,
        accelerator="GB300-279GB",
        accelerator_count=4,
        accelerator_memory_gib=279,
        vcpus=144,
        memory_gib=960,
        local_ssd_gb=None,
        network_gbps=None,
        interconnect="",
        status="current",
        successor=None,
        source_id="azure-resource-skus",
    )


@pytest.mark.parametrize(
    ("name", "gpus", "words"),
    [
        # a bare A100 resolves to the 40 GB one, which NC A100 v4 does not have: four variants, so none
        ("Standard_NC192ads_A100_v4", 8, "may mean A100-40GB-PCIe, A100-40GB-SXM, A100-80GB-PCIe, A100-80GB-SXM"),
        ("Standard_ND96isr_B999_v7", 8, "names no accelerator that is known"),
        ("Standard_NC48s_v3", 8, "names no accelerator that is known"),
        (NEW, 12, "GPUs is 12"),
        (NEW, 0.5, "GPUs is 0.5"),
        ("Standard_NP10s", 1, "in none of the families NC ND NG NV"),
    ],
)
def test_a_new_type_that_cannot_be_taken(make, told, name, gpus, words):
    refused = told(make.sku(name, "F", gpus))
    assert isinstance(refused, RejectedRow)
    assert words in refused.reason


@pytest.mark.parametrize("name", ["Standard_NV9ads_L4_v6", "Standard_NC9ads_A10_v5"])
def test_a_new_type_that_may_have_a_fraction_has_an_unknown_count(make, told, name):
    assert told(make.sku(name, "F", 1)).accelerator_count is None
    assert told(make.sku(name, "F", 2)).accelerator_count == 2


@pytest.mark.parametrize("field", ["resourceType", "name", "capabilities"])
def test_a_renamed_field_is_named(make, field):
    row = make.sku(NEW, "F", 4)
    row[f"new{field}"] = row.pop(field)
    with pytest.raises(ProviderFailure, match=r"resource_type|name|capabilities") as failed:
        resource_skus.parse_sku(sdk_sku(row), "eastus")
    assert failed.value.kind == "changed_format"


def test_disks_and_hosts_are_no_machines():
    assert resource_skus.parse_sku(sdk_sku({"resourceType": "disks", "name": "Premium_LRS"}), "eastus") is None


def test_a_size_tells_its_end_and_that_it_has_no_spot(sku_rows, make):
    """The recorded Standard_NV6 has RetirementDateUtc 08/31/2023; a restriction of the subscription is no term."""
    rows = {row["name"]: row for row in sku_rows("eastus.recorded")}
    (end,) = resource_skus.parse_sku(sdk_sku(rows["Standard_NV6"]), "eastus").sale_terms(
        "Standard_NV6", "eastus", TODAY
    )
    assert (end.purchase_option, end.region, end.sold, end.ends) == ("", "eastus", False, date(2023, 8, 31))
    assert (end.checked, end.source) == ("2026-11-21", "Azure Compute API, Microsoft.Compute/skus of eastus")
    later = make.sku("Standard_NC24ads_A100_v4", "F", 1, RetirementDateUtc="11/22/2026", LowPriorityCapable="False")
    told = list(resource_skus.parse_sku(sdk_sku(later), "eastus").sale_terms(later["name"], "eastus", TODAY))
    assert [(t.purchase_option, t.sold, t.ends) for t in told] == [
        ("", None, date(2026, 11, 22)),
        ("spot", False, None),
    ]
    plain = resource_skus.parse_sku(sdk_sku(make.sku("Standard_NC24ads_A100_v4", "F", 1)), "eastus")
    assert [(t.sold, t.ends) for t in plain.sale_terms("x", "eastus", TODAY)] == [(None, None)]
