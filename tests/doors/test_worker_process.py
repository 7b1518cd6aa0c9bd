"""The worker processes: what they do past their time, when nobody wants the result, and when they die."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.service.queue.worker_process import (
    StoppedError,
    TooLongError,
    WorkerCall,
    WorkerDiedError,
    WorkerProcess,
)

PATIENT = 600


def nothing() -> None:
    """A worker that needs no warming up."""


def double(number: int) -> int:
    return 2 * number


def process() -> int:
    return os.getpid()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_long() -> None:
    time.sleep(600)


def count(number: int, report: Callable[[int], None]) -> str:
    for each in range(number):
        report(each)
    return "counted"


def start_worker() -> Iterator[WorkerProcess]:
    made = WorkerProcess(nothing)
    yield made
    made.end(for_good=True)


worker = pytest.fixture(start_worker, scope="module")
new_worker = pytest.fixture(start_worker)


def call(worker: WorkerProcess, function: Callable[..., Any], *arguments: object, seconds: float = PATIENT) -> Any:
    return worker.call(WorkerCall(function, arguments, seconds))


def test_results_come_back_from_another_process_that_stays(worker):
    assert call(worker, double, 21) == 42
    first = call(worker, process)
    assert first != os.getpid()
    assert call(worker, process) == first


def test_progress_comes_before_the_result(worker):
    seen: list[int] = []
    assert worker.call(WorkerCall(count, (3,), PATIENT, seen.append)) == "counted"
    assert seen == [0, 1, 2]


def test_a_worker_past_its_time_is_replaced(worker):
    first = call(worker, process)
    with pytest.raises(TooLongError):
        call(worker, sleep_long, seconds=0.2)
    assert call(worker, process) != first


@pytest.mark.slow
def test_a_worker_whose_result_is_not_needed_is_replaced(worker):
    first, wanted = call(worker, process), threading.Event()
    wanted.set()
    threading.Timer(0.3, wanted.clear).start()
    with pytest.raises(StoppedError):
        worker.call(WorkerCall(sleep_long, (), PATIENT, is_needed=wanted.is_set))
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    assert call(worker, process) != first


def test_a_worker_that_dies_is_replaced(worker):
    first = call(worker, process)
    with pytest.raises(WorkerDiedError):
        call(worker, die)
    assert call(worker, process) != first


def test_a_worker_that_is_ended_for_good_stays_ended(new_worker):
    first = call(new_worker, process)
    new_worker.end(for_good=True)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    with pytest.raises(WorkerDiedError):
        call(new_worker, process)


def temporary(then: str) -> str:
    """Makes a temporary file; then waits, dies or tells where it is."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        {"wait": sleep_long, "die": die}.get(then, nothing)()
        return file.name


def test_temporary_files_of_a_worker_go_with_it(tmp_path, monkeypatch, new_worker):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    told = call(new_worker, temporary, "tell")
    assert Path(told).is_relative_to(tmp_path)
    for then, ended, seconds in (("die", WorkerDiedError, PATIENT), ("wait", TooLongError, 1)):
        with pytest.raises(ended):
            call(new_worker, temporary, then, seconds=seconds)
        assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_listener_that_fails_does_not_hand_its_answer_to_the_next_call(worker):
    """By hand: the first call counts to 1 and fails where its progress is heard; the second doubles 21."""

    def fail(_: int) -> None:
        raise ConnectionRefusedError

    def fail_otherwise(_: int) -> None:
        raise ValueError("not noted")

    for listener, error in ((fail, WorkerDiedError), (fail_otherwise, ValueError)):
        with pytest.raises(error):
            worker.call(WorkerCall(count, (1,), PATIENT, listener))
        assert call(worker, double, 21) == 42
