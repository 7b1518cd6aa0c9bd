"""Capacity blocks (AWS): whole days of a node on fixed dates, all paid upfront, neither moved nor cancelled.

`quantity` is node-days inside the month. Blocks last 1 to 14 days or a multiple of 7 up to 182, so every number of
whole days can be put together (docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html).
"""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from planner.supply.purchase_options._hourly import usable
from planner.supply.purchase_options._node_days import node_day_payments
from pricing.price import Price

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "usable"]

COMMITS = True
INTERRUPTS = False
DISCOUNTED = False
UNIT = "node_day"
TITLE = "capacity blocks"


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """The whole price of `quantity` node-days at the start of their month."""
    return node_day_payments("start", price, month, quantity, terms)
