"""A plan with 200 re-optimised draws: by one process, by idle workers of the queue, and by workers of Dask."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from batch import processor_seconds, wait_for
from measure import SCRIPT, Figure, server_process

from planner.application.dask_tasks import DaskTasks, run_on_dask
from planner.application.shared_tasks import TaskRunner, answer_shared_task, share_tasks
from planner.service.plan_jobs import RenderedPlan, run_plan_job, warm_up
from planner.service.plan_questions import PlanQuestion, QuestionDigests, describe_job
from planner.service.store import open_store
from planner.service.uploads import Upload

DRAWS = 200
WORKERS = os.cpu_count() or 1
EMPTY_TASKS = 500
QUESTION = {
    "as_of": "2026-11-21",
    "months": 12,
    "risk": {"draws": 1000, "reoptimise": DRAWS},
    "workloads": [
        {"name": name, "demand": {"accelerator_hours_per_month": 6000, "accelerator": name}} for name in ("H100", "L4")
    ],
}
UPLOAD = Upload(json.dumps(QUESTION).encode())


@dataclass(frozen=True)
class Taken:
    """What one plan took, by the clock and of processors, and its digest."""

    wall: float
    processor: float
    digest: str


def shared() -> Iterator[Figure]:
    """A plan with 200 draws planned again: by one process, by the queue and by Dask, each with a worker for a core."""
    warm_up()
    alone = plan_here(None)
    yield Figure(f"{DRAWS} draws by one process", 1000 * alone.wall)
    yield from compare("the queue", plan_over_queue(), alone)
    with dask_cluster() as url:
        began = time.perf_counter()
        run_on_dask(url, abs, [(1,)], abs, lambda _: None)
        yield Figure("Dask: to connect and do one task", 1000 * (time.perf_counter() - began))
        began = time.perf_counter()
        calls = [("{}", "", "no version", None)] * EMPTY_TASKS
        run_on_dask(url, answer_empty, calls, lambda _: "", lambda _: None)
        yield Figure("Dask: an empty task", 1000 * (time.perf_counter() - began) / EMPTY_TASKS)
        yield from compare("Dask", plan_here(DaskTasks(url)), alone)


def answer_empty(*task: str) -> str:
    return answer_shared_task(*task) or ""


def compare(name: str, taken: Taken, alone: Taken) -> Iterator[Figure]:
    load = f"of one process, at a load of {os.getloadavg()[0]:.1f}"
    yield Figure(f"{DRAWS} draws over {name}, {WORKERS} workers", 1000 * taken.wall, taken.wall / alone.wall, load)
    yield Figure("  processor time of all", 1000 * taken.processor, taken.processor / alone.processor, "of one process")
    yield Figure("  answers that differ", float(taken.digest != alone.digest), unit="")


def plan_here(runner: TaskRunner | None) -> Taken:
    """The plan by this process and those below it with a runner."""
    before, began = processor_seconds(os.getpid()), time.perf_counter()
    with share_tasks(runner):
        answer = run_plan_job(UPLOAD, {}, "json")
    assert isinstance(answer, RenderedPlan)
    took = time.perf_counter() - began
    return Taken(took, processor_seconds(os.getpid()) - before, answer.digest)


def plan_over_queue() -> Taken:
    with TemporaryDirectory() as folder:
        url, digests = f"sqlite:///{folder}/store", QuestionDigests()
        store = open_store(url)

        def add(months: str) -> str:
            asked = PlanQuestion(UPLOAD, {"months": [months]})
            job = describe_job("default", asked, digests.digest(asked), digests.catalogue, 0, "", True)
            return store.jobs.add(job, waits=False).id

        limits = ("--workers", str(WORKERS), "--seconds", "600")
        with server_process(SCRIPT, "worker", *limits, "--store", url, serves=False) as (_, process):
            for months in range(1, 1 + WORKERS):  # each worker has started
                add(str(months))
            wait_for(store, 0)
            before = processor_seconds(process)
            job = add("12")
            wait_for(store, 0)
            took = processor_seconds(process) - before
        run = store.jobs.find("default", job)
        store.close()
        assert run is not None
        return Taken((run.finished or 0) - (run.started or 0), took, run.plan_digest)


@contextmanager
def dask_cluster() -> Iterator[str]:
    """The URL of a scheduler with a worker for each core."""
    from distributed import Client

    with TemporaryDirectory() as folder, ExitStack() as ending:
        file = Path(folder) / "scheduler.json"
        of = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file))

        def start(name: str, *more: str) -> None:
            words = (sys.executable, "-m", f"distributed.cli.dask_{name}", *of, *more)
            ending.enter_context(server_process(*words, serves=False))

        start("scheduler", "--port", "0")
        wait_until(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        for number in range(WORKERS):
            own = ("--nthreads", "1", "--no-nanny", "--local-directory", str(Path(folder) / f"worker {number}"))
            start("worker", *own)
        url = json.loads(file.read_text())["address"]
        with Client(url, set_as_default=False) as client:
            client.wait_for_workers(WORKERS)
            client.run(warm_up)
        yield url


def wait_until(met: Callable[[], bool]) -> None:
    while not met():
        time.sleep(0.05)
