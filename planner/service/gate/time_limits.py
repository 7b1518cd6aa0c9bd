"""Limits of a request that has begun: the number of its headers, the time for its body and for taking the answer."""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner.service.gate.settings import GateSettings
from planner.service.problems import ProblemResponseError, problem_response


class UnreadAnswerError(Exception):
    """The client takes nothing of its answer."""


class RequestLimits:
    """Middleware that answers 431 to too many headers, 408 to a slow body, and ends answers that nobody reads."""

    def __init__(self, app: ASGIApp, settings: GateSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        limits = self._settings
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif len(scope["headers"]) > limits.header_count:
            detail = f"The limit is {limits.header_count} headers."
            await problem_response(431, "headers", "Too many headers", detail)(scope, receive, send)
        else:
            timed_send = _limit_send(send, limits.send_seconds)
            try:
                await self._app(scope, _limit_body(receive, limits.body_seconds), timed_send)
            except UnreadAnswerError:
                return  # an answer without its end makes the server close the connection


def _limit_body(receive: Receive, seconds: float) -> Receive:
    """`receive` within a time for the whole body; what comes after it (that the client left) has no limit."""
    deadline = asyncio.get_running_loop().time() + seconds
    complete = False

    async def receive_in_time() -> Message:
        nonlocal complete
        if complete:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise ProblemResponseError(_slow_body(seconds)) from None
        complete = not message.get("more_body", False)
        return message

    return receive_in_time


def _limit_send(send: Send, seconds: float) -> Send:
    async def send_in_time(message: Message) -> None:
        try:
            async with asyncio.timeout(seconds):
                await send(message)
        except TimeoutError:
            raise UnreadAnswerError from None

    return send_in_time


def _slow_body(seconds: float) -> Response:
    detail = f"The body was not complete after {seconds:g} seconds."
    response = problem_response(408, "slow-body", "Too slow", detail)
    response.headers["connection"] = "close"
    return response
