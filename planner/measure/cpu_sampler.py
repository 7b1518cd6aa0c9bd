"""The CPU side of a sample, from /proc: the job's process tree and the machine. Linux; needs no rights.

The tree is the job's session and every descendant of it, also in sessions that descendants opened.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from planner.measure.telemetry_samples import CpuReading
from pricing.frozen_values import dataclass
from pricing.units import GIB

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
SEARCH_EVERY = 4
"""Samples between searches for new processes: the search reads every process of the machine."""


@dataclass(frozen=True, slots=True)
class Process:
    """One line of /proc/PID/stat; `own_seconds` is its CPU time, `waited_seconds` that of children that have ended."""

    pid: int
    parent: int
    session: int
    state: str
    started: int
    own_seconds: float
    waited_seconds: float
    memory_gib: float


@dataclass(frozen=True, slots=True)
class HostMachine:
    """The CPU, and how many of its processors a job may use."""

    name: str
    sockets: int
    cpus: int
    memory_gib: float


class JobCpuSampler:
    """Samples of the job whose first process is `pid`."""

    def __init__(self, pid: int) -> None:
        self._root = pid
        self._known: frozenset[int] = frozenset((pid,))
        self._samples = 0

    def tree(self) -> tuple[Process, ...]:
        """All processes of the job that live now."""
        processes = {process.pid: process for process in _all_processes()}
        return tuple(process for process in processes.values() if _belongs_to_job(process, self._root, processes))

    def pids(self) -> frozenset[int]:
        """The processes of the last search."""
        return self._known

    def sample(self) -> CpuReading:
        """Resources that the job and the machine have used so far."""
        if self._samples % SEARCH_EVERY == 0:
            processes = self.tree()
            self._known = frozenset(process.pid for process in processes)
        else:
            processes = tuple(process for pid in self._known if (process := process_of(pid)))
        self._samples += 1
        busy, wait = _machine_seconds()
        return CpuReading(
            job_seconds=sum(process.own_seconds + process.waited_seconds for process in processes),
            busiest_seconds=max((process.own_seconds for process in processes), default=0.0),
            processes=len(processes),
            runnable=sum(process.state == "R" for process in processes),
            blocked=sum(process.state == "D" for process in processes),
            job_memory_gib=sum(process.memory_gib for process in processes),
            machine_busy_seconds=busy,
            machine_wait_seconds=wait,
            memory_available_gib=_memory_gib("MemAvailable"),
        )


def process_of(pid: int) -> Process | None:
    """The process, or None where it is gone or may not be read."""
    try:
        line = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = line.rpartition(")")[2].split()  # the name in front may hold anything, spaces and brackets too
    user, system, waited_user, waited_system = (int(text) / TICKS for text in fields[11:15])
    return Process(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        state=fields[0],
        started=int(fields[19]),
        own_seconds=user + system,
        waited_seconds=waited_user + waited_system,
        memory_gib=int(fields[21]) * PAGE / GIB,
    )


def _all_processes() -> Iterator[Process]:
    for name in os.listdir(PROC):  # noqa: PTH208  (pathlib makes an object of each, twice a second)
        if name.isdecimal() and (process := process_of(int(name))):
            yield process


def _belongs_to_job(process: Process, root: int, processes: Mapping[int, Process]) -> bool:
    """Whether it is the job's first process, of its session, or a descendant (launchers open sessions for ranks)."""
    at: Process | None = process
    for _ in range(len(processes)):  # the listing is no snapshot: a circle of reused numbers must end too
        if at is None:
            return False
        if root in {at.session, at.pid}:
            return True
        at = processes.get(at.parent)
    return False


def describe_machine() -> HostMachine:
    """The processor's name as the kernel gives it, and how many of them this process may run on."""
    facts: dict[str, list[str]] = {}
    for line in _proc_lines("cpuinfo"):
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), []).append(value.strip())
    names = facts.get("model name") or facts.get("Model") or [os.uname().machine]
    sockets = len(set(facts.get("physical id", ["0"])))
    return HostMachine(names[0], sockets, min(len(os.sched_getaffinity(0)), _cpu_quota()), _memory_gib("MemTotal"))


def _cpu_quota() -> int:
    """Processors of a container's limit, rounded up; a large number where there is none (cgroup v2)."""
    try:
        allowed, _, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").partition(" ")
        return max(1, math.ceil(int(allowed) / int(period)))
    except (OSError, ValueError):
        return 1_000_000


def _machine_seconds() -> tuple[float, float]:
    """CPU time that all of the machine has spent working, and waiting for a disk while idle."""
    user, nice, system, _, wait, irq, softirq, steal = (
        int(text) / TICKS for text in _proc_lines("stat")[0].split()[1:9]
    )
    return user + nice + system + irq + softirq + steal, wait


def _memory_gib(key: str) -> float:
    values = (line.split()[1] for line in _proc_lines("meminfo") if line.startswith(f"{key}:"))
    return int(next(values, "0")) * 1024 / GIB


def _proc_lines(name: str) -> list[str]:
    return (PROC / name).read_text(encoding="utf-8", errors="replace").splitlines()
