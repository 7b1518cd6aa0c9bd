"""From pydantic's errors to problems of the input: their path in the document, their place, and the nearest field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from planner.request.errors import InputProblem

_FIELD_MESSAGE = re.compile(r"([a-z_]\w*(?:\[\d+\])*(?:\.[a-z_]\w*(?:\[\d+\])*)*): (.+)", re.DOTALL)
"""A message that begins with the path of the field it is about."""


def locate_path(path: str, places: Mapping[str, str]) -> str:
    """The place of the longest known path that leads to `path`; `path` itself where none is known."""
    candidate = path
    while candidate:
        if candidate in places:
            return places[candidate]
        candidate = candidate[: max(candidate.rfind("."), candidate.rfind("["), 0)]
    return places.get("", "") or path


def list_problems(error: ValidationError, places: Mapping[str, str], model: type[BaseModel]) -> list[InputProblem]:
    """The problems of a document that pydantic reports, each at its place."""
    items = error.errors(include_url=False)
    return [_problem_from_error(item, places, model) for item in items if not _is_consequence(item, items)]


def _is_consequence(item: Any, items: Sequence[Any]) -> bool:
    """Whether a list is too short only because its elements have problems of their own."""
    path = item["loc"]
    return item["type"] == "too_short" and any(
        len(other["loc"]) > len(path) and other["loc"][: len(path)] == path for other in items
    )


def _problem_from_error(item: Any, places: Mapping[str, str], model: type[BaseModel]) -> InputProblem:
    *above, last = (*item["loc"],) or ("",)
    is_unknown = item["type"] == "extra_forbidden"  # its name comes from the document and may be anything
    path = _join_path(
        [
            *(part for part in above if _is_document_part(part)),
            *([last] if is_unknown or _is_document_part(last) else []),
        ]
    )
    message, value = item["msg"].removeprefix("Value error, "), item.get("input")
    if named := _FIELD_MESSAGE.fullmatch(message):  # a validator of several fields names the one it means
        path, message = f"{path}.{named[1]}" if path else named[1], named[2]
    value_text = "" if isinstance(value, dict | list | tuple) or value is None else repr(value)[:80]
    place = locate_path(path, places)
    if is_unknown:
        return _unknown_field(path, place, str(last)[:80], model)
    if item["type"] == "too_long":
        many, most = item["ctx"]["actual_length"], item["ctx"]["max_length"]
        return InputProblem(path, place, "too many", f"{many:,}", f"at most {most:,} together")
    return InputProblem(path, place, message, value_text)


def _is_document_part(part: object) -> bool:
    """Whether a part of pydantic's location is one of the document: an index or a field, not a step of validation."""
    return isinstance(part, int) or (
        str(part).isidentifier() and not str(part).startswith(("function", "constrained", "lax"))
    )


def _join_path(parts: Sequence[object]) -> str:
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path


def _unknown_field(path: str, place: str, name: str, model: type[BaseModel]) -> InputProblem:
    """A field that its part of the request does not have: with where it belongs, or the nearest name."""
    owners = _field_owners(model)
    if name in owners:
        where = " or ".join(owner or "the top level of the request" for owner in owners[name])
        return InputProblem(path, place, "field at the wrong level", name, f"{name} at {where}")
    near = get_close_matches(name.casefold(), sorted(owners), 1)
    return InputProblem(path, place, "unknown field", name, near[0] if near else "")


@cache
def _field_owners(model: type[BaseModel]) -> dict[str, list[str]]:
    """By field, the paths of the parts of a request that have it: "" for the request, workloads[].demand ..."""
    schema = model.model_json_schema()
    owners: dict[str, list[str]] = {}

    def visit(part: Mapping[str, Any], path: str) -> None:
        for reference in _references(part):
            visit(schema["$defs"][reference], path)
        if "items" in part:
            visit(part["items"], f"{path}[]")
        for name, field in part.get("properties", {}).items():
            owners.setdefault(name, []).append(path)
            visit(field, f"{path}.{name}" if path else name)

    visit(schema, "")
    return {name: list(dict.fromkeys(paths)) for name, paths in owners.items()}


def _references(part: Mapping[str, Any]) -> list[str]:
    """The definitions that a part of a JSON schema is one of."""
    options = (part, *part.get("anyOf", ()), *part.get("allOf", ()))
    return [option["$ref"].rpartition("/")[2] for option in options if "$ref" in option]
