"""Instance types, through the real client against moto's server, whose data were collected from the live API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pricing.adapters.protocol import RejectedRow, SkippedRows
from pricing.offering import Offering
from pricing.providers.aws import fetch, instance_types
from pricing.providers.aws.clients import AwsClients

REGION = "us-east-1"
WITHOUT_A_NAME = {"p4de.24xlarge", "p3dn.24xlarge"}
"""EC2 says A100 with 80 GiB and V100 with 32 GiB; which form factor, only the catalogue knows."""


@pytest.fixture(scope="module")
def sold() -> dict[str, instance_types.AwsRegionTypes]:
    """What was read, once for all tests of this module."""
    return {}


@pytest.fixture
def known(moto, ask, sold) -> instance_types.AwsRegionTypes:
    if "known" not in sold:
        made = ask("aws", {"ec2": moto}, (REGION,), seconds=600)
        sold["known"] = instance_types.read(made, AwsClients(made), REGION)
    return sold["known"]


@pytest.fixture
def unknown(moto, ask, sold) -> instance_types.AwsRegionTypes:
    """The same region for a catalogue that knows no type at all."""
    if "unknown" not in sold:
        made = replace(ask("aws", {"ec2": moto}, (REGION,), seconds=600), known={})
        sold["unknown"] = instance_types.read(made, AwsClients(made), REGION)
    return sold["unknown"]


@pytest.mark.slow
def test_every_accelerated_type_of_the_region_is_known_and_agrees(known, catalog):
    assert len(known.offerings) >= 70
    assert known.refused == ()
    for name, offering in known.offerings.items():
        assert offering.accelerator == catalog.offerings["aws", name].accelerator
        assert offering.accelerator_count == catalog.offerings["aws", name].accelerator_count


@pytest.mark.slow
def test_named_alone_each_type_gets_the_accelerator_that_the_catalogue_has(known, unknown, catalog):
    """66 types or more resolve from EC2's own words to what was collected independently; two are refused, none lost."""
    assert {r.subject.removeprefix("aws ") for r in unknown.refused} == WITHOUT_A_NAME
    assert unknown.offerings.keys() | WITHOUT_A_NAME == known.offerings.keys()
    for name, found in unknown.offerings.items():
        expected = catalog.offerings["aws", name]
        assert (found.accelerator, found.accelerator_count) == (expected.accelerator, expected.accelerator_count), name
        assert found.vcpus == expected.vcpus
        assert found.memory_gib == pytest.approx(expected.memory_gib), name


@pytest.mark.slow
def test_a_share_of_an_accelerator_is_a_fraction(unknown):
    """g6f.large: Count 0, LogicalGpuCount 1, GpuPartitionSize 0.125."""
    found = unknown.offerings["g6f.large"]
    assert (found.accelerator, found.accelerator_count) == ("L4-24GB", 0.125)


def test_types_that_are_sold_elsewhere_are_left_and_counted(known):
    assert known.elsewhere > 0
    assert SkippedRows("instance types that no zone of the region sells", known.elsewhere) in list(known.readings())


@pytest.fixture(scope="module")
def described(moto) -> list[dict[str, object]]:
    """Every entry that names an accelerator, wherever it is sold."""
    import boto3

    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    rows = boto3.client("ec2", region_name=REGION, endpoint_url=moto, **keys).describe_instance_types()["InstanceTypes"]
    return [row for row in rows if {"GpuInfo", "NeuronInfo", "InferenceAcceleratorInfo"} & row.keys()]


@pytest.mark.slow
def test_every_described_type_is_taken_or_refused_with_a_reason(described, ask, catalog):
    """All 79: what the catalogue knows stays as it is; named alone, four are refused."""
    made = ask("aws", {})
    alone = replace(made, known={})
    refused = {}
    for row in described:
        name = row["InstanceType"]
        expected = catalog.offerings["aws", name]
        found = instance_types.build_offering(made, row)
        assert replace(found, status=expected.status, source_id=expected.source_id) == expected, name
        assert found.status == ("current" if row["CurrentGeneration"] else "legacy"), name
        found = instance_types.build_offering(alone, row)
        if isinstance(found, RejectedRow):
            refused[name] = found.reason
            continue
        for field in ("accelerator", "accelerator_count", "vcpus"):
            assert getattr(found, field) == getattr(expected, field), (name, field)
        for field in ("accelerator_memory_gib", "memory_gib", "local_ssd_gb", "network_gbps"):
            values = getattr(found, field), getattr(expected, field)
            assert values == (None, None) or values[0] == pytest.approx(values[1], rel=0.01), (name, field, values)
    assert len(described) == 79
    assert {name: reason.partition(" could be ")[0] for name, reason in refused.items()} == {
        "p3dn.24xlarge": "the accelerator 'V100' with 32.0 GiB",
        "p4de.24xlarge": "the accelerator 'A100' with 80.0 GiB",
        "trn2.3xlarge": "the accelerator 'Trainium2' with 512.0 GiB",
        "trn2.48xlarge": "the accelerator 'Trainium2' with 512.0 GiB",
    }


@pytest.mark.parametrize(("name", "family"), [("g6x.large", "G6"), ("dl3.24xlarge", "DL3"), ("trn9.xlarge", "Trn9")])
def test_the_family_of_a_new_type_is_written_as_the_others(ask, name, family):
    assert instance_types.build_offering(ask("aws", {}), told(name)).family == family


def test_a_type_of_our_families_without_an_accelerator_is_refused(ask):
    """As moto has trn2u.48xlarge."""
    found = instance_types.build_offering(ask("aws", {}), {"InstanceType": "trn2u.48xlarge"})
    assert found == RejectedRow("aws trn2u.48xlarge", "EC2 tells no accelerator of it")


def test_types_that_are_sold_in_blocks(known):
    assert {"p5.48xlarge", "p4d.24xlarge", "trn1.32xlarge"} <= set(known.blocks)
    assert "g6.xlarge" not in known.blocks


def test_a_type_that_no_zone_sells_is_not_offered_there(moto, ask):
    """moto describes the same types everywhere; zones are real. eu-west-3 sells no p5.48xlarge."""
    made = ask("aws", {"ec2": moto}, ("eu-west-3",), seconds=600)
    found = instance_types.read(made, AwsClients(made), "eu-west-3")
    assert "p5.48xlarge" not in found.offerings
    assert "g4dn.xlarge" in found.offerings


def test_the_regions_of_the_account_are_read_where_none_is_named(moto, ask):
    made = ask("aws", {"ec2": moto}, ())
    found = fetch.list_regions(made, AwsClients(made))
    assert {"us-east-1", "eu-central-1", "ap-northeast-1"} <= set(found)
    assert len([t for t in fetch.tasks(made) if t.name.startswith("types in ")]) == len(found)


def told(name: str = "p9.48xlarge", **gpu: object) -> dict[str, object]:
    device = {"Name": "H100", "Count": 8, "MemoryInfo": {"SizeInMiB": 81559}, **gpu}
    return {
        "InstanceType": name,
        "VCpuInfo": {"DefaultVCpus": 192},
        "MemoryInfo": {"SizeInMiB": 2097152},
        "GpuInfo": {"Gpus": [device]},
    }


def test_an_unknown_accelerator_is_refused_never_guessed(ask):
    made = ask("aws", {})
    found = instance_types.build_offering(made, told(Name="H101"))
    assert found == RejectedRow("aws p9.48xlarge", "the accelerator 'H101' is unknown, as EC2 reports it")
    assert isinstance(instance_types.build_offering(made, told()), Offering)


def test_a_memory_that_fits_no_variant_is_refused(ask):
    """An A4000 is no A40, and an H100 with 40 GiB is none that is known."""
    found = instance_types.build_offering(ask("aws", {}), told(MemoryInfo={"SizeInMiB": 40960}))
    assert isinstance(found, RejectedRow)
    assert "with 40.0 GiB could be none that is known" in found.reason


def test_a_known_type_with_another_count_is_refused(ask):
    found = instance_types.build_offering(ask("aws", {}), told("p5.48xlarge", Count=4))
    assert found == RejectedRow("aws p5.48xlarge", "EC2 reports 4 accelerators, the catalogue has 8")


def test_a_usage_class_that_a_type_lacks_is_not_sold_and_one_that_it_has_tells_nothing(known):
    """moto's copy of the live answer: trn2.48xlarge has all three classes although it is sold in blocks only, g6.xlarge
    has no capacity-block."""
    told = {(term.instance_type, term.purchase_option): term.sold for term in known.sale_terms}
    assert told["g6.xlarge", "capacity_block"] is False
    assert told["g6.xlarge", "on_demand"] is None
    assert told["g6.xlarge", "spot"] is None
    assert told["p5.48xlarge", "on_demand"] is None
    assert ("p5.48xlarge", "capacity_block") not in told, "blocks on offer tell it"
    assert {term.region for term in known.sale_terms} == {REGION}
    assert all(term in list(known.readings()) for term in known.sale_terms)


def test_a_previous_generation_is_told_and_a_retired_type_stays_retired(known, ask):
    """The live answer has CurrentGeneration false for G5."""
    assert known.offerings["g5.xlarge"].status == "legacy"
    assert known.offerings["g6.xlarge"].status == "current"
    made = ask("aws", {})
    old = replace(made.known["p5.48xlarge"], status="retired")
    again = instance_types.build_offering(
        replace(made, known={"p5.48xlarge": old}), {**told("p5.48xlarge"), "CurrentGeneration": True}
    )
    assert again.status == "retired"
