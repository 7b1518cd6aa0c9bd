"""Capacity Blocks for ML -> one price per region and type: the median of upfront fee / hours / instances.

AWS publishes no list of rates: offers are queried by type, number and length. A type without an offer today keeps its
last price, so this module never reports a covered scope. A Local Zone (us-east-1-dfw-2a) has its own prices and its own
name, as in the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from pricing.adapters.protocol import FetchRequest, PriceReading, RejectedRow
from pricing.errors import ProviderFailure
from pricing.frozen_values import dataclass
from pricing.price import Price, parse_purchase_option
from pricing.providers.aws.clients import AwsClients, pricing_location
from pricing.sale import build_told_term

SOURCE = "aws-ec2-capacity-blocks"
BLOCK_DAYS = (1, 7, 28)
"""Queried lengths: blocks are sold by the day up to 14, then by the week (docs.aws.amazon.com/AWSEC2/latest/
UserGuide/ec2-capacity-blocks.html)."""
ULTRASERVER_PREFIX = "u-"
"""Prefix of UltraServers in the catalogue and in EC2 (u-p6e-gb200x72)."""


@dataclass(frozen=True, slots=True)
class CapacityBlockOffer:
    """One offered block in `place`, a region or a Local Zone; `rate` is per instance and hour."""

    place: str
    hours: float
    count: int
    rate: float


def read(request: FetchRequest, clients: AwsClients, region: str, types: Sequence[str]) -> Iterator[PriceReading]:
    """The rates of every offered type in the region, queried for one instance (or UltraServer).

    EC2 answers with an error for a type that it does not sell in blocks in this region; the other types go on.
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
            source = ("EC2 DescribeCapacityBlockOfferings", request.today)
            yield build_told_term(("aws", name), place, "capacity_block", source, sold=True)


def _list_block_offers(clients: AwsClients, region: str, name: str) -> Iterator[Mapping[str, Any]]:
    """Every offered block of one type, for each queried length."""
    subject: dict[str, Any] = {"InstanceType": name, "InstanceCount": 1}
    if name.startswith(ULTRASERVER_PREFIX):
        subject = {"UltraserverType": name, "UltraserverCount": 1}
    for days in BLOCK_DAYS:
        pages = clients.pages(
            "ec2",
            "describe_capacity_block_offerings",
            region,
            "CapacityBlockOfferings",
            f"{name} in {region}",
            CapacityDurationHours=24 * days,
            **subject,
        )
        for page in pages:
            yield from page


def parse_offer(entry: Mapping[str, Any], name: str, region: str) -> CapacityBlockOffer | RejectedRow:
    """Fee / hours / count; rejected in another currency, or without a fee, hours or a count.

    All blocks end at the same hour of the day. A block that begins at once therefore has minutes on top of its hours.
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
    """The median rate of the offers in one place; the note gives their number, lengths and spread."""
    option = parse_purchase_option("capacity_block")
    assert option is not None
    rates = sorted(offer.rate for offer in offers)
    lengths = sorted({offer.hours for offer in offers})
    note = f"median of {len(offers)} offers of {', '.join(f'{hours:.4g}' for hours in lengths)} hours"
    note += f"; min {rates[0]:g} max {rates[-1]:g}; prepaid whole"
    key = ("aws", offers[0].place, name, "capacity_block")
    return Price(*key, *option, median(rates), "USD", request.today, SOURCE, "listed", note)
