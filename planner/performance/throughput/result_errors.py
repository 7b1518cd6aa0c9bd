"""Errors of predictions on results outside the fit, and those of the plain ratio beside them.

The plain ratio is what a data sheet and a count tell: the geometric mean of the ratios of peak and bandwidth, times the
ratio of counts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Generic, TypeVar

from planner.performance.throughput.accelerator_scores import (
    PLAIN_PRECISION,
    Coefficients,
    accelerator_score,
    load_coefficients,
    peak_tflops,
)
from planner.performance.throughput.intervals import (
    STREAM_FAMILIES,
    STREAM_STEP,
    LogInterval,
    accelerator_distance,
    accelerator_step,
    count_step,
    step_interval,
)
from planner.performance.throughput.published_results import PublishedResult
from planner.performance.throughput.result_pairs import ACCELERATOR, BOTH, ResultPair, prediction_pairs
from planner.performance.throughput.scaling import Scalings, load_scaling, log_efficiency
from pricing.accelerator import Accelerator, AcceleratorNames
from pricing.frozen_values import dataclass

TASKS = (ACCELERATOR, "weak", "strong", "time_to_train", "replicas", "stream", BOTH)
DISTANCES = ("same_architecture", "same_vendor", "across_vendors")
FAMILIES = ("training", "llm_training", "inference", "prefill", "decode")
Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Residual(Generic[Subject]):
    """One prediction: `log_error` is ln(predicted / actual), `ratio_error` that of the plain ratio."""

    subject: Subject
    group: str
    log_error: float
    weight: float = 1.0
    ratio_error: float | None = None


@dataclass(frozen=True, slots=True)
class PredictionErrors:
    """Errors of some predictions as fractions (median, 90th percentile), the share inside the 80 % interval, and the
    errors of the plain ratio (NaN where there is none)."""

    title: str
    cases: int
    groups: int
    median: float
    p90: float
    covered: float
    ratio_median: float = math.nan
    ratio_p90: float = math.nan


@dataclass(frozen=True, slots=True)
class PredictedStep:
    """The kind of a prediction; `steps` are kinds of intervals, `distance` is empty for one accelerator."""

    task: str
    steps: tuple[str, ...]
    family: str
    distance: str
    precision: str

    @property
    def distance_step(self) -> str:
        """The step of its distance, as if every accelerator were fitted."""
        return f"{STREAM_STEP}{self.distance}" if self.family in STREAM_FAMILIES else self.distance

    @property
    def titles(self) -> Iterator[str]:
        """The lines of the table that count it, keys of `error_titles`."""
        yield self.task
        if self.task == ACCELERATOR:
            yield self.distance
            yield self.family
            if self.precision == PLAIN_PRECISION:
                yield PLAIN_PRECISION


Case = Residual[PredictedStep]
ERROR_TITLES = (ACCELERATOR, *DISTANCES, PLAIN_PRECISION, *FAMILIES, *TASKS[1:])
"""Lines of the table in order: those after the first up to the families are parts of it."""


def predict_pair(
    pair: ResultPair,
    parts: dict[str, Accelerator],
    coefficients: Coefficients | None = None,
    scalings: Scalings | None = None,
) -> Case:
    """The second result of a pair as the first tells it; by the shipped fit, or another."""
    a, b = pair.first, pair.second
    first, second = parts[a.accelerator], parts[b.accelerator]
    known = load_coefficients() if coefficients is None else coefficients
    linear, steps = math.log(b.count / a.count), []
    predicted = ratio = linear
    if a.count != b.count:
        growth = scalings if scalings is not None else load_scaling()
        predicted += log_efficiency(pair.scaling, a.family, a.count, b.count, growth)
        steps.append(count_step(pair.scaling, a.count, b.count))
    if first.name != second.name:
        predicted += accelerator_score(second, b.family, b.precision, known)
        predicted -= accelerator_score(first, a.family, a.precision, known)
        ratio += _plain_score(second, b.precision) - _plain_score(first, a.precision)
        steps.append(accelerator_step(first, second, b.family, known))
    measured = math.log(b.rate / a.rate)
    distance = "" if first.name == second.name else accelerator_distance(first, second)
    step = PredictedStep(pair.task, tuple(steps), b.family, distance, b.precision)
    return Residual(step, b.group, predicted - measured, ratio_error=ratio - measured)


def _plain_score(part: Accelerator, precision: str) -> float:
    return 0.5 * math.log((peak_tflops(part, precision) or math.nan) * (part.memory_bandwidth_gbs or math.nan))


def file_cases(results: Sequence[PublishedResult], names: AcceleratorNames) -> tuple[list[ResultPair], list[Case]]:
    """Every pair of these results, and its errors by the shipped fit."""
    pairs = prediction_pairs(results, names, lambda _: True)
    parts = dict(names.by_name)
    return pairs, [predict_pair(pair, parts) for pair in pairs]


def step_interval_of(case: Case) -> LogInterval:
    """The shipped interval of a prediction."""
    return step_interval(case.subject.steps)


def summarise_cases(
    cases: Sequence[Case], interval_of: Callable[[Case], LogInterval] = step_interval_of
) -> list[PredictionErrors]:
    """The errors of each of ERROR_TITLES that has cases."""
    by_title: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        for title in case.subject.titles:
            by_title[title].append(case)
    return [summarise(title, by_title[title], interval_of) for title in ERROR_TITLES if title in by_title]


def summarise(
    title: str, residuals: Sequence[Residual[Subject]], interval_of: Callable[[Residual[Subject]], LogInterval]
) -> PredictionErrors:
    """The errors of these residuals; at least one."""
    weights = [residual.weight for residual in residuals]
    errors = [abs(math.expm1(residual.log_error)) for residual in residuals]
    ratio = [abs(math.expm1(r.ratio_error)) for r in residuals if r.ratio_error is not None]
    inside = math.fsum(r.weight for r in residuals if interval_of(r).holds(-r.log_error))
    return PredictionErrors(
        title, len(residuals), len({residual.group for residual in residuals}), weighted_median(errors, weights),
        weighted_quantile(errors, 0.9, weights), inside / math.fsum(weights),
        *((median(ratio), weighted_quantile(ratio, 0.9)) if ratio else ()),
    )  # fmt: skip


def weighted_quantile(values: Sequence[float], share: float, weights: Sequence[float] | None = None) -> float:
    """The least value at or below which `share` of the weight lies."""
    ranked = sorted(zip(values, weights or [1.0] * len(values), strict=True))
    aim, passed = share * math.fsum(weight for _, weight in ranked), 0.0
    for value, weight in ranked:
        passed += weight
        if passed >= aim * (1 - 1e-12):
            return value
    return ranked[-1][0]


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """With equal weights the usual median, which is the middle of two values of an even number."""
    return median(values) if len(set(weights)) == 1 else weighted_quantile(values, 0.5, weights)
