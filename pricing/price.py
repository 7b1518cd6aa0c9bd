"""A price: what one node of an offering costs per hour, in a region, bought in one way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

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
