"""One process that computes calls, one at a time. It starts when first called and stays warm; one that exceeds its
time, is stopped or dies is replaced at the next call."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from pricing.frozen_values import dataclass

Result = TypeVar("Result")
LOW_PRIORITY = 10
"""Long plans add this to their niceness: short ones beside them have the processor first."""
CHECK_SECONDS = 0.2
"""How often a call that runs looks whether it is still needed."""

CYCLE_SEARCH_AFTER = 10_000
"""New objects after which a worker searches for cycles; Python's own default is 700. Plans leave none (a test)."""


class TooLongError(Exception):
    """The time limit has passed; the process was ended."""


class StoppedError(Exception):
    """The result is no longer needed; the process was ended."""


class WorkerDiedError(Exception):
    """The process ended without an answer (killed, out of memory)."""


@dataclass(frozen=True, slots=True)
class WorkerCall:
    """`function(*arguments)`, all picklable; with `on_progress` it has one more argument, a function that sends an
    object to `on_progress` here. `is_needed` ends it within CHECK_SECONDS once it is false. After `seconds` it ends
    unless `may_go_on`."""

    function: Callable[..., Any]
    arguments: tuple[object, ...]
    seconds: float
    on_progress: Callable[[Any], None] | None = None
    is_needed: Callable[[], bool] = lambda: True
    may_go_on: Callable[[], bool] = lambda: False


class WorkerProcess:
    """One process. One thread calls at a time; another may end it meanwhile."""

    def __init__(self, warm_up: Callable[[], object], *, low_priority: bool = False) -> None:
        self._warm_up, self._niceness = warm_up, LOW_PRIORITY if low_priority else 0
        self._lock = threading.Lock()
        self._closed = False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None
        self._folder: tempfile.TemporaryDirectory[str]

    @property
    def is_running(self) -> bool:
        """Whether the process has been started."""
        return self._connection is not None

    @property
    def identity(self) -> int:
        """The process id; 0 if it is not running."""
        process = self._process
        return (process.pid or 0) if process is not None else 0

    def start(self) -> Connection:
        """Start the process if it is not running, and wait until it is warm. Raises WorkerDiedError if it ends."""
        if self._connection is not None:
            return self._connection
        connection = self._start_process()
        try:
            connection.recv()
        except (EOFError, OSError) as error:
            self.end()
            raise WorkerDiedError from error
        self._connection = connection
        return connection

    def call(self, work: WorkerCall) -> Any:
        """The result of a call. Raises TooLongError, StoppedError, WorkerDiedError, or an error of `on_progress`."""
        connection = self.start()  # which is not counted as time of the call
        try:
            connection.send((work.function, work.arguments, work.on_progress is not None))
            return self._await_result(connection, work)
        except (EOFError, OSError) as error:
            self.end()
            raise WorkerDiedError from error
        except BaseException:
            self.end()  # else the next call would have the answer of this one
            raise

    def _await_result(self, connection: Connection, work: WorkerCall) -> Any:
        end = time.monotonic() + work.seconds
        while True:
            left = end - time.monotonic()
            if connection.poll(min(CHECK_SECONDS, left) if left > 0 else CHECK_SECONDS):
                is_result, value = connection.recv()
                if is_result:
                    return value
                if work.on_progress is not None:
                    work.on_progress(value)
            if time.monotonic() > end and not work.may_go_on():
                raise TooLongError
            if not work.is_needed():
                raise StoppedError

    def _start_process(self) -> Connection:
        """Start the process with its own temporary folder, which is deleted with it even if it is killed."""
        context = multiprocessing.get_context("spawn")
        with self._lock:
            if self._closed:
                raise WorkerDiedError
            parent_end, child_end = context.Pipe()
            self._folder = tempfile.TemporaryDirectory(prefix="planner-serve-", ignore_cleanup_errors=True)
            arguments = (child_end, self._warm_up, self._folder.name, self._niceness)
            self._process = context.Process(target=_serve_calls, args=arguments, daemon=True)
            self._process.start()
            child_end.close()
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


def _serve_calls(connection: Connection, warm_up: Callable[[], object], folder: str, niceness: int) -> None:
    """Receive calls and send progress and results until the other end closes."""
    os.environ["TMPDIR"] = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the service, which then ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the same for a signal to the whole group
    os.nice(niceness)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    warm_up()
    connection.send("warm")
    gc.freeze()  # the catalogue lives until exit: the garbage collector need not scan it
    gc.set_threshold(CYCLE_SEARCH_AFTER)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            function, arguments, reports = connection.recv()
            report = (lambda value: connection.send((False, value)),) if reports else ()
            connection.send((True, function(*arguments, *report)))


def _end_with_parent() -> None:
    """End this process, busy or not, when the one that started it has been killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
