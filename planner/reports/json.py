"""The plan as JSON, whole and exact: keys in the order of the values' fields, dates ISO, floats in full.

The other formats are for people; this one can be read back (`loads`) and has a schema (`schema`).
"""

from __future__ import annotations

import functools
import json
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import CoreConfig, SchemaSerializer

from planner.request.errors import InputProblem, InternalError, InvalidRequest
from planner.result import Plan
from planner.result.field_descriptions import describe_fields

MEDIA_TYPE = "application/json"
SUFFIX = ".json"
NOT_FINITE = (b"NaN", b"Infinity")


def render(plan: Plan) -> bytes:
    """The plan as indented UTF-8 JSON with a newline at its end. InternalError if a number is not finite."""
    data = _plan_writer().to_json(plan, indent=2)  # by the types of fields: whole numbers in those of floats are floats
    if any(name in data for name in NOT_FINITE):  # in a figure, or in a text

        def refuse(_: str) -> None:
            raise InternalError(f"a figure of plan {plan.plan_id} is not a finite number")

        json.loads(data, parse_constant=refuse)
    return data + b"\n"


def loads(data: bytes) -> Plan:
    """The plan that `render` wrote. InvalidRequest with every fault and its JSON path if it is none."""
    try:
        return _plan_adapter().validate_json(data, strict=True)
    except ValidationError as error:
        raise InvalidRequest(tuple(_schema_problem(fault["loc"], fault["msg"]) for fault in error.errors())) from error


def schema() -> dict[str, Any]:
    """The JSON schema (2020-12) of the output of `render`, of one version; unknown names are allowed."""
    from planner.result import SCHEMA_VERSION

    plan_schema = _plan_adapter().json_schema(mode="serialization")
    describe_fields({"Plan": plan_schema, **plan_schema["$defs"]})
    plan_schema["properties"]["schema_version"]["const"] = SCHEMA_VERSION
    identity = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:gpu-planner:plan:{SCHEMA_VERSION}",
    }
    return identity | plan_schema


@functools.cache
def _plan_adapter() -> TypeAdapter[Plan]:
    return TypeAdapter(Plan)


@functools.cache
def _plan_writer() -> SchemaSerializer:
    """Writes NaN and infinity as such: `render` looks for them, where null would hide them."""
    return SchemaSerializer(_with_constants(_plan_adapter().core_schema))


def _with_constants(schema: Any) -> Any:
    """A schema in which every dataclass writes constants: the settings of one do not hold for those within it."""
    if isinstance(schema, list):
        return [_with_constants(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    own = {"config": CoreConfig(ser_json_inf_nan="constants")} if schema.get("type") == "dataclass" else {}
    return {name: _with_constants(each) for name, each in schema.items()} | own


def _schema_problem(steps: tuple[int | str, ...], message: str) -> InputProblem:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    return InputProblem(path, path or "the document", message)
