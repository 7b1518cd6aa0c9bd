"""Calendar mode (Google Cloud): nodes or TPUs reserved for a dated period of 1 to 90 days, at a price of its own.

`quantity` is node-days inside the month. The whole period is charged, used or not, and cannot be changed or cancelled
(cloud.google.com/compute/docs/instances/create-future-reservations-calendar-mode). Charges come with the month's bill.
"""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from planner.supply.purchase_options._hourly import usable
from pricing.price import Price
from pricing.units import HOURS_PER_DAY

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "usable"]

COMMITS = True
INTERRUPTS = False
DISCOUNTED = False
UNIT = "node_day"
TITLE = "calendar reservations"


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """The price of `quantity` node-days at the end of their month."""
    rate = price.price_per_hour * terms.price_factor(month, "commitment")
    return (Payment(month, "end", "commitment", rate * HOURS_PER_DAY * quantity),)
