"""Providers, their regions with the carbon of their grids, and the sources that price rows name."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import date

from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """Facts about a provider; `reference_regions` gives per item the region used for estimates.

    `not_priced` are purchase options that it sells but that no source has a price for. `on_request`: offers show it,
    and a plan uses it only where the request or a private price names it.
    """

    name: str
    title: str
    home_page: str
    currency: str
    billing_increment_seconds: int
    billing_minimum_seconds: int
    terraform_module: str
    reference_regions: dict[str, str]
    not_priced: tuple[str, ...] = ()
    on_request: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A provider's region; `country` is ISO 3166-1 alpha-2 in capitals, `blocs` such as EU, EEA, GOV (may be empty)."""

    provider: str
    region: str
    name: str
    country: str
    blocs: tuple[str, ...]
    source_id: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows with this `source_id` came from; `reference` is a repository, file and commit or a page."""

    source_id: str
    reference: str
    as_of: date
    gave: str


def strip_source_date(source_id: str) -> str:
    """The source without the day that a snapshot appends: karp-aws.2026-07-20 is karp-aws as it is shipped."""
    return re.sub(r"\.\d{4}-\d{2}-\d{2}(?=\+|$)", "", source_id)


@dataclass(frozen=True, slots=True)
class GridCarbon:
    """Mean emission of the grid that supplies a region (location-based, without certificates that a provider buys)."""

    provider: str
    region: str
    grid_gco2e_per_kwh: float
    """Grams of CO2 equivalent for each kWh."""
    year: str
    """Year or years of the figure."""
    source: str

    @property
    def key(self) -> tuple[str, str]:
        return (self.provider, self.region)


GRID_CARBON_COLUMNS = tuple(field.name for field in fields(GridCarbon))
