"""Builds the catalogue in `pricing/` from a folder of fact tables.

Reads the fact tables and the files that are maintained by hand: provider.toml, regions.csv and aliases.csv of the
target, and the tables in `data/curated/` here. It never writes those. Everything is checked before any file is written:
the resulting catalogue is compiled in a temporary folder first. The same input gives the same bytes.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from pricing.catalog.snapshot_tables import Snapshot, read_snapshot
from pricing.errors import InvalidSnapshot
from pricing.file_replacement import write_atomically
from pricing.providers import CatalogLayout
from pricing.providers import list_catalog_files as catalogue_files
from tools.importer.catalog_tables import build_catalog_files
from tools.importer.fact_tables import CURATED_FOLDER, Facts


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Counts of an import; `tiers_left` counts the skipped rows of transfer and storage prices, by
    reason; `sale_left` what the terms of sale leave out; `no_folder` the rows of clouds that the target lacks;
    `grids_read` carbon intensities, of which `grids` are of regions of the catalogue."""

    providers: tuple[str, ...]
    offerings: int
    prices: int
    options: tuple[str, ...]
    regions: int
    accelerators: int
    systems: int
    machines: int
    grids: int
    grids_read: int
    tiers_read: int
    tiers_used: int
    tiers_left: dict[str, int]
    sale_terms: int
    sale_left: dict[str, int]
    superseded: int
    suspect: int
    no_folder: int
    oldest: date
    newest: date
    changed: tuple[str, ...]


def import_facts(folder: Path, target: Path, curated_folder: Path = CURATED_FOLDER) -> ImportReport:
    """Builds the catalogue in `target` from the fact tables in `folder`; a second run changes no file.

    Raises InvalidSnapshot with every fault, each with its file and line, before any file is written.
    """
    faults: list[str] = []
    facts = Facts.read(folder, target, curated_folder, faults)
    if faults:
        raise InvalidSnapshot(tuple(faults))
    files, used, left = build_catalog_files(facts)
    if faults:
        raise InvalidSnapshot(tuple(faults))
    snapshot = _verify_staged_catalog(target, files)
    _check_row_counts(facts, snapshot)
    changed = [name for name, content in files.items() if _file_content(target / name) != content]
    for name in changed:
        write_atomically(target / name, files[name])
    return ImportReport(
        providers=tuple(p.name for p in snapshot.providers),
        offerings=len(snapshot.offerings),
        prices=len(snapshot.prices),
        options=tuple(sorted({p.purchase_option for p in snapshot.prices})),
        regions=len({(p.provider, p.region) for p in snapshot.prices}),
        accelerators=len(facts.names.by_name),
        systems=len(snapshot.systems),
        machines=len(snapshot.machines),
        grids=len(snapshot.grid_carbon),
        grids_read=len(facts.grids),
        tiers_read=len(facts.tiers),
        tiers_used=used,
        tiers_left=left,
        sale_terms=len(facts.sale[0]),
        sale_left=facts.sale[1],
        superseded=len(facts.superseded),
        suspect=facts.suspect,
        no_folder=facts.no_folder,
        oldest=min(p.as_of for p in snapshot.prices),
        newest=max(p.as_of for p in snapshot.prices),
        changed=tuple(changed),
    )


def _verify_staged_catalog(target: Path, files: dict[str, bytes]) -> Snapshot:
    """Reads the resulting catalogue from a temporary folder."""
    with TemporaryDirectory(prefix="gpu-planner-import-") as name:
        stage = Path(name)
        for source_file in catalogue_files(CatalogLayout.of(target)):
            if source_file.is_file():
                copy = stage / source_file.relative_to(target)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source_file, copy)
        for path, content in files.items():
            write_atomically(stage / path, content)
        return read_snapshot(CatalogLayout.of(stage))


def _check_row_counts(facts: Facts, snapshot: Snapshot) -> None:
    """Checks that no offering, price or purchase option was lost between the facts and the catalogue."""
    prices = [price for price in snapshot.prices if price.provider in facts.providers]
    pairs = (
        ("offerings", len(facts.offerings), sum(o.provider in facts.providers for o in snapshot.offerings)),
        ("prices", len(facts.prices), len(prices)),
        ("options", len(facts.options), len({(p.provider, p.purchase_option) for p in prices})),
        ("machines", len(facts.plain), len(snapshot.machines)),
        ("systems", len(facts.systems) + len(facts.servers), len(snapshot.systems)),
    )
    lost = tuple(f"{name}: {before} read, {after} written" for name, before, after in pairs if before != after)
    if lost:
        raise InvalidSnapshot(lost)


def _file_content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
