"""Times of the store, seconds since 1970, as clients read them."""

from __future__ import annotations

from datetime import UTC, datetime


def to_time(seconds: float) -> datetime:
    """A time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)
