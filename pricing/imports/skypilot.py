"""A SkyPilot catalogue (catalogs/v8/<cloud>/vms.csv) as listed rows: one row a type and zone, two prices each.

For Google Cloud it prices accelerators apart, in rows without a type; `pricing.imports.external_catalogs` puts them
together.
"""

from __future__ import annotations

from pricing.csv_tables import TableRow
from pricing.imports.listings import CatalogListing, ListingCells, UnreadableListing

TITLE = "SkyPilot catalogue"
NAME = "skypilot"
COLUMNS = ("InstanceType", "AcceleratorName", "AcceleratorCount", "vCPUs", "MemoryGiB", "Price", "SpotPrice", "Region")
"""Some clouds have no GpuInfo, AvailabilityZone or Arch."""


def provider(folder: str, file: str) -> str:  # noqa: ARG001  (every kind of file is asked the same)
    """What the place of the file says of the provider: aws/vms.csv."""
    return folder


def listed(row: TableRow) -> CatalogListing | UnreadableListing:
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
    """GiB of one accelerator from the Python literal in GpuInfo; None where it is anything else."""
    import ast

    try:
        return float(ast.literal_eval(info)["Gpus"][0]["MemoryInfo"]["SizeInMiB"]) / 1024
    except (ValueError, SyntaxError, TypeError, KeyError, IndexError, MemoryError, RecursionError):
        return None
