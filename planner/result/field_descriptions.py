"""The descriptions of fields: the text under each field of a class, as schemas and pages show it."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

PACKAGES = ("planner", "pricing")


@cache
def field_descriptions(described: type) -> Mapping[str, str]:
    """By field, the text under it in the source of the class, on one line; fields without one are left out."""
    [tree] = ast.parse(inspect.cleandoc(f"\n{inspect.getsource(described)}")).body
    assert isinstance(tree, ast.ClassDef)
    texts = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(text, ast.Expr):
            continue
        if isinstance(field.target, ast.Name) and isinstance(text.value, ast.Constant):
            texts[field.target.id] = " ".join(str(text.value.value).split())
    return texts


def describe_fields(schemas: Mapping[str, dict[str, Any]], *, always_present: bool = False) -> None:
    """Adds the descriptions to JSON schemas by class name, in place; a description that is there stays.

    `always_present`: all fields are required, as they are in whatever the program writes.
    """
    classes = {each.__name__: each for each in _loaded_classes()}
    for name, schema in schemas.items():
        properties = schema.get("properties", {})
        if always_present and properties:
            schema["required"] = list(properties)
        if name in classes:
            for field, text in field_descriptions(classes[name]).items():
                if field in properties:
                    properties[field].setdefault("description", text)


def _loaded_classes() -> Iterator[type]:
    """The classes of this project that are loaded. Their names are unique: tests/house/test_structure.py."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in PACKAGES:
            yield from (each for each in vars(module).values() if isinstance(each, type) and each.__module__ == name)
