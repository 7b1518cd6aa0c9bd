"""Hours billed for each hour that advances a job, when nodes fail or spot capacity is reclaimed.

J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps (2006): with mean time to
interruption M, checkpoint time d and restart time R, a job of useful time Ts that writes a checkpoint after every t
of work takes

    W = M * exp(R / M) * (exp((t + d) / M) - 1) * Ts / t

The best t solves (1 - t/M) * exp((t + d)/M) = 1; solved here by Newton's method, not by an approximation.
"""

from __future__ import annotations

import math


def billed_per_useful_hour(checkpoint_hours: float, restart_hours: float, interruption_hours: float) -> float:
    """W / Ts at the best checkpoint interval; 1 or more, infinite where the job can never finish a checkpoint.

    `interruption_hours` is the mean time between interruptions of the whole job, more than 0.

    >>> round(billed_per_useful_hour(5 / 60, 10 / 60, 24), 3)
    1.096
    """
    interval = best_interval_hours(checkpoint_hours, interruption_hours)
    mean = interruption_hours
    if interval == 0:
        return math.exp(restart_hours / mean)
    exponent = (interval + checkpoint_hours) / mean
    # exp overflows beyond 709; a factor of exp(500) is never worth a comparison
    if exponent > 500 or restart_hours / mean > 500:
        return math.inf
    return mean * math.exp(restart_hours / mean) * math.expm1(exponent) / interval


def best_interval_hours(checkpoint_hours: float, interruption_hours: float) -> float:
    """The work time between checkpoints that minimises W; 0 where a checkpoint takes no time."""
    cost = checkpoint_hours / interruption_hours
    if cost == 0:
        return 0.0
    # u = t/M solves 1 - u = exp(-u - cost); Young's sqrt(2 cost) starts near the root, which lies in (0, 1).
    u = min(math.sqrt(2 * cost), 1.0)
    for _ in range(50):
        step = (1 - u - math.exp(-u - cost)) / (math.exp(-u - cost) - 1)
        u -= step
        if abs(step) < 1e-14:
            break
    return u * interruption_hours
