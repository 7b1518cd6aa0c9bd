"""Drills of `planner prices refresh`: killed at any moment, a full disk, a folder that is read-only, two at once.

After each the last good prices are in use, whole and readable; the next refresh lands and clears what was left.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from planner.cli._exit_codes import run
from pricing.catalog.price_catalog import Catalog

pytestmark = pytest.mark.slow
P5 = ("aws", "us-east-1", "p5.48xlarge", "on_demand")
LISTED = "55.0400000000"
KILLS = 20
SEED = 20261122


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the snapshots of AWS; nothing is in it yet."""
    monkeypatch.setenv("GPU_PLANNER_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data" / "snapshots" / "aws"


@pytest.fixture
def start(aws, account, refresh) -> Callable[..., subprocess.Popen[str]]:
    """start(price) begins a refresh in a process of its own, which reads that price of P5."""
    url, products = aws().cloud.url, account.products[0]
    command = [str(Path(sys.executable).with_name("planner")), *refresh(url)]

    def begin(price: float, **how: object) -> subprocess.Popen[str]:
        account.products = [[text.replace(LISTED, f"{price:.10f}") for text in products]]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)

    return begin


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    assert "Traceback" not in err
    return process.returncode, out, err


def price_in_use() -> float:
    """Read as every command reads it: compiled from the files."""
    return next(q.price.price_per_hour for q in Catalog.current().quotes(instance_types=[P5[2]]) if q.price.key == P5)


def assert_whole(place: Path) -> str:
    """Every snapshot in the log has what its manifest says; the last of them."""
    names = (place / "current").read_text().split()
    for name in names:
        manifest = tomllib.loads((place / name / "snapshot.toml").read_text())
        for table, checksum in manifest["sha256"].items():
            assert sha256((place / name / table).read_bytes()).hexdigest() == checksum, f"{name}/{table}"
    return names[-1]


def assert_cleared(place: Path) -> None:
    """Nothing half made is left."""
    left = {path.name for path in place.iterdir() if not path.name.startswith("20")}
    assert left <= {".lock", "current", "quarantine.csv"}


def test_killed_at_twenty_random_moments(place, start, capfd):
    """The moments are seeded: half of them anywhere, half in the last third, where the snapshot is written."""
    begun = time.monotonic()
    assert finish(start(50.0))[0] == 0
    whole_s, moments = time.monotonic() - begun, random.Random(SEED)
    good, killed, landed = 50.0, 0, 1
    for number in range(KILLS):
        new = 51.0 + number / 10
        process = start(new)
        moment = moments.uniform(0.65 if number % 2 else 0.05, 1.0) * whole_s
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        code, out, err = finish(process)
        assert code in (0, -signal.SIGKILL), err
        killed += code != 0
        whole_s = whole_s if code else moment  # the first was slower than this machine can be
        in_use = price_in_use()
        assert in_use in (good, new), "the last good price or, where the kill came too late, the new one"
        assert in_use == new or code != 0, out
        landed += in_use == new
        good = in_use
        assert_whole(place)
    assert killed >= KILLS // 2, "most kills came before the end"
    assert finish(start(60.0))[0] == 0
    assert price_in_use() == 60.0
    assert_cleared(place)
    assert len((place / "current").read_text().split()) == landed + 1
    assert run(["prices", "diff", "previous", "current", "--provider", "aws"]) == 0
    told = capfd.readouterr().out
    assert f"{good:.4f}" in told
    assert "60.0000" in told


@pytest.fixture
def disk(place: Path) -> Iterator[Callable[[str], None]]:
    """The data folder on a file system of its own; disk("size=8m"), disk("ro") change it."""
    data = place.parents[1]
    data.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", data], check=False, capture_output=True).returncode:
        # Only the superuser mounts; the drill of a file that may not grow stands for a full disk elsewhere.
        pytest.skip("no right to mount a file system")

    def change(options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", data], check=True)

    yield change
    subprocess.run(["umount", "--lazy", data], check=True)


def assert_failed_and_kept(process: subprocess.Popen[str], place: Path, said: str) -> None:
    code, out, err = finish(process)
    assert code == 4, out + err
    assert "aws: not refreshed, the last good snapshot stays in use" in out
    assert "planner: aws: 1 part not read: not written" in err
    assert said in err
    assert "GPU_PLANNER_DATA" in err
    assert price_in_use() == 50.0
    assert assert_whole(place).endswith("-001")
    assert_cleared(place)


@pytest.mark.parametrize("free_kib", [0, 4, 64, 320])
def test_a_disk_that_is_full(place, disk, start, free_kib):
    """From no room for the list of what is held to no room for the last tables."""
    assert finish(start(50.0))[0] == 0
    used = subprocess.run(["du", "-sk", place.parents[1]], capture_output=True, text=True, check=True)
    disk(f"size={int(used.stdout.split()[0]) + free_kib}k")
    assert_failed_and_kept(start(51.0), place, "No space left on device")
    disk("size=1g")
    assert finish(start(52.0))[0] == 0
    assert price_in_use() == 52.0
    assert run(["prices", "diff", "previous", "current", "--provider", "aws"]) == 0


def test_a_disk_that_is_read_only(place, disk, start):
    assert finish(start(50.0))[0] == 0
    disk("ro")
    assert_failed_and_kept(start(51.0), place, "Read-only file system")
    disk("rw")
    assert finish(start(52.0))[0] == 0
    assert price_in_use() == 52.0


# Rights bind everyone but the superuser, for whom the read-only mount above is the same drill.
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_without_the_right_to_write(place, start):
    assert finish(start(50.0))[0] == 0
    place.chmod(0o500)
    assert_failed_and_kept(start(51.0), place, "Permission denied")
    place.chmod(0o700)
    assert finish(start(52.0))[0] == 0


def test_a_file_that_may_not_grow(place, start):
    """As with a quota: the table of prices is larger than any file may be."""
    assert finish(start(50.0))[0] == 0

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    assert_failed_and_kept(start(51.0, preexec_fn=limit), place, "File too large")
    assert finish(start(52.0))[0] == 0
    assert price_in_use() == 52.0


def test_five_at_once(place, start):
    """Each lands or says that another is at work; what is in use is what one of them wrote, whole."""
    assert finish(start(50.0))[0] == 0
    ended = [finish(process) for process in [start(51.0) for _ in range(5)]]
    codes = sorted(code for code, *_ in ended)
    assert codes[0] == 0
    assert set(codes) <= {0, 4}
    assert all("busy: another refresh or import of aws is at work" in err for code, _, err in ended if code)
    assert price_in_use() == 51.0
    assert assert_whole(place).endswith("-002"), "those that came later read the same and changed nothing"
    assert_cleared(place)
