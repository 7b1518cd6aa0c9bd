"""Publishes the readings of a provider as its snapshot in use, in one atomic step.

A snapshot is a complete provider folder. It is written to a new folder, read back as part of the whole catalogue, and
only then named as current. If the process ends before that, the last good snapshot stays in use.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pricing.catalog import data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.catalog.snapshot_tables import (
    OFFERING_COLUMNS,
    PRICE_COLUMNS,
    REGION_COLUMNS,
    SOURCE_COLUMNS,
    TIER_COLUMNS,
    Snapshot,
    read_accelerator_names,
    read_sale_terms,
    read_snapshot,
)
from pricing.csv_tables import format_sorted_table, quote_toml_strings
from pricing.errors import InvalidSnapshot, ProviderFailure
from pricing.file_replacement import write_atomically
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.price import Price
from pricing.providers import CatalogLayout
from pricing.regions import Region, Source
from pricing.sale import SALE_COLUMNS, TOLD, SaleTerm, merge_told_terms
from pricing.snapshots.quality_gate import FetchedRows, GateResult, QuarantinedRow, apply_quality_gate
from pricing.transfer_storage_prices import Tier

Row = TypeVar("Row", Price, Offering, Region, Tier)
QUARANTINE_COLUMNS = ("subject", "reason", "price_before", "before_as_of", "price_after", "after_as_of")
SALE_TABLE = "sale.csv"
CURATED_FILES = ("provider.toml", "accelerators.csv", "aliases.csv", "fabric.csv", "grid_carbon.csv")
"""Copied from the previous snapshot if it has them."""


@dataclass(frozen=True, slots=True)
class PublishedSnapshot:
    """The snapshot now in use, and its difference from the previous one.

    `id` is the previous one unless it `changed`. `new`, `gone` and `moved` count prices, `sale_terms` what the provider
    told of sale and ends; `held` are the rows in `quarantine`, `left` the number of skipped rows by reason.
    """

    provider: str
    id: str
    path: Path
    quarantine: Path
    changed: bool
    offerings: int
    prices: int
    read: int
    new: int
    moved: int
    gone: int
    sale_terms: int
    held: tuple[QuarantinedRow, ...]
    left: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LastGood:
    """The prices of a provider that a refresh starts from: `id` of the snapshot, its folder and what it holds."""

    id: str
    folder: Path
    layout: CatalogLayout
    content: Snapshot


def read_last_good(provider: str, data: Path) -> LastGood:
    """The snapshot in use; where its files were damaged the one in use before, and at last the one of the package.

    Raises InvalidSnapshot where that cannot be read either.
    """
    base = data_folder.base_layout(EMBEDDED_LAYOUT, data)
    fallback = dict(base.folders)[provider]
    candidates = [(data_folder.EMBEDDED_ID, fallback)]
    if current := next(data_folder.find_current_snapshot(provider, fallback, data), None):
        earlier = dict.fromkeys(reversed(data_folder.read_snapshot_log(provider, data)))
        candidates[:0] = [(name, current.path.parent / name) for name in earlier]
    for name, folder in candidates:
        layout = CatalogLayout(base.data, ((provider, folder),))
        try:
            return LastGood(name, folder, layout, read_snapshot(layout))
        except InvalidSnapshot:
            if folder == fallback:
                raise
    raise AssertionError("the fallback is the last candidate")


def publish_snapshot(
    provider: str, fetched: FetchedRows, data: Path, *, made_by: str, day: date, accept: Mapping[str, str] | None = None
) -> PublishedSnapshot:
    """Checks and writes; raises ProviderFailure, and changes no file, if the gate rejects all or the lock is in use."""
    with data_folder.lock_provider(provider, data):
        return publish_under_lock(provider, fetched, data, made_by=made_by, day=day, accept=accept or {})


def publish_under_lock(
    provider: str, fetched: FetchedRows, data: Path, *, made_by: str, day: date, accept: Mapping[str, str]
) -> PublishedSnapshot:
    """As `publish_snapshot`, for a caller that has the lock already."""
    base = data_folder.base_layout(EMBEDDED_LAYOUT, data)
    fallback = dict(base.folders)[provider]
    last = read_last_good(provider, data)
    before, folder, current = last.content, last.folder, last.folder != fallback
    if current:
        before = _with_regions_kept_by_hand(before, read_snapshot(CatalogLayout(base.data, ((provider, fallback),))))
    gate_result = apply_quality_gate(
        before, fetched, read_accelerator_names(last.layout), accept, refreshed_before=current
    )
    place = data / "snapshots" / provider
    with data_folder.tell_write_failures(place):
        write_atomically(place / data_folder.QUARANTINE_FILE, _quarantine_table(gate_result.held))
    tables = _snapshot_tables(before, gate_result, fetched)
    sale_terms = _list_sale_terms(provider, base.data, fallback, before, fetched)
    if sale_terms or (folder / SALE_TABLE).is_file():
        tables[SALE_TABLE] = format_sorted_table(SALE_COLUMNS, map(asdict, sale_terms))
    if current and not _tables_differ(folder, tables):
        return _summarize_publication(
            provider, last.id, folder, place, before, gate_result, fetched, sale_terms=len(sale_terms), changed=False
        )
    name = _next_snapshot_id(place, day)
    facts = _snapshot_manifest(made_by, day, last.id, tables, gate_result, accept)
    with data_folder.tell_write_failures(place):
        _write_snapshot(place, name, {**tables, "snapshot.toml": facts}, fallback)
        _verify_staged_catalog(place / name, provider, data)
        try:
            data_folder.write_snapshot_log(provider, data, name)
        except OSError:  # a full disk: a snapshot that was never in use must not show in the history of prices
            shutil.rmtree(place / name, ignore_errors=True)
            raise
    return _summarize_publication(
        provider, name, place / name, place, before, gate_result, fetched, sale_terms=len(sale_terms), changed=True
    )


def _with_regions_kept_by_hand(before: Snapshot, fallback: Snapshot) -> Snapshot:
    """A snapshot with the regions of its provider's folder in place of its own: their countries may be newer."""
    regions = {region.region: region for region in (*before.regions, *fallback.regions)}
    sources = {source.source_id: source for source in (*before.sources, *fallback.sources)}
    return replace(before, regions=tuple(regions.values()), sources=tuple(sources.values()))


def _snapshot_tables(before: Snapshot, gate_result: GateResult, fetched: FetchedRows) -> dict[str, bytes]:
    """The tables of the snapshot. Source ids get their date as suffix (karp-aws.2026-07-20).

    A later version of the package may ship another source of the same name, and a price carried over from an older
    snapshot must go on to name its own.
    """
    sources = {s.source_id: s for s in (*before.sources, *fetched.sources) if "+" not in s.source_id}
    named = {name: _dated_source_id(source) for name, source in sources.items()}

    def rows(values: Iterable[Row]) -> list[Row]:
        return [replace(v, source_id="+".join(named[part] for part in v.source_id.split("+"))) for v in values]

    prices, offerings = rows(gate_result.prices.values()), rows(gate_result.offerings.values())
    regions, tiers = rows((*before.regions, *_new_regions(before, gate_result))), rows(before.tiers)
    written = (row.source_id for table in (prices, offerings, regions, tiers) for row in table)
    used = {part for source_id in written for part in source_id.split("+")}
    sources_by_id = {named[name]: replace(source, source_id=named[name]) for name, source in sources.items()}
    return {
        "offerings.csv": format_sorted_table(OFFERING_COLUMNS, map(asdict, offerings), key=("family", "instance_type")),
        "prices.csv": format_sorted_table(PRICE_COLUMNS, map(asdict, prices)),
        "regions.csv": format_sorted_table(REGION_COLUMNS, map(asdict, regions)),
        "tiers.csv": format_sorted_table(TIER_COLUMNS, map(asdict, tiers), number=("from_gb",)),
        "sources.csv": format_sorted_table(SOURCE_COLUMNS, (asdict(sources_by_id[name]) for name in used)),
    }


def _list_sale_terms(
    provider: str, shared: Path, fallback: Path, before: Snapshot, fetched: FetchedRows
) -> list[SaleTerm]:
    """The provider's own table of sale: the one of its folder, and what refreshes were told beyond the tables."""
    own = read_sale_terms(path for path in (fallback / SALE_TABLE,) if path.is_file())
    known = [t for t in (*read_sale_terms((shared / SALE_TABLE,)), *own) if t.provider == provider]
    told_before = [term for term in before.sale_terms if term.provider == provider and term.confidence == TOLD]
    added = merge_told_terms({term.key: term for term in known}.values(), told_before, fetched.sale_terms)
    return list({term.key: term for term in (*own, *added)}.values())


def _dated_source_id(source: Source) -> str:
    """The id of the source with its date as suffix."""
    end = f".{source.as_of}"
    return source.source_id if source.source_id.endswith(end) else f"{source.source_id}{end}"


def _new_regions(before: Snapshot, gate_result: GateResult) -> list[Region]:
    """Regions that have prices and were unknown. Their country stays empty, so residency rules exclude them."""
    known = {region.region for region in before.regions}
    new = {p.region: p for p in sorted(gate_result.prices.values(), key=lambda p: p.key) if p.region not in known}
    return [Region(p.provider, p.region, p.region, "", (), p.source_id) for p in new.values()]


def _tables_differ(folder: Path, tables: Mapping[str, bytes]) -> bool:
    """Whether a table differs from the snapshot in use."""
    return any(not (folder / n).is_file() or (folder / n).read_bytes() != content for n, content in tables.items())


def _next_snapshot_id(place: Path, day: date) -> str:
    """2026-11-21-001: ids sort by creation."""
    ids = [path.name for path in place.glob(f"{day}-*")]
    return f"{day}-{max((int(name.rpartition('-')[2]) for name in ids), default=0) + 1:03d}"


def _snapshot_manifest(
    made_by: str, day: date, base: str, tables: Mapping[str, bytes], gate_result: GateResult, accept: Mapping[str, str]
) -> bytes:
    dates = sorted(p.as_of.isoformat() for p in gate_result.prices.values()) or ["", ""]
    used = sorted({p.source_id for p in gate_result.prices.values()})
    lines = [
        f"# Made by `{made_by}`; not to be edited.",
        f'made_by = "{made_by}"',
        f'made_on = "{day}"',
        f'base = "{base}"',
        f'oldest = "{dates[0]}"',
        f'newest = "{dates[-1]}"',
        f"sources = [{', '.join(quote_toml_strings(used))}]",
        "",
        "[rows]",
        f"offerings = {len(gate_result.offerings)}",
        f"prices = {len(gate_result.prices)}",
        f"held = {len(gate_result.held)}",
        "",
        "[sha256]",
        *(f'"{name}" = "{sha256(content).hexdigest()}"' for name, content in tables.items()),
    ]
    if accept:
        lines += ["", "[accepted] # moves past the band, with the reason given"]
        lines += [f"{a} = {b}" for pair in sorted(accept.items()) for a, b in [quote_toml_strings(pair)]]
    return ("\n".join(lines) + "\n").encode()


def _quarantine_table(quarantined: Iterable[QuarantinedRow]) -> bytes:
    def row(each: QuarantinedRow) -> dict[str, Any]:
        one, two = each.before, each.after
        return {
            "subject": each.subject,
            "reason": each.reason,
            "price_before": one.price_per_hour if one else None,
            "before_as_of": one.as_of if one else None,
            "price_after": two.price_per_hour if two else None,
            "after_as_of": two.as_of if two else None,
        }

    return format_sorted_table(QUARANTINE_COLUMNS, map(row, quarantined))


def _write_snapshot(place: Path, name: str, files: Mapping[str, bytes], folder: Path) -> None:
    """Writes all files to a hidden folder and flushes them to disk, then renames it: readers never see a part."""
    stage = place / f"{data_folder.STAGE_PREFIX}{os.getpid()}"
    stage.mkdir(parents=True)
    copied = {n: (folder / n).read_bytes() for n in CURATED_FILES if (folder / n).is_file()}
    try:
        for file, content in {**copied, **files}.items():
            with (stage / file).open("wb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
        stage.rename(place / name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _verify_staged_catalog(path: Path, provider: str, data: Path) -> None:
    """Reads the whole resulting catalogue; an unreadable snapshot is removed.

    Where it is another provider's snapshot that was damaged, the shipped ones stand in for the others.
    """
    base, whole = (make(EMBEDDED_LAYOUT, data) for make in (data_folder.base_layout, data_folder.current_layout))
    fault = find_fault(whole.replaced([(provider, path)]))
    if fault and find_fault(whole.replaced([(provider, dict(base.folders)[provider])])):
        fault = find_fault(base.replaced([(provider, path)]))
    if fault:
        shutil.rmtree(path, ignore_errors=True)
        raise ProviderFailure("changed_format", f"the readings give no valid catalogue: {fault}")


def find_fault(layout: CatalogLayout) -> str:
    """The first fault of a catalogue; empty if it can be read."""
    try:
        read_snapshot(layout)
    except InvalidSnapshot as bad:
        return bad.faults[0]
    return ""


def _summarize_publication(
    provider: str,
    name: str,
    path: Path,
    place: Path,
    before: Snapshot,
    gate_result: GateResult,
    fetched: FetchedRows,
    *,
    sale_terms: int,
    changed: bool,
) -> PublishedSnapshot:
    known: dict[tuple[str, str, str, str], Price] = {p.key: p for p in before.prices}
    entered = [p for key, p in gate_result.prices.items() if known.get(key) is not p]
    new = sum(p.key not in known for p in entered)
    moved = sum(p.key in known and known[p.key].price_per_hour != p.price_per_hour for p in entered)
    return PublishedSnapshot(
        provider=provider,
        id=name,
        path=path,
        quarantine=place / data_folder.QUARANTINE_FILE,
        changed=changed,
        offerings=len(gate_result.offerings),
        prices=len(gate_result.prices),
        read=len(fetched.prices),
        new=new,
        moved=moved,
        gone=len(gate_result.gone),
        sale_terms=sale_terms,
        held=gate_result.held,
        left=dict(fetched.left),
    )
