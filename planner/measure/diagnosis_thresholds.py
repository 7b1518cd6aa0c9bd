"""Thresholds of the diagnosis: thresholds.csv, each with its meaning and its reason."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Threshold(NamedTuple):
    """A row of thresholds.csv."""

    value: float
    unit: str
    meaning: str
    source: str


@cache
def load_thresholds() -> dict[str, Threshold]:
    """Every threshold by name."""
    text = resources.files("planner.measure").joinpath("thresholds.csv").read_text(encoding="utf-8")
    return {
        row["name"]: Threshold(float(row["value"]), row["unit"], row["meaning"], row["source"])
        for row in csv.DictReader(text.splitlines())
    }


def threshold_value(name: str) -> float:
    """The value of one."""
    return load_thresholds()[name].value
