"""Arrivals by hour of the week, and the fields of a request that describe them.

Hours of the week that were not observed have the mean of the same hour on other days, and where there is none that of
all observed hours. Burstiness is the larger of two figures within the hours, weighted by arrivals: the squared
coefficient of variation of the times between arrivals, and the index of dispersion of counts in windows of 10 s
(variance over mean; Cox and Lewis, The Statistical Analysis of Series of Events, 1966), which also sees bursts of many
short intervals. Both are 1 for Poisson arrivals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pricing.frozen_values import dataclass

HOUR_S, WEEK_HOURS, DAY_HOURS = 3600, 168, 24
WINDOW_S = 10
FEWEST_ARRIVALS = 100
"""In an hour: of fewer, no burstiness is estimated."""
VARIATION_MAX, BURSTINESS_MAX = 10.0, 100.0
"""The largest values of their fields."""
DIGITS = 6


@dataclass(frozen=True, slots=True)
class ObservedTraffic:
    """Requests that were observed. `arrivals` and `seconds` are by hour of the week (0: Monday, midnight) and may come
    from several weeks; lengths are means, variations the standard deviation over the mean; None: not known.
    `about` says what was observed, in words."""

    arrivals: Sequence[float]
    seconds: Sequence[float]
    input_tokens: float
    output_tokens: float
    input_variation: float | None
    output_variation: float | None
    burstiness: float | None
    prefix_cached_fraction: float | None
    about: str

    def weekly_rates(self) -> list[float]:
        """Requests a second in each hour of the week."""
        observed = [each / seconds if seconds else None
                    for each, seconds in zip(self.arrivals, self.seconds, strict=True)]  # fmt: skip
        every = sum(self.arrivals) / sum(self.seconds)

        def fill(hour: int) -> float:
            days = [rate for rate in observed[hour % DAY_HOURS :: DAY_HOURS] if rate is not None]
            return sum(days) / len(days) if days else every

        return [fill(hour) if rate is None else rate for hour, rate in enumerate(observed)]

    def demand(self) -> dict[str, Any]:
        """Mean requests a second, and each hour's relative to it."""
        rates = self.weekly_rates()
        mean = math.fsum(rates) / WEEK_HOURS
        shape = [round(rate / mean, DIGITS) for rate in rates]
        is_flat = min(shape) == max(shape)
        return {"requests_per_second": mean, **({} if is_flat else {"daily_shape": shape})}

    def serving(self) -> dict[str, Any]:
        """Lengths, their variation and burstiness, as far as they are known."""
        known: Mapping[str, float | None] = {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "input_variation": _at_most(self.input_variation, VARIATION_MAX),
            "output_variation": _at_most(self.output_variation, VARIATION_MAX),
            "burstiness": _at_most(self.burstiness, BURSTINESS_MAX),
            "prefix_cached_fraction": self.prefix_cached_fraction,
        }
        return {name: round(value, DIGITS) for name, value in known.items() if value is not None}


def describe_span(requests: float, seconds: float, name: str) -> str:
    """How many requests a file has, over which time: 4,500 requests in 2.0 hours of trace.csv."""
    sizes = (("days", 86_400), ("hours", HOUR_S), ("minutes", 60))
    span = next((f"{seconds / size:,.1f} {unit}" for unit, size in sizes if seconds >= 2 * size), f"{seconds:,.0f} s")
    return f"{requests:,.0f} requests in {span} of {name}"


def _at_most(value: float | None, most: float) -> float | None:
    return None if value is None else min(value, most)


def measure_burstiness(arrivals: Sequence[float]) -> float | None:
    """Of the arrivals of one hour, in order: seconds since its start; None for too few of them."""
    if len(arrivals) < FEWEST_ARRIVALS:
        return None
    gaps = [after - before for before, after in pairwise(arrivals)]
    mean = math.fsum(gaps) / len(gaps)
    if mean <= 0:
        return BURSTINESS_MAX
    variation = math.fsum((gap - mean) ** 2 for gap in gaps) / len(gaps) / mean**2
    first, windows = arrivals[0], math.floor((arrivals[-1] - arrivals[0]) / WINDOW_S)
    if windows < 1:
        return max(1.0, variation)
    counts = [0] * windows
    for at in arrivals:
        if (window := math.floor((at - first) / WINDOW_S)) < windows:
            counts[window] += 1
    level = sum(counts) / windows
    dispersion = math.fsum((count - level) ** 2 for count in counts) / windows / level
    return max(1.0, variation, dispersion)
