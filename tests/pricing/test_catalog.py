"""The shipped catalogue: rows checked by hand against their source, filters, order, gaps, age and kind complaints."""

from __future__ import annotations

import pickle
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.catalog.price_catalog import ROOT, Catalog
from pricing.errors import InvalidSnapshot, UnknownName
from pricing.price import parse_purchase_option
from pricing.search.retired import describe_ended
from pricing.transfer_storage_prices import tiered_cost


def one(catalog, **filters):
    (found,) = catalog.quotes(**filters)
    return found


def test_p5_on_demand_in_virginia(catalog):
    quote = one(catalog, instance_types=["p5.48xlarge"], regions=["us-east-1"], options=["on_demand"])
    assert (quote.price.price_per_hour, quote.price.as_of, quote.price.method) == (55.04, date(2026, 7, 20), "listed")
    assert (quote.accelerator.name, quote.offering.accelerator_count) == ("H100-80GB-SXM", 8)
    assert catalog.sources[quote.price.source_id].reference.startswith("aws/karpenter-provider-aws")


def test_a_tpu_slice_costs_its_chips(catalog):
    filters = {"regions": ["us-central1"], "options": ["on_demand"]}
    chip = one(catalog, instance_types=["tpu-v5litepod-1"], **filters)
    pod = one(catalog, instance_types=["tpu-v5litepod-256"], **filters)
    assert chip.price.price_per_hour == 1.2
    assert pod.offering.accelerator_count == 256
    assert pod.price.price_per_hour == pytest.approx(256 * 1.2)  # 307.20
    # v4 names count cores: v4-8 is 4 chips at 3.22 = 12.88
    v4 = one(catalog, instance_types=["tpu-v4-8"], regions=["us-central2"], options=["on_demand"])
    assert v4.offering.accelerator_count == 4
    assert v4.price.price_per_hour == pytest.approx(4 * 3.22)


@pytest.mark.parametrize(
    ("key", "accelerator", "count"),
    [
        (("aws", "g6f.large"), "L4-24GB", 1 / 8),
        (("aws", "g6f.2xlarge"), "L4-24GB", 1 / 4),
        (("aws", "gr6f.4xlarge"), "L4-24GB", 1 / 2),
        (("azure", "Standard_NV6ads_A10_v5"), "A10-24GB", 1 / 6),
        (("azure", "Standard_NV12ads_A10_v5"), "A10-24GB", 1 / 3),
        (("azure", "Standard_NV18ads_A10_v5"), "A10-24GB", 1 / 2),
        (("azure", "Standard_NV8ads_V710_v5"), "Radeon-PRO-V710-28GB", None),
        (("azure", "Standard_NC128ds_xl_RTXPRO6000BSE_v6"), "RTX-PRO-6000-Blackwell-96GB-SE", None),
        (("azure", "Standard_NC6"), "K80-12GB-die", 1),
        (("aws", "p2.16xlarge"), "K80-12GB-die", 16),
        (("aws", "g3.16xlarge"), "M60-8GB-die", 4),
        (("aws", "p3.2xlarge"), "V100-16GB-SXM2", 1),
        (("aws", "p3dn.24xlarge"), "V100-32GB-SXM2", 8),
        (("azure", "Standard_NC6s_v3"), "V100-16GB-PCIe", 1),
        (("azure", "Standard_ND40rs_v2"), "V100-32GB-SXM2", 8),
        (("gcp", "n1-highmem-8+1xnvidia-tesla-v100"), "V100-16GB-SXM2", 1),
        (("gcp", "nvidia-tesla-p100"), "P100-16GB-PCIe", 1),
        (("gcp", "g4-standard-6"), "RTX-PRO-6000-Blackwell-96GB-SE", 1 / 8),
        (("aws", "dl1.24xlarge"), "Gaudi-32GB", 8),
        (("aws", "dl2q.24xlarge"), "AI-100-16GB", 8),
        (("aws", "g4ad.16xlarge"), "Radeon-PRO-V520-8GB", 4),
        (("aws", "u-p6e-gb200x72"), "GB200-186GB", 72),
    ],
)
def test_what_a_type_gives(catalog, key, accelerator, count):
    assert (catalog.offerings[key].accelerator, catalog.offerings[key].accelerator_count) == (accelerator, count)


def test_a_month_of_egress_past_three_edges(catalog):
    ohio = catalog.tiers("aws", "us-east-2", "egress_internet")
    assert [t.from_gb for t in ohio] == [0, 10240, 51200, 153600]
    # 10,240 x 0.09 = 921.60; 40,960 x 0.085 = 3,481.60; 102,400 x 0.07 = 7,168.00; 46,400 x 0.05 = 2,320.00
    assert tiered_cost(ohio, 200_000) == pytest.approx(921.60 + 3481.60 + 7168.00 + 2320.00)
    assert not any(t.note for t in ohio)


def test_steps_of_egress_are_in_billed_gigabytes(catalog):
    iowa = catalog.tiers("gcp", "us-central1", "egress_internet")
    # Google prices the GiB and begins its steps at 1 and 10 TiB: 1,024 and 10,240 billed GB
    assert [t.from_gb for t in iowa] == [0, 1024, 10240]
    tokyo = catalog.tiers("gcp", "asia-northeast1", "egress_internet")
    assert [t.price_per_gb for t in tokyo] == [0.12, 0.12, 0.085], "the source has 0.085 for the first"
    # 1,024 x 0.12 + 976 x 0.11 = 122.88 + 107.36
    assert tiered_cost(iowa, 2000) == pytest.approx(230.24)


def test_where_a_list_ends_early_the_tier_says_so(catalog):
    virginia = catalog.tiers("aws", "us-east-1", "egress_internet")
    assert [t.price_per_gb for t in virginia] == [0.09, 0.085, 0.07]
    assert "no price from 153600 GB on" in virginia[-1].note
    (jakarta,) = catalog.tiers("aws", "ap-southeast-3", "egress_internet")
    assert "no price from 10240 GB on" in jakarta.note


def test_storage_is_a_gap_where_no_source_has_it(catalog):
    assert [t.price_per_gb for t in catalog.tiers("aws", "us-east-1", "object_storage")] == [0.023]
    assert catalog.tiers("aws", "eu-west-1", "object_storage") == ()
    assert catalog.tiers("nobody", "us-east-1", "object_storage") == ()
    assert [t.region for t in catalog.reference_tiers("aws", "object_storage")] == ["us-east-1"]
    assert [t.from_gb for t in catalog.reference_tiers("azure", "object_storage")] == [0, 51200, 512000]
    assert [t.kind for t in catalog.reference_tiers("azure", "block_storage")] == ["ultra"]
    assert catalog.reference_tiers("azure", "transfer_inter_region") == ()
    assert catalog.reference_tiers("nobody", "object_storage") == ()
    assert {t.price_per_gb for t in catalog.tiers("azure", "brazilsouth", "egress_internet")} == {0.181}
    assert {t.price_per_gb for t in catalog.tiers("azure", "japaneast", "egress_internet")} == {0.12}


def test_the_order_is_the_written_one(catalog):
    quotes = catalog.quotes(include_retired=True, include_parts=True)
    keys = [
        (p.price_per_hour, p.provider, p.region, p.instance_type, p.purchase_option) for p in (q.price for q in quotes)
    ]
    assert keys == sorted(keys)


def test_no_filter_and_an_empty_filter_are_not_the_same(catalog):
    assert catalog.quotes(accelerators=[]) == []
    assert catalog.quotes(accelerators=["no such"]) == []
    assert len(catalog.quotes(accelerators=None)) > 5000


def test_an_option_is_a_kind_or_a_full_name(catalog):
    here = {"providers": ["aws"], "accelerators": ["T4-16GB"]}
    kinds = catalog.quotes(options=["reserved"], **here)
    assert {q.price.kind for q in kinds} == {"reserved"}
    assert {q.price.purchase_option for q in catalog.quotes(options=["reserved_1y_no_upfront"], **here)} == {
        "reserved_1y_no_upfront"
    }
    mixed = catalog.quotes(options=["on_demand", "reserved_1y_no_upfront"], **here)
    assert {q.price.purchase_option for q in mixed} == {"on_demand", "reserved_1y_no_upfront"}


@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_filters_are_what_they_say(catalog, data):
    everything = catalog.quotes(include_retired=True, include_parts=True)
    some = data.draw(st.lists(st.sampled_from(everything), max_size=4))
    pick = {
        "accelerators": [q.accelerator.name for q in some],
        "regions": [q.price.region for q in some],
        "options": [q.price.kind for q in some],
        "providers": [q.price.provider for q in some],
    }
    chosen = {key: values for key, values in pick.items() if data.draw(st.booleans())}
    found = catalog.quotes(include_retired=True, include_parts=True, **chosen)
    assert found == [
        q
        for q in everything
        if ("accelerators" not in chosen or q.accelerator.name in chosen["accelerators"])
        and ("regions" not in chosen or q.price.region in chosen["regions"])
        and ("options" not in chosen or q.price.kind in chosen["options"])
        and ("providers" not in chosen or q.price.provider in chosen["providers"])
    ]


def test_a_part_is_no_node(catalog):
    assert catalog.offerings["gcp", "nvidia-tesla-t4"].part
    assert catalog.quotes(instance_types=["nvidia-tesla-t4"]) == []
    found = catalog.quotes(instance_types=["nvidia-tesla-t4"], include_parts=True)
    assert {q.price.note for q in found} == {"per attached GPU, machine not included"}


def test_known_gaps_show_as_gaps(catalog):
    gaps = {o.key for o in catalog.unpriced()}
    assert ("gcp", "a4x-highgpu-4g") in gaps
    assert ("gcp", "tpu-v4-512") in gaps, "a slice whose hosts have no price"
    assert ("gcp", "tpu-v5p-512") not in gaps, "64 hosts at the price of ct5p-hightpu-4t"
    assert ("gcp", "tpu7x-standard-4t") in gaps
    assert ("azure", "Standard_NG32adms_V620_v1") in gaps
    assert len(gaps) == 37, "13 of which two have prices now, one lost its suspect price, and slices without a price"
    assert ("azure", "Standard_ND40s_v3") not in gaps, "retired, so nothing is missing"


def test_age_and_coverage(catalog):
    assert catalog.oldest() == date(2023, 8, 30)
    rows = catalog.coverage()
    assert sum(row.prices for row in rows) == 7773 + 343, "and those of clouds that plans use on request"
    assert all(row.oldest <= row.newest for row in rows)
    p5 = [r for r in rows if (r.provider, r.family, r.option) == ("aws", "P5", "capacity_block")]
    assert [(r.retired, r.newest) for r in p5] == [(False, date(2026, 9, 27))]
    assert [r for r in rows if r.family == "P2" and not r.retired] == []


@pytest.mark.parametrize(
    ("name", "kind", "months", "upfront", "offering_class"),
    [
        ("on_demand", "on_demand", 0, "", ""),
        ("reserved_1y", "reserved", 12, "", ""),
        ("reserved_1y_no_upfront", "reserved", 12, "none", "standard"),
        ("reserved_3y_convertible_all_upfront", "reserved", 36, "all", "convertible"),
        ("committed_use_3y", "committed_use", 36, "", ""),
    ],
)
def test_a_purchase_option_falls_into_its_parts(name, kind, months, upfront, offering_class):
    assert parse_purchase_option(name) == (kind, months, upfront, offering_class)


@pytest.mark.parametrize("name", ["", "reserved", "reserved_2y", "spot_1y", "reserved_1y_some_upfront", "On_demand"])
def test_no_other_option_is_read(name):
    assert parse_purchase_option(name) is None


def test_checks_accept_what_people_write(catalog):
    assert catalog.check_provider(" AWS ") == "aws"
    assert catalog.check_provider("Google Cloud") == "gcp"
    assert [r.provider for r in catalog.check_region("US-EAST-1")] == ["aws", "lambda"]
    assert [r.region for r in catalog.check_region("US-EAST-1", "aws")] == ["us-east-1"]
    assert [(r.provider, r.region) for r in catalog.check_region("East US")] == [("azure", "eastus")]
    assert catalog.check_option("On-Demand") == "on_demand"
    assert catalog.check_option("reserved") == "reserved"
    assert catalog.check_type("AWS", "P5.48xlarge").instance_type == "p5.48xlarge"


@pytest.mark.parametrize(
    ("check", "what", "nearest"),
    [
        (lambda c: c.check_provider("gpc"), "provider", "gcp"),
        (lambda c: c.check_region("us-eest-1"), "region", "us-east-1"),
        (lambda c: c.check_region("eastus", "aws"), "region", "us-east-1"),
        (lambda c: c.check_option("reserved_1y_noupfront"), "purchase option", "reserved_1y_no_upfront"),
        (lambda c: c.check_type("aws", "p5.48xlrge"), "instance type", "p5.48xlarge"),
        (lambda c: c.check_type("nobody", "p5.48xlarge"), "provider", None),
    ],
)
def test_unknown_names_say_what_is_near(catalog, check, what, nearest):
    with pytest.raises(UnknownName) as caught:
        check(catalog)
    assert caught.value.kind == what
    assert nearest is None or nearest in caught.value.nearest


ENDED = [  # as people write it: what it was, until when, what instead and its price, from the tables of sale and prices
    ("p2.xlarge", "not sold any more: aws p2.xlarge (1 x K80-12GB-die); instead p3.2xlarge, from 3.0600 USD"),
    ("P2", "aws p2.xlarge (1 x K80-12GB-die); instead p3.2xlarge"),
    ("G2", "aws g2.2xlarge (1 x K520-4GB); no successor is recorded"),  # Google's G2 is sold
    ("eg1.medium", "(Elastic Graphics), not sold since 2024-01-08; instead g4dn.xlarge, from 0.5260 USD"),
    ("Elastic Inference", "(Elastic Inference), not sold since 2024-04; instead inf2.xlarge, from 0.7582 USD"),
    ("K80", "Standard_NC6 (1 x K80-12GB-die), not sold since 2022-08-31; instead Standard_NC4as_T4_v3, from 0.5260"),
    ("M60", "aws g3.4xlarge (1 x M60-8GB-die); instead g4dn.4xlarge, from 1.2040 USD"),
    ("MI25", "(1/8 x MI25-16GB), not sold since 2026-09-30; instead Standard_NV6ads_A10_v5, from 0.4540 USD"),
    ("GTX 1080", "no provider of the catalogue rents GTX-1080-8GB"),
    ("GTX 1030", "no provider of the catalogue rents GT-1030-2GB-GDDR5"),
]


@pytest.mark.parametrize(("written", "expected"), ENDED)
def test_what_has_ended_is_answered_by_any_of_its_names(catalog, written, expected):
    assert expected in describe_ended(written, catalog)


@pytest.mark.parametrize("written", ["H100", "P3", "p5.48xlarge", "Radeon PRO V710", "no such thing", ""])
def test_what_is_sold_or_unknown_has_not_ended(catalog, written):
    assert describe_ended(written, catalog) == ""


def test_systems_that_can_be_owned(catalog):
    systems = {s.name: s for s in catalog.systems}
    assert len(systems) == 13 + 5  # in the fact tables + hand-kept servers
    dgx = systems["DGX H100"]
    assert (dgx.accelerator, dgx.accelerator_count, dgx.price, dgx.price_as_of) == (
        "H100-80GB-SXM",
        8,
        270_000,
        date(2023, 5, 29),
    )
    assert systems["DGX H200"].price is None
    assert all((s.price is None) == (s.price_as_of is None) for s in catalog.systems)


def test_a_catalogue_travels_to_a_worker_process(catalog):
    sent = pickle.loads(pickle.dumps(catalog))
    assert sent.digest == catalog.digest
    assert pickle.loads(pickle.dumps(Catalog.read(ROOT, catalog._cache))).quotes() == catalog.quotes()


def test_another_folder_of_no_shape_is_refused(tmp_path):
    with pytest.raises(InvalidSnapshot) as caught:
        Catalog.read(tmp_path, tmp_path / "cache")
    text = "\n".join(caught.value.faults)
    assert "accelerators.csv: the file is missing" in text
    assert "no provider folder" in text


def test_prices_by_type_are_all_prices(catalog):
    by_type = [quote for offering in catalog.priced for quote in catalog.of_type(offering)]
    assert len(by_type) == len(catalog.quotes())
    assert set(by_type) == set(catalog.quotes())
    for offering in catalog.priced:
        found = catalog.of_type(offering)
        assert found, "a type without a price is not among the priced"
        assert list(found) == catalog.quotes(instance_types=[offering.instance_type], providers=[offering.provider])
        assert catalog.of_type(offering) is found, "made once"


def test_kinds_are_those_of_what_can_be_rented(catalog):
    for provider in catalog.providers:
        assert catalog.kinds[provider] == {q.price.kind for q in catalog.quotes(providers=[provider])}


def test_the_lowest_prices_are_the_first_quotes(catalog):
    """Of every offering and way of paying, read apart: the first quote, its rank and the number of quotes."""
    for offering in catalog.offerings.values():
        listed = catalog.by_option(offering)
        expected = {option: (quotes[0].price, quotes[0].rank, len(quotes)) for option, quotes in listed.items()}
        assert catalog.lowest_by_option(offering) == expected
