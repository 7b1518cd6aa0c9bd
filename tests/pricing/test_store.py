"""The compiled file: made once, shared by processes, keyed by content, made again when damaged, never needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from pricing.catalog import database
from pricing.catalog.database import MAX_CACHED_FILES, VERSION, cache_folder, hash_catalog
from pricing.catalog.price_catalog import ROOT, Catalog
from pricing.errors import InvalidSnapshot
from pricing.providers import CatalogLayout
from tools.importer import import_facts

OPEN = "import sys; from pathlib import Path; from pricing.catalog.price_catalog import ROOT, Catalog;"
COUNT = OPEN + "print(len(Catalog.read(ROOT, Path(sys.argv[1])).quotes()))"


def compiled(cache):
    return sorted(path.name for path in cache.glob("*.sqlite"))


@pytest.fixture
def made(small):
    import_facts(small.facts, small.target, small.curated)
    return small


@pytest.mark.slow
def test_two_processes_may_compile_at_once(tmp_path, catalog):
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, str(tmp_path)],
            cwd=ROOT.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for run in runs:
        out, error = run.communicate()
        assert (run.returncode, error) == (0, b"")
        assert int(out) == len(catalog.quotes())
    assert compiled(tmp_path) == [f"catalog-{VERSION}-{catalog.digest}.sqlite"], "one file, nothing half made beside it"


@pytest.mark.parametrize("damage", ["truncate", "empty", "noise", "other version"])
def test_a_damaged_file_is_made_again(made, tmp_path, damage):
    cache = tmp_path / "cache"
    whole = Catalog.read(made.target, cache)
    expected = whole.quotes()
    (path,) = cache.glob("*.sqlite")
    content = path.read_bytes()
    spoiled = {
        "truncate": content[: len(content) // 2],
        "empty": b"",
        "noise": b"SQLite format 3\0" + b"x" * 5000,
        "other version": content[:60] + (99).to_bytes(4, "big") + content[64:],
    }[damage]
    path.write_bytes(spoiled)
    assert Catalog.read(made.target, cache).quotes() == expected
    assert path.read_bytes() == content


def test_a_file_that_breaks_under_an_open_catalogue_is_made_again(made, tmp_path):
    cache = tmp_path / "cache"
    open_catalog = Catalog.read(made.target, cache)
    (path,) = cache.glob("*.sqlite")
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    assert len(open_catalog.quotes()) == 4
    assert path.read_bytes() == content


def test_a_cache_that_cannot_be_written_is_not_needed(made, tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert len(Catalog.read(made.target, in_the_way / "cache").quotes()) == 4
    assert len(Catalog.read(made.target, Path("/dev/null/cache")).quotes()) == 4


def test_a_changed_row_is_another_catalogue(made, tmp_path):
    cache = tmp_path / "cache"
    before = Catalog.read(made.target, cache)
    prices = made.target / "providers/acme/prices.csv"
    prices.write_text(prices.read_text().replace("8.5,USD", "7.5,USD"))
    after = Catalog.read(made.target, cache)
    assert after.digest != before.digest
    assert (before.quotes()[-1].price.price_per_hour, after.quotes()[-1].price.price_per_hour) == (8.5, 7.5)


@pytest.fixture
def settled(monkeypatch):
    """Files count as settled at once; only the clock's tick could hide a change then, so tests wait for the next."""
    monkeypatch.setattr(database, "SETTLED_NS", -(10**18))


def next_tick(path):
    """Waits until a change of a file beside `path` would show in its times."""
    probe = path.with_name("probe")
    probe.write_text("")
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.write_text("")
    probe.unlink()


@pytest.mark.usefixtures("settled")
def test_an_unchanged_folder_is_not_read_again(made, tmp_path, monkeypatch):
    before = Catalog.read(made.target, tmp_path / "cache")
    monkeypatch.setattr(database, "hash_catalog", lambda _: pytest.fail("read again"))
    after = Catalog.read(made.target, tmp_path / "cache")
    assert after.digest == before.digest
    assert after.quotes() == before.quotes()


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("edit", ["in place", "replaced", "times set back", "another size"])
def test_an_edited_price_is_never_served_stale(made, tmp_path, edit):
    cache, prices = tmp_path / "cache", made.target / "providers/acme/prices.csv"
    before = Catalog.read(made.target, cache)
    was, text = prices.stat(), prices.read_text()
    next_tick(prices)
    changed = text.replace("8.5,USD", "12.25,USD" if edit == "another size" else "7.5,USD")
    if edit == "replaced":
        other = prices.with_name("other.csv")
        other.write_text(changed)
        other.replace(prices)
    else:
        prices.write_text(changed)
    if edit in ("times set back", "replaced"):
        os.utime(prices, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert (prices.stat().st_mtime_ns, prices.stat().st_size) == (was.st_mtime_ns, was.st_size)
    after = Catalog.read(made.target, cache)
    assert after.digest == hash_catalog(CatalogLayout.of(made.target)) != before.digest
    assert after.quotes()[-1].price.price_per_hour == (12.25 if edit == "another size" else 7.5)


@pytest.mark.usefixtures("settled")
def test_a_provider_more_or_less_is_another_catalogue(made, tmp_path):
    cache = tmp_path / "cache"
    one = Catalog.read(made.target, cache)
    shutil.copytree(made.target / "providers/acme", made.target / "providers/zeus")
    facts = made.target / "providers/zeus/provider.toml"
    facts.write_text(facts.read_text().replace('name = "acme"', 'name = "zeus"'))
    two = Catalog.read(made.target, cache)
    assert (one.providers, two.providers) == (("acme",), ("acme", "zeus"))
    shutil.rmtree(made.target / "providers/zeus")
    assert Catalog.read(made.target, cache).providers == ("acme",)


def test_what_changed_a_moment_ago_is_not_trusted(made, tmp_path):
    assert database.stamp_catalog(CatalogLayout.of(made.target)) == "", "another change may share its tick of the clock"
    Catalog.read(made.target, tmp_path / "cache")
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".sqlite"]


@pytest.mark.usefixtures("settled")
def test_a_missing_file_has_no_stamp(made):
    assert database.stamp_catalog(CatalogLayout.of(made.target))
    (made.target / "data/systems.csv").unlink()
    assert database.stamp_catalog(CatalogLayout.of(made.target)) == ""


@pytest.mark.usefixtures("settled")
def test_a_damaged_note_is_made_again(made, tmp_path):
    cache = tmp_path / "cache"
    digest = Catalog.read(made.target, cache).digest
    (note,) = cache.glob("seen-*")
    for content in (b"", b"\xff\xfe", b"0123456789abcdef\nelsewhere"):
        note.write_bytes(content)
        assert Catalog.read(made.target, cache).digest == digest


def test_equal_content_has_an_equal_digest_wherever_it_lies(made, tmp_path):
    copy = tmp_path / "elsewhere"
    shutil.copytree(made.target, copy)
    assert hash_catalog(CatalogLayout.of(copy)) == hash_catalog(CatalogLayout.of(made.target))


def test_a_bad_row_stops_the_compile_and_leaves_no_file(made, tmp_path):
    prices = made.target / "providers/acme/prices.csv"
    text = prices.read_text()
    prices.write_text(text.replace("8.5,USD", "-8.5,USD").replace("there-1,", "nowhere-1,"))
    with pytest.raises(InvalidSnapshot) as caught:
        Catalog.read(made.target, tmp_path / "cache")
    assert any(f.startswith("acme/prices.csv:") and "price_per_hour is '-8.5'" in f for f in caught.value.faults)
    assert any("region 'nowhere-1' is not in regions.csv" in f for f in caught.value.faults)
    assert not (tmp_path / "cache").exists()


def test_old_compiled_files_go(made, tmp_path):
    cache = tmp_path / "cache"
    prices = made.target / "providers/acme/prices.csv"
    text = prices.read_text()
    for number in range(MAX_CACHED_FILES + 3):
        prices.write_text(text.replace("8.5,USD", f"{9 + number},USD"))
        Catalog.read(made.target, cache)
    assert len(compiled(cache)) == MAX_CACHED_FILES


def test_threads_share_one_catalogue(catalog):
    fresh = Catalog.read(ROOT, catalog._cache)
    found: list[list[object]] = []
    threads = [Thread(target=lambda: found.append(fresh.quotes(accelerators=["L4-24GB"]))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(quotes == found[0] for quotes in found)


def test_where_the_cache_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "gpu-planner"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "gpu-planner"
