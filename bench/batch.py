"""Sheets by the hundred: what the queue adds to the processor time of each, and whether its workers ever wait."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import SCRIPT, Figure, server_process

from planner.service.plan_jobs import RenderedPlan, run_plan_job, warm_up
from planner.service.plan_questions import PlanQuestion, QuestionDigests, describe_job
from planner.service.store import open_store
from planner.service.uploads import Upload

SHEETS = int(os.environ.get("PLANNER_BATCH_SHEETS", "60"))
WARMING = 6
"""Sheets before those that count: each worker process has started and read the catalogue."""
QUERY = {"as_of": ["2026-11-21"], "months": ["12"], "start": ["2026-12"]}
TICKS = os.sysconf("SC_CLK_TCK")


def sheet(number: int) -> Upload:
    rows = "".join(f"w{row},{name},{300 + number + row},2\n" for row, name in enumerate(("L4", "T4", "A10G")))
    return Upload(f"name,accelerator,hours per month,gpus\n{rows}".encode(), "review.csv", is_file=True)


def batch() -> Iterator[Figure]:
    """Processor time of a sheet in one process, and through the queue of `planner worker`: what it takes on a machine
    with nothing else to do, however crowded this one is."""
    warm_up()
    for number in range(WARMING):
        run_plan_job(sheet(-1 - number), QUERY, "json")
    began = time.process_time()
    for number in range(SHEETS):
        assert isinstance(run_plan_job(sheet(number), QUERY, "json"), RenderedPlan)
    serial = (time.process_time() - began) / SHEETS
    yield Figure(f"{SHEETS} sheets in one process, each", 1000 * serial, unit="ms")
    queued, idle = queue_sheets()
    yield Figure("  through the queue, each", 1000 * queued, queued / serial, "one process", 1 / 0.9)
    yield Figure("  a worker's wait for its next sheet", 1000 * idle, idle / serial, "the sheet", 0.1)


def queue_sheets() -> tuple[float, float]:
    """Processor seconds for each sheet, of all processes; and the median time from the end of a sheet to the start of
    the next."""
    with TemporaryDirectory() as folder:
        url, digests = f"sqlite:///{folder}/store", QuestionDigests()
        store = open_store(url)

        def add(number: int) -> str:
            question = PlanQuestion(sheet(number), QUERY)
            digest = digests.digest(question)
            job = describe_job("default", question, digest, digests.catalogue, 0, "", True)
            return store.jobs.add(job, waits=False).id

        def wait() -> None:
            while store.jobs.count_open():
                time.sleep(0.2)

        with server_process(SCRIPT, "worker", "--workers", "1", "--store", url, serves=False) as (_, process):
            for number in range(WARMING):
                add(-1 - number)
            wait()
            before = processor_seconds(process)
            jobs = [add(number) for number in range(SHEETS)]
            wait()
            took = (processor_seconds(process) - before) / SHEETS
        runs = sorted((done.started, done.finished) for each in jobs if (done := store.jobs.find("default", each)))
        waits = sorted(after[0] - ahead[1] for ahead, after in pairwise(runs))
        store.close()
        return took, max(0.0, waits[len(waits) // 2])


def processor_seconds(process: int) -> float:
    """Of a process and those below it, as far as they run."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    tasks = Path(f"/proc/{process}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return (int(fields[11]) + int(fields[12])) / TICKS + sum(map(processor_seconds, children))
