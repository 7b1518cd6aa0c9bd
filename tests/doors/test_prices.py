"""`planner prices`: what is in use, what changed, and prices from files, as a user meets them."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import date

import pytest

from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, ROOT, Catalog
from pricing.providers import find_provider_folders
from tools.importer import ImportReport
from tools.importer.__main__ import import_report_lines

HEAD = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n"
CHEAPER = HEAD + "g6.24xlarge,L4,4,96,384,,6.0,2.5,us-east-1,use1-az1\ng6.24xlarge,L4,4,96,384,,6.0,2.7,us-east-1,b\n"


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """A data folder of this test alone."""
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def vms(tmp_path):
    """A SkyPilot catalogue of aws with one type, in a folder of its name."""
    path = tmp_path / "aws/vms.csv"
    path.parent.mkdir()
    path.write_text(CHEAPER)
    return path


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


# status


def test_status_counts_every_price_of_a_current_type_in_all_three_formats(planner):
    catalog = Catalog.embedded()
    found = json.loads(planner("prices", "status", "--json").out)
    counted = sum(line["prices"] for line in found["coverage"])
    assert counted == len(catalog.quotes(include_parts=True))
    assert counted == sum(int(row["prices"]) for row in table(planner("prices", "status", "--csv").out))
    text = planner("prices", "status").out
    for line in found["coverage"]:
        wanted = [line["provider"], line["option"], f"{line['types']:,}", f"{line['prices']:,}"]
        assert [*wanted, line["oldest"], line["newest"]] in [row.split() for row in text.splitlines()]
    assert found["catalogue"] == catalog.digest
    assert catalog.digest in text
    by_family = json.loads(planner("prices", "status", "--json", "--by", "family").out)["coverage"]
    assert sum(line["prices"] for line in by_family) == counted
    assert {line["family"] for line in by_family} > {"P5", "NC", "TPU"}


@pytest.mark.slow
@pytest.mark.usefixtures("vms")
def test_status_tells_where_prices_come_from_and_how_old_they_are(planner):
    before = json.loads(planner("prices", "status", "--json").out)["in_use"]
    assert [(each["provider"], each["snapshot"]) for each in before] == [
        (name, "embedded") for name in Catalog.embedded().providers
    ]
    assert planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20").code == 0
    after = json.loads(planner("prices", "status", "--json", "--provider", "aws").out)["in_use"]
    assert [(each["provider"], each["newest"], each["made_by"]) for each in after] == [
        ("aws", "2026-11-20", "planner prices import")
    ]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-001", after[0]["snapshot"])


def test_status_names_every_gap(planner):
    gaps = json.loads(planner("prices", "status", "--json").out)["gaps"]
    unpriced = {(o.provider, o.instance_type) for o in Catalog.embedded().unpriced()}
    assert {(g["provider"], g["subject"]) for g in gaps if g["what"] == "type without a price"} == unpriced
    kinds = {gap["what"]: (gap["provider"], gap["subject"]) for gap in gaps}
    assert "region without a price" in kinds
    priced = {(q.price.provider, q.price.region) for q in Catalog.embedded().quotes(include_parts=True)}
    assert not {(g["provider"], g["subject"]) for g in gaps if g["what"] == "region without a price"} & priced
    text = planner("prices", "status").out
    assert all(f"  {gap['provider']} {gap['subject']} ({gap['detail']})" in text for gap in gaps)


def test_a_provider_that_is_not_known_is_told_with_the_nearest(planner):
    ran = planner("prices", "status", "--provider", "azur,aws")
    assert ran.code == 2
    assert ran.err.splitlines()[1:] == ["  --provider: unknown provider; read azur; expected nearest: azure"]


# diff


@pytest.mark.slow
def test_nothing_differs_from_itself(planner):
    for side in ("embedded", "current", str(ROOT), str(ROOT / "providers/aws")):
        ran = planner("prices", "diff", side, side, "--json")
        assert ran.code == 0, ran.err
        found = json.loads(ran.out)
        assert {row["what"] for row in found["changes"]} == {"same"}
        assert found["changes"]


@pytest.mark.slow
@pytest.mark.usefixtures("vms")
def test_what_an_import_changed_can_be_seen_and_its_mirror_too(planner, data):
    planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20")
    there = planner("prices", "diff", "previous", "current", "--provider", "aws", "--csv")
    rows = {row["what"]: row for row in table(there.out) if row["what"] != "same"}
    # on demand 6.6752 -> 6 is 6 / 6.6752 - 1 = -10.1151 %
    down = next(row for row in table(there.out) if row["purchase_option"] == "on_demand" and row["what"] == "down")
    assert (down["instance_type"], down["before"], down["after"], down["percent"]) == (
        "g6.24xlarge",
        "6.6752",
        "6.0",
        "-10.1151",
    )
    assert down["after_as_of"] == "2026-11-20"
    back = table(planner("prices", "diff", "current", "previous", "--provider", "aws", "--csv").out)
    assert {row["what"] for row in back} == {{"up": "down", "down": "up"}.get(what, what) for what in rows} | {"same"}
    snapshot = next((data / "snapshots/aws").glob("2*-001"))
    by_path = planner("prices", "diff", "embedded", str(snapshot), "--csv").out
    assert by_path == there.out == planner("prices", "diff", "embedded", snapshot.name[:4], "--csv").out
    text = planner("prices", "diff", "embedded", "current", "--limit", "1").out
    assert "2 prices moved, the 1 largest:" in text
    assert f"aws: embedded -> {snapshot.name}" in text


def test_lists_that_are_not_there_are_told_at_once(planner, tmp_path):
    (tmp_path / "empty").mkdir()
    ran = planner("prices", "diff", "previous", "empty")
    assert ran.code == 2
    faults = ran.err.splitlines()[1:]
    assert faults[0].startswith("  OLD: there is none before the one in use; read previous")
    assert faults[1].startswith("  NEW: no folder of prices; read empty")
    ran = planner("prices", "diff", "embeded", "current")
    assert ran.err.splitlines()[1].endswith("nearest: embedded")


@pytest.mark.slow
def test_a_beginning_that_fits_two_snapshots_is_refused(planner, vms, data):
    for price in ("6.0", "6.1"):
        vms.write_text(CHEAPER.replace("6.0", price))
        planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20")
    ran = planner("prices", "diff", "embedded", "2", "--provider", "aws")
    assert ran.code == 2
    ids = sorted(path.name for path in (data / "snapshots/aws").glob("2*"))
    assert len(ids) == 2
    assert ran.err.splitlines()[1].endswith(f"expected one of {', '.join(ids)}")
    assert planner("prices", "diff", ids[0], ids[1]).code == 0


# history


def test_history_shows_the_price_cut_of_p5(planner):
    ask = ("prices", "history", "p5.48xlarge", "--region", "us-east-1", "--option", "on_demand")
    lines = [line.split() for line in planner(*ask).out.splitlines() if line.startswith("aws")]
    assert [(line[4], line[6]) for line in lines] == [("2023-10-09", "98.3200"), ("2025-06-23", "55.0400")]
    assert lines[1][7] == "-44.0%"
    found = json.loads(planner(*ask, "--json").out)
    assert [line["price_per_hour"] for line in found] == [98.32, 55.04]
    assert [row["first"] for row in table(planner(*ask, "--csv").out)] == ["2023-10-09", "2025-06-23"]


@pytest.mark.slow
@pytest.mark.usefixtures("vms")
def test_history_grows_with_every_snapshot(planner):
    ask = ("prices", "history", "G6.24xlarge", "--region", "us-east-1", "--option", "on_demand", "--json")
    before = json.loads(planner(*ask).out)
    planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20")
    after = json.loads(planner(*ask).out)
    assert len(after) == len(before) + 1
    assert (after[-1]["first"], after[-1]["price_per_hour"]) == ("2026-11-20", 6.0)
    assert after[:-1] == [{**line, "snapshots": line["snapshots"]} for line in before]


def test_names_that_history_does_not_know_are_told_at_once(planner):
    ran = planner("prices", "history", "p5.48xlarg", "--region", "us-east-7", "--option", "spott")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 4
    for piece in ("TYPE: unknown instance type", "nearest: p5.48xlarge", "--region: unknown", "nearest: spot"):
        assert piece in ran.err


# import


@pytest.mark.slow
@pytest.mark.usefixtures("vms")
def test_an_import_lands_tells_its_rows_and_changes_nothing_again(planner, data):
    ran = planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20", "--source", "our mirror of 20 November")
    assert ran.code == 0, ran.err
    assert "aws/vms.csv: 2 rows = 2 imported + 0 left out + 0 rejected" in ran.out
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    assert any(b"our mirror of 20 November" in content for content in before.values())
    again = planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20")  # whatever it says of its source
    assert "(unchanged)" in again.out
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before
    (quote,) = Catalog.current().quotes(instance_types=["g6.24xlarge"], regions=["us-east-1"], options=["on_demand"])
    assert (quote.price.price_per_hour, quote.price.as_of) == (6.0, date(2026, 11, 20))


@pytest.mark.slow
def test_two_files_of_one_day_keep_their_own_sources(planner, vms):
    planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20", "--source", "the first")
    vms.write_text(HEAD + "g6.24xlarge,L4,4,96,384,,6.0,,us-east-2,b\n")
    planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20", "--source", "the second")
    catalog = Catalog.current()
    quotes = catalog.quotes(instance_types=["g6.24xlarge"], regions=["us-east-1", "us-east-2"], options=["on_demand"])
    told = {quote.price.region: catalog.sources[quote.price.source_id].reference for quote in quotes}
    assert told == {"us-east-1": "the first", "us-east-2": "the second"}


CARD = (
    "provider,family,instance_type,region,purchase_option,percent_off,price_per_hour,currency,valid_from,valid_to,"
    "note\n"
)
RATES = "date,from,to,rate,source\n"


def test_private_prices_and_exchange_rates_are_checked_and_kept(planner, tmp_path, data):
    (tmp_path / "ours.csv").write_text(CARD + "aws,P5,,,on_demand,12,,,2026-01-01,,contract 7\n")
    (tmp_path / "fx.csv").write_text(RATES + "2026-11-20,EUR,USD,1.08,a bank\n")
    ran = planner("prices", "import", "ours.csv", "fx.csv")
    assert ran.code == 0, ran.err
    assert f"ours.csv: private prices, 1 row, now in use: {data / 'private-prices.csv'}" in ran.out
    assert f"fx.csv: exchange rates, 1 row, now in use: {data / 'exchange-rates.csv'}" in ran.out
    assert planner("prices", "import", "ours.csv", "fx.csv").out.count("unchanged") == 2
    found = json.loads(planner("prices", "status", "--json").out)
    assert (found["private_prices"], found["exchange_rates"]) == (1, 1)


def test_a_rate_card_with_faults_is_not_kept(planner, tmp_path, data):
    (tmp_path / "ours.csv").write_text(CARD + "aws,P5,,,on_demand,120,,,2026-01-01,,\nawz,P5,,,,5,,,2026-01-01,,\n")
    ran = planner("prices", "import", "ours.csv")
    assert ran.code == 2
    assert "ours.csv:2" in ran.err
    (tmp_path / "ours.csv").write_text(CARD + "awz,P5,,,on_demand,5,,,2026-01-01,,\n")
    ran = planner("prices", "import", "ours.csv")
    assert "unknown provider 'awz'; nearest: aws" in ran.err
    assert not data.exists()


@pytest.mark.usefixtures("vms")
def test_every_fault_of_every_file_comes_at_once_and_nothing_is_written(planner, data, tmp_path):
    (tmp_path / "odd.csv").write_text("colour,size\n")
    (tmp_path / "gcp").mkdir()
    (tmp_path / "gcp/vms.csv").write_text(HEAD + "a2-highgpu-1g,\n")
    ran = planner("prices", "import", "aws/vms.csv", "odd.csv", "nowhere", "gcp/vms.csv", "--as-of", "tomorrow")
    assert ran.code == 2
    faults = ran.err.splitlines()[1:]
    assert [fault.partition(": ")[0].strip() for fault in faults] == [
        "odd.csv:1",
        "nowhere",
        "--as-of tomorrow",
        "gcp/vms.csv:2",
    ]
    assert not (data / "snapshots").exists()


@pytest.mark.usefixtures("vms")
def test_a_file_without_a_date_is_refused(planner, data):
    ran = planner("prices", "import", "aws/vms.csv")
    assert ran.code == 2
    assert ran.err.splitlines()[1].startswith("  --as-of: missing; aws/vms.csv carries no date")
    assert planner("prices", "import", "aws/vms.csv", "--as-of", "2099-01-01").code == 2
    assert not data.exists()


def test_a_price_past_the_band_needs_a_reason(planner, vms):
    vms.write_text(CHEAPER.replace("6.0", "3.0"))  # 3 / 6.6752 = 0.45 of the price: below the band
    ran = planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20")
    assert "without a listed reason" in ran.out
    assert "quarantine.csv" in ran.out
    status = json.loads(planner("prices", "status", "--json", "--provider", "aws").out)["in_use"][0]
    assert status["quarantined"] == 1
    assert status["quarantine"].endswith("quarantine.csv")
    ask = ("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20", "--accept")
    assert planner(*ask, "g6.*").err.splitlines()[1].startswith("  --accept: a pattern needs a reason; read g6.*")
    assert planner(*ask, "g6.*=price cut of 20 November").code == 0
    (quote,) = Catalog.current().quotes(instance_types=["g6.24xlarge"], regions=["us-east-1"], options=["on_demand"])
    assert quote.price.price_per_hour == 3.0


def test_a_file_that_fails_as_a_whole_changes_nothing(planner, vms, data):
    vms.write_text(HEAD + "".join(f"g{n}.x,L99,4,96,384,,6.0,,us-east-1,b\n" for n in range(8, 20)))
    ran = planner("prices", "import", "aws/vms.csv", "--as-of", "2026-11-20")
    assert ran.code == 4
    assert "not imported, the previous snapshot stays in use: changed format: 12 of 12 rows fail" in ran.err
    assert not list((data / "snapshots/aws").glob("2*"))


def test_a_folder_is_refused_with_the_command_that_reads_fact_tables(planner, tmp_path):
    before = Catalog.embedded().digest
    (tmp_path / "facts").mkdir()
    ran = planner("prices", "import", "facts")
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert "a folder cannot be imported; for fact tables, run `python -m tools.importer facts`" in ran.err
    assert Catalog(Catalog.embedded().layout).digest == before


def test_what_an_import_of_fact_tables_took_in_is_told_in_words():
    report = ImportReport(
        providers=("acme", "zeus"),
        offerings=12,
        prices=3400,
        options=("on_demand",),
        regions=2,
        accelerators=3,
        systems=1,
        machines=7,
        grids=3,
        grids_read=4,
        tiers_read=2000,
        tiers_used=1,
        tiers_left={"a price that a newer one replaces": 1990, "an item that no plan uses": 9},
        sale_terms=40,
        sale_left={},
        superseded=0,
        suspect=0,
        no_folder=0,
        oldest=date(2026, 1, 2),
        newest=date(2026, 7, 20),
        changed=(),
    )
    lines = list(import_report_lines(report))
    assert "providers    acme, zeus" in lines
    assert "prices       3,400" in lines
    assert "tiers left   1,999" in lines
    assert "   1,990 a price that a newer one replaces" in lines
    assert "sale left    0" in lines
    assert "superseded   0" in lines
    assert "oldest       2026-01-02" in lines
    assert "changed      none" in lines


# refresh


def test_every_wrong_option_of_a_refresh_is_told_before_anything_is_called(planner, data):
    ran = planner(
        "prices", "refresh", "--provider", "gcp,azur", "--regions", "us-east-1", "--endpoint", "gcp.nothing=http://x",
        "--endpoint", "gcp.compute", "--accept", "a3",
    )  # fmt: skip
    assert ran.code == 2
    places = [line.strip().partition(":")[0] for line in ran.err.splitlines()[1:]]
    assert sorted(places) == ["--accept", "--endpoint", "--endpoint", "--provider", "--regions"]
    assert not data.exists()
    assert planner("prices", "refresh", "--time-limit", "0").code == 2


def test_a_provider_without_an_adapter_cannot_be_refreshed(planner, data):
    """A cloud of one's own, copied from a folder that is shipped."""
    source = find_provider_folders(ROOT)[0]
    folder = data / "providers/mine"
    folder.mkdir(parents=True)
    for name in ("regions.csv", "offerings.csv", "prices.csv", "tiers.csv"):
        (folder / name).write_text((source / name).read_text())
    facts = (source / "provider.toml").read_text().replace(f'name = "{source.name}"', 'name = "mine"')
    (folder / "provider.toml").write_text(facts)
    ran = planner("prices", "refresh", "--provider", "mine")
    assert ran.code == 2
    assert "--provider: has no adapter to refresh it; read mine" in ran.err
    (mine,) = json.loads(planner("prices", "status", "--json", "--provider", "mine").out)["in_use"]
    assert (mine["snapshot"], mine["prices"] > 0) == ("own", True)
    assert dict(EMBEDDED_LAYOUT.folders).keys() == {path.name for path in find_provider_folders(ROOT)}
