"""Retries of failed calls with growing pauses, within one time limit. Knows no SDK."""

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
MAX_ATTEMPTS = 8
"""Attempts of one call that fails without being throttled: the pauses between them are at most 83.5 s together. A cloud
that is throttling answers sooner or later, so that only the time limit ends it."""


class RetryBudget:
    """The time limit of one refresh, shared by all its threads.

    `stop` ends every wait at once (Ctrl-C). Pauses double from `first_pause_s` and are shortened at random (full
    jitter), so that threads throttled together do not retry together. A Retry-After of the server is respected.
    """

    def __init__(self, seconds: float, first_pause_s: float = FIRST_PAUSE_S, stop: Event | None = None) -> None:
        self.seconds, self.first_pause_s = seconds, first_pause_s
        self.stop = stop or Event()
        self._ends = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._ends - time.monotonic())

    def call(self, function: Callable[[], T], classify: Callable[[Exception], ProviderFailure]) -> T:
        """The result of `function()`; `classify` turns its exceptions into failures.

        Raises the last failure if it is not transient or the time is up, and a failure of its own on interruption.
        """
        longest, attempt = self.first_pause_s, 0
        while True:
            attempt += 1
            if self.stop.is_set():
                raise ProviderFailure("interrupted", "stopped before it was read")
            if not self.left_s:
                raise ProviderFailure("timed_out", f"not read within {self.seconds:g} s in all")
            try:
                return function()
            except Exception as error:  # noqa: BLE001 - the adapter classifies all of them
                failed = error if isinstance(error, ProviderFailure) else classify(error)
                cause = None if isinstance(error, ProviderFailure) else error
            pause = failed.retry_after_s or random.uniform(0, longest)  # noqa: S311 - no secret
            is_last = attempt >= MAX_ATTEMPTS and failed.kind != "throttled"
            if not failed.transient or is_last or pause >= self.left_s:
                raise failed from cause
            self.stop.wait(pause)
            longest = min(2 * longest, LONGEST_PAUSE_S)
