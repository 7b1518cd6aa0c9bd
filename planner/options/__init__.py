"""Ways of paying: one file each, found by walking this folder, named by the kind of price it bills.

By the hour (`COMMITS` false): `payments(price, month, node_hours, terms)` is what that use costs in that month.
By commitment (`COMMITS` true): `payments(price, month, nodes, terms)` is all that is owed when `nodes` are committed
at the start of `month`, used or not, and `usable(price, month, terms)` the months it covers inside the horizon.
`INTERRUPTS`: the provider may take the nodes back.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol

from planner.cashflow import Payment, Terms
from pricing.price import Price


class Option(Protocol):
    """What each module of this folder offers."""

    COMMITS: bool
    INTERRUPTS: bool
    TITLE: str

    def payments(self, price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]: ...

    def usable(self, price: Price, month: int, terms: Terms) -> range: ...


@cache
def options() -> dict[str, Option]:
    """Every way of paying, by the `Price.kind` that it bills."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}
