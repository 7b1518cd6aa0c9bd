"""Detects the kind of a file to import, checks it and imports it. A check writes no file.

A table is recognised by its columns, whatever the file name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path

from pricing import exchange_rates
from pricing import private_prices as private
from pricing.catalog import adjusted_prices, data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, Catalog
from pricing.catalog.snapshot_tables import read_accelerator_names, read_snapshot
from pricing.csv_tables import find_nearest_names, read_rows, write_atomically
from pricing.errors import InvalidSnapshot
from pricing.imports import gpuhunt, skypilot
from pricing.imports.external_catalogs import ImportCounts, merge_listings
from pricing.imports.listings import CatalogFormat
from pricing.providers import CatalogLayout
from pricing.regions import Source
from pricing.snapshots.publication import PublishedSnapshot, publish_snapshot
from pricing.snapshots.quality_gate import FetchedRows

MADE_BY = "planner prices import"
PRIVATE_PRICES, EXCHANGE_RATES = "private prices", "exchange rates"
_FORMATS: tuple[CatalogFormat, ...] = (skypilot, gpuhunt)
EXTERNAL_CATALOGS = {catalog_format.NAME: catalog_format for catalog_format in _FORMATS}
COLUMNS: Mapping[str, tuple[str, ...]] = {
    **{name: module.COLUMNS for name, module in EXTERNAL_CATALOGS.items()},
    PRIVATE_PRICES: private.COLUMNS,
    EXCHANGE_RATES: exchange_rates.COLUMNS,
}
"""The columns that identify each kind of table."""


@dataclass(frozen=True, slots=True)
class PendingImport:
    """The catalogue of another tool, read but not yet published."""

    provider: str
    fetched: FetchedRows
    counted: ImportCounts

    def publish(self, data: Path, day: date, accept: Mapping[str, str]) -> PublishedSnapshot:
        """Publishes a snapshot through the quality gate; raises ProviderFailure if the gate rejects all of it."""
        return publish_snapshot(self.provider, self.fetched, data, made_by=MADE_BY, day=day, accept=accept)


def detect_file_kind(path: Path) -> str:
    """PRIVATE_PRICES, EXCHANGE_RATES or a name in EXTERNAL_CATALOGS; raises InvalidSnapshot for any other file."""
    if path.is_dir():
        raise InvalidSnapshot(
            (f"{path}: a folder cannot be imported; for fact tables, run `python -m tools.importer {path}`",)
        )
    header = _read_header(path)
    missing = {kind: [c for c in columns if c not in header] for kind, columns in COLUMNS.items()}
    for kind, absent in missing.items():
        if not absent:
            return kind
    near = min(missing, key=lambda kind: len(missing[kind]) / len(COLUMNS[kind]))
    if len(missing[near]) < len(COLUMNS[near]):
        raise InvalidSnapshot((f"{path}:1: as a file of {near}, it lacks the column {', '.join(missing[near])}",))
    known = "; ".join(f"{kind} ({','.join(columns)})" for kind, columns in COLUMNS.items())
    raise InvalidSnapshot((f"{path}:1: this file cannot be imported: its columns match none of: {known}",))


def detect_provider(path: Path, kind: str, layout: CatalogLayout, given: str | None) -> str:
    """The provider of a tool's file: `given`, else from its path; raises InvalidSnapshot if it is unknown."""
    known = [name for name, _ in layout.folders]
    place = path.absolute()
    name = given or EXTERNAL_CATALOGS[kind].provider_of_path(place)
    if name in known:
        return name
    if given is None:
        fault = f"{path}: the provider is unknown: neither --provider nor the path names a known provider"
        raise InvalidSnapshot((f"{fault} ({', '.join(known)})",))
    close = find_nearest_names(name, known)
    hint = f"; nearest: {', '.join(close)}" if close else ""
    advice = "add it as a cloud of your own first, see docs/guides/own-cloud.md"
    raise InvalidSnapshot((f"--provider {name}: no known provider{hint}; {advice}",))


def read_external_catalog(
    path: Path, kind: str, provider: str, as_of: date, source_text: str, data: Path
) -> PendingImport:
    """Reads and merges the file of another tool; raises InvalidSnapshot with every fault of the file.

    `source_text` is recorded as its source; if empty, the file's name and checksum are.
    """
    faults: list[str] = []
    module = EXTERNAL_CATALOGS[kind]
    rows = [module.parse_listing(row) for row in read_rows(path, module.COLUMNS, faults)]
    if faults:
        raise InvalidSnapshot(tuple(faults))
    digest = sha256(path.read_bytes() + source_text.encode()).hexdigest()[:8]
    place = f"{path.absolute().parent.name}/{path.name}"
    reference = source_text or f"{module.TITLE} {place}, sha256 {digest}..."
    gave = "on-demand and spot prices, as that tool lists them; imported from a file"
    source = Source(f"{kind}-{provider}-{digest}", reference, as_of, gave)  # the digest distinguishes files of one day
    layout = data_folder.current_layout(EMBEDDED_LAYOUT, data)
    own = CatalogLayout(layout.data, ((provider, dict(layout.folders)[provider]),))
    fetched_rows, counted = merge_listings(
        provider, rows, read_snapshot(own), read_accelerator_names(own), as_of, source
    )
    return PendingImport(provider, fetched_rows, counted)


def check_user_file(path: Path, kind: str) -> int:
    """The number of rules or rates in a file of private prices or exchange rates.

    Raises InvalidSnapshot with every fault, including names that the catalogue does not have.
    """
    if kind == EXCHANGE_RATES:
        return len(exchange_rates.ExchangeRates.read(path).rates)
    catalog = Catalog.current(private_prices=path)
    if faults := adjusted_prices.check_rate_card(catalog):
        raise InvalidSnapshot(faults)
    return len(catalog.card.rules)


def copy_user_file(path: Path, kind: str, data: Path) -> tuple[Path, bool]:
    """The path in the data folder from which the file is now used, and whether its content changed."""
    target = data / (data_folder.PRIVATE_PRICES_FILE if kind == PRIVATE_PRICES else data_folder.EXCHANGE_RATES_FILE)
    content = path.read_bytes()
    changed = not target.is_file() or target.read_bytes() != content
    if changed:
        write_atomically(target, content)
    return target, changed


def _read_header(path: Path) -> list[str]:
    import csv

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except FileNotFoundError:
        raise InvalidSnapshot((f"{path}: no such file",)) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidSnapshot((f"{path}: cannot be read as a table: {error}",)) from None
