"""A cloud on this machine's loopback: it replays recorded answers over HTTP, and fails in the ways that clouds do.

Tests drive the real SDK clients against it. `cloud(answer)` starts one; `answer(request)` gives what the real service
would. Faults are taken from the front of `faults` by the first request that each is for.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

import pytest

from pricing.adapters.protocol import FetchRequest
from pricing.adapters.retries import RetryBudget
from pricing.catalog.price_catalog import Catalog

TODAY = date(2026, 11, 21)


@dataclass(frozen=True)
class Request:
    """`query` holds the last value of each name; `form` those of a form body, `json` a JSON body."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))

    @property
    def json(self) -> object:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    body: bytes | str | dict | list
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass
class Fault:
    """What happens to `times` requests that `where` picks: an answer of another kind, half of one, or none in time.

    `half`: the head promises the whole body and the connection ends in the middle. `wait_s`: the answer comes late;
    `until`: it comes once a test has set that event. `drip_s`: it comes byte by byte, with that pause after each.
    `reset`: the connection is reset without an answer.
    """

    answer: Answer | None = None
    times: int = 1
    half: bool = False
    wait_s: float = 0.0
    until: threading.Event | None = None
    drip_s: float = 0.0
    reset: bool = False
    where: Callable[[Request], bool] = lambda _: True


class Cloud:
    """The running server: `url`, and every request it saw in `seen`."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.answer, self.faults, self.seen = answer, [], []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.handle_error = lambda *_: None  # a client that gave up early is part of the tests
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def fault_for(self, request: Request) -> Fault | None:
        with self._lock:
            self.seen.append(request)
            for fault in self.faults:
                if fault.times > 0 and fault.where(request):
                    fault.times -= 1
                    return fault
        return None

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(cloud: Cloud) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def handle_any(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, parts.path, dict(parse_qsl(parts.query)), dict(self.headers), body)
            fault = cloud.fault_for(request)
            if fault is not None and fault.wait_s:
                time.sleep(fault.wait_s)
            if fault is not None and fault.until is not None:
                fault.until.wait()
            if fault is not None and fault.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return
            answer = fault.answer if fault is not None and fault.answer is not None else cloud.answer(request)
            data = answer.data
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            for start in range(len(data) if fault is not None and fault.drip_s else 0):
                self.wfile.write(data[start : start + 1])
                time.sleep(fault.drip_s)
                data = data if start + 1 < len(data) else b""
            self.wfile.write(data[: len(data) // 2] if fault is not None and fault.half else data)
            if fault is not None and fault.half:
                self.close_connection = True

        do_GET = do_POST = handle_any  # noqa: N815  (the names that http.server calls)

    return Handler


@pytest.fixture
def cloud() -> Iterator[Callable[[Callable[[Request], Answer]], Cloud]]:
    running: list[Cloud] = []

    def start(answer: Callable[[Request], Answer]) -> Cloud:
        running.append(Cloud(answer))
        return running[-1]

    yield start
    for each in running:
        each.stop()


@pytest.fixture
def recorded() -> Callable[[str, str], bytes]:
    """The bytes of a recorded answer: recorded("aws", "spot.json")."""
    root = Path(__file__).parents[3] / "pricing" / "providers"
    return lambda provider, name: (root / provider / "testdata" / name).read_bytes()


@pytest.fixture
def ask(catalog: Catalog) -> Callable[..., FetchRequest]:
    """What a refresh of a provider would ask: ask("aws", {"ec2": url}, regions=("us-east-1",)).

    Where a test is not about time there is enough of it on any machine. `again=False`: a failure is told at once, as
    the pause before the next attempt would be longer than the time that is left.
    """

    def make(
        provider: str,
        endpoints: Mapping[str, str],
        regions: tuple[str, ...] = (),
        seconds: float = 600,
        again: bool = True,
    ) -> FetchRequest:
        known = {o.instance_type: o for o in catalog.offerings.values() if o.provider == provider}
        patience = RetryBudget(seconds, first_pause_s=0.01 if again else 1e9 * seconds)
        return FetchRequest(regions, TODAY, catalog.names, known, dict(endpoints), patience)

    return make


@pytest.fixture
def kit() -> SimpleNamespace:
    """The names above, for test modules (they cannot import a conftest)."""
    return SimpleNamespace(Answer=Answer, Fault=Fault, Request=Request, Cloud=Cloud, TODAY=TODAY)
