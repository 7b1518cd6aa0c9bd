"""A store that does not answer, as 503 with Retry-After: also where the gate itself needs it."""

from __future__ import annotations

import logging

from fastapi import Request
from fastapi.responses import Response

from planner.service.problems import FailureMiddleware, problem_response
from planner.service.store.engine import STORE_OUTAGES


class StoreOutages(FailureMiddleware):
    """Middleware for the gate behind it; routes have `answer_store_outage`."""

    failures = STORE_OUTAGES

    def describe_failure(self, error: BaseException) -> Response:
        return _describe_outage(error)


def answer_store_outage(_: Request, error: Exception) -> Response:
    """The answer of a route that the store left without one."""
    return _describe_outage(error)


def _describe_outage(error: BaseException) -> Response:
    logging.getLogger("planner.service").error("the store does not answer: %s", type(error).__name__)
    return problem_response(503, "store", "Store unreachable", "The store does not answer; try again later.")
