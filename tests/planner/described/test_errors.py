"""The intervals shipped are those of the runs shipped, and hold what they promise on runs left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.described import error_table
from planner.described.__main__ import lines
from planner.described.errors import Miss, bounds, intervals_csv, misses, quantile
from planner.described.intervals import TABLE, intervals

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "described.md"


@pytest.fixture(scope="module")
def rows(measurements):
    return error_table(measurements)


@pytest.fixture(scope="module")
def table(rows):
    return {(row.kind, row.left_out): row for row in rows}


def test_the_intervals_are_those_of_the_runs(measurements):
    """If not: python -m planner.described --write."""
    assert TABLE.read_text(encoding="utf-8") == intervals_csv(measurements)


def test_80_percent_is_75_to_85_percent_of_training_left_out(table):
    assert 0.75 <= table["training", "benchmark group"].coverage <= 0.85
    assert 0.75 <= table["training", "source"].coverage <= 0.85


def test_a_described_job_is_told_to_within_a_quarter_in_the_median(table):
    assert table["training", "source"].median < 0.25
    assert table["training, 1B and more", "source"].median < 0.22
    assert table["training, 1B and more", "source"].p90 < 0.45


def test_every_kind_has_a_line_for_all_that_can_be_left_out(table):
    trained = {kind for kind, left_out in table if left_out == "source"}
    assert trained == {"training", "training, 1B and more", "training, below 1B", "LoRA"}
    assert {kind for kind, _ in table} - trained == {"prefill", "decode"}


def test_a_run_is_not_told_by_what_is_left_out(runs):
    """Left alone with itself, nothing is left to tell it by."""
    assert misses([runs[0]], lambda a, b: a.group == b.group) == []


def test_quantile_by_hand():
    """Weights 1, 2, 1 at 5, 7, 9: half of 4 is passed at 7, nine tenths at 9, a quarter at 5."""
    weighed = [(9.0, 1.0), (5.0, 1.0), (7.0, 2.0)]
    assert [quantile(weighed, level) for level in (0.25, 0.5, 0.9)] == [5, 7, 9]


def test_bounds_widen_for_the_group_that_is_asked(runs):
    """Four groups with the same 100 misses 1 .. 100: 80 % x 5 / 4 is all of them, of which 3 % at either end are left
    out: 3 and 97."""
    groups = list(dict.fromkeys(run.group for run in runs))[:4]
    first = [next(run for run in runs if run.group == group) for group in groups]
    found = [Miss(run, float(n)) for run in first for n in range(1, 101)]
    assert bounds(found) == (3, 97)


def test_the_guide_shows_the_table_and_the_intervals_as_they_are(measurements, rows, monkeypatch):
    monkeypatch.setattr("planner.described.__main__.error_table", lambda _: rows)  # it takes seconds
    guide = GUIDE.read_text(encoding="utf-8")
    assert "\n".join(lines(measurements)) in guide
    for row in intervals().values():
        assert f"| {row.family} | {row.accelerator} | {row.low:g} | {row.high:g} | {row.runs} | {row.groups} |" in guide
