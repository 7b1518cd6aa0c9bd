"""How far actual and predicted lie apart in 80 of 100 cases: the table that errors.py makes, read."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "intervals.csv"


@dataclass(frozen=True, slots=True)
class EstimateInterval:
    """Actual over predicted, low and high of 80 %, of a family where the accelerator has public runs or has none;
    from `runs` runs of `groups` benchmark groups."""

    family: str
    accelerator: str
    low: float
    high: float
    runs: int
    groups: int


MEASURED, NEW = "measured", "new"
"""The two kinds of accelerator."""


@cache
def load_intervals() -> dict[tuple[str, str], EstimateInterval]:
    """By family and kind of accelerator."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [
            EstimateInterval(
                row["family"],
                row["accelerator"],
                float(row["low"]),
                float(row["high"]),
                int(row["runs"]),
                int(row["groups"]),
            )
            for row in csv.DictReader(file)
        ]
    return {(row.family, row.accelerator): row for row in rows}
