"""The command line in this process, as its entry point runs it, and files that users would hand to it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
import uvicorn

from planner.cli import _terminal
from planner.cli._exit_codes import run

if TYPE_CHECKING:
    from planner.service import AccessSettings, GateSettings, ServiceLimits

REPOSITORY = Path(__file__).parents[2]
ALWAYS_TELLING = "from planner.cli import main, _terminal; _terminal.VISIBLE_AFTER_SECONDS = 0.0; main()"
"""The program, whose progress a terminal shows from the first moment."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str
    data: bytes


class Keyboard(io.TextIOWrapper):
    """Standard input that holds bytes and is no terminal."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), "utf-8")


@pytest.fixture
def planner(capfdbinary, monkeypatch, tmp_path) -> Callable[..., Ran]:
    """Runs `planner ARGUMENTS` in an empty folder: exit code and what was printed. A bug's details would be shown."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    def invoke(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", Keyboard(stdin))
        code = run(arguments)
        sys.stdout.flush()
        data, err = capfdbinary.readouterr()
        return Ran(code, data.decode("utf-8", "replace"), err.decode(), data)

    return invoke


@pytest.fixture
def written(tmp_path) -> Callable[[], list[str]]:
    """The files below the folder, to show that nothing was written."""
    return lambda: sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())


HOURS = {
    "as_of": "2026-11-21",
    "months": 2,
    "strategies": ["cloud"],
    "workloads": [{"name": "batch", "demand": {"accelerator_hours_per_month": 1460, "accelerator": "L4"}}],
}
IMPOSSIBLE = {
    **HOURS,
    "workloads": [
        {
            "name": "too large",
            "demand": {"accelerator_hours_per_month": 10, "accelerator": "T4"},
            "memory_gib_per_accelerator": 300,
        }
    ],
}


@pytest.fixture
def job(tmp_path) -> Path:
    """A request that is quickly planned: 1,460 hours a month on an L4, that is two of them around the clock."""
    path = tmp_path / "job.json"
    path.write_text(json.dumps(HOURS))
    return path


@pytest.fixture
def hours() -> dict:
    return json.loads(json.dumps(HOURS))


@pytest.fixture
def impossible() -> dict:
    return json.loads(json.dumps(IMPOSSIBLE))


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@contextmanager
def serving(
    limits: ServiceLimits, store: str = "", gate: GateSettings | None = None, access: AccessSettings | None = None
) -> Iterator[httpx.Client]:
    """The service on a free port of the loopback, in a thread of this process, and a client of it."""
    from planner.service import GateSettings
    from planner.service.app import create
    from planner.service.gate.connections import server_config

    gate = gate or GateSettings()
    server = uvicorn.Server(server_config(create(limits, store, gate, access), gate, port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def client() -> Iterator[httpx.Client]:
    """A client of a service with one worker that takes bodies of 20,000 bytes."""
    from planner.service import ServiceLimits

    with serving(ServiceLimits(workers=1, body_bytes=20_000, seconds=600)) as client:
        yield client


def plain_environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    return {**kept, "TERM": "xterm", **more}


@pytest.fixture
def piped(planner, monkeypatch) -> Callable[..., Ran]:
    """Runs `planner ARGUMENTS` with outputs that are no terminal; names are variables of its environment."""

    def run_piped(*arguments: str, **variables: str) -> Ran:
        with monkeypatch.context() as patch:
            patch.setattr(_terminal, "VISIBLE_AFTER_SECONDS", 0.0)
            for name in os.environ.keys() - plain_environment().keys():
                patch.delenv(name)
            for name, value in plain_environment(**variables).items():
                patch.setenv(name, value)
            return planner(*arguments)

    return run_piped


@pytest.fixture
def terminal() -> Callable[..., tuple[int, str]]:
    """Runs `planner ARGUMENTS` on a terminal at which somebody has `typed`: exit code, and what it shows."""
    return show_on_terminal


def show_on_terminal(*arguments: str, typed: str = "", cwd: Path | None = None, **more: str) -> tuple[int, str]:
    """The exit code and all that a terminal shows, its line ends as written."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", ALWAYS_TELLING, *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=plain_environment(**more), start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    parts: list[bytes] = []

    def read() -> None:
        while True:
            try:
                parts.append(os.read(ours, 65536))
            except OSError:  # the other end is closed
                return

    reader = threading.Thread(target=read)
    reader.start()
    os.write(ours, typed.encode())
    code = child.wait()
    reader.join()
    os.close(ours)
    return code, b"".join(parts).decode().replace("\r\n", "\n")
