"""One record of each request, for the log and for the metrics: never its path, query, body, headers or answer."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Sequence

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pricing.frozen_values import dataclass

REQUEST_ID = "x-request-id"
USABLE_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
TRACE_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
"""W3C Trace Context."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
CLIENT_LEFT = 499
"""The status of a request whose client left before its answer, as nginx writes it."""


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A request and what came of it. `route` is the pattern of the path, empty where there is none."""

    request_id: str
    method: str
    route: str
    status: int
    milliseconds: float
    caller: str
    trace_parent: str = ""


class RequestRecorder:
    """Middleware that names each request (X-Request-ID), and gives its record to observers when it ends."""

    def __init__(self, app: ASGIApp, observers: Sequence[Callable[[RequestRecord], None]]) -> None:
        self._app, self._observers = app, tuple(observers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        finally:
            record = exchange.record()
            for observe in self._observers:
                observe(record)


class _Exchange:
    """A request while it is answered."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._began = time.perf_counter()
        self._body_complete = self._client_left = self._answered = False
        self._status = 0
        headers = Headers(scope=scope)
        self._trace_parent = headers.get("traceparent", "")
        stated = headers.get(REQUEST_ID, "")
        self._request_id = stated if USABLE_ID.fullmatch(stated) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = self._request_id

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._client_left = self._client_left or not self._answered
        else:
            self._body_complete = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._look_for_client()
            self._status = message["status"]
            MutableHeaders(scope=message)[REQUEST_ID] = self._request_id
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._answered = True

    async def _look_for_client(self) -> None:
        """Note that the client has left, where the body was read and so nothing else can be received."""
        if self._body_complete and not self._client_left:
            with anyio.CancelScope() as scope:
                scope.cancel()
                await self.receive()

    def record(self) -> RequestRecord:
        """The record of the exchange as it ended."""
        method = self._scope["method"]
        caller = self._scope["state"].get("caller")
        return RequestRecord(
            request_id=self._request_id,
            method=method if method in METHODS else "other",
            route=getattr(self._scope.get("route"), "path", ""),
            status=CLIENT_LEFT if self._client_left or not self._answered else self._status,
            milliseconds=round(1000 * (time.perf_counter() - self._began), 1),
            caller=f"{caller.project}/{caller.name}" if caller else "",
            trace_parent=self._trace_parent if TRACE_PARENT.fullmatch(self._trace_parent) else "",
        )
