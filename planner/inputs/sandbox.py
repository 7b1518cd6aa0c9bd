"""Runs a function in a separate process with limits of memory and time. Untrusted files are read this way.

A hostile file can fill the memory, run forever or abort the process without an exception. The caller then gets
SandboxFailure, with a message that fits behind the file's name. The sandbox limits resources and nothing else: the
function may open every file that its user may.

Each call starts a plain subprocess instead of using a multiprocessing pool: daemonic workers of the service also read
files and may not have multiprocessing children, and a fresh interpreter shares no thread, lock or memory with the
caller. The subprocess has its own session, so that Ctrl-C reaches the caller alone, and it ends with the caller.
"""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Any, TypeVar

from pricing.frozen_values import dataclass

CODE = "from planner.inputs.sandbox import serve; serve()"
PREFIX = "planner-read-"
Progress = Callable[[float], None]
"""Called with the fraction of the file read so far."""
WorkerMessage = tuple[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of a worker: `memory_bytes` of address space, where the system supports it; `seconds` None: no limit."""

    memory_bytes: int
    seconds: float | None


class SandboxFailure(Exception):
    """The worker gave no result; the message says why, without any content of the file."""


def run_isolated(work: Callable[..., T], *arguments: Any, bounds: SandboxLimits, progress: Progress | None = None) -> T:
    """The result of `work(*arguments)` in a separate process; function, arguments and result must be picklable.

    With `progress`, `work` gets a keyword argument `progress` to call. Raises SandboxFailure, and any exception of
    `work` with the traceback of the other process as a note.
    """
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        return _await_answer(_start_reader(bounds, folder), work, arguments, bounds, progress)


def _await_answer(
    process: subprocess.Popen[bytes],
    work: Callable[..., T],
    arguments: tuple[Any, ...],
    bounds: SandboxLimits,
    progress: Progress | None,
) -> T:
    """The result that the process sends. The process has ended when this returns or raises."""
    assert process.stdin is not None
    assert process.stdout is not None
    messages: SimpleQueue[WorkerMessage] = SimpleQueue()
    listener = threading.Thread(target=_forward_messages, args=(process.stdout, messages), daemon=True)
    listener.start()
    until = None if bounds.seconds is None else time.monotonic() + bounds.seconds
    try:
        with suppress(BrokenPipeError):  # it has ended already: the messages below tell why
            pickle.dump((work, arguments, progress is not None), process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
        while True:
            kind, value = messages.get(timeout=None if until is None else max(0.0, until - time.monotonic()))
            if kind == "done":
                answer: T = value
                return answer
            if kind != "progress":
                raise value if kind == "raised" else _build_failure(kind, process, bounds)
            if progress is not None:
                progress(value)
    except Empty:
        raise _build_failure("late", process, bounds) from None
    finally:
        process.kill()
        process.wait()
        listener.join()
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()


def _start_reader(bounds: SandboxLimits, folder: str) -> subprocess.Popen[bytes]:
    """A worker whose temporary files are in `folder`: a killed process cannot remove them itself."""
    command = [sys.executable, "-P", "-c", CODE, str(bounds.memory_bytes), str(bounds.seconds or ""), folder]
    try:
        return subprocess.Popen(  # noqa: S603  (the command is a constant of this module)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "TMPDIR": folder},
        )
    except OSError as error:
        raise SandboxFailure(f"the process that reads it did not start ({error.strerror or error})") from None


def _forward_messages(stream: IO[bytes], messages: SimpleQueue[WorkerMessage]) -> None:
    """Queues the messages of the other process until it ends; a message that is cut off counts as the end."""
    try:
        while True:
            messages.put(_load_message(stream))
    except Exception:  # noqa: BLE001  (a pickle that is cut off raises any exception)
        messages.put(("ended", None))


def _load_message(stream: IO[bytes]) -> WorkerMessage:
    """One message. Without garbage collection, which would take most of the time for a large result."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        message: WorkerMessage = pickle.load(stream)  # noqa: S301  (written by _send_message)
        return message
    finally:
        if was_enabled:
            gc.enable()


def _build_failure(kind: str, process: subprocess.Popen[bytes], bounds: SandboxLimits) -> SandboxFailure:
    memory = f"{bounds.memory_bytes / 2**30:g} GiB of memory"
    if kind == "memory":
        return SandboxFailure(f"not read in {memory}")
    with suppress(subprocess.TimeoutExpired):
        if kind == "ended" and process.wait(1) < 0:
            name = signal.Signals(-process.returncode).name
            if name != "SIGXCPU":
                return SandboxFailure(
                    f"the process that reads it was stopped ({name}): the file is damaged, or needs more than {memory}"
                )
            kind = "late"
    if kind == "late" and bounds.seconds is not None:
        return SandboxFailure(f"not read in {bounds.seconds:,.0f} seconds")
    return SandboxFailure("the process that reads it ended without a result")


def serve() -> None:
    """Main function of the other process: receives one call, sends its messages, and ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where there are no sessions, Ctrl-C reaches this process too
    gc.disable()  # it does one thing and ends
    memory, seconds, folder = sys.argv[1:]
    _limit_resources(int(memory), float(seconds) if seconds else None)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # output that a library prints must not mix with messages
    try:
        work, arguments, has_progress = pickle.load(sys.stdin.buffer)  # noqa: S301  (from our own parent)
    except EOFError:
        os._exit(1)
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    with suppress(BrokenPipeError):
        _send_message(
            out,
            _run_work(
                work,
                arguments,
                {"progress": lambda part: _send_message(out, ("progress", part))} if has_progress else {},
            ),
        )
    os._exit(0)  # at once: no clean-up is needed


def _run_work(work: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> WorkerMessage:
    try:
        return ("done", work(*arguments, **named))
    except MemoryError:
        return ("memory", None)
    except Exception as error:  # noqa: BLE001  (the caller handles it)
        error.add_note(f"In the process that read it:\n{traceback.format_exc()}")
        return ("raised", error)


def _send_message(out: IO[bytes], message: WorkerMessage) -> None:
    """Sends a message as a whole; one that cannot be pickled is replaced by the reason."""
    try:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        data = pickle.dumps(("memory", None))
    except Exception:  # noqa: BLE001  (a result or an exception may fail to pickle in any way)
        data = pickle.dumps(
            ("raised", RuntimeError(f"{message[0]}, but the value cannot be pickled:\n{traceback.format_exc()}"))
        )
    out.write(data)
    out.flush()


def _end_with_parent(folder: str) -> None:
    """Removes the temporary files and exits when the parent has gone: its end closes this process's stdin."""
    sys.stdin.buffer.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _limit_resources(memory_bytes: int, seconds: float | None) -> None:
    """Limits this process where the system supports it: also for code that never lets the watching thread run."""
    try:
        import resource
    except ImportError:
        return
    limits = [(resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CORE, 0)]
    if seconds is not None:
        limits.append((resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + 1))
    for kind, limit in limits:
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(hard, limit), hard))
