"""Reads something in a process of its own, with a limit of memory and of time; what comes from outside is read so.

What a hostile file can do to its reader (fill the memory, never end, abort it where no exception tells) ends there:
the caller gets the answer, what the reader raises, or NoAnswer in words that fit behind the file's name. It bounds what
a reader uses and does not lock it in: it may open what its user may.

A plain process and not one of a pool: a worker of the service may have no children of that kind, and reads too. Started
anew each time: it shares no thread, lock or memory with whoever asks. It has its own session, so that Ctrl-C is heard
by the asker alone, and ends when the asker does. Knows nothing of what is read, nor of plans.
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
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import IO, Any, TypeVar

CODE = "from planner.apart import serve; serve()"
PREFIX = "planner-read-"
Progress = Callable[[float], None]
Message = tuple[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What a reader may use: `memory_bytes` of addresses (where the system can hold it to that), and seconds.

    None is as long as it takes.
    """

    memory_bytes: int
    seconds: float | None


class SandboxFailure(Exception):
    """The reader gave none; the words say why, without what it read."""


def run_isolated(work: Callable[..., T], *arguments: Any, bounds: SandboxLimits, progress: Progress | None = None) -> T:
    """What `work(*arguments)` gives, done in another process; all of it must pickle.

    With `progress`, `work` gets a `progress` of its own to call. Raises NoAnswer, and whatever `work` raises, with the
    other process's traceback as a note.
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
    """What the process answers. It has ended when this returns or raises, whatever happened."""
    assert process.stdin is not None
    assert process.stdout is not None
    messages: SimpleQueue[Message] = SimpleQueue()
    listener = threading.Thread(target=_forward_messages, args=(process.stdout, messages), daemon=True)
    listener.start()
    until = None if bounds.seconds is None else time.monotonic() + bounds.seconds
    try:
        with suppress(BrokenPipeError):  # it ended already: what it told, or that it ended, is heard below
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
    """A process whose temporary files are in the folder: one that is ended at once cannot take them away itself."""
    command = [sys.executable, "-P", "-c", CODE, str(bounds.memory_bytes), str(bounds.seconds or ""), folder]
    ours, none, around = subprocess.PIPE, subprocess.DEVNULL, {**os.environ, "TMPDIR": folder}
    try:
        return subprocess.Popen(command, stdin=ours, stdout=ours, stderr=none, start_new_session=True, env=around)  # noqa: S603  (our own code)
    except OSError as error:
        raise SandboxFailure(f"its reader did not start ({error.strerror or error})") from None


def _forward_messages(stream: IO[bytes], messages: SimpleQueue[Message]) -> None:
    """Passes on what the other process tells, until it ends; half of an answer is none."""
    try:
        while True:
            messages.put(_load_message(stream))
    except Exception:  # noqa: BLE001  (a pickle that is cut off raises whatever it likes)
        messages.put(("ended", None))


def _load_message(stream: IO[bytes]) -> Message:
    """One thing told. A large answer holds nothing that is garbage yet: looking for it would take most of the time."""
    was_looking = gc.isenabled()
    gc.disable()
    try:
        message: Message = pickle.load(stream)  # noqa: S301  (written by our own code, below)
        return message
    finally:
        if was_looking:
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
                    f"its reader was stopped ({name}): the file is damaged, or needs more than {memory}"
                )
            kind = "late"
    if kind == "late" and bounds.seconds is not None:
        return SandboxFailure(f"not read in {bounds.seconds:,.0f} seconds")
    return SandboxFailure("its reader ended without an answer")


def serve() -> None:
    """The life of the other process: one piece of work in, what it tells out; it ends with whoever asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where there are no sessions, Ctrl-C reaches this process too
    gc.disable()  # it does one thing and ends
    memory, seconds, folder = sys.argv[1:]
    _limit_resources(int(memory), float(seconds) if seconds else None)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    try:
        work, arguments, tells = pickle.load(sys.stdin.buffer)  # noqa: S301  (from our own parent)
    except EOFError:
        os._exit(1)
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    with suppress(BrokenPipeError):
        _send_message(
            out,
            _run_work(
                work, arguments, {"progress": lambda part: _send_message(out, ("progress", part))} if tells else {}
            ),
        )
    os._exit(0)  # at once: there is nothing to tidy up


def _run_work(work: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Message:
    try:
        return ("done", work(*arguments, **named))
    except MemoryError:
        return ("memory", None)
    except Exception as error:  # noqa: BLE001  (the asker's to handle, whatever it is)
        error.add_note(f"In the process that read it:\n{traceback.format_exc()}")
        return ("raised", error)


def _send_message(out: IO[bytes], message: Message) -> None:
    """All of it or nothing: what does not pickle, or finds no memory for that, is told as such."""
    try:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        data = pickle.dumps(("memory", None))
    except Exception:  # noqa: BLE001  (any: a strange answer, or a strange error)
        data = pickle.dumps(
            ("raised", RuntimeError(f"{message[0]}, but what does not pickle:\n{traceback.format_exc()}"))
        )
    out.write(data)
    out.flush()


def _end_with_parent(folder: str) -> None:
    """Where the asker is gone without a word, nobody else takes the temporary files away."""
    sys.stdin.buffer.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _limit_resources(memory_bytes: int, seconds: float | None) -> None:
    """Bound this process where the system can: an asker that is gone cannot stop code that lets no thread run."""
    try:
        import resource
    except ImportError:
        return
    wanted = [(resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CORE, 0)]
    if seconds is not None:
        wanted.append((resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + 1))
    for what, most in wanted:
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(hard, most), hard))
