"""The worker processes: what they do under load, past their time, and when they die."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from planner.service.worker_pool import BusyError, ServiceLimits, TooLongError, WorkerDiedError, WorkerPool

PATIENT = ServiceLimits(workers=1, seconds=600)
"""No call that is waited for takes so long, on any machine: starting a worker alone may take many seconds."""


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


def in_pool(limits: ServiceLimits, work: Callable[[WorkerPool], Coroutine[Any, Any, Any]]) -> Any:
    """What `work` gives; the pool is closed whatever happens."""

    async def whole() -> Any:
        pool = WorkerPool(limits, nothing)
        try:
            return await work(pool)
        finally:
            pool.close()

    return asyncio.run(whole())


def test_results_come_back_from_another_process():
    async def work(pool):
        return [await pool.run(double, 21), await pool.run(process)]

    doubled, worker = in_pool(PATIENT, work)
    assert doubled == 42
    assert worker != os.getpid()


@pytest.mark.slow
def test_a_worker_stays_and_is_used_again():
    async def work(pool):
        return [await pool.run(process) for _ in range(3)]

    assert len(set(in_pool(ServiceLimits(workers=4, seconds=600), work))) == 1


@pytest.mark.slow
def test_a_worker_past_its_time_is_replaced():
    async def work(pool):
        with pytest.raises(TooLongError):
            await pool.run(sleep_long)
        pool._limits = PATIENT
        return await pool.run(double, 1)

    assert in_pool(ServiceLimits(workers=1, seconds=0.2), work) == 2


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced():
    async def work(pool):
        first = await pool.run(process)
        with pytest.raises(WorkerDiedError):
            await pool.run(die)
        return first, await pool.run(process)

    first, second = in_pool(PATIENT, work)
    assert first != second


def test_too_many_waiting_are_turned_away():
    async def work(pool):
        working = [asyncio.ensure_future(pool.run(sleep_long)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await pool.run(double, 1)
        for each in working:
            each.cancel()
        return await asyncio.gather(*working, return_exceptions=True)

    ended = in_pool(ServiceLimits(workers=1, waiting=2, seconds=600), work)
    assert all(isinstance(each, asyncio.CancelledError) for each in ended)


@pytest.mark.slow
def test_a_client_that_gives_up_does_not_harm_the_pool():
    async def work(pool):
        await pool.run(process)
        impatient = asyncio.ensure_future(pool.run(time.sleep, 0.3))
        await asyncio.sleep(0.05)
        impatient.cancel()
        # The worker is at work for somebody who left: the next call waits for it and gets its own answer.
        return [await pool.run(double, number) for number in (1, 2)]

    assert in_pool(PATIENT, work) == [2, 4]


def test_workers_end_with_the_pool():
    async def work(pool):
        return await pool.run(process)

    worker = in_pool(PATIENT, work)
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def temporary(then: str) -> str:
    """Makes a temporary file; then waits, dies or tells where it is."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        {"wait": sleep_long, "die": die}.get(then, nothing)()
        return file.name


@pytest.mark.slow
def test_temporary_files_of_a_worker_go_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def work(pool):
        told = await pool.run(temporary, "tell")
        assert Path(told).is_relative_to(tmp_path)
        for then, ended in (("die", WorkerDiedError), ("wait", TooLongError)):
            await pool.run(nothing)  # started, so that a short limit is for the file and the wait alone
            pool._limits = ServiceLimits(workers=1, seconds=2) if then == "wait" else PATIENT
            with pytest.raises(ended):
                await pool.run(temporary, then)
            assert not list(tmp_path.iterdir())
        pool._limits = PATIENT
        return await pool.run(temporary, "tell")

    assert not Path(in_pool(PATIENT, work)).exists()
    assert not list(tmp_path.iterdir())
