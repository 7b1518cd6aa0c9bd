"""The queue of plans to make, and the end of each. A job that runs is leased: whoever holds it renews the lease,
and one whose lease has ended may be claimed by another."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, delete, func, insert, or_, select, update

from planner.service.store.schema import JOBS
from pricing.frozen_values import dataclass

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
Lane = Literal["short", "long"]
OPEN_STATES: tuple[JobState, ...] = ("queued", "running")


@dataclass(frozen=True, slots=True)
class NewJob:
    """A question as it is queued: `body` in gzip, `query` as JSON; `digest` is equal for equal questions, `compare_to`
    the digest of an earlier plan, `idempotency_key` empty where there is none."""

    project: str
    kind: str
    body: bytes
    file_name: str
    is_file: bool
    answers: bytes
    query: str
    format: str
    compare_to: str
    digest: str
    catalogue_digest: str
    version: str
    lane: Lane
    effort: float
    durable: bool
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a search has come: present costs, None where nothing is known yet."""

    phase: str
    best: float | None = None
    bound: float | None = None


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a job ended: an HTTP status, with a problem document or with the digest of the plan and, unless that is
    JSON, its report."""

    state: JobState
    status: int
    problem: bytes = b""
    plan_id: str = ""
    plan_digest: str = ""
    report: bytes = b""
    media_type: str = ""
    reusable: bool = False
    gap: float | None = None
    """That of the plan to its bound, for the figures of the service; it is not stored."""


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A row of the queue without the bytes of its question."""

    id: str
    project: str
    format: str
    digest: str
    lane: Lane
    effort: float
    state: JobState
    attempts: int
    durable: bool
    waiters: int
    progress: JobProgress
    owner: str
    created: float
    started: float | None
    finished: float | None
    status: int
    problem: bytes
    plan_id: str
    plan_digest: str
    report: bytes
    media_type: str
    reusable: bool

    @property
    def is_open(self) -> bool:
        """Whether it waits or runs."""
        return self.state in OPEN_STATES


@dataclass(frozen=True, slots=True)
class LeasedJob:
    """A job that this owner runs, with its question."""

    record: JobRecord
    question: NewJob


class JobStore:
    """The jobs of every project. Methods that take a project see no other."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, project: str, identity: str) -> JobRecord | None:
        """A job by its id."""
        return self._find_newest(JOBS.c.project == project, JOBS.c.id == identity)

    def find_by_key(self, project: str, key: str) -> JobRecord | None:
        """The job that was sent with an idempotency key."""
        return self._find_newest(JOBS.c.project == project, JOBS.c.idempotency_key == key)

    def find_answer(self, project: str, digest: str) -> JobRecord | None:
        """The newest job with an answer to an equal question."""
        return self._find_newest(
            JOBS.c.project == project, JOBS.c.digest == digest, JOBS.c.state == "done", JOBS.c.reusable
        )

    def find_report(self, project: str, identity: str, format_name: str) -> JobRecord | None:
        """The newest job of an id or a plan_id that was answered in this format."""
        named = or_(JOBS.c.id == identity, JOBS.c.plan_id == identity)
        reported = JOBS.c.format == format_name, JOBS.c.report.is_not(None)
        return self._find_newest(JOBS.c.project == project, named, *reported)

    def find_question(self, project: str, identity: str) -> NewJob | None:
        """What the newest job of an id or a plan_id was asked for."""
        named = or_(JOBS.c.id == identity, JOBS.c.plan_id == identity)
        question = select(JOBS).where(JOBS.c.project == project, named).order_by(JOBS.c.created.desc()).limit(1)
        with self._engine.connect().execution_options(reads=True) as connection:
            row = connection.execute(question).mappings().first()
        return None if row is None else _read_question(row)

    def count_in_state(self, state: JobState, lane: Lane | None = None) -> int:
        """How many jobs of a lane, or of both, are in a state, in all projects."""
        question = select(func.count()).select_from(JOBS).where(JOBS.c.state == state)
        if lane is not None:
            question = question.where(JOBS.c.lane == lane)
        with self._engine.connect().execution_options(reads=True) as connection:
            return connection.execute(question).scalar_one()

    def count_open(self) -> int:
        """How many jobs wait or run."""
        question = select(func.count()).select_from(JOBS).where(JOBS.c.state.in_(OPEN_STATES))
        with self._engine.connect().execution_options(reads=True) as connection:
            return connection.execute(question).scalar_one()

    def add(self, job: NewJob, *, waits: bool) -> JobRecord:
        """Queue a job, or join the one of its idempotency key or an equal one that is open; `waits`: a connection waits
        for its answer."""
        equal: ColumnElement[bool] = (JOBS.c.digest == job.digest) & JOBS.c.state.in_(OPEN_STATES)
        if job.idempotency_key:
            equal = JOBS.c.idempotency_key == job.idempotency_key
        with self._engine.begin() as connection:
            row = connection.execute(select(JOBS.c.id).where(JOBS.c.project == job.project, equal).limit(1)).first()
            if row is not None:
                joined: dict[str, Any] = {"waiters": JOBS.c.waiters + int(waits)}
                if job.durable:
                    joined["durable"] = True
                stated = update(JOBS).where(JOBS.c.id == row.id).values(joined).returning(JOBS)
                return _read_record(connection.execute(stated).mappings().one())
            return _read_record(connection.execute(_insert_job(job, waits=waits)).mappings().one())

    def keep(self, identity: str) -> None:
        """Note that the answer may be read later."""
        self._update_where(JOBS.c.id == identity, values={"durable": True})

    def leave(self, identity: str, *, joined: bool = True) -> None:
        """One connection that had joined no longer waits; a job without any, and not durable, is cancelled."""
        with self._engine.begin() as connection:
            still = JOBS.c.id == identity, JOBS.c.state.in_(OPEN_STATES)
            connection.execute(update(JOBS).where(*still).values(waiters=JOBS.c.waiters - int(joined)))
            unwanted = JOBS.c.waiters <= 0, JOBS.c.durable.is_(False)
            ended = {"state": "cancelled", "finished": time.time(), "owner": None, "lease_end": None}
            connection.execute(update(JOBS).where(*still, *unwanted).values(ended))

    def cancel(self, project: str, identity: str) -> bool:
        """Cancel a job that is open; whether it was."""
        values = {"state": "cancelled", "finished": time.time(), "owner": None, "lease_end": None}
        return self._update_where(*_open_job(project, identity), values=values) > 0

    def delete(self, project: str, identity: str) -> None:
        """Delete a job that has ended."""
        with self._engine.begin() as connection:
            ended = JOBS.c.state.not_in(OPEN_STATES)
            connection.execute(delete(JOBS).where(JOBS.c.project == project, JOBS.c.id == identity, ended))

    def delete_answered(self, project: str, plan_digest: str) -> None:
        """Delete the jobs that a plan answers."""
        with self._engine.begin() as connection:
            connection.execute(delete(JOBS).where(JOBS.c.project == project, JOBS.c.plan_digest == plan_digest))

    def claim(self, owner: str, lanes: Collection[Lane], lease_seconds: float) -> LeasedJob | None:
        """The oldest job of these lanes that waits or whose lease has ended, now leased to `owner`."""
        now = time.time()
        lost = (JOBS.c.state == "running") & (JOBS.c.lease_end < now)
        free = select(JOBS.c.id).where(or_(JOBS.c.state == "queued", lost), JOBS.c.lane.in_(lanes))
        first = free.order_by(JOBS.c.created, JOBS.c.id).limit(1).with_for_update(skip_locked=True)
        lease = {
            "state": "running", "owner": owner, "lease_end": now + lease_seconds, "started": now,
            "attempts": JOBS.c.attempts + 1, "phase": "", "best": None, "bound": None,
        }  # fmt: skip
        claimed = update(JOBS).where(JOBS.c.id == first.scalar_subquery()).values(lease).returning(JOBS)
        with self._engine.begin() as connection:
            row = connection.execute(claimed).mappings().first()
        return None if row is None else LeasedJob(_read_record(row), _read_question(row))

    def renew(self, owner: str, identities: Sequence[str], lease_seconds: float) -> set[str]:
        """Renew the leases of running jobs; the ids of those that `owner` still holds."""
        leased = JOBS.c.id.in_(identities), JOBS.c.owner == owner, JOBS.c.state == "running"
        lease = {"lease_end": time.time() + lease_seconds}
        with self._engine.begin() as connection:
            return set(connection.execute(update(JOBS).where(*leased).values(lease).returning(JOBS.c.id)).scalars())

    def leased(self, owner: str) -> set[str]:
        """The ids of the jobs that `owner` runs less those that were cancelled or claimed by another."""
        question = select(JOBS.c.id).where(JOBS.c.owner == owner, JOBS.c.state == "running")
        with self._engine.connect().execution_options(reads=True) as connection:
            return set(connection.execute(question).scalars())

    def note_progress(self, owner: str, identity: str, progress: JobProgress) -> None:
        """Note how far a job has come."""
        values = {"phase": progress.phase, "best": progress.best, "bound": progress.bound}
        self._update_where(JOBS.c.id == identity, JOBS.c.owner == owner, values=values)

    def hand_back(self, owner: str, identity: str, *, lane: Lane | None = None, failed: bool = False) -> None:
        """Let others run a job: `failed` counts as an attempt; `lane` moves it to another lane."""
        values: dict[str, Any] = {"state": "queued", "owner": None, "lease_end": None, "phase": ""}
        if not failed:
            values["attempts"] = JOBS.c.attempts - 1
        if lane is not None:
            values["lane"] = lane
        self._update_where(JOBS.c.id == identity, JOBS.c.owner == owner, JOBS.c.state == "running", values=values)

    def end(self, owner: str, identity: str, end: JobEnd) -> bool:
        """End a job that `owner` holds; False if it no longer does."""
        values = {
            "state": end.state, "status": end.status, "problem": end.problem or None, "plan_id": end.plan_id or None,
            "plan_digest": end.plan_digest or None, "report": end.report or None, "media_type": end.media_type or None,
            "reusable": end.reusable, "finished": time.time(), "owner": None, "lease_end": None,
        }  # fmt: skip
        leased = JOBS.c.id == identity, JOBS.c.owner == owner, JOBS.c.state == "running"
        return self._update_where(*leased, values=values) > 0

    def _find_newest(self, *conditions: ColumnElement[bool]) -> JobRecord | None:
        question = select(JOBS).where(*conditions).order_by(JOBS.c.created.desc()).limit(1)
        with self._engine.connect().execution_options(reads=True) as connection:
            row = connection.execute(question).mappings().first()
        return None if row is None else _read_record(row)

    def _update_where(self, *conditions: ColumnElement[bool], values: Mapping[str, Any]) -> int:
        with self._engine.begin() as connection:
            return _update_jobs(connection, conditions, values)


def _update_jobs(connection: Connection, conditions: Sequence[ColumnElement[bool]], values: Mapping[str, Any]) -> int:
    return connection.execute(update(JOBS).where(*conditions).values(dict(values))).rowcount


def _open_job(project: str, identity: str) -> tuple[ColumnElement[bool], ...]:
    return JOBS.c.project == project, JOBS.c.id == identity, JOBS.c.state.in_(OPEN_STATES)


def _insert_job(job: NewJob, *, waits: bool) -> Any:
    stated = {name: getattr(job, name) for name in NewJob.__dataclass_fields__}
    stated |= {"idempotency_key": job.idempotency_key or None, "id": secrets.token_hex(16), "created": time.time()}
    begun = {"state": "queued", "attempts": 0, "waiters": int(waits), "reusable": False, "phase": ""}
    return insert(JOBS).values(stated | begun).returning(JOBS)


def _read_record(row: RowMapping) -> JobRecord:
    return JobRecord(
        id=row["id"],
        project=row["project"],
        format=row["format"],
        digest=row["digest"],
        lane=row["lane"],
        effort=row["effort"],
        state=row["state"],
        attempts=row["attempts"],
        durable=row["durable"],
        waiters=row["waiters"],
        progress=JobProgress(row["phase"], row["best"], row["bound"]),
        owner=row["owner"] or "",
        created=row["created"],
        started=row["started"],
        finished=row["finished"],
        status=row["status"] or 0,
        problem=row["problem"] or b"",
        plan_id=row["plan_id"] or "",
        plan_digest=row["plan_digest"] or "",
        report=row["report"] or b"",
        media_type=row["media_type"] or "",
        reusable=row["reusable"],
    )


def _read_question(row: RowMapping) -> NewJob:
    stated = {name: row[name] for name in NewJob.__dataclass_fields__}
    return NewJob(**stated | {"idempotency_key": row["idempotency_key"] or ""})
