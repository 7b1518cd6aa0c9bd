"""A price: what one node of an offering costs per hour, in a region, bought in one way."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal, NamedTuple, cast

Kind = Literal["on_demand", "spot", "reserved", "committed_use", "capacity_block"]
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
    kind: Kind
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


class Option(NamedTuple):
    """The parts of a purchase option's full name."""

    kind: Kind
    term_months: int
    upfront: Upfront
    offering_class: str


_OPTION = (
    r"(?P<plain>on_demand|spot|capacity_block)|(?P<kind>reserved|committed_use)_(?P<years>[135])y"
    r"(?P<convertible>_convertible)?(_(?P<upfront>no|partial|all)_upfront)?"
)
_UPFRONT: dict[str, Upfront] = {"no": "none", "partial": "partial", "all": "all"}


@cache
def option_of(name: str) -> Option | None:
    """The parts of reserved_1y_convertible_no_upfront and its like; None for a name outside the grammar.

    `upfront` and `offering_class` stay empty where the name does not say: Azure and Google Cloud rates are the same
    however they are paid.
    """
    found = re.fullmatch(_OPTION, name)
    if found is None:
        return None
    if found["plain"]:
        return Option(cast(Kind, found["plain"]), 0, "", "")
    upfront = _UPFRONT.get(found["upfront"] or "", "")
    stated = "convertible" if found["convertible"] else "standard"
    return Option(cast(Kind, found["kind"]), 12 * int(found["years"]), upfront, stated if upfront else "")
