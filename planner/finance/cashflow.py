"""Dated payments and their present cost. Every cost in a plan is a sum of payments of `planner.supply`.

Time: the start of month m is m - 1 months from now, its end is m. Purchases fall at the start of a month, running costs
at its end. Amounts paid are positive; a resale is a negative payment.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple, Protocol, TypeVar

from planner.finance.symbolic import growth_factor, power
from planner.result import Category
from planner.result.audit_trail import discount_factor
from pricing.frozen_values import dataclass

K = TypeVar("K")
PriceChangeKind = Literal["on_demand", "spot", "commitment"]


class Payment(NamedTuple):
    """One amount, paid at the start or the end of a month (counted from 1)."""

    month: int
    at: Literal["start", "end"]
    category: Category
    amount: float


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of all payments of one plan: the horizon, the calendar, changes of prices, discounts and taxes."""

    months: int
    hours_per_month: float
    discount_rate_annual: float
    price_change_annual: float
    partial_upfront_fraction: float
    charge_beyond_horizon: bool
    spot_price_change_annual: float = 0.0
    commitment_price_change_annual: float = 0.0
    enterprise_discount_fraction: float = 0.0
    cloud_support_fraction: float = 0.0
    cloud_tax_fraction: float = 0.0
    order_ahead_months: int = 0
    """Months before the first in which hardware can be ordered; below 0: it cannot be before so many have passed."""

    @property
    def discount_rate_monthly(self) -> float:
        """(1 + r)^(1/12) - 1."""
        return power(1 + self.discount_rate_annual, 1 / 12) - 1

    def price_factor(self, month: int, change: PriceChangeKind = "on_demand") -> float:
        """The factor on prices agreed on in `month`: 1 in the first, (1 + change)^((month - 1) / 12) later; each kind
        of price has its own change a year."""
        annual = {
            "on_demand": self.price_change_annual,
            "spot": self.spot_price_change_annual,
            "commitment": self.commitment_price_change_annual,
        }[change]
        return growth_factor(annual, month)

    @property
    def bill_factor(self) -> float:
        """The factor on a cloud bill for the support plan, and for the tax on both."""
        return (1 + self.cloud_support_fraction) * (1 + self.cloud_tax_fraction)


class DatedAmount(Protocol):
    """An amount paid at the start or the end of a month: a payment, or a row of cash."""

    @property
    def month(self) -> int: ...
    @property
    def at(self) -> Literal["start", "end"]: ...
    @property
    def amount(self) -> float: ...


def present_cost(payments: Iterable[DatedAmount], rate_monthly: float) -> float:
    """The present value of the payments at the start of month 1, added up exactly (fsum): the same on every Python.

    >>> paid = [Payment(1, "start", "hardware", 100.0), Payment(12, "end", "power", 110.0)]
    >>> round(present_cost(paid, 1.10 ** (1 / 12) - 1), 6)
    200.0
    """
    return math.fsum(payment.amount * discount_factor(payment.month, payment.at, rate_monthly) for payment in payments)


def scale_payments(payments: Iterable[Payment], quantity: float) -> tuple[Payment, ...]:
    """The payments for so many units, from those of one; without any of 0."""
    return tuple(Payment(p.month, p.at, p.category, p.amount * quantity) for p in payments if p.amount)


def present_cost_by(keyed: Iterable[tuple[K, DatedAmount]], rate_monthly: float) -> dict[K, float]:
    """The present cost of the payments of each key; they add up to the present cost of all."""
    payments: dict[K, list[DatedAmount]] = defaultdict(list)
    for key, payment in keyed:
        payments[key].append(payment)
    return {key: present_cost(rows, rate_monthly) for key, rows in payments.items()}
