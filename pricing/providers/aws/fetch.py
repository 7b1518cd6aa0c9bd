"""Amazon Web Services, live: what a refresh reads, in tasks that fail by themselves.

Each region has a task for its types, its list prices, its spot levels, its capacity blocks and its savings plans: a
right that is missing for one of them costs no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial

from pricing.adapter import Ask, Left, QuotaTask, Reading, Task
from pricing.calls import Once
from pricing.place import Source
from pricing.price import Price
from pricing.providers.aws import blocks, price_list, quotas, savings, spot, types
from pricing.providers.aws.clients import HOME, SERVICES, Clients

__all__ = ["AT_ONCE", "EXTRA", "SERVICES", "quota_tasks", "sources", "tasks"]

EXTRA = "aws"
AT_ONCE = 8
"""EC2 limits calls by account and region (docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html): a region
is asked by one or two tasks at a time."""


def sources(day: date) -> tuple[Source, ...]:
    """Every source that a refresh on `day` may name."""
    told = {
        types.SOURCE: ("EC2 DescribeInstanceTypes, DescribeInstanceTypeOfferings", "instance types and what they have"),
        price_list.SOURCE: ("Price List GetProducts, service AmazonEC2", "on-demand and reserved rates, Linux, shared"),
        spot.SOURCE: ("EC2 DescribeSpotPriceHistory, Linux/UNIX", "spot levels by zone"),
        blocks.SOURCE: ("EC2 DescribeCapacityBlockOfferings", "blocks on offer: fee, length and number of instances"),
        savings.SOURCE: (
            "Savings Plans DescribeSavingsPlansOfferingRates",
            "rates under Compute and EC2 Instance plans",
        ),
        quotas.SOURCE: ("Service Quotas ListServiceQuotas, service ec2", "vCPU quotas of an account"),
    }
    return tuple(Source(name, reference, day, gave) for name, (reference, gave) in told.items())


def tasks(ask: Ask) -> Iterable[Task]:
    """Asks which regions the account has, unless they are named; then five tasks for each."""
    clients = Clients(ask)
    for region in regions(ask, clients):
        place = _Place(ask, clients, region)
        yield Task(f"types in {region}", place.types)
        yield Task(f"list prices in {region}", place.list_prices)
        yield Task(f"spot in {region}", place.spot)
        yield Task(f"capacity blocks in {region}", place.blocks)
        yield Task(f"savings plans in {region}", place.savings)


def quota_tasks(ask: Ask) -> Iterable[QuotaTask]:
    """Quotas are per region."""
    clients = Clients(ask)
    for region in regions(ask, clients):
        yield QuotaTask(f"quotas in {region}", partial(quotas.read, ask, clients, region))


def regions(ask: Ask, clients: Clients) -> tuple[str, ...]:
    """Those asked for, else those that are enabled for the account."""
    if ask.regions:
        return tuple(dict.fromkeys(ask.regions))
    pages = clients.pages("ec2", "describe_regions", HOME, "Regions")
    return tuple(sorted(told["RegionName"] for page in pages for told in page))


def kept(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """All readings, those of rows that are left out summed by reason: they are most of a list."""
    ours: list[Reading] = []
    left: Counter[str] = Counter()
    for reading in readings:
        if isinstance(reading, Left):
            left[reading.reason] += reading.rows
        else:
            ours.append(reading)
    return (*ours, *(Left(reason, rows) for reason, rows in left.items()))


class _Place:
    """One region: its types and list prices are read once, for all tasks that need them."""

    def __init__(self, ask: Ask, clients: Clients, region: str) -> None:
        self._ask, self._clients, self._region = ask, clients, region
        self._sold = Once(partial(types.read, ask, clients, region))
        self._listed = Once(lambda: kept(price_list.read(ask, clients, region, self._is_ours)))

    def types(self) -> Iterator[Reading]:
        yield from self._sold.get().readings()

    def list_prices(self) -> Iterator[Reading]:
        yield from self._listed.get()

    def spot(self) -> Iterator[Reading]:
        sold = self._sold.get()
        listed = self._listed.get_or_none() or ()
        plain = {p.instance_type: p.price_per_hour for p in listed if isinstance(p, Price) and p.kind == "on_demand"}
        yield from spot.read(self._ask, self._clients, self._region, sorted(sold.offerings), plain)

    def blocks(self) -> Iterator[Reading]:
        sold = self._sold.get().blocks
        ultra = {name for name in self._ask.known if name.startswith(blocks.ULTRA)}
        members = {name.partition(".")[0] for name in sold}  # p6e-gb200.36xlarge is sold in u-p6e-gb200x72
        here = sorted(name for name in ultra if any(name.startswith(f"{blocks.ULTRA}{m}x") for m in members))
        alone = [name for name in sold if name in self._ask.known or name in self._sold.get().offerings]
        yield from blocks.read(self._ask, self._clients, self._region, [*alone, *here])

    def savings(self) -> Iterator[Reading]:
        for plan in savings.CLASSES:
            yield from savings.read(self._ask, self._clients, self._region, plan, self._is_ours)
        yield savings.covered(self._region)

    def _is_ours(self, name: str) -> bool:
        """A known type, or one that EC2 has just described and that was taken; refused ones are told with the types."""
        sold = self._sold.get_or_none()
        return name in self._ask.known or (sold is not None and name in sold.offerings)
