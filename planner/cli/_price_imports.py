"""Behind `planner prices import`: all files are checked before any of them is imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import click

from planner.cli._catalog_options import parse_reasons, raise_problems
from planner.cli._exit_codes import DONE, NOT_REFRESHED
from planner.cli._price_refresh import snapshot_lines
from planner.cli._provider_folders import write_tables
from planner.cli._terminal import show_progress
from planner.request.errors import InputProblem
from pricing.catalog import data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.clock import today
from pricing.counted_nouns import format_count
from pricing.errors import InvalidSnapshot, ProviderFailure
from pricing.imports.importable_files import (
    EXTERNAL_CATALOGS,
    PendingImport,
    check_user_file,
    copy_user_file,
    detect_currency,
    detect_file_kind,
    detect_provider,
    read_external_catalog,
)


def import_files(
    files: Sequence[str], provider: str | None, as_of: str | None, source: str, accept: Sequence[str]
) -> int:
    """Import all files and return the exit code; InvalidSnapshot with the problems of all, before any is imported.

    `as_of` is an ISO date, `accept` has reasons for large changes by patterns of types.
    """
    wrong = list[InputProblem]()
    accepted = parse_reasons(accept, wrong)
    raise_problems(wrong)
    data, faults = data_folder.user_data_folder(), list[str]()
    kinds: dict[Path, str] = {}
    for path in dict.fromkeys(map(Path, files)):
        with _collect_faults(faults):
            kinds[path] = detect_file_kind(path)
    day = _parse_day(as_of, faults)
    if as_of is None and (undated := [str(path) for path, kind in kinds.items() if kind in EXTERNAL_CATALOGS]):
        faults.append(f"--as-of: missing; {', '.join(undated)} carries no date: give the date of its prices")
    pending: dict[Path, PendingImport] = {}
    for path, kind in kinds.items():
        if kind in EXTERNAL_CATALOGS:
            with _collect_faults(faults):
                name = detect_provider(path, kind, data_folder.current_layout(EMBEDDED_LAYOUT, data), provider)
                with show_progress(f"reading {path} as a {EXTERNAL_CATALOGS[kind].TITLE} of {name}"):
                    pending[path] = _read_prices(path, kind, name, day, source, data)
    counts: dict[Path, int] = {}
    for path, kind in kinds.items():
        if kind not in EXTERNAL_CATALOGS:
            with _collect_faults(faults):
                counts[path] = check_user_file(path, kind)
    if faults:
        raise InvalidSnapshot(tuple(faults))
    codes = [DONE]
    for path, kind in kinds.items():
        if prices := pending.get(path):
            codes.append(_land_prices(path, prices, accepted, data))
        else:
            target, changed = copy_user_file(path, kind, data)
            state = "now in use" if changed else "unchanged"
            click.echo(f"{path}: {kind}, {format_count(counts[path], 'row')}, {state}: {target}")
    return max(codes)


def _read_prices(path: Path, kind: str, name: str, day: date, source: str, data: Path) -> PendingImport:
    """The prices of a catalogue. Those of a provider that does not exist yet are read against an empty folder."""
    if name in _provider_names(data):
        return read_external_catalog(path, kind, name, day, source, data)
    with TemporaryDirectory(prefix="gpu-planner-new-") as temporary:
        write_tables(Path(temporary) / name, name, name, detect_currency(path, kind))
        return read_external_catalog(path, kind, name, day, source, data, Path(temporary) / name)


def _provider_names(data: Path) -> set[str]:
    return {name for name, _ in data_folder.base_layout(EMBEDDED_LAYOUT, data).folders}


@contextmanager
def _collect_faults(faults: list[str]) -> Iterator[None]:
    """Adds the faults of a file that cannot be read to `faults`."""
    try:
        yield
    except InvalidSnapshot as bad:
        faults += bad.faults


def _parse_day(written: str | None, faults: list[str]) -> date:
    try:
        day = date.fromisoformat(written) if written else today()
    except ValueError:
        faults.append(f"--as-of {written}: expected a date such as 2026-07-20")
        return today()
    if day > today():
        faults.append(f"--as-of {written}: in the future; today is {today()}")
    return day


def _land_prices(path: Path, pending: PendingImport, accepted: Mapping[str, str], data: Path) -> int:
    counted = pending.counted
    left = sum(counted.left.values())
    summary = f"{counted.taken:,} imported + {left:,} left out + {counted.refused:,} rejected"
    click.echo(f"{path}: {format_count(counted.rows, 'row')} = {summary}")
    target = data / "providers" / pending.provider
    is_new = pending.provider not in _provider_names(data)
    if is_new:
        write_tables(target, pending.provider, pending.provider, pending.currency)
    try:
        with show_progress(f"checking {format_count(len(pending.fetched.prices), 'price')}"):
            landed = pending.publish(data, today(), accepted)
    except ProviderFailure as failed:
        kept = "nothing was written" if is_new else "the previous snapshot stays in use"
        if is_new:
            rmtree(target, ignore_errors=True)
        click.echo(f"planner: {pending.provider}: not imported, {kept}: {failed}", err=True)
        return NOT_REFRESHED
    if is_new:
        click.echo(f"{pending.provider}: a new cloud of your own, used by every plan: {target}")
    for line in snapshot_lines(landed):
        click.echo(line)
    return DONE
