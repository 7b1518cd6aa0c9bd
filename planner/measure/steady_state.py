"""The steady window of a job, its rate there and the confidence interval of the rate. Plain numbers in and out.

The series of work is cut into intervals of equal length, at least five events in each where there are a hundred, which
gives equally spaced rates. Then:

1. Warm-up: MSER. Of all points d of the first half, the one after which the squared standard error of the mean is
   least, sum((y - mean)^2 over the n-d rates after d) / (n-d)^2 (White, K. P. (1997), An effective truncation heuristic
   for bias reduction in simulation output, Simulation 69(6); groups of five as in White, Cobb, Spratt (2000), MSER-5).
   Where a point of the second half does better still, and leaves a mean that differs by more than DRIFT_MAX, the run
   is too short. (A small difference is noise: the least of many nearly equal values may lie anywhere.)
2. Interval: the mean over at most 20 batches with Student's t (Schmeiser (1982), Batch size effects in the analysis of
   simulation output, Operations Research 30(3): between 10 and 30 batches), widened by sqrt((1+r)/(1-r)) where the
   batches still correlate with r > 0 (Tafazzoli, Steiger, Wilson (2011), N-Skart, INFORMS J. on Computing).
3. Trend: a line through the batches whose slope differs from zero (95 %) and which changes the rate by more than
   DRIFT_MAX over the window means that it is not steady.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from planner.result.message import Message, message
from pricing.frozen_values import dataclass

Point = tuple[float, float]

EVENTS_PER_BIN = 5
BINS_MIN, BINS_MAX = 20, 400
BATCHES_MIN, BATCHES_MAX = 10, 20
CONFIDENCE = 0.95
DRIFT_MAX = 0.05
CORRELATION_MAX = 0.9
"""Beyond it the correction means little; the interval is wide enough to show that."""


@dataclass(frozen=True, slots=True)
class SteadyWindow:
    """The window (`start` to `end`, seconds of the clock of the points), units per second in it and their 95 %
    interval; None where two batches cannot be made. `why_not` is the reason why it is not steady, None where it is."""

    start: float
    end: float
    rate: float
    low: float | None
    high: float | None
    bins: int
    batches: int
    drift: float | None
    correlation: float | None
    why_not: Message | None = None

    @property
    def is_steady(self) -> bool:
        return self.why_not is None

    @property
    def half_width(self) -> float | None:
        """Of the interval, relative to the rate."""
        if self.high is None or self.rate <= 0:
            return None
        return (self.high - self.rate) / self.rate


def find_steady_window(points: Sequence[Point], not_before: float = -math.inf) -> SteadyWindow | Message:
    """The steady window of sums over time, or the reason why there is no rate; before `not_before` is warm-up."""
    measured_points = [point for point in points if point[0] >= not_before]
    if len(measured_points) < 2:
        return message("too_few_progress_reports", reports=len(measured_points), after_warm_up=len(points) >= 2)
    (start, first), (end, last) = measured_points[0], measured_points[-1]
    if end <= start or last <= first:
        return message("no_progress")
    rates, width = rates_of(measured_points)
    cut, too_short = warm_up(rates)
    start += cut * width
    means = batches_of(rates[cut:])
    rate = (last - total_at(measured_points, start)) / (end - start)
    low, high, correlation = _confidence_interval(rate, means)
    drift = drift_of(means)
    why_not = None
    if too_short:
        why_not = message("rate_still_changing")
    elif len(means) < BATCHES_MIN:
        why_not = message("too_few_intervals", intervals=len(rates) - cut, needed=BATCHES_MIN)
    elif drift is not None and abs(drift) > DRIFT_MAX:
        why_not = message("rate_drifts", drift_fraction=drift)
    return SteadyWindow(start, end, rate, low, high, len(rates) - cut, len(means), drift, correlation, why_not)


def rates_of(points: Sequence[Point]) -> tuple[list[float], float]:
    """Units per second in intervals of equal length, and that length in seconds."""
    events = len(points) - 1
    bins = min(events, max(BINS_MIN, events // EVENTS_PER_BIN), BINS_MAX)
    start, width = points[0][0], (points[-1][0] - points[0][0]) / bins
    sums = [total_at(points, start + number * width) for number in range(bins)] + [points[-1][1]]
    return [(after - before) / width for before, after in pairwise(sums)], width


def total_at(points: Sequence[Point], at: float) -> float:
    """The sum at a moment, on the line between the reports around it."""
    after = min(max(bisect_right(points, at, key=lambda point: point[0]), 1), len(points) - 1)
    (left, low), (right, high) = points[after - 1], points[after]
    return low if right <= left else low + (high - low) * min(max((at - left) / (right - left), 0.0), 1.0)


def warm_up(rates: Sequence[float]) -> tuple[int, bool]:
    """How many rates MSER leaves out, at most half of them, and whether more would have had to go."""
    errors, means = [], []
    for cut in range(max(1, len(rates) - 4)):  # the error of fewer than five means nothing
        rest = rates[cut:]
        means.append(math.fsum(rest) / len(rest))
        errors.append(math.fsum((rate - means[-1]) ** 2 for rate in rest) / len(rest) ** 2)
    cut = min(range(min(len(errors), len(rates) // 2 + 1)), key=errors.__getitem__)
    best = min(range(len(errors)), key=errors.__getitem__)
    return cut, best != cut and abs(means[best] - means[cut]) > DRIFT_MAX * means[cut]


def batches_of(rates: Sequence[float]) -> list[float]:
    """Means of equal batches; what is left over is left out at the start."""
    number = min(len(rates), BATCHES_MAX)
    size = len(rates) // number
    rest = rates[len(rates) - size * number :]
    return [math.fsum(rest[at : at + size]) / size for at in range(0, len(rest), size)]


def _confidence_interval(rate: float, means: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    number = len(means)
    if number < 2:
        return None, None, None
    centre = math.fsum(means) / number
    variance = math.fsum((mean - centre) ** 2 for mean in means) / (number - 1)
    correlation = 0.0
    if variance > 0:
        pairs = pairwise(means)
        correlation = math.fsum((a - centre) * (b - centre) for a, b in pairs) / (variance * (number - 1))
    used = min(max(correlation, 0.0), CORRELATION_MAX)
    half = student_t(number - 1) * math.sqrt(variance / number * (1 + used) / (1 - used))
    return max(0.0, rate - half), rate + half, correlation


def drift_of(means: Sequence[float]) -> float | None:
    """By what share of the mean a line through the batches changes over the window; None where it may be none."""
    number = len(means)
    if number < 3 or (centre := math.fsum(means) / number) <= 0:
        return None
    middle = (number - 1) / 2
    spread = math.fsum((at - middle) ** 2 for at in range(number))
    slope = math.fsum((at - middle) * (mean - centre) for at, mean in enumerate(means)) / spread
    rest = math.fsum((mean - centre - slope * (at - middle)) ** 2 for at, mean in enumerate(means))
    error = math.sqrt(rest / (number - 2) / spread)
    return slope * number / centre if abs(slope) > student_t(number - 2) * error else None


@cache
def student_t(degrees: int) -> float:
    """Student's t that 95 % of values stay within, either side, for whole degrees of freedom: found by bisection on
    the closed sum for its distribution (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    low, high = 0.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_within(middle, degrees) < CONFIDENCE else (low, middle)
    return high


def _probability_within(value: float, degrees: int) -> float:
    """The probability that |t| stays below `value`."""
    angle = math.atan(value / math.sqrt(degrees))
    odd, squared = degrees % 2, math.cos(angle) ** 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for step in range(2 + odd, degrees + 1, 2):
        total += term
        term *= squared * (step - 1) / step
    total *= math.sin(angle)
    return (angle + total) * 2 / math.pi if odd else total
