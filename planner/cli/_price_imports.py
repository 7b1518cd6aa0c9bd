"""Behind `planner prices import`: all files are checked before any of them is imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import click

from planner.cli._exit_codes import DONE, NOT_REFRESHED
from planner.cli._price_refresh import snapshot_lines
from pricing.catalog import data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.errors import InvalidSnapshot, ProviderFailure
from pricing.imports.importable_files import (
    EXTERNAL_CATALOGS,
    PendingImport,
    check_user_file,
    copy_user_file,
    detect_file_kind,
    detect_provider,
    read_external_catalog,
)


@dataclass(frozen=True, slots=True)
class PriceImportOptions:
    """The options of an import; `as_of` is an ISO date, `accept` maps patterns of types to reasons."""

    provider: str | None
    as_of: str | None
    source: str
    accept: Mapping[str, str]


def import_files(paths: Sequence[Path], about: PriceImportOptions, today: date) -> int:
    """Import all files and return the exit code; InvalidSnapshot with the problems of all, before any is imported."""
    data = data_folder.user_data_folder()
    faults: list[str] = []
    kinds = {path: _detect_kind(path, faults) for path in dict.fromkeys(paths)}
    as_of = _parse_day(about.as_of, today, faults)
    if about.as_of is None and (undated := [str(path) for path, kind in kinds.items() if kind in EXTERNAL_CATALOGS]):
        faults.append(f"--as-of: missing; {', '.join(undated)} carries no date: give the date of its prices")
    pending = {
        path: _read_pending(path, kind, about, as_of, data, faults)
        for path, kind in kinds.items()
        if kind in EXTERNAL_CATALOGS
    }
    counts = {
        path: _check_own_file(path, kind, faults)
        for path, kind in kinds.items()
        if kind and kind not in EXTERNAL_CATALOGS
    }
    if faults:
        raise InvalidSnapshot(tuple(faults))
    codes = [DONE]
    for path, kind in kinds.items():
        if prices := pending.get(path):
            codes.append(_land_prices(path, prices, about, data, today))
        else:
            target, changed = copy_user_file(path, kind, data)
            state = "now in use" if changed else "unchanged"
            _print_lines([f"{path}: {kind}, {counts[path]:,} rows, {state}: {target}"])
    return max(codes)


def _detect_kind(path: Path, faults: list[str]) -> str:
    try:
        return detect_file_kind(path)
    except InvalidSnapshot as bad:
        faults += bad.faults
        return ""


def _parse_day(written: str | None, today: date, faults: list[str]) -> date:
    try:
        day = date.fromisoformat(written) if written else today
    except ValueError:
        faults.append(f"--as-of {written}: expected a date such as 2026-07-20")
        return today
    if day > today:
        faults.append(f"--as-of {written}: in the future; today is {today}")
    return day


def _read_pending(
    path: Path, kind: str, about: PriceImportOptions, as_of: date, data: Path, faults: list[str]
) -> PendingImport | None:
    try:
        provider = detect_provider(path, kind, data_folder.current_layout(EMBEDDED_LAYOUT, data), about.provider)
        _report_progress(f"reading {path} as a {EXTERNAL_CATALOGS[kind].TITLE} of {provider}")
        return read_external_catalog(path, kind, provider, as_of, about.source, data)
    except InvalidSnapshot as bad:
        faults += bad.faults
        return None


def _check_own_file(path: Path, kind: str, faults: list[str]) -> int:
    try:
        return check_user_file(path, kind)
    except InvalidSnapshot as bad:
        faults += bad.faults
        return 0


def _land_prices(path: Path, pending: PendingImport, about: PriceImportOptions, data: Path, today: date) -> int:
    counted = pending.counted
    left = sum(counted.left.values())
    summary = f"{counted.taken:,} imported + {left:,} left out + {counted.refused:,} rejected"
    _print_lines([f"{path}: {counted.rows:,} rows = {summary}"])
    _report_progress(f"checking {len(pending.fetched.prices):,} prices")
    try:
        landed = pending.publish(data, today, about.accept)
    except ProviderFailure as failed:
        click.echo(f"planner: {pending.provider}: not imported, the previous snapshot stays in use: {failed}", err=True)
        return NOT_REFRESHED
    _print_lines(snapshot_lines(landed))
    return DONE


def _print_lines(lines: Iterator[str] | Sequence[str]) -> None:
    for line in lines:
        click.echo(line)


def _report_progress(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{text} ...", err=True)
