"""Behind `planner quota`, and behind the table of quotas that a request names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli._run import DONE, NOT_REFRESHED
from planner.clock import today
from planner.errors import Complaint, InvalidRequest
from pricing.errors import BadSnapshot
from pricing.table import place_of

if TYPE_CHECKING:
    from pricing.quota import Quota
    from pricing.quotas import Found

STANDARD_OUTPUT = "-"
SHOWN = 5
"""Rows of a list that are printed; the rest is counted."""


def rows_in(path: Path) -> tuple[list[dict[str, Any]], list[Complaint]]:
    """The quotas of a table as a request writes them down, or what is wrong with the table."""
    from pricing import quota

    try:
        return [{**asdict(row), "as_of": row.as_of.isoformat()} for row in quota.read(path)], []
    except BadSnapshot as bad:
        short = place_of(path)  # how a table calls itself; here it is called as it was written
        parts = (fault.removeprefix(short).partition(": ") for fault in bad.faults)
        return [], [Complaint("quotas", f"{path}{line}", message) for line, _, message in parts]


def named(document: dict[str, Any], file: str) -> tuple[dict[str, Any], list[Complaint]]:
    """The document with the rows of the table that it names instead of its path, which is seen from `file`."""
    path = document.get("quotas")
    if not isinstance(path, str):
        return document, []
    rows, faults = rows_in(Path(file).parent / path)
    return {**document, "quotas": rows}, faults


def read_all(
    providers: Sequence[str],
    regions: Mapping[str, tuple[str, ...]],
    endpoints: Mapping[str, Mapping[str, str]],
    time_limit_s: float,
    output: str,
) -> int:
    """The exit code, once the quotas of every provider that could be read are written."""
    from planner.cli._refresh import progress
    from pricing import local, quota, quotas
    from pricing.patience import Patience

    found = [
        quotas.read(
            provider,
            local.folder(),
            Patience(time_limit_s),
            today(),
            progress,
            regions=regions.get(provider, ()),
            endpoints=endpoints.get(provider, {}),
        )
        for provider in providers
    ]
    read = [row for each in found for row in each.quotas]
    if read or not any(each.troubles for each in found):
        _write(quota.table(read), output)
    for each in found:
        _tell(each, output)
    return NOT_REFRESHED if any(each.troubles for each in found) else DONE


def _write(table: bytes, output: str) -> None:
    from planner.cli._tables import show
    from pricing.table import write_atomically

    if output == STANDARD_OUTPUT:
        show(table.decode())
        return
    try:
        write_atomically(Path(output), table)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidRequest((Complaint("", f"-o {output}", "cannot be written", reason, "a writable path"),)) from None


def _tell(found: Found, output: str) -> None:
    """What was read and what was not, on standard error: the table may be on standard output."""
    from planner.cli._refresh import words

    def say(text: str) -> None:
        click.echo(text, err=True)

    where = "" if output == STANDARD_OUTPUT else f", in {output}"
    if found.quotas:
        say(f"{found.provider}: {_counted(found.quotas)}{where}")
    elif not found.troubles:
        say(f"{found.provider}: no quota of types with accelerators")
    for reason, rows in sorted(found.left.items()):
        say(f"  {rows:,} left out: {reason}")
    if found.refused:
        say(f"  {len(found.refused):,} not taken:")
        for refused in found.refused[:SHOWN]:
            say(f"    {refused.subject}: {refused.reason}")
        if len(found.refused) > SHOWN:
            say(f"    and {len(found.refused) - SHOWN:,} more")
    if found.troubles:
        number = len(found.troubles)
        say(f"planner: {found.provider}: {number} part{'s' * (number > 1)} of its quotas not read")
    for trouble in found.troubles:
        say(f"  {words(found.provider, trouble)}")


def _counted(quotas: Sequence[Quota]) -> str:
    regions = [region for region, _ in groupby(quotas, lambda quota: quota.region)]
    return f"{len(quotas):,} quota{'s' * (len(quotas) > 1)} in {len(regions):,} region{'s' * (len(regions) > 1)}"


def refuse_folder(output: str) -> list[Complaint]:
    """A complaint where the output cannot be a file: told before any cloud is asked."""
    if output != STANDARD_OUTPUT and Path(output).is_dir():
        return [Complaint("", f"-o {output}", "is a folder", output, "the name of a CSV file")]
    return []
