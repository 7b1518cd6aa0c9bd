"""Sheets by the hundred: what the queue adds to the processor time of each, and whether its workers ever wait."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import SCRIPT, Figure, server_process

from planner.service.plan_jobs import RenderedPlan, run_plan_job, warm_up
from planner.service.plan_questions import PlanQuestion, QuestionDigests, describe_job
from planner.service.store import JobRecord, ServiceStore, open_store
from planner.service.uploads import Upload

SHEETS = int(os.environ.get("PLANNER_BATCH_SHEETS", "60"))
"""2,000 for a release: a night's work, done in minutes."""
COMPARED = max(1, SHEETS // 200)
"""Of so many sheets, one is planned in one process, too, and compared."""
WORKERS = os.cpu_count() or 1
WARMING = 6
"""Sheets before those that count: each worker process has started and read the catalogue."""
QUERY = {"as_of": ["2026-11-21"], "months": ["12"], "start": ["2026-12"]}
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class QueuedSheets:
    """What the queue took: processor seconds of all processes, those that ended included, seconds by the clock, and the
    seconds in which no worker had a sheet. `digests`: of the plans, by sheet."""

    processor: float
    wall: float
    idle: float
    again: int
    digests: Mapping[int, str]


def sheet(number: int) -> Upload:
    rows = "".join(f"w{row},{name},{100 + 0.3 * number + row:.1f},2\n" for row, name in enumerate(("L4", "T4", "A10G")))
    return Upload(f"name,accelerator,hours per month,gpus\n{rows}".encode(), "review.csv", is_file=True)


def batch() -> Iterator[Figure]:
    """Processor time of a sheet in one process, and through the queue of `planner worker` with a worker killed in the
    middle: what it takes on a machine with nothing else to do, however crowded this one is."""
    warm_up()
    for number in range(WARMING):
        run_plan_job(sheet(-1 - number), QUERY, "json")
    began, digests = time.process_time(), dict[int, str]()
    for number in range(0, SHEETS, COMPARED):
        answer = run_plan_job(sheet(number), QUERY, "json")
        assert isinstance(answer, RenderedPlan), answer
        digests[number] = answer.digest
    serial = (time.process_time() - began) / len(digests)
    yield Figure(f"{len(digests)} sheets in one process, each", 1000 * serial, unit="ms")
    queued = queue_sheets()
    each = queued.processor / SHEETS
    yield Figure(
        f"  {SHEETS} through the queue to {WORKERS} workers, each", 1000 * each, each / serial, "one process", 1 / 0.9
    )
    waits = queued.idle / SHEETS
    yield Figure("  a worker's wait for its next sheet", 1000 * waits, waits / serial, "the sheet", 0.1)
    rate = SHEETS / queued.wall
    load = f"{WORKERS} cores x one process, at a load of {os.getloadavg()[1]:.1f}"
    yield Figure(
        "  by the clock, sheets a minute", 60 * rate, rate * serial / WORKERS, load, 0.9, at_most=False, unit=""
    )
    yield Figure(f"  a worker killed, {queued.again} begun again; missing", SHEETS - len(queued.digests), unit="")
    wrong = sum(queued.digests.get(number) != digest for number, digest in digests.items())
    yield Figure(f"  different from one process, of {len(digests)} compared", wrong, unit="")


def queue_sheets() -> QueuedSheets:
    """The sheets through the queue; in the middle, the worker that has worked most is killed."""
    with TemporaryDirectory() as folder:
        url, digests = f"sqlite:///{folder}/store", QuestionDigests()
        store = open_store(url)

        def add(number: int) -> str:
            question = PlanQuestion(sheet(number), QUERY)
            digest = digests.digest(question)
            job = describe_job("default", question, digest, digests.catalogue, 0, "", True)
            return store.jobs.add(job, waits=False).id

        workers = ("--workers", str(WORKERS))
        with server_process(SCRIPT, "worker", *workers, "--store", url, serves=False) as (_, process):
            for number in range(WARMING):
                add(-1 - number)
            wait_for(store, 0)
            before = processor_seconds(process)
            jobs = [add(number) for number in range(SHEETS)]
            wait_for(store, SHEETS // 2)
            kill_busiest_worker(process)
            wait_for(store, 0)
            took = processor_seconds(process) - before
        runs = {number: run for number, each in enumerate(jobs) if (run := store.jobs.find("default", each))}
        store.close()
        return describe_runs(runs, took)


def describe_runs(runs: Mapping[int, JobRecord], processor: float) -> QueuedSheets:
    wall = max(run.finished or 0 for run in runs.values()) - min(run.started or 0 for run in runs.values())
    busy = sum((run.finished or 0) - (run.started or 0) for run in runs.values())
    again = sum(run.attempts > 1 for run in runs.values())
    done = {number: run.plan_digest for number, run in runs.items() if run.state == "done"}
    return QueuedSheets(processor, wall, max(0.0, WORKERS * wall - busy), again, done)


def wait_for(store: ServiceStore, open_jobs: int) -> None:
    while store.jobs.count_open() > open_jobs:
        time.sleep(0.2)


def kill_busiest_worker(process: int) -> None:
    os.kill(max(children_of(process), key=processor_seconds), signal.SIGKILL)


def processor_seconds(process: int) -> float:
    """Of a process and those below it, with those that it has waited for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS + sum(map(processor_seconds, children_of(process)))


def children_of(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]
