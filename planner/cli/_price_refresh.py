"""Behind `planner prices refresh`: reads the clouds, lands what passes the gate, tells the rest."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click

from planner.cli._exit_codes import DONE, NOT_REFRESHED
from pricing.adapters.retries import RetryBudget
from pricing.catalog import data_folder
from pricing.clock import today
from pricing.errors import ProviderFailure
from pricing.refresh.price_refresh import RefreshOutcome, RefreshProgress, TaskFailure, refresh_provider
from pricing.snapshots.publication import QUARANTINE_FILE, PublishedSnapshot

SHOWN = 5
"""Rows of a list that are printed; the rest is counted, and is in the file named beside it."""
ADVICE = {
    "no_sdk": "",
    "no_credentials": "see docs/guides/access-{provider}.md",
    "denied": "see docs/guides/access-{provider}.md for the rights it needs",
    "throttled": "try again later, or with fewer --regions",
    "timed_out": "give it more --time-limit, or fewer --regions",
    "changed_format": "the service answers in another form than this version knows; nothing of it was taken",
}


def refresh_all(
    providers: Sequence[str],
    regions: Mapping[str, tuple[str, ...]],
    endpoints: Mapping[str, Mapping[str, str]],
    accept: Mapping[str, str],
    time_limit_s: float,
) -> int:
    """The exit code, once every provider is told; one after the other, each with its own limit of time."""
    data = data_folder.user_data_folder()
    code = DONE
    for provider in providers:
        outcome = refresh_provider(
            provider,
            data,
            RetryBudget(time_limit_s),
            today(),
            report_progress,
            regions=regions.get(provider, ()),
            endpoints=endpoints.get(provider, {}),
            accept=accept,
        )
        report_outcome(outcome)
        code = NOT_REFRESHED if outcome.troubles else code
    return code


def report_progress(step: RefreshProgress) -> None:
    """One line a step on standard error, none where that is no terminal."""
    if not sys.stderr.isatty():
        return
    count = f"{step.done}/{step.total} " if step.total else ""
    end = f"failed: {step.failed}" if step.failed else f"{step.rows:,} rows" if step.total else "..."
    click.echo(f"{step.provider:6} {count}{step.task}: {end}", err=True)


def report_outcome(outcome: RefreshOutcome) -> None:
    """What is in use now on standard output; what failed, and what follows from it, on standard error."""
    if outcome.landed is None:
        click.echo(f"{outcome.provider}: not refreshed, the last good snapshot stays in use")
    else:
        _print_landing(outcome.landed)
    if outcome.troubles:
        number = len(outcome.troubles)
        click.echo(f"planner: {outcome.provider}: {number} part{'s' if number > 1 else ''} not read", err=True)
    for trouble in outcome.troubles:
        click.echo(f"  {describe_failure(outcome.provider, trouble)}", err=True)


def _print_landing(landed: PublishedSnapshot) -> None:
    state = "" if landed.changed else " (nothing changed)"
    click.echo(f"{landed.provider}: {landed.id}{state}, {landed.offerings:,} types, {landed.prices:,} prices")
    click.echo(f"  {landed.read:,} prices read: {landed.new:,} new, {landed.moved:,} moved, {landed.gone:,} gone")
    for reason, rows in sorted(landed.left.items()):
        click.echo(f"  {rows:,} rows left out: {reason}")
    if landed.held:
        click.echo(
            f"  {len(landed.held):,} in quarantine, what was known of them stays: {landed.path / QUARANTINE_FILE}"
        )
        for row in landed.held[:SHOWN]:
            click.echo(f"    {row.subject}: {row.reason}")
        if len(landed.held) > SHOWN:
            click.echo(f"    and {len(landed.held) - SHOWN:,} more")


def describe_failure(provider: str, trouble: TaskFailure) -> str:
    """What could not be read, why, and what helps."""
    failed: ProviderFailure = trouble.failed
    advice = ADVICE.get(failed.kind, "").format(provider=provider)
    where = f"{trouble.task}: " if trouble.task and not failed.detail.startswith(trouble.task) else ""
    return f"{where}{failed}{f' ({advice})' if advice else ''}"
