"""YAML: a request, one workload or a list of workloads, with the line and column of every value."""

from __future__ import annotations

import re

from planner.inputs.parsed_file import ParsedFile, UnreadableFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import binary_kind

SUFFIXES = (".yaml", ".yml")


def claims(data: bytes) -> bool:
    """Whether the bytes begin as a mapping or a list in YAML's block style."""
    if binary_kind(data) is not None:
        return False
    lines = (line for line in data[:4096].decode("utf-8", "replace").lstrip("\ufeff").splitlines())
    first = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    return first == "---" or first.startswith("- ") or bool(re.match(r"[A-Za-z_][\w-]*:(?:\s|$)", first))


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The request in a YAML document; places are lines and columns."""
    from planner.inputs.document_tree import build_request
    from planner.inputs.yaml_documents import parse_documents

    try:
        root, *further = parse_documents(data)
    except UnreadableFile as fault:
        return reject_file(data, name, "yaml", str(fault), place=fault.place, expected="a YAML request")
    if further:
        message = "not YAML: expected a single document in the stream"
        return reject_file(data, name, "yaml", message, place=further[0].place, expected="a YAML request")
    return build_request(data, name, "yaml", root, options)
