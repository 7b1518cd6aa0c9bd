"""Where things run and what surrounds them: regions, transfer and storage tiers, owned systems, sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

TIER_ITEMS = ("block_storage", "egress_internet", "object_storage", "transfer_inter_region")


@dataclass(frozen=True, slots=True)
class Provider:
    """What holds for a whole provider; `reference_regions` gives per item the region that stands in for estimates.

    `not_priced` are ways of paying that it sells and that no source has a price for.
    """

    name: str
    title: str
    home_page: str
    currency: str
    billing_increment_seconds: int
    billing_minimum_seconds: int
    terraform_module: str
    reference_regions: dict[str, str]
    not_priced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Region:
    """A provider's region; `country` is ISO 3166-1 alpha-2 in capitals, `blocs` such as EU, EEA, GOV (may be empty)."""

    provider: str
    region: str
    name: str
    country: str
    blocs: tuple[str, ...]
    source_id: str


@dataclass(frozen=True, slots=True)
class Tier:
    """One step of a price per GB: applies to the part of a month's volume above `from_gb` (decimal GB).

    `item` is one of object_storage (per GB-month), block_storage (per GB-month), egress_internet (per GB),
    transfer_inter_region (per GB). `kind` is the provider's own name of what is priced (gp3, hot LRS ...); `note` says
    what the source does not cover.
    """

    provider: str
    region: str
    item: str
    from_gb: float
    price_per_gb: float
    currency: str
    as_of: date
    source_id: str
    kind: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class ServerSystem:
    """A server that can be owned. `price` buys one node without network, delivery or tax; None where none is known.

    `sold` is whether it can still be bought new: None where no source tells it.
    """

    name: str
    accelerator: str
    accelerator_count: int
    max_power_kw: float | None
    rack_units: float | None
    price: float | None
    currency: str
    price_as_of: date | None
    source: str
    notes: str
    sold: bool | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows with this `source_id` came from; `reference` is a repository, file and commit or a page."""

    source_id: str
    reference: str
    as_of: date
    gave: str


def tiered_cost(tiers: tuple[Tier, ...], volume_gb: float) -> float:
    """Cost of a month's volume where each step prices only the part inside it (marginal, never whole-volume).

    `tiers` ascend by `from_gb`, the first at 0. Raises ValueError otherwise or for a negative volume.
    """
    if volume_gb < 0 or not tiers or tiers[0].from_gb != 0:
        raise ValueError("tiers must start at 0 and the volume must not be negative")
    cost = 0.0
    for index, tier in enumerate(tiers):
        end = tiers[index + 1].from_gb if index + 1 < len(tiers) else float("inf")
        if end <= tier.from_gb:
            raise ValueError("tiers must ascend")
        cost += max(0.0, min(volume_gb, end) - tier.from_gb) * tier.price_per_gb
    return cost


def strip_source_date(source_id: str) -> str:
    """The source without the day that a snapshot writes behind it: karp-aws.2026-07-20 is karp-aws as it is shipped."""
    return re.sub(r"\.\d{4}-\d{2}-\d{2}(?=\+|$)", "", source_id)
