"""Work per hour of a gang of accelerators: measured values as given, others predicted with an interval and said so.

From y measured on n1 accelerators a, for n2 accelerators b:

    y(b, n2) = y(a, n1) * (n2 / n1) * kept(n1 -> n2) * exp(score(b) - score(a))

score.py says what makes an accelerator fast at a family of work, scaling.py what more of them keep, interval.py how far
that was off on work left out of the fit (`python -m tools.throughput` makes all three from public measurements and
prints the errors). Memory is unknown here: candidates check it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.performance.throughput.accelerator_scores import (
    accelerator_score,
    load_coefficients,
    missing_specification,
)
from planner.performance.throughput.intervals import accelerator_step, combined_spread, count_step
from planner.performance.throughput.scaling import log_efficiency
from planner.request.models import Measurement, WorkFamily
from pricing.accelerator import Accelerator

OWN_SCALING_WEIGHT = 0.5
"""Of what the asker's own two counts show against the model, taken at each doubling: the other half stays the model's
(pairs of counts left out of the fit err least with about this)."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Work units per hour of one gang, the bounds of 80 % of cases, and where it comes from (see
    answer.ThroughputUsed)."""

    units_per_hour: float
    low: float
    high: float
    basis: str
    explanation: str


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """A measurement whose accelerator is known: `units_per_hour` of all `count` together."""

    accelerator: Accelerator
    count: float
    units_per_hour: float
    precision: str
    scaling: str
    family: WorkFamily = "training"


def measured_rate(measurement: Measurement, accelerator: Accelerator, family: WorkFamily) -> MeasuredRate:
    """The measurement in the terms of this module: whole job, per hour."""
    return MeasuredRate(
        accelerator,
        measurement.count,
        measurement.job_units_per_hour,
        measurement.precision,
        measurement.scaling,
        family,
    )


@dataclass(frozen=True, slots=True)
class _TransferredRate:
    """One measurement carried to the gang asked for: ln of the ratio, half the interval's width, and how."""

    base: MeasuredRate
    log_ratio: float
    spread: float
    words: str


def predict_throughput(known: Sequence[MeasuredRate], target: Accelerator, gang: float) -> Throughput | str:
    """Throughput of `gang` accelerators `target`, or why it cannot be told.

    Measurements on the target itself are used alone, the one of the nearest count; else those on every other
    accelerator, each carried over and weighed by the inverse square of its interval (on groups left out of the fit two
    of them err by 8.9 % where the nearer one alone errs by 9.2), with the interval of the surest.
    """
    carried = [_transfer_rate(known, base, target, gang) for base in _nearest_measurements(known, target, gang)]
    sure = [one for one in carried if isinstance(one, _TransferredRate)]
    if not sure:
        return next(reason for reason in carried if isinstance(reason, str))
    best = min(sure, key=lambda one: (one.spread, one.base.accelerator.name))
    value, width = _weighted_rate(sure), math.exp(best.spread)
    words = best.words if len(sure) == 1 else "; and ".join(one.words for one in sure)
    return Throughput(value, value / width, value * width, _prediction_basis(best.base, target, gang), words)


def _nearest_measurements(known: Sequence[MeasuredRate], target: Accelerator, gang: float) -> list[MeasuredRate]:
    """The measurement of the nearest count on the target, or else on each accelerator that was measured."""
    nearest: dict[str, MeasuredRate] = {}
    for one in sorted(known, key=lambda m: (m.accelerator.name, abs(math.log2(gang / m.count)), -m.count)):
        nearest.setdefault(one.accelerator.name, one)
    return [nearest[target.name]] if target.name in nearest else list(nearest.values())


def _weighted_rate(sure: Sequence[_TransferredRate]) -> float:
    if len(sure) == 1:
        return sure[0].base.units_per_hour * math.exp(sure[0].log_ratio)
    weights = [one.spread**-2 for one in sure]
    logs = [math.log(one.base.units_per_hour) + one.log_ratio for one in sure]
    return math.exp(math.fsum(w * log for w, log in zip(weights, logs, strict=True)) / math.fsum(weights))


def _transfer_rate(
    known: Sequence[MeasuredRate], base: MeasuredRate, target: Accelerator, gang: float
) -> _TransferredRate | str:
    log_ratio, steps = 0.0, []
    words = f"measured on {base.count:g} x {base.accelerator.name}"
    if gang != base.count:
        log_gain = log_efficiency(base.scaling, base.family, base.count, gang) + _own_scaling_correction(
            known, base, gang
        )
        log_ratio += math.log(gang / base.count) + log_gain
        steps.append(count_step(base.scaling, base.count, gang))
        words += f"; scaled to {gang:g} ({base.scaling} scaling, {math.exp(log_gain):.3g} of linear)"
    if target.name != base.accelerator.name:
        if reason := missing_specification(base.accelerator, base.precision) or missing_specification(
            target, base.precision
        ):
            return reason
        step = accelerator_score(target, base.family, base.precision) - accelerator_score(
            base.accelerator, base.family, base.precision
        )
        log_ratio += step
        steps.append(accelerator_step(base.accelerator, target, load_coefficients()))
        words += f"; carried to {target.name} as {base.family} at {base.precision} = {math.exp(step):.3g}"
        words += f" ({steps[-1].replace('_', ' ')})" if steps[-1].endswith("not_fitted") else ""
    return _TransferredRate(base, log_ratio, combined_spread(tuple(steps)), words)


def _prediction_basis(base: MeasuredRate, target: Accelerator, gang: float) -> str:
    if target.name == base.accelerator.name:
        return "measured" if gang == base.count else "predicted_count"
    same = target.architecture == base.accelerator.architecture
    return "predicted_same_architecture" if same else "predicted_across_architectures"


def _own_scaling_correction(known: Sequence[MeasuredRate], base: MeasuredRate, gang: float) -> float:
    """What the asker's own two counts on one accelerator add to ln(kept) of the model, at OWN_SHARE a doubling."""
    others = [m for m in known if m.accelerator.name == base.accelerator.name and m.count != base.count]
    if not others:
        return 0.0
    other = min(others, key=lambda m: abs(math.log2(m.count / base.count)))
    own = math.log(base.units_per_hour / other.units_per_hour * other.count / base.count)
    more = own - log_efficiency(base.scaling, base.family, other.count, base.count)
    return OWN_SCALING_WEIGHT * more * math.log2(gang / base.count) / math.log2(base.count / other.count)
