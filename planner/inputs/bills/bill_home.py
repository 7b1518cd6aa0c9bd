"""Where the accelerators of a bill run: the providers and regions in which a plan of it stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planner.inputs.bills.bill import BilledUsageLine
from planner.inputs.catalog_regions import find_region
from pricing.catalog.price_catalog import Catalog


def find_home(used: Sequence[BilledUsageLine], catalog: Catalog) -> tuple[dict[str, Any], str]:
    """The fields of a request that keep the plan where the hours of `used` ran, and a note on them.

    Regions are kept where each accelerator has a price on demand in one of them; else the providers alone.
    """
    places = {(line.provider, line.region, line.accelerator) for line in used if line.kind == "used"}
    providers = sorted({provider for provider, _, _ in places if provider in catalog.providers})
    if not providers:
        return {}, "the plan may run anywhere: the catalogue has no provider of the bill"
    known = {place: find_region(catalog, place[0], place[1]) if place[1] else None for place in places}
    regions = sorted({region for region in known.values() if region})
    sold = {
        quote.offering.accelerator
        for quote in catalog.quotes(providers=providers, regions=regions, options=("on_demand",))
    }
    stays = all(known.values()) and {accelerator for _, _, accelerator in places} <= sold
    fields: dict[str, Any] = {"providers": providers} | ({"regions": regions} if stays else {})
    where = ", ".join(providers) + (f": {', '.join(regions)}" if stays else "")
    note = f"the plan stays where the bill's accelerators run, {where}, unless --providers or --regions say otherwise"
    return fields, note
