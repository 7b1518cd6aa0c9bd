"""Capacity blocks (AWS): whole days of a node on fixed dates, all paid upfront, neither moved nor cancelled.

`quantity` is node-days inside the month. Blocks last 1 to 14 days or a multiple of 7 up to 182, so every number of
whole days is put together from several (docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html).
"""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from planner.supply.purchase_options._hourly import usable
from planner.supply.purchase_options._node_days import node_day_payments
from pricing.price import Price

__all__ = ["COMMITS", "DISCOUNTED", "INTERRUPTS", "TITLE", "UNIT", "payments", "split_days", "usable"]

COMMITS = True
INTERRUPTS = False
DISCOUNTED = False
UNIT = "node_day"
TITLE = "capacity blocks"
DAYS_ONE_BY_ONE, DAYS_OF_A_WEEK, LONGEST_DAYS = 14, 7, 182


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """The whole price of `quantity` node-days at the start of their month."""
    return node_day_payments("start", price, month, quantity, terms)


def split_days(days: int) -> tuple[int, ...]:
    """The fewest blocks that last so many days one after the other, the longest last: so the last one starts as early
    as can be, within the time in which it can be ordered.

    >>> split_days(14), split_days(24), split_days(31), split_days(200)
    ((14,), (3, 21), (3, 28), (4, 14, 182))
    """
    if days <= DAYS_ONE_BY_ONE:
        return (days,) if days else ()
    longest = min(days // DAYS_OF_A_WEEK * DAYS_OF_A_WEEK, LONGEST_DAYS)
    return (*split_days(days - longest), longest)
