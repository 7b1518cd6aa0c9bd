"""Spot: billed for the hours used at a moving price; the provider may take the node back, which costs recomputation.

The dated price of the catalogue applies to the whole horizon, moved by the assumed change of prices.
"""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from planner.supply.purchase_options._hourly import hourly_payments, usable
from pricing.price import Price

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "usable"]

COMMITS = False
INTERRUPTS = True
DISCOUNTED = False
UNIT = "node"
TITLE = "spot"


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """The cost of `quantity` node-hours in `month`, paid at its end."""
    return hourly_payments("spot", price, month, quantity, terms)
