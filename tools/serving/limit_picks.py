"""How good the picks under a TPOT limit are: the most requests at once by the estimate, against the measured curve.

A curve is the results that differ only in the requests at once. The limit is the measured TPOT at a quarter, half and
three quarters of its doublings. The estimate picks the most requests whose time per output token is within the limit;
what they would have measured is interpolated on logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planner.performance.serving.rate_estimates import (
    KnownResults,
    NearbyResults,
    add_results,
    correct_first_token,
    correct_split,
    find_nearby,
)
from planner.performance.serving.serving_results import ServingResult
from planner.performance.serving.speed_model import Effects, ServingPoint, output_token_seconds

FEWEST_RESULTS, STEPS = 4, 60
QUANTILES = (0.25, 0.5, 0.75)
BREAK_TOLERANCE = 1.1
"""A pick breaks its limit if it exceeds it by more."""


@dataclass(frozen=True, slots=True)
class LimitPick:
    """One pick: measured TPOT over the limit, and the fraction of the best throughput that it leaves unused."""

    left_out: str
    over_limit: float
    unused: float

    @property
    def breaks(self) -> bool:
        return self.over_limit > BREAK_TOLERANCE


def pick_under_limits(
    name: str, curve: Sequence[ServingResult], known: KnownResults, coefficients: Effects, shown: str = ""
) -> Iterator[LimitPick]:
    """The picks on one curve, with its middle result among the known ones if `shown`, its origin."""
    by_requests = {  # of repeated results the first
        each.point.concurrency: (each.point.concurrency, each.tpot_s, each.output_tokens_per_s, each.line)
        for each in reversed(curve)
        if each.point is not None and each.tpot_s and each.output_tokens_per_s and each.point.load == "served"
    }
    measured = sorted(by_requests.values())
    if len(measured) < FEWEST_RESULTS:
        return
    if shown:
        line = measured[len(measured) // 2][3]
        known = add_results(known, [replace(each, origin=shown) for each in curve if each.line == line], coefficients)
    point = curve[0].point
    assert point is not None
    logs = [math.log(requests) for requests, *_ in measured]
    times = [math.log(seconds or math.nan) for _, seconds, *_ in measured]
    rates = [math.log(rate or math.nan) for _, _, rate, _ in measured]
    nearby = find_nearby(point, known)
    grid = [logs[0] + (logs[-1] - logs[0]) * step / STEPS for step in range(STEPS + 1)]
    estimates = [_estimate_tpot(replace(point, concurrency=math.exp(at)), nearby, coefficients) for at in grid]
    for quantile in QUANTILES:
        best = logs[0] + quantile * (logs[-1] - logs[0])
        limit = _interpolate(logs, times, best)
        picked = max((at for at, tpot in zip(grid, estimates, strict=True) if tpot <= limit), default=grid[0])
        lost = -math.expm1(_interpolate(logs, rates, picked) - _interpolate(logs, rates, best))
        yield LimitPick(name, math.exp(_interpolate(logs, times, picked) - limit), max(0.0, lost))


def _estimate_tpot(point: ServingPoint, nearby: NearbyResults, coefficients: Effects) -> float:
    """ln of the seconds of an output token."""
    split = correct_split(point, nearby, coefficients)
    return math.log(output_token_seconds(point, split, correct_first_token(point, split, nearby, coefficients)))


def _interpolate(places: Sequence[float], values: Sequence[float], at: float) -> float:
    for number in range(1, len(places)):
        if at <= places[number]:
            share = (at - places[number - 1]) / (places[number] - places[number - 1])
            return values[number - 1] + share * (values[number] - values[number - 1])
    return values[-1]
