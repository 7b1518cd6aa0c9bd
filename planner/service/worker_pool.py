"""A pool of worker processes for long computations, so that the event loop stays responsive.

Workers start on first use and stay warm. Only a worker that exceeds the time limit or dies is replaced. A worker
finishes its call even if the client has disconnected.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import TypeVar

from planner.inputs.file_reader import BYTES_MAX

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Limits of a service: parallel, queued and cached plans, seconds per plan, bytes of a request and of a file."""

    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    waiting: int = 64
    seconds: float = 120
    body_bytes: int = 4 * 2**20
    file_bytes: int = BYTES_MAX
    plans_kept: int = 64


class BusyError(Exception):
    """The queue is full."""


class TooLongError(Exception):
    """The time limit has passed; the worker was replaced."""


class WorkerDiedError(Exception):
    """The worker ended without an answer (killed, out of memory)."""


class WorkerPool:
    """`limits.workers` processes, each with at most one call at a time."""

    def __init__(self, limits: ServiceLimits, warm_up: Callable[[], object]) -> None:
        self._limits, self._waiting = limits, 0
        self._workers = [_Worker(warm_up) for _ in range(limits.workers)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()  # the warmest first
        for worker in self._workers:
            self._idle.put_nowait(worker)
        self._threads = ThreadPoolExecutor(limits.workers, "wait-for-worker")

    async def run(self, function: Callable[..., Result], *arguments: object) -> Result:
        """`function(*arguments)` in a worker, all picklable. Raises BusyError, TooLongError or
        WorkerDiedError."""
        if self._waiting >= self._limits.waiting:
            raise BusyError
        self._waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self._waiting -= 1
        call = asyncio.ensure_future(self._call_worker(worker, function, arguments))
        # Retrieves the exception even if no client waits: asyncio logs unretrieved ones.
        call.add_done_callback(lambda done: done.cancelled() or done.exception())
        # Shielded: a client that disconnects must not return a busy worker to the pool.
        return await asyncio.shield(call)

    async def _call_worker(
        self, worker: _Worker, function: Callable[..., Result], arguments: tuple[object, ...]
    ) -> Result:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, worker.call, function, arguments, self._limits.seconds)
        finally:
            self._idle.put_nowait(worker)

    def close(self) -> None:
        """End all workers, busy or not."""
        for worker in self._workers:
            worker.end(for_good=True)
        self._threads.shutdown(wait=True, cancel_futures=True)


class _Worker:
    """One process, started when first called. One thread calls at a time; another may end it meanwhile."""

    def __init__(self, warm_up: Callable[[], object]) -> None:
        self._warm_up = warm_up
        self._lock = threading.Lock()
        self._closed = False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None
        self._folder: tempfile.TemporaryDirectory[str]

    def call(self, function: Callable[..., Result], arguments: tuple[object, ...], seconds: float) -> Result:
        connection = self._connection or self._start_process()
        try:
            connection.send((function, arguments))
            if not connection.poll(seconds):
                raise TooLongError
            result: Result = connection.recv()
        except (EOFError, OSError) as error:
            self.end()
            raise WorkerDiedError from error
        except TooLongError:
            self.end()
            raise
        return result

    def _start_process(self) -> Connection:
        """Start the process with its own temporary folder, which is deleted with it even if it is killed."""
        context = multiprocessing.get_context("spawn")
        with self._lock:
            if self._closed:
                raise WorkerDiedError
            parent_end, child_end = context.Pipe()
            self._folder = tempfile.TemporaryDirectory(prefix="planner-serve-", ignore_cleanup_errors=True)
            arguments = (child_end, self._warm_up, self._folder.name)
            self._process = context.Process(target=_serve_calls, args=arguments, daemon=True)
            self._process.start()
            child_end.close()
            self._connection = parent_end
            return parent_end

    def end(self, *, for_good: bool = False) -> None:
        """End the process, busy or not; the next call starts another unless it was for good."""
        with self._lock:
            self._closed = self._closed or for_good
            process, self._process, connection, self._connection = self._process, None, self._connection, None
        if process is not None:
            process.kill()
            process.join()
            process.close()
            self._folder.cleanup()
        if connection is not None:
            connection.close()


def _serve_calls(connection: Connection, warm_up: Callable[[], object], folder: str) -> None:
    """Receive calls and send results until the other end closes."""
    os.environ["TMPDIR"] = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the service, which then ends its workers
    warm_up()
    gc.freeze()  # the catalogue lives until exit: the garbage collector need not scan it
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            function, arguments = connection.recv()
            connection.send(function(*arguments))
