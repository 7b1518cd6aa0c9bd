"""The tables of the store, as the last migration leaves them.

Times are seconds since 1970 (UTC). Documents, bodies and reports are compressed with gzip.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

STORE_TABLES = MetaData()

JOBS = Table(
    "jobs",
    STORE_TABLES,
    Column("id", String(32), primary_key=True),
    Column("project", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("file_name", Text, nullable=False),
    Column("is_file", Boolean, nullable=False),
    Column("answers", LargeBinary, nullable=False),
    Column("query", Text, nullable=False),
    Column("format", String(32), nullable=False),
    Column("compare_to", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("catalogue_digest", String(64), nullable=False),
    Column("version", String(32), nullable=False),
    Column("lane", String(8), nullable=False),
    Column("effort", Float, nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("durable", Boolean, nullable=False),
    Column("waiters", Integer, nullable=False),
    Column("reusable", Boolean, nullable=False),
    Column("idempotency_key", String(256)),
    Column("phase", String(32), nullable=False),
    Column("best", Float),
    Column("bound", Float),
    Column("owner", String(128)),
    Column("lease_end", Float),
    Column("created", Float, nullable=False),
    Column("started", Float),
    Column("finished", Float),
    Column("status", Integer),
    Column("problem", LargeBinary),
    Column("plan_id", String(32)),
    Column("plan_digest", String(64)),
    Column("report", LargeBinary),
    Column("media_type", String(128)),
    Index("jobs_by_turn", "state", "lane", "created"),
    Index("jobs_by_question", "project", "digest"),
    Index("jobs_by_key", "project", "idempotency_key", unique=True),
    Index("jobs_by_end", "finished"),
)
"""Plans to make. `digest` is that of the question; `durable`: the answer may be read later, even if no
connection waits for it now; `reusable`: its answer may answer an equal question."""

PLANS = Table(
    "plans",
    STORE_TABLES,
    Column("project", String(64), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("plan_id", String(32), nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("catalogue_digest", String(64), nullable=False),
    Column("version", String(32), nullable=False),
    Column("created", Float, nullable=False),
    Index("plans_by_id", "project", "plan_id", "created"),
    Index("plans_by_age", "created"),
)
"""Answers. `digest` is that of the document."""

TASKS = Table(
    "tasks",
    STORE_TABLES,
    Column("id", String(64), primary_key=True),
    Column("job", String(32), nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("prices", String(64), nullable=False),
    Column("version", String(32), nullable=False),
    Column("deadline", Float),
    Column("attempts", Integer, nullable=False),
    Column("owner", String(128)),
    Column("lease_end", Float),
    Column("outcome", LargeBinary),
    Column("created", Float, nullable=False),
    Index("tasks_by_job", "job"),
    Index("tasks_by_age", "created"),
)
"""Parts of jobs that run, which idle workers help with: `id` is the digest of its job and its document, so that a job
that is begun again finds what is done. `prices` is the digest of the catalogue that its outcome depends on."""
