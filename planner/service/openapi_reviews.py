"""The operations on reviews, as the OpenAPI document describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planner.service.openapi_parameters import SCHEMA, problem_responses
from planner.service.uploads import JSON


def _answer(status: int, description: str, kind: str) -> dict[int | str, dict[str, Any]]:
    return {status: {"description": description, "content": {JSON: {"schema": {"$ref": f"{SCHEMA}{kind}"}}}}}


def _body(kind: str, *, is_required: bool = True) -> Mapping[str, Any]:
    content = {JSON: {"schema": {"$ref": f"{SCHEMA}{kind}"}}}
    return {"requestBody": {"required": is_required, "content": content}}


_NONE = problem_responses(status_404="there is no such review, or no such plan")
_FAULTS = problem_responses(
    status_413="the body is too large", status_422="the review is not valid; `errors` lists every problem"
)
_NO_LINK = problem_responses(status_404="the link has ended, or never was")

CREATE_REVIEW: dict[str, Any] = {
    "status_code": 201,
    "responses": {**_answer(201, "It is stored; Location names it.", "Review"), **_NONE, **_FAULTS},
    "openapi_extra": _body("NewReview"),
}
READ_REVIEW: dict[str, Any] = {"responses": {**_answer(200, "The review.", "Review"), **_NONE}}
CHANGE_REVIEW: dict[str, Any] = {
    "responses": {
        **_answer(200, "The review as it is now.", "Review"),
        **_NONE,
        **_FAULTS,
        **problem_responses(status_409="it was changed since it was read"),
    },
    "openapi_extra": _body("ChangedReview"),
}
DELETE_REVIEW: dict[str, Any] = {
    "status_code": 204,
    "responses": {204: {"description": "Deleted."}, **_NONE},
}
SHARE_REVIEW: dict[str, Any] = {
    "status_code": 201,
    "responses": {**_answer(201, "The link.", "ReviewLink"), **_NONE, **_FAULTS},
    "openapi_extra": _body("ReviewSharing", is_required=False),
}
END_SHARING: dict[str, Any] = {"status_code": 204, "responses": {204: {"description": "No link is left."}, **_NONE}}
READ_SHARED_REVIEW: dict[str, Any] = {"responses": {**_answer(200, "The review of the link.", "Review"), **_NO_LINK}}
READ_SHARED_PLAN: dict[str, Any] = {
    "responses": {
        200: {"description": "Its plan, as the page shows it.", "content": {JSON: {}}},
        304: {"description": "The client has it already."},
        **_NO_LINK,
        **problem_responses(
            status_500="internal error; `id` is in the log of the service",
            status_503="as many plans wait as may",
            status_504="it took too long",
        ),
    }
}
