"""Behind `planner prices import`: every file is judged before any of them changes something."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path

import click

from planner.cli._run import DONE, NOT_REFRESHED
from pricing import local
from pricing.catalog import EMBEDDED, ROOT
from pricing.errors import BadSnapshot, Failed
from pricing.importer import Report, import_facts
from pricing.importer.files import (
    FACTS,
    PEERS,
    Pending,
    check_own,
    copy_own,
    kind_of,
    provider_of,
    read_peer,
)
from pricing.landing import QUARANTINE, Landed

SHOWN = 5
"""Rows in quarantine that are printed; all are in the file that is named."""


@dataclass(frozen=True, slots=True)
class About:
    """What the options say of the files; empty where they say nothing. `as_of` is an ISO date, `accept` as of land."""

    provider: str | None
    as_of: str | None
    source: str
    accept: Mapping[str, str]


def import_files(paths: Sequence[Path], about: About, today: date) -> int:
    """The exit code, once all files are taken in; BadSnapshot with every fault of all of them, nothing written then."""
    data = local.folder()
    faults: list[str] = []
    kinds = {path: _kind(path, faults) for path in dict.fromkeys(paths)}
    as_of = _day(about.as_of, today, faults)
    if about.as_of is None and (undated := [str(path) for path, kind in kinds.items() if kind in PEERS]):
        faults.append(f"--as-of: missing; {', '.join(undated)} carries no date: say of which day its prices are")
    pending = {path: _pending(path, kind, about, as_of, data, faults) for path, kind in kinds.items() if kind in PEERS}
    counts = {
        path: _checked(path, kind, faults) for path, kind in kinds.items() if kind and kind not in (FACTS, *PEERS)
    }
    if faults:
        raise BadSnapshot(tuple(faults))
    codes = [DONE]
    for path, kind in sorted(kinds.items(), key=lambda item: item[1] != FACTS):  # they alone may yet be refused
        if kind == FACTS:
            _show(told(import_facts(path, ROOT)))
        elif found := pending.get(path):
            codes.append(_land(path, found, about, data, today))
        else:
            target, changed = copy_own(path, kind, data)
            state = "in use from now on" if changed else "nothing changed"
            _show([f"{path}: {kind}, {counts[path]:,} rows, {state}: {target}"])
    return max(codes)


def _kind(path: Path, faults: list[str]) -> str:
    try:
        return kind_of(path)
    except BadSnapshot as bad:
        faults += bad.faults
        return ""


def _day(written: str | None, today: date, faults: list[str]) -> date:
    try:
        day = date.fromisoformat(written) if written else today
    except ValueError:
        faults.append(f"--as-of {written}: expected a date such as 2026-07-20")
        return today
    if day > today:
        faults.append(f"--as-of {written}: a day to come; today is {today}")
    return day


def _pending(path: Path, kind: str, about: About, as_of: date, data: Path, faults: list[str]) -> Pending | None:
    try:
        provider = provider_of(path, kind, local.layout(EMBEDDED, data), about.provider)
        _progress(f"reading {path} as a {PEERS[kind].TITLE} of {provider}")
        return read_peer(path, kind, provider, as_of, about.source, data)
    except BadSnapshot as bad:
        faults += bad.faults
        return None


def _checked(path: Path, kind: str, faults: list[str]) -> int:
    try:
        return check_own(path, kind)
    except BadSnapshot as bad:
        faults += bad.faults
        return 0


def _land(path: Path, pending: Pending, about: About, data: Path, today: date) -> int:
    counted = pending.counted
    left = sum(counted.left.values())
    _show([f"{path}: {counted.rows:,} rows = {counted.taken:,} taken + {left:,} left + {counted.refused:,} refused"])
    _show(f"  {rows:,} left: {reason}" for reason, rows in counted.left.items())
    _progress(f"checking {len(pending.fetched.prices):,} prices")
    try:
        landed = pending.land(data, today, about.accept)
    except Failed as failed:
        click.echo(f"planner: {pending.provider}: not imported, what was in use stays: {failed}", err=True)
        return NOT_REFRESHED
    _show(_landed(landed))
    return DONE


def _landed(landed: Landed) -> Iterator[str]:
    state = "" if landed.changed else " (nothing changed)"
    yield f"{landed.provider}: {landed.id}{state}, {landed.offerings:,} types, {landed.prices:,} prices"
    yield f"  {landed.read:,} prices of the file: {landed.new:,} new, {landed.moved:,} moved"
    if landed.held:
        yield f"  {len(landed.held):,} in quarantine, what was known of them stays: {landed.path / QUARANTINE}"
        yield from (f"    {held.subject}: {held.reason}" for held in landed.held[:SHOWN])
        if len(landed.held) > SHOWN:
            yield f"    and {len(landed.held) - SHOWN:,} more"


def told(report: Report) -> Iterator[str]:
    """What an import of fact tables took in, one figure a line."""
    for field in fields(report):
        value = getattr(report, field.name)
        text = f"{value:,}" if isinstance(value, int) else str(value)
        if isinstance(value, tuple):
            text = ", ".join(value) or "nothing"
        elif isinstance(value, dict):
            text = "; ".join(f"{count:,} {reason}" for reason, count in value.items()) or "nothing"
        yield f"{field.name.replace('_', ' '):12} {text}"


def _show(lines: Iterator[str] | Sequence[str]) -> None:
    for line in lines:
        click.echo(line)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{text} ...", err=True)
