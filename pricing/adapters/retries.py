"""Calls that may fail for a while: tried again with growing pauses, inside one limit of time. Knows no SDK."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from pricing.errors import ProviderFailure

T = TypeVar("T")

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 20.0


class RetryBudget:
    """The time that is left to one refresh, shared by all its threads.

    `stop` ends every wait at once (Ctrl-C). Pauses double from `first_pause_s` and are shortened by chance (full
    jitter), so that threads that were throttled together do not come back together; what the server asks for
    (Retry-After) is kept to.
    """

    def __init__(self, seconds: float, first_pause_s: float = FIRST_PAUSE_S, stop: Event | None = None) -> None:
        self.seconds, self.first_pause_s = seconds, first_pause_s
        self.stop = stop or Event()
        self._ends = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._ends - time.monotonic())

    def call(self, what: Callable[[], T], judge: Callable[[Exception], ProviderFailure]) -> T:
        """The result of `what()`; `judge` says what an exception means. Raises the last Failed once it is not
        transient or the time is up; an interruption is a Failed too."""
        longest = self.first_pause_s
        while True:
            if self.stop.is_set():
                raise ProviderFailure("interrupted", "stopped before it was read")
            if not self.left_s:
                raise ProviderFailure("timed_out", f"not read within {self.seconds:g} s in all")
            try:
                return what()
            except Exception as error:  # noqa: BLE001 - the adapter's judge knows which are which
                failed = error if isinstance(error, ProviderFailure) else judge(error)
                cause = None if isinstance(error, ProviderFailure) else error
            pause = failed.retry_after_s or random.uniform(0, longest)  # noqa: S311 - nothing secret
            if not failed.transient or pause >= self.left_s:
                raise failed from cause
            self.stop.wait(pause)
            longest = min(2 * longest, LONGEST_PAUSE_S)
