"""Keys by which programs call the service.

A key is gpk_ID_SECRET. The secret is 256 random bits, so its SHA-256 is enough to store: a slow hash protects what
people choose, since it can be guessed; nobody guesses 256 random bits, and a slow hash would cost every request.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Iterable

from sqlalchemy import Engine, RowMapping, insert, select, update

from planner.service.callers import Caller, Scope, parse_scopes
from planner.service.store.access_tables import API_KEYS
from pricing.frozen_values import dataclass

KEY_FORM = re.compile(r"gpk_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key without its secret."""

    id: str
    digest: str
    project: str
    name: str
    scopes: frozenset[Scope]
    created: float
    expires: float | None
    revoked: float | None

    def is_valid(self, now: float) -> bool:
        """Whether it opens anything at a time."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    @property
    def caller(self) -> Caller:
        """Whom it stands for."""
        return Caller(self.project, self.name, self.scopes)


class KeyStore:
    """The keys of every project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create(self, project: str, name: str, scopes: Iterable[Scope], expires: float | None) -> tuple[str, ApiKey]:
        """A new key: its text, which is never shown again, and what is stored of it."""
        identity = secrets.token_hex(6)
        text = f"gpk_{identity}_{secrets.token_urlsafe(32)}"
        key = ApiKey(identity, _digest_key(text), project, name, frozenset(scopes), time.time(), expires, None)
        with self._engine.begin() as connection:
            connection.execute(
                insert(API_KEYS).values(
                    id=key.id,
                    digest=key.digest,
                    project=project,
                    name=name,
                    scopes=" ".join(sorted(key.scopes)),
                    created=key.created,
                    expires=expires,
                    revoked=None,
                )
            )
        return text, key

    def find(self, text: str) -> ApiKey | None:
        """The valid key of a text, None if there is none."""
        form = KEY_FORM.fullmatch(text)
        if form is None:
            return None
        with self._engine.connect().execution_options(reads=True) as connection:
            row = connection.execute(select(API_KEYS).where(API_KEYS.c.id == form[1])).mappings().first()
        if row is None or not hmac.compare_digest(row["digest"], _digest_key(text)):
            return None
        key = _read_key(row)
        return key if key.is_valid(time.time()) else None

    def list(self) -> list[ApiKey]:
        """All keys by project and name, the oldest first."""
        question = select(API_KEYS).order_by(API_KEYS.c.project, API_KEYS.c.name, API_KEYS.c.created)
        with self._engine.connect().execution_options(reads=True) as connection:
            return [_read_key(row) for row in connection.execute(question).mappings()]

    def revoke(self, identity: str) -> ApiKey | None:
        """End a key now; None if there is none that has not ended so."""
        open_key = (API_KEYS.c.id == identity) & API_KEYS.c.revoked.is_(None)
        with self._engine.begin() as connection:
            question = update(API_KEYS).where(open_key).values(revoked=time.time()).returning(*API_KEYS.c)
            row = connection.execute(question).mappings().first()
        return None if row is None else _read_key(row)


def _digest_key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read_key(row: RowMapping) -> ApiKey:
    return ApiKey(
        row["id"],
        row["digest"],
        row["project"],
        row["name"],
        parse_scopes(row["scopes"].split()),
        row["created"],
        row["expires"],
        row["revoked"],
    )
