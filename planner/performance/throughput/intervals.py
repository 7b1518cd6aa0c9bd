"""Intervals of predictions that hold 80 % of cases, read off cases that were left out of the fit.

Both models write what is measured over what is predicted as a logarithm. data/intervals.csv has the steps of
predictions from measurements: the 80th percentile of |ln(predicted / measured)| by kind of step, of sources left out
(of benchmarks for steps to another count); steps to another accelerator and to another count are taken as independent,
so that their squares add. network_estimates/intervals.csv
has low and high of actual over predicted for jobs described by their network.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import astuple
from functools import cache
from pathlib import Path

from planner.performance.throughput.accelerator_scores import Coefficients, read_table
from planner.request.models import WorkFamily
from pricing.accelerator import Accelerator
from pricing.csv_tables import format_table
from pricing.frozen_values import dataclass

STEPS_FILE = Path(__file__).parent / "data" / "intervals.csv"
ESTIMATES_FILE = Path(__file__).parent / "network_estimates" / "intervals.csv"
FAR_DOUBLINGS = 3.0
"""Doublings from which a step to another count is a far one."""
STEPS = (
    "same_architecture", "same_vendor", "across_vendors", "architecture_not_fitted",
    "stream_same_architecture", "stream_same_vendor", "stream_across_vendors", "stream_architecture_not_fitted",
    "weak", "weak_far", "strong", "strong_far", "time_to_train", "time_to_train_far", "replicas", "stream",
)  # fmt: skip
STREAM_FAMILIES = ("prefill", "decode")
STREAM_STEP = "stream_"
"""Begins the steps to another accelerator of one stream, which err more: its results are of one source."""
MEASURED, NEW = "measured", "new"
"""Accelerators of an estimate: with public runs, and without."""
ESTIMATE_COLUMNS = ("family", "accelerator", "low", "high", "runs", "groups")


@dataclass(frozen=True, slots=True)
class LogInterval:
    """Bounds of ln(actual / predicted) that hold 80 % of cases."""

    low: float
    high: float

    @classmethod
    def symmetric(cls, spread: float) -> LogInterval:
        return cls(-spread, spread)

    @classmethod
    def combine(cls, spreads: Iterable[float]) -> LogInterval:
        """Of independent steps, each with its spread: squares add."""
        return cls.symmetric(math.sqrt(math.fsum(spread**2 for spread in spreads)))

    def holds(self, log_ratio: float) -> bool:
        return self.low <= log_ratio <= self.high

    def around(self, rate: float, maximum: float = math.inf) -> tuple[float, float]:
        """The bounds of a predicted rate, the upper one at most `maximum`."""
        return rate * math.exp(self.low), min(maximum, rate * math.exp(self.high))


@dataclass(frozen=True, slots=True)
class EstimateInterval:
    """Actual over predicted, low and high of 80 %, of a family of work on accelerators with or without public runs
    (MEASURED, NEW); from `runs` runs of `groups` benchmark groups."""

    family: str
    accelerator: str
    low: float
    high: float
    runs: int
    groups: int

    @property
    def log_interval(self) -> LogInterval:
        return LogInterval(math.log(self.low), math.log(self.high))


def accelerator_step(base: Accelerator, target: Accelerator, family: WorkFamily, known: Coefficients) -> str:
    """The kind of step from one accelerator to another: its distance, or that an architecture is not in the fit; of
    one stream of tokens, or of all other work."""
    fitted = all(("architecture", part.architecture) in known for part in (base, target))
    step = accelerator_distance(base, target) if fitted else "architecture_not_fitted"
    return f"{STREAM_STEP}{step}" if family in STREAM_FAMILIES else step


def accelerator_distance(base: Accelerator, target: Accelerator) -> str:
    """same_architecture, same_vendor or across_vendors."""
    if base.architecture == target.architecture:
        return "same_architecture"
    return "same_vendor" if base.vendor == target.vendor else "across_vendors"


def count_step(scaling: str, start: float, end: float) -> str:
    """The kind of step from one count to another; single streams were measured on near counts only."""
    far = f"{scaling}_far"
    return far if far in STEPS and abs(math.log2(end / start)) > FAR_DOUBLINGS else scaling


def step_interval(steps: Iterable[str]) -> LogInterval:
    """The interval of a prediction that takes these kinds of steps."""
    table = load_spreads()
    return LogInterval.combine(table[step] for step in steps)


@cache
def load_spreads() -> dict[str, float]:
    """Half the width of the interval as a logarithm, by kind of step."""
    return {row["step"]: float(row["log_spread"]) for row in read_table(STEPS_FILE, ("step", "log_spread"))}


@cache
def load_estimate_intervals() -> dict[tuple[str, str], EstimateInterval]:
    """By family of work, and MEASURED or NEW."""
    rows = [
        EstimateInterval(
            row["family"],
            row["accelerator"],
            float(row["low"]),
            float(row["high"]),
            int(row["runs"]),
            int(row["groups"]),
        )
        for row in read_table(ESTIMATES_FILE, ESTIMATE_COLUMNS)
    ]
    return {(row.family, row.accelerator): row for row in rows}


def estimates_csv(rows: Iterable[EstimateInterval]) -> str:
    return format_table(ESTIMATE_COLUMNS, [[str(cell) for cell in astuple(row)] for row in rows])
