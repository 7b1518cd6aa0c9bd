"""`planner doctor`, `planner prices`: what they tell of this installation and its catalogue."""

from __future__ import annotations

from datetime import date

from planner.cli.prices import told
from pricing.catalog import Catalog
from pricing.errors import BadSnapshot
from pricing.importer import Report


def test_doctor_finds_this_installation_well(planner):
    ran = planner("doctor")
    assert ran.code == 0, ran.err
    for piece in (
        "python ",
        "gpu-planner ",
        "planner ",
        "pricing ",
        "highspy ",
        Catalog.embedded().digest,
        "terraform",
    ):
        assert piece in ran.out


def test_doctor_tells_a_catalogue_that_cannot_be_read(planner, monkeypatch):
    def broken():
        raise BadSnapshot(("prices.csv line 3: no number",))

    monkeypatch.setattr(Catalog, "embedded", broken)
    ran = planner("doctor")
    assert ran.code == 1
    assert "prices.csv line 3: no number" in ran.err


def test_status_counts_every_price_of_a_current_type(planner):
    ran = planner("prices", "status")
    assert ran.code == 0
    catalog = Catalog.embedded()
    lines = [line.split() for line in ran.out.splitlines() if line.startswith(catalog.providers)]
    counted = sum(int(line[3].replace(",", "")) for line in lines)
    assert counted == len(catalog.quotes(include_parts=True))
    assert catalog.digest in ran.out
    assert f"{len(catalog.unpriced())} types have no price" in ran.out


def test_an_import_from_nowhere_is_one_fault(planner):
    ran = planner("prices", "import", "nowhere")
    assert ran.code == 2
    assert ran.err.splitlines()[1:] == ["  nowhere: there is no such folder"]


def test_an_import_of_unusable_tables_tells_each_once_and_changes_nothing(planner, tmp_path):
    before = Catalog.embedded().digest
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/prices.csv").write_text("provider,price\naws,much\n")
    ran = planner("prices", "import", "facts")
    assert ran.code == 2
    assert "Traceback" not in ran.err
    faults = {line.strip().partition(": ")[::2] for line in ran.err.splitlines()[1:]}
    absent = [
        "accelerators",
        "offerings",
        "sources",
        "systems",
        "transfer_storage_prices",
        "price_history",
        "price_suspect",
    ]
    expected = {(f"facts/{name}.csv", "the file is missing") for name in absent}
    columns = "region, instance_type, purchase_option, price_usd_per_hour, as_of, source_id, method, note"
    assert faults == expected | {("facts/prices.csv:1", f"missing column {columns}")}, "nothing that only follows"
    assert Catalog.read(Catalog.embedded().root).digest == before


def test_what_an_import_took_in_is_told_in_words():
    report = Report(
        providers=("acme", "zeus"),
        offerings=12,
        prices=3400,
        options=("on_demand",),
        regions=2,
        accelerators=3,
        systems=1,
        tiers_read=2000,
        tiers_used=1,
        tiers_left={"a price that a newer one replaces": 1990, "an item that no plan uses": 9},
        superseded=0,
        suspect=0,
        oldest=date(2026, 1, 2),
        newest=date(2026, 7, 20),
        changed=(),
    )
    lines = list(told(report))
    assert "providers    acme, zeus" in lines
    assert "prices       3,400" in lines
    assert "tiers left   1,990 a price that a newer one replaces; 9 an item that no plan uses" in lines
    assert "superseded   0" in lines
    assert "oldest       2026-01-02" in lines
    assert "changed      nothing" in lines
