"""Parses a SkyPilot catalogue (catalogs/v8/<cloud>/vms.csv): one row with two prices per instance type and zone.

For Google Cloud it prices accelerators in separate rows without an instance type; `pricing.imports.node_matching` adds
them to their machines.
"""

from __future__ import annotations

from pathlib import Path

from pricing.csv_tables import TableRow
from pricing.imports.listings import CatalogListing, ListingCells, UnreadableListing

TITLE = "SkyPilot catalogue"
NAME = "skypilot"
COLUMNS: tuple[str, ...] = (
    "InstanceType",
    "AcceleratorName",
    "AcceleratorCount",
    "vCPUs",
    "MemoryGiB",
    "Price",
    "SpotPrice",
    "Region",
)
"""Required columns. Files of some clouds have no GpuInfo, AvailabilityZone or Arch."""


def provider_of_path(path: Path) -> str:
    """The provider that the folder name gives: aws/vms.csv."""
    return path.parent.name


def parse_listing(row: TableRow) -> CatalogListing | UnreadableListing:
    """One row of the file."""
    cells = ListingCells(row)
    listing = CatalogListing(
        line=row.line,
        instance_type=cells.text("InstanceType"),
        accelerator=cells.text("AcceleratorName"),
        accelerator_count=cells.number("AcceleratorCount"),
        accelerator_memory_gib=_memory_gib(cells.text("GpuInfo")),
        vcpus=cells.number("vCPUs"),
        memory_gib=cells.number("MemoryGiB"),
        region=cells.text("Region"),
        zone=cells.text("AvailabilityZone"),
        on_demand=cells.price("Price"),
        spot=cells.price("SpotPrice"),
    )
    return UnreadableListing(row.line, "; ".join(cells.problems)) if cells.problems else listing


def _memory_gib(info: str) -> float | None:
    """Memory of one accelerator from the Python literal in GpuInfo; None if it cannot be parsed."""
    import ast

    try:
        return float(ast.literal_eval(info)["Gpus"][0]["MemoryInfo"]["SizeInMiB"]) / 1024
    except (ValueError, SyntaxError, TypeError, KeyError, IndexError, MemoryError, RecursionError):
        return None
