"""On demand: billed for the hours used, at the list price, no commitment and no interruption by the provider."""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from planner.supply.purchase_options._hourly import hourly_payments, usable
from pricing.price import Price

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "usable"]

COMMITS = False
INTERRUPTS = False
DISCOUNTED = True
UNIT = "node"
TITLE = "on demand"


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """The cost of `quantity` node-hours in `month`, paid at its end."""
    return hourly_payments("on_demand", price, month, quantity, terms)
