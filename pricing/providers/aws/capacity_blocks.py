"""Capacity Blocks for ML -> one price a region and type: upfront fee / hours / instances, the median of the offers.

There is no list of rates: an offer is asked for by type, number and length. What is not on offer today keeps the price
it had, so nothing is ever said to be covered. A Local Zone (us-east-1-dfw-2a) has prices of its own and goes by its own
name, as in the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from pricing.adapters.protocol import FetchRequest, PriceReading, RejectedRow
from pricing.errors import ProviderFailure
from pricing.price import Price, parse_purchase_option
from pricing.providers.aws.clients import AwsClients, pricing_location

SOURCE = "aws-ec2-capacity-blocks"
BLOCK_DAYS = (1, 7, 28)
"""Lengths asked for: blocks are sold by the day up to 14, then by the week (docs.aws.amazon.com/AWSEC2/latest/
UserGuide/ec2-capacity-blocks.html)."""
ULTRASERVER_PREFIX = "u-"
"""How the catalogue writes an UltraServer, and EC2 too (u-p6e-gb200x72)."""


@dataclass(frozen=True, slots=True)
class CapacityBlockOffer:
    """One block on offer in `place`, a region or a Local Zone: `rate` per instance and hour."""

    place: str
    hours: float
    count: int
    rate: float


def read(request: FetchRequest, clients: AwsClients, region: str, types: Sequence[str]) -> Iterator[PriceReading]:
    """The rates of every type that is on offer in the region, for one instance (or UltraServer) at a time.

    A type is sold in blocks in some regions only, and EC2 refuses to be asked for it in others: that costs no other.
    """
    for name in types:
        offers: list[CapacityBlockOffer] = []
        try:
            for entry in _list_block_offers(clients, region, name):
                parsed_offer = parse_offer(entry, name, region)
                if isinstance(parsed_offer, RejectedRow):
                    yield parsed_offer
                else:
                    offers.append(parsed_offer)
        except ProviderFailure as failed:
            if failed.kind != "changed_format":
                raise
            yield RejectedRow(
                f"aws {region} {name} capacity_block", failed.detail, ("aws", region, name, "capacity_block")
            )
            continue
        for place in sorted({offer.place for offer in offers}):
            yield build_block_price(request, name, [offer for offer in offers if offer.place == place])


def _list_block_offers(clients: AwsClients, region: str, name: str) -> Iterator[Mapping[str, Any]]:
    """Every block on offer of one type, of each length asked for."""
    what: dict[str, Any] = {"InstanceType": name, "InstanceCount": 1}
    if name.startswith(ULTRASERVER_PREFIX):
        what = {"UltraserverType": name, "UltraserverCount": 1}
    for days in BLOCK_DAYS:
        pages = clients.pages(
            "ec2",
            "describe_capacity_block_offerings",
            region,
            "CapacityBlockOfferings",
            f"{name} in {region}",
            CapacityDurationHours=24 * days,
            **what,
        )
        for page in pages:
            yield from page


def parse_offer(entry: Mapping[str, Any], name: str, region: str) -> CapacityBlockOffer | RejectedRow:
    """Fee / hours / count; refused in another currency, or without a fee, hours or a count.

    A block that begins at once ends at the hour at which all blocks end: its minutes count beside its whole hours.
    """
    place = pricing_location(entry["AvailabilityZone"], region)
    key = ("aws", place, name, "capacity_block")
    currency, fee = entry["CurrencyCode"].upper(), float(entry["UpfrontFee"])
    hours = int(entry["CapacityBlockDurationHours"]) + int(entry.get("CapacityBlockDurationMinutes") or 0) / 60
    count = int(entry["UltraserverCount"] if name.startswith(ULTRASERVER_PREFIX) else entry["InstanceCount"])
    if currency != "USD":
        return RejectedRow(" ".join(key), f"the currency is {currency!r}, expected USD", key)
    if fee <= 0 or hours <= 0 or count <= 0:
        return RejectedRow(" ".join(key), f"a fee of {fee:g} for {hours:g} hours of {count}: all are above 0", key)
    return CapacityBlockOffer(place, hours, count, fee / hours / count)


def build_block_price(request: FetchRequest, name: str, offers: Sequence[CapacityBlockOffer]) -> Price:
    """The median rate of offers in one place; the note tells how many of which lengths, and their spread."""
    option = parse_purchase_option("capacity_block")
    assert option is not None
    rates = sorted(offer.rate for offer in offers)
    lengths = sorted({offer.hours for offer in offers})
    note = f"median of {len(offers)} offers of {', '.join(f'{hours:.4g}' for hours in lengths)} hours"
    note += f"; min {rates[0]:g} max {rates[-1]:g}; prepaid whole"
    key = ("aws", offers[0].place, name, "capacity_block")
    return Price(*key, *option, median(rates), "USD", request.today, SOURCE, "listed", note)
