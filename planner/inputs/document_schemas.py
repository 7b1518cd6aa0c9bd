"""JSON Schemas of the files that people write, for editors: made from the models that read them.

Draft 7, which every editor reads. A schema finds names, types and ranges; rules on several fields or on prices are
those of `planner check`. Numbers may be texts, as the reader takes them: an editor reads 1_800_000 as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from planner.inputs.answers_file import PARTS
from planner.inputs.document_tree import SCHEMA_KEY, WORKLOAD_KEYS
from planner.inputs.sheet_options import DATE_ORDERS, FIELDS
from planner.request.assumptions import SYSTEM_FIGURES, load_defaults
from planner.request.field_types import DescribedByFile
from planner.request.models import SETUP_FIELDS, Request, Workload
from planner.result.field_descriptions import describe_fields
from pricing.frozen_values import dataclass

DRAFT = "http://json-schema.org/draft-07/schema#"
NUMBER = r"^\s*[-+]?(\d[\d_]*(\.[\d_]*)?|\.\d+)([eE][-+]?\d+)?\s*$"
NUMBER_TYPES = ("number", "integer")
ANSWER: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
JsonSchema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentSchema:
    """A kind of file: where it is used, and the function that makes its schema."""

    used_by: str
    make: Callable[[], JsonSchema]


def make_request_schema() -> JsonSchema:
    """Of a request, a workload by itself, or a list of workloads."""
    definitions = _define_models()
    forms = {
        "if": {"type": "array"},
        "then": {"type": "array", "items": {"$ref": "#/definitions/Workload"}},
        "else": {
            "if": {"anyOf": [{"required": [name]} for name in sorted(WORKLOAD_KEYS)], "not": REQUEST_KEY},
            "then": {"$ref": "#/definitions/Workload"},
            "else": {"$ref": "#/definitions/Request"},
        },
    }
    return {
        **_describe_document("request", "GPU workloads and how to plan them, a workload by itself, or a list."),
        **forms,
    } | {"definitions": definitions}


REQUEST_KEY: JsonSchema = {"required": ["workloads"]}


def make_setup_schema() -> JsonSchema:
    """Of the file of `--setup`."""
    definitions = _define_models()
    properties = {name: definitions["Request"]["properties"][name] for name in SETUP_FIELDS}
    return closed_object("setup", "Hardware, quotes, site, finance and limits of a company.", properties) | {
        "definitions": {name: each for name, each in definitions.items() if name not in ("Request", "Workload")}
    }


def make_assumptions_schema() -> JsonSchema:
    """Of the file of `--assumptions`."""
    return {
        **_describe_document("assumptions", "Figures that replace the dated defaults, by name."),
        **_assumption_properties(),
    }


def make_answers_schema() -> JsonSchema:
    """Of the files of `--answers` and `--mapping`."""
    month = {"type": "string", "pattern": r"^20\d\d-(0[1-9]|1[0-2])$"}
    parts: dict[str, JsonSchema] = {
        "columns": {
            "description": "The field, or the month, that a column has, by its title.",
            "type": ["object", "null"],
            "additionalProperties": {"anyOf": [{"enum": list(FIELDS)}, month]},
        },
        "dates": {
            "description": "The order of dates such as 03/04/2027: day or month first.",
            "enum": [*DATE_ORDERS, ""],
        },
        "sheets": {
            "description": "The sheets to read; the others are left out.",
            "type": "array",
            "items": {"type": ["string", "integer"]},
        },
        "answers": {
            "description": "The choice for each doubt, by its id.",
            "type": ["object", "null"],
            "additionalProperties": ANSWER,
        },
        "cells": {
            "description": "Values that replace cells of the file, by their place.",
            "type": ["object", "null"],
            "additionalProperties": ANSWER,
        },
    }
    described = "How a sheet is read, as --save-answers and --save-mapping write it."
    return closed_object("answers", described, {name: parts[name] for name in PARTS}) | {"minProperties": 1}


REQUEST_SCHEMAS: Mapping[str, DocumentSchema] = MappingProxyType(
    {
        "answers": DocumentSchema("--answers and --mapping", make_answers_schema),
        "assumptions": DocumentSchema("--assumptions", make_assumptions_schema),
        "request": DocumentSchema("planner estimate FILE", make_request_schema),
        "setup": DocumentSchema("--setup", make_setup_schema),
    }
)
"""The files of a request by their names."""


def request_properties() -> JsonSchema:
    """The fields of a request by name."""
    properties: JsonSchema = _define_models()["Request"]["properties"]
    return properties


def _describe_document(name: str, description: str) -> JsonSchema:
    return {"$schema": DRAFT, "title": f"gpu-planner {name}", "description": description}


def closed_object(name: str, description: str, properties: JsonSchema) -> JsonSchema:
    """The schema of a file with these parts and no others."""
    closed = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**_describe_document(name, description), **closed}


def _define_models() -> dict[str, JsonSchema]:
    """Every class of a request by its name, as files may state it."""
    schema = Request.model_json_schema(ref_template="#/definitions/{model}")
    definitions: dict[str, JsonSchema] = schema.pop("$defs") | {"Request": schema}
    describe_fields(definitions)
    for each in _list_schemas(definitions):
        _adapt_to_files(each)
    for described in DescribedByFile.__subclasses__():
        _allow_file(definitions[described.__name__], described)
    request, workload = definitions["Request"], definitions[Workload.__name__]
    for each in (request, workload):  # each may be a whole document
        each["properties"][SCHEMA_KEY] = {"type": "string", "description": "The schema, for editors; not read."}
    request["required"].remove("as_of")  # the default is the current date
    workload["anyOf"] = [{"required": ["demand"]}, {"required": ["sweep"]}, _requests_by_trace()]
    _allow_quota_table(request["properties"])
    request["properties"]["assumptions"].update(_assumption_properties())
    return dict(sorted(definitions.items()))


def _list_schemas(value: Any) -> Iterator[JsonSchema]:
    """Every schema within a document of schemas."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_schemas(each)


def _adapt_to_files(schema: JsonSchema) -> None:
    """Leaves out titles that repeat the name, closes mappings by month, and takes numbers as texts."""
    if isinstance(schema.get("title"), str):
        del schema["title"]
    if "patternProperties" in schema:
        schema.setdefault("additionalProperties", False)
    if schema.get("type") in NUMBER_TYPES:
        schema["type"], schema["pattern"] = [schema["type"], "string"], NUMBER


def _allow_file(schema: JsonSchema, described: type[DescribedByFile]) -> None:
    """The field that names a file: it may give any other field."""
    field, required = described.FILE_FIELD, schema.pop("required", [])
    schema["properties"][field] = {"type": "string", "description": described.FILE_MEANING}
    if required:
        schema["anyOf"] = [{"required": required}, {"required": [field]}]


def _requests_by_trace() -> JsonSchema:
    """A served model whose demand is in the trace of its requests."""
    return {"required": ["serving"], "properties": {"serving": {"type": "object", "required": ["trace"]}}}


def _allow_quota_table(properties: JsonSchema) -> None:
    rows = properties["quotas"]
    described = {
        "description": f"{rows.pop('description')} Or the name of a table of quotas.",
        "default": rows.pop("default"),
    }
    properties["quotas"] = {**described, "anyOf": [rows, {"type": "string"}]}


def _assumption_properties() -> JsonSchema:
    """The assumptions by name, each with its meaning, unit, default and range."""
    number = {"type": ["number", "string"], "pattern": NUMBER}
    properties = {}
    for each in load_defaults().values():
        limits = "" if each.low is None or each.high is None else f", {each.low:g} to {each.high:g}"
        text = f"{each.meaning}, {each.unit}. Default {each.value:g}{limits} ({each.as_of}). {each.source}"
        properties[each.name] = {**number, "description": text}
    systems = "|".join(SYSTEM_FIGURES)
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": {f"^({systems})[a-z0-9_]+$": number},
        "additionalProperties": False,
    }
