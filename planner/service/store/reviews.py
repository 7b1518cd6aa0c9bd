"""Reviews of plans, and the links by which others read them."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import asdict

from sqlalchemy import Engine, RowMapping, delete, insert, select, update

from planner.service.callers import Caller
from planner.service.store.review_tables import REVIEW_LINKS, REVIEWS
from pricing.frozen_values import dataclass

LISTED_MAX = 1000


@dataclass(frozen=True, slots=True)
class StoredReview:
    """A review: `state` is the moved figures, scenarios and edited cells as JSON; `version` counts its changes."""

    id: str
    project: str
    plan_id: str
    title: str
    state: str
    version: int
    author: str
    created: float
    changed: float


class ReviewStore:
    """The reviews of every project; methods that take a caller or a project see no other."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, caller: Caller, plan_id: str, title: str, state: str) -> StoredReview:
        """A new review of a plan."""
        now = time.time()
        review = StoredReview(secrets.token_hex(16), caller.project, plan_id, title, state, 1, caller.name, now, now)
        with self._engine.begin() as connection:
            connection.execute(insert(REVIEWS).values(**asdict(review)))
        return review

    def find(self, project: str, identity: str) -> StoredReview | None:
        """A review by its id."""
        question = select(REVIEWS).where(REVIEWS.c.project == project, REVIEWS.c.id == identity)
        with self._engine.connect().execution_options(reads=True) as connection:
            row = connection.execute(question).mappings().first()
        return None if row is None else _read_review(row)

    def list(self, project: str) -> list[StoredReview]:
        """The reviews of a project, those changed last first."""
        newest = select(REVIEWS).where(REVIEWS.c.project == project).order_by(REVIEWS.c.changed.desc())
        with self._engine.connect().execution_options(reads=True) as connection:
            return [_read_review(row) for row in connection.execute(newest.limit(LISTED_MAX)).mappings()]

    def change(self, review: StoredReview, plan_id: str, title: str, state: str) -> StoredReview | None:
        """The review with another plan, title and state; None if it is no longer there in this version."""
        same = (REVIEWS.c.project == review.project) & (REVIEWS.c.id == review.id)
        values = {
            "plan_id": plan_id,
            "title": title,
            "state": state,
            "version": review.version + 1,
            "changed": time.time(),
        }
        changed = update(REVIEWS).where(same, REVIEWS.c.version == review.version).values(values).returning(*REVIEWS.c)
        with self._engine.begin() as connection:
            row = connection.execute(changed).mappings().first()
        return None if row is None else _read_review(row)

    def delete(self, project: str, identity: str) -> bool:
        """Delete a review with its links; whether it was there."""
        with self._engine.begin() as connection:
            same = (REVIEWS.c.project == project) & (REVIEWS.c.id == identity)
            is_there = connection.execute(delete(REVIEWS).where(same)).rowcount > 0
            if is_there:
                connection.execute(delete(REVIEW_LINKS).where(REVIEW_LINKS.c.review == identity))
        return is_there

    def share(self, review: StoredReview, author: str, expires: float) -> str:
        """The secret of a new link, which no other method returns."""
        secret = secrets.token_urlsafe(32)
        values = {"digest": _digest_secret(secret), "project": review.project, "review": review.id, "author": author}
        with self._engine.begin() as connection:
            connection.execute(insert(REVIEW_LINKS).values(**values, created=time.time(), expires=expires))
        return secret

    def end_links(self, review: StoredReview) -> int:
        """End every link of a review; how many."""
        with self._engine.begin() as connection:
            return connection.execute(delete(REVIEW_LINKS).where(REVIEW_LINKS.c.review == review.id)).rowcount

    def find_shared(self, secret: str) -> StoredReview | None:
        """The review of a link that has not ended."""
        link = (REVIEW_LINKS.c.digest == _digest_secret(secret)) & (REVIEW_LINKS.c.expires > time.time())
        question = select(REVIEWS).join(REVIEW_LINKS, REVIEWS.c.id == REVIEW_LINKS.c.review).where(link)
        with self._engine.connect().execution_options(reads=True) as connection:
            row = connection.execute(question).mappings().first()
        return None if row is None else _read_review(row)


def _digest_secret(secret: str) -> str:
    """A secret of 256 random bits needs no slow hash (api_keys.py)."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _read_review(row: RowMapping) -> StoredReview:
    return StoredReview(**row)
