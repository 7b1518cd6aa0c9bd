"""A price: what one node of an offering costs per hour, in a region, under one purchase option."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Literal, NamedTuple, cast, get_args

from pricing.frozen_values import dataclass
from pricing.installed_plugins import find_plugins, plugin_state

PurchaseKind = Literal[
    "on_demand", "spot", "reserved", "committed_use", "savings_plan", "capacity_block", "calendar", "flex_start"
]
Upfront = Literal["", "none", "partial", "all"]
Method = Literal["listed", "derived"]


@dataclass(frozen=True, slots=True)
class Price:
    """One row of the catalogue.

    `price_per_hour` is for the whole instance, Linux, before tax and negotiated discounts. For a
    commitment it is the effective rate: (upfront + hourly x term hours) / term hours, at 8,760 hours a year.
    `purchase_option` is the full name of the purchase option (reserved_1y_no_upfront); `kind`,
    `term_months` (0 without a term), `upfront` and `offering_class` are its parts.
    """

    provider: str
    region: str
    instance_type: str
    purchase_option: str
    kind: PurchaseKind
    term_months: int
    upfront: Upfront
    offering_class: str
    price_per_hour: float
    currency: str
    as_of: date
    source_id: str
    method: Method
    note: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.provider, self.region, self.instance_type, self.purchase_option)


@dataclass(frozen=True, slots=True)
class AdjustedPrice(Price):
    """A price that is not as listed: negotiated, or in another currency than the list's.

    `list_price_per_hour` in `list_currency` is the list price, None without one. `adjustment` describes the private
    price that was applied; empty if only the currency differs.
    """

    list_price_per_hour: float | None = None
    list_currency: str = ""
    adjustment: str = ""


class PurchaseOptionParts(NamedTuple):
    """The parts of a purchase option's full name."""

    kind: PurchaseKind
    term_months: int
    upfront: Upfront
    offering_class: str


_OPTION = (
    r"(?P<plain>on_demand|spot|capacity_block|calendar|flex_start)|(?P<kind>reserved|committed_use|savings_plan)_(?P<years>[135])y"
    r"(_(?P<class>convertible|compute|instance))?(_(?P<upfront>no|partial|all)_upfront)?"
)
_PLUG_IN_TERM = r"(_(?P<years>[135])y(_(?P<upfront>no|partial|all)_upfront)?)?"
PLUG_IN_GROUP = "gpu_planner.purchase_options"
"""Entry points of further kinds of price: each bills the price of its name, or of its name with a term (credit_1y)."""
PLAN_CLASSES = ("compute", "instance")
_UPFRONT: dict[str, Upfront] = {"no": "none", "partial": "partial", "all": "all"}


def purchase_kinds() -> tuple[str, ...]:
    """The kinds of price that there are, those of plug-ins last."""
    return (*get_args(PurchaseKind), *(each.name for each in find_plugins(PLUG_IN_GROUP)))


def parse_purchase_option(name: str) -> PurchaseOptionParts | None:
    """The parts of reserved_1y_convertible_no_upfront and its like; None for a name outside the grammar.

    Classes: a reservation is standard or convertible; a savings plan compute (any family and region) or instance (one
    family in one region). `upfront` and `offering_class` stay empty if the name omits them: Azure and Google
    Cloud rates are the same however they are paid.
    """
    return _parse_purchase_option(name, plugin_state())


@cache
def _parse_purchase_option(name: str, _: int) -> PurchaseOptionParts | None:
    parsed = re.fullmatch(_OPTION, name)
    if parsed is None:
        return _parse_plug_in_option(name)
    if parsed["plain"]:
        return PurchaseOptionParts(cast(PurchaseKind, parsed["plain"]), 0, "", "")
    upfront = _UPFRONT.get(parsed["upfront"] or "", "")
    of_class = parsed["class"] or ("standard" if upfront and parsed["kind"] == "reserved" else "")
    if of_class and (of_class in PLAN_CLASSES) != (parsed["kind"] == "savings_plan"):
        return None
    return PurchaseOptionParts(cast(PurchaseKind, parsed["kind"]), 12 * int(parsed["years"]), upfront, of_class)


def _parse_plug_in_option(name: str) -> PurchaseOptionParts | None:
    for plugin in find_plugins(PLUG_IN_GROUP):
        if parsed := re.fullmatch(re.escape(plugin.name) + _PLUG_IN_TERM, name):
            upfront = _UPFRONT.get(parsed["upfront"] or "", "")
            return PurchaseOptionParts(cast(PurchaseKind, plugin.name), 12 * int(parsed["years"] or 0), upfront, "")
    return None


def spot_level(below: Sequence[float], at_on_demand: int) -> tuple[float, str]:
    """The spot price of a region, and a note: the median of the zones `below` on-demand.

    A zone at the on-demand price has no spare capacity. It would pull the median up although no job would run there, so
    it is only counted (`at_on_demand`). The median, not the mean, since a single zone may be far off.
    """
    from statistics import median

    note = f"median of {len(below)} zone prices below on-demand; min {min(below):g} max {max(below):g}"
    return median(below), f"{note}; {at_on_demand} zones at on-demand"
