"""JSON: a request, one workload or a list of workloads; every value with its line and column."""

from __future__ import annotations

import bisect
import json
import re
from typing import Any

from planner.intake._document import DEPTH_MAX, Node, document_text, finish
from planner.intake._read import Read, Unreadable, unreadable
from planner.intake._text import binary_kind

SUFFIXES = (".json",)
OTHERS = (
    (
        frozenset({"Total Cost", "Metadata", "Groups"}),
        "this is an estimate of the AWS pricing calculator as JSON, which is not read",
        "the same estimate exported there as CSV",
    ),
    (
        frozenset({"plan_id", "schema_version"}),
        "this is a plan, not a request",
        "the file that it was made of; to see what changed since a plan, --compare-to (?compare_to)",
    ),
    (
        frozenset({"projects", "totalMonthlyCost"}),
        "this is Infracost's output, which tells costs and no work",
        "a request with workloads",
    ),
)
"""What is no request and is likely to be taken for one, told in one sentence: keys, what it is, what is expected."""
_SPACE = re.compile(r"[ \t\r\n]*")


def claims(data: bytes) -> bool:
    """Whether the bytes begin as a JSON object or array."""
    return not binary_kind(data) and data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def read(data: bytes, name: str) -> Read:
    """The request in a JSON document; places are lines and columns."""
    try:
        root = _root(document_text(data))
    except Unreadable as fault:
        return unreadable(data, name, "json", str(fault), place=fault.place, expected="a JSON request")
    keys = {key.value for key, _ in root.value} if root.shape == "map" else set()
    for marks, message, expected in OTHERS:
        if marks <= keys:
            return unreadable(data, name, "json", message, expected=expected)
    return finish(data, name, "json", root)


def _root(text: str) -> Node:
    try:
        json.loads(text, parse_constant=_no_constant)
        return _Places(text).node(0, 0)[0]
    except json.JSONDecodeError as error:
        raise Unreadable(f"not JSON: {error.msg}", f"line {error.lineno} column {error.colno}") from None
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable("nested too deep") from None
    except ValueError as error:
        words = "a number of too many digits" if "digits" in str(error) else str(error)
        raise Unreadable(f"not JSON: {words}") from None


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number")


class _Places:
    """Walks a text that is known to be JSON, for the places that the standard parser does not give."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder()
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def node(self, at: int, depth: int) -> tuple[Node, int]:
        """The value at or after `at`, and where it ends."""
        if depth > DEPTH_MAX:
            raise Unreadable("nested too deep")
        at = self._skip(at)
        sign = self._text[at]
        if sign == "{":
            return self._object(at, depth)
        if sign == "[":
            return self._array(at, depth)
        value, end = self._decoder.raw_decode(self._text, at)
        return Node(self._place(at), value), end

    def _object(self, at: int, depth: int) -> tuple[Node, int]:
        place, pairs = self._place(at), []
        at = self._skip(at + 1)
        while self._text[at] != "}":
            key, at = self.node(at, depth + 1)
            value, at = self.node(self._skip(at) + 1, depth + 1)
            pairs.append((key, value))
            at = self._next(at)
        return Node(place, pairs, "map"), at + 1

    def _array(self, at: int, depth: int) -> tuple[Node, int]:
        place, items = self._place(at), []
        at = self._skip(at + 1)
        while self._text[at] != "]":
            item, at = self.node(at, depth + 1)
            items.append(item)
            at = self._next(at)
        return Node(place, items, "list"), at + 1

    def _next(self, at: int) -> int:
        """Past a comma, or at the closing bracket."""
        at = self._skip(at)
        return self._skip(at + 1) if self._text[at] == "," else at

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def _place(self, at: int) -> str:
        line = bisect.bisect_right(self._starts, at)
        return f"line {line} column {at - self._starts[line - 1] + 1}"
