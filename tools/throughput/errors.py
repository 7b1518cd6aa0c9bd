"""Errors of predictions on results left out of the fit: the apparatus that both throughput models share.

A fold leaves out all results of one key (a benchmark group, a source, an accelerator ...), predicts them from the rest,
and compares |predicted / actual - 1| and the share of cases inside their 80 % interval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Generic, TypeVar

from planner.performance.throughput.intervals import LogInterval

COVERAGE_TARGET = 0.8
Item = TypeVar("Item")
Subject = TypeVar("Subject")
FoldKey = Callable[[Item], tuple[str, ...]]
"""Items of one key are predicted together, without any item that has a part of the key in common."""


@dataclass(frozen=True, slots=True)
class Residual(Generic[Subject]):
    """One prediction: `log_error` is ln(predicted / actual), `baseline_error` that of a simpler rule."""

    subject: Subject
    group: str
    log_error: float
    weight: float = 1.0
    baseline_error: float | None = None


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """Errors of some predictions as fractions (median, 90th percentile), and the share inside the 80 % interval."""

    title: str
    cases: int
    groups: int
    median: float
    p90: float
    covered: float
    baseline_median: float = math.nan
    baseline_p90: float = math.nan


def cross_validate(
    items: Sequence[Item],
    key: FoldKey[Item],
    predict: Callable[[Callable[[Item], bool], list[Item]], Iterable[Residual[Subject]]],
) -> list[Residual[Subject]]:
    """`predict(is_left_out, rest)` for each fold in turn, the folds in the order of their keys."""
    residuals: list[Residual[Subject]] = []
    for value in sorted({key(item) for item in items}):
        rest = [item for item in items if not share_part(key(item), value)]
        if rest:
            residuals += predict(_key_filter(key, value), rest)
    return residuals


def share_part(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return any(a == b for a, b in zip(one, other, strict=True))


def _key_filter(key: FoldKey[Item], value: tuple[str, ...]) -> Callable[[Item], bool]:
    return lambda item: key(item) == value


def summarise(
    title: str, residuals: Sequence[Residual[Subject]], interval_of: Callable[[Residual[Subject]], LogInterval]
) -> ErrorSummary:
    """The errors of these residuals; at least one."""
    weights = [residual.weight for residual in residuals]
    errors = [abs(math.expm1(residual.log_error)) for residual in residuals]
    baseline = [abs(math.expm1(r.baseline_error)) for r in residuals if r.baseline_error is not None]
    inside = math.fsum(r.weight for r in residuals if interval_of(r).holds(-r.log_error))
    return ErrorSummary(
        title, len(residuals), len({residual.group for residual in residuals}), weighted_median(errors, weights),
        weighted_quantile(errors, 0.9, weights), inside / math.fsum(weights),
        *((median(baseline), weighted_quantile(baseline, 0.9)) if baseline else ()),
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


def group_weights(residuals: Sequence[Residual[Subject]], power: float) -> list[float]:
    """Of each residual: the size of its group to minus `power`, so that large groups do not dominate an interval."""
    sizes = Counter(residual.group for residual in residuals)
    return [sizes[residual.group] ** -power for residual in residuals]
