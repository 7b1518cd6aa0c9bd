"""Reports the progress of a job: `from planner.measure import progress; progress(units)`.

Uses the standard library only, so that the file can be copied next to a job. Where
PLANNER_PROGRESS is not set (the job is not being measured) a call has no effect.

Each process appends lines `pid nanoseconds units` to the file that PLANNER_PROGRESS names: its own sum so far, by the
clock that all processes of a machine share. Ranks that each report their own work add up.
"""

from __future__ import annotations

import atexit
import os
import time

VARIABLE = "PLANNER_PROGRESS"
EVERY_NS = 10_000_000
"""Calls in between are added up and written with the next: a file of a hundred lines a second at most."""


class _Counter:
    """The sum of this process and the file it goes to; `file` is None where no measurement runs."""

    __slots__ = ("file", "total", "written_ns")

    def __init__(self) -> None:
        self.total, self.written_ns = 0.0, 0
        path = os.environ.get(VARIABLE)
        try:
            self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC) if path else None
        except OSError:  # the measurement is over or was made elsewhere: no reason for a job to fail
            self.file = None

    def write(self, now_ns: int) -> None:
        if self.file is None:
            return
        self.written_ns = now_ns
        try:
            os.write(self.file, b"%d %d %.17g\n" % (os.getpid(), now_ns, self.total))
        except OSError:
            self.file = None


_counter = _Counter()


def progress(units: float) -> None:
    """Report `units` more work since the last call, in the unit of the measurement."""
    counter = _counter
    if counter.file is None:
        return
    counter.total += units
    now_ns = time.monotonic_ns()
    if now_ns - counter.written_ns >= EVERY_NS:
        counter.write(now_ns)


def _write_at_exit() -> None:
    if _counter.total:
        _counter.write(time.monotonic_ns())


def _reset_in_child() -> None:
    """A forked process counts from zero: its parent reports the work before the fork."""
    _counter.total, _counter.written_ns = 0.0, 0


atexit.register(_write_at_exit)
os.register_at_fork(after_in_child=_reset_in_child)
