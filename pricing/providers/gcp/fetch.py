"""Google Cloud, live: the tasks of a refresh. Each can fail without the others.

The prices of all regions are in one feed, so tasks are not per region. Lists that two tasks need are read once and
shared. Without the list of zones (no project, no permission) prices are read all the same, and their notes say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial

from pricing.adapters.api_calls import SharedResult
from pricing.adapters.protocol import FetchRequest, FetchTask, PriceReading, QuotaTask
from pricing.offering import Offering
from pricing.providers.gcp import machine_prices, machine_types, quotas, sku_rates, tpu_slices
from pricing.providers.gcp.clients import GcpClients
from pricing.regions import Source

EXTRA = "gcp"
SERVICES = ("cloudbilling", "compute", "tpu")
AT_ONCE = 4


class GcpFeeds:
    """The lists of one refresh, each read once."""

    def __init__(self, request: FetchRequest) -> None:
        clients = GcpClients(request)
        self.machines = SharedResult(partial(machine_types.read, request, clients))
        self.slices = SharedResult(partial(tpu_slices.read, request, clients))
        self.compute_rates = SharedResult(partial(sku_rates.compute_rates, request, clients))
        self.tpu_rates = SharedResult(partial(sku_rates.tpu_rates, request, clients))


def sources(day: date) -> tuple[Source, ...]:
    """Every source that the rows of a refresh on `day` may name."""
    return (
        Source(
            machine_prices.SOURCE,
            "Cloud Billing Catalog API services.skus.list, services Compute Engine (6F81-5844-456A) and Cloud TPU",
            day,
            "rates of vCPU, memory, GPU, local SSD and TPU chips: on demand, spot, 1-year and 3-year commitments",
        ),
        Source(
            machine_types.SOURCE,
            "Compute Engine API machineTypes.aggregatedList, acceleratorTypes.aggregatedList, regions.list",
            day,
            "machine shapes with their accelerators, zones that sell them, GPU quotas",
        ),
        Source(
            tpu_slices.SOURCE,
            "Cloud TPU API locations.list, locations.acceleratorTypes.list",
            day,
            "TPU slices and zones that sell them",
        ),
    )


def tasks(request: FetchRequest) -> Iterable[FetchTask]:
    """Machine types, TPU types, and the prices of each. Makes no call."""
    feeds = GcpFeeds(request)
    return (
        FetchTask("machine types", lambda: feeds.machines.get().readings()),
        FetchTask("TPU types", lambda: feeds.slices.get().readings()),
        FetchTask("prices of machines with GPUs", partial(_read_gpu_prices, request, feeds)),
        FetchTask("prices of TPUs", partial(_read_tpu_prices, request, feeds)),
    )


def quota_tasks(request: FetchRequest) -> Iterable[QuotaTask]:
    """GPU quotas of all regions are one list."""
    return (QuotaTask("regional GPU quotas", partial(quotas.read, request, GcpClients(request))),)


def _read_gpu_prices(request: FetchRequest, feeds: GcpFeeds) -> Iterator[PriceReading]:
    rates = feeds.compute_rates.get()
    yield from rates.readings
    yield from machine_prices.price_machines(
        request, _select_offerings(request, feeds, tpu=False), rates, _find_selling_regions(feeds)
    )


def _read_tpu_prices(request: FetchRequest, feeds: GcpFeeds) -> Iterator[PriceReading]:
    """TPU v5e and later are billed by Compute Engine, the others by Cloud TPU; a slice has the rates of both."""
    legacy = feeds.tpu_rates.get()
    yield from legacy.readings
    both = sku_rates.merge_rates(iter((feeds.compute_rates.get(), legacy)))
    yield from machine_prices.price_machines(
        request, _select_offerings(request, feeds, tpu=True), both, _find_selling_regions(feeds)
    )


def _select_offerings(request: FetchRequest, feeds: GcpFeeds, *, tpu: bool) -> list[Offering]:
    """Known and new types; a rejected type gets no price."""
    offerings, refused = dict(request.known), set[str]()
    for zone_types in (feeds.machines.get_or_none(), feeds.slices.get_or_none()):
        if zone_types is not None:
            offerings |= zone_types.offerings
            refused |= set(zone_types.refused)
    return [
        offering
        for name, offering in offerings.items()
        if (offering.family == "TPU") == tpu and name not in refused and name.partition("+")[0] not in refused
    ]


def _find_selling_regions(feeds: GcpFeeds) -> machine_prices.SellingRegions:
    zones, slice_zones = feeds.machines.get_or_none(), feeds.slices.get_or_none()
    tables = [
        None if types is None else {name: frozenset(regions) for name, regions in types.sold.items()}
        for types in (zones, slice_zones)
    ]
    regions = frozenset((zones.regions if zones else set()) | (slice_zones.regions if slice_zones else set()))
    return machine_prices.SellingRegions(tables[0], tables[1], regions)
