"""What is written, and that nothing is where something goes wrong: killed, twice at once, unreadable."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from pricing.adapters.protocol import CoveredScope
from pricing.catalog import data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, Catalog
from pricing.errors import InvalidSnapshot, ProviderFailure
from pricing.price import Price, parse_purchase_option
from pricing.providers import CatalogLayout
from pricing.regions import Source
from pricing.sale import SaleTerm, build_told_term
from pricing.snapshots.publication import publish_snapshot
from pricing.snapshots.quality_gate import FetchedRows

DAY = date(2026, 11, 21)
P5 = ("aws", "us-east-1", "p5.48xlarge", "on_demand")
SOURCE = Source("test-list", "a list made by this test", DAY, "prices")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


def fetched(*prices: tuple[tuple[str, str, str, str], float], covered: tuple[CoveredScope, ...] = ()) -> FetchedRows:
    rows = {}
    for key, per_hour in prices:
        option = parse_purchase_option(key[3])
        assert option is not None
        rows[key] = Price(*key, *option, per_hour, "USD", DAY, SOURCE.source_id, "listed", "")
    return FetchedRows({}, rows, frozenset(covered), sources=(SOURCE,))


def price_in_use(key: tuple[str, str, str, str] = P5) -> Price:
    found = {q.price.key: q.price for q in Catalog.current().quotes(instance_types=[key[2]])}
    return found[key]


def folders(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "snapshots" / "aws").iterdir())


def test_a_landed_price_is_what_plans_use_with_its_source_and_date(data):
    landed = publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    assert (landed.id, landed.changed, landed.moved, landed.new, landed.gone) == ("2026-11-21-001", True, 1, 0, 0)
    price = price_in_use()
    assert (price.price_per_hour, price.as_of) == (50.0, DAY)
    assert Catalog.current().sources[price.source_id].reference == "a list made by this test"
    assert len(Catalog.current().quotes()) == len(Catalog.embedded().quotes())
    assert Catalog.embedded().digest != Catalog.current().digest
    carried = price_in_use(("aws", "us-east-2", "p5.48xlarge", "on_demand"))
    assert carried.source_id == "skypilot-aws-v8.2025-12-12"


@pytest.mark.slow
def test_the_same_again_changes_nothing(data):
    first = publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    again = publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    assert (again.id, again.changed) == (first.id, False)
    other = publish_snapshot("aws", fetched((P5, 51.0)), data, made_by="a test", day=DAY)
    assert other.id == "2026-11-21-002"
    ids = [kept.id for kept in data_folder.list_snapshots("aws", dict(EMBEDDED_LAYOUT.folders)["aws"], data)]
    assert ids == ["embedded", "2026-11-21-001", "2026-11-21-002"]


@pytest.mark.slow
def test_a_region_nobody_knew_has_no_country_and_a_price(data):
    new = ("aws", "xx-north-1", "p5.48xlarge", "on_demand")
    publish_snapshot("aws", fetched((new, 60.0)), data, made_by="a test", day=DAY)
    assert price_in_use(new).price_per_hour == 60.0
    assert Catalog.current().regions["aws", "xx-north-1"].country == ""


@pytest.mark.slow
def test_what_is_held_is_listed_beside_the_snapshot(data):
    good = [((*P5[:2], name, "on_demand"), per) for name, per in (("p4d.24xlarge", 21.9), ("p4de.24xlarge", 27.4))]
    landed = publish_snapshot("aws", fetched((P5, 5.0), *good), data, made_by="a test", day=DAY)
    lines = landed.quarantine.read_text().splitlines()
    assert lines[0] == "subject,reason,price_before,before_as_of,price_after,after_as_of"
    assert lines[1].startswith('aws us-east-1 p5.48xlarge on_demand,"moved from 55.04') or "moved" in lines[1]
    assert lines[1].endswith("55.04,2026-07-20,5,2026-11-21")
    assert price_in_use().price_per_hour == 55.04


def test_an_accepted_move_is_written_down(data):
    landed = publish_snapshot(
        "aws", fetched((P5, 20.0)), data, made_by="a test", day=DAY, accept={"p5*": 'half "price"'}
    )
    assert price_in_use().price_per_hour == 20.0
    assert '"p5*" = "half \\"price\\""' in (landed.path / "snapshot.toml").read_text()


def test_another_at_work_is_told_and_nothing_is_written(data):
    with (
        data_folder.lock_provider("aws", data),
        pytest.raises(ProviderFailure, match="busy: another refresh or import of aws"),
    ):
        publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    assert folders(data) == [".lock"]


KILLED = """
import os, signal, sys
from datetime import date
from pathlib import Path
from pricing import file_replacement
from pricing.catalog import data_folder
from pricing.price import Price, parse_purchase_option
from pricing.regions import Source
from pricing.snapshots import publication
from pricing.snapshots.quality_gate import FetchedRows

left = [int(sys.argv[2])]
def die(*_):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
fsync, rename, replace = os.fsync, Path.rename, Path.replace
os.fsync = lambda file: (die(), fsync(file))
Path.rename = lambda path, target: (die(), rename(path, target))[1]
for module in (publication, data_folder):
    module.write_atomically = lambda path, content: (die(), file_replacement.write_atomically(path, content))
key = ("aws", "us-east-1", "p5.48xlarge", "on_demand")
day = date(2026, 11, 22)
price = Price(*key, *parse_purchase_option(key[3]), 51.0, "USD", day, "later", "listed", "")
source = Source("later", "later", day, "prices")
rows = FetchedRows({}, {key: price}, frozenset(), sources=(source,))
publication.publish_snapshot("aws", rows, Path(sys.argv[1]), made_by="x", day=day)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [8, 0, 3, 9, 7])
def test_killed_at_any_step_of_writing_leaves_the_last_good_snapshot(data, after):
    """The quarantine and seven files are put on the disk, then the folder is named (after 8), then it becomes current
    (after 9)."""
    publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    done = subprocess.run([sys.executable, "-c", KILLED, str(data), str(after)], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert price_in_use().price_per_hour == 50.0
    publish_snapshot("aws", fetched((P5, 52.0)), data, made_by="a test", day=DAY)
    assert price_in_use().price_per_hour == 52.0
    assert not [name for name in folders(data) if name.startswith(".new")], "what the dead process left is cleared"


@pytest.mark.slow
def test_an_unreadable_result_is_taken_back(data):
    publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    bad = fetched((P5, 51.0))
    bad = replace(bad, prices={k: replace(p, note="x", method="rumoured") for k, p in bad.prices.items()})
    with pytest.raises(ProviderFailure, match="method is 'rumoured'"):
        publish_snapshot("aws", bad, data, made_by="a test", day=DAY)
    assert price_in_use().price_per_hour == 50.0
    assert folders(data) == [".lock", "2026-11-21-001", "current", "quarantine.csv"]


@pytest.mark.slow
def test_what_is_held_is_listed_even_where_nothing_else_changes(data):
    good = [((*P5[:2], name, "on_demand"), per) for name, per in (("p4d.24xlarge", 21.9), ("p4de.24xlarge", 27.4))]
    publish_snapshot("aws", fetched((P5, 50.0), *good), data, made_by="a test", day=DAY)
    landed = publish_snapshot("aws", fetched((P5, 5.0), *good), data, made_by="a test", day=DAY)
    assert not landed.changed
    assert "aws us-east-1 p5.48xlarge on_demand" in landed.quarantine.read_text()
    landed = publish_snapshot("aws", fetched((P5, 50.0), *good), data, made_by="a test", day=DAY)
    assert len(landed.quarantine.read_text().splitlines()) == 1, "only the head: nothing is held any more"


@pytest.mark.slow
def test_the_log_has_what_was_in_use_and_no_folder_that_a_killed_refresh_left(data):
    for price in (50.0, 51.0):
        publish_snapshot("aws", fetched((P5, price)), data, made_by="a test", day=DAY)
    place = data / "snapshots" / "aws"
    shutil.copytree(place / "2026-11-21-002", place / "2026-11-21-003")  # renamed into place, then killed
    assert data_folder.read_snapshot_log("aws", data) == ("2026-11-21-001", "2026-11-21-002")
    publish_snapshot("aws", fetched((P5, 52.0)), data, made_by="a test", day=DAY)
    assert data_folder.read_snapshot_log("aws", data) == ("2026-11-21-001", "2026-11-21-002", "2026-11-21-004")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights of files as POSIX has them")
@pytest.mark.parametrize("where", ["snapshots", "snapshots/aws"])
def test_a_folder_that_cannot_be_written_is_a_failure_of_the_provider(data, where, monkeypatch):
    """Root may write everywhere, so the system's answer is made here: a disk that is full or mounted read-only."""
    publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    real = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if str(data / where) in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ProviderFailure, match="No space left on device") as failed:
        publish_snapshot("aws", fetched((P5, 51.0)), data, made_by="a test", day=DAY)
    assert failed.value.kind == "not_written"
    assert price_in_use().price_per_hour == 50.0


def test_a_later_embedded_snapshot_wins_again(data):
    """As after an upgrade: what was refreshed before it is older."""
    old = date(2026, 1, 1)
    rows = fetched((P5, 50.0))
    before = dict(EMBEDDED_LAYOUT.folders)["aws"]
    publish_snapshot("aws", rows, data, made_by="a test", day=DAY)
    kept = next(data_folder.find_current_snapshot("aws", before, data))
    facts = (kept.path / "snapshot.toml").read_text()
    (kept.path / "snapshot.toml").write_text(facts.replace(f'newest = "{DAY}"', f'newest = "{old}"'))
    assert list(data_folder.find_current_snapshot("aws", before, data)) == []
    assert (
        data_folder.current_layout(EMBEDDED_LAYOUT, data)
        == EMBEDDED_LAYOUT
        == CatalogLayout(EMBEDDED_LAYOUT.data, EMBEDDED_LAYOUT.folders)
    )


def test_a_damaged_pointer_falls_back_to_what_is_shipped(data):
    publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    for content in (b"../../etc", b"\xff\xfe", b"", b"2026-11-21-009"):
        (data / "snapshots" / "aws" / data_folder.CURRENT_FILE).write_bytes(content)
        assert price_in_use().price_per_hour == 55.04


ELSEWHERE = """
import os, signal, sys
for name in ("fcntl", "resource", "pwd", "grp"):
    sys.modules[name] = None
for module, names in ((os, ("symlink", "link", "fork", "killpg", "geteuid")), (signal, ("SIGKILL", "SIGHUP"))):
    for name in names:
        delattr(module, name)
from datetime import date
from pathlib import Path
from pricing.catalog import data_folder
from pricing.catalog.price_catalog import Catalog
from pricing.errors import ProviderFailure
from pricing.price import Price, parse_purchase_option
from pricing.regions import Source
from pricing.snapshots.publication import publish_snapshot
from pricing.snapshots.quality_gate import FetchedRows

key, day, data = ("aws", "us-east-1", "p5.48xlarge", "on_demand"), date(2026, 11, 21), Path(sys.argv[1])
for amount in (50.0, 51.0):
    price = Price(*key, *parse_purchase_option(key[3]), amount, "USD", day, "made", "listed", "")
    rows = FetchedRows({}, {key: price}, frozenset(), sources=(Source("made", "made", day, "prices"),))
    publish_snapshot("aws", rows, data, made_by="a test", day=day)
with data_folder.lock_provider("aws", data):
    try:
        publish_snapshot("aws", rows, data, made_by="a test", day=day)
    except ProviderFailure as failed:
        print(failed.kind)
print([q.price.price_per_hour for q in Catalog.current().quotes(instance_types=[key[2]]) if q.price.key == key])
"""


@pytest.mark.slow
def test_it_lands_where_the_system_has_neither_fcntl_nor_links_nor_these_signals(data):
    """As on Windows; its own lock is msvcrt's, here the library takes a plain file."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ELSEWHERE, str(data)], capture_output=True, text=True, check=False
    )
    assert (done.stdout.split("\n"), done.returncode) == (["busy", "[51.0]", ""], 0), done.stderr
    assert not [path for path in data.rglob("*") if path.is_symlink()]
    assert data_folder.read_snapshot_log("aws", data) == ("2026-11-21-001", "2026-11-21-002")


def test_what_killed_writers_left_is_cleared_by_the_next(data):
    publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    place = data / "snapshots" / "aws"
    (place / ".new-99999").mkdir()
    (place / ".new-99999" / "prices.csv").write_text("half")
    (place / ".current.99999.0badcafe.tmp").write_text("half")
    landed = publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)
    assert not landed.changed
    assert folders(data) == [".lock", "2026-11-21-001", "current", "quarantine.csv"]


@pytest.mark.slow
def test_a_snapshot_that_could_not_be_named_as_current_is_taken_back(data, monkeypatch):
    publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="a test", day=DAY)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(data))

    monkeypatch.setattr(data_folder, "write_snapshot_log", full)
    with pytest.raises(ProviderFailure, match="No space left on device"):
        publish_snapshot("aws", fetched((P5, 51.0)), data, made_by="a test", day=DAY)
    assert folders(data) == [".lock", "2026-11-21-001", "current", "quarantine.csv"]


def sale_in_use(key: tuple[str, str, str, str] = P5) -> SaleTerm | None:
    return next(q.sale for q in Catalog.current().quotes(instance_types=[key[2]]) if q.price.key == key)


@pytest.mark.slow
def test_what_a_refresh_was_told_of_sale_stays_in_the_next_snapshots(data):
    """The shared table says in which regions P5 is sold in blocks, and nothing definite of on demand."""
    end = build_told_term(
        P5[:3:2], P5[1], "on_demand", ("the API", DAY), ends=date(2027, 3, 31), successor="p6-b200.48xlarge"
    )
    landed = publish_snapshot("aws", replace(fetched((P5, 50.0)), sale_terms=(end,)), data, made_by="a test", day=DAY)
    assert landed.sale_terms == 1
    publish_snapshot("aws", fetched((P5, 51.0)), data, made_by="an import", day=DAY)
    term = sale_in_use()
    assert (term.ends, term.successor, term.checked) == (date(2027, 3, 31), "p6-b200.48xlarge", "2026-11-21")
    assert term.state(date(2027, 3, 31)) == "ended"
    assert sale_in_use(("aws", "us-east-1", "p5.48xlarge", "capacity_block")).max_days == 182, "as in the shared table"
    nothing = build_told_term(P5[:3:2], P5[1], "on_demand", ("the API", DAY))
    again = publish_snapshot(
        "aws", replace(fetched((P5, 51.0)), sale_terms=(nothing,)), data, made_by="a test", day=DAY
    )
    assert (again.changed, again.sale_terms) == (True, 0)
    assert sale_in_use().ends is None


@pytest.mark.slow
def test_the_tables_of_a_cloud_of_ones_own_outlive_an_import(data):
    """Its folder says how its types are joined and sold; a snapshot takes the place of that folder."""
    from pricing.fabric import FABRIC_COLUMNS

    own = data / "providers" / "aws"
    shutil.copytree(dict(EMBEDDED_LAYOUT.folders)["aws"], own, ignore=shutil.ignore_patterns("*.py", "testdata"))
    row = dict.fromkeys(FABRIC_COLUMNS, "") | {"provider": "aws", "instance_type": "p5.48xlarge", "rdma": "EFA"}
    row |= {"nodes_joined": "7", "source": "us", "checked": "2026-11-01", "confidence": "agreed"}
    (own / "fabric.csv").write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")
    shared = (EMBEDDED_LAYOUT.data / "sale.csv").read_text().splitlines()
    cells = [
        "aws",
        "p5.48xlarge",
        "on_demand",
        "",
        "",
        "no",
        "",
        "",
        "",
        "",
        "no",
        "no",
        "",
        "",
        "us",
        "2026-11-01",
        "agreed",
    ]
    (own / "sale.csv").write_text(f"{shared[0]}\n{','.join(cells)}\n")
    publish_snapshot("aws", fetched((P5, 50.0)), data, made_by="an import", day=DAY)
    assert price_in_use().price_per_hour == 50.0
    assert sale_in_use().source == "us"
    catalog = Catalog.current()
    assert catalog.fabric(catalog.offerings["aws", "p5.48xlarge"]).nodes_joined == 7


@pytest.mark.slow
def test_a_damaged_snapshot_costs_no_other_provider_and_is_replaced_from_the_one_before(data):
    for price in (50.0, 51.0):
        landed = publish_snapshot("aws", fetched((P5, price)), data, made_by="a test", day=DAY)
    table = landed.path / "prices.csv"
    table.write_bytes(table.read_bytes()[:5000])
    with pytest.raises(InvalidSnapshot, match=r"2026-11-21-002/prices\.csv"):
        Catalog.current()
    gpu = ("azure", "eastus", "Standard_ND96amsr_A100_v4", "on_demand")
    assert publish_snapshot("azure", fetched((gpu, 32.0)), data, made_by="a test", day=DAY).moved == 1
    other = ("aws", "us-east-2", "p5.48xlarge", "on_demand")
    assert publish_snapshot("aws", fetched((other, 52.0)), data, made_by="a test", day=DAY).id == "2026-11-21-003"
    assert (price_in_use().price_per_hour, price_in_use(other).price_per_hour) == (50.0, 52.0)
    assert price_in_use(gpu).price_per_hour == 32.0
