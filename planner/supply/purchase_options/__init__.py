"""Purchase options: one module each in this folder, named by the kind of price that it bills.

By the hour (`COMMITS` false): `payments(price, month, node_hours, terms)` is the cost of that use in that month.
By commitment (`COMMITS` true): `payments(price, month, quantity, terms)` is all that is due when that much is
committed at the start of `month`, used or not, and `usable(price, month, terms)` the months it covers inside the
horizon. `UNIT` is the unit of a commitment: nodes for every hour of the term (node), whole days of a node inside the
month (node_day), or an amount of money an hour that use at the plan's rates is set against (money).
Installed packages add options by entry points of the group `gpu_planner.purchase_options`.
`INTERRUPTS`: the provider may take the nodes back. `DISCOUNTED`: an enterprise discount applies to the list price.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Literal, Protocol

from planner.finance.cashflow import Payment, Terms
from pricing.installed_plugins import plugin_state
from pricing.plugins import check_plugin, load_plugins
from pricing.price import PLUG_IN_GROUP, Price

CommitmentUnit = Literal["node", "node_day", "money"]
LONGEST_MONTH_DAYS = 31
KIND = "purchase option"


class PurchaseOption(Protocol):
    """The names that each module of this folder has; `load_purchase_options` checks them. One that sells dated days of
    set lengths has `split_days`, too: the lengths in which a number of days is ordered (`list_order_days`)."""

    COMMITS: bool
    INTERRUPTS: bool
    DISCOUNTED: bool
    UNIT: CommitmentUnit
    TITLE: str

    def payments(self, price: Price, month: int, quantity: float, terms: Terms) -> tuple[Payment, ...]: ...

    def usable(self, price: Price, month: int, terms: Terms) -> range: ...


def load_purchase_options() -> dict[str, PurchaseOption]:
    """Every purchase option, by the `Price.kind` that it bills. InvalidPlugin where one is no PurchaseOption."""
    return _load_purchase_options(plugin_state())


@cache
def _load_purchase_options(_: int) -> dict[str, PurchaseOption]:
    own = load_own_options()
    return {**own, **load_plugins(PLUG_IN_GROUP, PurchaseOption, KIND, reserved=own)}


@cache
def load_own_options() -> dict[str, PurchaseOption]:
    """The purchase options of this package."""
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    return {name: check_plugin(module, PurchaseOption, KIND) for name, module in modules.items()}


def list_order_days(kind: str, days: int) -> tuple[int, ...]:
    """The days of each order that together last so many, one after the other; one where its length is free."""
    split = getattr(load_purchase_options()[kind], "split_days", None)
    return split(days) if split is not None else (days,)


def days_before_last_order(kind: str) -> int:
    """The most days of a month that pass before the last order of its days starts."""
    return _days_before_last_order(kind, plugin_state())


@cache
def _days_before_last_order(kind: str, _: int) -> int:
    return max(sum(list_order_days(kind, days)[:-1]) for days in range(1, LONGEST_MONTH_DAYS + 1))
