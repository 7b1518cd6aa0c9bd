"""Commitments: a term, an upfront part and a monthly fee for every hour of the term, used or not."""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from pricing.price import Price
from pricing.units import HOURS_PER_YEAR


def usable(price: Price, month: int, terms: Terms) -> range:
    """The months inside the horizon that a commitment started in `month` covers."""
    return range(month, min(month + price.term_months, terms.months + 1))


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """All payments for `quantity` nodes committed to at the start of `month`.

    A later commitment has the price of such commitments by then. The catalogue's rate is the effective one,
    (upfront + hourly x term hours) / term hours with 8,760 hours a year,
    so the whole term costs rate x 8,760 x years. Fees beyond the horizon are due at its end in full, or left out with
    their part of the upfront payment where commitments are charged pro rata.
    """
    rate = price.price_per_hour * terms.price_factor(month, "commitment")
    whole = rate * HOURS_PER_YEAR * price.term_months / 12 * quantity
    upfront = whole * {"all": 1.0, "partial": terms.partial_upfront_fraction}.get(price.upfront, 0.0)
    fee = (whole - upfront) / price.term_months
    covered = usable(price, month, terms)
    beyond = price.term_months - len(covered)
    if not terms.charge_beyond_horizon:
        upfront, beyond = upfront * len(covered) / price.term_months, 0
    rows = [Payment(month, "start", "commitment", upfront)] if upfront else []
    if fee:
        rows += [Payment(at, "end", "commitment", fee) for at in covered]
        if beyond:
            rows.append(Payment(terms.months, "end", "commitment", fee * beyond))
    return tuple(rows)
