"""The store of the service: jobs and plans, in SQLite or PostgreSQL. Every row belongs to a project."""

from planner.service.store.engine import default_store_url, open_store
from planner.service.store.jobs import JobProgress, JobRecord, NewJob
from planner.service.store.service_store import ServiceStore

__all__ = ["JobProgress", "JobRecord", "NewJob", "ServiceStore", "default_store_url", "open_store"]
