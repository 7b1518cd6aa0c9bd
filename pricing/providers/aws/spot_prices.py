"""Spot price history -> one price per region and type: the median of the zones below on-demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from statistics import median

from pricing.adapters.protocol import CoveredScope, FetchRequest, PriceReading, RejectedRow, SkippedRows
from pricing.price import Price, parse_purchase_option, spot_level
from pricing.providers.aws.clients import AwsClients, pricing_location

SOURCE = "aws-ec2-spot"
PRODUCT = "Linux/UNIX"
TYPES_PER_CALL = 100
"""Types named in one call."""


def read(
    request: FetchRequest, clients: AwsClients, region: str, types: Sequence[str], on_demand: Mapping[str, float]
) -> Iterator[PriceReading]:
    """The latest spot price per zone, merged per region; `on_demand` prices by type, if known.

    The history begins with the price in force at its start, so it has every zone at least once. It starts a day back,
    since the local date may be ahead of UTC.
    """
    begin = datetime.combine(request.today, time(0), UTC) - timedelta(days=1)
    for first in range(0, len(types), TYPES_PER_CALL):
        levels: dict[str, dict[str, tuple[datetime, float]]] = {}
        some = list(types[first : first + TYPES_PER_CALL])
        pages = clients.pages(
            "ec2",
            "describe_spot_price_history",
            region,
            "SpotPriceHistory",
            InstanceTypes=some,
            ProductDescriptions=[PRODUCT],
            StartTime=begin,
        )
        for page in pages:
            for entry in page:
                zone, level = entry["AvailabilityZone"], (entry["Timestamp"], float(entry["SpotPrice"]))
                if entry["ProductDescription"] != PRODUCT or pricing_location(zone, region) != region:
                    yield SkippedRows("spot levels of other products and of Local Zones")
                    continue
                zones = levels.setdefault(entry["InstanceType"], {})
                zones[zone] = max(level, zones.get(zone, level))
        for name, zones in sorted(levels.items()):
            yield build_spot_price(
                request, region, name, [per_hour for _, per_hour in zones.values()], on_demand.get(name)
            )
    yield CoveredScope(region, "spot")


def build_spot_price(
    request: FetchRequest, region: str, name: str, zones: Sequence[float], on_demand: float | None
) -> Price | RejectedRow:
    """The median of the zones below `on_demand`; of all zones if none is below it or it is unknown."""
    key = ("aws", region, name, "spot")
    if min(zones) <= 0:
        return RejectedRow(" ".join(key), f"a zone has the price {min(zones):g}", key)
    below = [per_hour for per_hour in zones if on_demand is not None and per_hour < on_demand]
    level, note = median(zones), f"median of {len(zones)} zone prices; min {min(zones):g} max {max(zones):g}"
    if on_demand is not None and not below:
        note += "; none below on-demand"
    if below:
        level, note = spot_level(below, len(zones) - len(below))
    option = parse_purchase_option("spot")
    assert option is not None
    return Price(*key, *option, level, "USD", request.today, SOURCE, "listed", note)
