"""Errors as RFC 9457 problem details; an internal error has an id here and its traceback in the log."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
import traceback
from collections.abc import Sequence
from dataclasses import asdict

from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from planner.request.doubts import Doubt
from planner.request.errors import InputProblem, InvalidRequest
from pricing.counted_nouns import format_count
from pricing.errors import InvalidPlugin, InvalidSnapshot

MEDIA_TYPE = "application/problem+json"
log = logging.getLogger("planner.service")


class RequestProblem(BaseModel):
    """One problem of a request."""

    path: str
    """Place of the problem: a JSON path in the body, a cell (Plan!C5) or line of a file, or ?name in the query."""
    message: str
    """The problem."""
    value: str = ""
    """The value as it was read."""
    expected: str = ""
    """The expected values, with the nearest valid one."""


class Question(BaseModel):
    """Something in a file that can be read in more than one way."""

    id: str
    """Name of the question in ?answer= and in an answers file."""
    places: list[str]
    """Cells concerned."""
    read: str
    """Text of the first of them."""
    question: str
    """The question."""
    proposed: str
    """The proposed reading."""
    choices: list[str]
    """All readings."""
    change: float | None
    """Largest share of the demand that another reading changes; null: not known."""


class Problem(BaseModel):
    """An RFC 9457 problem; `errors` has every problem of the request, `id` is in the log of the service."""

    type: str
    """URI of the kind of problem."""
    title: str
    """The kind of problem in words."""
    status: int
    """HTTP status code."""
    detail: str
    """This problem in words."""
    errors: list[RequestProblem] = []
    """Every problem of the input."""
    questions: list[Question] = []
    """The problems that an answer settles."""
    answers: str = ""
    """An answers file (YAML) with the proposals, to be sent back beside the file."""
    is_editable: bool = False
    """Whether ?cell= mends cells of the file, by the places in `errors`."""
    id: str = ""
    """Identifier in the log of the service; empty unless it is an internal error."""


class ProblemResponseError(Exception):
    """Ends the handling of a request with `response`."""

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__(response.status_code)


def problem_response(
    status: int,
    kind: str,
    title: str,
    detail: str,
    *,
    errors: Sequence[InputProblem] = (),
    identity: str = "",
    doubts: Sequence[Doubt] = (),
    answers: str = "",
    is_editable: bool = False,
) -> Response:
    """The response; `errors`, `questions`, `answers`, `is_editable` and `id` only where there are any."""
    document: dict[str, object] = {
        "type": f"urn:gpu-planner:problem:{kind}",
        "title": title,
        "status": status,
        "detail": detail,
    }
    if errors:
        document["errors"] = [
            {"path": c.path or c.place, "message": c.message, "value": c.value, "expected": c.expected} for c in errors
        ]
    if doubts:
        document["questions"] = [_describe_doubt(each) for each in doubts]
        document["answers"] = answers
    if is_editable:
        document["is_editable"] = True
    if identity:
        document["id"] = identity
    headers = {"retry-after": "5"} if status == 503 else None
    return Response((json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode(), status, headers, MEDIA_TYPE)


def _describe_doubt(doubt: Doubt) -> dict[str, object]:
    stated = asdict(doubt)
    del stated["answer"]
    return stated | {"change": doubt.change if math.isfinite(doubt.change) else None}


def invalid_request_response(
    complaints: Sequence[InputProblem],
    *,
    readable: bool = True,
    doubts: Sequence[Doubt] = (),
    answers: str = "",
    is_editable: bool = False,
) -> Response:
    """422 for a request that cannot be planned, 400 for one that cannot be read."""
    detail = format_count(len(complaints), "problem")
    if readable:
        return problem_response(
            422,
            "invalid-request",
            "The request is not valid",
            detail,
            errors=complaints,
            doubts=doubts,
            answers=answers,
            is_editable=is_editable,
        )
    return problem_response(400, "unreadable", "The request cannot be read", detail, errors=complaints)


def unreadable_prices_response(bad: InvalidSnapshot) -> Response:
    """503 while price tables on this machine are invalid, which is not a problem of the request."""
    parts = [fault.partition(": ") for fault in bad.faults]
    faults = [InputProblem("", place, message) for place, _, message in parts]
    return problem_response(
        503, "unreadable-prices", "Prices cannot be read", "Price tables of the service are invalid.", errors=faults
    )


def failed_plugin_response(reason: str) -> Response:
    """503 while a plug-in of this installation cannot be used."""
    return problem_response(503, "plug-in", "A plug-in of the service fails", reason)


def internal_error_response(details: str) -> Response:
    """500 with an id; `details` go to the log under it."""
    identity = secrets.token_hex(6)
    log.error("internal error %s\n%s", identity, details)
    return problem_response(
        500,
        "bug",
        "Internal error",
        "This is a bug in planner; the log of the service has the details under this id.",
        identity=identity,
    )


def install_error_handlers(app: FastAPI) -> None:
    """Answer every error of `app` with a problem."""

    @app.exception_handler(HTTPException)
    def http(_: Request, error: HTTPException) -> Response:
        response = problem_response(error.status_code, "http", str(error.detail), str(error.detail))
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(InvalidRequest)
    def invalid(_: Request, error: InvalidRequest) -> Response:
        return invalid_request_response(error.complaints)

    @app.exception_handler(InvalidSnapshot)
    def unreadable(_: Request, error: InvalidSnapshot) -> Response:
        return unreadable_prices_response(error)

    @app.exception_handler(InvalidPlugin)
    def unusable(_: Request, error: InvalidPlugin) -> Response:
        return failed_plugin_response(str(error))

    @app.exception_handler(ProblemResponseError)
    def stop(_: Request, error: ProblemResponseError) -> Response:
        return error.response

    @app.exception_handler(ClientDisconnect)
    def gone(_: Request, __: ClientDisconnect) -> Response:
        return problem_response(
            400, "cut-off", "Cut off", "The body ended before it was complete."
        )  # the client has gone, but the log of the server has the status

    app.add_middleware(InternalErrorMiddleware)


class FailureMiddleware:
    """Answers failures of what is behind it with `describe_failure`, so that the connection survives for the next
    request; one after an answer has begun, or outside HTTP, goes on."""

    failures: tuple[type[BaseException], ...]

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
        except self.failures as error:
            if begun or scope["type"] != "http":
                raise
            await self.describe_failure(error)(scope, receive, send)

    def describe_failure(self, error: BaseException) -> Response:
        """The answer to a failure, while it is handled."""
        raise NotImplementedError


class InternalErrorMiddleware(FailureMiddleware):
    """Answers internal errors, and what the end of the server breaks off, with a problem."""

    failures = (asyncio.CancelledError, Exception)

    def describe_failure(self, error: BaseException) -> Response:
        """503 where the server ends, and has waited for this answer as long as it may; else an internal error."""
        if isinstance(error, asyncio.CancelledError):
            detail = "The service is shutting down; try again in a few seconds."
            return problem_response(503, "shutting-down", "Shutting down", detail)
        return internal_error_response(traceback.format_exc())
