"""Regions as files write them, matched to the catalogue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog


def find_region(catalog: Catalog, provider: str, written: str) -> str | None:
    """The catalogue's region with this name or title, without regard to case, spaces and hyphens; else by its city.

    The city helps with titles that a provider has renamed: "EU (Ireland)" and "Europe (Ireland)".
    """
    city = re.search(r"\(([^)]+)\)", written)
    for text in (written, *((city[1],) if city else ())):
        for region in catalog.regions.values():
            if region.provider == provider and (
                _fold(text) in (_fold(region.region), _fold(region.name)) or f"({text})" in region.name
            ):
                return region.region
    return None


def _fold(text: str) -> str:
    return re.sub(r"[\s_-]", "", text.casefold())
