"""Microsoft Azure, live: what a refresh reads, in tasks that fail by themselves.

For each region one task reads the public price feed, which needs no account, and one the SKUs of a subscription. The
prices come first and do not wait for the SKUs, unless the feed names a type that the catalogue does not know.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial
from pathlib import Path

from pricing.adapter import Ask, QuotaTask, Reading, Refused, Task
from pricing.errors import BadSnapshot, Failed
from pricing.offering import Offering
from pricing.patience import Patience
from pricing.place import Source
from pricing.providers.azure import quotas, retail, skus
from pricing.providers.azure.clients import ADDRESSES, Clients
from pricing.table import read_rows

EXTRA = "azure"
SERVICES = tuple(sorted(ADDRESSES))
AT_ONCE = 4
"""The price feed answers 429 to more; SKU lists are megabytes each."""
FOLDER = Path(__file__).parent
SKUS_S = 30.0
"""The longest that prices wait for SKUs: a dead management API must not hold up the public feed."""


def sources(day: date) -> tuple[Source, ...]:
    """Every source that a refresh on `day` may name."""
    return (
        Source(
            retail.SOURCE,
            "Azure Retail Prices API 2023-01-01-preview, service Virtual Machines",
            day,
            "Linux rates: pay-as-you-go, spot, reservations (whole term over its hours), savings plans",
        ),
        Source(
            skus.SOURCE,
            "Azure Compute API, Microsoft.Compute/skus by location",
            day,
            "number of GPUs, vCPUs, memory and local disks of each size",
        ),
        Source(
            quotas.SOURCE, "Azure Compute API, Microsoft.Compute/locations/usages", day, "vCPU quotas of a subscription"
        ),
    )


def tasks(ask: Ask) -> Iterable[Task]:
    """Prices of every region, then its sizes. Calls nothing."""
    clients = Clients(ask)
    shelf = skus.Shelf(ask, clients)
    for region in _regions(ask):
        yield Task(f"prices in {region}", partial(_prices, ask, clients, shelf, region))
    for region in _regions(ask):
        yield Task(f"sizes in {region}", partial(_sizes, ask, shelf, region))


def quota_tasks(ask: Ask) -> Iterable[QuotaTask]:
    """Quotas are per region."""
    clients = Clients(ask)
    shelf = skus.Shelf(ask, clients)
    for region in _regions(ask):
        yield QuotaTask(f"quotas in {region}", partial(quotas.read, ask, clients, shelf, region))


def _regions(ask: Ask) -> tuple[str, ...]:
    """Those asked for, else those of regions.csv: no call lists regions without a further SDK."""
    if ask.regions:
        return tuple(dict.fromkeys(ask.regions))
    faults: list[str] = []
    found = tuple(row.text("region") for row in read_rows(FOLDER / "regions.csv", ("region",), faults))
    if faults:
        raise BadSnapshot(tuple(faults))
    return found


def _sizes(ask: Ask, shelf: skus.Shelf, region: str) -> Iterator[Reading]:
    yield from shelf.of(region, ask.patience).readings


def _prices(ask: Ask, clients: Clients, shelf: skus.Shelf, region: str) -> Iterator[Reading]:
    """Prices of known types and of those found; new ones come with their offering."""
    currency = tomllib.loads((FOLDER / "provider.toml").read_text(encoding="utf-8"))["currency"]
    known = {name.casefold(): offering for name, offering in ask.known.items()}
    feed = retail.Feed(region, currency, ask.today, frozenset(known))
    for page in clients.retail_prices(region, currency):
        yield from feed.take(page)
    if not feed.rows:
        raise Failed("changed_format", f"prices retail prices of {region}: no virtual machine is sold there")
    new, why = _new_types(ask, shelf, feed, known)
    used = set()
    for told in feed.settle():
        if not isinstance(told, retail.Rate):
            yield told
            continue
        name = told.instance_type.casefold()
        offering = known.get(name) or new.get(name)
        if offering is None:
            yield feed.refuse(told.instance_type, told.option, why.get(name, why[""]))
            continue
        if name not in known and name not in used:
            used.add(name)
            yield offering
        yield retail.price_of(told, feed, offering.instance_type)
    yield from feed.covered()


def _new_types(
    ask: Ask, shelf: skus.Shelf, feed: retail.Feed, known: dict[str, Offering]
) -> tuple[dict[str, Offering], dict[str, str]]:
    """The offerings of this region by lower-case type, if the feed names one that is not known; and by lower-case type
    why one is not among them, with "" for any other."""
    if all(name in known for name, _ in feed.kept):
        return {}, {"": ""}
    patience = Patience(min(SKUS_S, ask.patience.left_s / 2), ask.patience.first_pause_s, ask.patience.stop)
    try:
        found = shelf.of(feed.region, patience)
    except Failed as failed:
        if failed.kind == "interrupted":
            raise
        return {}, {"": f"unknown accelerator: the type is new, and sizes could not be read ({failed})"}
    refused = {r.subject.casefold(): r.reason for r in found.readings if isinstance(r, Refused)}
    unseen = "unknown accelerator: the type is new, and no size of this name is on the list of the region"
    return {name.casefold(): offering for name, offering in found.offerings.items()}, {**refused, "": unseen}
