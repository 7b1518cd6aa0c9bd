"""Parses a price list of any cloud: a CSV table whose columns have usual names, in any order and spelling.

The words of a header decide what a column means, whatever their case and separators. Other columns are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from pricing.csv_tables import TableRow
from pricing.imports.listings import DEFAULT_CURRENCY, CatalogListing, ListingCells, UnreadableListing
from pricing.price import parse_purchase_option

TITLE = "price list"
NAME = "price-list"
HEADERS: dict[str, tuple[str, ...]] = {
    "instance_type": (
        "instance_type", "type", "instance", "instance_name", "machine_type", "vm_type", "vm_size", "flavor", "flavour",
        "sku", "plan", "server_type", "name",
    ),
    "accelerator": (
        "accelerator", "accelerator_name", "accelerator_type", "accelerator_model", "gpu", "gpu_name", "gpu_model",
        "gpu_type", "card", "device",
    ),
    "accelerator_count": (
        "accelerator_count", "count", "gpu_count", "gpus", "accelerators", "num_gpus", "number_of_gpus", "n_gpus",
        "gpu_quantity",
    ),
    "accelerator_memory_gib": (
        "accelerator_memory_gib", "accelerator_memory_gb", "accelerator_memory", "gpu_memory_gib", "gpu_memory_gb",
        "gpu_memory", "gpu_ram", "gpu_ram_gb", "vram", "vram_gib", "vram_gb", "gpu_vram", "gpu_vram_gb",
    ),
    "vcpus": ("vcpus", "vcpu", "cpus", "cpu", "cpu_count", "vcpu_count", "cores", "cpu_cores"),
    "memory_gib": (
        "memory_gib", "memory_gb", "memory", "ram_gib", "ram_gb", "ram", "mem_gib", "mem_gb", "mem", "host_memory_gib",
    ),
    "provider": ("provider", "cloud", "vendor"),
    "region": ("region", "location", "datacenter", "data_center", "site", "region_name"),
    "zone": ("availability_zone", "zone", "az"),
    "purchase_option": ("purchase_option", "pricing_model", "purchase_model", "billing_model", "option"),
    "price": (
        "price", "price_per_hour", "price_usd_per_hour", "price_usd", "hourly_price", "price_hour", "usd_per_hour",
        "hourly", "hourly_rate", "cost_per_hour", "on_demand", "on_demand_price", "on_demand_price_per_hour",
        "on_demand_usd_per_hour",
    ),
    "spot_price": (
        "spot_price", "spot", "spot_price_per_hour", "spot_price_usd", "spot_usd_per_hour", "preemptible",
        "preemptible_price", "interruptible_price",
    ),
    "currency": ("currency", "currency_code"),
}  # fmt: skip
"""What columns of public price lists are called, by their meaning; of several of one meaning the first counts."""
NEEDED = ("instance_type", "accelerator", "region", "price")
COLUMNS: tuple[str, ...] = ()
"""None by exact name: `missing_columns` tells what a header lacks."""
_COUNTED = re.compile(r"\s*(?P<count>\d+)\s*[x×*]\s*(?P<name>\S.*)")
_USD = "usd"


def missing_columns(header: Sequence[str]) -> list[str]:
    """The needed columns that no word of a header means."""
    return [meaning for meaning in NEEDED if meaning not in map_columns(tuple(header))]


@lru_cache(maxsize=8)
def map_columns(header: tuple[str, ...]) -> dict[str, str]:
    """The columns of a header by what they mean."""
    written = {_fold(column): column for column in reversed(header)}
    mapped = {meaning: [written[_fold(n)] for n in names if _fold(n) in written] for meaning, names in HEADERS.items()}
    return {meaning: columns[0] for meaning, columns in mapped.items() if columns}


def _fold(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def provider_of_path(_path: Path) -> str:
    """A file of any name says nothing of its provider."""
    return ""


def parse_listing(row: TableRow) -> CatalogListing | UnreadableListing:
    """One row of the table."""
    columns = map_columns(tuple(row.values))
    values = {meaning: row.values[column] for meaning, column in columns.items()}
    cells = ListingCells(TableRow(row.path, row.line, values, row.faults))
    name, count = cells.text("accelerator"), cells.number("accelerator_count")
    if counted := _COUNTED.fullmatch(name):
        name, count = counted["name"].strip(), float(counted["count"]) if count is None else count
    currency = cells.text("currency").upper() or DEFAULT_CURRENCY
    if currency != "USD" and _USD in _fold(columns.get("price", "")):
        cells.problems.append(f"currency is {currency}, and the column {columns['price']!r} is in USD")
    price, spot = (_amount(cells, meaning, currency) for meaning in ("price", "spot_price"))
    written = _fold_option(cells.text("purchase_option"))
    option = parse_purchase_option(written)
    if option is not None and option.kind == "spot":
        price, spot = None, price if spot is None else spot
    listing = CatalogListing(
        line=row.line,
        instance_type=cells.text("instance_type"),
        accelerator="" if _fold(name) in {"", "none", "cpu", "na"} else name,
        accelerator_count=count,
        accelerator_memory_gib=cells.number("accelerator_memory_gib"),
        vcpus=cells.number("vcpus"),
        memory_gib=cells.number("memory_gib"),
        region=cells.text("region"),
        zone=cells.text("zone"),
        on_demand=price,
        spot=spot,
        other_terms=f"a price for {written}, not on demand or spot" if written not in ("on_demand", "spot") else "",
        currency=currency,
        provider=cells.text("provider").casefold(),
    )
    if not listing.instance_type:
        cells.problems.append(f"{columns['instance_type']} is empty")
    return UnreadableListing(row.line, "; ".join(cells.problems)) if cells.problems else listing


def _fold_option(written: str) -> str:
    """on_demand for On-Demand, OnDemand, payg and an empty cell; spot for interruptible and preemptible."""
    folded = _fold(written)
    if folded in {"", "ondemand", "payg", "payasyougo", "standard"}:
        return "on_demand"
    return "spot" if folded in {"spot", "interruptible", "preemptible"} else written.casefold()


def _amount(cells: ListingCells, meaning: str, currency: str) -> float | None:
    """A price without the sign of its currency; None for an empty cell and for 0."""
    written = cells.text(meaning)
    if currency == "USD" and written.startswith("$"):
        cells.row.values = {**cells.row.values, meaning: written[1:]}
    return cells.price(meaning)
