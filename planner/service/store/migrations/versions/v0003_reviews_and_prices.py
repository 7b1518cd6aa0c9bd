"""Reviews with their links, answers to questions about files, and the prices in use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the four tables."""
    _create_reviews()
    op.create_table(
        "reading_answers",
        sa.Column("project", sa.String(64), primary_key=True),
        sa.Column("question", sa.String(300), primary_key=True),
        sa.Column("choice", sa.Text, nullable=False),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("changed", sa.Float, nullable=False),
    )
    op.create_index("reading_answers_by_age", "reading_answers", ["changed"])
    op.create_table(
        "price_snapshots",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("version", sa.String(32), nullable=False),
        sa.Column("oldest_price", sa.String(10), nullable=False),
        sa.Column("prices", sa.Integer, nullable=False),
        sa.Column("coverage", sa.Text, nullable=False),
        sa.Column("first_used", sa.Float, nullable=False),
        sa.Column("last_used", sa.Float, nullable=False),
    )
    op.create_index("price_snapshots_by_age", "price_snapshots", ["last_used"])


def _create_reviews() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("project", sa.String(64), nullable=False),
        sa.Column("plan_id", sa.String(32), nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("changed", sa.Float, nullable=False),
    )
    op.create_index("reviews_by_project", "reviews", ["project", "changed"])
    op.create_index("reviews_by_plan", "reviews", ["project", "plan_id"])
    op.create_table(
        "review_links",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("project", sa.String(64), nullable=False),
        sa.Column("review", sa.String(32), nullable=False),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("expires", sa.Float, nullable=False),
    )
    op.create_index("review_links_by_review", "review_links", ["review"])
