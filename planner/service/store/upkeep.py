"""Backup of the store, and deletion of old rows."""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import Connection, Engine, delete, func, insert, select

from planner.service.store.access_tables import AUDIT
from planner.service.store.engine import open_engine, sqlite_url, upgrade_tables
from planner.service.store.jobs import OPEN_STATES
from planner.service.store.schema import JOBS, PLANS, STORE_TABLES

SECONDS_PER_DAY = 86_400
ROWS_AT_ONCE = 100


def back_up_store(url: str, file: Path) -> dict[str, int]:
    """Copy every table, as it was at one moment, to a new SQLite file; the rows of each. Raises FileExistsError."""
    file.touch(exist_ok=False)
    source = open_engine(url)
    upgrade_tables(source)
    target = open_engine(sqlite_url(file.absolute()))
    upgrade_tables(target)
    reading = source.connect().execution_options(reads=True)
    if source.dialect.name == "postgresql":
        reading = reading.execution_options(isolation_level="REPEATABLE READ")
    copied = {}
    with reading as connection, target.begin() as writing:
        for table in STORE_TABLES.sorted_tables:
            rows = connection.execution_options(yield_per=ROWS_AT_ONCE).execute(select(table)).mappings()
            copied[table.name] = 0
            for part in rows.partitions(ROWS_AT_ONCE):
                writing.execute(insert(table), [dict(row) for row in part])
                copied[table.name] += len(part)
    source.dispose()
    target.dispose()  # its last connection writes all into the one file
    return copied


def prune_audit(engine: Engine, days: float) -> int:
    """Delete acts older than so many days; how many."""
    with engine.begin() as connection:
        return connection.execute(delete(AUDIT).where(AUDIT.c.time < time.time() - days * SECONDS_PER_DAY)).rowcount


def prune_store(engine: Engine, days: float | None, plans_max: int | None) -> dict[str, int]:
    """Delete plans older than so many days, and all but the newest of each project; and the jobs that ended before or
    whose plan is deleted. How many rows of each table."""
    oldest = 0.0 if days is None else time.time() - days * SECONDS_PER_DAY
    with engine.begin() as connection:
        plans = connection.execute(delete(PLANS).where(PLANS.c.created < oldest)).rowcount
        if plans_max is not None:
            plans += sum(
                _delete_all_but(connection, project, plans_max)
                for project in connection.execute(select(PLANS.c.project).distinct()).scalars().all()
            )
        ended = JOBS.c.state.not_in(OPEN_STATES)
        jobs = connection.execute(delete(JOBS).where(ended, JOBS.c.finished < oldest)).rowcount
        remaining = select(PLANS.c.digest).where(
            PLANS.c.project == JOBS.c.project, PLANS.c.digest == JOBS.c.plan_digest
        )
        unanswered = JOBS.c.plan_digest.is_not(None) & ~remaining.exists()
        jobs += connection.execute(delete(JOBS).where(ended, unanswered)).rowcount
    return {"jobs": jobs, "plans": plans}


def _delete_all_but(connection: Connection, project: str, plans_max: int) -> int:
    newest = select(PLANS.c.digest).where(PLANS.c.project == project).order_by(PLANS.c.created.desc()).limit(plans_max)
    there = connection.execute(select(func.count()).select_from(PLANS).where(PLANS.c.project == project)).scalar_one()
    if there <= plans_max:
        return 0
    return connection.execute(delete(PLANS).where(PLANS.c.project == project, PLANS.c.digest.not_in(newest))).rowcount
