"""Flex-start (Google Cloud): billed by the hour like on demand, but a run waits until there is capacity and ends after
seven days at most.

Whom it suits follows from its terms of sale: queued, with a longest run (planner/supply/price_rules.py).
"""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from planner.supply.purchase_options._hourly import hourly_payments, usable
from pricing.price import Price

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "usable"]

COMMITS = False
INTERRUPTS = False
DISCOUNTED = False
UNIT = "node"
TITLE = "flex-start"


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """The cost of `quantity` node-hours in `month`, paid at its end."""
    return hourly_payments("on_demand", price, month, quantity, terms)
