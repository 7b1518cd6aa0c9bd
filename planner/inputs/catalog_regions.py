"""Regions as files write them, matched to the catalogue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog


_ZONES = {
    "aws": re.compile(r"([a-z]{2}(?:-[a-z]+)+-\d+)[a-z]"),
    "gcp": re.compile(r"([a-z]+-[a-z]+\d+)-[a-z]"),
}
"""Names of zones by provider, with the region in them: us-east-1a, us-central1-a. Azure numbers its zones apart."""


def region_of_zone(provider: str, written: str) -> str:
    """The region of a zone; any other text as it is."""
    zone = _ZONES[provider].fullmatch(written) if provider in _ZONES else None
    return zone[1] if zone else written


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
