"""The page docs/reference/request.md: every field of a request, from the description of the service."""

from __future__ import annotations

import json
import re
from typing import Any

LIMIT_SIGNS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}


def request_fields() -> str:
    """Every field of a request, part by part."""
    from planner.service.app import create

    schemas = create().openapi()["components"]["schemas"]
    parts = [
        "# Request",
        "",
        "The fields of a request, as YAML, JSON or `POST /plan` take them. A workload by itself is a request too.",
        "Names in *italics* are parts with a table of their own. What is not required has the default shown, or none.",
    ]
    for name in _reachable(schemas, "Request"):
        schema = schemas[name]
        required = {*schema.get("required", ()), *(["demand"] if name == "Workload" else [])}
        parts += ["", f"## {name}", "", _one_line(schema["description"]), ""]
        parts += ["| field | type | required or default | meaning |", "| --- | --- | --- | --- |"]
        for field, item in schema["properties"].items():
            default = "required" if field in required else _default_words(item)
            cells = (f"`{field}`", _type_words(item), default, item["description"])
            parts.append(f"| {' | '.join(_one_line(cell).replace('|', '/') for cell in cells)} |")
    return "\n".join(parts)


def _reachable(schemas: dict[str, Any], first: str) -> list[str]:
    """The names of the schemas that one refers to, in the order in which a reader meets them."""
    names = [first]
    for name in names:
        text = json.dumps(schemas[name])
        names += [other for other in re.findall(r"#/components/schemas/(\w+)", text) if other not in names]
    return list(dict.fromkeys(names))


def _type_words(schema: dict[str, Any]) -> str:
    """The type of a field in words, with its limits."""
    if "$ref" in schema:
        return f"*{schema['$ref'].rpartition('/')[2]}*"
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(_type_words(each) for each in choices if each.get("type") != "null"))
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{each}`" for each in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type_words(schema.get('items', {}))}"
    limits = [f"{sign} {schema[key]:g}" for key, sign in LIMIT_SIGNS.items() if key in schema]
    return " ".join([kind, *limits])


def _default_words(schema: dict[str, Any]) -> str:
    default = schema.get("default")
    return "" if default in (None, "", []) or isinstance(default, dict) else f"`{json.dumps(default)}`"


def _one_line(text: str) -> str:
    return " ".join(text.split())
