"""Present value, rates of return, payback, break-even, depreciation and loans.

Pure functions of numbers. A flow stands at the times 0 (now), 1, 2 ...; rates are per step of time unless named
annual. Receipts are positive, payments negative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from planner.finance.symbolic import annuity_factor

MACRS_5_YEAR = (0.20, 0.32, 0.192, 0.1152, 0.1152, 0.0576)
"""US IRS Publication 946, table A-1: 5-year property, half-year convention."""
ROUNDING_TOLERANCE = 1e-13
"""Relative to the terms of a sum: a smaller rest is rounding and counts as 0."""


def net_present_value(flows: Sequence[float], rate: float) -> float:
    """Sum of flow[t] / (1 + rate)^t.

    >>> round(net_present_value([-100, 60, 60], 0.10), 4)
    4.1322
    """
    return math.fsum(discount_flows(flows, rate))


def discount_flows(flows: Sequence[float], rate: float) -> tuple[float, ...]:
    """flow[t] / (1 + rate)^t for each period."""
    return tuple(flow * (1 + rate) ** -time for time, flow in enumerate(flows))


def internal_rates(flows: Sequence[float]) -> tuple[float, ...]:
    """Every rate above -100 % at which the present value of the flows is 0, ascending: none, one or several.

    Rates of 0 and more are roots of a polynomial in 1 / (1 + rate), others of one in 1 + rate; both lie between 0 and
    1. Where all flows are 0 every rate is one: none is returned.

    >>> [round(rate, 6) for rate in internal_rates([-100, 60, 60])]
    [0.130662]
    >>> [round(rate, 6) for rate in internal_rates([-100, 230, -132])]
    [0.1, 0.2]
    """
    size = max((abs(flow) for flow in flows), default=0.0)
    scaled = [flow / size for flow in flows] if size else []
    losses = [growth - 1 for growth in _find_roots(scaled[::-1]) if growth < 1]
    return (*losses, *(1 / discount - 1 for discount in reversed(_find_roots(scaled))))


def _find_roots(coefficients: Sequence[float]) -> list[float]:
    """Where sum c[k] x^k is 0 for 0 < x <= 1, ascending, each once.

    Between neighbouring roots of its derivative a polynomial runs one way, so each such stretch holds at most one
    root; one that only touches 0 is a root of the derivative too.
    """
    low = next((k for k, c in enumerate(coefficients) if c), len(coefficients))
    polynomial = list(coefficients[low:])
    changes = sum(a * b < 0 for a, b in pairwise(c for c in polynomial if c))
    if not changes:
        return []
    # One change of sign is one root at most (Descartes): the derivative is not needed.
    turns = _find_roots([k * c for k, c in enumerate(polynomial)][1:]) if changes > 1 else []
    stops = [0.0, *(x for x in turns if x < 1), 1.0]
    signs = [_polynomial_sign(polynomial, x) for x in stops]
    roots = [x for x, sign in zip(stops, signs, strict=True) if sign == 0]
    for (left, right), (before, after) in zip(pairwise(stops), pairwise(signs), strict=True):
        if before * after < 0:
            roots.append(_bisect_root(polynomial, left, right, before))
    return sorted(roots)


def _evaluate_polynomial(polynomial: Sequence[float], x: float) -> float:
    total = 0.0
    for coefficient in reversed(polynomial):
        total = total * x + coefficient
    return total


def _polynomial_sign(polynomial: Sequence[float], x: float) -> int:
    """-1, 0 or 1; 0 where the value is within the rounding error of its terms."""
    value = _evaluate_polynomial(polynomial, x)
    if abs(value) <= ROUNDING_TOLERANCE * _evaluate_polynomial([abs(c) for c in polynomial], x):
        return 0
    return 1 if value > 0 else -1


def _bisect_root(polynomial: Sequence[float], low: float, high: float, sign_at_low: int) -> float:
    """Where a polynomial that changes sign between `low` and `high` is 0, to the last bit."""
    while low < (middle := (low + high) / 2) < high:
        if _evaluate_polynomial(polynomial, middle) * sign_at_low > 0:
            low = middle
        else:
            high = middle
    return high


def annual_rate(monthly: float) -> float:
    """(1 + monthly)^12 - 1."""
    return float((1 + monthly) ** 12 - 1)


def payback_time(flows: Sequence[float]) -> int | None:
    """The first time from which the flows so far add up to 0 or more; None if never.

    >>> payback_time([-100, 60, 60]), payback_time([-100, 10])
    (2, None)
    """
    rounding = ROUNDING_TOLERANCE * math.fsum(map(abs, flows))
    return next((time for time in range(len(flows)) if math.fsum(flows[: time + 1]) >= -rounding), None)


def break_even(
    capital: float, own_per_period: float, rent_per_period: float, level_per_period: float
) -> tuple[float | None, float]:
    """Owning against renting: the periods of full use after which owning has cost no more, and the utilisation from
    which on it costs no more over its life.

    Periods, undiscounted and without resale: capital / (rent - own); None where renting never costs more. Capital may
    not be in `own_per_period` as well. Utilisation: `level_per_period`, the level payment for all costs of owning over
    its life, independent of use, over the rent of a period at full use; above 1 or infinite: never.

    >>> periods, utilisation = break_even(250_141.8, 6.37, 98.32, level_per_period=30.0)
    >>> round(periods), round(utilisation, 3)
    (2720, 0.305)
    """
    saved = rent_per_period - own_per_period
    periods = capital / saved if saved > 0 else None
    return periods, level_per_period / rent_per_period if rent_per_period > 0 else math.inf


def first_whole_period(periods: float | None, last: int) -> int | None:
    """The first period by whose end so many periods are over; None for none, or where that is after the last.

    >>> first_whole_period(2.0, 3), first_whole_period(2.1, 3), first_whole_period(3.1, 3)
    (2, 3, None)
    """
    if periods is None:
        return None
    # A division that should give a whole number may give one a little above it.
    first = max(1, math.ceil(periods * (1 - ROUNDING_TOLERANCE)))
    return first if first <= last else None


def straight_line_deductions(cost: float, years: int, salvage: float = 0.0) -> tuple[float, ...]:
    """Equal deductions of each year.

    >>> straight_line_deductions(250_000, 5)
    (50000.0, 50000.0, 50000.0, 50000.0, 50000.0)
    """
    return ((cost - salvage) / years,) * years


def macrs_deductions(
    cost: float, disposal_year: int | None = None, shares: Sequence[float] = MACRS_5_YEAR
) -> tuple[float, ...]:
    """Deductions by tax year: `shares` of the cost, in the year of disposal half of its share, and none after it.

    The last share is that of half a year already, at whose end all is deducted: a disposal then or later changes none.

    >>> [round(amount, 2) for amount in macrs_deductions(250_000)]
    [50000.0, 80000.0, 48000.0, 28800.0, 28800.0, 14400.0]
    >>> [round(amount, 2) for amount in macrs_deductions(250_000, disposal_year=3)]
    [50000.0, 80000.0, 24000.0]
    """
    deductions = [cost * share for share in shares]
    if disposal_year is None or disposal_year >= len(deductions):
        return tuple(deductions)
    return (*deductions[: disposal_year - 1], deductions[disposal_year - 1] / 2)


def tax_shield(deductions: Sequence[float], tax_fraction: float, rate_annual: float) -> tuple[tuple[float, ...], float]:
    """Tax saved by the deductions of each year, and its present value: each falls at the end of its year."""
    saved = tuple(tax_fraction * amount for amount in deductions)
    return saved, net_present_value((0.0, *saved), rate_annual)


def loan_payment(principal: float, rate_annual: float, months: int) -> float:
    """The level payment at the end of each month: K i / (1 - (1 + i)^-n) with i a twelfth of the yearly rate.

    >>> round(loan_payment(100_000, 0.12, 12), 2)
    8884.88
    """
    return principal * capital_recovery_factor(rate_annual / 12, months)


def capital_recovery_factor(rate: float, periods: int) -> float:
    """The level payment at the end of each period with a present value of 1: r / (1 - (1 + r)^-N).

    >>> round(capital_recovery_factor(0.08, 5), 6)
    0.250456
    """
    return 1 / annuity_factor(rate, periods)
