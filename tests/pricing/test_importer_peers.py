"""Catalogues of SkyPilot and gpuhunt: what each row becomes, that every row is accounted for, and what is refused.

Rows marked REAL are those of catalogs/v8/<cloud>/vms.csv of github.com/skypilot-org/skypilot-catalog (aws: commit
00148f2a, gcp: 006059e0); the others are made up in the same columns.
"""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.catalog.snapshot_tables import read_accelerator_names, read_snapshot
from pricing.errors import InvalidSnapshot
from pricing.imports.external_catalogs import NO_PRICE, OLDER_PRICE, SPOT_AT_ON_DEMAND, merge_listings
from pricing.imports.importable_files import (
    EXCHANGE_RATES,
    PRIVATE_PRICES,
    detect_file_kind,
    detect_provider,
    read_external_catalog,
)
from pricing.imports.listings import CatalogListing, UnreadableListing
from pricing.providers import CatalogLayout
from pricing.regions import Source
from tools.importer import import_facts

DAY = date(2026, 11, 20)
AWS = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,"
    "Arch\n"
)
L4 = "\"{'Gpus': [{'Name': 'L4', 'Manufacturer': 'NVIDIA', 'Count': 4, 'MemoryInfo': {'SizeInMiB': 22888}}]}\""
GCP = "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice\n"
A100 = "{'Gpus': [{'MemoryInfo': {'SizeInMiB': 40960}}]}"
GPUHUNT = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,cpu_arch\n"
)


@pytest.fixture
def take(tmp_path):
    """Reads a text as the file of a provider: what goes to the gate by (region, type, option), and the whole."""

    def take(text: str, provider: str = "aws", as_of: date = DAY):
        path = tmp_path / provider / "vms.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        pending = read_external_catalog(path, detect_file_kind(path), provider, as_of, "", tmp_path / "data")
        counted = pending.counted
        assert counted.rows == text.count("\n") - 1
        assert counted.rows == counted.taken + counted.refused + sum(counted.left.values())
        return {key[1:]: price for key, price in pending.fetched.prices.items()}, pending

    return take


def test_skypilot_zones_become_the_price_of_the_region(take):
    prices, pending = take(
        AWS
        + "a1.2xlarge,,,8.0,16.0,,0.2568,0.256800,ap-northeast-1,apne1-az2,arm64\n"  # REAL
        + f"g6.24xlarge,L4,4.0,96.0,384.0,{L4},6.6752,2.504300,us-east-1,use1-az1,x86_64\n"  # REAL, GpuInfo shortened
        + f"g6.24xlarge,L4,4.0,96.0,384.0,{L4},6.6752,2.695500,us-east-1,use1-az2,x86_64\n"
        + f"g6.24xlarge,L4,4.0,96.0,384.0,{L4},6.6752,3.136500,us-east-1,use1-az4,x86_64\n"
        + f"g6.24xlarge,L4,4.0,96.0,384.0,{L4},6.6752,6.6752,us-east-1,use1-az6,x86_64\n"
    )
    plain, spot = (prices["us-east-1", "g6.24xlarge", option] for option in ("on_demand", "spot"))
    assert (plain.price_per_hour, plain.as_of, plain.currency, plain.method) == (6.6752, DAY, "USD", "listed")
    # three zones are below on demand, 2.5043 2.6955 3.1365: the middle one; the fourth has no spot to give
    assert spot.price_per_hour == 2.6955
    assert spot.note == "median of 3 zone prices below on-demand; min 2.5043 max 3.1365; 1 zones at on-demand"
    assert pending.counted.left == {"a type without accelerators": 1}
    assert not pending.fetched.covered, "an import says nothing of what it does not name"
    assert not pending.fetched.offerings
    assert pending.fetched.sources[0].as_of == DAY
    assert "aws/vms.csv, sha256 " in pending.fetched.sources[0].reference


def test_a_google_machine_is_the_sum_of_what_skypilot_lists_apart(take):
    prices, pending = take(
        GCP
        + "a2-highgpu-1g,12.0,85.0,,,,us-central1,us-central1-a,0.73948,0.36975\n"  # REAL
        + "a2-highgpu-1g,12.0,85.0,,,,us-central1,us-central1-b,0.73948,0.36975\n"  # REAL
        + "m3-ultramem-64,64.0,1952.0,,,,us-central1,us-central1-a,12.1824,5.61898\n"  # REAL
        + "a3-highgpu-1g,26.0,234.0,,,,us-central1,us-central1-a,1.18251,0.36117\n"  # REAL
        + f",,,A100,1,{A100},us-central1,us-central1-a,2.933908,1.4668\n"
        + f",,,A100,1,{A100},us-central1,us-central1-b,2.933908,1.4668\n",
        "gcp",
    )
    plain, spot = (prices["us-central1", "a2-highgpu-1g", option] for option in ("on_demand", "spot"))
    # 0.73948 + 2.933908 = 3.673388; Google's list, which the catalogue has from elsewhere, says 3.673385
    assert (plain.price_per_hour, plain.method) == (3.673388, "derived")
    assert plain.note == "machine 0.73948 + accelerators 2.93391, local disks untold"
    assert spot.price_per_hour == 1.83655  # 0.36975 + 1.4668
    assert len(prices) == 2, "a machine without its accelerators is never its price"
    assert pending.counted.left == {
        "a type without accelerators": 1,
        "a machine whose accelerators the file prices nowhere in that zone": 1,
    }
    assert pending.counted.taken == 4


def test_cards_and_slices_that_skypilot_lists_alone(take):
    prices, pending = take(
        GCP
        + ",,,P100,1,{'Gpus': [{'MemoryInfo': {'SizeInMiB': 16384}}]},us-central1,us-central1-c,1.46,0.7034\n"  # REAL
        + ",,,P100,2,{'Gpus': [{'MemoryInfo': {'SizeInMiB': 16384}}]},us-central1,us-central1-c,2.92,1.4068\n"  # REAL
        + ",,,tpu-v6e-8,1,tpu-v6e-8,us-east5,us-east5-a,21.6,9.72\n"  # REAL
        + ",,,tpu-v6e-8,1,tpu-v6e-8,asia-east1,asia-east1-c,700.0,700.0\n"  # REAL: its stand-in for an unknown price
        + ",,,tpu-v6e-1,1,tpu-v6e-1,southamerica-west1,southamerica-west1-a,2.7,700.0\n"  # REAL
        + ",,,tpu-v5e-8,1,tpu-v5e-8,us-central1,us-central1-a,9.6,\n",
        "gcp",
    )
    assert {key: price.price_per_hour for key, price in prices.items()} == {
        ("us-central1", "nvidia-tesla-p100", "on_demand"): 1.46,
        ("us-central1", "nvidia-tesla-p100", "spot"): 0.7034,
        ("us-east5", "tpu-v6e-8", "on_demand"): 21.6,
        ("us-east5", "tpu-v6e-8", "spot"): 9.72,
        ("southamerica-west1", "tpu-v6e-1", "on_demand"): 2.7,
        ("us-central1", "tpu-v5litepod-8", "on_demand"): 9.6,
    }
    assert prices["us-central1", "nvidia-tesla-p100", "on_demand"].note.endswith("machine not included")
    (refused,) = pending.fetched.refused
    assert refused.key == ("gcp", "asia-east1", "tpu-v6e-8", "on_demand")
    # 700 / 8 chips = 87.5
    assert refused.reason.startswith("87.5 per accelerator-hour, the dearest known for TPU-v6e is ")


def test_a_new_type_takes_its_accelerator_by_name_and_memory(take):
    _, pending = take(
        GPUHUNT
        + "Standard_NC99ads_A100_v9,eastus,4.1,24,220.0,1,A100,80.0,False,,nvidia,,x86\n"
        + "Standard_NC98ads_A100_v9,eastus,4.1,24,220.0,1,A100,40.0,False,,nvidia,,x86\n"
        + "Standard_NC97ads_A100_v9,eastus,4.1,24,220.0,1,A100,60.0,False,,nvidia,,x86\n"
        + "Standard_NC96ads_L99_v9,eastus,4.1,24,220.0,1,L99,60.0,False,,nvidia,,x86\n",
        "azure",
    )
    new = pending.fetched.offerings
    assert {name: (o.accelerator, o.accelerator_count, o.family) for name, o in new.items()} == {
        "Standard_NC99ads_A100_v9": ("A100-80GB-SXM", 1, "NC"),
        "Standard_NC98ads_A100_v9": ("A100-40GB-SXM", 1, "NC"),
    }
    assert new["Standard_NC99ads_A100_v9"].vcpus == 24
    assert new["Standard_NC99ads_A100_v9"].accelerator_memory_gib is None, "the specification says it better"
    assert [(r.subject, r.reason) for r in pending.fetched.refused] == [
        (
            "azure Standard_NC97ads_A100_v9",
            "A100 is A100-40GB-SXM of 40 GiB here, the file says 60 GiB (line 4)",
        ),
        ("azure Standard_NC96ads_L99_v9", pending.fetched.refused[1].reason),
    ]
    assert pending.fetched.refused[1].reason.startswith("unknown accelerator 'L99'")


def test_gpuhunt_rows_of_one_type(take):
    prices, pending = take(
        GPUHUNT
        + "a2-highgpu-1g,us-central1-a,3.67,12,85.0,1,A100,40.0,False,,nvidia,,x86\n"
        + "a2-highgpu-1g,us-central1-b,3.67,12,85.0,1,A100,40.0,False,,nvidia,,x86\n"
        + "a2-highgpu-1g,us-central1-a,1.5,12,85.0,1,A100,40.0,True,,nvidia,,x86\n"
        + "a2-highgpu-1g,us-central1-b,1.7,12,85.0,1,A100,40.0,True,,nvidia,,x86\n"
        + "a4-highgpu-8g,us-central1-b,60,224,3968.0,8,B200,180.0,False,,nvidia,gcp-a4 gcp-dws-calendar-mode,x86\n"
        + "n1-standard-4,us-central1-a,0.54,4,15.0,1,T4,16.0,False,,nvidia,,x86\n"
        + "n1-standard-4,us-central1-a,0.89,4,15.0,2,T4,16.0,False,,nvidia,,x86\n"
        + "n1-standard-4,us-central1-a,0.19,4,15.0,0,,,False,,,,x86\n"
        + "a2-highgpu-2g,us-central1-a,0,24,170.0,2,A100,40.0,False,,nvidia,,x86\n"
        + "a2-highgpu-2g,us-central1-a,cheap,24,170.0,2,A100,40.0,perhaps,,nvidia,,x86\n",
        "gcp",
    )
    assert prices["us-central1", "a2-highgpu-1g", "on_demand"].price_per_hour == 3.67
    assert prices["us-central1", "a2-highgpu-1g", "spot"].price_per_hour == 1.6  # between 1.5 and 1.7
    assert len(prices) == 2
    assert pending.counted.left == {
        "a rate of the Dynamic Workload Scheduler, not on demand": 1,
        "a type without accelerators": 1,
        NO_PRICE: 1,
    }
    several = "it is listed with several accelerators, 0 x none, 1 x T4, 2 x T4"
    assert [refused.reason for refused in pending.fetched.refused] == [
        f"{several}: which it has is not told (2 rows, the first in line 7)",
        "price is 'cheap', expected a number; spot is 'perhaps', expected True or False (line 11)",
    ]


def test_zones_that_differ_on_demand_are_refused(take):
    row = f"g6.24xlarge,L4,4.0,96.0,384.0,{L4},%s,,us-east-1,use1-az%s,x86_64\n"
    prices, pending = take(AWS + row % ("6.6752", 1) + row % ("7.5", 2))
    assert not prices
    assert pending.fetched.refused[0].key == ("aws", "us-east-1", "g6.24xlarge", "on_demand")
    assert "its zones differ on demand: 6.6752, 7.5" in pending.fetched.refused[0].reason


def test_a_newer_price_is_not_replaced_and_an_equal_one_keeps_its_source(take):
    known = {
        p.key: p
        for p in read_snapshot(
            CatalogLayout(EMBEDDED_LAYOUT.data, (("aws", dict(EMBEDDED_LAYOUT.folders)["aws"]),))
        ).prices
    }
    price = known["aws", "us-east-1", "p5.48xlarge", "on_demand"]
    row = f"p5.48xlarge,H100,8,192,2048,,{price.price_per_hour},,us-east-1,use1-az1,x86_64\n"
    prices, pending = take(AWS + row, as_of=date(2020, 1, 1))
    assert not prices
    assert pending.counted.left == {OLDER_PRICE: 1}
    prices, _ = take(AWS + row, as_of=price.as_of)
    assert list(prices.values()) == [price]
    prices, _ = take(AWS + row)
    (again,) = prices.values()
    assert again.as_of == DAY
    assert again.source_id.startswith("skypilot-aws-")


def test_no_spot_below_on_demand_is_no_spot(take):
    _, pending = take(AWS + f"g6.24xlarge,L4,4,96,384,{L4},,6.7,us-west-2,a,x\n")
    assert pending.counted.left == {}, "without a price on demand there is nothing to compare with"
    prices, pending = take(GPUHUNT + "g6.24xlarge,us-west-2,6,96,384,4,L4,24,False,,,,\n"
                           "g6.24xlarge,us-west-2,6,96,384,4,L4,24,True,,,,\n")  # fmt: skip
    assert list(prices) == [("us-west-2", "g6.24xlarge", "on_demand")]
    assert pending.counted.left == {SPOT_AT_ON_DEMAND: 1}


rows = st.builds(
    CatalogListing,
    line=st.just(0),
    instance_type=st.sampled_from(["a.large", "a.sixth", "c.card", "new.1", "new.2", ""]),
    accelerator=st.sampled_from(["X1", "D2", "X9", "X1-16GB-PCIe", ""]),
    accelerator_count=st.sampled_from([None, 0, 1, 8]),
    accelerator_memory_gib=st.sampled_from([None, 16, 80]),
    vcpus=st.just(4),
    memory_gib=st.just(16),
    region=st.sampled_from(["here-1", "there-1", "here-1-a", "new-1", ""]),
    zone=st.sampled_from(["", "a", "b"]),
    on_demand=st.sampled_from([None, 1.0, 8.5, 9.0, 500.0]),
    spot=st.sampled_from([None, 0.5, 8.5]),
    other_terms=st.sampled_from(["", "", "a block"]),
)


@settings(max_examples=2 * settings.default.max_examples)
@given(st.lists(rows | st.builds(UnreadableListing, st.just(0), st.just("odd")), max_size=15))
def test_every_row_is_taken_left_or_refused(small, found):
    from dataclasses import replace

    if not (small.target / "data/sources.csv").is_file():
        import_facts(small.facts, small.target, small.curated)
    layout = CatalogLayout.of(small.target)
    numbered = [replace(row, line=line) for line, row in enumerate(found, 2)]
    source = Source("tool-acme", "a file", DAY, "prices")
    got, counted = merge_listings("acme", numbered, read_snapshot(layout), read_accelerator_names(layout), DAY, source)
    assert counted.rows == len(found) == counted.taken + counted.refused + sum(counted.left.values())
    assert all(price.price_per_hour > 0 for price in got.prices.values())
    known = {o.instance_type for o in read_snapshot(layout).offerings} | set(got.offerings)
    assert {key[2] for key in got.prices} <= known


KINDS = [
    (AWS, "skypilot"),
    (GCP, "skypilot"),
    ("\ufeff" + GPUHUNT, "gpuhunt"),
    ("instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot\n", "gpuhunt"),
    ("provider,family,instance_type,region,purchase_option,percent_off,price_per_hour,currency,valid_from,valid_to,note\n",
     PRIVATE_PRICES),
    ("date,from,to,rate,source\n", EXCHANGE_RATES),
]  # fmt: skip


@pytest.mark.parametrize(("header", "kind"), KINDS)
def test_a_file_is_known_by_its_columns(tmp_path, header, kind):
    (tmp_path / "any name.txt").write_text(header)
    assert detect_file_kind(tmp_path / "any name.txt") == kind


def test_a_folder_is_refused_with_the_command_for_fact_tables(tmp_path):
    with pytest.raises(InvalidSnapshot, match=r"run `python -m tools\.importer .*`"):
        detect_file_kind(tmp_path)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "no such file"),
        (b"\xff\xfe\x00", "cannot be read as a table"),
        (b"", "this file cannot be imported"),
        (b"colour,size\n", "this file cannot be imported"),
        (b"date,from,to,rate\n", "as a file of exchange rates, it lacks the column source"),
    ],
)
def test_a_file_of_no_kind_is_one_clear_fault(tmp_path, content, expected):
    path = tmp_path / "file.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidSnapshot) as caught:
        detect_file_kind(path)
    assert len(caught.value.faults) == 1
    assert expected in caught.value.faults[0]


def test_whose_prices_they_are(tmp_path):
    assert detect_provider(tmp_path / "aws/vms.csv", "skypilot", EMBEDDED_LAYOUT, None) == "aws"
    assert detect_provider(tmp_path / "catalog/azure.csv", "gpuhunt", EMBEDDED_LAYOUT, None) == "azure"
    assert detect_provider(tmp_path / "catalog/azure.csv", "gpuhunt", EMBEDDED_LAYOUT, "gcp") == "gcp"
    with pytest.raises(InvalidSnapshot, match="neither --provider nor the path"):
        detect_provider(tmp_path / "catalog/vms.csv", "gpuhunt", EMBEDDED_LAYOUT, None)
    misspelt = r"--provider azur: no known provider; nearest: azure; for a new cloud .*: planner cloud new azur$"
    with pytest.raises(InvalidSnapshot, match=misspelt):
        detect_provider(tmp_path / "x.csv", "gpuhunt", EMBEDDED_LAYOUT, "azur")
    with pytest.raises(InvalidSnapshot, match=r"--provider \.\./up: no name of a provider"):
        detect_provider(tmp_path / "x.csv", "gpuhunt", EMBEDDED_LAYOUT, "../up")
    assert detect_provider(tmp_path / "x.csv", "gpuhunt", EMBEDDED_LAYOUT, "crusoe") == "crusoe", "a new cloud"


def test_a_row_of_another_width_is_a_fault_of_the_file(take):
    with pytest.raises(InvalidSnapshot, match=r"aws/vms.csv:2: 2 cells, expected 11"):
        take(AWS + "a1.large,\n")


def test_a_hostile_description_of_an_accelerator_is_only_text(take):
    deep = "[" * 5000
    prices, _ = take(AWS + f"g6.24xlarge,L4,4,96,384,{deep},6.7,,us-west-2,a,x\n"
                     "g6.24xlarge,L4,4,96,384,__import__('os'),6.7,,us-west-2,b,x\n")  # fmt: skip
    assert len(prices) == 1
