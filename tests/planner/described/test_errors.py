"""The intervals shipped are those of the runs shipped, and hold what they promise on runs left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.performance.throughput.intervals import ESTIMATES_FILE, load_estimate_intervals
from planner.performance.throughput.result_errors import Residual, weighted_quantile
from tools.throughput.__main__ import main
from tools.throughput.described_jobs import (
    conformal_interval,
    error_table,
    format_table,
    intervals_csv,
    validate_runs,
)

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "described.md"


@pytest.fixture(scope="module")
def table(measurements):
    return {(row.title, left_out): row for left_out, row in error_table(measurements)}


def test_the_intervals_are_those_of_the_runs(measurements):
    """If not: python -m tools.throughput --networks."""
    assert ESTIMATES_FILE.read_text(encoding="utf-8") == intervals_csv(measurements)


@pytest.mark.slow
def test_80_percent_is_75_to_85_percent_of_training_left_out(table):
    assert 0.75 <= table["training", "benchmark group"].covered <= 0.85
    assert 0.75 <= table["training", "source"].covered <= 0.85


@pytest.mark.slow
def test_a_described_job_is_told_to_within_a_quarter_in_the_median(table):
    assert table["training", "source"].median < 0.25
    assert table["training, 1B and more", "source"].median < 0.22
    assert table["training, 1B and more", "source"].p90 < 0.45


@pytest.mark.slow
def test_every_kind_has_a_line_for_all_that_can_be_left_out(table):
    trained = {kind for kind, left_out in table if left_out == "source"}
    assert trained == {"training", "training, 1B and more", "training, below 1B", "LoRA"}
    assert {kind for kind, _ in table} - trained == {"prefill", "decode"}


def test_a_run_is_not_told_by_what_is_left_out(runs):
    """Without runs of other groups there is no prediction."""
    assert validate_runs([runs[0]], lambda run: (run.group,)) == []


def test_quantile_by_hand():
    """Weights 1, 2, 1 at 5, 7, 9: half of 4 is passed at 7, nine tenths at 9, a quarter at 5."""
    values, weights = [9.0, 5.0, 7.0], [1.0, 1.0, 2.0]
    assert [weighted_quantile(values, level, weights) for level in (0.25, 0.5, 0.9)] == [5, 7, 9]


def test_bounds_widen_for_the_group_that_is_asked(runs):
    """Four groups with the same 100 misses 1 .. 100: 80 % x 5 / 4 is all of them, of which 3 % at either end are left
    out: 3 and 97."""
    groups = list(dict.fromkeys(run.group for run in runs))[:4]
    first = [next(run for run in runs if run.group == group) for group in groups]
    interval = conformal_interval([Residual(run, run.group, -float(n)) for run in first for n in range(1, 101)])
    assert (interval.low, interval.high) == (3, 97)


@pytest.mark.slow
def test_the_guide_shows_the_table_and_the_intervals_as_they_are(measurements):
    guide = GUIDE.read_text(encoding="utf-8")
    assert "\n".join(format_table(measurements)) in guide
    for row in load_estimate_intervals().values():
        assert f"| {row.family} | {row.accelerator} | {row.low:g} | {row.high:g} | {row.runs} | {row.groups} |" in guide


@pytest.mark.slow
def test_the_command_prints_the_table_and_finds_the_intervals_fresh(measurements, capsys):
    assert main(["--networks", "--errors"]) == 0
    assert capsys.readouterr().out == "\n".join(format_table(measurements)) + "\n"
    assert main(["--networks", "--check"]) == 0
    assert capsys.readouterr().out == ""
