"""The parts of the OpenAPI document beyond the routes: schemas of requests and answers, parameters, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from planner.reports import formats, load, terraform
from planner.request.models import Request, Workload
from planner.result import Plan, StrategyName
from planner.result.field_descriptions import describe_fields, field_descriptions
from planner.service import problems
from planner.service.plan_jobs import COMPARE_TO, COMPARE_TO_HELP, FILE_PARAMETERS, SETTINGS
from planner.service.problems import Problem
from planner.service.uploads import FIELD, FORM, JSON, SUFFIXES
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
SCHEMA = "#/components/schemas/"
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
BINARY = {"type": "string", "format": "binary", "description": "a sheet, a bill or a request, of any format read"}


def media_types() -> dict[str, str]:
    """The name of each report by its media type; JSON, the default, first."""
    names: dict[str, str] = {}
    for name in sorted(formats(), key=lambda name: (name != "json", name)):
        names.setdefault(load(name).MEDIA_TYPE.partition(";")[0], name)
    return names


def _problem_responses(**descriptions: str) -> dict[int | str, dict[str, Any]]:
    """Responses in the form of a problem: status_415="why"."""
    return {
        int(status.removeprefix("status_")): {
            "description": why,
            "content": {problems.MEDIA_TYPE: {"schema": {"$ref": f"{SCHEMA}Problem"}}},
        }
        for status, why in descriptions.items()
    }


def _example_references(kind: str, *, refused: bool | None = None) -> dict[str, dict[str, str]]:
    return {
        name: {"summary": summary, "externalValue": f"examples/{name}.{kind}.json"}
        for name, summary in EXAMPLES.items()
        if refused is None or (name in REJECTED_EXAMPLES) == refused
    }


def _query_parameter(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": dict(schema)}


def _format_parameter() -> dict[str, Any]:
    return _query_parameter("format", "report to answer with; wins over the Accept header", {"enum": list(formats())})


def _setting_parameter(name: str) -> dict[str, Any]:
    described = f"{field_descriptions(Request)[name].rstrip('.')}; wins over `{name}` of the request"
    is_list = isinstance(SETTINGS[name].default, tuple)
    return _query_parameter(name, f"{described}{'; comma-separated' if is_list else ''}", {"type": "string"})


def _file_parameter(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if name == "map":
        schema = {"type": "array", "items": schema}
    elif name == "substitution":
        schema = {"type": "boolean", "default": False}
    return _query_parameter(name, FILE_PARAMETERS[name], schema)


def _filter_parameter(name: str) -> dict[str, Any]:
    item = FIELDS[name]
    schema: dict[str, Any] = {"type": "string"}
    if item.default == ():
        schema = {"type": "array", "items": {"type": "string"}}
    elif item.metadata["choices"]:
        schema = {"enum": list(item.metadata["choices"]), "default": item.default}
    elif item.default is False:
        schema = {"type": "boolean", "default": False}
    return _query_parameter(name, item.metadata["help"], schema)


def _plan_responses() -> dict[int | str, dict[str, Any]]:
    content: dict[str, Any] = {media_type: {} for media_type in media_types()} | {
        "application/json": {
            "schema": {"$ref": f"{SCHEMA}Plan"},
            "examples": _example_references("answer", refused=False),
        }
    }
    responses = _problem_responses(
        status_400="the body is not valid JSON, or not a valid form",
        status_404="`compare_to` is not the plan_id of a plan in memory",
        status_406="no report has an acceptable media type",
        status_413="the body is too large",
        status_415="the media type of the body is not supported",
        status_422="the request, or the file, cannot be planned; `errors` lists every problem with its place",
        status_500="internal error; `id` is in the log of the service",
        status_503="the queue is full, or the price tables cannot be read",
        status_504="no plan was proven in time",
    )
    responses[422]["content"][problems.MEDIA_TYPE]["examples"] = _example_references("answer", refused=True)
    return {200: {"description": "The plan; `status` is infeasible if there is none.", "content": content}, **responses}


PLAN: dict[str, Any] = {
    "responses": _plan_responses(),
    "openapi_extra": {
        "parameters": [
            _format_parameter(),
            *(_setting_parameter(name) for name in SETTINGS),
            *map(_file_parameter, FILE_PARAMETERS),
            _query_parameter(COMPARE_TO, COMPARE_TO_HELP, {"type": "string"}),
        ],
        "requestBody": {
            "required": True,
            "content": {
                JSON: {
                    "schema": {
                        "anyOf": [
                            {"$ref": f"{SCHEMA}Request"},
                            {"$ref": f"{SCHEMA}Workload"},
                            {"type": "array", "items": {"$ref": f"{SCHEMA}Workload"}},
                        ]
                    },
                    "examples": _example_references("request"),
                },
                FORM: {"schema": {"type": "object", "properties": {FIELD: BINARY}, "required": [FIELD]}},
                **{media_type: {"schema": BINARY} for media_type in SUFFIXES},
            },
        },
    },
}

TERRAFORM: dict[str, Any] = {
    "responses": {
        200: {"description": "The files, zipped; the same bytes each time.", "content": {terraform.MEDIA_TYPE: {}}},
        **_problem_responses(
            status_404="the plan is not among the last that were answered",
            status_422="unknown names or values; `errors` names every one",
            status_500="internal error; `id` is in the log of the service",
            status_503="as many plans wait as may",
            status_504="it took too long",
        ),
    },
    "openapi_extra": {
        "parameters": [
            _query_parameter(
                "strategy", "strategy of the plan; the recommended one if left out", {"enum": list(STRATEGIES)}
            ),
            _query_parameter(
                "nodes", "machines of their own, or node pools", {"enum": list(terraform.KINDS), "default": "vm"}
            ),
        ]
    },
}

OFFERS: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The offerings.",
            "content": {"application/json": {"schema": {"$ref": f"{SCHEMA}Offers"}}},
        },
        **_problem_responses(status_422="unknown names or values; `errors` names every one"),
    },
    "openapi_extra": {"parameters": [_filter_parameter(name) for name in FIELDS]},
}


def install_openapi(app: FastAPI) -> None:
    """Have `app` describe itself with the schemas that its handlers read and write by hand."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            describe_fields(described["components"]["schemas"], always_present=True)
            described["components"]["schemas"] = dict(
                sorted({**described["components"]["schemas"], **_component_schemas()}.items())
            )
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # the way that FastAPI documents for it


def _component_schemas() -> dict[str, Any]:
    """The schemas of all classes in requests and answers; answers always have all their fields."""
    requests = _class_schemas((Request, Workload), "validation")
    requests["Request"]["required"].remove("as_of")  # the default is the current date
    requests["Workload"]["anyOf"] = [{"required": ["demand"]}, {"required": ["sweep"]}]
    return requests | _class_schemas((Plan, Offers, Problem), "serialization")


def _class_schemas(classes: Sequence[type], mode: Mode) -> dict[str, Any]:
    adapters: list[tuple[str, Mode, TypeAdapter[Any]]] = [(each.__name__, mode, TypeAdapter(each)) for each in classes]
    _, definitions = TypeAdapter.json_schemas(adapters, ref_template=f"{SCHEMA}{{model}}")
    schemas: dict[str, Any] = definitions["$defs"]
    describe_fields(schemas, always_present=mode == "serialization")
    return schemas
