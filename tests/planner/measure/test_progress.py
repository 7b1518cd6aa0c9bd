"""Work done so far: from lines, from a file, from the hook; and that the hook costs a job nothing it would notice."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner.measure.progress_hook
from planner.measure.progress_sources import POINTS_MAX, CounterFile, HookFile, OutputLines, WorkSeries, compile_pattern
from planner.request.errors import InputProblem


def lines(pattern: str, *fed: tuple[float, bytes]) -> OutputLines:
    found = OutputLines(re.compile(pattern))
    for at, data in fed:
        found.feed(1, data, at)
    return found


def test_units_of_lines_add_up():
    found = lines(r"(?P<units>\d+) samples", (1, b"step 1: 32 samples\n"), (2, b"step 2: 16 sam"), (3, b"ples\nx\n"))
    assert found.series.points == [(1, 32), (3, 48)]
    assert found.matched == 2


def test_a_total_stands_as_it_is():
    found = lines(r"seen (?P<total>[\d,.]+)", (1, b"seen 1,000\n"), (2, b"seen 2,500.5\n"))
    assert found.series.points == [(1, 1000), (2, 2500.5)]


def test_a_rate_held_since_the_line_before():
    """200 a second over the second from 1 to 2, 300 over the two to 4: 200, then 800 in all."""
    found = lines(r"(?P<rate>\d+)/s", (1, b"100/s\n"), (2, b"200/s\n"), (4, b"300/s\n"))
    assert found.series.points == [(1, 0), (2, 200), (4, 800)]


def test_a_progress_bar_writes_over_its_line():
    found = lines(r"(?P<total>\d+)/100", (1, b"\x1b[32m 10/100\x1b[0m\r 20/100"), (2, b"\r 30/100\r"))
    assert found.series.points == [(1, 10), (2, 20), (2, 30)]


def test_streams_are_not_mixed():
    found = OutputLines(re.compile(r"(?P<total>\d+)"))
    found.feed(1, b"1", 1)
    found.feed(2, b"99\n", 2)
    found.feed(1, b"00\n", 3)
    assert found.series.points == [(2, 99), (3, 100)]


def test_what_does_not_count_is_counted():
    found = lines(
        r"(?P<total>\S+) units", (1, b"10 units\n"), (2, b"nan units\n"), (3, b"many units\n"), (4, b"5 units\n")
    )
    assert found.series.points == [(1, 10)]
    assert found.series.dropped == 3


def test_the_first_lines_are_kept_for_who_asks_why_nothing_matched():
    found = lines("(?P<units>x)", *[(n, f"line {n}\n".encode()) for n in range(9)])
    assert found.matched == 0
    assert found.first == [f"line {n}" for n in range(5)]


@given(st.binary(max_size=300), st.lists(st.integers(1, 299), max_size=5))
def test_any_bytes_in_any_pieces_read_the_same(data, cuts):
    whole, parts = OutputLines(re.compile(r"(?P<units>\d+)")), OutputLines(re.compile(r"(?P<units>\d+)"))
    whole.feed(1, data, 1.0)
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    for left, right in itertools.pairwise(edges):
        parts.feed(1, data[left:right], 1.0)
    assert parts.series.points == whole.series.points


@pytest.mark.parametrize("bad", ["(", "no group", "(?P<speed>x)", "(?P<units>x)(?P<rate>y)"])
def test_a_pattern_must_tell_one_thing(bad):
    assert isinstance(compile_pattern(bad), InputProblem)
    assert "(?P<units>" in compile_pattern(bad).expected


def test_a_series_that_grows_for_days_stays_small():
    series = WorkSeries()
    for number in range(3 * POINTS_MAX):
        series.add(float(number), float(number))
    assert len(series.points) <= POINTS_MAX
    assert series.points[0] == (0, 0)
    assert series.points[-1] == (3 * POINTS_MAX - 1, 3 * POINTS_MAX - 1)
    assert all(at == total for at, total in series.points)


def test_a_file_that_is_appended_to_or_written_anew(tmp_path):
    path = tmp_path / "done"
    path.write_text("7000\n")  # of the run before
    counter = CounterFile(path)
    counter.poll(time.monotonic())
    assert counter.series.points == []
    for text in ("step 1 done 10\n", "step 1 done 10\nstep 2 done 30\n", "45"):
        path.write_text(text)
        os.utime(path, ns=(time.time_ns(), time.time_ns()))
        counter.poll(time.monotonic())
    assert [total for _, total in counter.series.points] == [10, 30, 45]
    times = [at for at, _ in counter.series.points]
    assert times == sorted(times)


def test_a_file_that_is_not_there_or_holds_no_number(tmp_path):
    counter = CounterFile(tmp_path / "done")
    counter.poll(time.monotonic())
    (tmp_path / "done").write_text("soon\n")
    counter.poll(time.monotonic())
    assert counter.series.points == []
    assert counter.series.dropped == 1


REPORT = """
import os, sys
from planner.measure import progress
progress(1); progress(2)
if os.fork() == 0:
    progress(10)
    sys.exit()
os.wait()
"""


def run(code: str, **more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", code]
    return subprocess.run(words, env={**os.environ, **more}, check=True, capture_output=True, text=True)


def test_processes_of_a_job_add_up(tmp_path):
    path = tmp_path / "progress"
    path.touch()
    listener = HookFile(path)
    before = time.monotonic()
    run(REPORT, PLANNER_PROGRESS=str(path))
    listener.poll(0.0)
    listener.close()
    points = listener.series.points
    assert points[-1][1] == 13  # 1 + 2 in the parent, told at its end at the latest; 10 in the child, not 13
    assert before <= points[0][0] <= points[-1][0] <= time.monotonic()


def test_nobody_listens(tmp_path):
    run(REPORT)
    run(REPORT, PLANNER_PROGRESS=str(tmp_path / "gone" / "away"))


def test_the_hook_loads_nothing_of_the_planner():
    code = "import sys; from planner.measure import progress; print(*sys.modules)"
    loaded = run(code).stdout.split()
    ours = {name for name in loaded if name.partition(".")[0] in ("planner", "pricing", "pydantic", "numpy", "click")}
    assert ours == {"planner", "planner.measure", "planner.measure.progress_hook"}


def test_the_hook_may_be_copied_beside_a_job(tmp_path):
    (tmp_path / "hook.py").write_bytes(Path(planner.measure.progress_hook.__file__).read_bytes())
    (tmp_path / "progress").touch()
    code = "from hook import progress; progress(4)"
    subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, check=True, env={"PLANNER_PROGRESS": "progress"})
    assert (tmp_path / "progress").read_text().split()[2] == "4"


def test_a_broken_line_of_the_hook_is_no_end(tmp_path):
    path = tmp_path / "progress"
    path.write_bytes(b"1 1000000000 5\nnonsense\n1 2000000000 6\n1 300")
    listener = HookFile(path)
    listener.poll(0.0)
    listener.close()
    assert listener.series.points == [(1.0, 5.0), (2.0, 6.0)]
    assert listener.series.dropped == 1


def test_the_file_of_the_hook_does_not_fill_a_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("planner.measure.progress_sources.HOOK_BYTES_MAX", 20)
    path = tmp_path / "progress"
    path.write_bytes(b"1 1000000000 5\n1 2000000000 6\n")
    listener = HookFile(path)
    listener.poll(0.0)
    assert path.stat().st_size == 0
    with path.open("ab") as job:
        job.write(b"1 3000000000 9\n")
    listener.poll(0.0)
    listener.close()
    assert listener.series.points == [(1.0, 5.0), (2.0, 6.0), (3.0, 9.0)]
