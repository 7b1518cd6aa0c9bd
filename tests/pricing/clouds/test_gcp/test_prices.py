"""Prices summed from parts, worked by hand. Rates and their sources: testdata/rates.csv."""

from __future__ import annotations

import pytest

from pricing.adapters.protocol import CoveredScope
from pricing.providers.gcp.billed_parts import OPTIONS, load_parts_table

GPU, TPU = "prices of machines with GPUs", "prices of TPUs"
HAND = {
    # 2.933908 + 12 x 0.031611 + 85 x 0.004237 = 2.933908 + 0.379332 + 0.360145
    ("us-central1", "a2-highgpu-1g", "on_demand"): 3.673385,
    # 1.5399 + 12 x 0.01659 + 85 x 0.00222 = 1.5399 + 0.19908 + 0.1887
    ("us-central1", "a2-highgpu-1g", "spot"): 1.92768,
    # 1.84836204 + 12 x 0.019915 + 85 x 0.002669 = 1.84836204 + 0.23898 + 0.226865; prices.csv has 2.314207
    ("us-central1", "a2-highgpu-1g", "committed_use_1y"): 2.31420704,
    # 8 x 9.796550569 + 208 x 0.025498003 + 1872 x 0.00222034 + 6000 GiB x 0.08 / 730
    # = 78.372404552 + 5.303584624 + 4.15647648 + 0.657534247; prices.csv has 88.49
    ("us-central1", "a3-highgpu-8g", "on_demand"): 88.489999903,
    # 4.8534 + 26 x 0.01263 + 234 x 0.0011 + 750 x 0.0389 / 730 = 4.8534 + 0.32838 + 0.2574 + 0.039965753
    ("us-central1", "a3-highgpu-1g", "spot"): 5.479145753,
    # 8 x 4.8534 + 208 x 0.01263 + 1872 x 0.0011 + 6000 x 0.0389 / 730 = 38.8272 + 2.62704 + 2.0592 + 0.319726027
    ("us-central1", "a3-highgpu-8g", "spot"): 43.833166027,
    # 8 x 10.344275712 + 208 x 0.026924 + 1872 x 0.002344 + 6000 x 0.08 / 730
    # = 82.754205696 + 5.600192 + 4.387968 + 0.657534247: rates of A3 Mega, not of A3 High
    ("us-central1", "a3-megagpu-8g", "on_demand"): 93.399899943,
    # 8 x 4.9542: the slice has its vCPU, memory and local SSD in it, and is filed under OnDemand
    ("us-central1", "a4-highgpu-8g", "spot"): 39.6336,
    # 8 x 11.1159 and 8 x 7.0884
    ("us-central1", "a4-highgpu-8g", "committed_use_1y"): 88.9272,
    ("us-central1", "a4-highgpu-8g", "committed_use_3y"): 56.7072,
    # 48 x 0.04891 + 180 x 0.00587 + 1.09565 = 2.34768 + 1.0566 + 1.09565; prices.csv has 4.49993
    ("us-central1", "g4-standard-48", "on_demand"): 4.49993,
    # a quarter of the GPU: 12 x 0.04891 + 45 x 0.00587 + 0.25 x 1.09565; prices.csv has 1.124982
    ("us-central1", "g4-standard-12", "on_demand"): 1.1249825,
    # 8 x 0.031611 + 30 x 0.004237 + 0.35 = 0.252888 + 0.12711 + 0.35; prices.csv has 0.729998
    ("us-central1", "n1-standard-8+1xnvidia-tesla-t4", "on_demand"): 0.729998,
    # 8 x 0.019915 + 30 x 0.002669 + 0.22 = 0.15932 + 0.08007 + 0.22
    ("us-central1", "n1-standard-8+1xnvidia-tesla-t4", "committed_use_1y"): 0.45939,
    ("us-central1", "nvidia-tesla-t4", "on_demand"): 0.35,
    ("us-central1", "nvidia-tesla-t4", "committed_use_1y"): 0.22,
    ("us-central1", "nvidia-tesla-t4", "committed_use_3y"): 0.16,
    ("us-east1", "nvidia-tesla-t4", "on_demand"): 0.35,
}
HAND_TPU = {
    ("us-central1", "tpu-v5litepod-8", "on_demand"): 9.6,  # 8 chips x 1.20
    ("us-east5", "tpu-v6e-8", "on_demand"): 21.6,  # 8 x 2.70
    ("us-east5", "tpu-v6e-8", "spot"): 11.2264,  # 8 x 1.4033
    ("us-east5", "tpu-v6e-8", "committed_use_1y"): 15.12,  # 8 x 1.89
    ("us-east5", "ct6e-standard-4t", "on_demand"): 10.8,  # 4 x 2.70
    ("us-east5", "ct6e-standard-4t", "spot"): 5.6132,  # 4 x 1.4033
    ("us-east5", "ct6e-standard-4t", "committed_use_1y"): 7.56,  # 4 x 1.89
    ("us-central1", "tpu-v2-8", "on_demand"): 4.5,  # 8 cores are 4 chips: one device
    ("us-central1", "tpu-v2-8", "spot"): 1.35,
    ("us-central2", "tpu-v4-8", "on_demand"): 12.88,  # 8 cores are 4 chips x 3.22
}


@pytest.fixture
def found(asked, readings):
    return readings(asked()[0], GPU)


def by_key(prices):
    table = {(p.region, p.instance_type, p.purchase_option): p for p in prices}
    assert len(table) == len(prices)
    return table


@pytest.mark.parametrize(("task", "hand"), [(GPU, HAND), (TPU, HAND_TPU)])
def test_every_price_is_the_sum_of_its_parts(asked, readings, task, hand):
    prices = by_key(readings(asked()[0], task)["Price"])
    assert {key: price.price_per_hour for key, price in prices.items()} == {
        key: pytest.approx(value, rel=1e-9) for key, value in hand.items()
    }  # these and no other: what a naive rule would add is missing


def test_a_derived_price_tells_its_parts(found):
    price = by_key(found["Price"])["us-central1", "a3-highgpu-8g", "on_demand"]
    assert price.method == "derived"
    assert price.note == (
        "208 vCPU x 0.025498003 (A3 vCPU) + 1872 GiB x 0.00222034 (A3 memory) + 8 x 9.796550569 (H100 80GB GPU) + "
        "6000 GiB x 0.000109589 (local SSD); in force since 2026-06-01"
    )
    assert (price.kind, price.term_months, price.upfront, price.offering_class) == ("on_demand", 0, "", "")
    assert (price.currency, price.source_id, price.as_of.isoformat()) == ("USD", "gcp-billing-catalog", "2026-11-21")


def test_a_commitment_has_its_term_and_a_bare_gpu_is_listed(found):
    prices = by_key(found["Price"])
    commitment = prices["us-central1", "a2-highgpu-1g", "committed_use_1y"]
    assert (commitment.kind, commitment.term_months) == ("committed_use", 12)
    assert prices["us-central1", "nvidia-tesla-t4", "on_demand"].method == "listed"
    assert prices["us-central1", "nvidia-tesla-t4", "on_demand"].note.startswith("1 x 0.35 (T4 GPU); per attached GPU")


def test_a_type_that_cannot_be_bought_on_demand_has_no_such_price(found):
    """Google lists rates for A4 and small A3 on demand, and sells them by reservation, flex-start or as spot only."""
    left = {reading.reason: reading.rows for reading in found["SkippedRows"]}
    assert left["list prices of types that cannot be bought that way: sold by reservation, flex-start or as spot"] == 1
    assert left["list prices of types that cannot be bought that way: sold as spot or flex-start only"] == 1
    commitment = by_key(found["Price"])["us-central1", "a4-highgpu-8g", "committed_use_1y"]
    assert "sold by reservation" in commitment.note


def test_a_missing_part_gives_no_price_and_is_named(found):
    """The A2 Ultra has no GPU rate here; its vCPU, memory and SSD would make a tempting 1.14 USD an hour."""
    refused = {r.subject: r.reason for r in found["RejectedRow"]}
    assert refused["a2-ultragpu-1g on_demand us-central1"] == "no rate for A100 80GB GPU"
    assert refused["a3-highgpu-8g committed_use_1y us-central1"] == (
        "no rate for A3 vCPU and A3 memory and H100 80GB GPU"
    )
    assert refused["a4x-highgpu-4g"] == "the catalogue has no rate for A4X: it is sold by reservation only"
    assert not [p for p in found["Price"] if p.instance_type in {"a2-ultragpu-1g", "a4x-highgpu-4g"}]


def test_bundled_local_ssd_is_never_forgotten(asked, readings, world):
    """A feed without the local SSD rate must not make A3 cheaper."""
    world.skus = [s for s in world.skus if not s["description"].startswith("SSD backed Local Storage")]
    found = readings(asked()[0], GPU)
    assert ("us-central1", "a3-highgpu-8g", "on_demand") not in by_key(found["Price"])
    [refused] = [r for r in found["RejectedRow"] if r.subject == "a3-highgpu-8g on_demand us-central1"]
    assert refused.reason == "no rate for local SSD"
    assert refused.key == ("gcp", "us-central1", "a3-highgpu-8g", "on_demand")  # the price of before stays


def test_a_commitment_without_any_rate_is_not_offered(found):
    """Local SSD, A100 and A2 have 1-year rates here and no 3-year ones."""
    assert "commitments that are not offered: no part has a rate" in {r.reason for r in found["SkippedRows"]}
    assert not [r for r in found["RejectedRow"] if r.subject.startswith("a2-highgpu-1g committed_use_3y")]


@pytest.mark.parametrize(
    "description",
    [
        "Reserved Nvidia H100 80GB Mega GPU in Americas in Calendar Mode",
        "Nvidia H100 Mega 80GB GPU attached to DWS Defined Duration VMs running in Americas",
        "DWS Calendar Mode A4 Nvidia B200 (1 gpu slice) running in Americas",
        "DWS Defined Duration A2 Core running in Americas",
        "Reserved A3 Core in Americas",
        "Capacity Optimized TpuV6e running in Columbus",
        "Reserved V6e TPU in Columbus in Calendar Mode",
        "Nvidia Tesla T4 GPU attached to Sole Tenancy VMs running in Americas",
        "A2 Sole Tenancy Instance Core running in Americas",
        "Custom Extended Instance Ram running in Americas",
        "N1 Predefined Instance Core running in Americas, Sole Tenancy",
        "Nvidia L4 GPU running in Americas (Reserved)",
        "Nvidia L4 GPU running in Americas Flex Start",
        "SSD backed Local Storage in Iowa in Calendar Mode",
        "Commitment v1: N4A Core in Johannesburg for 5 Years",
        "Committed Use Discount Premium for A2 Instance Core running in Americas",
        "G2 Custom Instance Core running in Americas",
        "A3 Confidential Premium for A3 Instance Core running in Americas",
    ],
)
def test_another_product_is_never_a_plain_rate(description):
    assert load_parts_table().match(description) is None


def test_a_commitment_or_spot_rate_is_never_on_demand(rows):
    for description, row in rows.items():
        meaning = load_parts_table().match(description)
        if meaning is not None and meaning[1] == "on_demand":
            assert row["usage_type"] == "OnDemand"
            assert not description.startswith(("Commitment", "Spot", "Reserved", "DWS"))
            assert "Preemptible" not in description


def test_only_regions_that_sell_a_type_get_its_price(found):
    """The rates of A2 and N1 hold in us-east1 as well: no zone has an A2, one has N1, another has T4, none has both."""
    assert {p.instance_type for p in found["Price"] if p.region == "us-east1"} == {"nvidia-tesla-t4"}
    assert {p.region for p in found["Price"]} == {"us-central1", "us-east1"}


def test_without_the_list_of_zones_prices_go_on_and_say_so(asked, readings, kit):
    ask, running = asked()
    denied = kit.Answer({"error": {"code": 403, "message": "Required 'compute.machineTypes.list'"}}, status=403)
    running.faults.append(kit.Fault(denied, times=99, where=lambda r: r.path.startswith("/compute/")))
    prices = by_key(readings(ask, GPU)["Price"])
    assert {region for region, kind, _ in prices if kind == "a2-highgpu-1g"} == {"us-central1", "us-east1", "us-west1"}
    assert all("zones not checked" in price.note for price in prices.values())


def test_regions_narrow_what_is_read(asked, readings):
    found = readings(asked(regions=("us-east5",))[0], TPU)
    assert {p.region for p in found["Price"]} == {"us-east5"}
    assert {c.region for c in found["CoveredScope"]} == {"us-east5"}


def test_what_was_read_to_the_end_is_said_by_region_kind_and_family(found):
    covered = set(found["CoveredScope"])
    assert CoveredScope("asia-east1", "spot", "A2") in covered  # a region that sells nothing is known to sell nothing
    assert CoveredScope("us-central1", "committed_use", "N1+GPU") in covered
    assert not [c for c in covered if c.family in {"TPU", "A4X"}]


def test_every_sku_is_used_left_or_refused(found, world):
    skus = sum(
        r.rows
        for r in found["SkippedRows"]
        if not r.reason.startswith(("list prices", "retired", "ways of paying", "commitments"))
    )
    assert skus + sum(r.subject.startswith("SKU") for r in found["RejectedRow"]) == len(world.skus)


def test_the_recorded_catalogue_of_2023(asked, readings, world, replayed):
    """Whole and as it was: seven SKUs, four of them in rupiah and without effectiveTime."""
    world.skus = replayed("skus.2023.recorded.json")["skus"]
    world.zones["us-central1-a"] = replayed("machine-types.a2-highgpu-1g.transcribed.json")["items"]
    prices = by_key(readings(asked()[0], GPU)["Price"])
    # 2.933908 + 12 x 0.031611 + 85 x 0.004237
    assert prices["us-central1", "a2-highgpu-1g", "on_demand"].price_per_hour == pytest.approx(3.673385, rel=1e-12)
    assert set(prices) == {("us-central1", "a2-highgpu-1g", "on_demand")}


def test_the_table_of_parts_holds_together():
    table = load_parts_table()
    units = {"vcpu", "memory_gib", "accelerator", "local_ssd_gib"}
    assert {part.unit for part in table.by_name.values()} == units
    for machine in table.machines:
        assert bool(machine.parts) != bool(machine.gap), machine
        assert set(machine.parts) <= set(table.by_name)
        assert {table.by_name[name].unit for name in machine.parts} >= ({"accelerator"} if machine.parts else set())
        assert set(machine.sold) <= {kind for kind, _ in OPTIONS.values()}
        assert bool(machine.sold_why) == (len(machine.sold) < 3)
    used = {name for machine in table.machines for name in machine.parts}
    assert used == set(table.by_name)


def test_every_known_type_has_a_rule(catalog):
    types = [o.instance_type for o in catalog.offerings.values() if o.provider == "gcp" and o.status != "retired"]
    assert [t for t in types if load_parts_table().machine(t) is None] == []
