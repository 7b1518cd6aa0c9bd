"""Work per hour of a gang of accelerators: measured values as given, others predicted with an interval and said so.

The rule for another accelerator b and count n2, from y measured on accelerator a and count n1:

    y(b, n2) = y(a, n1) * (n2 / n1) * e^log2(n2 / n1) * (F_b / F_a)^0.4 * (B_b / B_a)^0.6 * k_b / k_a

F is the dense peak at the precision used, B the memory bandwidth, k the efficiency in efficiency.csv (1 where no row
exists) and e what is kept at each doubling. Constants were fitted on 73 groups of public benchmarks and checked on 52
groups left out of the fit: median error 17.6 %, 90th percentile 50 % across accelerators. Memory is unknown to the
rule: candidates check it.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from planner.request import Measurement
from pricing.accelerator import Accelerator

PEAK_EXPONENT = 0.4
BANDWIDTH_EXPONENT = 0.6
KEPT_PER_DOUBLING = {"weak": 0.976, "replicas": 0.99, "strong": 0.89}
SERIAL_FRACTION_STRONG = 3.4e-3
"""Amdahl's serial fraction, used for a fixed job beyond STRONG_RATIO times the measured count."""
STRONG_RATIO = 8
INTERVAL_SAME_ARCHITECTURE = (1 / 1.33, 1.33)
INTERVAL_ACROSS = (1 / 1.48, 1.48)
INTERVAL_COUNT = {"weak": (0.83, 1.08), "replicas": (0.83, 1.08), "strong": (0.56, 1.28)}
"""What 80 % of the pairs left out of the fit showed, actual over predicted; replicas take the wider one of weak
scaling."""
PRECISION_FALLBACKS = {
    "fp4": ("fp4", "fp8", "fp16"),
    "fp8": ("fp8", "fp16"),
    "bf16": ("fp16",),
    "fp16": ("fp16",),
    "tf32": ("tf32", "fp32"),
    "fp32": ("fp32",),
}


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
class Measured:
    """A measurement whose accelerator is known: `units_per_hour` of all `count` together."""

    accelerator: Accelerator
    count: float
    units_per_hour: float
    precision: str
    scaling: str


def measured(measurement: Measurement, accelerator: Accelerator) -> Measured:
    """The measurement in the terms of this module: whole job, per hour."""
    return Measured(
        accelerator, measurement.count, measurement.job_units_per_hour, measurement.precision, measurement.scaling
    )


def predict(known: Sequence[Measured], target: Accelerator, gang: float) -> Throughput | str:
    """Throughput of `gang` accelerators `target`, or why it cannot be told.

    The nearest measurement is used: the same accelerator before the same architecture before any other, then the
    nearest count.
    """
    base = min(known, key=lambda m: (_distance(m.accelerator, target), abs(math.log2(gang / m.count)), -m.count))
    kept = _kept_per_doubling(known, base)
    value = base.units_per_hour * _count_ratio(base, gang, kept)
    low = high = 1.0
    words = f"measured on {base.count:g} x {base.accelerator.name}"
    basis = "measured"
    if gang != base.count:
        basis, (low, high) = "predicted_count", INTERVAL_COUNT[base.scaling]
        words += f"; scaled to {gang:g} ({base.scaling} scaling, {kept:.3g} kept per doubling)"
    if target.name != base.accelerator.name:
        ratio = _accelerator_ratio(base, target)
        if isinstance(ratio, str):
            return ratio
        same = target.architecture == base.accelerator.architecture
        basis = "predicted_same_architecture" if same else "predicted_across_architectures"
        spread = INTERVAL_SAME_ARCHITECTURE if same else INTERVAL_ACROSS
        value, low, high = value * ratio, low * spread[0], high * spread[1]
        words += f"; carried to {target.name} by peak^0.4 x bandwidth^0.6 x efficiency = {ratio:.3g}"
    return Throughput(value, value * low, value * high, basis, words)


def _distance(a: Accelerator, b: Accelerator) -> int:
    if a.name == b.name:
        return 0
    return 1 if a.architecture == b.architecture else 2


def _count_ratio(base: Measured, gang: float, kept: float) -> float:
    ratio = gang / base.count
    if base.scaling == "strong" and ratio > STRONG_RATIO:
        return _amdahl(gang) / _amdahl(base.count)
    return float(ratio * kept ** math.log2(ratio))


def _amdahl(count: float) -> float:
    return 1 / (SERIAL_FRACTION_STRONG + (1 - SERIAL_FRACTION_STRONG) / count)


def _kept_per_doubling(known: Sequence[Measured], base: Measured) -> float:
    """The default, or its geometric mean with what the asker's own two counts on one accelerator show."""
    default = KEPT_PER_DOUBLING[base.scaling]
    others = [m for m in known if m.accelerator.name == base.accelerator.name and m.count != base.count]
    if not others:
        return default
    other = min(others, key=lambda m: abs(math.log2(m.count / base.count)))
    doublings = math.log2(base.count / other.count)
    own = (base.units_per_hour / other.units_per_hour / (base.count / other.count)) ** (1 / doublings)
    return math.sqrt(default * own)


def _accelerator_ratio(base: Measured, target: Accelerator) -> float | str:
    peaks = [_peak(accelerator, base.precision) for accelerator in (base.accelerator, target)]
    for accelerator, peak in zip((base.accelerator, target), peaks, strict=True):
        if peak is None:
            return f"no {base.precision} peak rate is known for {accelerator.name}"
        if accelerator.memory_bandwidth_gbs is None:
            return f"no memory bandwidth is known for {accelerator.name}"
    factors = _efficiency()
    bandwidths = [a.memory_bandwidth_gbs or math.nan for a in (base.accelerator, target)]
    efficiency = factors.get(target.name, 1.0) / factors.get(base.accelerator.name, 1.0)
    peak_ratio = (peaks[1] or math.nan) / (peaks[0] or math.nan)
    return float(peak_ratio**PEAK_EXPONENT * (bandwidths[1] / bandwidths[0]) ** BANDWIDTH_EXPONENT * efficiency)


def _peak(accelerator: Accelerator, precision: str) -> float | None:
    """Dense peak at `precision`, or at the next wider one the part has; FP32 where half precision is slower
    (Pascal)."""
    rates = (getattr(accelerator, f"{name}_tflops") for name in PRECISION_FALLBACKS[precision])
    rate: float | None = next((rate for rate in rates if rate is not None), None)
    if accelerator.fp32_tflops is not None and (rate is None or rate < accelerator.fp32_tflops):
        return accelerator.fp32_tflops
    return rate


@cache
def _efficiency() -> dict[str, float]:
    text = resources.files("planner").joinpath("efficiency.csv").read_text(encoding="utf-8")
    return {row["accelerator"]: float(row["efficiency"]) for row in csv.DictReader(text.splitlines())}
