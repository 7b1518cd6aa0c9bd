"""A service whose gate has narrow limits, and bytes on its socket as no client library sends them."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator

import httpx
import pytest

from planner.service import GateSettings, ServiceLimits
from tests.doors.conftest import serving

NARROW = GateSettings(
    allowed_hosts=("planner.example.com", "*.internal.example"),
    allowed_origins=("https://portal.example.com",),
    connections=20,
    header_seconds=0.5,
    header_bytes=4096,
    header_count=30,
    body_seconds=0.5,
    keep_alive_seconds=1,
)


@pytest.fixture(scope="session")
def narrow() -> Iterator[httpx.Client]:
    """A client of a service with narrow limits."""
    with serving(ServiceLimits(workers=0), gate=NARROW) as client:
        yield client


class RawAnswer:
    """What a server sent until it closed the connection."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        head, _, body = data.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(status.split()[1]) if status else 0
        self.headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines}
        self.body = body

    def problem(self) -> str:
        """The kind of problem."""
        assert self.headers["content-type"] == "application/problem+json"
        assert int(self.headers["content-length"]) == len(self.body)
        return json.loads(self.body)["type"].rpartition(":")[2]


@pytest.fixture
def connect(narrow) -> Iterator[Callable[[], socket.socket]]:
    """Opens connections to the service with narrow limits."""
    opened = []

    def open_one() -> socket.socket:
        opened.append(socket.create_connection((narrow.base_url.host, narrow.base_url.port), timeout=60))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


def read_to_end(connection: socket.socket) -> RawAnswer:
    """What comes until the server closes the connection."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return RawAnswer(b"".join(parts))
