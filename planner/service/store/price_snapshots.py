"""The prices that plans were made with, by the digest of their catalogue."""

from __future__ import annotations

import json
import time
from typing import Any

from sqlalchemy import Engine, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from planner.service.store.review_tables import PRICE_SNAPSHOTS
from planner.service.store.schema import PLANS
from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class PriceSnapshot:
    """Prices in use: their digest, how many they are, the oldest, and how many by provider; `plans` in the store were
    made with them."""

    digest: str
    version: str
    oldest_price: str
    prices: int
    coverage: dict[str, int]
    first_used: float
    last_used: float
    plans: int = 0


class PriceSnapshotStore:
    """The prices that were in use."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self, digest: str, version: str, oldest_price: str, coverage: dict[str, int]) -> None:
        """Note that prices are in use now."""
        now, same = time.time(), PRICE_SNAPSHOTS.c.digest == digest
        values: dict[str, Any] = {
            "digest": digest, "version": version, "oldest_price": oldest_price, "prices": sum(coverage.values()),
            "coverage": json.dumps(coverage), "first_used": now, "last_used": now,
        }  # fmt: skip
        noted = update(PRICE_SNAPSHOTS).where(same).values(last_used=now)
        try:
            with self._engine.begin() as connection:
                if not connection.execute(noted).rowcount:
                    connection.execute(insert(PRICE_SNAPSHOTS).values(values))
        except IntegrityError:  # another replica has noted them meanwhile
            with self._engine.begin() as connection:
                connection.execute(noted)

    def list(self) -> list[PriceSnapshot]:
        """All prices that were in use, the last first."""
        made = select(PLANS.c.catalogue_digest, func.count().label("plans")).group_by(PLANS.c.catalogue_digest)
        counted = made.subquery()
        question = (
            select(PRICE_SNAPSHOTS, func.coalesce(counted.c.plans, 0).label("plans"))
            .outerjoin(counted, counted.c.catalogue_digest == PRICE_SNAPSHOTS.c.digest)
            .order_by(PRICE_SNAPSHOTS.c.last_used.desc())
        )
        with self._engine.connect().execution_options(reads=True) as connection:
            rows = connection.execute(question).mappings().all()
        return [PriceSnapshot(**{**row, "coverage": json.loads(row["coverage"])}) for row in rows]
