"""The catalogue: reads the snapshots in `pricing/providers/`, answers fast, knows its age."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from pricing.accelerator import Accelerator
from pricing.offering import Offering
from pricing.place import Region, Source, System, Tier
from pricing.price import Price


@dataclass(frozen=True, slots=True)
class Quote:
    """An offering at a price: one answer of a query."""

    offering: Offering
    price: Price
    accelerator: Accelerator


class Catalog:
    """Everything the snapshots hold; one instance is safe to share between threads that only read.

    Names given to filters are canonical: use pricing.accelerator.match or the `check_*` methods first.
    """

    @classmethod
    def embedded(cls) -> Catalog:
        """The catalogue that is shipped, compiled on first use."""
        raise NotImplementedError

    @property
    def digest(self) -> str:
        """A short hash of all rows: equal digests give equal plans."""
        raise NotImplementedError

    @cached_property
    def providers(self) -> tuple[str, ...]:
        raise NotImplementedError

    @cached_property
    def offerings(self) -> dict[tuple[str, str], Offering]:
        """By (provider, instance_type); retired types included."""
        raise NotImplementedError

    @cached_property
    def regions(self) -> dict[tuple[str, str], Region]:
        raise NotImplementedError

    @cached_property
    def sources(self) -> dict[str, Source]:
        raise NotImplementedError

    @cached_property
    def systems(self) -> tuple[System, ...]:
        raise NotImplementedError

    def tiers(self, provider: str, region: str, item: str) -> tuple[Tier, ...]:
        """Price steps in ascending order; empty where no source has them (no other region's price stands in)."""
        raise NotImplementedError

    def reference_tiers(self, provider: str, item: str) -> tuple[Tier, ...]:
        """The provider's steps in its reference region, for estimates that are labelled as such; empty if none."""
        raise NotImplementedError

    def quotes(
        self,
        *,
        accelerators: Collection[str] | None = None,
        providers: Collection[str] | None = None,
        regions: Collection[str] | None = None,
        options: Collection[str] | None = None,
        instance_types: Collection[str] | None = None,
        include_retired: bool = False,
    ) -> list[Quote]:
        """Every price of every offering that passes all filters (None passes all; options match kind or full name).

        Sorted by (price_per_hour, provider, region, instance_type, purchase_option).
        """
        raise NotImplementedError

    def unpriced(self) -> tuple[Offering, ...]:
        """Offerings that are not retired and have no price in any region: gaps, never candidates."""
        raise NotImplementedError

    def oldest(self) -> date:
        """The as_of of the oldest price of a current offering."""
        raise NotImplementedError
