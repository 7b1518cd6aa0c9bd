"""Deletes old plans, reviews and records by the policy of the service, every hour."""

from __future__ import annotations

import logging
import threading

from sqlalchemy.exc import SQLAlchemyError

from planner.service.limits import ServiceLimits
from planner.service.store import ServiceStore
from planner.service.store.upkeep import prune_audit, prune_store

PRUNE_SECONDS = 3600.0
log = logging.getLogger("planner.service")


class RetentionSchedule:
    """A thread that prunes the store at its start and every hour, where the limits name anything to delete; several
    replicas may do so at once."""

    def __init__(self, store: ServiceStore, limits: ServiceLimits, seconds: float = PRUNE_SECONDS) -> None:
        self._store, self._limits, self._seconds = store, limits, seconds
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._prune_regularly, name="retention", daemon=True)

    def start(self) -> None:
        """Begin, if there is a policy."""
        limits = self._limits
        if (limits.retention_days, limits.retention_plans, limits.retention_audit_days) != (None, None, None):
            self._thread.start()

    def close(self) -> None:
        """End; a deletion that runs is finished first."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def _prune_regularly(self) -> None:
        while True:
            try:
                self._prune_once()
            except SQLAlchemyError:
                log.exception("old plans could not be deleted; the next try is in %g seconds", self._seconds)
            if self._closing.wait(self._seconds):
                return

    def _prune_once(self) -> None:
        limits, deleted = self._limits, dict[str, int]()
        if limits.retention_days is not None or limits.retention_plans is not None:
            deleted = prune_store(self._store.engine, limits.retention_days, limits.retention_plans)
        if limits.retention_audit_days is not None:
            deleted["acts"] = prune_audit(self._store.engine, limits.retention_audit_days)
        if any(deleted.values()):
            log.info("deleted by policy: %s", ", ".join(f"{count} {name}" for name, count in deleted.items()))
