"""Google Cloud, live: what a refresh reads, in tasks that fail by themselves.

The prices of all regions are in one feed, so tasks are not per region. Lists that two tasks need are read once and
shared; a task of prices goes on without the list of zones (no project, no right) and its prices say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial

from pricing.adapter import Ask, QuotaTask, Reading, Task
from pricing.calls import Once
from pricing.offering import Offering
from pricing.place import Source
from pricing.providers.gcp import machines, quotas, rates, slices, sums
from pricing.providers.gcp.clients import Clients

EXTRA = "gcp"
SERVICES = ("cloudbilling", "compute", "tpu")
AT_ONCE = 4


class Feeds:
    """What one refresh reads, each once."""

    def __init__(self, ask: Ask) -> None:
        clients = Clients(ask)
        self.machines = Once(partial(machines.read, ask, clients))
        self.slices = Once(partial(slices.read, ask, clients))
        self.compute_rates = Once(partial(rates.compute_rates, ask, clients))
        self.tpu_rates = Once(partial(rates.tpu_rates, ask, clients))


def sources(day: date) -> tuple[Source, ...]:
    """Every source that a refresh on `day` may name."""
    return (
        Source(
            sums.SOURCE,
            "Cloud Billing Catalog API services.skus.list, services Compute Engine (6F81-5844-456A) and Cloud TPU",
            day,
            "rates of vCPU, memory, GPU, local SSD and TPU chips: on demand, spot, 1-year and 3-year commitments",
        ),
        Source(
            machines.SOURCE,
            "Compute Engine API machineTypes.aggregatedList, acceleratorTypes.aggregatedList, regions.list",
            day,
            "machine shapes with their accelerators, zones that sell them, GPU quotas",
        ),
        Source(
            slices.SOURCE,
            "Cloud TPU API locations.list, locations.acceleratorTypes.list",
            day,
            "TPU slices and zones that sell them",
        ),
    )


def tasks(ask: Ask) -> Iterable[Task]:
    """Machine types, TPU types, and the prices of each. Calls nothing."""
    feeds = Feeds(ask)
    return (
        Task("machine types", lambda: feeds.machines.get().readings()),
        Task("TPU types", lambda: feeds.slices.get().readings()),
        Task("prices of machines with GPUs", partial(_gpu_prices, ask, feeds)),
        Task("prices of TPUs", partial(_tpu_prices, ask, feeds)),
    )


def quota_tasks(ask: Ask) -> Iterable[QuotaTask]:
    """GPU quotas of all regions are one list."""
    return (QuotaTask("regional GPU quotas", partial(quotas.read, ask, Clients(ask))),)


def _gpu_prices(ask: Ask, feeds: Feeds) -> Iterator[Reading]:
    found = feeds.compute_rates.get()
    yield from found.readings
    yield from sums.prices(ask, _offerings(ask, feeds, tpu=False), found, _sold(feeds))


def _tpu_prices(ask: Ask, feeds: Feeds) -> Iterator[Reading]:
    """TPU v5e and later are billed by Compute Engine, the others by Cloud TPU; a slice has the rates of both."""
    legacy = feeds.tpu_rates.get()
    yield from legacy.readings
    both = rates.merged(iter((feeds.compute_rates.get(), legacy)))
    yield from sums.prices(ask, _offerings(ask, feeds, tpu=True), both, _sold(feeds))


def _offerings(ask: Ask, feeds: Feeds, *, tpu: bool) -> list[Offering]:
    """Known and new types; one whose numbers are in doubt is left to quarantine and gets no price."""
    offerings, refused = dict(ask.known), set[str]()
    for found in (feeds.machines.get_or_none(), feeds.slices.get_or_none()):
        if found is not None:
            offerings |= found.offerings
            refused |= set(found.refused)
    return [
        offering
        for name, offering in offerings.items()
        if (offering.family == "TPU") == tpu and name not in refused and name.partition("+")[0] not in refused
    ]


def _sold(feeds: Feeds) -> sums.Sold:
    zones, slice_zones = feeds.machines.get_or_none(), feeds.slices.get_or_none()
    tables = [
        None if found is None else {name: frozenset(regions) for name, regions in found.sold.items()}
        for found in (zones, slice_zones)
    ]
    regions = frozenset((zones.regions if zones else set()) | (slice_zones.regions if slice_zones else set()))
    return sums.Sold(tables[0], tables[1], regions)
