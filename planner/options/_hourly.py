"""What ways of paying by the hour share: the list price, moved by the assumed change of prices, for the hours used."""

from __future__ import annotations

from planner.answer import Category
from planner.cashflow import Payment, Terms
from pricing.price import Price


def hourly(category: Category, price: Price, month: int, node_hours: float, terms: Terms) -> tuple[Payment, ...]:
    """The price of `node_hours` used in `month`, paid at its end."""
    return (Payment(month, "end", category, price.price_per_hour * terms.price_factor(month) * node_hours),)


def usable(price: Price, month: int, terms: Terms) -> range:  # noqa: ARG001  one signature for every option
    """Nothing outlives the month it is paid for."""
    return range(month, month + 1)
