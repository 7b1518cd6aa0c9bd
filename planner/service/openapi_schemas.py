"""The parts of the OpenAPI document beyond the routes: schemas of requests and answers, parameters, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from planner.reports import formats, load, terraform
from planner.request.models import Request, Workload
from planner.result import Plan, StrategyName
from planner.result.field_descriptions import describe_fields
from planner.service import problems
from planner.service.gate.security_schemes import describe_security
from planner.service.openapi_parameters import (
    SCHEMA,
    file_parameters,
    filter_parameter,
    format_parameter,
    header_parameter,
    problem_responses,
    query_parameter,
    setting_parameters,
    view_parameters,
)
from planner.service.plan_answers import PlanJob
from planner.service.plan_jobs import ASSUMPTION, ASSUMPTION_HELP, COMPARE_TO, COMPARE_TO_HELP
from planner.service.plan_views import DETAILS
from planner.service.problems import Problem
from planner.service.review_documents import ChangedReview, NewReview, Review, ReviewLink, ReviewSharing
from planner.service.routes.operations import Readiness
from planner.service.uploads import ANSWERS, FIELD, FORM, JSON
from pricing.search import FIELDS
from pricing.search.results import Offers

DESCRIPTION = """Plans GPU capacity over months: which accelerators to rent, commit to or buy, where, at which cost.

Every price and assumption has its source and date; missing data is listed as a gap in the answer and never counted as
zero. The same request on the same catalogue gives the same bytes. Private prices and exchange rates come from the data
folder of the service; a request can set a currency, but no file. Errors are RFC 9457 problems that list every problem
of the request with its place. Example requests and answers are in the folder examples/ of this document and serve as
its tests. They are sent to /plan?as_of=2026-11-21, so that the answers do not depend on the current date."""

Mode = Literal["validation", "serialization"]
STRATEGIES = get_args(StrategyName)
EXAMPLES = {
    "measured": "one measured workload, and its cost on every suitable accelerator",
    "portfolio": "workloads of several teams, planned together",
    "bad": "a request with several problems, all listed at once",
    "infeasible": "a demand without a feasible plan: the reasons, and the limits to relax",
}
"""The request and answer pairs in examples/: NAME.request.json, posted with QUERY, and NAME.answer.json."""
QUERY = {"as_of": "2026-11-21"}
REJECTED_EXAMPLES = ("bad",)
"""The pairs whose answer is a 422."""
WORKLOAD_EXAMPLES = ("measured",)
"""The pairs whose request is a workload alone."""
BINARY = {"type": "string", "format": "binary", "description": "a sheet, a bill or a request, of any format read"}


@cache
def media_types() -> Mapping[str, str]:
    """The name of each report by its media type; JSON, the default, first."""
    names: dict[str, str] = {}
    for name in sorted(formats(), key=lambda name: (name != "json", name)):
        names.setdefault(load(name).MEDIA_TYPE.partition(";")[0], name)
    return names


def _example_references(
    kind: str, *, refused: bool | None = None, left_out: Sequence[str] = ()
) -> dict[str, dict[str, str]]:
    return {
        name: {"summary": summary, "externalValue": f"examples/{name}.{kind}.json"}
        for name, summary in EXAMPLES.items()
        if name not in left_out and (refused is None or (name in REJECTED_EXAMPLES) == refused)
    }


def _plan_responses() -> dict[int | str, dict[str, Any]]:
    content: dict[str, Any] = {media_type: {} for media_type in media_types()} | {
        "application/json": {
            "schema": {"$ref": f"{SCHEMA}Plan"},
            "examples": _example_references("answer", refused=False),
        }
    }
    responses = problem_responses(
        status_400="the body is not valid JSON, or not a valid form",
        status_404="`compare_to` is not the plan_id of an earlier plan",
        status_406="no report has an acceptable media type",
        status_413="the body is too large",
        status_415="the media type of the body is not supported",
        status_422="the request, or the file, cannot be planned; `errors` lists every problem with its place",
        status_500="internal error; `id` is in the log of the service",
        status_503="the queue is full, or the price tables cannot be read",
        status_504="no plan was found in time",
    )
    responses[422]["content"][problems.MEDIA_TYPE]["examples"] = _example_references("answer", refused=True)
    return {200: {"description": "The plan; `status` is infeasible if there is none.", "content": content}, **responses}


def _plan_or_summary() -> dict[str, Any]:
    response = _plan_responses()[200]
    kinds = [{"$ref": f"{SCHEMA}Plan"}, {"$ref": f"{SCHEMA}PlanSummary"}]
    document = {**response["content"][JSON], "schema": {"anyOf": kinds}}
    return {**response, "content": {**response["content"], JSON: document}}


def _json_body(*names: str) -> dict[str, Any]:
    schemas: list[dict[str, Any]] = [{"$ref": f"{SCHEMA}{name}"} for name in names]
    if len(names) > 1:
        schemas.append({"type": "array", "items": schemas[-1]})
    schema = {"anyOf": schemas} if len(schemas) > 1 else schemas[0]
    left_out = () if "Workload" in names else WORKLOAD_EXAMPLES
    return {JSON: {"schema": schema, "examples": _example_references("request", left_out=left_out)}}


FORM_BODY = {
    FORM: {
        "schema": {
            "type": "object",
            "properties": {
                FIELD: BINARY,
                ANSWERS: {"type": "string", "format": "binary", "description": "an answers file, in YAML"},
            },
            "required": [FIELD],
        }
    }
}
PREFER = header_parameter("Prefer", "wait=N: answer with the plan if it is made within N seconds (RFC 7240)")
KEY = header_parameter("Idempotency-Key", "name of this request: sent again, it has the same job")
COMPARISON = query_parameter(COMPARE_TO, COMPARE_TO_HELP, {"type": "string"})
ASSUMPTIONS = query_parameter(ASSUMPTION, ASSUMPTION_HELP, {"type": "array", "items": {"type": "string"}})

PLAN: dict[str, Any] = {
    "responses": _plan_responses(),
    "openapi_extra": {
        "parameters": [format_parameter(), *setting_parameters(), *file_parameters(), ASSUMPTIONS, COMPARISON],
        "requestBody": {
            "required": True,
            "content": _json_body("Request", "Workload"),  # files, which it takes, too, are for /v1/plans/file
        },
    },
}
_STATE = {"description": "It is not made yet: its state.", "content": {JSON: {"schema": {"$ref": f"{SCHEMA}PlanJob"}}}}
_NO_SUCH_PLAN = problem_responses(status_404="there is no such plan")


def _create_plan(content: Mapping[str, Any], parameters: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """An operation that asks for a plan with one type of body."""
    common = [
        PREFER,
        KEY,
        format_parameter(),
        *view_parameters(),
        *setting_parameters(),
        *parameters,
        ASSUMPTIONS,
        COMPARISON,
    ]
    responses = {**PLAN["responses"], 200: _plan_or_summary(), 202: _STATE}
    extra = {"parameters": common, "requestBody": {"required": True, "content": dict(content)}}
    return {"responses": responses, "openapi_extra": extra}


CREATE_PLAN = _create_plan(_json_body("Request"), ())
CREATE_PLAN_FROM_FILE = _create_plan(FORM_BODY, file_parameters())
READ_PLAN: dict[str, Any] = {
    "responses": {
        200: _plan_or_summary(),
        202: _STATE,
        304: {"description": "The client has it already."},
        **{status: PLAN["responses"][status] for status in (400, 422, 500, 503, 504)},
        **_NO_SUCH_PLAN,
        **problem_responses(status_410="it was cancelled"),
    },
    "openapi_extra": {"parameters": view_parameters()},
}
DELETE_PLAN: dict[str, Any] = {
    "status_code": 204,
    "responses": {204: {"description": "Cancelled, or deleted."}, **_NO_SUCH_PLAN},
}
PLAN_AGAIN: dict[str, Any] = {
    "status_code": 202,
    "responses": {202: _STATE, **_NO_SUCH_PLAN, **problem_responses(status_503="the queue is full")},
    "openapi_extra": {"parameters": PLAN["openapi_extra"]["parameters"]},
}
REPORT: dict[str, Any] = {
    "responses": {
        200: {"description": "The plan in this format.", "content": {kind: {} for kind in media_types()}},
        304: {"description": "The client has it already."},
        **_NO_SUCH_PLAN,
        **problem_responses(
            status_422="unknown format",
            status_500="internal error; `id` is in the log of the service",
            status_503="as many plans wait as may",
            status_504="it took too long",
        ),
    }
}
PLAN_EVENTS: dict[str, Any] = {
    "responses": {
        200: {"description": "An event each time that the state changes.", "content": {"text/event-stream": {}}},
        **_NO_SUCH_PLAN,
    }
}
TERRAFORM: dict[str, Any] = {
    "responses": {
        200: {"description": "The files, zipped; the same bytes each time.", "content": {terraform.MEDIA_TYPE: {}}},
        **problem_responses(
            status_404="there is no such plan",
            status_422="unknown names or values; `errors` names every one",
            status_500="internal error; `id` is in the log of the service",
            status_503="as many wait as may",
            status_504="it took too long",
        ),
    },
    "openapi_extra": {
        "parameters": [
            query_parameter(
                "strategy",
                "strategy of the plan; the recommended one if left out",
                {"type": "string", "enum": list(STRATEGIES)},
            ),
            query_parameter(
                "nodes",
                "machines of their own, or node pools",
                {"type": "string", "enum": list(terraform.KINDS), "default": "vm"},
            ),
            query_parameter("provider", "the only provider to write; all if left out", {"type": "string"}),
        ]
    },
}

READY: dict[str, Any] = {
    "response_model": Readiness,
    "responses": problem_responses(status_503="what is not ready: workers, prices or store"),
}

OFFERS: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The offerings.",
            "headers": {"Link": {"description": "The next page, as rel=next.", "schema": {"type": "string"}}},
            "content": {"application/json": {"schema": {"$ref": f"{SCHEMA}Offers"}}},
        },
        **problem_responses(status_422="unknown names or values; `errors` names every one"),
    },
    "openapi_extra": {
        "parameters": [
            *(filter_parameter(name) for name in FIELDS),
            query_parameter("cursor", "where the page begins, from the header Link of the last", {"type": "string"}),
        ]
    },
}


def install_openapi(app: FastAPI) -> None:
    """Have `app` describe itself with the schemas that its handlers read and write by hand."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                servers=[{"url": "/", "description": "this service"}],
            )
            describe_fields(described["components"]["schemas"], always_present=True)
            described["components"]["schemas"] = dict(
                sorted({**described["components"]["schemas"], **_component_schemas()}.items())
            )
            describe_security(described)
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # the way that FastAPI documents for it


def _component_schemas() -> dict[str, Any]:
    """The schemas of all classes in requests and answers; answers always have all their fields."""
    requests = _class_schemas((Request, Workload), "validation")
    requests["Request"]["required"].remove("as_of")  # the default is the current date
    requests["Workload"]["anyOf"] = [{"required": ["demand"]}, {"required": ["sweep"]}]
    answers = _class_schemas((Plan, PlanJob, Offers, Review, ReviewLink), "serialization")
    answers["PlanSummary"] = _summarize_plan(answers["Plan"])
    bodies = _class_schemas((Problem, NewReview, ChangedReview, ReviewSharing), "validation")
    return requests | answers | bodies  # parts of a problem that are empty are left out


def _summarize_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a plan of which details may be left out."""
    return {
        **plan,
        "title": "PlanSummary",
        "description": "A plan without its details, or with some of them.",
        "required": [name for name in plan["required"] if name not in DETAILS],
    }


def _class_schemas(classes: Sequence[type], mode: Mode) -> dict[str, Any]:
    adapters: list[tuple[str, Mode, TypeAdapter[Any]]] = [(each.__name__, mode, TypeAdapter(each)) for each in classes]
    _, definitions = TypeAdapter.json_schemas(adapters, ref_template=f"{SCHEMA}{{model}}")
    schemas: dict[str, Any] = definitions["$defs"]
    describe_fields(schemas, always_present=mode == "serialization")
    return schemas
