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

from pricing.frozen_values import dataclass

LEAST_SECONDS = 0.2
"""What each further search has after the deadline: enough for small programs, so that most plans are still whole."""


@dataclass(frozen=True, slots=True)
class SearchProgress:
    """`phase` is a strategy that is searched, or what follows. Present costs, None where nothing is known yet. `done`
    parts of `parts` of the phase, which has none where they are 0."""

    phase: str
    best: float | None = None
    bound: float | None = None
    done: int = 0
    parts: int = 0

    @property
    def words(self) -> str:
        """The phase, with how many of its parts are done.

        >>> SearchProgress("replanning", done=37, parts=200).words
        'replanning 37 of 200'
        """
        return f"{self.phase} {self.done} of {self.parts}" if self.parts else self.phase


@dataclass(slots=True)
class SearchClock:
    """The clock of a door: the seconds that it allows, when they have passed (`time.monotonic`), and whether any search
    was cut by it or by the solver's own limit."""

    seconds: float = math.inf
    deadline: float = math.inf
    has_cut: bool = False


Listener = Callable[[SearchProgress], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_CLOCK: ContextVar[SearchClock | None] = ContextVar("clock", default=None)
_STRATEGY: ContextVar[str] = ContextVar("strategy", default="")


@contextmanager
def follow_search(listener: Listener, seconds: float = math.inf) -> Iterator[SearchClock]:
    """Within it, `listener` hears of progress, from any thread, and searches end after so many seconds."""
    clock = SearchClock(seconds, time.monotonic() + seconds)
    heard, ends = _LISTENER.set(listener), _CLOCK.set(clock)
    try:
        yield clock
    finally:
        _LISTENER.reset(heard)
        _CLOCK.reset(ends)


@contextmanager
def name_search(strategy: str) -> Iterator[None]:
    """Within it, bounds are reported as those of a strategy; those of other searches are of no plan in the answer."""
    token = _STRATEGY.set(strategy)
    try:
        yield
    finally:
        _STRATEGY.reset(token)


def report_phase(phase: str, done: int = 0, parts: int = 0) -> None:
    """Report what is worked on, and how many of its parts are done."""
    if (listener := _LISTENER.get()) is not None:
        listener(SearchProgress(phase, done=done, parts=parts))


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
    clock = _CLOCK.get()
    return limit if clock is None else min(limit, max(LEAST_SECONDS, clock.deadline - time.monotonic()))


def note_cut() -> None:
    """Note that a search was cut off by its time."""
    if (clock := _CLOCK.get()) is not None:
        clock.has_cut = True


def seconds_allowed(limit: float) -> float:
    """The seconds of the clock that has run out: the door's, else `limit`, the solver's own."""
    clock = _CLOCK.get()
    return limit if clock is None or time.monotonic() < clock.deadline - LEAST_SECONDS else min(limit, clock.seconds)


def deadline_time() -> float | None:
    """When searches end, in seconds since 1970, for processes that search for this one; None: never."""
    clock = _CLOCK.get()
    if clock is None or not math.isfinite(clock.deadline):
        return None
    return time.time() + clock.deadline - time.monotonic()


def _finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) and abs(value) < 1e100 else None
