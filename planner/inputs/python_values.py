"""Requests as Python values (mappings, lists, models): read like the same document in a file, with paths as places."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from planner.inputs.document_tree import DEPTH_MAX, DocumentNode, build_request
from planner.inputs.parsed_file import ParsedFile, UnreadableFile, reject_file

FORMAT = "python"


def read_values(value: Any, name: str) -> ParsedFile:
    """The request in a mapping, a model of the request, or a list of workloads; places are JSON paths."""
    try:
        plain = plain_value(value)
        data = json.dumps(plain, default=str, sort_keys=True).encode()
        root = _build_node(plain, "", 0)
    except (UnreadableFile, RecursionError):  # a list that holds itself
        return reject_file(b"", name, FORMAT, "nested too deep", expected="a request")
    source = build_request(data, name, FORMAT, root)
    return replace(source, places={}, inputs=replace(source.inputs, is_editable=False))  # a place is the path itself


def plain_value(value: Any) -> Any:
    """A value as JSON has it: models by the fields that are set, sequences as lists, numbers of numpy as Python's.

    >>> plain_value({"workloads": ({"name": "scoring"},)})
    {'workloads': [{'name': 'scoring'}]}
    """
    if isinstance(value, BaseModel):
        return plain_value(value.model_dump(exclude_unset=True))
    if isinstance(value, Mapping):
        return {str(key): plain_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if hasattr(value, "tolist"):
        return plain_value(value.tolist())  # arrays and scalars of numpy
    return value


def _build_node(value: Any, path: str, depth: int) -> DocumentNode:
    if depth > DEPTH_MAX:
        raise UnreadableFile("nested too deep")
    if isinstance(value, dict):
        pairs = [
            (DocumentNode(path, key), _build_node(each, f"{path}.{key}" if path else key, depth + 1))
            for key, each in value.items()
        ]
        return DocumentNode(path, pairs, "map")
    if isinstance(value, list):
        items = [_build_node(each, f"{path}[{index}]", depth + 1) for index, each in enumerate(value)]
        return DocumentNode(path, items, "list")
    return DocumentNode(path, value)
