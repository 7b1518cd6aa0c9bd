"""Calendar mode (Google Cloud): nodes or TPUs reserved for a dated period of 1 to 90 days, at a price of its own.

`quantity` is node-days inside the month. The whole period is charged, used or not, and cannot be changed or cancelled
(cloud.google.com/compute/docs/instances/create-future-reservations-calendar-mode). Charges come with the month's bill.
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
TITLE = "calendar reservations"


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """The price of `quantity` node-days at the end of their month."""
    return node_day_payments("end", price, month, quantity, terms)
