"""Parses a gpuhunt catalogue (<provider>.csv): one row and one price per instance type, location and pricing model."""

from __future__ import annotations

from pathlib import Path

from pricing.csv_tables import TableRow
from pricing.imports.listings import CatalogListing, ListingCells, UnreadableListing

TITLE = "gpuhunt catalogue"
NAME = "gpuhunt"
COLUMNS: tuple[str, ...] = (
    "instance_name", "location", "price", "cpu", "memory", "gpu_count", "gpu_name", "gpu_memory", "spot",
)  # fmt: skip
"""Required columns. Later versions add disk_size, gpu_vendor, flags, cpu_arch and provider_data."""
OTHER_TERMS = {
    "capacity-block": "a rate of capacity blocks, not on demand",
    "dws": "a rate of the Dynamic Workload Scheduler, not on demand",
}
"""Values in `flags` that mark a price as neither on-demand nor spot."""


def provider_of_path(path: Path) -> str:
    """The provider that the file name gives: aws.csv."""
    return path.stem


def parse_listing(row: TableRow) -> CatalogListing | UnreadableListing:
    """One row of the file. Its `memory` is named GB, but its values are the GiB that the clouds state."""
    cells = ListingCells(row)
    price, spot = cells.price("price"), cells.text("spot").casefold()
    if spot not in {"true", "false"}:
        cells.problems.append(f"spot is {cells.text('spot')!r}, expected True or False")
    flags = cells.text("flags")
    listing = CatalogListing(
        line=row.line,
        instance_type=cells.text("instance_name"),
        accelerator=cells.text("gpu_name"),
        accelerator_count=cells.number("gpu_count"),
        accelerator_memory_gib=cells.number("gpu_memory"),
        vcpus=cells.number("cpu"),
        memory_gib=cells.number("memory"),
        region=cells.text("location"),
        zone="",
        on_demand=price if spot == "false" else None,
        spot=price if spot == "true" else None,
        other_terms=next((why for mark, why in OTHER_TERMS.items() if mark in flags), ""),
    )
    return UnreadableListing(row.line, "; ".join(cells.problems)) if cells.problems else listing
