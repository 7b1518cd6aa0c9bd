"""Plans that were answered, as compressed JSON documents."""

from __future__ import annotations

import gzip
import time

from sqlalchemy import Engine, RowMapping, delete, insert, select, update

from planner.service.store.schema import PLANS
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """One plan: `compressed` is its JSON in gzip, as it can be sent; `digest` is that of the JSON."""

    project: str
    digest: str
    plan_id: str
    compressed: bytes
    catalogue_digest: str
    version: str

    @property
    def document(self) -> bytes:
        """The plan as JSON."""
        return gzip.decompress(self.compressed)


class PlanStore:
    """The plans of every project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, plan: StoredPlan) -> None:
        """Store a plan; one that is stored already becomes the newest of its id."""
        now = time.time()
        same = (PLANS.c.project == plan.project) & (PLANS.c.digest == plan.digest)
        with self._engine.begin() as connection:
            if connection.execute(update(PLANS).where(same).values(created=now)).rowcount:
                return
            connection.execute(
                insert(PLANS).values(
                    project=plan.project,
                    digest=plan.digest,
                    plan_id=plan.plan_id,
                    document=plan.compressed,
                    catalogue_digest=plan.catalogue_digest,
                    version=plan.version,
                    created=now,
                )
            )

    def find(self, project: str, identity: str) -> StoredPlan | None:
        """The plan of a digest, or the newest of a plan_id; None if the project has none."""
        named = (PLANS.c.digest == identity) | (PLANS.c.plan_id == identity)
        question = select(PLANS).where(PLANS.c.project == project, named).order_by(PLANS.c.created.desc()).limit(1)
        with self._engine.connect().execution_options(reads=True) as connection:
            row = connection.execute(question).mappings().first()
        return None if row is None else _read_plan(row)

    def delete(self, project: str, digest: str) -> None:
        """Delete a plan if it is there."""
        with self._engine.begin() as connection:
            connection.execute(delete(PLANS).where(PLANS.c.project == project, PLANS.c.digest == digest))


def _read_plan(row: RowMapping) -> StoredPlan:
    return StoredPlan(
        row["project"],
        row["digest"],
        row["plan_id"],
        row["document"],
        row["catalogue_digest"],
        row["version"],
    )
