"""A price: what one node of an offering costs per hour, in a region, bought in one way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal, NamedTuple, cast

PurchaseKind = Literal["on_demand", "spot", "reserved", "committed_use", "savings_plan", "capacity_block"]
Upfront = Literal["", "none", "partial", "all"]
Method = Literal["listed", "derived"]


@dataclass(frozen=True, slots=True)
class Price:
    """One row of the catalogue.

    `price_per_hour` is for the whole instance, Linux, before tax and negotiated discounts. For a
    commitment it is the effective rate: (upfront + hourly x term hours) / term hours, at 8,760 hours a year.
    `purchase_option` is the full name of the way of paying (reserved_1y_no_upfront); `kind`,
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

    `list_price_per_hour` in `list_currency` is what the catalogue says, None where it lists no such price.
    `adjustment` says in words which private price was applied, empty where only the currency differs.
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
    r"(?P<plain>on_demand|spot|capacity_block)|(?P<kind>reserved|committed_use|savings_plan)_(?P<years>[135])y"
    r"(_(?P<class>convertible|compute|instance))?(_(?P<upfront>no|partial|all)_upfront)?"
)
PLAN_CLASSES = ("compute", "instance")
_UPFRONT: dict[str, Upfront] = {"no": "none", "partial": "partial", "all": "all"}


@cache
def parse_purchase_option(name: str) -> PurchaseOptionParts | None:
    """The parts of reserved_1y_convertible_no_upfront and its like; None for a name outside the grammar.

    Classes: a reservation is standard or convertible; a savings plan compute (any family and region) or instance (one
    family in one region). `upfront` and `offering_class` stay empty where the name does not say: Azure and Google
    Cloud rates are the same however they are paid.
    """
    parsed = re.fullmatch(_OPTION, name)
    if parsed is None:
        return None
    if parsed["plain"]:
        return PurchaseOptionParts(cast(PurchaseKind, parsed["plain"]), 0, "", "")
    upfront = _UPFRONT.get(parsed["upfront"] or "", "")
    of_class = parsed["class"] or ("standard" if upfront and parsed["kind"] == "reserved" else "")
    if of_class and (of_class in PLAN_CLASSES) != (parsed["kind"] == "savings_plan"):
        return None
    return PurchaseOptionParts(cast(PurchaseKind, parsed["kind"]), 12 * int(parsed["years"]), upfront, of_class)


def spot_level(below: Sequence[float], at_on_demand: int) -> tuple[float, str]:
    """One price for a region from those of its zones, and what was taken: the median of the zones below on-demand.

    A zone at the on-demand price discounts nothing and would only blur the level; `at_on_demand` counts those.
    """
    from statistics import median

    note = f"median of {len(below)} zone prices below on-demand; min {min(below):g} max {max(below):g}"
    return median(below), f"{note}; {at_on_demand} zones at on-demand"
