"""The record of who did what: plans made, read, downloaded and deleted, keys, and changes of prices."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Literal

from sqlalchemy import Engine, func, insert, select

from planner.service.callers import Caller
from planner.service.store.access_tables import AUDIT
from pricing.frozen_values import dataclass

AuditAction = Literal["plan", "read", "download", "delete", "share", "unshare", "key-create", "key-revoke", "prices"]


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One act. `subject` is what it concerned: the id of a plan, of a key, or a provider."""

    time: float
    project: str
    caller: str
    action: str
    subject: str
    request_id: str


class AuditLog:
    """The acts in every project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, caller: Caller, action: AuditAction, subject: str = "", request_id: str = "") -> None:
        """Record an act of now."""
        event = AuditEvent(time.time(), caller.project, caller.name, action, subject[:128], request_id)
        with self._engine.begin() as connection:
            connection.execute(insert(AUDIT).values(**asdict(event)))

    def count_since(self, caller: Caller, action: AuditAction, since: float) -> tuple[int, float]:
        """How often a caller did something since a time, and when it was first (`since` if never)."""
        question = select(func.count(), func.min(AUDIT.c.time)).where(
            AUDIT.c.project == caller.project,
            AUDIT.c.caller == caller.name,
            AUDIT.c.action == action,
            AUDIT.c.time >= since,
        )
        with self._engine.connect().execution_options(reads=True) as connection:
            count, first = connection.execute(question).one()
        return count, since if first is None else first

    def list(self, *, since: float = 0, project: str = "", limit: int = 1000) -> list[AuditEvent]:
        """The newest acts first, of one project or of all."""
        columns = [column for column in AUDIT.c if column.name != "id"]
        question = select(*columns).where(AUDIT.c.time >= since).order_by(AUDIT.c.id.desc()).limit(limit)
        if project:
            question = question.where(AUDIT.c.project == project)
        with self._engine.connect().execution_options(reads=True) as connection:
            return [AuditEvent(**row) for row in connection.execute(question).mappings()]
