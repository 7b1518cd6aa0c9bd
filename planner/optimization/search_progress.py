"""How far the search for a plan has come, for those who wait for it, and the clock that may cut it off.

Both are set around a plan by a door. Neither changes the search: a deadline that is not reached changes nothing, and a
plan that it cuts off says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

LEAST_SECONDS = 0.2
"""What each further search has after the deadline: enough for small programs, so that most plans are still whole."""


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """`phase` is a strategy that is searched, or what follows. Present costs, None where nothing is known yet."""

    phase: str
    best: float | None = None
    bound: float | None = None


Listener = Callable[[SearchProgress], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)
_STRATEGY: ContextVar[str] = ContextVar("strategy", default="")


@contextmanager
def follow_search(listener: Listener, seconds: float = math.inf) -> Iterator[None]:
    """Within it, `listener` hears of progress, from any thread, and searches end after so many seconds."""
    heard, ends = _LISTENER.set(listener), _DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _LISTENER.reset(heard)
        _DEADLINE.reset(ends)


@contextmanager
def name_search(strategy: str) -> Iterator[None]:
    """Within it, bounds are reported as those of a strategy; those of other searches are of no plan in the answer."""
    token = _STRATEGY.set(strategy)
    try:
        yield
    finally:
        _STRATEGY.reset(token)


def report_phase(phase: str) -> None:
    """Report what is worked on."""
    if (listener := _LISTENER.get()) is not None:
        listener(SearchProgress(phase))


def bounds_listener() -> Callable[[float, float], None] | None:
    """A function that reports the best plan and the bound of the strategy that is searched; None if nobody listens."""
    listener, strategy = _LISTENER.get(), _STRATEGY.get()
    if listener is None or not strategy:
        return None

    def report(best: float, bound: float) -> None:
        listener(SearchProgress(strategy, _finite_or_none(best), _finite_or_none(bound)))

    return report


def seconds_left(limit: float) -> float:
    """The limit of a search, or what the deadline leaves of it."""
    return min(limit, max(LEAST_SECONDS, _DEADLINE.get() - time.monotonic()))


def _finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) and abs(value) < 1e100 else None
