"""Builds a request from a tree of nodes with places: the part of reading that YAML and JSON share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planner.inputs.cell_answers import ScalarEdits, edit_notes
from planner.inputs.parsed_file import ParsedFile, UnreadableFile, digest, placeholder_request, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import decode
from planner.request.errors import InputProblem
from planner.result import InputProvenance, InputReading
from pricing.frozen_values import dataclass

DEPTH_MAX = 40
NODES_MAX = 200_000
CHARACTERS_MAX = 2_000_000
SCHEMA_KEY = "$schema"
"""The key by which an editor finds the schema of a document; no part of a request."""
WORKLOAD_KEYS = frozenset(("name", "demand", "measurements", "serving", "sweep"))
"""A document with one of these and without `workloads` is one workload: a request has none of them."""


@dataclass(frozen=True, slots=True)
class DocumentNode:
    """A value with its place. `value` is a scalar, a list of nodes, or a list of (key node, node) pairs."""

    place: str
    value: Any
    shape: str = "scalar"


def document_text(data: bytes) -> str:
    """The text of a document in UTF-8 or UTF-16. Raises UnreadableFile."""
    try:
        text = decode(data)[0].removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"not text: byte {error.start} is not UTF-8") from None
    if len(text) > CHARACTERS_MAX:
        raise UnreadableFile(f"{len(text):,} characters are too many; at most {CHARACTERS_MAX:,}")
    return text


def build_request(
    data: bytes, name: str, format_name: str, root: DocumentNode, options: SheetOptions = NO_SHEET_OPTIONS
) -> ParsedFile:
    """The request in a document: a complete one, a single workload, or a list of workloads."""
    walk = _DocumentConverter(ScalarEdits(options))
    if root.shape == "map":
        root = replace(root, value=[pair for pair in root.value if pair[0].value != SCHEMA_KEY])
    prefix, wrap = _detect_form(root)
    try:
        value = walk.value(root, prefix, 0)
    except UnreadableFile as error:
        return reject_file(data, name, format_name, f"not read: {error}", place=root.place, expected="a request")
    notes: tuple[str, ...] = ()
    if wrap == "workload":
        value = {"workloads": [value]}
        notes = ("a single workload: planned as a portfolio of one",)
    elif wrap == "workloads":
        value = {"workloads": value}
    elif not isinstance(value, dict):
        expected = "workloads: a list of workloads, each with name and demand"
        walk.complaints.append(InputProblem("", root.place, "not a request", str(value)[:80], expected))
    document = value if isinstance(value, dict) else placeholder_request()
    edits = tuple(walk.edits.edits)
    inputs = InputProvenance(
        name,
        format_name,
        digest(data),
        readings=tuple(walk.readings),
        notes=(*edit_notes(edits), *notes),
        edits=edits,
        is_editable=True,
    )
    return ParsedFile(document, inputs, (*walk.complaints, *walk.edits.unused()), walk.places)


def _detect_form(root: DocumentNode) -> tuple[str, str]:
    """The path of the root in a request, and the key it must be wrapped in."""
    if root.shape == "list":
        return "workloads", "workloads"
    keys = {key.value for key, _ in root.value} if root.shape == "map" else set()
    if "workloads" not in keys and keys & WORKLOAD_KEYS:
        return "workloads[0]", "workload"
    return "", ""


class _DocumentConverter:
    """Turns nodes into values, records the place of each path and reports duplicate keys."""

    def __init__(self, edits: ScalarEdits) -> None:
        self.edits = edits
        self.places: dict[str, str] = {}
        self.complaints: list[InputProblem] = []
        self.readings: list[InputReading] = []
        self._nodes = 0

    def value(self, node: DocumentNode, path: str, depth: int) -> Any:
        self._nodes += 1
        if depth > DEPTH_MAX or self._nodes > NODES_MAX:
            raise UnreadableFile("nested too deep" if depth > DEPTH_MAX else f"more than {NODES_MAX:,} values")
        if path:
            self.places[path] = node.place
        if node.shape == "list":
            return [self.value(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(node.value)]
        if node.shape == "map":
            return self._convert_mapping(node, path, depth)
        value = self.edits.replace_scalar(node.place, node.value)
        self.readings.append(InputReading(path, node.place, str(value), str(value)))
        return value

    def _convert_mapping(self, node: DocumentNode, path: str, depth: int) -> Mapping[str, Any]:
        result: dict[str, Any] = {}
        first: dict[str, str] = {}
        for key, item in node.value:
            name = str(key.value)
            inside = f"{path}.{name}" if path else name
            if name in first:
                message = f"the key {name!r} occurs twice; the first is at {first[name]}"
                self.complaints.append(InputProblem(inside, key.place, message, "", "each key once"))
                continue
            first[name] = key.place
            result[name] = self.value(item, inside, depth + 1)
        return result
