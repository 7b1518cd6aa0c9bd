"""From a job to the response that answers it: the plan, its state, or its problem."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import datetime

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel

from planner.service import problems
from planner.service.plan_views import PlanView, select_parts
from planner.service.problems import ProblemResponseError
from planner.service.store import JobRecord
from planner.service.store.jobs import JobState, Lane
from planner.service.store.plans import StoredPlan
from planner.service.timestamps import to_time

JSON = "application/json"
FULL_VIEW = PlanView()


class PlanJob(BaseModel):
    """A plan that is asked for, and how far it has come."""

    id: str
    """Identifier in /v1/plans/{id}."""
    state: JobState
    """queued, running, done, failed or cancelled."""
    lane: Lane
    """Queue that it is in: short plans do not wait for long ones."""
    phase: str
    """What is being worked on; empty before it runs."""
    best: float | None
    """Present cost of the best plan found so far; null: none yet."""
    bound: float | None
    """Proven bound: no plan costs less; null: not known yet."""
    gap: float | None
    """Distance of the best plan from the bound, as a fraction of it; null: not known yet."""
    created: datetime
    """When it was asked for."""
    started: datetime | None
    """When work on it began; null: it waits."""
    finished: datetime | None
    """When it ended; null: it has not."""
    plan_id: str
    """plan_id of the plan; empty before it is done."""


def describe_job(job: JobRecord) -> PlanJob:
    """The job as its client sees it."""
    best, bound = job.progress.best, job.progress.bound
    known = best is not None and bound is not None and best != 0
    return PlanJob(
        id=job.id,
        state=job.state,
        lane=job.lane,
        phase=job.progress.phase if job.is_open else "",
        best=best,
        bound=bound,
        gap=max(0.0, (best - bound) / abs(best)) if known and best is not None and bound is not None else None,
        created=to_time(job.created),
        started=None if job.started is None else to_time(job.started),
        finished=None if job.finished is None else to_time(job.finished),
        plan_id=job.plan_id,
    )


def accepted_response(job: JobRecord) -> Response:
    """202 with the state of the job, and where to ask for it again."""
    headers = {"location": f"/v1/plans/{job.id}", "cache-control": "no-store"}
    if job.is_open:
        headers["retry-after"] = "1"
    return Response(describe_job(job).model_dump_json(), 202, headers, JSON)


def document_response(request: Request, compressed: bytes, digest: str, media_type: str) -> Response:
    """A document that is stored in gzip, as the client takes it; 304 where it has the same already. `digest` is that
    of the document."""
    zipped = "gzip" in request.headers.get("accept-encoding", "").lower()
    headers = {"etag": f'"{digest[:32]}{"-gzip" if zipped else ""}"', "vary": "Accept, Accept-Encoding"}
    known = request.headers.get("if-none-match", "")
    if request.method in ("GET", "HEAD") and (digest[:32] in known or known.strip() == "*"):
        return Response(None, 304, headers)
    if zipped:
        return Response(compressed, 200, {**headers, "content-encoding": "gzip"}, media_type)
    return Response(gzip.decompress(compressed), 200, headers, media_type)


def plan_response(request: Request, job: JobRecord, plan: StoredPlan, view: PlanView = FULL_VIEW) -> Response:
    """The answer of a job that is done, in its own format; JSON with the parts of a view."""
    if job.report:
        return document_response(request, job.report, hashlib.sha256(job.report).hexdigest(), job.media_type)
    return stored_plan_response(request, plan, view)


def stored_plan_response(request: Request, plan: StoredPlan, view: PlanView) -> Response:
    """A plan as JSON with the parts of a view."""
    compressed, digest = select_parts(plan.compressed, view) if view.left_out else (plan.compressed, plan.digest)
    return document_response(request, compressed, digest, JSON)


def failure_response(job: JobRecord) -> Response:
    """The problem of a job that failed or was cancelled."""
    if job.state == "cancelled":
        return problems.problem_response(410, "cancelled", "Cancelled", "This plan was cancelled; post it again.")
    headers = {"retry-after": "5"} if job.status == 503 else None
    return Response(job.problem, job.status, headers, problems.MEDIA_TYPE)


def event_text(job: JobRecord) -> str:
    """The state of a job as a server-sent event."""
    return f"event: {job.state}\ndata: {json.dumps(describe_job(job).model_dump(mode='json'))}\n\n"


def no_such_plan() -> ProblemResponseError:
    """404 for an id that the project does not have."""
    detail = "No plan of this project has this id; it may have been deleted. Post the request again."
    return ProblemResponseError(problems.problem_response(404, "no-such-plan", "No such plan", detail))
