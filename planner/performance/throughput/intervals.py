"""How far a prediction is from what was measured in 80 % of cases: factors read off cases that the fit had not seen.

data/intervals.csv has, for each kind of step, the 80th percentile of |ln(predicted / measured)| over groups left out.
A step to another accelerator and one to another count are taken as independent: their squares add.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from planner.performance.throughput.accelerator_scores import Coefficients
from pricing.accelerator import Accelerator

FILE = Path(__file__).parent / "data" / "intervals.csv"
FAR_DOUBLINGS = 3.0
"""Doublings from which a step to another count is a far one."""
STEPS = (
    "same_architecture", "same_vendor", "across_vendors", "accelerator_not_fitted", "architecture_not_fitted",
    "weak", "weak_far", "strong", "strong_far", "time_to_train", "time_to_train_far", "replicas", "replicas_far",
    "stream",
)  # fmt: skip


def accelerator_step(base: Accelerator, target: Accelerator, known: Coefficients) -> str:
    """Which kind of step it is from one accelerator to another, by what the coefficients were fitted on."""
    if not all(("architecture", part.architecture) in known for part in (base, target)):
        return "architecture_not_fitted"
    if not all(("accelerator", part.name) in known for part in (base, target)):
        return "accelerator_not_fitted"
    if base.architecture == target.architecture:
        return "same_architecture"
    return "same_vendor" if base.vendor == target.vendor else "across_vendors"


def count_step(scaling: str, start: float, end: float) -> str:
    """Which kind of step it is from one count to another; of one stream nothing far was measured."""
    far = f"{scaling}_far"
    return far if far in STEPS and abs(math.log2(end / start)) > FAR_DOUBLINGS else scaling


def combined_spread(steps: tuple[str, ...]) -> float:
    """Half the width of the interval as a logarithm: the prediction divided and multiplied by exp of it."""
    table = load_spreads()
    return math.sqrt(math.fsum(table[step] ** 2 for step in steps))


def spreads_csv(table: Mapping[str, float]) -> str:
    return "\n".join(["step,log_spread", *(f"{step},{table[step]:.4f}" for step in STEPS)]) + "\n"


@cache
def load_spreads() -> dict[str, float]:
    with FILE.open(newline="", encoding="utf-8") as file:
        return {row["step"]: float(row["log_spread"]) for row in csv.DictReader(file)}
