"""Amazon Web Services, live: the tasks of a refresh. Each can fail without the others.

Each region has a task for its types, its list prices, its spot levels, its capacity blocks and its savings plans: a
missing permission for one of them leaves the others unaffected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial

from pricing.adapters.api_calls import SharedResult
from pricing.adapters.protocol import FetchRequest, FetchTask, PriceReading, QuotaTask, SkippedRows
from pricing.price import Price
from pricing.providers.aws import capacity_blocks, instance_types, price_list, quotas, savings_plans, spot_prices
from pricing.providers.aws.clients import HOME_REGION, SERVICES, AwsClients
from pricing.regions import Source

__all__ = ["AT_ONCE", "EXTRA", "SERVICES", "quota_tasks", "sources", "tasks"]

EXTRA = "aws"
AT_ONCE = 8
"""EC2 limits calls by account and region (docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html): one or
two tasks at a time call the same region."""


def sources(day: date) -> tuple[Source, ...]:
    """Every source that the rows of a refresh on `day` may name."""
    descriptions = {
        instance_types.SOURCE: (
            "EC2 DescribeInstanceTypes, DescribeInstanceTypeOfferings",
            "instance types and what they have",
        ),
        price_list.SOURCE: ("Price List GetProducts, service AmazonEC2", "on-demand and reserved rates, Linux, shared"),
        spot_prices.SOURCE: ("EC2 DescribeSpotPriceHistory, Linux/UNIX", "spot levels by zone"),
        capacity_blocks.SOURCE: (
            "EC2 DescribeCapacityBlockOfferings",
            "blocks on offer: fee, length and number of instances",
        ),
        savings_plans.SOURCE: (
            "Savings Plans DescribeSavingsPlansOfferingRates",
            "rates under Compute and EC2 Instance plans",
        ),
        quotas.SOURCE: ("Service Quotas ListServiceQuotas, service ec2", "vCPU quotas of an account"),
    }
    return tuple(Source(name, reference, day, gave) for name, (reference, gave) in descriptions.items())


def tasks(request: FetchRequest) -> Iterable[FetchTask]:
    """Five tasks per region; calls EC2 for the regions of the account unless the request names them."""
    clients = AwsClients(request)
    for region in list_regions(request, clients):
        place = _RegionReader(request, clients, region)
        yield FetchTask(f"types in {region}", place.types)
        yield FetchTask(f"list prices in {region}", place.list_prices)
        yield FetchTask(f"spot in {region}", place.spot)
        yield FetchTask(f"capacity blocks in {region}", place.blocks)
        yield FetchTask(f"savings plans in {region}", place.savings)


def quota_tasks(request: FetchRequest) -> Iterable[QuotaTask]:
    """One task per region."""
    clients = AwsClients(request)
    for region in list_regions(request, clients):
        yield QuotaTask(f"quotas in {region}", partial(quotas.read, request, clients, region))


def list_regions(request: FetchRequest, clients: AwsClients) -> tuple[str, ...]:
    """The requested regions, else those enabled for the account."""
    if request.regions:
        return tuple(dict.fromkeys(request.regions))
    pages = clients.pages("ec2", "describe_regions", HOME_REGION, "Regions")
    return tuple(sorted(entry["RegionName"] for page in pages for entry in page))


def sum_skipped_rows(readings: Iterable[PriceReading]) -> tuple[PriceReading, ...]:
    """All readings, with skipped rows summed by reason: most rows of a price list are skipped."""
    used: list[PriceReading] = []
    left: Counter[str] = Counter()
    for reading in readings:
        if isinstance(reading, SkippedRows):
            left[reading.reason] += reading.rows
        else:
            used.append(reading)
    return (*used, *(SkippedRows(reason, rows) for reason, rows in left.items()))


class _RegionReader:
    """The tasks of one region, which share one read of its types and of its list prices."""

    def __init__(self, request: FetchRequest, clients: AwsClients, region: str) -> None:
        self._request, self._clients, self._region = request, clients, region
        self._sold = SharedResult(partial(instance_types.read, request, clients, region))
        self._listed = SharedResult(
            lambda: sum_skipped_rows(price_list.read(request, clients, region, self._is_catalogued))
        )

    def types(self) -> Iterator[PriceReading]:
        yield from self._sold.get().readings()

    def list_prices(self) -> Iterator[PriceReading]:
        yield from self._listed.get()

    def spot(self) -> Iterator[PriceReading]:
        sold = self._sold.get()
        listed = self._listed.get_or_none() or ()
        plain = {p.instance_type: p.price_per_hour for p in listed if isinstance(p, Price) and p.kind == "on_demand"}
        yield from spot_prices.read(self._request, self._clients, self._region, sorted(sold.offerings), plain)

    def blocks(self) -> Iterator[PriceReading]:
        sold = self._sold.get().blocks
        ultra = {name for name in self._request.known if name.startswith(capacity_blocks.ULTRASERVER_PREFIX)}
        members = {name.partition(".")[0] for name in sold}  # p6e-gb200.36xlarge is sold in u-p6e-gb200x72
        here = sorted(
            name for name in ultra if any(name.startswith(f"{capacity_blocks.ULTRASERVER_PREFIX}{m}x") for m in members)
        )
        alone = [name for name in sold if name in self._request.known or name in self._sold.get().offerings]
        yield from capacity_blocks.read(self._request, self._clients, self._region, [*alone, *here])

    def savings(self) -> Iterator[PriceReading]:
        for plan in savings_plans.CLASSES:
            yield from savings_plans.read(self._request, self._clients, self._region, plan, self._is_catalogued)
        yield savings_plans.covered_scope(self._region)

    def _is_catalogued(self, name: str) -> bool:
        """Whether a type is known, or was accepted from EC2 in this refresh. The types task reports rejected ones."""
        sold = self._sold.get_or_none()
        return name in self._request.known or (sold is not None and name in sold.offerings)
