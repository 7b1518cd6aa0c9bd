"""Work per hour of a gang of accelerators: measured values as they are, all others predicted with an interval.

From y measured on n1 accelerators a, for n2 accelerators b:

    y(b, n2) = y(a, n1) * (n2 / n1) * efficiency(n1 -> n2) * exp(score(b) - score(a))

accelerator_scores.py has the score, scaling.py the efficiency, intervals.py the errors on work left out of the fit;
`python -m tools.throughput` fits all three to public measurements and prints the errors. Whether the work fits in
memory is not considered here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.performance.throughput.accelerator_scores import (
    accelerator_score,
    load_coefficients,
    missing_specification,
)
from planner.performance.throughput.intervals import LogInterval, accelerator_step, count_step, step_interval
from planner.performance.throughput.scaling import log_efficiency
from planner.request.models import Measurement, WorkFamily
from planner.result.message import Message, message
from pricing.accelerator import Accelerator
from pricing.frozen_values import dataclass

OWN_SCALING_WEIGHT = 0.5
"""Weight of the scaling between two measured counts of the same job against that of the model, at each doubling (pairs
of counts left out of the fit err least with about a half)."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Work units per hour of one gang, the bounds of 80 % of cases, and their origin (see result.ThroughputUsed)."""

    units_per_hour: float
    low: float
    high: float
    basis: str
    explanation: tuple[Message, ...]


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
    """The measurement as work per hour of the whole job."""
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
    """One measurement transferred to another gang: ln of the ratio, its interval, and the steps in words."""

    base: MeasuredRate
    log_ratio: float
    interval: LogInterval
    explanation: tuple[Message, ...]

    @property
    def spread(self) -> float:
        return self.interval.high


def predict_throughput(known: Sequence[MeasuredRate], target: Accelerator, gang: float) -> Throughput | Message:
    """Throughput of `gang` accelerators `target`, or the reason why it cannot be predicted.

    Measurements on the target itself are used alone, the one of the nearest count; else those on every other
    accelerator, each transferred and weighted by the inverse square of its spread (on groups left out of the fit two of
    them err by 8.9 % where the nearer one alone errs by 9.2), with the narrowest of their intervals.
    """
    outcomes = [_transfer_rate(known, base, target, gang) for base in _nearest_measurements(known, target, gang)]
    rates = [one for one in outcomes if isinstance(one, _TransferredRate)]
    if not rates:
        return next(reason for reason in outcomes if isinstance(reason, Message))
    best = min(rates, key=lambda one: (one.spread, one.base.accelerator.name))
    value = _weighted_rate(rates)
    explanation = tuple(step for one in rates for step in one.explanation)
    return Throughput(value, *best.interval.around(value), _prediction_basis(best.base, target, gang), explanation)


def _nearest_measurements(known: Sequence[MeasuredRate], target: Accelerator, gang: float) -> list[MeasuredRate]:
    """The measurement of the nearest count on the target, else on each measured accelerator."""
    nearest: dict[str, MeasuredRate] = {}
    for one in sorted(known, key=lambda m: (m.accelerator.name, abs(math.log2(gang / m.count)), -m.count)):
        nearest.setdefault(one.accelerator.name, one)
    return [nearest[target.name]] if target.name in nearest else list(nearest.values())


def _weighted_rate(rates: Sequence[_TransferredRate]) -> float:
    """The geometric mean, weighted by inverse variance: errors of predictions are ratios."""
    if len(rates) == 1:
        return rates[0].base.units_per_hour * math.exp(rates[0].log_ratio)
    weights = [one.spread**-2 for one in rates]
    logs = [math.log(one.base.units_per_hour) + one.log_ratio for one in rates]
    return math.exp(math.fsum(w * log for w, log in zip(weights, logs, strict=True)) / math.fsum(weights))


def _transfer_rate(
    known: Sequence[MeasuredRate], base: MeasuredRate, target: Accelerator, gang: float
) -> _TransferredRate | Message:
    log_ratio, steps = 0.0, []
    explanation = [message("measured_on", count=base.count, accelerator=base.accelerator.name)]
    if gang != base.count:
        log_gain = log_efficiency(base.scaling, base.family, base.count, gang) + _own_scaling_correction(
            known, base, gang
        )
        log_ratio += math.log(gang / base.count) + log_gain
        steps.append(count_step(base.scaling, base.count, gang))
        explanation.append(message("scaled_to", count=gang, scaling=base.scaling, efficiency=math.exp(log_gain)))
    if target.name != base.accelerator.name:
        problem = missing_specification(base.accelerator, base.precision) or missing_specification(
            target, base.precision
        )
        if problem is not None:
            return problem
        log_speed = accelerator_score(target, base.family, base.precision) - accelerator_score(
            base.accelerator, base.family, base.precision
        )
        log_ratio += log_speed
        steps.append(accelerator_step(base.accelerator, target, base.family, load_coefficients()))
        explanation.append(
            message(
                "transferred_to", accelerator=target.name, family=base.family, precision=base.precision,
                ratio=math.exp(log_speed), step=steps[-1],
            )
        )  # fmt: skip
    return _TransferredRate(base, log_ratio, step_interval(steps), tuple(explanation))


def _prediction_basis(base: MeasuredRate, target: Accelerator, gang: float) -> str:
    if target.name == base.accelerator.name:
        return "measured" if gang == base.count else "predicted_count"
    same = target.architecture == base.accelerator.architecture
    return "predicted_same_architecture" if same else "predicted_across_architectures"


def _own_scaling_correction(known: Sequence[MeasuredRate], base: MeasuredRate, gang: float) -> float:
    """Correction of ln(efficiency) of the model by two measured counts on one accelerator, at OWN_SCALING_WEIGHT."""
    others = [m for m in known if m.accelerator.name == base.accelerator.name and m.count != base.count]
    if not others:
        return 0.0
    other = min(others, key=lambda m: abs(math.log2(m.count / base.count)))
    own = math.log(base.units_per_hour / other.units_per_hour * other.count / base.count)
    more = own - log_efficiency(base.scaling, base.family, other.count, base.count)
    return OWN_SCALING_WEIGHT * more * math.log2(gang / base.count) / math.log2(base.count / other.count)
