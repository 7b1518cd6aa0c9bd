"""Predictions of many workloads on many accelerators in one call: the same numbers as `predict`, as arrays.

The score of an accelerator depends on the family of work and the precision only, so it is told once for each, and a
prediction is a difference of two of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from planner.performance.throughput import MeasuredRate
from planner.performance.throughput.accelerator_scores import accelerator_score, load_coefficients
from planner.performance.throughput.intervals import accelerator_step, count_step
from planner.performance.throughput.intervals import load_spreads as spreads
from planner.performance.throughput.scaling import log_efficiency
from pricing.accelerator import Accelerator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Predictions(NamedTuple):
    """Work units per hour of a gang and the bounds of 80 % of cases, each (workloads, accelerators); NaN is unknown."""

    units_per_hour: Floats
    low: Floats
    high: Floats


def predict_many(known: Sequence[MeasuredRate], targets: Sequence[Accelerator], gangs: Sequence[float]) -> Predictions:
    """What `predict([known[i]], targets[j], gangs[i])` gives for every i and j: one measurement a workload."""
    import numpy as np

    families = sorted({(one.family, one.precision) for one in known})
    parts = sorted({one.accelerator.name: one.accelerator for one in known}.items())
    to = np.array([[accelerator_score(target, *pair) for target in targets] for pair in families])
    origin = np.array([[accelerator_score(part, *pair) for _, part in parts] for pair in families])
    steps = np.array([[_accelerator_spread(part, target) for target in targets] for _, part in parts])
    same = np.array([[part.name == target.name for target in targets] for _, part in parts])

    pair = np.array([families.index((one.family, one.precision)) for one in known])
    place = {name: number for number, (name, _) in enumerate(parts)}
    part = np.array([place[one.accelerator.name] for one in known])
    counts = np.array([_count_prediction(one, gang) for one, gang in zip(known, gangs, strict=True)])
    log = np.where(same[part], 0.0, to[pair] - origin[pair, part][:, None])
    value = np.exp(log + counts[:, :1])
    width = np.exp(np.sqrt(steps[part] ** 2 + counts[:, 1:] ** 2))
    return Predictions(value, value / width, value * width)


def _accelerator_spread(part: Accelerator, target: Accelerator) -> float:
    return 0.0 if part.name == target.name else spreads()[accelerator_step(part, target, load_coefficients())]


def _count_prediction(one: MeasuredRate, gang: float) -> tuple[float, float]:
    """The logarithm of what the gang does on the accelerator measured, and how sure that is."""
    log = math.log(one.units_per_hour * gang / one.count)
    if gang == one.count:
        return log, 0.0
    log_gain = log_efficiency(one.scaling, one.family, one.count, gang)
    return log + log_gain, spreads()[count_step(one.scaling, one.count, gang)]
