"""Routes for those who operate the service: readiness and figures."""

from __future__ import annotations

import math

from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel
from sqlalchemy.exc import SQLAlchemyError

from planner.request.errors import InputProblem
from planner.service import problems
from planner.service.gate.gate import Gate
from planner.service.plan_desk import PlanDesk
from planner.service.problems import ProblemResponseError
from planner.service.store import ServiceStore
from planner.service.store.jobs import JobState
from pricing.catalog.price_catalog import Catalog
from pricing.clock import today
from pricing.errors import InvalidSnapshot


class Readiness(BaseModel):
    """Whether requests may be sent here; the answer is 503 with what is missing while they may not."""

    status: str
    """State of the service: ready."""


def readyz(request: Request) -> Readiness:
    """Whether the workers are warm, the prices can be read and the store answers.

    The first question starts the workers, so that no plan waits for them. One that is replaced later does not make the
    service unready: the others go on.
    """
    missing = [fault for fault in (_check_workers(request.app), _check_prices(), _check_store(request.app)) if fault]
    if missing:
        detail = "Send requests elsewhere until this is ready."
        raise ProblemResponseError(problems.problem_response(503, "not-ready", "Not ready", detail, errors=missing))
    return Readiness(status="ready")


def _check_workers(app: FastAPI) -> InputProblem | None:
    desk: PlanDesk = app.state.desk
    if not app.state.was_warm and not desk.runner.is_warm:
        desk.runner.warm()
        return InputProblem("", "workers", "starting")
    app.state.was_warm = True
    return None


def _check_prices() -> InputProblem | None:
    try:
        Catalog.current()
    except InvalidSnapshot as bad:
        return InputProblem("", "prices", f"cannot be read: {len(bad.faults)} problems")
    return None


def _check_store(app: FastAPI) -> InputProblem | None:
    store: ServiceStore = app.state.store
    try:
        store.check_connection()
    except SQLAlchemyError as error:
        return InputProblem("", "store", f"does not answer ({type(error).__name__})")
    return None


def metrics(request: Request) -> Response:
    """Figures of the service for Prometheus."""
    gate: Gate = request.app.state.gate
    return gate.metrics.exposition()


def add_gauges(app: FastAPI) -> None:
    """Add the figures that are read whenever Prometheus asks; what cannot be read is not a number."""
    gate: Gate = app.state.gate
    app.state.was_warm = False
    gate.metrics.add_gauge("planner_queue_length", "Plans that wait in the store.", lambda: _count_jobs(app, "queued"))
    gate.metrics.add_gauge(
        "planner_plans_running", "Plans that are being made, by all workers of the store.",
        lambda: _count_jobs(app, "running"),
    )  # fmt: skip
    gate.metrics.add_gauge("planner_price_age_days", "Age of the oldest price of a current offering.", _read_price_age)
    gate.metrics.add_gauge("planner_workers_running", "Worker processes of this service.", lambda: _count_workers(app))


def _count_jobs(app: FastAPI, state: JobState) -> float:
    store: ServiceStore = app.state.store
    try:
        return store.jobs.count_in_state(state)
    except SQLAlchemyError:
        return math.nan


def _count_workers(app: FastAPI) -> float:
    desk: PlanDesk = app.state.desk
    return len(desk.runner.worker_processes())


def _read_price_age() -> float:
    try:
        return (today() - Catalog.current().oldest()).days
    except InvalidSnapshot:
        return math.nan
