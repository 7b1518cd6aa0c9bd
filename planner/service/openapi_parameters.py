"""The parameters of the operations, each with its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from planner.reports import formats
from planner.request.models import Request
from planner.result.field_descriptions import field_descriptions
from planner.service import problems
from planner.service.cell_parameters import CELL, EDITED
from planner.service.plan_jobs import ACCEPT, ANSWER, FILE_PARAMETERS, MAP, SETTINGS, SHEET
from planner.service.plan_views import INCLUDE, PLAN_FIELDS, VIEW, VIEWS
from pricing.search import FIELDS

SCHEMA = "#/components/schemas/"
LISTS, FLAGS = (MAP, SHEET, ANSWER, CELL, EDITED), (ACCEPT, "substitution")
TEXT = {"type": "string"}


def query_parameter(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter of the query that may be left out."""
    return {"name": name, "in": "query", "required": False, "description": description, "schema": dict(schema)}


def header_parameter(name: str, description: str) -> dict[str, Any]:
    """A header that may be left out."""
    return {"name": name, "in": "header", "required": False, "description": description, "schema": TEXT}


def format_parameter() -> dict[str, Any]:
    """The format of the answer."""
    schema = {"type": "string", "enum": list(formats())}
    return query_parameter("format", "report to answer with; wins over the Accept header", schema)


def view_parameters() -> list[dict[str, Any]]:
    """The parts of a plan that are answered."""
    names = {"type": "array", "items": {"type": "string", "enum": list(PLAN_FIELDS)}}
    return [
        query_parameter(
            VIEW,
            "full, or summary: without the offers that were considered and other details",
            {"type": "string", "enum": list(VIEWS), "default": VIEWS[0]},
        ),
        query_parameter(INCLUDE, "details that a summary has nevertheless; implies view=summary", names),
    ]


def setting_parameters() -> list[dict[str, Any]]:
    """The fields of a request that the query may set."""
    descriptions = field_descriptions(Request)
    return [
        query_parameter(
            name, f"{descriptions[name].rstrip('.')}; wins over `{name}` of the request", _field_schema(name)
        )
        for name in SETTINGS
    ]


@cache
def _request_properties() -> Mapping[str, Any]:
    properties: Mapping[str, Any] = Request.model_json_schema(ref_template=f"{SCHEMA}{{model}}")["properties"]
    return properties


def _field_schema(name: str) -> dict[str, Any]:
    """The schema of a field of the request, less null: a parameter is left out instead."""
    schema = dict(_request_properties()[name])
    kinds: Sequence[Mapping[str, Any]] = [kind for kind in schema.pop("anyOf", []) if kind.get("type") != "null"]
    if len(kinds) == 1:
        schema |= kinds[0]
    elif kinds:
        schema["anyOf"] = list(kinds)
    return {key: value for key, value in schema.items() if key not in ("title", "default", "description")}


def file_parameters() -> list[dict[str, Any]]:
    """The parameters for a file."""
    return [query_parameter(name, description, _file_schema(name)) for name, description in FILE_PARAMETERS.items()]


def _file_schema(name: str) -> dict[str, Any]:
    if name in LISTS:
        return {"type": "array", "items": TEXT}
    return {"type": "boolean", "default": False} if name in FLAGS else TEXT


def filter_parameter(name: str) -> dict[str, Any]:
    """A filter of offers."""
    item = FIELDS[name]
    schema: dict[str, Any] = dict(TEXT)
    if item.default == ():
        schema = {"type": "array", "items": TEXT}
    elif item.metadata["choices"]:
        schema = {"type": "string", "enum": list(item.metadata["choices"]), "default": item.default}
    elif item.default is False:
        schema = {"type": "boolean", "default": False}
    elif "int" in str(item.type):
        schema = {"type": "integer", "minimum": 1}
    elif "float" in str(item.type):
        schema = {"type": "number"}
    return query_parameter(name, item.metadata["help"], schema)


def problem_responses(**descriptions: str) -> dict[int | str, dict[str, Any]]:
    """Responses in the form of a problem: status_415="why"."""
    return {
        int(status.removeprefix("status_")): {
            "description": why,
            "content": {problems.MEDIA_TYPE: {"schema": {"$ref": f"{SCHEMA}Problem"}}},
        }
        for status, why in descriptions.items()
    }
