"""Tasks of jobs that run: their asker adds them and works on them itself, and idle workers of any machine help."""

from __future__ import annotations

import gzip
import hashlib
import time
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, Engine, delete, func, insert, or_, select, update

from planner.service.store.schema import JOBS, TASKS
from pricing.frozen_values import dataclass

ASKER = "asker"
"""The owner of tasks that the worker of their job does itself."""


@dataclass(frozen=True, slots=True)
class SharedTask:
    """A task and what its outcome depends on; `deadline` is when its searches end."""

    id: str
    document: str
    prices: str
    version: str
    deadline: float | None


class TaskStore:
    """The tasks of every job."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, job: str, documents: Mapping[str, str], prices: str, version: str, deadline: float | None) -> None:
        """Offer tasks of a job by their ids. Outcomes of an earlier attempt at the job remain; what its asker had begun
        is free again."""
        with self._engine.begin() as connection:
            mine = TASKS.c.job == job, TASKS.c.outcome.is_(None)
            connection.execute(update(TASKS).where(*mine).values(deadline=deadline))
            connection.execute(update(TASKS).where(*mine, TASKS.c.owner == ASKER).values(owner=None, lease_end=None))
            known = set(connection.execute(select(TASKS.c.id).where(TASKS.c.job == job)).scalars())
            new = [
                {
                    "id": identity, "job": job, "document": gzip.compress(document.encode(), 1), "prices": prices,
                    "version": version, "deadline": deadline, "attempts": 0, "created": time.time(),
                }
                for identity, document in documents.items() if identity not in known
            ]  # fmt: skip
            if new:
                connection.execute(insert(TASKS), new)

    def claim_own(self, job: str) -> SharedTask | None:
        """A task of a job that nobody works on, for its asker, who holds it as long as the job."""
        return self._claim((TASKS.c.job == job,), {"owner": ASKER, "lease_end": None})

    def claim(
        self, owner: str, prices: str, version: str, lease_seconds: float, attempts_max: int
    ) -> SharedTask | None:
        """The oldest task that a helper with these prices may do, now leased to it."""
        running = select(JOBS.c.id).where(JOBS.c.id == TASKS.c.job, JOBS.c.state == "running")
        same = TASKS.c.prices == prices, TASKS.c.version == version
        lease = {"owner": owner, "lease_end": time.time() + lease_seconds, "attempts": TASKS.c.attempts + 1}
        return self._claim((*same, TASKS.c.attempts < attempts_max, running.exists()), lease)

    def is_any_free(self) -> bool:
        """Whether a helper may find a task."""
        question = select(TASKS.c.id).where(_is_free()).limit(1)
        with self._engine.connect().execution_options(reads=True) as connection:
            return connection.execute(question).first() is not None

    def end(self, identity: str, outcome: str) -> None:
        """Store an outcome, unless there is one: all are equal."""
        with self._engine.begin() as connection:
            open_task = TASKS.c.id == identity, TASKS.c.outcome.is_(None)
            done = {"outcome": outcome.encode(), "owner": None, "lease_end": None}
            connection.execute(update(TASKS).where(*open_task).values(done))

    def hand_back(self, owner: str, identity: str) -> None:
        """Let others do a task that was not done."""
        with self._engine.begin() as connection:
            held = TASKS.c.id == identity, TASKS.c.owner == owner
            connection.execute(update(TASKS).where(*held).values(owner=None, lease_end=None))

    def renew(self, owner: str, identities: Collection[str], lease_seconds: float) -> None:
        """Renew the leases of a helper."""
        with self._engine.begin() as connection:
            held = TASKS.c.id.in_(identities), TASKS.c.owner == owner
            connection.execute(update(TASKS).where(*held).values(lease_end=time.time() + lease_seconds))

    def leased(self, owner: str) -> set[str]:
        """The ids of the tasks that a helper works on, less those that nobody needs any more."""
        running = select(JOBS.c.id).where(JOBS.c.id == TASKS.c.job, JOBS.c.state == "running")
        question = select(TASKS.c.id).where(TASKS.c.owner == owner, running.exists())
        with self._engine.connect().execution_options(reads=True) as connection:
            return set(connection.execute(question).scalars())

    def count_done(self, identities: Collection[str]) -> int:
        """How many of these tasks have an outcome."""
        question = select(func.count()).where(TASKS.c.id.in_(identities), TASKS.c.outcome.is_not(None))
        with self._engine.connect().execution_options(reads=True) as connection:
            return connection.execute(question).scalar_one()

    def outcomes(self, identities: Collection[str]) -> Mapping[str, str]:
        """The outcomes of these tasks by their ids, of those that have one."""
        question = select(TASKS.c.id, TASKS.c.outcome).where(TASKS.c.id.in_(identities), TASKS.c.outcome.is_not(None))
        with self._engine.connect().execution_options(reads=True) as connection:
            return {identity: outcome.decode() for identity, outcome in connection.execute(question)}

    def delete_ended(self, job: str) -> None:
        """Delete the tasks of a job, unless it is open."""
        with self._engine.begin() as connection:
            still = select(JOBS.c.id).where(JOBS.c.id == job, JOBS.c.state.in_(("queued", "running")))
            connection.execute(delete(TASKS).where(TASKS.c.job == job, ~still.exists()))

    def _claim(self, conditions: Sequence[ColumnElement[bool]], lease: Mapping[str, object]) -> SharedTask | None:
        free = select(TASKS.c.id).where(_is_free(), *conditions).order_by(TASKS.c.created, TASKS.c.id)
        first = free.limit(1).with_for_update(skip_locked=True).scalar_subquery()
        claimed = update(TASKS).where(TASKS.c.id == first).values(dict(lease)).returning(TASKS)
        with self._engine.begin() as connection:
            row = connection.execute(claimed).mappings().first()
        if row is None:
            return None
        document = gzip.decompress(row["document"]).decode()
        return SharedTask(row["id"], document, row["prices"], row["version"], row["deadline"])


def _is_free() -> ColumnElement[bool]:
    nobody = or_(TASKS.c.owner.is_(None), TASKS.c.lease_end < time.time())
    return TASKS.c.outcome.is_(None) & nobody


def task_id(job: str, prices: str, version: str, document: str) -> str:
    """The id of a task: equal for equal tasks of one job."""
    return hashlib.sha256(f"{job}\n{prices}\n{version}\n{document}".encode()).hexdigest()
