"""The store as the service uses it: jobs and their tasks, plans, reviews, answers, prices in use, keys and audit."""

from __future__ import annotations

from sqlalchemy import Engine, text

from planner.service.store.api_keys import KeyStore
from planner.service.store.audit import AuditLog
from planner.service.store.jobs import JobStore
from planner.service.store.plans import PlanStore
from planner.service.store.price_snapshots import PriceSnapshotStore
from planner.service.store.reading_answers import AnswerStore
from planner.service.store.reviews import ReviewStore
from planner.service.store.tasks import TaskStore


class ServiceStore:
    """Everything in one database; its methods may be called from any thread."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.jobs = JobStore(engine)
        self.tasks = TaskStore(engine)
        self.plans = PlanStore(engine)
        self.keys = KeyStore(engine)
        self.audit = AuditLog(engine)
        self.reviews = ReviewStore(engine)
        self.answers = AnswerStore(engine)
        self.price_snapshots = PriceSnapshotStore(engine)

    def check_connection(self) -> None:
        """Raises sqlalchemy.exc.SQLAlchemyError if the store does not answer."""
        with self.engine.connect().execution_options(reads=True) as connection:
            connection.execute(text("SELECT 1"))

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()
