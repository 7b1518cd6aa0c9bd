"""What holds for every provider folder that the walk finds, and what the shipped catalogue must hold as a whole."""

from __future__ import annotations

import csv
import tomllib
from datetime import date
from hashlib import sha256
from io import StringIO

import pytest

from pricing import providers
from pricing.catalog.price_catalog import ROOT
from pricing.catalog.snapshot_tables import OFFERING_COLUMNS, PRICE_COLUMNS, REGION_COLUMNS, TIER_COLUMNS
from pricing.regions import strip_source_date
from pricing.transfer_storage_prices import TIER_ITEMS

FOLDERS = providers.find_provider_folders(ROOT)
COLUMNS = {
    "offerings.csv": OFFERING_COLUMNS,
    "prices.csv": PRICE_COLUMNS,
    "regions.csv": REGION_COLUMNS,
    "tiers.csv": TIER_COLUMNS,
}


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request):
    return request.param


def table(path):
    return list(csv.DictReader(StringIO(path.read_text())))


BESIDE = {"hyperstack": 11, "lambda": 17, "nebius": 10, "verda": 13}
"""Clouds that plans use only on request, with their types."""
MADE = {"aws", "azure", "gcp", *BESIDE}
"""Those that are made from fact tables; further ones come from price lists."""


def test_the_walk_finds_the_three_clouds_and_those_that_plans_use_on_request(catalog):
    assert {f.name for f in FOLDERS} == set(catalog.providers) >= MADE
    assert {name for name, facts in catalog.provider_facts.items() if not facts.on_request} == MADE - set(BESIDE)


def test_every_table_has_its_columns_in_order_and_no_row_twice(folder):
    for name, columns in COLUMNS.items():
        rows = list(csv.reader(StringIO((folder / name).read_text())))
        assert tuple(rows[0]) == columns
        body = [tuple(row) for row in rows[1:]]
        assert len(set(body)) == len(body)
        assert all(cell == cell.strip() for row in body for cell in row)


def test_rows_are_sorted(folder):
    prices = [tuple(row.values()) for row in table(folder / "prices.csv")]
    assert prices == sorted(prices)
    offerings = [(row["family"], row["instance_type"]) for row in table(folder / "offerings.csv")]
    assert offerings == sorted(offerings)
    regions = [row["region"] for row in table(folder / "regions.csv")]
    assert regions == sorted(regions)
    tiers = [(row["region"], row["item"], float(row["from_gb"])) for row in table(folder / "tiers.csv")]
    assert tiers == sorted(tiers)


def test_every_price_has_a_place_a_date_and_a_source(catalog, folder):
    quotes = catalog.quotes(providers=[folder.name], include_retired=True, include_parts=True)
    assert len(quotes) == len(table(folder / "prices.csv"))
    for quote in quotes:
        price = quote.price
        assert price.price_per_hour > 0
        assert price.currency == catalog.provider_facts[folder.name].currency
        assert date(2017, 1, 1) <= price.as_of <= date(2026, 12, 31)
        assert price.source_id in catalog.sources
        assert (price.provider, price.region) in catalog.regions
        assert quote.offering is catalog.offerings[price.provider, price.instance_type]
        assert quote.accelerator is catalog.names.by_name[quote.offering.accelerator]


def test_every_offering_names_a_known_accelerator_and_a_known_source(catalog, folder):
    for offering in (o for o in catalog.offerings.values() if o.provider == folder.name):
        assert offering.accelerator in catalog.names.by_name
        assert offering.source_id in catalog.sources
        assert all(part in catalog.sources for part in offering.source_id.split("+"))
        assert offering.accelerator_count is None or offering.accelerator_count > 0
        if offering.successor:
            assert offering.status == "retired"
            assert catalog.offerings[folder.name, offering.successor].status != "retired"


def test_every_offering_is_priced_or_a_named_gap(catalog, folder):
    quotes = catalog.quotes(providers=[folder.name], include_retired=True, include_parts=True)
    priced = {q.offering.key for q in quotes}
    gaps = {o.key for o in catalog.unpriced()}
    for key, offering in catalog.offerings.items():
        if key[0] == folder.name and offering.status != "retired":
            assert (key in priced) != (key in gaps)


def test_retired_types_and_parts_are_quoted_only_when_asked_for(catalog, folder):
    plain = catalog.quotes(providers=[folder.name])
    assert not [q for q in plain if q.offering.status == "retired" or q.offering.part]
    retired = [o for o in catalog.offerings.values() if o.provider == folder.name and o.status == "retired"]
    assert retired or folder.name not in {"aws", "azure", "gcp"}
    more = catalog.quotes(providers=[folder.name], include_retired=True)
    known = set(plain)
    assert {q.offering.status for q in more if q not in known} == ({"retired"} if retired else set())


def test_every_region_says_where_it_is(catalog, folder):
    for region in (r for r in catalog.regions.values() if r.provider == folder.name):
        assert len(region.country) == 2 or (
            folder.name not in ("aws", "azure", "gcp") and not region.country + "".join(region.blocs)
        )
        assert set(region.blocs) <= {"EU", "EEA", "GOV"}
        assert ("EU" not in region.blocs) or ("EEA" in region.blocs)
        assert region.source_id in catalog.sources


def test_tiers_start_at_nothing_and_ascend(catalog, folder):
    for region in (r for r in catalog.regions.values() if r.provider == folder.name):
        for item in TIER_ITEMS:
            tiers = catalog.tiers(folder.name, region.region, item)
            if tiers:
                starts = [t.from_gb for t in tiers]
                assert starts[0] == 0
                assert starts == sorted(set(starts))
                assert len({(t.source_id, t.as_of, t.kind, t.currency) for t in tiers}) == 1
    for item, region in catalog.provider_facts[folder.name].reference_regions.items():
        assert catalog.reference_tiers(folder.name, item), (item, region)


def test_the_snapshot_says_what_the_tables_are(folder):
    said = tomllib.loads((folder / "snapshot.toml").read_text())
    for name, digest in said["sha256"].items():
        assert sha256((folder / name).read_bytes()).hexdigest() == digest, f"{name} was edited by hand"
        if name.removesuffix(".csv") in said["rows"]:
            assert said["rows"][name.removesuffix(".csv")] == len(table(folder / name))
    dates = [row["as_of"] for row in table(folder / "prices.csv")]
    assert (said["oldest"], said["newest"]) == (min(dates), max(dates))
    named = {strip_source_date(row["source_id"]) for row in table(folder / "prices.csv")}
    assert named <= set(map(strip_source_date, said["sources"]))


def test_nothing_was_lost_on_the_way_in(catalog):
    assert sum(provider in MADE for provider, _ in catalog.offerings) == 325 + 38 + sum(BESIDE.values()), (
        "and TPU slices up to 1,024 chips that only the table of networks names"
    )
    # prices, newer terms, those of both, those excluded as suspect, those of slices by their hosts, and of the
    # clouds beside the three 509, without 64 of Vast and six of Lambda's 23 types, whose variant nothing tells
    beside = 509 - 64 - 6 * 17
    quotes = catalog.quotes(providers=MADE, include_retired=True, include_parts=True)
    assert len(quotes) == 6887 + 793 - 67 - 8 + 168 + beside
    assert {p: sum(key[0] == p for key in catalog.offerings) for p in MADE} == {
        "aws": 99,
        "azure": 111,
        "gcp": 115 + 38,
        **BESIDE,
    }
    with_prices = {(q.price.provider, q.price.region) for q in quotes}
    assert {p: sum(key[0] == p for key in with_prices) for p in MADE} == {
        "aws": 31 + 4,
        "azure": 52,
        "gcp": 35,
        "hyperstack": 1,
        "lambda": 17,
        "nebius": 3,
        "verda": 3,
    }


def test_every_way_of_paying_that_was_found_is_there(catalog):
    upfront = ("all", "no", "partial")
    reserved = {f"reserved_{y}y{c}_{u}_upfront" for y in (1, 3) for c in ("", "_convertible") for u in upfront}
    plans = {f"savings_plan_{plan}_no_upfront" for plan in ("1y_compute", "1y_instance", "3y_instance")}
    seen = {
        provider: {q.price.purchase_option for q in catalog.quotes(providers=[provider], include_retired=True)}
        for provider in MADE
    }
    assert seen == {
        "aws": {"on_demand", "spot", "capacity_block"} | reserved | plans,
        "azure": {"on_demand", "spot", "reserved_1y", "reserved_3y"},
        "gcp": {"on_demand", "spot", "committed_use_1y", "committed_use_3y", "calendar"},
        **{name: {"on_demand", "spot"} if name in ("nebius", "verda") else {"on_demand"} for name in BESIDE},
    }
    assert set(catalog.options) >= set().union(*seen.values())


def test_data_tables_are_sorted():
    for name, key in (("accelerators", "name"), ("sources", "source_id"), ("systems", "name")):
        rows = [row[key] for row in table(ROOT / "data" / f"{name}.csv")]
        assert rows == sorted(rows)
