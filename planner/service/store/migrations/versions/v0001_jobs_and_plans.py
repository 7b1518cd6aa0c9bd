"""Jobs and plans."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("project", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("file_name", sa.Text, nullable=False),
        sa.Column("is_file", sa.Boolean, nullable=False),
        sa.Column("answers", sa.LargeBinary, nullable=False),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("format", sa.String(32), nullable=False),
        sa.Column("compare_to", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("catalogue_digest", sa.String(64), nullable=False),
        sa.Column("version", sa.String(32), nullable=False),
        sa.Column("lane", sa.String(8), nullable=False),
        sa.Column("effort", sa.Float, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("durable", sa.Boolean, nullable=False),
        sa.Column("waiters", sa.Integer, nullable=False),
        sa.Column("reusable", sa.Boolean, nullable=False),
        sa.Column("idempotency_key", sa.String(256)),
        sa.Column("phase", sa.String(32), nullable=False),
        sa.Column("best", sa.Float),
        sa.Column("bound", sa.Float),
        sa.Column("owner", sa.String(128)),
        sa.Column("lease_end", sa.Float),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("started", sa.Float),
        sa.Column("finished", sa.Float),
        sa.Column("status", sa.Integer),
        sa.Column("problem", sa.LargeBinary),
        sa.Column("plan_id", sa.String(32)),
        sa.Column("plan_digest", sa.String(64)),
        sa.Column("report", sa.LargeBinary),
        sa.Column("media_type", sa.String(128)),
    )
    op.create_index("jobs_by_turn", "jobs", ["state", "lane", "created"])
    op.create_index("jobs_by_question", "jobs", ["project", "digest"])
    op.create_index("jobs_by_key", "jobs", ["project", "idempotency_key"], unique=True)
    op.create_index("jobs_by_end", "jobs", ["finished"])
    _create_plans()


def _create_plans() -> None:
    op.create_table(
        "plans",
        sa.Column("project", sa.String(64), primary_key=True),
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("plan_id", sa.String(32), nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("catalogue_digest", sa.String(64), nullable=False),
        sa.Column("version", sa.String(32), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
    )
    op.create_index("plans_by_id", "plans", ["project", "plan_id", "created"])
    op.create_index("plans_by_age", "plans", ["created"])
