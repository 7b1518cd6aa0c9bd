"""The tables of reviews, answers and prices in use, as the last migration leaves them. Times are seconds since 1970."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, String, Table, Text

from planner.service.callers import NAME_LENGTH, PROJECT_LENGTH
from planner.service.store.schema import STORE_TABLES

TITLE_LENGTH, QUESTION_LENGTH = 200, 300

REVIEWS = Table(
    "reviews",
    STORE_TABLES,
    Column("id", String(32), primary_key=True),
    Column("project", String(PROJECT_LENGTH), nullable=False),
    Column("plan_id", String(32), nullable=False),
    Column("title", String(TITLE_LENGTH), nullable=False),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("author", String(NAME_LENGTH), nullable=False),
    Column("created", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Index("reviews_by_project", "project", "changed"),
    Index("reviews_by_plan", "project", "plan_id"),
)
"""Reviews of plans: `state` is the moved figures and the scenarios as JSON, `version` counts its changes."""

REVIEW_LINKS = Table(
    "review_links",
    STORE_TABLES,
    Column("digest", String(64), primary_key=True),
    Column("project", String(PROJECT_LENGTH), nullable=False),
    Column("review", String(32), nullable=False),
    Column("author", String(NAME_LENGTH), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Index("review_links_by_review", "review"),
)
"""Links by which anybody reads one review. The link itself is nowhere: `digest` is the SHA-256 of its secret."""

READING_ANSWERS = Table(
    "reading_answers",
    STORE_TABLES,
    Column("project", String(PROJECT_LENGTH), primary_key=True),
    Column("question", String(QUESTION_LENGTH), primary_key=True),
    Column("choice", Text, nullable=False),
    Column("author", String(NAME_LENGTH), nullable=False),
    Column("changed", Float, nullable=False),
    Index("reading_answers_by_age", "changed"),
)
"""The last answer of a project to each question about a file, proposed for the next file of its kind."""

PRICE_SNAPSHOTS = Table(
    "price_snapshots",
    STORE_TABLES,
    Column("digest", String(64), primary_key=True),
    Column("version", String(32), nullable=False),
    Column("oldest_price", String(10), nullable=False),
    Column("prices", Integer, nullable=False),
    Column("coverage", Text, nullable=False),
    Column("first_used", Float, nullable=False),
    Column("last_used", Float, nullable=False),
    Index("price_snapshots_by_age", "last_used"),
)
"""The prices in use: `digest` is the `catalogue_digest` of jobs and plans, `coverage` JSON."""
