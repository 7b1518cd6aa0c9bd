"""Quotes: an offering at a price, and the accelerator memory that it gives."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from pricing.accelerator import Accelerator
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.price import Price
from pricing.sale import SaleState, SaleTerm


@dataclass(frozen=True, slots=True)
class Quote:
    """An offering at a price: one answer of a query. `rank` is its position among all prices, the lowest first; `sale`
    is how it is sold, None where no source says it."""

    offering: Offering
    price: Price
    accelerator: Accelerator
    rank: int
    sale: SaleTerm | None = None

    def sale_state(self, day: date) -> SaleState:
        """Whether it can be bought on a day; not confirmed where no source says how it is sold."""
        return "not_confirmed" if self.sale is None else self.sale.state(day)


@dataclass(frozen=True, slots=True)
class OfferingQuotes:
    """All prices of one offering, by rank; the same again by purchase option."""

    quotes: tuple[Quote, ...]
    by_option: dict[str, list[Quote]]


class LowestPrice(NamedTuple):
    """The lowest price of an offering under one purchase option, its rank among all prices, and how many there are."""

    price: Price
    rank: int
    prices: int

    @classmethod
    def of(cls, quotes: Sequence[Quote]) -> LowestPrice:
        """That of quotes in the order of their rank."""
        return cls(quotes[0].price, quotes[0].rank, len(quotes))


@dataclass(frozen=True, slots=True)
class Coverage:
    """Price coverage: `offerings` have `prices` rows of `option`, dated `oldest` to `newest`; separate if `retired`."""

    provider: str
    """Provider."""
    family: str
    """Family of instance types."""
    option: str
    """Purchase option."""
    retired: bool
    """Whether these are retired types."""
    offerings: int
    """Number of offerings with such a price."""
    prices: int
    """Number of prices."""
    oldest: date
    """Date of the oldest of them."""
    newest: date
    """Date of the newest of them."""


def full_accelerator_memory(offering: Offering, accelerator: Accelerator) -> float | None:
    """GiB of one whole accelerator of this type: as the provider states, else as the specification has it; for a
    CPU its share of the node's memory."""
    stated, node = offering.accelerator_memory_gib, offering.memory_gib
    if stated is None and accelerator.device_class == "cpu" and node is not None and offering.accelerator_count:
        return node / max(1.0, offering.accelerator_count)
    return stated if stated is not None else accelerator.memory_gib


def usable_accelerator_memory(offering: Offering, accelerator: Accelerator) -> float | None:
    """GiB available to a job on one accelerator; on a slice, its share: a sixth of an A10 with 24 has 4."""
    whole = full_accelerator_memory(offering, accelerator)
    if whole is None or offering.accelerator_count is None:
        return whole
    return whole * min(1.0, offering.accelerator_count)
