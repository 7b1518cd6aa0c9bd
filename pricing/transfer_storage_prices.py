"""Tiered prices per GB for network transfer and for storage. Egress is priced here."""

from __future__ import annotations

from datetime import date

from pricing.frozen_values import dataclass

TIER_ITEMS = ("block_storage", "egress_internet", "object_storage", "transfer_inter_region")


@dataclass(frozen=True, slots=True)
class Tier:
    """One step of a price per GB: applies to the part of a month's volume above `from_gb` (decimal GB).

    `item` is one of object_storage (per GB-month), block_storage (per GB-month), egress_internet (per GB),
    transfer_inter_region (per GB). `kind` is the provider's own name of the product (gp3, hot LRS ...); `note` names
    limits of the source.
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


def tiered_cost(tiers: tuple[Tier, ...], volume_gb: float) -> float:
    """Cost of a month's volume where each step prices only the part inside it (marginal, never whole-volume).

    `tiers` ascend by `from_gb`, the first at 0. Raises ValueError otherwise or for a negative volume.
    """
    if volume_gb < 0 or not tiers or tiers[0].from_gb != 0:
        raise ValueError("tiers must start at 0 and the volume must not be negative")
    cost = 0.0
    # Each step prices only its own part of the volume: 15 TB at a step of 10 TB pay the first price for 10 TB.
    for index, tier in enumerate(tiers):
        end = tiers[index + 1].from_gb if index + 1 < len(tiers) else float("inf")
        if end <= tier.from_gb:
            raise ValueError("tiers must ascend")
        cost += max(0.0, min(volume_gb, end) - tier.from_gb) * tier.price_per_gb
    return cost
