"""Backup of the store, and deletion of old rows."""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, Engine, Table, delete, func, insert, select

from planner.service.store.access_tables import AUDIT
from planner.service.store.engine import open_engine, sqlite_url, upgrade_tables
from planner.service.store.jobs import OPEN_STATES
from planner.service.store.review_tables import PRICE_SNAPSHOTS, READING_ANSWERS, REVIEW_LINKS, REVIEWS
from planner.service.store.schema import JOBS, PLANS, STORE_TABLES, TASKS

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
    """Delete everything older than so many days: reviews and answers that have not changed since, plans that no review
    needs, jobs that ended before, and prices that no plan was made with; and all but the newest plans of each project.
    Jobs whose plan is deleted go with it. How many rows of each table."""
    oldest = 0.0 if days is None else time.time() - days * SECONDS_PER_DAY
    with engine.begin() as connection:

        def drop(table: Table, *conditions: ColumnElement[bool]) -> int:
            return connection.execute(delete(table).where(*conditions)).rowcount

        reviews = drop(REVIEWS, REVIEWS.c.changed < oldest)
        drop(REVIEW_LINKS, REVIEW_LINKS.c.expires < time.time())
        drop(REVIEW_LINKS, REVIEW_LINKS.c.review.not_in(select(REVIEWS.c.id)))
        answers = drop(READING_ANSWERS, READING_ANSWERS.c.changed < oldest)
        plans = drop(PLANS, PLANS.c.created < oldest, ~_is_reviewed(PLANS))
        if plans_max is not None:
            plans += sum(
                _delete_all_but(connection, project, plans_max)
                for project in connection.execute(select(PLANS.c.project).distinct()).scalars().all()
            )
        ended = JOBS.c.state.not_in(OPEN_STATES)
        jobs = drop(JOBS, ended, JOBS.c.finished < oldest, ~_is_reviewed(JOBS))
        remaining = select(PLANS.c.digest).where(
            PLANS.c.project == JOBS.c.project, PLANS.c.digest == JOBS.c.plan_digest
        )
        jobs += drop(JOBS, ended, JOBS.c.plan_digest.is_not(None), ~remaining.exists())
        drop(TASKS, TASKS.c.job.not_in(select(JOBS.c.id).where(~ended)))
        drop(PRICE_SNAPSHOTS, PRICE_SNAPSHOTS.c.last_used < oldest, ~_is_in_use())
    return {"jobs": jobs, "plans": plans, "reviews": reviews, "answers": answers}


def _is_reviewed(table: Table) -> ColumnElement[bool]:
    """Whether a review of its project is of the plan of a row; its job is needed to plan it again."""
    same = (REVIEWS.c.project == table.c.project) & (REVIEWS.c.plan_id == table.c.plan_id)
    return select(REVIEWS.c.id).where(same).exists()


def _is_in_use() -> ColumnElement[bool]:
    """Whether a plan in the store was made with these prices."""
    return select(PLANS.c.digest).where(PLANS.c.catalogue_digest == PRICE_SNAPSHOTS.c.digest).exists()


def _delete_all_but(connection: Connection, project: str, plans_max: int) -> int:
    in_project = PLANS.c.project == project
    newest = select(PLANS.c.digest).where(in_project).order_by(PLANS.c.created.desc()).limit(plans_max)
    there = connection.execute(select(func.count()).select_from(PLANS).where(in_project)).scalar_one()
    if there <= plans_max:
        return 0
    old = delete(PLANS).where(in_project, PLANS.c.digest.not_in(newest), ~_is_reviewed(PLANS))
    return connection.execute(old).rowcount
