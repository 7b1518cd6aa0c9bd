"""How each instance type is sold: by which way of paying, where, within which limits and until when.

A price says what something costs; a term of sale says that it can be bought so. A price without a term stays an offer,
marked as not confirmed. Terms are data of the shared table sale.csv, and of tables of that name that a provider's
folder may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Literal

from pricing.price import Price

SaleState = Literal["confirmed", "not_confirmed", "not_sold", "ended"]
"""Confirmed by a source; priced, and no source says how it is sold; not sold so; sold until a day that has passed."""


@dataclass(frozen=True, slots=True)
class SaleTerm:
    """Whether and how a provider sells one instance type by one way of paying, in one place.

    `purchase_option` is the full name of an option or a beginning of it that ends before an underscore: reserved_1y
    is a one-year reservation however it is paid; empty, as for retired types, it is every way. `region` is empty where
    the term holds everywhere; `zones` are those of the region that sell it, all of them where it is empty.
    """

    provider: str
    instance_type: str
    purchase_option: str
    region: str
    zones: tuple[str, ...]
    sold: bool | None
    """None: the source names the option and does not say whether it is open to all."""
    min_days: int | None
    """Shortest purchase, in days."""
    max_days: int | None
    """Longest purchase, in days."""
    order_ahead_days: int | None
    """The latest start, in days after the order."""
    max_nodes: int | None
    """Most nodes of one order."""
    needs_reservation: bool
    """A commitment that exists only together with a reservation of the same capacity."""
    queued: bool
    """Capacity comes when there is some: no start can be counted on."""
    ends: date | None
    """The first day on which it is not sold and does not run any more."""
    successor: str
    """What the provider names instead, in its own words; empty where it names nothing."""
    source: str
    checked: str
    """When the source said so; a year, a month or a day, as precise as it is known."""
    confidence: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.provider, self.instance_type, self.purchase_option, self.region)

    @property
    def limits(self) -> str:
        """The limits in words, empty where there is none."""
        days = f"{self.min_days or 1} to {self.max_days} days" if self.max_days else ""
        parts = (
            days,
            f"ordered at most {self.order_ahead_days} days ahead" if self.order_ahead_days else "",
            f"at most {self.max_nodes} nodes an order" if self.max_nodes else "",
            "with an attached reservation" if self.needs_reservation else "",
            "queued until there is capacity" if self.queued else "",
            f"in {', '.join(self.zones)}" if self.zones else "",
            f"until {self.ends}" if self.ends else "",
        )
        return "; ".join(filter(None, parts))

    def state(self, day: date) -> SaleState:
        """Whether it can be bought on that day."""
        if self.ends is not None and self.ends <= day:
            return "ended"
        if self.sold is None:
            return "not_confirmed"
        return "confirmed" if self.sold else "not_sold"

    def covers(self, price: Price) -> bool:
        """Whether it is a term for the way of paying and the region of this price of its type."""
        option = self.purchase_option
        named = not option or price.purchase_option == option or price.purchase_option.startswith(f"{option}_")
        return named and self.region in ("", price.region)


SALE_COLUMNS = tuple(field.name for field in fields(SaleTerm))


def find_sale_term(price: Price, terms: Sequence[SaleTerm]) -> SaleTerm | None:
    """The term for a price among those of its type: one for the region before one for everywhere, then the one that
    names the option most closely; its end, where it names none, is that of the type. None where no source says how it
    is sold."""
    covering = [term for term in terms if term.covers(price)]
    closest = max(covering, key=lambda term: (term.region != "", len(term.purchase_option)), default=None)
    ending = max(
        (term for term in covering if not term.purchase_option and term.ends is not None),
        key=lambda term: term.region != "",
        default=None,
    )
    if closest is None or ending is None or closest.ends is not None:
        return closest
    return replace(closest, ends=ending.ends, successor=ending.successor)
