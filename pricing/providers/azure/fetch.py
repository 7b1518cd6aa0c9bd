"""Microsoft Azure, live: the tasks of a refresh. Each can fail without the others.

For each region one task reads the public price feed, which needs no account, and one the SKUs of a subscription. The
price tasks run first and wait for the SKUs only if the feed names a type that is not in the catalogue.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial
from pathlib import Path

from pricing.adapters.protocol import FetchRequest, FetchTask, PriceReading, QuotaTask, RejectedRow, SkippedRows
from pricing.adapters.retries import RetryBudget
from pricing.csv_tables import read_rows
from pricing.errors import InvalidSnapshot, ProviderFailure
from pricing.offering import Offering
from pricing.providers.azure import quotas, resource_skus
from pricing.providers.azure import retail_prices as retail
from pricing.providers.azure.clients import ADDRESSES, AzureClients, MissingSubscription
from pricing.regions import Source

EXTRA = "azure"
SERVICES = tuple(sorted(ADDRESSES))
AT_ONCE = 4
"""The price feed throttles more; each SKU list has several megabytes."""
FOLDER = Path(__file__).parent
SKU_WAIT_S = 30.0
"""The longest wait of prices for SKUs: an unreachable management API must not delay the public feed."""


def sources(day: date) -> tuple[Source, ...]:
    """Every source that the rows of a refresh on `day` may name."""
    return (
        Source(
            retail.SOURCE,
            "Azure Retail Prices API 2023-01-01-preview, service Virtual Machines",
            day,
            "Linux rates: pay-as-you-go, spot, reservations (whole term over its hours), savings plans",
        ),
        Source(
            resource_skus.SOURCE,
            "Azure Compute API, Microsoft.Compute/skus by location",
            day,
            "number of GPUs, vCPUs, memory and local disks of each size",
        ),
        Source(
            quotas.SOURCE, "Azure Compute API, Microsoft.Compute/locations/usages", day, "vCPU quotas of a subscription"
        ),
    )


def tasks(request: FetchRequest) -> Iterable[FetchTask]:
    """Prices of every region, then its sizes. Makes no call."""
    clients = AzureClients(request)
    sku_cache = resource_skus.SkuCache(request, clients)
    for region in _list_regions(request):
        yield FetchTask(f"prices in {region}", partial(_read_prices, request, clients, sku_cache, region))
    for region in _list_regions(request):
        yield FetchTask(f"sizes in {region}", partial(_read_sizes, request, sku_cache, region))


def quota_tasks(request: FetchRequest) -> Iterable[QuotaTask]:
    """One task per region."""
    clients = AzureClients(request)
    sku_cache = resource_skus.SkuCache(request, clients)
    for region in _list_regions(request):
        yield QuotaTask(f"quotas in {region}", partial(quotas.read, request, clients, sku_cache, region))


def _list_regions(request: FetchRequest) -> tuple[str, ...]:
    """The requested regions, else those of regions.csv: listing them by a call needs a further SDK."""
    if request.regions:
        return tuple(dict.fromkeys(request.regions))
    faults: list[str] = []
    regions = tuple(row.text("region") for row in read_rows(FOLDER / "regions.csv", ("region",), faults))
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return regions


def _read_sizes(request: FetchRequest, sku_cache: resource_skus.SkuCache, region: str) -> Iterator[PriceReading]:
    try:
        yield from sku_cache.of(region, request.patience).readings
    except MissingSubscription as missing:  # prices need none: sizes stay as they are known
        yield SkippedRows(f"sizes that stay as they are known: {missing.detail}")


def _read_prices(
    request: FetchRequest, clients: AzureClients, sku_cache: resource_skus.SkuCache, region: str
) -> Iterator[PriceReading]:
    """Prices of known types and of new ones, which come with their offerings."""
    currency = tomllib.loads((FOLDER / "provider.toml").read_text(encoding="utf-8"))["currency"]
    known = {name.casefold(): offering for name, offering in request.known.items()}
    feed = retail.RetailFeed(region, currency, request.today, frozenset(known))
    for page in clients.retail_prices(region, currency):
        yield from feed.take(page)
    if not feed.rows:
        raise ProviderFailure("changed_format", f"prices retail prices of {region}: no virtual machine is sold there")
    new, why = _new_types(request, sku_cache, feed, known)
    used = set()
    for reading in feed.settle():
        if not isinstance(reading, retail.AzureRetailRate):
            yield reading
            continue
        name = reading.instance_type.casefold()
        offering = known.get(name) or new.get(name)
        if offering is None:
            yield feed.refuse(reading.instance_type, reading.option, why.get(name, why[""]))
            continue
        if name not in known and name not in used:
            used.add(name)
            yield offering
        yield retail.build_price(reading, feed, offering.instance_type)
    yield from feed.covered()


def _new_types(
    request: FetchRequest, sku_cache: resource_skus.SkuCache, feed: retail.RetailFeed, known: dict[str, Offering]
) -> tuple[dict[str, Offering], dict[str, str]]:
    """The offerings of this region by lower-case type, if the feed names an unknown one; and the reasons why others
    have none, by lower-case type, with "" for all that are not listed."""
    if all(name in known for name, _ in feed.rates_by_key):
        return {}, {"": ""}
    patience = RetryBudget(
        min(SKU_WAIT_S, request.patience.left_s / 2), request.patience.first_pause_s, request.patience.stop
    )
    try:
        sizes = sku_cache.of(feed.region, patience)
    except ProviderFailure as failed:
        if failed.kind == "interrupted":
            raise
        return {}, {"": f"unknown accelerator: the type is new, and sizes could not be read ({failed})"}
    refused = {r.subject.casefold(): r.reason for r in sizes.readings if isinstance(r, RejectedRow)}
    unlisted = "unknown accelerator: the type is new, and no size of this name is on the list of the region"
    return {name.casefold(): offering for name, offering in sizes.offerings.items()}, {**refused, "": unlisted}
