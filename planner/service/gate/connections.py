"""Connections of uvicorn with what it lacks: a time limit for headers, and room for new connections.

uvicorn waits for headers without end, and takes connections until the process has no file descriptors left; asyncio
then logs each attempt to take another. Here a connection that has no complete headers in time is closed, and when all
are in use the one that has waited longest for a request makes room. Measurements are in decision 0047.

A connection that is closed with bytes that nobody read is reset, which takes an answer from its client that was sent
before (RFC 9112, section 9.6). So whoever is refused before its request was read has some time to read why.
"""

from __future__ import annotations

import asyncio
import selectors
import sys
from functools import partial
from typing import Any

import h11
from starlette.responses import Response
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol

from planner.service.gate.settings import GateSettings
from planner.service.problems import problem_response

BACKLOG = 128
"""Connections that the kernel keeps for us, and the most that asyncio takes before it runs anything else."""
OTHER_FILES = 256
"""File descriptors for everything but connections: workers, price tables, the store."""
LINGER_SECONDS, LINGERING = 2.0, BACKLOG
"""How long a refused client may take to read its answer, and how many may at once."""
SENDING_SECONDS = 1.0
"""How long a connection waits at least before it makes room: a client that has just connected, or has an answer, may be
sending its request. A reset would take that from it without an answer."""


def open_connections_max(wanted: int) -> int:
    """As many connections as wanted, within the file descriptors that this process may have; raises their limit."""
    if sys.platform == "win32":  # it has no such limit
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + BACKLOG + OTHER_FILES
    if soft < needed and (soft < hard or hard == resource.RLIM_INFINITY):
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(min(wanted, soft - BACKLOG - OTHER_FILES), 1)


def server_config(app: Any, settings: GateSettings, **options: Any) -> Config:
    """The configuration of a server with these connections; `options` are those of uvicorn."""
    waiting: dict[LimitedConnection, float] = {}
    connect = partial(
        LimitedConnection,
        header_seconds=settings.header_seconds,
        connections_max=open_connections_max(settings.connections),
        waiting=waiting,
    )
    return Config(
        app,
        http=connect,  # type: ignore[arg-type]  # it is called like the class that uvicorn expects
        ws="none",
        lifespan="on",
        backlog=BACKLOG,
        server_header=False,
        h11_max_incomplete_event_size=settings.header_bytes,
        timeout_keep_alive=settings.keep_alive_seconds,
        **options,
    )


class LimitedConnection(H11Protocol):
    """One connection. `waiting` has those of the server that wait for a request, the longest first, and since when."""

    def __init__(
        self,
        *arguments: Any,
        header_seconds: float,
        connections_max: int,
        waiting: dict[LimitedConnection, float],
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.access_log = False  # uvicorn's lines of requests have paths and queries; ours are in log_lines
        self._header_seconds, self._connections_max, self._waiting = header_seconds, connections_max, waiting
        self._deadline: asyncio.TimerHandle | None = None
        self._is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > self._connections_max:
            self._make_room()
        if not self._is_refused:
            self._waiting[self] = self.loop.time()
            self._start_deadline()

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        super().data_received(data)
        if self._is_answering():
            self._end_wait()
        elif self._deadline is None and not self._is_refused:
            self._start_deadline()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_answering() and not self.transport.is_closing():
            self._waiting[self] = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._end_wait()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or has too large headers."""
        self._write_and_close(problem_response(400, "not-http", "Not readable as HTTP", msg))

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _start_deadline(self) -> None:
        self._deadline = self.loop.call_later(self._header_seconds, self._close_late)

    def _end_wait(self) -> None:
        self._waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_late(self) -> None:
        self._deadline = None
        if self._is_answering() or self.transport.is_closing():
            return
        if (
            self.conn.trailing_data[0] and self.conn.their_state is h11.IDLE
        ):  # a part of a request: its client may read why it ends
            detail = f"The headers were not complete after {self._header_seconds:g} seconds."
            self._write_and_close(problem_response(408, "slow-headers", "Too slow", detail))
        else:
            self.transport.close()

    def _make_room(self) -> None:
        """Close the connection that has waited longest, or this one if all are answering, have a request to read, or
        may be sending one."""
        latest = self.loop.time() - SENDING_SECONDS
        waiting = (each for each, since in self._waiting.items() if since <= latest)
        longest = next((each for each in waiting if not each._has_unread()), None)  # noqa: SLF001  (the same class)
        if longest is not None:
            longest._end_wait()  # noqa: SLF001  (the same class)
            longest.transport.abort()
        else:
            detail = "All connections of the service are in use; try again in a few seconds."
            self._write_and_close(problem_response(503, "connections", "Busy", detail))

    def _has_unread(self) -> bool:
        """Whether bytes have come that asyncio has not read yet."""
        with getattr(selectors, "PollSelector", selectors.SelectSelector)() as selector:
            selector.register(self.transport.get_extra_info("socket").fileno(), selectors.EVENT_READ)
            return bool(selector.select(0))

    def _write_and_close(self, response: Response) -> None:
        """An answer without the state machine of HTTP, which may be in an error."""
        headers = [*response.raw_headers, (b"connection", b"close")]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        status = str(response.status_code).encode()
        self.transport.write(b"HTTP/1.1 " + status + b" \r\n" + lines + b"\r\n" + bytes(response.body))
        self._end_wait()
        self._is_refused = True
        has_room = len(self.connections) <= self._connections_max + LINGERING
        if has_room and not self._is_answering():  # an application that answers is told at once that it is closed
            self.transport.write_eof()  # the client closes when it has read the answer
            self._deadline = self.loop.call_later(LINGER_SECONDS, self.transport.abort)
        else:
            self.transport.close()
