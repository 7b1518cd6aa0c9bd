"""Gains of published results from mixed precision and from twice the batch, all else equal.

data/tuning_gains.csv has the median and the 10th and 90th percentile of the speed-ups: half precision against the
precision computed at before, by architecture, and a batch of a device against half of it. `python -m tools.throughput`
makes it from the measurements beside it. An architecture with results of one benchmark only has no line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple
from functools import cache
from pathlib import Path

from planner.performance.throughput.accelerator_scores import computed_peak, read_table
from pricing.accelerator import Accelerator
from pricing.csv_tables import format_table
from pricing.frozen_values import dataclass

GAINS_FILE = Path(__file__).parent / "data" / "tuning_gains.csv"
GAIN_COLUMNS = ("change", "architecture", "low", "median", "high", "cases", "groups")
DOUBLED_BATCH = "twice the batch"
MIXED = "half precision from {precision}"
WIDE_PRECISIONS = ("fp32", "tf32")


@dataclass(frozen=True, slots=True)
class TuningGain:
    """Speed-ups of one change: 1.5 is half as much again. `architecture` is empty for all."""

    change: str
    architecture: str
    low: float
    median: float
    high: float
    cases: int
    groups: int


def find_precision_gain(part: Accelerator, precision: str) -> TuningGain | None:
    """The gain of half precision on `part` over `precision`; None where that is narrow, or nothing is published."""
    peak = computed_peak(part, precision)
    if peak is None or peak[0] not in WIDE_PRECISIONS or precision not in WIDE_PRECISIONS:
        return None
    return load_gains().get((MIXED.format(precision=peak[0]), part.architecture))


def find_batch_gain() -> TuningGain | None:
    """The gain of twice the batch of a device."""
    return load_gains().get((DOUBLED_BATCH, ""))


@cache
def load_gains() -> dict[tuple[str, str], TuningGain]:
    """By change and architecture."""
    rows = [
        TuningGain(
            row["change"], row["architecture"], float(row["low"]), float(row["median"]), float(row["high"]),
            int(row["cases"]), int(row["groups"]),
        )
        for row in read_table(GAINS_FILE, GAIN_COLUMNS)
    ]  # fmt: skip
    return {(row.change, row.architecture): row for row in rows}


def gains_csv(rows: Iterable[TuningGain]) -> str:
    return format_table(GAIN_COLUMNS, [[str(cell) for cell in astuple(row)] for row in rows])
