"""Billing by the hour: the list price, moved by the assumed change of prices, for the hours used."""

from __future__ import annotations

from typing import Literal

from planner.finance.cashflow import Payment, PriceChangeKind, Terms
from pricing.price import Price


def hourly_payments(
    category: Literal["on_demand", "spot"], price: Price, month: int, node_hours: float, terms: Terms
) -> tuple[Payment, ...]:
    """The price of `node_hours` used in `month`, paid at its end."""
    change: PriceChangeKind = category
    return (Payment(month, "end", category, price.price_per_hour * terms.price_factor(month, change) * node_hours),)


def usable(price: Price, month: int, terms: Terms) -> range:  # noqa: ARG001  one signature for every option
    """Only the month that is paid for."""
    return range(month, month + 1)
