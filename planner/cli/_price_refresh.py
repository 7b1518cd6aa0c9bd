"""Behind `planner prices refresh`: reads prices from the clouds, publishes snapshots and prints the results."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial

import click

from planner.cli._catalog_options import parse_reasons, select_adapters
from planner.cli._exit_codes import DONE, NOT_REFRESHED
from planner.cli._terminal import QUIET, VERBOSE, chosen_verbosity
from planner.request.errors import InputProblem
from pricing.adapters.protocol import RejectedRow
from pricing.adapters.retries import RetryBudget
from pricing.catalog import data_folder
from pricing.clock import today
from pricing.counted_nouns import format_count
from pricing.errors import FailureKind
from pricing.refresh.price_refresh import RefreshOutcome, RefreshProgress, TaskFailure, refresh_provider
from pricing.snapshots.publication import PublishedSnapshot
from pricing.snapshots.quality_gate import QuarantinedRow

PRINTED_MAX = 5
"""Rows of a list that are printed; the rest is counted and in the file named with it."""
ADVICE = {
    "no_sdk": "",
    "no_credentials": "see docs/guides/access-{provider}.md",
    "denied": "see docs/guides/access-{provider}.md for the rights it needs",
    "throttled": "try again later, or with fewer --regions",
    "timed_out": "give it more --time-limit, or fewer --regions",
    "not_written": "make room, or name another data folder in GPU_PLANNER_DATA",
    "changed_format": "the answer has an unknown format and was discarded; a newer planner may read it",
}


def refresh_all(
    provider_names: Sequence[str],
    region_names: Sequence[str],
    endpoint: Sequence[str],
    accept: Sequence[str],
    time_limit_s: float,
) -> int:
    """Refresh the providers one after the other, each with its own time limit; the exit code."""
    wrong = list[InputProblem]()
    accepted = parse_reasons(accept, wrong)
    providers, regions, endpoints = select_adapters(
        provider_names, region_names, endpoint, ("has no adapter to refresh it", "an import"), after=wrong
    )
    data = data_folder.user_data_folder()
    code = DONE
    for provider in providers:
        outcome = refresh_provider(
            provider,
            data,
            RetryBudget(time_limit_s),
            today(),
            partial(report_progress, chosen_verbosity()),
            regions=regions.get(provider, ()),
            endpoints=endpoints.get(provider, {}),
            accept=accepted,
        )
        report_outcome(outcome)
        code = NOT_REFRESHED if outcome.troubles else code
    return code


def report_progress(verbosity: int, step: RefreshProgress) -> None:
    """Print one line per step on standard error, if it is a terminal or with --verbose, and never with --quiet. It is
    called from any thread, in which there is no context of click."""
    if verbosity == QUIET or (verbosity != VERBOSE and not sys.stderr.isatty()):
        return
    count = f"{step.done}/{step.total} " if step.total else ""
    end = f"failed: {step.failed}" if step.failed else format_count(step.rows, "row") if step.total else "..."
    click.echo(f"{step.provider:6} {count}{step.task}: {end}", err=True)


def report_outcome(outcome: RefreshOutcome) -> None:
    """Print the snapshot in use on standard output, and failures with advice on standard error."""
    if outcome.landed is None:
        click.echo(f"{outcome.provider}: not refreshed, the last good snapshot stays in use")
    else:
        for line in snapshot_lines(outcome.landed):
            click.echo(line)
    report_failures(outcome.provider, outcome.troubles, "")


def snapshot_lines(snapshot: PublishedSnapshot) -> Iterator[str]:
    """A published snapshot with its changes, the rows left out and the beginning of its quarantine."""
    state = "" if snapshot.changed else " (unchanged)"
    gone = f", {snapshot.gone:,} gone" if snapshot.gone else ""
    counts = f"{format_count(snapshot.offerings, 'type')}, {format_count(snapshot.prices, 'price')}"
    yield f"{snapshot.provider}: {snapshot.id}{state}, {counts}"
    yield f"  {format_count(snapshot.read, 'price')} read: {snapshot.new:,} new, {snapshot.moved:,} moved{gone}"
    if snapshot.sale_terms:
        yield f"  {snapshot.sale_terms:,} terms of sale that differ from the tables, as the provider tells them"
    yield from (f"  {format_count(rows, 'row')} left out: {reason}" for reason, rows in sorted(snapshot.left.items()))
    if rejected := snapshot.held:
        yield f"  {len(rejected):,} in quarantine, their previous prices stay in use: {snapshot.quarantine}"
        yield from rejected_lines(rejected)


def rejected_lines(rows: Sequence[QuarantinedRow | RejectedRow]) -> Iterator[str]:
    """The first of the rows that were rejected, and the number of the others."""
    yield from (f"    {row.subject}: {row.reason}" for row in rows[:PRINTED_MAX])
    if len(rows) > PRINTED_MAX:
        yield f"    and {len(rows) - PRINTED_MAX:,} more"


def report_failures(provider: str, failures: Sequence[TaskFailure], of_what: str) -> None:
    """Print how many parts (`of_what`) were not read and why, and the first parts of each kind of failure: one line
    each with the part, the reason and advice."""
    by_kind: dict[FailureKind, list[TaskFailure]] = {}
    for failure in failures:
        by_kind.setdefault(failure.failed.kind, []).append(failure)
    if failures:
        parts = f"{len(failures)} part{'s' if len(failures) > 1 else ''}{of_what}"
        kinds = ", ".join(kind.replace("_", " ") for kind in by_kind)
        click.echo(f"planner: {provider}: {parts} not read: {kinds}", err=True)
    for kind, alike in by_kind.items():
        for failure in alike[:PRINTED_MAX]:
            click.echo(f"  {describe_failure(provider, failure)}", err=True)
        if len(alike) > PRINTED_MAX:
            click.echo(f"  and {len(alike) - PRINTED_MAX:,} more: {kind.replace('_', ' ')}", err=True)


def describe_failure(provider: str, failure: TaskFailure) -> str:
    """The part that failed, the reason, and advice where there is some."""
    failed = failure.failed
    advice = ADVICE.get(failed.kind, "").format(provider=provider)
    where = f"{failure.task}: " if failure.task and not failed.detail.startswith(failure.task) else ""
    return f"{where}{failed}{f' ({advice})' if advice else ''}"
