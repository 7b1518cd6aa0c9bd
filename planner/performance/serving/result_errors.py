"""Errors of the estimates on published results outside the fit: rates and times."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.performance.serving.rate_estimates import (
    BASES,
    KnownResults,
    correct_first_token,
    correct_split,
    find_nearby,
    known_results,
    load_intervals,
)
from planner.performance.serving.serving_results import ServingResult, shipped_results
from planner.performance.serving.speed_model import SERVED, STATIC, output_token_seconds
from pricing.frozen_values import dataclass

LOADS = (SERVED, "offline", STATIC)
TIMES = ("time to first token", "time per output token")


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """Of one kind of question: results, median and 90th percentile of |estimated / measured - 1|, and the share inside
    the interval (None where the estimate has none)."""

    question: str
    load: str
    results: int
    median: float
    p90: float
    covered: float | None


def result_key(result: ServingResult) -> tuple[object, ...]:
    """Equal for two rows that are the same result."""
    return (result.group, result.point, result.precision, result.output_tokens_per_s, result.source)


def summarise_errors(results: Sequence[ServingResult]) -> tuple[list[ErrorSummary], dict[str, int]]:
    """The errors of the shipped fit, by load and basis and in all; and the rows without an error, by reason.

    Shipped rows among `results` do not correct the estimates, although the fit includes them.
    """
    shipped = {result_key(each) for each in shipped_results()}
    shown = {result_key(each) for each in results}
    known = known_results([each for each in shipped_results() if result_key(each) not in shown])
    left: dict[str, int] = {}
    rates: list[tuple[str, str, float]] = []
    times: dict[str, list[float]] = {name: [] for name in TIMES}
    for each in results:
        reason = _name_missing_field(each)
        if reason:
            left[reason] = left.get(reason, 0) + 1
            continue
        if result_key(each) in shipped:
            left["shipped too (counted all the same)"] = left.get("shipped too (counted all the same)", 0) + 1
        _add_errors(each, known, rates, times)
    summaries = [_summarise_rates(basis, load, rates) for load in LOADS for basis in ("", *BASES)]
    summaries += [_summarise(name, SERVED, ratios, None) for name, ratios in times.items()]
    return [each for each in summaries if each.results], left


def _name_missing_field(result: ServingResult) -> str:
    if result.point is None:
        return f"without {result.lacking}"
    return "" if result.output_tokens_per_s or result.tpot_s else "without a rate"


def _add_errors(
    result: ServingResult, known: KnownResults, rates: list[tuple[str, str, float]], times: dict[str, list[float]]
) -> None:
    point = result.point
    assert point is not None
    nearby = find_nearby(point, known)
    split, (basis, _) = correct_split(point, nearby), nearby.judge(point.concurrency)
    cycle, first = math.fsum(split.values()), correct_first_token(point, split, nearby)
    if result.output_tokens_per_s:
        rates.append((point.load, basis, math.log(result.output_tokens_per_s / (point.concurrency / cycle))))
    if point.fit == SERVED and result.ttft_s and result.output_tokens_per_s:
        times[TIMES[0]].append(math.log(result.ttft_s / first))
    if point.fit == SERVED and result.tpot_s:
        times[TIMES[1]].append(math.log(result.tpot_s / output_token_seconds(point, split, first)))


def _summarise_rates(basis: str, load: str, rates: Sequence[tuple[str, str, float]]) -> ErrorSummary:
    fit = STATIC if load == STATIC else SERVED
    mine = [(own, ratio) for at, own, ratio in rates if at == load and basis in ("", own)]
    intervals = load_intervals()
    covered = [math.log(intervals[fit, own][0]) <= ratio <= math.log(intervals[fit, own][1]) for own, ratio in mine]
    name = f"rate, {basis.replace('_', ' ')}" if basis else "rate"
    return _summarise(name, load, [ratio for _, ratio in mine], sum(covered) / len(covered) if covered else None)


def _summarise(question: str, load: str, log_ratios: Sequence[float], covered: float | None) -> ErrorSummary:
    errors = sorted(abs(math.expm1(-ratio)) for ratio in log_ratios)
    if not errors:
        return ErrorSummary(question, load, 0, 0.0, 0.0, None)
    return ErrorSummary(question, load, len(errors), _find_quantile(errors, 0.5), _find_quantile(errors, 0.9), covered)


def _find_quantile(ordered: Sequence[float], fraction: float) -> float:
    place = fraction * (len(ordered) - 1)
    below = ordered[math.floor(place)]
    return below + (ordered[math.ceil(place)] - below) * (place - math.floor(place))
