"""Fact tables -> catalogue: what arrives, that nothing is lost, that nothing changes twice, and every complaint."""

from __future__ import annotations

from datetime import date

import pytest

from pricing.catalog.price_catalog import ROOT, Catalog
from pricing.errors import InvalidSnapshot
from pricing.offering import Offering
from pricing.regions import GridCarbon
from tools.importer import import_facts


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def complaints(small):
    before = tree(small.target)
    with pytest.raises(InvalidSnapshot) as caught:
        import_facts(small.facts, small.target, small.curated)
    assert tree(small.target) == before, "nothing is written when anything is wrong"
    return caught.value.faults


def test_every_row_arrives_or_is_counted(small, tmp_path):
    report = import_facts(small.facts, small.target, small.curated)
    assert (report.providers, report.offerings, report.prices, report.regions) == (("acme",), 4, 6, 2)
    assert report.options == ("committed_use_1y", "committed_use_3y", "on_demand", "spot")
    assert (report.accelerators, report.systems, report.superseded, report.suspect) == (4, 2, 1, 2)
    assert report.no_folder == 1, "a row of a cloud that the target does not have"
    assert report.tiers_read == 7
    assert report.tiers_left == {
        "a narrower price than the one plans use": 1,
        "an item that no plan uses": 1,
        "another source has more steps": 1,
    }
    assert report.tiers_used == 4
    assert (report.oldest, report.newest) == (date(2017, 11, 12), date(2026, 9, 1))
    made = Catalog.read(small.target, tmp_path / "cache")
    assert made.offerings["acme", "a.large"] == Offering(
        provider="acme",
        family="A",
        instance_type="a.large",
        accelerator="X1-16GB-SXM",
        accelerator_count=8,
        accelerator_memory_gib=16,
        vcpus=64,
        memory_gib=1360,
        local_ssd_gb=None,
        network_gbps=400,
        interconnect="",
        status="current",
        successor=None,
        source_id="src1+src2",
        part=False,
    )
    assert made.offerings["acme", "a.sixth"].accelerator_count == 1 / 6
    old = made.offerings["acme", "b.old"]
    assert (old.accelerator, old.accelerator_count, old.successor) == ("X1-16GB-PCIe", None, "a.large")
    assert [q.offering.instance_type for q in made.quotes()] == ["a.sixth", "a.large", "a.large", "a.large"]
    assert [q.offering.instance_type for q in made.quotes(include_parts=True)] == [
        "a.sixth",
        "c.card",
        "a.large",
        "a.large",
        "a.large",
    ]
    assert made.sources["src1+src2"].as_of == date(2026, 5, 20)
    box = {s.name: s for s in made.systems}
    assert (box["Box 8"].price_as_of, box["Box 8"].sold) == (date(2020, 5, 14), True)
    assert (box["Box 16"].price, box["Box 16"].price_as_of, box["Box 16"].sold) == (None, None, None)


def test_machines_without_an_accelerator_are_no_offerings(small, tmp_path):
    assert import_facts(small.facts, small.target, small.curated).machines == 2
    made = Catalog.read(small.target, tmp_path / "cache")
    by_type = {each.instance_type: each for each in made.machines}
    assert (by_type["h.big"].kind, by_type["h.big"].vcpus, by_type["h.big"].source_id) == ("cpu", 64, "guide")
    assert (by_type["f.one"].kind, by_type["f.one"].vcpus, by_type["f.one"].fpga_count) == ("fpga", None, 2)
    assert ("acme", "h.big") not in made.offerings, "no plan can rent it"


def test_tiers_are_numeric_and_say_where_the_source_ends(small, tmp_path):
    import_facts(small.facts, small.target, small.curated)
    made = Catalog.read(small.target, tmp_path / "cache")
    # the source with more steps wins though it is older: 0 and 10 TB = 10 x 1,024 GB
    here = made.tiers("acme", "here-1", "egress_internet")
    assert [(t.from_gb, t.price_per_gb, t.as_of) for t in here] == [
        (0, 0.09, date(2024, 9, 25)),
        (10240, 0.085, date(2024, 9, 25)),
    ]
    assert here[0].note == ""
    assert here[1].note == "the source has no price from 51200 GB on: this one goes on"
    south = made.tiers("acme", "there-1", "egress_internet")
    assert [t.price_per_gb for t in south] == [0.2]
    assert made.tiers("acme", "there-1", "block_storage") == ()
    assert made.reference_tiers("acme", "egress_internet") == here
    assert made.reference_tiers("acme", "block_storage") == ()


def test_carbon_intensity_is_that_of_regions_of_the_catalogue(small, tmp_path):
    report = import_facts(small.facts, small.target, small.curated)
    made = Catalog.read(small.target, tmp_path / "cache")
    assert (report.grids, report.grids_read) == (1, 2)
    assert made.grid_carbon == {("acme", "here-1"): GridCarbon("acme", "here-1", 379.069, "2021-2022", "a repository")}


def test_a_second_run_changes_nothing_and_rows_may_come_in_any_order(small):
    first = import_facts(small.facts, small.target, small.curated)
    made = tree(small.target)
    assert set(first.changed) == {
        name for name in made if name.endswith(("offerings.csv", "prices.csv", "tiers.csv", "history.csv"))
    } | {
        "data/accelerators.csv",
        "data/machines.csv",
        "data/fabric.csv",
        "data/grid_carbon.csv",
        "data/sale.csv",
        "data/sources.csv",
        "data/systems.csv",
        "providers/acme/snapshot.toml",
    }
    assert import_facts(small.facts, small.target, small.curated).changed == ()
    assert tree(small.target) == made
    prices = small.facts / "prices.csv"
    head, *rows = prices.read_text().splitlines(keepends=True)
    prices.write_text(head + "".join(reversed(rows)))
    assert import_facts(small.facts, small.target, small.curated).changed == ("providers/acme/snapshot.toml",), (
        "only the facts' hash"
    )


def test_superseded_prices_are_kept_apart_from_those_that_plans_use(small, tmp_path):
    import_facts(small.facts, small.target, small.curated)
    assert (small.target / "providers/acme/history.csv").read_text().splitlines() == [
        "region,instance_type,purchase_option,price_per_hour,currency,since,source_id,note",
        "here-1,a.large,on_demand,12,USD,2025-01-31,src2,commit 0ef00abbe",
    ]
    quotes = Catalog.read(small.target, tmp_path / "cache").quotes(instance_types=["a.large"], options=["on_demand"])
    assert [q.price.price_per_hour for q in quotes] == [8.5]


def test_a_price_may_have_been_superseded_twice_but_not_on_one_day(small):
    table = small.facts / "price_history.csv"
    table.write_text(table.read_text() + "acme,here-1,a.large,on_demand,11,2025-03-31,src2,\n")
    assert import_facts(small.facts, small.target, small.curated).superseded == 2
    table.write_text(table.read_text() + "acme,here-1,a.large,on_demand,10,2025-03-31,src2,\n")
    assert complaints(small) == ("facts/price_history.csv:4: the same price is listed in facts/price_history.csv:3",)


def test_a_price_far_from_those_of_other_regions_or_of_before_is_a_fault(small):
    table = small.facts / "prices.csv"
    regions = (small.target / "providers/acme/regions.csv").read_text()
    (small.target / "providers/acme/regions.csv").write_text(regions + "far-1,Far,ZA,,guide\nfar-2,Far,ZA,,guide\n")
    for place, price in (("there-1", 8.0), ("far-1", 9.0), ("far-2", 3.0)):  # the median of 8.5, 8, 9 and 3 is 8.25
        table.write_text(f"{table.read_text()}acme,{place},a.large,on_demand,{price},2026-07-20,src1,listed,2,\n")
    [told] = complaints(small)
    assert told.endswith(
        "acme a.large far-2 on_demand is 0.36 of the median of 4 regions: exclude it with a reason, or correct it"
    )
    (small.curated / "excluded_prices.csv").write_text(
        "provider,region,instance_type,purchase_option,why\nacme,far-2,a.large,on_demand,odd\n"
    )
    assert import_facts(small.facts, small.target, small.curated).suspect == 3
    history = small.facts / "price_history.csv"
    history.write_text(history.read_text().replace(",12,", ",40,"))
    [told] = complaints(small)
    assert "is 0.21 of the price of 2025-01-31" in told


def test_a_rule_that_excludes_nothing_is_a_fault(small):
    (small.curated / "excluded_prices.csv").write_text(
        "provider,region,instance_type,purchase_option,why\nacme,*,z.*,on_demand,odd\n"
    )
    assert complaints(small) == ("curated/excluded_prices.csv:2: excludes no price",)


def test_hand_kept_files_are_never_written(small):
    kept = {name: content for name, content in tree(small.target).items() if name != "nothing"}
    import_facts(small.facts, small.target, small.curated)
    after = tree(small.target)
    assert {name: after[name] for name in kept} == kept


FACT_FAULTS = [
    ("offerings.csv", 2, "accelerator", "X2", "facts/offerings.csv:2: unknown accelerator 'X2'"),
    ("offerings.csv", 3, "instance_type", "a.large", "facts/offerings.csv:3: acme a.large is listed twice"),
    ("offerings.csv", 2, "accelerator_count", "0.29", "facts/offerings.csv:2: accelerator_count is '0.29'"),
    ("offerings.csv", 2, "accelerator_count", "-1", "facts/offerings.csv:2: accelerator_count is '-1'"),
    ("offerings.csv", 2, "vcpus", "many", "facts/offerings.csv:2: vcpus is 'many', expected a number"),
    ("offerings.csv", 2, "provider", "zeus", "facts/offerings.csv:2: provider 'zeus' has no folder"),
    ("offerings.csv", 2, "source_ids", "src1+src9", "facts/offerings.csv:2: source_ids 'src9' is not in sources.csv"),
    ("offerings.csv", 2, "status", "ancient", "acme/offerings.csv:2: status is 'ancient', expected one of"),
    (
        "prices.csv",
        2,
        "price_usd_per_hour",
        "0",
        "facts/prices.csv:2: price_usd_per_hour is '0', expected a number above 0",
    ),
    ("prices.csv", 2, "price_usd_per_hour", "nan", "facts/prices.csv:2: price_usd_per_hour is 'nan'"),
    ("prices.csv", 2, "price_usd_per_hour", "", "facts/prices.csv:2: price_usd_per_hour is ''"),
    ("prices.csv", 2, "purchase_option", "lease_2y", "facts/prices.csv:2: purchase_option 'lease_2y' is unknown"),
    (
        "prices.csv",
        3,
        "purchase_option",
        "on_demand",
        "facts/prices.csv:3: the same price is listed in facts/prices.csv:2",
    ),
    (
        "prices.csv",
        2,
        "instance_type",
        "a.small",
        "facts/prices.csv:2: instance_type 'a.small' is not in offerings.csv",
    ),
    ("prices.csv", 2, "region", "nowhere", "facts/prices.csv:2: region 'nowhere' is not in acme/regions.csv"),
    ("prices.csv", 2, "provider", "zeus", "facts/prices.csv:2: provider 'zeus' has no folder"),
    ("prices.csv", 2, "as_of", "last year", "facts/prices.csv:2: as_of is 'last year', expected a date"),
    ("prices.csv", 2, "source_id", "rumour", "facts/prices.csv:2: source_id 'rumour' is not in sources.csv"),
    ("prices.csv", 2, "method", "guessed", "acme/prices.csv:4: method is 'guessed', expected one of listed, derived"),
    ("price_history.csv", 2, "price_usd_per_hour", "-1", "facts/price_history.csv:2: price_usd_per_hour is '-1'"),
    ("price_history.csv", 2, "first_seen", "2025", "facts/price_history.csv:2: first_seen is '2025', expected a date"),
    ("price_history.csv", 2, "instance_type", "a.tiny", "facts/price_history.csv:2: instance_type 'a.tiny' is not in"),
    ("price_history.csv", 2, "source_id", "rumour", "facts/price_history.csv:2: source_id 'rumour' is not in"),
    ("sources.csv", 3, "source_id", "src1", "facts/sources.csv:3: source 'src1' is listed twice"),
    ("sources.csv", 2, "as_of", "2026-02-30", "facts/sources.csv:2: as_of is '2026-02-30', expected a date"),
    ("accelerators.csv", 2, "memory_gib", "lots", "facts/accelerators.csv:2: memory_gib is 'lots'"),
    ("accelerators.csv", 2, "name", "Z9-4GB", "accelerators.csv: Z9-4GB is listed 2 times"),
    ("systems.csv", 2, "accelerator", "X1", "facts/systems.csv:2: accelerator 'X1' is unknown"),
    (
        "transfer_storage_prices.csv",
        2,
        "tier",
        "next 5TB",
        "facts/transfer_storage_prices.csv:2: tier 'next 5TB' of out",
    ),
    ("transfer_storage_prices.csv", 2, "unit", "tb", "facts/transfer_storage_prices.csv:2: unit is 'tb', expected gb"),
    ("transfer_storage_prices.csv", 2, "price_usd", "-1", "facts/transfer_storage_prices.csv:2: price_usd is '-1'"),
    ("transfer_storage_prices.csv", 2, "region", "mars", "facts/transfer_storage_prices.csv:2: region 'mars' is not"),
    (
        "transfer_storage_prices.csv",
        2,
        "provider",
        "zeus",
        "facts/transfer_storage_prices.csv:2: provider 'zeus' has no",
    ),
    (
        "transfer_storage_prices.csv",
        3,
        "tier",
        "first 10TB",
        "facts/transfer_storage_prices.csv:3: the same step is listed in",
    ),
    ("transfer_storage_prices.csv", 2, "tier", "over 50TB", "egress_internet of here-1 has no step from 0 on"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("table", "line", "column", "value", "expected"), FACT_FAULTS)
def test_a_fault_in_the_facts_is_named_with_its_place(small, table, line, column, value, expected):
    small.change(small.facts / table, line, column, value)
    assert any(expected in fault for fault in complaints(small)), complaints(small)


CURATED_FAULTS = [
    ("successors.csv", 2, "successor", "a.huge", "curated/successors.csv:2: instance type 'a.huge'"),
    ("successors.csv", 2, "source_id", "gossip", "curated/successors.csv:2: source_id 'gossip' is unknown"),
    ("offering_accelerators.csv", 2, "name", "X3", "curated/offering_accelerators.csv:2: accelerator 'X3' is unknown"),
]


@pytest.mark.parametrize(("table", "line", "column", "value", "expected"), CURATED_FAULTS)
def test_a_fault_in_a_curated_table_is_named_with_its_place(small, table, line, column, value, expected):
    small.change(small.curated / table, line, column, value)
    assert any(expected in fault for fault in complaints(small)), complaints(small)


MAINTAINED_FAULTS = [
    ("data/aliases.csv", 2, "name", "D3", "'D2' names 'D3', unknown"),
    ("data/aliases.csv", 2, "written", "x1", "'X1' would mean both D2-8GB-die and X1-16GB-SXM"),
    ("data/aliases.csv", 2, "units_per_chip", "2", "data/aliases.csv:2: units_per_chip goes with {n}"),
    ("providers/acme/regions.csv", 2, "country", "Germany", "acme/regions.csv:2: country is 'Germany'"),
]


@pytest.mark.parametrize(("table", "line", "column", "value", "expected"), MAINTAINED_FAULTS)
def test_a_fault_in_a_maintained_file_is_named_with_its_place(small, table, line, column, value, expected):
    small.change(small.target / table, line, column, value)
    assert any(expected in fault for fault in complaints(small)), complaints(small)


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda s: (s.facts / "prices.csv").unlink(), "facts/prices.csv: the file is missing"),
        (lambda s: (s.facts / "prices.csv").write_text(""), "facts/prices.csv:1: missing column provider, region"),
        (lambda s: (s.facts / "prices.csv").write_bytes(b"\xff\xfe\x00"), "facts/prices.csv: cannot be read"),
        (lambda s: (s.facts / "price_history.csv").unlink(), "facts/price_history.csv: the file is missing"),
        (lambda s: (s.target / "providers/acme/provider.toml").unlink(), "no provider folder with a provider.toml"),
        (
            lambda s: (s.target / "providers/acme/provider.toml").write_text("name = "),
            "acme/provider.toml: cannot be read",
        ),
        (lambda s: (s.target / "providers/acme/provider.toml").write_text('name = "acme"'), "currency is missing"),
        (lambda s: (s.target / "providers/acme/regions.csv").unlink(), "acme/regions.csv: the file is missing"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_fault(small, spoil, expected):
    spoil(small)
    assert any(expected in fault for fault in complaints(small))


@pytest.mark.parametrize("table", ["offerings.csv", "accelerators.csv", "sources.csv", "prices.csv"])
def test_what_follows_from_a_missing_table_is_not_told(small, table):
    (small.facts / table).unlink()
    assert complaints(small) == (f"facts/{table}: the file is missing",)


def test_every_missing_table_and_column_is_reported_once(tmp_path):
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/prices.csv").write_text("provider,price\naws,much\n")
    before = Catalog.embedded().digest
    with pytest.raises(InvalidSnapshot) as caught:
        import_facts(tmp_path / "facts", ROOT)
    missing = (
        "accelerators", "offerings", "sources", "systems", "transfer_storage_prices", "price_history", "price_suspect",
            "sold_how", "fabric", "term_prices", "neocloud_prices", "cpu_prices", "grid_carbon",
    )  # fmt: skip
    columns = "region, instance_type, purchase_option, price_usd_per_hour, as_of, source_id, method, note"
    expected = {f"facts/{name}.csv: the file is missing" for name in missing}
    assert set(caught.value.faults) == expected | {f"facts/prices.csv:1: missing column {columns}"}
    assert Catalog(Catalog.embedded().layout).digest == before


def test_a_row_of_another_width_and_an_unclosed_quote_are_faults(small):
    prices = small.facts / "prices.csv"
    prices.write_text(prices.read_text() + "acme,here-1\n")
    assert "facts/prices.csv:7: 2 cells, expected 10" in complaints(small)
    prices.write_text(prices.read_text().replace('"half, of a third"', '"half, of a third'))
    assert any("not a CSV table" in fault for fault in complaints(small))


def test_all_faults_come_at_once(small):
    for table, line, column, value, _ in (FACT_FAULTS[0], FACT_FAULTS[8], FACT_FAULTS[11]):
        small.change(small.facts / table, line, column, value)
    small.change(small.target / "data/aliases.csv", 2, "name", "D3")
    found = "\n".join(complaints(small))
    for expected in ("'X2'", "price_usd_per_hour is '0'", "'lease_2y'", "'D3'"):
        assert expected in found
