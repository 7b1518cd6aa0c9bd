"""JSON: a request, one workload or a list of workloads, with the line and column of every value."""

from __future__ import annotations

import bisect
import json
import re
from typing import Any

from planner.inputs.document_tree import DEPTH_MAX, DocumentNode, build_request, document_text
from planner.inputs.parsed_file import ParsedFile, UnreadableFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import binary_kind

SUFFIXES = (".json",)
OTHER_JSON_FILES = (
    (
        frozenset({"Total Cost", "Metadata", "Groups"}),
        "this is an estimate of the AWS pricing calculator as JSON, which is not supported",
        "the same estimate exported there as CSV",
    ),
    (
        frozenset({"plan_id", "schema_version"}),
        "this is a plan, not a request",
        "the request that the plan was made from; to compare with an earlier plan, use --compare-to (?compare_to)",
    ),
    (
        frozenset({"projects", "totalMonthlyCost"}),
        "this is output of Infracost, which has costs and no workloads",
        "a request with workloads",
    ),
)
"""Files that are easily mistaken for a request: their keys, the message, the expected file."""
_SPACE = re.compile(r"[ \t\r\n]*")


def claims(data: bytes) -> bool:
    """Whether the bytes begin as a JSON object or array."""
    return binary_kind(data) is None and data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The request in a JSON document; places are lines and columns."""
    try:
        root = _parse_root(document_text(data))
    except UnreadableFile as fault:
        return reject_file(data, name, "json", str(fault), place=fault.place, expected="a JSON request")
    keys = {key.value for key, _ in root.value} if root.shape == "map" else set()
    for marks, message, expected in OTHER_JSON_FILES:
        if marks <= keys:
            return reject_file(data, name, "json", message, expected=expected)
    return build_request(data, name, "json", root, options)


def _parse_root(text: str) -> DocumentNode:
    try:
        json.loads(text, parse_constant=_reject_constant)
        return _PlacedParser(text).node(0, 0)[0]
    except json.JSONDecodeError as error:
        raise UnreadableFile(f"not JSON: {error.msg}", f"line {error.lineno} column {error.colno}") from None
    except UnreadableFile:
        raise
    except RecursionError:
        raise UnreadableFile("nested too deep") from None
    except ValueError as error:
        detail = "a number of too many digits" if "digits" in str(error) else str(error)
        raise UnreadableFile(f"not JSON: {detail}") from None


def _reject_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


class _PlacedParser:
    """Parses a text that is valid JSON again, for the places that the standard parser does not give."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder()
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def node(self, at: int, depth: int) -> tuple[DocumentNode, int]:
        """The value at or after `at`, and where it ends."""
        if depth > DEPTH_MAX:
            raise UnreadableFile("nested too deep")
        at = self._skip_space(at)
        sign = self._text[at]
        if sign in "{[":
            return self._parse_container(at, depth, is_map=sign == "{")
        value, end = self._decoder.raw_decode(self._text, at)
        return DocumentNode(self._describe_place(at), value), end

    def _parse_container(self, at: int, depth: int, *, is_map: bool) -> tuple[DocumentNode, int]:
        place, items = self._describe_place(at), list[Any]()
        at = self._skip_space(at + 1)
        while self._text[at] not in "}]":
            item, at = self.node(at, depth + 1)
            if is_map:
                value, at = self.node(self._skip_space(at) + 1, depth + 1)
                items.append((item, value))
            else:
                items.append(item)
            at = self._skip_comma(at)
        return DocumentNode(place, items, "map" if is_map else "list"), at + 1

    def _skip_comma(self, at: int) -> int:
        """Past a comma, or at the closing bracket."""
        at = self._skip_space(at)
        return self._skip_space(at + 1) if self._text[at] == "," else at

    def _skip_space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _describe_place(self, at: int) -> str:
        line = bisect.bisect_right(self._starts, at)
        return f"line {line} column {at - self._starts[line - 1] + 1}"
