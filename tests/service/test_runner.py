"""Jobs run by real services and workers on one store: restarts, crashes, signals, and no job lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from planner.service.limits import ServiceLimits
from planner.service.plan_questions import PlanQuestion, QuestionDigests, describe_job
from planner.service.queue import JobRunner
from planner.service.uploads import Upload

SCRIPT = Path(sys.executable).with_name("planner")
SHORT = {
    "as_of": "2026-11-21",
    "months": 2,
    "strategies": ["cloud"],
    "workloads": [{"name": "batch", "demand": {"accelerator_hours_per_month": 1460, "accelerator": "L4"}}],
}
LARGE = {
    "as_of": "2026-11-21",
    "months": 60,
    "workloads": [
        {"name": f"team {n}", "demand": {"accelerator_hours_per_month": 2000 + 700 * n, "accelerator": "H100"}}
        for n in range(40)
    ],
}
MIXED = {
    "as_of": "2026-11-21",
    "months": 36,
    "workloads": [
        {
            "name": f"team {n}",
            "demand": {
                "accelerator_hours_per_month": 1000 + 500 * n,
                "accelerator": ("H100", "L4", "A100-80GB")[n % 3],
            },
        }
        for n in range(16)
    ],
}
"""Its search takes seconds, and has a plan early."""
LEASE = 2


def question(document: dict, months: int) -> PlanQuestion:
    return PlanQuestion(Upload(json.dumps(document).encode()), {"months": [str(months)]})


def job_of(asked: PlanQuestion, limit: int = 30_000):
    digests = QuestionDigests()
    return describe_job("default", asked, digests.digest(asked), digests.catalogue, limit, "", True)


def until(met: Callable[[], bool]) -> None:
    """Waits for something that comes to pass unless the program is wrong; the test's runner ends one that does not."""
    while not met():
        time.sleep(0.05)


@contextmanager
def runner(store, **limits) -> Iterator[JobRunner]:
    made = JobRunner(store, ServiceLimits(**{"workers": 1, "lease_seconds": LEASE, **limits}), lambda _: None)
    made.start()
    try:
        yield made
    finally:
        made.close()


def start(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """A program in a group of its own; a pipe for what it prints would stop it once it is full."""
    return subprocess.Popen(
        [SCRIPT, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


@contextmanager
def program(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = start(arguments)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def children(process: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(text) for text in found.stdout.split()]


def test_a_plan_of_the_queue_is_stored(store):
    asked = store.jobs.add(job_of(question(SHORT, 2)), waits=False)
    with runner(store):
        until(lambda: not store.jobs.find("default", asked.id).is_open)
    ended = store.jobs.find("default", asked.id)
    assert (ended.state, ended.status, ended.reusable) == ("done", 200, True)
    document = json.loads(store.plans.find("default", ended.plan_digest).document)
    assert document["plan_id"] == ended.plan_id
    assert document["months"] == 2


@pytest.mark.slow
def test_a_job_whose_worker_is_killed_is_begun_again(store):
    asked = store.jobs.add(job_of(question(LARGE, 24), limit=0), waits=False)
    with runner(store, attempts=2) as made:
        until(lambda: store.jobs.find("default", asked.id).progress.phase != "")
        [busy] = made.worker_processes()
        os.kill(busy, signal.SIGKILL)
        until(lambda: store.jobs.find("default", asked.id).attempts == 2)
        until(lambda: store.jobs.find("default", asked.id).progress.phase != "")
        [busy] = made.worker_processes()
        os.kill(busy, signal.SIGKILL)
        until(lambda: not store.jobs.find("default", asked.id).is_open)
    ended = store.jobs.find("default", asked.id)
    assert (ended.state, ended.status) == ("failed", 500)
    assert "Traceback" not in ended.problem.decode()


@pytest.mark.slow
def test_a_short_plan_that_takes_long_makes_room_for_the_next(store):
    """One general worker, which has a long plan; the reserved one has a plan that takes long, and another waits."""
    long = store.jobs.add(job_of(question(LARGE, 23), limit=0), waits=False)
    with runner(store, short_seconds=0.3):
        until(lambda: store.jobs.find("default", long.id).state == "running")
        asked = store.jobs.add(job_of(question(LARGE, 60), limit=10**9), waits=False)
        assert asked.lane == "short"
        until(lambda: store.jobs.find("default", asked.id).progress.phase != "")
        waits = store.jobs.add(job_of(question(SHORT, 2)), waits=False)
        until(lambda: store.jobs.find("default", asked.id).lane == "long")
        until(lambda: store.jobs.find("default", waits.id).state == "done")
        assert store.jobs.cancel("default", asked.id)


@pytest.mark.slow
def test_a_short_plan_that_takes_long_goes_on_where_none_waits(store):
    asked = store.jobs.add(job_of(question(MIXED, 12), limit=10**9), waits=False)
    with runner(store, short_seconds=0.001):
        until(lambda: not store.jobs.find("default", asked.id).is_open)
    ended = store.jobs.find("default", asked.id)
    assert (ended.state, ended.lane, ended.attempts) == ("done", "short", 1)


@pytest.mark.one_in(2)
def test_a_cancelled_job_frees_its_worker(store):
    asked = store.jobs.add(job_of(question(LARGE, 24), limit=0), waits=False)
    with runner(store) as made:
        until(lambda: store.jobs.find("default", asked.id).progress.phase != "")
        [busy] = made.worker_processes()
        store.jobs.cancel("default", asked.id)
        until(lambda: not is_alive(busy))


@pytest.mark.slow
def test_what_ends_hands_back_what_it_runs(store):
    asked = store.jobs.add(job_of(question(LARGE, 24), limit=0), waits=False)
    with runner(store):
        until(lambda: store.jobs.find("default", asked.id).progress.phase != "")
    ended = store.jobs.find("default", asked.id)
    assert (ended.state, ended.attempts, ended.owner) == ("queued", 0, "")


@pytest.mark.slow
def test_a_plan_that_the_clock_cuts_is_an_answer_but_none_for_later(store):
    asked = store.jobs.add(job_of(question(MIXED, 36), limit=0), waits=False)
    with runner(store, seconds=0.001, grace_seconds=600):
        until(lambda: not store.jobs.find("default", asked.id).is_open)
    ended = store.jobs.find("default", asked.id)
    assert (ended.state, ended.reusable) == ("done", False)
    plan = json.loads(store.plans.find("default", ended.plan_digest).document)
    assert any(strategy["cut_by_clock"] for strategy in plan["strategies"])
    assert store.jobs.find_answer("default", ended.digest) is None


@pytest.mark.slow
def test_a_plan_past_its_grace_is_a_problem(store):
    asked = store.jobs.add(job_of(question(LARGE, 24), limit=0), waits=False)
    with runner(store, seconds=0.2, grace_seconds=0.2):
        until(lambda: not store.jobs.find("default", asked.id).is_open)
    ended = store.jobs.find("default", asked.id)
    assert (ended.state, ended.status) == ("failed", 504)


@pytest.mark.slow
def test_a_worker_takes_the_jobs_of_one_that_was_killed(store, store_url):
    """When it is killed, one plan is there at least, a large one is being made, and others wait."""
    large = store.jobs.add(job_of(question(LARGE, 40), limit=0), waits=False).id
    asked = [large, *(store.jobs.add(job_of(question(SHORT, months)), waits=False).id for months in range(3, 33))]
    limits = ("--store", store_url, "--workers", "1", "--lease-seconds", str(LEASE))
    with program("worker", *limits) as first:
        until(lambda: store.jobs.find("default", large).progress.phase != "" and store.jobs.count_in_state("done") > 0)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        with program("worker", *limits) as second:
            until(lambda: not any(store.jobs.find("default", each).is_open for each in asked))
            second.terminate()
            assert second.wait() == 0
    assert {store.jobs.find("default", each).state for each in asked} == {"done"}


@pytest.mark.slow
def test_workers_end_with_a_service_that_is_killed(store, store_url):
    asked = store.jobs.add(job_of(question(LARGE, 60), limit=0), waits=False)
    with program("worker", "--store", store_url, "--workers", "1") as service:
        until(lambda: store.jobs.find("default", asked.id).progress.phase != "")
        started = children(service.pid)
        assert started
        service.kill()
        service.wait()
        for each in started:
            until(
                lambda pid=each: (
                    not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()
                )
            )


@pytest.mark.slow
def test_a_service_that_is_terminated_answers_in_json_and_loses_no_job(store, store_url):
    port = free_port()
    arguments = ("serve", "--store", store_url, "--workers", "1", "--port", str(port))
    with program(*arguments) as service, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client:
        until(lambda: is_up(client))
        location = client.post("/v1/plans", json=LARGE).headers["location"]
        until(lambda: client.get(location).json()["state"] == "running")
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(client.post, "/plan", json=LARGE | {"months": 59})
            until(lambda: store.jobs.count_open() == 2)
            service.terminate()
            answer = waiting.result()
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["retry-after"]
        service.wait()
    with program(*arguments), httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client:
        until(lambda: is_up(client))
        until(lambda: client.get(location).json()["state"] == "running")
        assert client.get(answer.headers["location"]).json()["state"] == "queued"
        assert client.delete(location).status_code == 204


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_up(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False
