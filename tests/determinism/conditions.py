"""The same commands at normal priority, at the lowest beside busy loops, and on a tenth of a processor.

Every process that is started here ends with it: commands by a limit of time, busy loops by a limit of their own, too.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from bench.portfolio import TEN, portfolio_document

SCRIPT = Path(sys.executable).with_name("planner")
FILES = ("plan.json", "plan.md", "plan.xlsx", "plan.focus.csv", "plan.zip")
SECONDS_MAX = 1_200
"""Of one command, and twice over of a busy loop."""
LOOP_NICENESS = 10
"""So that the scheduler gives a command of nice 19 about an eighth of a processor; beside loops of nice 0 it is a
hundredth. Niceness counts within a session only where the kernel groups processes by session, so commands and loops are
of one."""
BUSY_LOOP = f"import time\nend = time.monotonic() + {2 * SECONDS_MAX}\nwhile time.monotonic() < end: pass"


@dataclass(frozen=True)
class Condition:
    """How a command is run. `run_s` of each `cycle_s` it may run, the rest it is stopped; 0: it always may."""

    name: str
    hash_seed: str
    niceness: int = 0
    busy_loops: int = 0
    run_s: float = 0.0
    cycle_s: float = 0.1


NORMAL = Condition("normal priority", "0")
OTHERS = (
    Condition("nice 19 beside two busy loops of nice 10", "1", niceness=19, busy_loops=2),
    Condition("a tenth of a processor", "2", run_s=0.01),
)


@dataclass(frozen=True)
class Outcome:
    """What a command wrote, by checksum of each file; its time, and the time that processors worked for it."""

    content_digest: str
    files: dict[str, str]
    wall_s: float
    processor_s: float


def write_portfolios(folder: Path) -> list[Path]:
    """The ten portfolios, as requests."""
    paths = []
    for seed, (workloads, months) in enumerate(TEN, start=1):
        paths.append(folder / f"portfolio-{seed:02}.json")
        paths[-1].write_text(json.dumps(portfolio_document(workloads, months, seed)), encoding="utf-8")
    return paths


def plan_under(condition: Condition, request: Path, data: Path, target: Path) -> Outcome:
    """Plan a request by the command, every strategy and every format. `data` is the data folder, without prices."""
    target.mkdir(parents=True)
    outputs = [part for name in FILES for part in ("-o", str(target / name))]
    words = ["nice", "-n", str(condition.niceness), str(SCRIPT), "estimate", str(request), *outputs]
    environment = {**os.environ, "PYTHONHASHSEED": condition.hash_seed, "GPU_PLANNER_DATA": str(data)}
    before, began = _processor_seconds(), time.monotonic()
    with (target / "stderr").open("wb") as told:
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=told, process_group=0)
        try:
            _wait(process, condition)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        raise RuntimeError(f"{request.name}: exit code {process.returncode}: {(target / 'stderr').read_text()}")
    files = {name: sha256((target / name).read_bytes()).hexdigest() for name in FILES}
    digest = json.loads((target / "plan.json").read_text(encoding="utf-8"))["content_digest"]
    return Outcome(digest, files, time.monotonic() - began, _processor_seconds() - before)


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """So many busy loops, for as long as the block runs."""
    words = ["nice", "-n", str(LOOP_NICENESS), sys.executable, "-c", BUSY_LOOP]
    processes = [subprocess.Popen(words) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], condition: Condition) -> None:
    """Until the process ends; RuntimeError after SECONDS_MAX."""
    end = time.monotonic() + SECONDS_MAX
    while process.poll() is None:
        if time.monotonic() > end:
            raise RuntimeError(f"not ended after {SECONDS_MAX} seconds")
        time.sleep(condition.run_s or 0.05)
        if condition.run_s and process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGSTOP)
                time.sleep(condition.cycle_s - condition.run_s)
                os.killpg(process.pid, signal.SIGCONT)


def _processor_seconds() -> float:
    """Of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
