"""`planner db`: the store of a service."""

from __future__ import annotations

import click

from planner.cli._service_options import open_service_store, open_store_url, require_server, store_option


@click.group()
def command() -> None:
    """Keep the store of a service: its tables, a copy of it, and its age.

    \b
    Examples:
      planner db upgrade
      planner db backup backups/planner-2026-11-21.sqlite
      planner db prune --days 90 --plans 10000
      planner db prices
    """
    require_server()


@command.command()
@store_option
def upgrade(store: str | None) -> None:
    """Bring the tables up to date. A service does so when it starts, too."""
    from planner.service.store.engine import open_engine, upgrade_tables

    engine = open_engine(open_store_url(store))
    click.echo(f"the store has version {upgrade_tables(engine)}")
    engine.dispose()


@command.command()
@store_option
@click.argument("file", type=click.Path(dir_okay=False, writable=True))
def backup(store: str | None, file: str) -> None:
    """Copy the whole store to a new SQLite FILE, while services go on.

    The file is a store itself: to restore it, start with --store sqlite:///FILE, or copy it to where it belongs. A
    backup of PostgreSQL can be restored so, too; for its own format use pg_dump.
    """
    from pathlib import Path

    from planner.service.store.upkeep import back_up_store

    if Path(file).exists():
        raise click.UsageError(f"{file} exists; a backup is a new file")
    copied = back_up_store(open_store_url(store), Path(file))
    click.echo(f"copied {', '.join(f'{count:,} {name}' for name, count in copied.items())} to {file}")


@command.command()
@store_option
@click.option(
    "--days", type=click.FloatRange(0, min_open=True), help="Delete plans, reviews and ended jobs that are older."
)
@click.option("--plans", type=click.IntRange(0), help="Delete all but so many of the newest plans of each project.")
@click.option("--audit-days", type=click.FloatRange(0, min_open=True), help="Delete the audit before so many days.")
def prune(store: str | None, days: float | None, plans: int | None, audit_days: float | None) -> None:
    """Delete old plans, reviews, and jobs that have ended, by age, by count or both; and old records of the audit.

    Plans of reviews stay. A service does the same by itself: planner serve --retention-days.
    """
    from planner.service.store.upkeep import prune_audit, prune_store

    if days is None and plans is None and audit_days is None:
        raise click.UsageError("state --days, --plans or --audit-days")
    opened = open_service_store(store)
    deleted = {} if days is None and plans is None else prune_store(opened.engine, days, plans)
    if audit_days is not None:
        deleted["acts"] = prune_audit(opened.engine, audit_days)
    opened.close()
    click.echo(f"deleted {', '.join(f'{count:,} {name}' for name, count in deleted.items())}")


@command.command(short_help="List the sets of prices in use.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def prices(store: str | None, as_json: bool, as_csv: bool) -> None:
    """List the sets of prices that plans were made with, the last in use first.

    Plans with one digest were made with the same prices, private ones and exchange rates included.
    """
    from dataclasses import asdict

    from planner.cli._tables import one_format, print_report
    from planner.service.timestamps import to_time
    from pricing.text_tables import align_columns

    form = one_format(as_json, as_csv)
    opened = open_service_store(store)
    snapshots = opened.price_snapshots.list()
    opened.close()
    records = [
        asdict(each)
        | {name: to_time(getattr(each, name)).isoformat(timespec="seconds") for name in ("first_used", "last_used")}
        for each in snapshots
    ]
    columns = ("digest", "plans", "prices", "oldest_price", "version", "first_used", "last_used")
    cells = [[str(record[name])[: 12 if name == "digest" else None] for name in columns] for record in records]
    print_report(form, align_columns(columns, cells), columns, records, lambda: records)
