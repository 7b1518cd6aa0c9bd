"""Migrations of the store, run by alembic."""
