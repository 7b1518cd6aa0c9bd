"""Reviews: stored with their scenarios, changed, shared for reading; and the answers of a project about its files."""

from __future__ import annotations

import time
from typing import TypeVar

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from planner.service import problems
from planner.service.callers import LOCAL_CALLER, Caller, identify_caller
from planner.service.problems import ProblemResponseError
from planner.service.review_documents import (
    ChangedReview,
    NewReview,
    Review,
    ReviewLink,
    ReviewSharing,
    describe_review,
    parse_body,
    state_text,
)
from planner.service.routes.plans import answer_report, find_plan_id
from planner.service.store import ServiceStore
from planner.service.store.audit import AuditAction
from planner.service.store.reviews import StoredReview
from planner.service.store.upkeep import SECONDS_PER_DAY
from planner.service.timestamps import to_time
from planner.service.uploads import JSON, read_bytes

REVIEW_BYTES = 1 << 18
"""Of the body of a review."""
PAGE_FORMAT = "review"
Body = TypeVar("Body", bound=BaseModel)


async def create_review(request: Request) -> Response:
    """Store a review of a plan: its title, moved figures and scenarios. Plans of reviews outlive their retention."""
    caller, body = identify_caller(request), await _read_body(request, NewReview)
    plan_id = await find_plan_id(request, caller, body.plan_id)
    reviews = _open_store(request).reviews
    made = await run_in_threadpool(reviews.create, caller, plan_id, body.title, state_text(body))
    return _answer_review(made, 201)


async def list_reviews(request: Request) -> list[Review]:
    """The reviews of the project, those changed last first."""
    listed = await run_in_threadpool(_open_store(request).reviews.list, identify_caller(request).project)
    return [describe_review(each) for each in listed]


async def read_review(request: Request, review_id: str) -> Response:
    """A review by its id."""
    return _answer_review(await _find_review(request, review_id))


async def change_review(request: Request, review_id: str) -> Response:
    """A review with another title, figures, scenarios and edited cells; and with another plan, where it names one."""
    stored, body = await _find_review(request, review_id), await _read_body(request, ChangedReview)
    if body.version == stored.version:
        reviews = _open_store(request).reviews
        named = await find_plan_id(request, identify_caller(request), body.plan_id) if body.plan_id else stored.plan_id
        changed = await run_in_threadpool(reviews.change, stored, named, body.title, state_text(body))
        if changed is not None:
            return _answer_review(changed)
    detail = "This review has changed since it was read. Read it again, and change that version."
    raise ProblemResponseError(problems.problem_response(409, "changed", "Changed meanwhile", detail))


async def delete_review(request: Request, review_id: str) -> Response:
    """Delete a review with its links; its plan stays."""
    caller = identify_caller(request)
    if not await run_in_threadpool(_open_store(request).reviews.delete, caller.project, review_id):
        raise _no_such_review()
    return Response(status_code=204)


async def share_review(request: Request, review_id: str) -> Response:
    """A link by which anybody reads this review, as it is then, without a key, until it ends."""
    stored, body = await _find_review(request, review_id), await _read_body(request, ReviewSharing)
    caller, store = identify_caller(request), _open_store(request)
    expires = time.time() + body.days * SECONDS_PER_DAY
    token = await run_in_threadpool(store.reviews.share, stored, caller.name, expires)
    await _record_act(request, caller, "share", stored.id)
    return Response(ReviewLink(token=token, expires=to_time(expires)).model_dump_json(), 201, media_type=JSON)


async def end_sharing(request: Request, review_id: str) -> Response:
    """End every link to a review."""
    stored = await _find_review(request, review_id)
    await run_in_threadpool(_open_store(request).reviews.end_links, stored)
    await _record_act(request, identify_caller(request), "unshare", stored.id)
    return Response(status_code=204)


async def read_shared_review(request: Request, token: str) -> Response:
    """The review of a link."""
    return _answer_review(await _find_shared(request, token))


async def read_shared_plan(request: Request, token: str) -> Response:
    """The plan of a link's review, as the page shows it."""
    stored = await _find_shared(request, token)
    return await answer_report(request, stored.project, stored.plan_id, PAGE_FORMAT)


async def list_answers(request: Request) -> dict[str, str]:
    """The last answers of the project to questions about files, by the id of the question."""
    return await run_in_threadpool(_open_store(request).answers.list, identify_caller(request).project)


def _open_store(request: Request) -> ServiceStore:
    store: ServiceStore = request.app.state.store
    return store


async def _read_body(request: Request, kind: type[Body]) -> Body:
    return parse_body(kind, await read_bytes(request, REVIEW_BYTES, "review"))


def _answer_review(stored: StoredReview, status: int = 200) -> Response:
    headers = {"location": f"/v1/reviews/{stored.id}"} if status == 201 else {}
    return Response(describe_review(stored).model_dump_json(), status, headers, JSON)


async def _find_review(request: Request, review_id: str) -> StoredReview:
    caller = identify_caller(request)
    stored = await run_in_threadpool(_open_store(request).reviews.find, caller.project, review_id)
    if stored is None:
        raise _no_such_review()
    return stored


async def _find_shared(request: Request, token: str) -> StoredReview:
    stored = await run_in_threadpool(_open_store(request).reviews.find_shared, token)
    if stored is None:
        detail = "This link has ended, or never was. Its sender can make a new one."
        raise ProblemResponseError(problems.problem_response(404, "no-such-link", "No such link", detail))
    return stored


async def _record_act(request: Request, caller: Caller, action: AuditAction, subject: str) -> None:
    if caller != LOCAL_CALLER:
        identity = getattr(request.state, "request_id", "")
        await run_in_threadpool(_open_store(request).audit.add, caller, action, subject, identity)


def _no_such_review() -> ProblemResponseError:
    detail = "No review of this project has this id; it may have been deleted."
    return ProblemResponseError(problems.problem_response(404, "no-such-review", "No such review", detail))
