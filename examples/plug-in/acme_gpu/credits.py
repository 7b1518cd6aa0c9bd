"""Prepaid credits: billed by the hour as used, at a price of their own."""

from __future__ import annotations

from planner.finance.cashflow import Payment, Terms
from pricing.price import Price

COMMITS = False  # True: owed for its term, used or not
INTERRUPTS = False  # True: the provider may take the node back
DISCOUNTED = False  # no enterprise discount applies
UNIT = "node"  # of a commitment: node, node_day or money
TITLE = "prepaid credits"


def payments(price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]:
    """The cost of `quantity` node-hours in `month`, paid at its end."""
    return (Payment(month, "end", "on_demand", price.price_per_hour * quantity),)


def usable(price: Price, month: int, terms: Terms) -> range:
    """Only the month that is paid for."""
    return range(month, month + 1)
