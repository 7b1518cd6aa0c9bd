"""`planner audit`: who did what with the service."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import UTC, datetime

import click

from planner.cli._service_options import open_service_store, store_option

COLUMNS = ("time", "project", "caller", "action", "subject", "request_id")


@click.command()
@store_option
@click.option("--project", default="", help="Only this project.")
@click.option("--days", type=click.FloatRange(min=0), default=30, show_default=True, help="Days to look back.")
@click.option("--limit", type=click.IntRange(min=1), default=1000, show_default=True, help="Most rows to list.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def command(store: str | None, project: str, days: float, limit: int, as_json: bool, as_csv: bool) -> None:
    """List who asked for plans, read, downloaded or deleted them, made or revoked keys and changed prices, the newest
    first.

    Only callers with a key or a token are recorded: on a service without them there is nobody to name.
    """
    from planner.cli._tables import one_format, print_report
    from pricing.text_tables import align_columns

    form = one_format(as_json, as_csv)
    since = time.time() - days * 24 * 3600
    events = open_service_store(store).audit.list(since=since, project=project, limit=limit)
    records = [asdict(event) | {"time": _to_text(event.time)} for event in events]
    lines = align_columns(COLUMNS, [[record[column] for column in COLUMNS] for record in records])
    print_report(form, lines, COLUMNS, records, lambda: records)


def _to_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
