"""Runs migrations on the connection that planner.service.store.engine hands over."""

from __future__ import annotations

from alembic import context

from planner.service.store.schema import STORE_TABLES

context.configure(connection=context.config.attributes["connection"], target_metadata=STORE_TABLES)
with context.begin_transaction():
    context.run_migrations()
