"""Real files damaged in thousands of ways: each is read, planned or refused in words, in bounded memory and time.

`pytest -m slow -s tests/fuzz` prints what became of each batch. A fault names its seed: `child.py sheets SEED 1` is it
again, and with FUZZ_KEEP=FOLDER its bytes are kept there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("child.py")
PEAK_MIB = 1_400
"""What a whole batch may fill at most: the engine of bills takes up to 1,000 for itself."""
SECONDS = 6_000
"""A batch takes minutes; what stands still is ended."""
SHEETS, OF_SHEETS = 4_500, 125
BILLS, OF_BILLS = 1_500, 25
"""Files, and files in one process: the engine of bills keeps memory of those before, which a reader's process ends."""
SMALL = {"sheets": 6, "bills": 3}
"""Files in the tests of every day."""


def told(kind: str, seed: int, count: int) -> None:
    command = [sys.executable, str(CHILD), kind, str(seed), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, f"{kind} from {seed} on: exit {done.returncode}\n{done.stderr[-2000:]}"
    found = json.loads(done.stdout)
    what = f"{kind} {seed:,} to {seed + count - 1:,}: {found['became']}, {found['peak_mib']:,} MiB at most"
    sys.stdout.write(f"{what}\n")
    assert found["faults"] == []
    assert found["files"] == sum(found["became"].values()) == count
    assert found["peak_mib"] < PEAK_MIB


def test_memory_of_the_parent_does_not_count():
    """A process of 300 MiB starts one that holds next to nothing."""
    child = "from child import peak_mib; print(peak_mib())"
    parent = f"import subprocess, sys; held = bytearray(300 << 20); subprocess.run([sys.executable, '-c', {child!r}])"
    done = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, cwd=CHILD.parent, check=True)
    assert 5 < int(done.stdout) < 150


@pytest.mark.parametrize("kind", SMALL)
def test_some_damaged_files(kind: str) -> None:
    told(kind, 0, SMALL[kind])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10_000, 10_000 + SHEETS, OF_SHEETS))
def test_damaged_sheets(seed: int) -> None:
    told("sheets", seed, OF_SHEETS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20_000, 20_000 + BILLS, OF_BILLS))
def test_damaged_bills(seed: int) -> None:
    told("bills", seed, OF_BILLS)
