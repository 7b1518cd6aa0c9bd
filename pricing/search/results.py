"""The results of a search of offers."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pricing import exchange_rates as exchange
from pricing.frozen_values import dataclass
from pricing.sale import SaleState

OfferKind = Literal["accelerator", "cpu", "fpga"]


@dataclass(frozen=True, slots=True)
class OfferRow:
    """One offering at one price; per-node figures count all its accelerators, None is unknown."""

    provider: str
    """Provider."""
    region: str
    """Region."""
    instance_type: str
    """Instance type."""
    accelerator: str
    """Name of the accelerator; empty: none that plans use."""
    accelerator_count: float | None
    """Accelerators of one node, or FPGAs; null: unknown."""
    purchase_option: str
    """Purchase option as the catalogue spells it."""
    price_per_hour: float
    """Price of a node-hour, in `currency`."""
    currency: str
    """Currency of the price, ISO 4217."""
    price_per_accelerator_hour: float | None
    """Price of an accelerator-hour, in `currency`; null: count unknown."""
    accelerator_memory_gib: float | None
    """Memory of one accelerator in GiB; null: unknown."""
    memory_gib_per_node: float | None
    """Accelerator memory of a node in GiB; null: unknown."""
    memory_bandwidth_gbs_per_node: float | None
    """Accelerator memory bandwidth of a node in GB/s; null: unknown."""
    cores_per_node: float | None
    """Accelerator cores of a node; null: unknown."""
    precision: str
    """Precision of `tflops_per_node`."""
    tflops_per_node: float | None
    """Dense peak throughput of a node in TFLOPS at `precision`; null: unknown."""
    vcpus: float | None
    """Virtual processors of a node; null: unknown."""
    host_memory_gib: float | None
    """Host memory of a node in GiB; null: unknown."""
    status: str
    """Availability: current, preview or retired."""
    as_of: date
    """Date of the price."""
    source_id: str
    """Identifier of the price's source."""
    source: str
    """The source in words."""
    method: str
    """How the price came about: listed, or estimated by a named rule."""
    sale: SaleState
    """Whether it is sold this way today: confirmed, not_confirmed (no dated source says so), not_sold or ended."""
    sale_limits: str
    """Limits of the sale in words: durations, how far ahead, most nodes; empty: none known."""
    sale_source: str
    """The source that says how it is sold, and when; empty: none."""
    list_price_per_hour: float | None = None
    """List price of a node-hour before adjustment, in `list_currency`; null: the price is as listed."""
    list_currency: str = ""
    """Currency of the list price; empty: the price is as listed."""
    kind: OfferKind = "accelerator"
    """accelerator; cpu: CPUs only; fpga: with FPGAs. Plans rent only what has an accelerator."""
    adjustment: str = ""
    """Negotiated price that was applied; empty: none."""


@dataclass(frozen=True, slots=True)
class UnpricedOffering:
    """An offering that matches but has no price (`reason`), listed so that its absence does not mislead."""

    provider: str
    """Provider."""
    instance_type: str
    """Instance type."""
    accelerator: str
    """Name of the accelerator."""
    accelerator_count: float | None
    """Accelerators of one node; null: unknown."""
    reason: str
    """Why it has no price."""


@dataclass(frozen=True, slots=True)
class RetiredOffering:
    """A type that matches and can no longer be started, with what the provider names instead and what that costs."""

    provider: str
    """Provider."""
    instance_type: str
    """Instance type."""
    description: str
    """What it was: its accelerators, or the name of its family."""
    ended: str
    """Since when it is not sold, as precise as it is known; empty: unknown."""
    successor: str
    """Instance type to use instead; empty: none is named."""
    successor_price_per_hour: float | None
    """Lowest price of a node-hour of the successor on demand, in `currency`; null: none is known."""
    successor_region: str
    """Region of that price."""
    source: str
    """Source of the end; empty: none beyond the catalogue of types."""
    currency: str = ""
    """Currency of the price of the successor, ISO 4217; empty: no price is known."""

    @property
    def words(self) -> str:
        """What it was, until when, what is there instead and what that costs."""
        line = f"{self.provider} {self.instance_type} ({self.description})"
        line += f", not sold since {self.ended}" if self.ended else ""
        if not self.successor:
            return f"{line}; no successor is recorded"
        if self.successor_price_per_hour is None:
            return f"{line}; instead {self.successor}, whose price on demand is not known"
        price = f"{self.successor_price_per_hour:,.4f} {self.currency} an hour on demand ({self.successor_region})"
        return f"{line}; instead {self.successor}, from {price}"


@dataclass(frozen=True, slots=True)
class UnrentedAccelerator:
    """An accelerator that no provider of the catalogue rents, with what a source says of its price."""

    accelerator: str
    """Name of the accelerator."""
    list_price: float | None
    """List price of one card at its release or in the year named, in USD; null: none is known."""
    list_price_year: int | None
    """Year of that price."""
    source: str
    """Source of the figures."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The result: `rows` after the limit, `total` before it; `unsorted` rows lack the sort key and come last.

    Prices are in `currency`, converted at `exchange_rates`; `left_out` names currencies without a rate.
    """

    rows: tuple[OfferRow, ...]
    """Matching offers, up to the limit."""
    total: int
    """Number of matching offers before the limit."""
    unsorted: int
    """Number of rows without the sort key, which come last."""
    sort: str
    """Sort key."""
    gaps: tuple[UnpricedOffering, ...]
    """Offerings that fit but have no price."""
    retired: tuple[RetiredOffering, ...]
    """Types that were asked for by name or by accelerator and can no longer be started."""
    not_rented: tuple[UnrentedAccelerator, ...]
    """The accelerators that were asked for, where no provider of the catalogue has or had any of them."""
    catalog_digest: str
    """Checksum of the catalogue."""
    currency: str = "USD"
    """Currency of all prices, ISO 4217."""
    exchange_rates: tuple[exchange.RateUsed, ...] = ()
    """Exchange rates in use."""
    left_out: tuple[str, ...] = ()
    """Currencies without an exchange rate, whose prices are left out."""
