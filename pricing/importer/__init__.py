"""Fact tables -> our catalogue: the one command that fills `pricing/` from collected figures.

Reads a folder of fact tables and the hand-kept files of the target (provider.toml, regions.csv, aliases.csv,
successors.csv, data/kept/). Never writes those. Everything is checked before anything is written: the catalogue that
would result is compiled beside the old one first. Same input, same bytes.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from pricing.errors import BadSnapshot
from pricing.importer.facts import Facts
from pricing.importer.outputs import build
from pricing.providers import Layout
from pricing.providers import files as catalogue_files
from pricing.snapshot import Snapshot, read
from pricing.table import write_atomically


@dataclass(frozen=True, slots=True)
class Report:
    """What an import took in; `tiers_left` counts the rows of transfer and storage left out, by reason."""

    providers: tuple[str, ...]
    offerings: int
    prices: int
    options: tuple[str, ...]
    regions: int
    accelerators: int
    systems: int
    tiers_read: int
    tiers_used: int
    tiers_left: dict[str, int]
    superseded: int
    suspect: int
    oldest: date
    newest: date
    changed: tuple[str, ...]


def import_facts(folder: Path, target: Path) -> Report:
    """Makes the catalogue in `target` from the fact tables in `folder`; a second run changes nothing.

    Raises BadSnapshot with every fault, each with its file and line; nothing is written then.
    """
    faults: list[str] = []
    facts = Facts.read(folder, target, faults)
    if faults:
        raise BadSnapshot(tuple(faults))
    files, used, left = build(facts)
    if faults:
        raise BadSnapshot(tuple(faults))
    snapshot = _rehearse(target, files)
    _count(facts, snapshot)
    changed = [name for name, content in files.items() if _content(target / name) != content]
    for name in changed:
        write_atomically(target / name, files[name])
    return Report(
        providers=tuple(p.name for p in snapshot.providers),
        offerings=len(snapshot.offerings),
        prices=len(snapshot.prices),
        options=tuple(sorted({p.purchase_option for p in snapshot.prices})),
        regions=len({(p.provider, p.region) for p in snapshot.prices}),
        accelerators=len(facts.names.by_name),
        systems=len(snapshot.systems),
        tiers_read=len(facts.tiers),
        tiers_used=used,
        tiers_left=left,
        superseded=len(facts.superseded),
        suspect=facts.suspect,
        oldest=min(p.as_of for p in snapshot.prices),
        newest=max(p.as_of for p in snapshot.prices),
        changed=tuple(changed),
    )


def _rehearse(target: Path, files: dict[str, bytes]) -> Snapshot:
    """Reads the catalogue that would result, beside the real one."""
    with TemporaryDirectory(prefix="gpu-planner-import-") as name:
        stage = Path(name)
        for kept in catalogue_files(Layout.of(target)):
            if kept.is_file():
                copy = stage / kept.relative_to(target)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(kept, copy)
        for path, content in files.items():
            write_atomically(stage / path, content)
        return read(Layout.of(stage))


def _count(facts: Facts, snapshot: Snapshot) -> None:
    """Rows in are rows out: no offering, price or way of paying is lost on the way."""
    pairs = (
        ("offerings", len(facts.offerings), len(snapshot.offerings)),
        ("prices", len(facts.prices), len(snapshot.prices)),
        ("options", len(facts.options), len({(p.provider, p.purchase_option) for p in snapshot.prices})),
        ("systems", len(facts.systems) + len(facts.servers), len(snapshot.systems)),
    )
    lost = tuple(f"{what}: {before} read, {after} written" for what, before, after in pairs if before != after)
    if lost:
        raise BadSnapshot(lost)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
