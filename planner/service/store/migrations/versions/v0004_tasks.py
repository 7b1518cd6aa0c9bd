"""Parts of jobs that idle workers help with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("job", sa.String(32), nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        sa.Column("prices", sa.String(64), nullable=False),
        sa.Column("version", sa.String(32), nullable=False),
        sa.Column("deadline", sa.Float),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(128)),
        sa.Column("lease_end", sa.Float),
        sa.Column("outcome", sa.LargeBinary),
        sa.Column("created", sa.Float, nullable=False),
    )
    op.create_index("tasks_by_job", "tasks", ["job"])
    op.create_index("tasks_by_age", "tasks", ["created"])
