"""`planner doctor`, `planner prices`: what they tell of this installation and its catalogue."""

from __future__ import annotations

from pricing.catalog import Catalog
from pricing.errors import BadSnapshot


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


def test_an_import_of_faulty_tables_tells_every_fault_and_changes_nothing(planner, tmp_path):
    before = Catalog.embedded().digest
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/prices.csv").write_text("provider,price\naws,much\n")
    ran = planner("prices", "import", "facts")
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert "facts/prices.csv" in ran.err
    assert "facts/offerings.csv: the file is missing" in ran.err
    assert Catalog.read(Catalog.embedded().root).digest == before
