"""Detects the kind of a file to import, checks it and imports it. A check writes no file.

A table is recognised by its columns, whatever the file name.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from difflib import SequenceMatcher
from hashlib import sha256
from pathlib import Path
from re import compile as compile_pattern

from pricing import exchange_rates
from pricing import private_prices as private
from pricing.catalog import adjusted_prices, data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, Catalog
from pricing.catalog.snapshot_tables import read_accelerator_names, read_snapshot
from pricing.csv_tables import find_nearest_names, read_rows
from pricing.errors import InvalidSnapshot
from pricing.file_replacement import write_atomically
from pricing.frozen_values import dataclass
from pricing.imports import gpuhunt, price_tables, skypilot
from pricing.imports.external_catalogs import ImportCounts, merge_listings
from pricing.imports.listings import CatalogFormat, CatalogListing, UnreadableListing
from pricing.providers import CatalogLayout
from pricing.regions import Source
from pricing.snapshots.publication import PublishedSnapshot, publish_snapshot
from pricing.snapshots.quality_gate import FetchedRows

PROVIDER_NAME = compile_pattern(r"[a-z][a-z0-9-]{0,39}")
MISSPELT = 0.8
"""From this likeness on, an unknown name is taken for a known one that was misspelt."""
MADE_BY = "planner prices import"
PRIVATE_PRICES, EXCHANGE_RATES = "private prices", "exchange rates"
_FORMATS: tuple[CatalogFormat, ...] = (skypilot, gpuhunt, price_tables)
EXTERNAL_CATALOGS = {catalog_format.NAME: catalog_format for catalog_format in _FORMATS}
COLUMNS: Mapping[str, tuple[str, ...]] = {
    **{name: module.COLUMNS for name, module in EXTERNAL_CATALOGS.items() if module.COLUMNS},
    PRIVATE_PRICES: private.COLUMNS,
    EXCHANGE_RATES: exchange_rates.COLUMNS,
}
"""The columns that identify each kind of table."""


@dataclass(frozen=True, slots=True)
class PendingImport:
    """A catalogue that was read and is not yet published."""

    provider: str
    currency: str
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
    missing[price_tables.NAME] = price_tables.missing_columns(header)
    for kind, absent in missing.items():
        if not absent:
            return kind
    needed = {**COLUMNS, price_tables.NAME: price_tables.NEEDED}
    near = min(missing, key=lambda kind: len(missing[kind]) / len(needed[kind]))
    if len(missing[near]) < len(needed[near]):
        raise InvalidSnapshot((f"{path}:1: as a file of {near}, it lacks the column {', '.join(missing[near])}",))
    known = "; ".join(f"{kind} ({','.join(columns)})" for kind, columns in needed.items())
    raise InvalidSnapshot((f"{path}:1: this file cannot be imported: its columns match none of: {known}",))


def detect_provider(path: Path, kind: str, layout: CatalogLayout, given: str | None) -> str:
    """The provider of a catalogue: `given`, else from its path; raises InvalidSnapshot if none is known or named.

    A name that no provider has stands for a new one, unless it looks like a known name that was misspelt.
    """
    known = [name for name, _ in layout.folders]
    place = path.absolute()
    name = given or EXTERNAL_CATALOGS[kind].provider_of_path(place)
    if name in known:
        return name
    if given is None:
        fault = f"{path}: the provider is unknown: neither --provider nor the path names a known provider"
        raise InvalidSnapshot((f"{fault} ({', '.join(known)})",))
    close = [each for each in find_nearest_names(name, known) if SequenceMatcher(None, name, each).ratio() > MISSPELT]
    if not PROVIDER_NAME.fullmatch(name):
        fault = f"--provider {name}: no name of a provider: lower-case letters, digits and dashes, a letter first"
        raise InvalidSnapshot((fault,))
    if close:
        advice = f"for a new cloud of this name, create it first: planner cloud new {name}"
        raise InvalidSnapshot((f"--provider {name}: no known provider; nearest: {', '.join(close)}; {advice}",))
    return name


def read_external_catalog(
    path: Path, kind: str, provider: str, as_of: date, source_text: str, data: Path, folder: Path | None = None
) -> PendingImport:
    """Reads and merges a catalogue; raises InvalidSnapshot with every fault of the file.

    `source_text` is recorded as its source; if empty, the file's name and checksum are. `folder` is that of a provider
    that is not in use yet.
    """
    rows = _read_listings(path, kind)
    module = EXTERNAL_CATALOGS[kind]
    digest = sha256(path.read_bytes() + source_text.encode()).hexdigest()[:8]
    place = f"{path.absolute().parent.name}/{path.name}"
    reference = source_text or f"{module.TITLE} {place}, sha256 {digest}..."
    gave = "on-demand and spot prices, as that tool lists them; imported from a file"
    source = Source(f"{kind}-{provider}-{digest}", reference, as_of, gave)  # the digest distinguishes files of one day
    layout = data_folder.current_layout(EMBEDDED_LAYOUT, data)
    own = CatalogLayout(layout.data, ((provider, folder or dict(layout.folders)[provider]),))
    before = read_snapshot(own)
    fetched_rows, counted = merge_listings(provider, rows, before, read_accelerator_names(own), as_of, source)
    return PendingImport(provider, before.providers[0].currency, fetched_rows, counted)


def detect_currency(path: Path, kind: str) -> str:
    """The currency of the first row that can be read."""
    return next((row.currency for row in _read_listings(path, kind) if isinstance(row, CatalogListing)), "USD")


def _read_listings(path: Path, kind: str) -> list[CatalogListing | UnreadableListing]:
    faults: list[str] = []
    module = EXTERNAL_CATALOGS[kind]
    rows = [module.parse_listing(row) for row in read_rows(path, module.COLUMNS, faults)]
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return rows


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
