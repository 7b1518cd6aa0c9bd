"""Offers: what fits, in which order, at what price per what; by the query, the command and the service alike."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.request.errors import InvalidRequest
from planner.request.offer_query import parse_offer_query
from pricing.catalog.price_catalog import Catalog
from pricing.search import FIELDS, SORTS, OfferQuery, find_offers


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.embedded()


def rows(catalog, **filters):
    return find_offers(OfferQuery(**filters), catalog).rows


def test_figures_per_node_are_those_of_all_its_accelerators(catalog):
    [row] = rows(catalog, type=("p5.48xlarge",), region=("us-east-1",), option=("on_demand",))
    [quote] = catalog.quotes(instance_types=["p5.48xlarge"], regions=["us-east-1"], options=["on_demand"])
    # p5.48xlarge: 8 x H100 of 80 GiB, 3,350 GB/s and 16,896 cores: 640 GiB, 26,800 GB/s, 135,168 cores
    assert (row.accelerator, row.accelerator_count) == ("H100-80GB-SXM", 8)
    assert row.memory_gib_per_node == 640
    assert row.memory_bandwidth_gbs_per_node == pytest.approx(26_800)
    assert row.cores_per_node == 135_168
    assert row.price_per_hour == quote.price.price_per_hour
    assert row.price_per_accelerator_hour == pytest.approx(quote.price.price_per_hour / 8)
    assert row.as_of == quote.price.as_of
    assert row.source_id == quote.price.source_id
    assert row.source


def test_a_slice_is_a_fraction(catalog):
    found = rows(catalog, type=("Standard_NV6ads_A10_v5",), option=("on_demand",))
    assert found
    # a sixth of an A10 of 24 GiB: 4 GiB
    assert {round(row.accelerator_count, 6) for row in found} == {round(1 / 6, 6)}
    assert {round(row.memory_gib_per_node, 6) for row in found} == {4}
    assert found == rows(catalog, type=("Standard_NV6ads_A10_v5",), option=("on_demand",), count=1 / 6)


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("reverse", [False, True])
def test_every_sort_orders_what_is_known_and_puts_the_rest_last(catalog, sort, reverse):
    everything = find_offers(OfferQuery(provider=("aws",), option=("on_demand",), sort=sort, reverse=reverse), catalog)
    key, largest_first = SORTS[sort]
    values = [key(row) for row in everything.rows]
    known = [value for value in values if value is not None]
    assert values == known + [None] * everything.unsorted
    assert known == sorted(known, reverse=largest_first != reverse)
    assert len(values) == everything.total


@pytest.mark.slow
def test_sorting_drops_no_row(catalog):
    totals = {sort: find_offers(OfferQuery(sort=sort), catalog).total for sort in SORTS}
    assert set(totals.values()) == {len(catalog.quotes())}


def test_an_unknown_rate_is_counted_not_dropped(catalog):
    found = find_offers(OfferQuery(accelerator=("V100-16GB-SXM2",), sort="price_per_rate", precision="fp8"), catalog)
    assert found.unsorted == found.total > 0


def test_the_limit_cuts_after_sorting_and_tells_the_total(catalog):
    everything = find_offers(OfferQuery(sort="price_per_memory"), catalog)
    some = find_offers(OfferQuery(sort="price_per_memory", limit=7), catalog)
    assert some.rows == everything.rows[:7]
    assert (some.total, some.unsorted) == (everything.total, everything.unsorted)


def test_a_bare_model_is_all_its_variants(catalog):
    query = parse_offer_query({"accelerator": ["H100"]}, catalog)
    assert len(query.accelerator) > 1
    assert all(name.startswith("H100") for name in query.accelerator)


def test_offerings_without_a_price_are_named(catalog):
    found = find_offers(OfferQuery(), catalog)
    assert {(gap.provider, gap.instance_type) for gap in found.gaps} <= {o.key for o in catalog.unpriced()}
    assert found.gaps
    spot = find_offers(
        parse_offer_query({"accelerator": ["T4"], "option": ["spot"], "provider": ["aws"]}, catalog), catalog
    )
    assert {gap.instance_type for gap in spot.gaps} >= {"g4dn.xlarge"}
    assert {gap.reason for gap in spot.gaps} == {"no price for spot"}


def test_filters_narrow(catalog):
    for row in rows(catalog, min_memory_gib=80, min_count=4, provider=("aws", "gcp")):
        assert row.accelerator_memory_gib >= 80
        assert row.accelerator_count >= 4
        assert row.provider in {"aws", "gcp"}
    for row in rows(catalog, min_memory_gib_per_node=1000):
        assert row.memory_gib_per_node >= 1000


def test_every_fault_of_a_query_is_told_at_once(catalog):
    given = {
        "accelerator": ["H1000"], "provider": ["awz"], "region": ["us-esat-1"], "option": ["spto"], "count": ["eight"],
        "min_count": ["0"], "limit": ["1.5"], "sort": ["prize"], "precision": ["int3"], "reverse": ["maybe"],
        "gpu": ["x"],
    }  # fmt: skip
    with pytest.raises(InvalidRequest) as refused:
        parse_offer_query(given, catalog, lambda name: f"?{name}")
    assert {complaint.place for complaint in refused.value.complaints} == {f"?{name}" for name in given}
    assert all(complaint.value and complaint.expected for complaint in refused.value.complaints)


def test_a_retired_type_is_answered_with_its_successor_or_its_absence(catalog):
    retired = [offering for offering in catalog.offerings.values() if offering.status == "retired"]
    assert retired
    for offering in retired:
        found = find_offers(parse_offer_query({"type": [offering.instance_type]}, catalog), catalog)
        assert not found.rows
        [answer] = found.retired
        assert (answer.provider, answer.instance_type, answer.successor) == (*offering.key, offering.successor or "")


RETIRED = [
    # what was asked; what it was; since when it is not sold; what instead, and its lowest price on demand, by hand
    (("--type", "Standard_NC6s_v3"), "1 x V100-16GB-PCIe", "2025-09-30", "Standard_NC24ads_A100_v4", "3.6730"),
    (("--type", "p2.xlarge"), "1 x K80-12GB-die", "", "p3.2xlarge", "3.0600"),
    (("--type", "eg1.medium"), "Elastic Graphics", "2024-01-08", "g4dn.xlarge", "0.5260"),
    (("--type", "EIA2.large"), "Elastic Inference", "2024-04", "inf2.xlarge", "0.7582"),
    (("--accelerator", "MI25"), "1/8 x MI25-16GB", "2026-09-30", "Standard_NV6ads_A10_v5", "0.4540"),
    (("--type", "Standard_NC24"), "4 x K80-12GB-die", "2022-08-31", "Standard_NC64as_T4_v3", "4.3520"),
]


@pytest.mark.parametrize(("asked", "what", "ended", "successor", "price"), RETIRED)
def test_what_has_ended_says_what_it_was_until_when_and_what_is_there_instead(
    planner, asked, what, ended, successor, price
):
    ran = planner("offers", *asked)
    assert ran.code == 0
    since = f", not sold since {ended}" if ended else ""
    line = next(line for line in ran.out.splitlines() if f"({what})" in line)
    assert f"({what}){since}; instead {successor}, from {price}" in line


def test_a_card_that_nobody_rents_is_said_to_be_so(planner):
    out = planner("offers", "--accelerator", "GTX 1080").out
    assert "no provider of the catalogue rents GTX-1080-8GB (list price of one 599 USD in 2016): `systems`" in out
    assert "no provider" not in planner("offers", "--accelerator", "K80,T4").out


def test_an_offer_says_whether_and_within_which_limits_it_is_sold(planner):
    out = planner("offers", "--type", "a3-highgpu-1g", "--region", "us-central1").out
    sold = {line.split()[5]: line.split()[-1] for line in out.splitlines() if line.startswith("gcp")}
    assert sold == {"on_demand": "no", "committed_use_1y": "no", "committed_use_3y": "no", "spot": "yes"}
    out = planner("offers", "--type", "p5.48xlarge", "--option", "capacity_block", "--region", "us-east-1").out
    assert "yes, 1 to 182 days; ordered at most 56 days ahead; at most 64 nodes an order" in out


def test_retired_types_are_never_offered(catalog):
    assert all(row.status != "retired" for row in rows(catalog))


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), st.lists(st.text(max_size=12), max_size=3)))
def test_any_text_is_a_query_or_refused_with_its_place(given):
    catalog = Catalog.embedded()
    try:
        query = parse_offer_query(given, catalog)
    except InvalidRequest as error:
        places = {complaint.place for complaint in error.complaints}
    else:
        find_offers(query, catalog)
        places = set()
    assert places <= set(given)


def test_the_command_prints_a_table_with_source_and_date(planner):
    ran = planner("offers", "--accelerator", "H100", "--count", "8", "--limit", "3", "--sort", "price_per_accelerator")
    assert ran.code == 0
    head, *body = ran.out.splitlines()
    assert head.split()[:4] == ["provider", "region", "type", "accelerator"]
    assert len(body[:3]) == 3
    for line in body[:3]:
        assert re.search(r" \d{4}-\d\d-\d\d +[a-z-]+", line), "a date and a source"
    assert "3 of " in ran.out
    assert "unknown, never zero" in ran.out


def test_fractions_are_printed_as_fractions(planner):
    ran = planner("offers", "--type", "Standard_NV6ads_A10_v5", "--limit", "1")
    assert ran.out.splitlines()[1].split()[4] == "1/6"


def test_the_command_as_json_and_csv(planner):
    arguments = ("offers", "--accelerator", "L4", "--option", "spot", "--limit", "5")
    document = json.loads(planner(*arguments, "--json").out)
    table = list(csv.DictReader(io.StringIO(planner(*arguments, "--csv").out)))
    assert len(document["rows"]) == len(table) == 5
    for row, line in zip(document["rows"], table, strict=True):
        assert float(line["price_per_hour"]) == row["price_per_hour"] > 0
        assert line["as_of"] == row["as_of"]
        assert row["source"]
    assert document["total"] >= 5
    assert document["catalog_digest"]


def test_the_command_refuses_unknown_names_all_at_once(planner):
    ran = planner(
        "offers", "--accelerator", "H1000", "--region", "us-esat-1", "--sort", "prize", "--json", "--limit", "x"
    )
    assert ran.code == 2
    assert ran.out == ""
    for piece in ("--accelerator: unknown accelerator; read H1000", "H100", "--region: ", "--sort: ", "--limit: "):
        assert piece in ran.err


def test_nothing_that_fits_is_an_answer(planner):
    ran = planner("offers", "--accelerator", "H100", "--count", "7")
    assert ran.code == 0
    assert ran.out.startswith("no offering with a price fits")


@pytest.mark.slow
def test_a_machine_with_cpus_only_is_shown_where_its_type_is_named(planner):
    (row,) = json.loads(planner("offers", "--type", "c7a.16xlarge", "--json").out)["rows"]
    assert (row["kind"], row["accelerator"], row["accelerator_count"]) == ("cpu", "", 0)
    assert (row["vcpus"], row["host_memory_gib"], row["price_per_hour"]) == (64, 128, 3.28448)
    assert (row["as_of"], row["source_id"]) == ("2026-07-20", "karp-aws")
    assert "CPU only (64 vCPUs, 128 GiB)" in planner("offers", "--type", "c7a.16xlarge").out
    assert not [r for r in json.loads(planner("offers", "--json").out)["rows"] if r["kind"] != "accelerator"]


def test_machines_are_asked_for_by_kind_and_size(planner):
    size = ("--min-vcpus", "64", "--min-host-memory-gib", "512", "--option", "on_demand")
    rows = json.loads(planner("offers", "--kind", "cpu", *size, "--json").out)["rows"]
    assert rows
    assert all(row["kind"] == "cpu" and row["vcpus"] >= 64 and row["host_memory_gib"] >= 512 for row in rows)
    assert [row["price_per_hour"] for row in rows] == sorted(row["price_per_hour"] for row in rows)
    fpgas = json.loads(planner("offers", "--kind", "fpga", "--json").out)["rows"]
    # F1 and F2 of AWS once each, NP10s, NP20s and NP40s of Azure in seven regions on demand and spot
    assert len(fpgas) == 6 + 3 * 7 * 2
    assert {row["accelerator_count"] for row in fpgas} == {1, 2, 4, 8}
    refused = planner("offers", "--kind", "gpu")
    assert (refused.code, "one of accelerator, cpu, fpga" in refused.err) == (2, True)
