"""Work done by a job over time: from lines that it prints, from a counter file, or from the hook it calls.

Everything becomes one kind of series, (seconds of the monotonic clock, units done so far), whatever its
source. A rate in a line applies since the line before.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from planner.request.errors import InputProblem

GROUPS = ("units", "total", "rate")
POINTS_MAX = 20_000
"""Beyond this every other point is dropped: what is kept are sums, so nothing is lost but fineness."""
LINE_BYTES_MAX = 1 << 16
HOOK_BYTES_MAX = 1 << 24
"""After this the file of the hook is emptied: a job of days must not fill a disk."""
FIRST_LINES_MAX = 5
TAIL_BYTES = 4096
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
NUMBER = re.compile(r"[-+]?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?|[-+]?\.\d+")


@dataclass(slots=True)
class WorkSeries:
    """Sums of work over time, in order; `dropped` counts values that went down or were no number."""

    points: list[tuple[float, float]] = field(default_factory=list)
    dropped: int = 0

    def add(self, at: float, total: float) -> None:
        """One more sum; one that goes down (a counter that starts again) is left out and counted."""
        last_at, last = self.points[-1] if self.points else (at, total)
        if total < last or at < last_at:
            self.dropped += 1
            return
        self.points.append((at, total))
        if len(self.points) > POINTS_MAX:
            del self.points[1:-1:2]

    @property
    def latest(self) -> float | None:
        """When there was progress last."""
        return self.points[-1][0] if self.points else None


class OutputLines:
    """Work read from the lines of the job's output by a regular expression with one group of GROUPS."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._kind = next(name for name in GROUPS if name in pattern.groupindex)
        self._rests: dict[int, bytes] = {}
        self._last_at: float | None = None
        self.series, self.matched, self.first = WorkSeries(), 0, list[str]()

    def feed(self, stream: int, data: bytes, at: float) -> None:
        """Bytes of one stream of the job, as they came."""
        text = self._rests.get(stream, b"") + data
        *lines, rest = re.split(rb"[\r\n]+", text)  # a progress bar writes over its line and never ends it
        self._rests[stream] = rest[-LINE_BYTES_MAX:]
        for line in lines:
            if line:
                self._add_line(ESCAPES.sub("", line[:LINE_BYTES_MAX].decode("utf-8", "replace")), at)

    def _add_line(self, line: str, at: float) -> None:
        if len(self.first) < FIRST_LINES_MAX:
            self.first.append(line)
        match = self._pattern.search(line)
        if match is None or match[self._kind] is None:
            return
        self.matched += 1
        value = parse_number(match[self._kind])
        if value is None or value < 0:
            self.series.dropped += 1
            return
        last = self.series.points[-1][1] if self.series.points else 0.0
        if self._kind == "total":
            self.series.add(at, value)
        elif self._kind == "units":
            self.series.add(at, last + value)
        else:
            self.series.add(at, last + value * (at - (self._last_at if self._last_at is not None else at)))
        self._last_at = at


class CounterFile:
    """Work read from a file with a count of the job: the last number of its last line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last_stamp = self._file_stamp()  # an earlier content is another job's
        self.series = WorkSeries()

    def _file_stamp(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except OSError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_size)

    def poll(self, now: float) -> None:
        """Read the count if it has changed; its time is that of the file, not that of the poll."""
        stamp = self._file_stamp()
        if stamp in {self._last_stamp, (0, 0)}:
            return
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, stamp[1] - TAIL_BYTES))
                numbers = NUMBER.findall(file.read(TAIL_BYTES).decode("utf-8", "replace").strip().rpartition("\n")[2])
        except OSError:
            return
        self._last_stamp = stamp
        value = parse_number(numbers[-1]) if numbers else None
        if value is None:
            self.series.dropped += 1
            return
        written = now - (time.time() - stamp[0] / 1e9)
        self.series.add(min(now, max(written, self.series.latest or written)), value)


class HookFile:
    """Work reported by calls of planner.measure.progress: the sums of all processes of the job, added up."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._read = 0
        self._rest = b""
        self._by_process: dict[int, float] = {}
        self.series = WorkSeries()

    def poll(self, now: float) -> None:  # noqa: ARG002  (as CounterFile: here the lines tell their time)
        """Read what was written since."""
        while data := os.read(self._file, 1 << 20):
            self._read += len(data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._add_line(line)
        if self._read > HOOK_BYTES_MAX:  # a line written meanwhile is lost; the next has its work in it
            os.ftruncate(self._file, 0)
            self._read = os.lseek(self._file, 0, os.SEEK_SET)
            self._rest = b""

    def _add_line(self, line: bytes) -> None:
        try:
            pid, nanoseconds, units = line.split()
            self._by_process[int(pid)] = float(units)
            at = int(nanoseconds) / 1e9
        except ValueError:
            self.series.dropped += 1
            return
        # Processes write one after the other, but not quite in the order of their clocks.
        self.series.add(max(at, self.series.latest or at), sum(self._by_process.values()))

    def close(self) -> None:
        os.close(self._file)


def parse_number(text: str) -> float | None:
    """The value of a number that may have separators of thousands; None where it is none.

    >>> parse_number("1,234.5"), parse_number("2e3"), parse_number("fast")
    (1234.5, 2000.0, None)
    """
    try:
        value = float(text.strip().replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return value if value - value == 0 else None


def compile_pattern(text: str) -> re.Pattern[str] | InputProblem:
    """The compiled expression, or its problem."""
    expected = "one named group of units (work of that line), total (so far) or rate (a second): (?P<units>[0-9.]+)"
    try:
        pattern = re.compile(text)
    except re.error as error:
        return InputProblem("", "--pattern", f"is no regular expression: {error}", text, expected)
    named = [name for name in GROUPS if name in pattern.groupindex]
    if len(named) != 1:
        return InputProblem("", "--pattern", f"{'several' if named else 'no'} groups of work", text, expected)
    return pattern
