"""Nodes for dated days: every day is owed in full, used or not."""

from __future__ import annotations

from typing import Literal

from planner.finance.cashflow import Payment, Terms
from pricing.price import Price
from pricing.units import HOURS_PER_DAY


def node_day_payments(
    at: Literal["start", "end"], price: Price, month: int, node_days: float, terms: Terms
) -> tuple[Payment, ...]:
    """The whole price of `node_days` in `month`, paid at its start or end."""
    rate = price.price_per_hour * terms.price_factor(month, "commitment")
    return (Payment(month, at, "commitment", rate * HOURS_PER_DAY * node_days),)
