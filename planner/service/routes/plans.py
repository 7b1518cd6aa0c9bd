"""Plans: asked for, waited for, looked up, followed, cancelled and provisioned."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import AsyncIterator, Callable

from fastapi import Request
from fastapi.responses import Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from planner.reports import formats
from planner.request.errors import InputProblem, InvalidRequest
from planner.service import problems
from planner.service.callers import Caller, identify_caller
from planner.service.cell_parameters import date_edits
from planner.service.limits import ServiceLimits
from planner.service.plan_answers import (
    FULL_VIEW,
    accepted_response,
    document_response,
    event_text,
    failure_response,
    no_such_plan,
    plan_response,
    stored_plan_response,
)
from planner.service.plan_desk import PlanDesk, busy_response
from planner.service.plan_jobs import COMPARE_TO, FilesAnswer, RenderedFiles, run_report_job, run_terraform_job
from planner.service.plan_questions import PlanQuestion
from planner.service.plan_views import INCLUDE, VIEW, PlanView, take_view
from planner.service.problems import ProblemResponseError
from planner.service.queue import BusyError, RenderPool, TooLongError
from planner.service.queue.job_ends import describe_failure
from planner.service.routes.formats import (
    merge_queries,
    negotiate_format,
    preferred_wait,
    query_lists,
    read_idempotency_key,
    refuse_unknown,
)
from planner.service.store import JobRecord, ServiceStore
from planner.service.store.plans import StoredPlan
from planner.service.uploads import Upload, UploadKind, read_upload

EVENT_STREAM = "text/event-stream"


async def plan(request: Request) -> Response:
    """Plan one workload, a list of workloads, a whole request, a spreadsheet or a bill.

    A file is the body itself, by its media type and name (?name=review.xlsx, or Content-Disposition), or the one
    file of a form, in its field `file`. The query may have settings of a request (?months=24), which override the
    body, and options for a sheet or a bill (?map=, ?dates=, ?sheet=, ?growth=, ?tag=, ?substitution=). What is
    doubtful in a sheet is answered by ?answer=, by an answers file in the form's field `answers`, or by
    ?accept_proposals=true; a cell is corrected by ?cell=. ?compare_to= is the plan_id of an earlier answer, to
    report the changes since. An infeasible demand is a valid request: 200 with `status` infeasible and the reasons.
    The format of the report is ?format=, else the best match of the Accept header, else JSON.
    """
    caller = identify_caller(request)
    desk: PlanDesk = request.app.state.desk
    question = await _read_question(request, caller, query_lists(request))
    if (known := await desk.find_answer(caller, question)) is not None:
        return plan_response(request, known.job, known.plan)
    job = await desk.submit(caller, question, durable=False, waits=True)
    return await _answer_job(request, await desk.wait(job, request))


async def create_plan(request: Request) -> Response:
    """Ask for a plan: 202 with its place in Location.

    With `Prefer: wait=N` (RFC 7240) the answer is the plan itself if it is made within N seconds. A request that is
    sent again with the same `Idempotency-Key` has the same job.
    """
    return await _create_plan(request, "json")


async def create_plan_from_file(request: Request) -> Response:
    """Ask for a plan of a spreadsheet, a bill or a request in a file, as /v1/plans does for one in JSON.

    The file is the one of a form, in its field `file`; an answers file may be in its field `answers`. It may also be
    the body itself, by its media type and ?name=.
    """
    return await _create_plan(request, "file")


async def _create_plan(request: Request, kind: UploadKind) -> Response:
    caller, seconds = identify_caller(request), preferred_wait(request)
    desk: PlanDesk = request.app.state.desk
    query, key = query_lists(request), read_idempotency_key(request)
    view = take_view(query)
    question = await _read_question(request, caller, query, kind)
    known = None if key else await desk.find_answer(caller, question)
    if known is not None:
        job = known.job
    else:
        waits = seconds is not None
        job = await desk.submit(caller, question, durable=not waits, waits=waits, idempotency_key=key)
    if seconds is None:
        return accepted_response(job)
    job = await desk.wait(job, request, seconds) if job.is_open else job
    answer = accepted_response(job) if job.is_open else await _answer_job(request, job, view)
    answer.headers["preference-applied"] = f"wait={seconds:g}"
    answer.headers["location"] = f"/v1/plans/{job.id}"
    return answer


async def read_plan(request: Request, plan_id: str) -> Response:
    """A plan by the id of its job or its plan_id; while it is made, 202 with its state.

    ?view=summary leaves out the details; ?include= adds some of them again.
    """
    caller, query = identify_caller(request), query_lists(request)
    view = take_view(query)
    refuse_unknown(query, (VIEW, INCLUDE))
    job = await _find_job(request, caller, plan_id)
    if job is None:
        plan = await _find_plan(request, caller, plan_id)
        return stored_plan_response(request, plan, view)
    return accepted_response(job) if job.is_open else await _answer_job(request, job, view)


async def delete_plan(request: Request, plan_id: str) -> Response:
    """Cancel a plan that is made; delete one that is there."""
    caller = identify_caller(request)
    desk: PlanDesk = request.app.state.desk
    job = await _find_job(request, caller, plan_id)
    if job is None:
        plan = await _find_plan(request, caller, plan_id)
        await desk.forget_plan(caller.project, plan.digest)
    elif not await run_in_threadpool(desk.store.jobs.cancel, caller.project, job.id):
        await desk.forget(job)
    desk.runner.wake()
    return Response(status_code=204)


async def plan_events(request: Request, plan_id: str) -> Response:
    """The states of a plan as server-sent events, until it has ended."""
    job = await _find_job(request, identify_caller(request), plan_id)
    if job is None:
        raise no_such_plan()
    desk: PlanDesk = request.app.state.desk

    async def events() -> AsyncIterator[str]:
        async for changed in desk.follow(job):
            yield event_text(changed)

    return StreamingResponse(events(), media_type=EVENT_STREAM, headers={"cache-control": "no-store"})


async def terraform(request: Request, plan_id: str) -> Response:
    """Terraform that provisions an earlier plan, as a zip: one root module per provider, and a README.

    ?strategy= is one of its strategies (default: the one it recommends), ?nodes= vm (default) or kubernetes, ?provider=
    one of its providers (default: all).
    """
    caller = identify_caller(request)
    job = await _find_job(request, caller, plan_id)
    document = await _find_plan(request, caller, plan_id if job is None else job.plan_digest)
    query = query_lists(request)
    refuse_unknown(query, ("strategy", "nodes", "provider"))
    strategy, provider = query.get("strategy", [None])[-1], query.get("provider", [None])[-1]
    nodes = query.get("nodes", ["vm"])[-1]
    answer = await _render_stored(request, run_terraform_job, document.compressed, strategy, nodes, provider)
    if isinstance(answer, RenderedFiles):
        return Response(answer.data, media_type=answer.media_type)
    return describe_failure(answer)


async def report(request: Request, plan_id: str, format_name: str) -> Response:
    """An earlier plan in another format; what its job was asked for in that format is at hand."""
    if format_name not in formats():
        expected = f"one of {', '.join(formats())}"
        raise InvalidRequest((InputProblem("format", "format", "unknown format", format_name, expected),))
    return await answer_report(request, identify_caller(request).project, plan_id, format_name)


async def answer_report(request: Request, project: str, plan_id: str, format_name: str) -> Response:
    """The plan of a project in a format that there is."""
    store: ServiceStore = request.app.state.store
    made = await run_in_threadpool(store.jobs.find_report, project, plan_id, format_name)
    if made is not None:
        return document_response(request, made.report, hashlib.sha256(made.report).hexdigest(), made.media_type)
    caller = Caller(project, "")
    job = await _find_job(request, caller, plan_id)
    document = await _find_plan(request, caller, plan_id if job is None else job.plan_digest)
    answer = await _render_stored(request, run_report_job, document.compressed, format_name)
    if isinstance(answer, RenderedFiles):
        return Response(answer.data, media_type=answer.media_type)
    return describe_failure(answer)


async def plan_again(request: Request, plan_id: str) -> Response:
    """Ask again what an earlier plan was asked for, with other settings of the query: 202 with its place in Location.

    The query holds over that of the earlier question, by parameter; ?assumption=, ?answer= and ?cell= by name.
    """
    caller = identify_caller(request)
    store: ServiceStore = request.app.state.store
    asked = await run_in_threadpool(store.jobs.find_question, caller.project, plan_id)
    if asked is None:
        raise no_such_plan()
    settings = query_lists(request)
    format_name = negotiate_format(settings, request.headers.get("accept") or "*/*")
    upload = Upload(gzip.decompress(asked.body), asked.file_name, asked.is_file, gzip.decompress(asked.answers))
    query = date_edits(merge_queries(json.loads(asked.query), settings))
    question = PlanQuestion(upload, query, format_name, asked.compare_to)
    desk: PlanDesk = request.app.state.desk
    known = await desk.find_answer(caller, question)
    job = known.job if known is not None else await desk.submit(caller, question, durable=True, waits=False)
    return accepted_response(job)


async def _read_question(
    request: Request, caller: Caller, query: dict[str, list[str]], kind: UploadKind = "any"
) -> PlanQuestion:
    format_name = negotiate_format(query, request.headers.get("accept") or "*/*")
    earlier = query.pop(COMPARE_TO, [""])[-1]
    last = await _find_plan(request, caller, earlier) if earlier else None
    limits: ServiceLimits = request.app.state.limits
    upload = await read_upload(request, limits, query.pop("name", [""])[-1], kind)
    return PlanQuestion(upload, date_edits(query), format_name, "" if last is None else last.digest)


async def _find_job(request: Request, caller: Caller, identity: str) -> JobRecord | None:
    store: ServiceStore = request.app.state.store
    return await run_in_threadpool(store.jobs.find, caller.project, identity)


async def _find_plan(request: Request, caller: Caller, identity: str) -> StoredPlan:
    """A plan of the caller's project by plan_id or digest, else ProblemResponseError."""
    store: ServiceStore = request.app.state.store
    plan = await run_in_threadpool(store.plans.find, caller.project, identity)
    if plan is None:
        raise no_such_plan()
    return plan


async def find_plan_id(request: Request, caller: Caller, identity: str) -> str:
    """The plan_id of a plan, by it or by the id of its job; ProblemResponseError if the project has none."""
    job = await _find_job(request, caller, identity)
    return (await _find_plan(request, caller, identity if job is None else job.plan_digest)).plan_id


async def _answer_job(request: Request, job: JobRecord, view: PlanView = FULL_VIEW) -> Response:
    """The answer of a job that has ended."""
    if job.state != "done":
        return failure_response(job)
    desk: PlanDesk = request.app.state.desk
    answer = await desk.read_answer(job)
    if answer is None:
        raise no_such_plan()
    return plan_response(request, job, answer.plan, view)


async def _render_stored(request: Request, function: Callable[..., FilesAnswer], *arguments: object) -> FilesAnswer:
    """The answer of the process for reports; ProblemResponseError if it is busy or takes too long."""
    pool: RenderPool = request.app.state.renders
    limits: ServiceLimits = request.app.state.limits
    try:
        return await pool.run(function, *arguments)
    except BusyError:
        raise ProblemResponseError(busy_response()) from None
    except TooLongError:
        detail = f"It took more than {limits.seconds:g} seconds."
        raise ProblemResponseError(problems.problem_response(504, "too-long", "Too long", detail)) from None
