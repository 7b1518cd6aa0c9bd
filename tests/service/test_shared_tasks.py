"""Plans that are made again, shared over the queue and over a real Dask scheduler: the same bytes as by one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import planner
from planner.analysis.risk.replan_tasks import write_request
from planner.application.dask_tasks import DaskTasks
from planner.application.shared_tasks import VERSION, TaskRunner, answer_shared_task, share_tasks
from planner.request.models import parse_request
from planner.service.limits import ServiceLimits
from planner.service.plan_jobs import RenderedPlan, run_plan_job
from planner.service.plan_questions import PlanQuestion, QuestionDigests, describe_job
from planner.service.queue import JobRunner
from planner.service.queue.queue_tasks import QueueTasks
from planner.service.store.tasks import task_id
from planner.service.uploads import Upload
from tests.golden.cases import REQUESTS

DRAWS = 40
QUESTION = {
    "as_of": "2026-11-21",
    "months": 12,
    "risk": {"draws": 100, "reoptimise": DRAWS},
    "workloads": [{"name": "training", "demand": {"accelerator_hours_per_month": 6000, "accelerator": "H100"}}],
}
UPLOAD = Upload(json.dumps(QUESTION).encode())


@pytest.fixture(scope="module")
def alone() -> str:
    """The digest of the plan as one process makes it."""
    return plan_digest(None)


def plan_digest(runner: TaskRunner | None) -> str:
    with share_tasks(runner):
        answer = run_plan_job(UPLOAD, {}, "json")
    assert isinstance(answer, RenderedPlan), answer
    return answer.digest


def until(met: Callable[[], bool]) -> None:
    while not met():
        time.sleep(0.02)


def until_while_open(store, job: str, met: Callable[[], bool]) -> None:
    """Fails where the job ends before: a fast machine ends it soon."""
    while not met():
        assert store.jobs.find("default", job).is_open or met(), "the job has ended"
        time.sleep(0.005)


@pytest.fixture
def queued(store) -> str:
    """The id of the job of the question, in the queue for long ones."""
    asked, digests = PlanQuestion(UPLOAD, {}), QuestionDigests()
    job = describe_job("default", asked, digests.digest(asked), digests.catalogue, 0, "", True)
    return store.jobs.add(job, waits=False).id


@contextmanager
def replica(store, **limits) -> Iterator[JobRunner]:
    made = JobRunner(store, ServiceLimits(**{"workers": 1, "lease_seconds": 2, **limits}), lambda _: None)
    made.start()
    try:
        yield made
    finally:
        made.close()


def helped(store) -> bool:
    """Whether a task of another worker than that of its job is done, or begun."""
    with store.engine.connect() as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM tasks WHERE attempts > 0").scalar_one() > 0


@pytest.mark.one_in(2)
def test_idle_workers_help_and_the_plan_is_the_same(store, queued, alone):
    """One replica has the job; the worker of the other has nothing else to do."""
    with replica(store), replica(store):
        until_while_open(store, queued, lambda: helped(store))
        until(lambda: not store.jobs.find("default", queued).is_open)
    job = store.jobs.find("default", queued)
    assert (job.state, job.plan_digest, job.reusable) == ("done", alone, True)
    assert not store.tasks.is_any_free()


@pytest.mark.slow
def test_a_helper_that_is_killed_loses_nothing(store, queued, alone):
    with replica(store) as first, replica(store) as second:
        until_while_open(store, queued, lambda: helped(store))
        owner = store.jobs.find("default", queued).owner
        helper = second if owner == first.owner else first
        until_while_open(store, queued, helper.worker_processes)
        until_while_open(store, queued, lambda: store.tasks.leased(helper.owner))
        os.kill(helper.worker_processes()[0], signal.SIGKILL)
        until(lambda: not store.jobs.find("default", queued).is_open)
    job = store.jobs.find("default", queued)
    assert (job.state, job.attempts, job.plan_digest) == ("done", 1, alone)


@pytest.mark.slow
def test_a_plan_whose_worker_is_killed_goes_on_from_the_tasks_that_are_done(store, queued, alone):
    with replica(store) as only:
        until_while_open(store, queued, lambda: count_outcomes(store) > 0)
        done = count_outcomes(store)
        [process] = only.worker_processes()
        os.kill(process, signal.SIGKILL)
        until_while_open(store, queued, lambda: store.jobs.find("default", queued).attempts == 2)
        assert count_outcomes(store) >= done > 0
        until(lambda: not store.jobs.find("default", queued).is_open)
    job = store.jobs.find("default", queued)
    assert (job.state, job.plan_digest) == ("done", alone)


def count_outcomes(store) -> int:
    with store.engine.connect() as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM tasks WHERE outcome IS NOT NULL").scalar_one()


@pytest.mark.one_in(2)
def test_a_cancelled_plan_ends_its_tasks(store, queued):
    with replica(store), replica(store):
        until_while_open(store, queued, lambda: helped(store))
        assert store.jobs.cancel("default", queued)
        until(lambda: count_tasks(store) == 0)
    assert not store.tasks.is_any_free()


def count_tasks(store) -> int:
    with store.engine.connect() as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM tasks").scalar_one()


def test_tasks_of_other_prices_and_versions_are_left_to_who_has_them(store, queued):
    store.jobs.claim("worker", ["long"], 60)
    for number, (prices, version) in enumerate((("a", "1"), ("b", "1"), ("a", "2"))):
        document = f"task {number}"
        identity = task_id(queued, prices, version, document)
        store.tasks.add(queued, {identity: document}, prices, version, None)
    assert store.tasks.claim("helper", "a", "1", 60, 3).document == "task 0"
    assert store.tasks.claim("helper", "a", "1", 60, 3) is None
    assert {store.tasks.claim_own(queued).document for _ in range(2)} == {"task 1", "task 2"}
    assert answer_shared_task("{}", "other prices", VERSION, None) is None
    assert answer_shared_task("{}", QuestionDigests().catalogue, "0.0.1", None) is None


def test_a_helper_that_has_failed_often_leaves_a_task_to_its_asker(store, queued):
    store.jobs.claim("worker", ["long"], 60)
    store.tasks.add(queued, {"id": "task"}, "a", "1", None)
    for _ in range(2):
        assert store.tasks.claim("helper", "a", "1", 60, 2).id == "id"
        store.tasks.hand_back("helper", "id")
    assert store.tasks.claim("helper", "a", "1", 60, 2) is None
    assert store.tasks.claim_own(queued).id == "id"


def test_nobody_helps_with_a_job_that_does_not_run(store, queued):
    store.tasks.add(queued, {"id": "task"}, "a", "1", None)
    assert store.tasks.claim("helper", "a", "1", 60, 3) is None
    store.jobs.claim("worker", ["long"], 60)
    assert store.tasks.claim("helper", "a", "1", 60, 3).id == "id"
    assert store.tasks.leased("helper") == {"id"}
    store.jobs.cancel("default", queued)
    assert store.tasks.leased("helper") == set()
    store.tasks.delete_ended(queued)
    assert count_tasks(store) == 0


@pytest.mark.parametrize("line", REQUESTS.read_text(encoding="utf-8").splitlines(), ids=lambda line: line[:40])
def test_a_request_is_the_same_after_its_way_to_another_process(line):
    """Every request that is recorded: what a helper reads is what it would have been here."""
    request = parse_request({"as_of": "2026-11-21", **json.loads(line)["request"]})
    document = write_request(request)
    assert document is not None
    assert parse_request(json.loads(document)) == request


@contextmanager
def dask_process(command: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    words = [sys.executable, "-m", f"distributed.cli.dask_{command}", *arguments]
    process = subprocess.Popen(words, stdout=quiet, stderr=quiet)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def scheduler(tmp_path) -> Iterator[tuple[str, Path]]:
    """The URL of a Dask scheduler, and the file by which its workers find it."""
    file = tmp_path / "scheduler.json"
    place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with dask_process("scheduler", *place):
        until(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        yield json.loads(file.read_text())["address"], file


@contextmanager
def dask_workers(scheduler: tuple[str, Path], count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    url, file = scheduler
    place = ("--scheduler-file", str(file), "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    with ExitStack() as ending:
        folders = [file.parent / f"worker {number}" for number in range(count)]
        options = [("--local-directory", str(folder)) for folder in folders]
        started = [ending.enter_context(dask_process("worker", *place, *each)) for each in options]
        with client_of(url) as client:
            client.wait_for_workers(count)
        yield started


@contextmanager
def client_of(url: str) -> Iterator[object]:
    from distributed import Client

    with Client(url, set_as_default=False) as client:
        yield client


def test_a_plan_over_dask_is_the_same(scheduler, alone):
    with dask_workers(scheduler, 2):
        assert plan_digest(DaskTasks(scheduler[0])) == alone
        with client_of(scheduler[0]) as client:
            assert client.run_on_scheduler(count_scheduler_tasks) == 0


def count_scheduler_tasks(dask_scheduler) -> int:
    return len(dask_scheduler.tasks)


@pytest.mark.slow
def test_a_dask_worker_that_is_killed_loses_nothing(scheduler, alone):
    done: list[int] = []
    with dask_workers(scheduler, 2) as (first, _):

        def runner(tasks, terms, here, tell):
            def kill_in_the_middle(count: int) -> None:
                done.append(count)
                if count >= len(tasks) // 2 and first.poll() is None:
                    first.kill()
                    first.wait()
                tell(count)

            return DaskTasks(scheduler[0])(tasks, terms, here, kill_in_the_middle)

        assert plan_digest(runner) == alone
        assert first.poll() is not None
    assert DRAWS in done


@pytest.mark.slow
def test_without_workers_a_plan_is_made_here(scheduler, alone):
    assert plan_digest(DaskTasks(scheduler[0])) == alone


def test_without_a_scheduler_a_plan_is_made_here(alone, caplog, monkeypatch):
    monkeypatch.setattr("planner.application.dask_tasks.CONNECT_SECONDS", 1.0)
    assert plan_digest(DaskTasks("tcp://127.0.0.1:9")) == alone
    assert "cannot be reached" in caplog.text


@pytest.mark.slow
def test_a_service_with_a_scheduler_asks_it_and_cancels_there(scheduler, store, queued, alone):
    with dask_workers(scheduler, 1), client_of(scheduler[0]) as client:
        with replica(store, dask=scheduler[0]):
            until(lambda: client.run_on_scheduler(count_scheduler_tasks) > 1)
            assert count_tasks(store) == 0
            store.jobs.cancel("default", queued)
            until(lambda: client.run_on_scheduler(count_scheduler_tasks) == 0)
        again = store.jobs.add(
            describe_job("default", PlanQuestion(UPLOAD, {}), "again", QuestionDigests().catalogue, 0, "", True),
            waits=False,
        )
        with replica(store, dask=scheduler[0]):
            until(lambda: not store.jobs.find("default", again.id).is_open)
    assert store.jobs.find("default", again.id).plan_digest == alone


def test_without_its_store_a_plan_is_made_by_one_worker(tmp_path, alone, caplog):
    gone = f"sqlite:///{tmp_path / 'no folder' / 'store.sqlite'}"
    assert plan_digest(QueueTasks(gone, "job")) == alone
    assert "does not answer" in caplog.text


@pytest.mark.slow
def test_scenarios_over_dask_are_the_same(scheduler):
    """A sweep: eight variants of a request, of which some workers plan some."""
    variants = {f"{hours} hours": {"demand_factor": hours / 6000} for hours in range(3000, 11000, 1000)}
    without_risk = {name: value for name, value in QUESTION.items() if name != "risk"}
    here = planner.scenarios(without_risk, variants)
    with dask_workers(scheduler, 2):
        there = planner.scenarios(without_risk, variants, dask=scheduler[0])
        with client_of(scheduler[0]) as client:
            assert client.run_on_scheduler(count_transitions)
    assert list(there.results) == list(here.results)
    for name in variants:
        assert there[name].plan == here[name].plan


@pytest.mark.slow
def test_a_command_over_dask_prints_the_same(scheduler, tmp_path):
    request = tmp_path / "request.json"
    request.write_bytes(UPLOAD.data)
    command = [Path(sys.executable).with_name("planner"), "estimate", "--format", "json", str(request)]
    with dask_workers(scheduler, 1), client_of(scheduler[0]) as client:
        here = subprocess.run(command, capture_output=True, check=True)
        assert not client.run_on_scheduler(count_transitions)
        there = subprocess.run([*command, "--dask", scheduler[0]], capture_output=True, check=True)
        assert client.run_on_scheduler(count_transitions)
    assert there.stdout == here.stdout


def count_transitions(dask_scheduler) -> int:
    """Changes of state of tasks since the scheduler started."""
    return len(dask_scheduler.transition_log)
