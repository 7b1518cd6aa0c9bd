"""Terms of sale and fabrics: how the words of a source become columns, and what the shipped tables say."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from pricing.catalog.price_catalog import Catalog
from pricing.csv_tables import TableRow
from pricing.fabric import unknown_fabric
from pricing.sale import TOLD, SaleTerm, build_told_term, find_sale_term, merge_told_terms
from tools.importer import import_facts
from tools.importer.fabrics import build_fabric
from tools.importer.sale_terms import build_sale_terms, tidy_source

TODAY = date(2026, 11, 21)
TYPES = {
    "aws": ["p5.48xlarge", "p5e.48xlarge", "g5.xlarge"],
    "azure": ["Standard_NC6s_v3", "Standard_NC12s_v3", "Standard_NV6"],
    "gcp": ["a3-highgpu-1g", "a3-highgpu-8g", "a4-highgpu-8g", "a4x-highgpu-4g"],
}
REGIONS = {
    "aws": {"us-east-1": "N. Virginia", "us-east-2": "Ohio"},
    "azure": {"uaenorth": "UAE North", "usgovvirginia": "US Gov Virginia", "usgovarizona": "US Gov Arizona"},
    "gcp": {"us-east5": "Columbus"},
}
OPTIONS = {"gcp": {"reserved_1y": "committed_use_1y"}}


def row(line: int, faults: list[str], **cells: str) -> TableRow:
    from pathlib import Path

    empty = dict.fromkeys(("constraint", "regions_or_zones"), "")
    about = {"source": "a page", "date": "2026-04-13", "confidence": "vendor page"}
    return TableRow(Path("facts/sold_how.csv"), line, {**empty, **about, **cells}, faults)


def build(*rows: dict[str, str], families: tuple[dict[str, str], ...] = ()):
    faults: list[str] = []
    table = [row(number, faults, **cells) for number, cells in enumerate(rows, 2)]
    named = [row(number, faults, **cells) for number, cells in enumerate(families, 2)]
    terms, left = build_sale_terms(table, named, TYPES, REGIONS, OPTIONS)
    return {term.key: term for term in terms}, left, faults


def test_a_pattern_is_every_type_that_it_matches_and_a_narrower_name_holds_against_it():
    terms, _, faults = build(
        {"provider": "gcp", "instance_type": "a3-*, a4-*", "purchase_option": "calendar", "sold": "yes"},
        {"provider": "gcp", "instance_type": "a3-highgpu-1g", "purchase_option": "calendar", "sold": "no"},
    )
    assert not faults
    sold = {key[1]: term.sold for key, term in terms.items()}
    assert sold == {"a3-highgpu-1g": False, "a3-highgpu-8g": True, "a4-highgpu-8g": True}


def test_two_rows_of_one_rank_that_disagree_are_a_fault_and_a_definite_answer_holds_against_none():
    yes, no, unsaid = (
        {"provider": "aws", "instance_type": "p5.48xlarge", "purchase_option": "spot", "sold": sold}
        for sold in ("yes", "no", "")
    )
    assert build(yes, unsaid)[0]["aws", "p5.48xlarge", "spot", ""].sold is True
    assert build(unsaid, no)[0]["aws", "p5.48xlarge", "spot", ""].sold is False
    assert build(unsaid)[0]["aws", "p5.48xlarge", "spot", ""].sold is None
    assert build(yes, no)[2] == [
        "facts/sold_how.csv:3: aws p5.48xlarge spot is sold: 'no', unlike facts/sold_how.csv:2"
    ]


LIMITS = [
    ("max run 7 days; best effort", {"max_days": 7, "queued": True}),
    (
        "1 to 90 days; start visible up to 60 days ahead (GPU); 1 to 80 GPU VMs a request",
        {"min_days": 1, "max_days": 90, "order_ahead_days": 60, "max_nodes": 80},
    ),
    (
        "durations 1-14 days then multiples of 7 up to 182; start at most 8 weeks ahead; at most 64 instances a block",
        {"min_days": 1, "max_days": 182, "order_ahead_days": 56, "max_nodes": 64},
    ),
    ("only with an attached reservation (GPU and Local SSD)", {"needs_reservation": True}),
    ("1 to 90 days; look ahead 1 to 120 days", {"min_days": 1, "max_days": 90, "order_ahead_days": 120}),
]


@pytest.mark.parametrize(("words", "columns"), LIMITS)
def test_limits_in_words_become_columns(words, columns):
    cells = {"provider": "aws", "instance_type": "p5.48xlarge", "purchase_option": "spot", "sold": "yes"}
    terms, left, _ = build({**cells, "constraint": words})
    (term,) = terms.values()
    limits = ("min_days", "max_days", "order_ahead_days", "max_nodes", "needs_reservation", "queued")
    assert {name: getattr(term, name) for name in limits if getattr(term, name)} == columns
    assert not left


def test_what_is_not_understood_is_counted():
    cells = {"provider": "aws", "purchase_option": "spot", "sold": "yes"}
    left = build(
        {**cells, "instance_type": "p5.48xlarge", "constraint": "paid in gold"},
        {**cells, "instance_type": "x9.large", "regions_or_zones": "us-east-1-atl-2a"},
    )[1]
    assert left == {
        "limit in words, not needed or not understood: paid in gold": 1,
        "name that means no offering: aws x9.large": 1,
        "place that is no region of the catalogue: us-east-1-atl-2a": 1,
    }


def test_a_retirement_is_about_every_option_and_has_its_exceptions_by_place():
    terms, left, _ = build(
        {
            "provider": "azure",
            "instance_type": "Standard_NC6s_v3, NC12s_v3 (V100)",
            "purchase_option": "on_demand",
            "sold": "no",
            "constraint": "retired 2025-09-30; successor NCads_H100_v5; US Gov Virginia and Arizona until 2026-12-31",
        },
        {"provider": "azure", "instance_type": "Standard_N*", "purchase_option": "reserved_1y", "sold": "yes"},
    )
    everywhere = terms["azure", "Standard_NC12s_v3", "", ""]
    assert (everywhere.sold, everywhere.ends, everywhere.successor) == (False, date(2025, 9, 30), "NCads_H100_v5")
    assert everywhere.state(TODAY) == "ended"
    for region in ("usgovvirginia", "usgovarizona"):
        there = terms["azure", "Standard_NC6s_v3", "", region]
        assert (there.ends, there.state(TODAY), there.state(date(2026, 12, 31))) == (
            date(2026, 12, 31),
            "confirmed",
            "ended",
        )
    reserved = [key for key in terms if key[2] == "reserved_1y"]
    assert reserved == [("azure", "Standard_NV6", "reserved_1y", "")], "not of what is retired"
    assert left == {"term of a whole series for a retired type of it": 2}


def test_savings_plans_are_of_two_kinds_and_a_kind_that_is_not_sold_is_said():
    plan = {"provider": "aws", "purchase_option": "savings_plan", "sold": "yes"}
    both = "1 year: EC2 Instance plan; 3 years: EC2 Instance plan"
    compute = "1 year: only the Compute plan (no 1-year EC2 Instance plan, no RI); 3 years: EC2 Instance plan"
    terms, _, _ = build(
        {**plan, "instance_type": "p5.48xlarge", "constraint": both},
        {**plan, "instance_type": "p5e.48xlarge", "constraint": compute},
    )
    assert terms["aws", "p5.48xlarge", "savings_plan_1y_instance", ""].sold is True
    assert terms["aws", "p5e.48xlarge", "savings_plan_1y_instance", ""].sold is False
    assert terms["aws", "p5e.48xlarge", "savings_plan_1y_compute", ""].sold is True
    assert terms["aws", "p5e.48xlarge", "savings_plan_3y_instance", ""].sold is True


def test_places_are_regions_with_their_zones_and_where_a_price_was_read_is_no_limit():
    cells = {"purchase_option": "calendar", "sold": "yes"}
    terms, _, _ = build(
        {
            **cells,
            "provider": "gcp",
            "instance_type": "a4-highgpu-8g",
            "regions_or_zones": "us-east5-a, us-east5-b (BATCH)",
        },
        {**cells, "provider": "aws", "instance_type": "p5.48xlarge", "regions_or_zones": "us-east-1 rates read"},
    )
    assert terms["gcp", "a4-highgpu-8g", "calendar", "us-east5"].zones == ("us-east5-a", "us-east5-b")
    assert ("aws", "p5.48xlarge", "calendar", "") in terms


def test_a_source_is_named_without_remarks_on_its_copy():
    assert tidy_source("docs.aws (copy; purchase (copy, id 62457733981)") == "docs.aws"
    assert tidy_source("quotas, cited in id 56844157370") == "quotas"
    assert tidy_source("a/b@7; a stored copy, its icons lost") == "a/b@7"
    assert tidy_source("Terraform (ids 3581123001, 3481450927)") == "Terraform"


NODES = [
    ("InfiniBand", "100 VMs in one scale set with a single placement group by default, 300 on request", 100),
    ("EFA", "no stated limit in a zone", None),
    ("EFA", "64 instances in one capacity block, 256 across blocks on a date; else no stated limit in a zone", None),
    (
        "InfiniBand",
        "18 VMs (72 GPUs) of one NVL72 rack over NVLink; further over InfiniBand in the same scale set",
        None,
    ),
    ("none", "1 (no RDMA); compact placement over TCP", 1),
    ("none", "compact placement over TCP", 1),
    ("ICI", "16 VMs", 1),  # a slice is one node here
]


@pytest.mark.parametrize(("rdma", "words", "joined"), NODES)
def test_the_nodes_that_one_fabric_joins(rdma, words, joined):
    cells = dict.fromkeys(("nics", "tpu_topology", "tpu_hosts", "gke_machine_type"), "")
    fact = row(2, [], provider="aws", network_gbps="400", rdma=rdma, rdma_gbps="400", nodes_per_domain=words, **cells)
    fabric = build_fabric(fact, "p5.48xlarge")
    assert fabric.nodes_joined == joined
    assert fabric.joins(1)
    assert fabric.joins(2) == (joined != 1)
    if joined and joined > 1:
        assert fabric.joins(joined)
        assert not fabric.joins(joined + 1)


def test_a_type_of_which_no_source_tells_the_fabric_stands_alone():
    fabric = unknown_fabric("aws", "p2.xlarge", 10.0)
    assert fabric.joins(1)
    assert not fabric.joins(2)


def test_terms_and_fabrics_come_with_the_catalogue(small, tmp_path):
    import_facts(small.facts, small.target, small.curated)
    catalog = Catalog.read(small.target, tmp_path / "cache")
    prices = {quote.price.key[1:]: quote for quote in catalog.quotes()}
    committed = prices["here-1", "a.large", "committed_use_1y"].sale
    assert committed is not None
    assert committed.needs_reservation
    assert committed.source == "a page"
    assert prices["here-1", "a.large", "on_demand"].sale is None
    spot = prices["there-1", "a.sixth", "spot"].sale
    assert spot is not None
    assert (spot.queued, spot.max_days) == (True, 7)
    large, sixth = (catalog.fabric(catalog.offerings["acme", name]) for name in ("a.large", "a.sixth"))
    assert (large.rdma, large.nodes_joined, large.network_interfaces) == ("InfiniBand", 100, 4)
    assert (sixth.rdma, sixth.nodes_joined, sixth.network_gbps) == ("", 1, None)


def test_a_provider_folder_may_say_itself_how_its_types_are_sold(small, tmp_path):
    import_facts(small.facts, small.target, small.curated)
    shared = (small.target / "data/sale.csv").read_text().splitlines()
    own = next(line for line in shared if ",a.sixth,spot,there-1," in line).replace(",yes,,7,", ",no,,,")
    (small.target / "providers/acme/sale.csv").write_text(f"{shared[0]}\n{own}\n")
    catalog = Catalog.read(small.target, tmp_path / "cache")
    term = catalog.quotes(instance_types=["a.sixth"])[0].sale
    assert term is not None
    assert term.state(TODAY) == "not_sold"


def test_every_price_has_the_term_that_its_type_gives_it(catalog):
    """Quotes keep what was found; without it each price is looked for among all terms of its type."""
    quotes = catalog.quotes(include_retired=True, include_parts=True)
    assert any(quote.sale is not None and quote.sale.region for quote in quotes)
    for quote in quotes:
        assert quote.sale == find_sale_term(quote.price, catalog.sale_terms(*quote.offering.key))


# What the shipped tables say, each from the page that the row names


def state(catalog: Catalog, provider: str, region: str, instance_type: str, option: str) -> str:
    offering = catalog.offerings[provider, instance_type]
    quote = next(q for q in catalog.by_option(offering)[option] if q.price.region == region)
    return "no row" if quote.sale is None else quote.sale.state(TODAY)


SHIPPED = [
    ("gcp", "us-central1", "a3-highgpu-1g", "on_demand", "not_sold"),
    ("gcp", "us-central1", "a3-highgpu-1g", "spot", "confirmed"),
    ("gcp", "us-central1", "a3-highgpu-1g", "committed_use_3y", "not_sold"),
    ("gcp", "us-central1", "a3-highgpu-8g", "on_demand", "confirmed"),
    ("gcp", "us-central1", "a3-ultragpu-8g", "on_demand", "not_sold"),
    ("gcp", "us-central1", "a3-ultragpu-8g", "committed_use_1y", "confirmed"),
    ("gcp", "us-central1", "a4-highgpu-8g", "calendar", "confirmed"),
    ("aws", "us-east-1", "p5.48xlarge", "savings_plan_3y_instance_no_upfront", "confirmed"),
    ("aws", "us-east-1", "p6-b200.48xlarge", "on_demand", "confirmed"),
    ("azure", "eastus", "Standard_ND96isr_H100_v5", "reserved_3y", "confirmed"),
    ("azure", "eastus", "Standard_ND96isr_H100_v5", "spot", "no row"),
]


@pytest.mark.parametrize(("provider", "region", "instance_type", "option", "expected"), SHIPPED)
def test_shipped_prices_are_sold_as_their_sources_say(catalog, provider, region, instance_type, option, expected):
    assert state(catalog, provider, region, instance_type, option) == expected


JOINED = [
    ("azure", "Standard_ND96isr_H100_v5", "InfiniBand", 3200, 100),
    ("azure", "Standard_ND96is_H100_v5", "", None, 1),
    ("azure", "Standard_ND96ams_A100_v4", "", None, 1),
    ("aws", "p5.48xlarge", "EFA", 3200, None),
    ("aws", "g5.xlarge", "", None, 1),
    ("gcp", "a3-megagpu-8g", "GPUDirect-TCPXO", 1600, None),
    ("gcp", "tpu-v5litepod-64", "ICI", None, 1),
]


@pytest.mark.parametrize(("provider", "instance_type", "rdma", "rdma_gbps", "joined"), JOINED)
def test_shipped_types_are_joined_as_their_sources_say(catalog, provider, instance_type, rdma, rdma_gbps, joined):
    fabric = catalog.fabric(catalog.offerings[provider, instance_type])
    assert (fabric.rdma, fabric.rdma_gbps, fabric.nodes_joined) == (rdma, rdma_gbps, joined)


NETWORKS = {
    "g6e.24xlarge": 200,
    "g6e.48xlarge": 400,
    "p6-b200.48xlarge": 3200,
    "p6-b300.48xlarge": 6400,
    "trn2.3xlarge": 200,
}


def test_network_speeds_are_those_of_the_fabric(catalog):
    assert {name: catalog.offerings["aws", name].network_gbps for name in NETWORKS} == NETWORKS


# What a refresh is told, beside what the tables say


def term(option: str, region: str = "", sold: bool | None = True, **more: object) -> SaleTerm:
    plain = build_told_term(("gcp", "a3-highgpu-8g"), region, option, ("a page", TODAY), sold=sold)
    return replace(plain, confidence="vendor page", **more)


def tell(option: str, region: str = "us-central1", **more: object) -> SaleTerm:
    return build_told_term(("gcp", "a3-highgpu-8g"), region, option, ("the API", TODAY), **more)


def test_only_what_differs_from_the_tables_is_added():
    known = [term("on_demand"), term("spot", sold=False)]
    assert merge_told_terms(known, [], [tell("on_demand", sold=True), tell("spot", sold=False), tell("")]) == ()
    (news,) = merge_told_terms(known, [], [tell("spot", sold=True)])
    assert (news.key[2:], news.sold, news.source, news.checked) == (
        ("spot", "us-central1"),
        True,
        "the API",
        "2026-11-21",
    )
    assert news.confidence == TOLD


def test_the_end_of_a_type_ends_every_way_of_paying_and_keeps_each_as_it_is_sold():
    """A term for a region counts before one for everywhere: without its copies the end would hide that on demand is
    not sold, and the limit of flex-start."""
    end = date(2027, 3, 31)
    known = [term("on_demand", sold=False), term("flex_start", max_days=7, queued=True), term("spot", "us-east1")]
    added = {t.purchase_option: t for t in merge_told_terms(known, [], [tell("", ends=end, successor="a4-highgpu-8g")])}
    assert set(added) == {"", "on_demand", "flex_start"}, "spot is told of another region"
    assert {t.ends for t in added.values()} == {end}
    assert {t.successor for t in added.values()} == {"a4-highgpu-8g"}
    assert (added["on_demand"].sold, added[""].sold, added["flex_start"].sold) == (False, None, True)
    assert (added["flex_start"].max_days, added["flex_start"].queued) == (7, True)
    assert added["flex_start"].source == "the API; limits: a page"


def test_a_way_of_paying_that_is_sold_here_too_has_the_limits_of_elsewhere():
    known = [
        term("capacity_block", "us-east1", max_days=182, order_ahead_days=56, max_nodes=64),
        term("capacity_block", sold=False),
    ]
    (news,) = merge_told_terms(known, [], [tell("capacity_block", sold=True)])
    assert (news.region, news.sold) == ("us-central1", True)
    assert (news.max_days, news.order_ahead_days, news.max_nodes) == (182, 56, 64)


def test_what_was_told_before_stays_until_it_is_told_again():
    before = merge_told_terms([], [], [tell("spot", sold=False), tell("spot", "us-east1", sold=False)])
    assert len(before) == 2
    assert merge_told_terms([], before, []) == before
    (left,) = merge_told_terms([], before, [tell("spot")])
    assert left.region == "us-east1", "the API says nothing against spot in us-central1 any more"
    assert merge_told_terms([], before, [tell("", "us-central1")]) == (left,)
