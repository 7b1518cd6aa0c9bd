"""A store that does not answer, as 503 with Retry-After: also where the gate itself needs it."""

from __future__ import annotations

import logging

from fastapi import Request
from fastapi.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner.service.problems import problem_response
from planner.service.store.engine import STORE_OUTAGES


class StoreOutages:
    """Middleware for the gate behind it; routes have `answer_store_outage`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except STORE_OUTAGES as error:
            if begun or scope["type"] != "http":
                raise
            await _describe_outage(error)(scope, receive, send)


def answer_store_outage(_: Request, error: Exception) -> Response:
    """The answer of a route that the store left without one."""
    return _describe_outage(error)


def _describe_outage(error: Exception) -> Response:
    logging.getLogger("planner.service").error("the store does not answer: %s", type(error).__name__)
    return problem_response(503, "store", "Store unreachable", "The store does not answer; try again later.")
