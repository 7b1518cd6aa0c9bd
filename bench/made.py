"""A large catalogue to query: the shipped prices by the hour, again and again in made regions. Synthetic, no market."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Mapping
from itertools import count, islice
from pathlib import Path

from pricing.catalog.price_catalog import ROOT, Catalog
from pricing.catalog.quotes import Quote
from pricing.providers import SHARED_TABLES, find_provider_folders

Cells = dict[str, str]


def made_catalogue(folder: Path, rows: int) -> Catalog:
    """A catalogue of exactly `rows` prices in `folder`: NVIDIA by the hour, which is what the peer knows too.

    A copy costs a little more than the one before, so that no two prices of a type are equal.
    """
    wanted = {quote.price.key for quote in by_the_hour(Catalog.embedded())}
    for name in SHARED_TABLES:
        (folder / "data").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / "data" / name, folder / "data" / name)
    prices, regions = {}, {}
    for source in find_provider_folders(ROOT):
        target = folder / "providers" / source.name
        target.mkdir(parents=True)
        for name in ("provider.toml", "offerings.csv"):
            shutil.copyfile(source / name, target / name)
        _write(target / "tiers.csv", _read(source / "tiers.csv")[:0], _header(source / "tiers.csv"))
        regions[target] = _read(source / "regions.csv")
        prices[target] = [row for row in _read(source / "prices.csv") if _key(source.name, row) in wanted]
    made = ((target, _copy(row, number)) for number in count() for target in prices for row in prices[target])
    chosen = list(islice(made, rows))
    for target in prices:
        mine = [row for at, row in chosen if at == target]
        used = {row["region"] for row in mine}
        places = [_moved(row, n) for n in range(rows // len(wanted) + 1) for row in regions[target]]
        _write(target / "prices.csv", mine)
        _write(target / "regions.csv", [row for row in places if row["region"] in used])
    return Catalog.read(folder, folder / "cache")


def by_the_hour(catalog: Catalog) -> list[Quote]:
    """NVIDIA's prices on demand and spot, of whole accelerators."""
    return [
        quote
        for quote in catalog.quotes(options=["on_demand", "spot"])
        if quote.accelerator.vendor == "NVIDIA" and (quote.offering.accelerator_count or 0) >= 1
    ]


def _key(provider: str, row: Mapping[str, str]) -> tuple[str, str, str, str]:
    return provider, row["region"], row["instance_type"], row["purchase_option"]


def _moved(row: Cells, number: int) -> Cells:
    return row | {"region": f"{row['region']}-made-{number}"} if number else row


def _copy(row: Cells, number: int) -> Cells:
    return _moved(row, number) | {"price_per_hour": repr(float(row["price_per_hour"]) * (1 + number / 1000))}


def _header(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return next(csv.reader(file))


def _read(path: Path) -> list[Cells]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, rows: Iterable[Cells], header: list[str] | None = None) -> None:
    rows = list(rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, header or list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
