"""How times and memory are taken, and how a figure is told: each a ratio of medians inside one run, beside its goal."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx

HERE = Path(__file__).parent
ROOT = HERE.parent
SCRIPT = Path(sys.executable).with_name("planner")
USUAL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Where it is set, Python compiles all of our modules at every start, which no user's does."""
COLD_RUNS, WARM_RUNS, LOAD_RUNS = 11, 15, 60


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table; `goal` bounds `ratio` from above (`at_most`) or from below."""

    name: str
    amount: float
    ratio: float | None = None
    against: str = ""
    goal: float | None = None
    at_most: bool = True
    unit: str = "ms"

    def line(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:.1f}x {self.against}"
        if self.goal is None or self.ratio is None:
            return f"{self.name:58}{self.amount:10.1f} {self.unit:3}  {ratio}"
        off = self.ratio / self.goal if self.at_most else self.goal / self.ratio
        verdict = "reached" if off <= 1 else f"missed by {off:.2f}x"
        sign = "<=" if self.at_most else ">="
        return f"{self.name:58}{self.amount:10.1f} {self.unit:3}  {ratio:32}goal {sign} {self.goal:g}x: {verdict}"


def timed(work: Callable[[], object]) -> float:
    """Milliseconds that one call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def medians(works: Sequence[Callable[[], object]], runs: int) -> list[float]:
    """The median of each, run in turns so that a slow moment of the machine meets all of them."""
    for work in works:
        work()
    times = [[timed(work) for work in works] for _ in range(runs)]
    return [median(column) for column in zip(*times, strict=True)]


def processor_times(works: Sequence[Callable[[], object]], runs: int) -> list[float]:
    """Milliseconds of processor time, user and system, of the processes that each starts: the least of many, in turns.

    What else this machine does counts less in it than in the time that passes.
    """

    def used(work: Callable[[], object]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        work()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000

    for work in works:
        work()
    return [min(column) for column in zip(*([used(work) for work in works] for _ in range(runs)), strict=True)]


def run(*command: str | Path) -> str:
    """What a command prints; an exception where it fails."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT, env=USUAL).stdout


AT_EXIT = """import atexit, pathlib, sys
def tell():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")), file=sys.__stdout__)
atexit.register(tell)
"""
"""What a process tells of itself when it ends; what its parent is told counts the parent's own pages too."""


def peak(code: str, ends: int = 0, **more: str) -> float:
    """MiB at most in memory of a Python process that runs `code` and exits with `ends`; `more` is added to its
    environment."""
    words = [sys.executable, "-c", AT_EXIT + code]
    done = subprocess.run(words, cwd=ROOT, env=USUAL | more, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != ends:
        raise subprocess.CalledProcessError(done.returncode, words)
    return int(done.stdout.split()[-1]) / 1024


@contextmanager
def server(*command: str | Path) -> Iterator[str]:
    """The address of a server that runs meanwhile; PORT in the command is replaced by a free one."""
    with server_process(*command) as (address, _):
        yield address


@contextmanager
def server_process(*command: str | Path, serves: bool = True) -> Iterator[tuple[str, int]]:
    """The same with the id of its process; one that does not serve is not waited for."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    words = [str(part).replace("PORT", port) for part in command]
    nowhere = subprocess.DEVNULL
    running = subprocess.Popen(words, cwd=ROOT, env=USUAL, stdout=nowhere, stderr=nowhere)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300 if serves else 0):
            try:
                httpx.get(address)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address, running.pid
    finally:
        running.terminate()
        running.wait()
