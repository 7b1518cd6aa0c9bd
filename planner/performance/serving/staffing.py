"""Replicas for the waiting time of a service: square-root staffing of an M/G/k queue.

Every replica has B places; a request takes one for S seconds. With R replicas behind a router that sends each request
to the least busy one, they work nearly as one queue of k = R B places. For arrivals of rate l, the load is a = l S
(Little) and the margin in units of its spread

    beta = (k - a) / sqrt(a z)

z is the peakedness of the load: 1 for Poisson arrivals, the squared coefficient of variation of the times between
arrivals for burstier ones (Hayward's approximation with service times as if constant, its upper end). A request waits
longer than t with probability

    P(wait > t) = exp(-(k - a) t / (S v)) / (1 + beta Phi(beta) / phi(beta)),      v = (z + c^2) / 2, at least 1

(Halfin and Whitt 1981, doi 10.1287/opre.29.3.567; for general service Whitt 1993,
doi 10.1111/j.1937-5956.1993.tb00094.x), c the coefficient of variation of S. R is the least number for which that is at
most 1 - percentile / 100. bench/serving.py compares the rule with a simulation of single requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from pricing.frozen_values import dataclass

ROUNDING = 1e-9
"""Of a replica: load that exceeds whole replicas by less is rounding."""

RATE_HALVINGS = 40
FULL_REPLICAS = 8
"""Replicas of the smaller part of a service that are tried: beyond them whole replicas leave little unused."""


@dataclass(frozen=True, slots=True)
class ServiceQueue:
    """The figures that set the number of replicas: places of a replica, the longest wait for one that
    `percentile` per cent of requests may have, and the variation of arrivals (squared, of the times between them) and
    of the time in a place (not squared)."""

    places: int
    wait_limit_s: float
    percentile: float
    burstiness: float
    variation: float

    def count_replicas(self, requests_per_second: float, replica_requests_per_second: float) -> int:
        """The least number of replicas, each of which completes `replica_requests_per_second` with all places taken."""
        if requests_per_second <= 0:
            return 0
        service_s = self.places / replica_requests_per_second
        load = requests_per_second * service_s
        least = max(1, math.ceil(load / self.places - ROUNDING))
        most = least
        while self.wait_probability(most, load, service_s) > 1 - self.percentile / 100:
            most *= 2
        while least < most:
            middle = (least + most) // 2
            if self.wait_probability(middle, load, service_s) > 1 - self.percentile / 100:
                least = middle + 1
            else:
                most = middle
        return most

    def largest_rate(self, replicas: int, replica_requests_per_second: float) -> float:
        """The most arrivals a second that so many replicas keep within the wait; 0 where they keep none."""
        low, high = 0.0, replicas * replica_requests_per_second
        for _ in range(RATE_HALVINGS):
            middle = (low + high) / 2
            if self.count_replicas(middle, replica_requests_per_second) <= replicas:
                low = middle
            else:
                high = middle
        return low

    def list_full_shares(self, replica_requests_per_second: float, rates: Iterable[float]) -> list[float]:
        """Shares of the arrivals, below 1, that fill one replica or a few at one of their `rates` a second."""
        most = [self.largest_rate(each, replica_requests_per_second) for each in range(1, FULL_REPLICAS + 1)]
        return sorted({full / rate for full in most for rate in rates if 0 < full < rate})

    def wait_probability(self, replicas: int, load: float, service_s: float) -> float:
        """That a request waits longer than the limit; 1 where there are no more places than the load takes."""
        spare = replicas * self.places - load
        if spare <= 0:
            return 1.0
        beta = spare / math.sqrt(load * max(1.0, self.burstiness))
        if beta > FAR_MARGIN:
            return 0.0
        waits = 1 / (1 + beta * math.sqrt(2 * math.pi) * math.exp(beta**2 / 2) * normal_share(beta))
        variability = max(1.0, (self.burstiness + self.variation**2) / 2)
        return waits * math.exp(-spare * self.wait_limit_s / (service_s * variability))


FAR_MARGIN = 30.0
"""Margins beyond it leave no waiting that a float can express."""


def normal_share(value: float) -> float:
    """The share of a normal distribution below so many standard deviations."""
    return 0.5 * math.erfc(-value / math.sqrt(2))
