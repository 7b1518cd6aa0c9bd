"""The tables of who may call and who did what, as the last migration leaves them. Times are seconds since 1970."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, String, Table

from planner.service.callers import NAME_LENGTH, PROJECT_LENGTH
from planner.service.store.schema import STORE_TABLES

API_KEYS = Table(
    "api_keys",
    STORE_TABLES,
    Column("id", String(16), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("project", String(PROJECT_LENGTH), nullable=False),
    Column("name", String(NAME_LENGTH), nullable=False),
    Column("scopes", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
)
"""Keys of callers. The key itself is nowhere: `digest` is its SHA-256."""

AUDIT = Table(
    "audit",
    STORE_TABLES,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("time", Float, nullable=False),
    Column("project", String(PROJECT_LENGTH), nullable=False),
    Column("caller", String(NAME_LENGTH), nullable=False),
    Column("action", String(16), nullable=False),
    Column("subject", String(128), nullable=False),
    Column("request_id", String(64), nullable=False),
    Index("audit_by_time", "time"),
    Index("audit_by_caller", "project", "caller", "action", "time"),
)
"""Who did what, and when; rows are only added, and end by the policy of retention."""
