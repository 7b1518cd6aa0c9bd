"""The records of a file, whatever its shape: a JSON document, JSON lines, CSV with a head, or `key : value` lines.

Each record is a mapping with its place in the file. Figures of a record are read by path (`metrics.request_latency`),
as numbers or as text that is a number.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.inputs.text_encoding import decode
from pricing.csv_tables import parse_number

Record = Mapping[str, Any]
KEY_VALUE_MARK = "MLPerf Results Summary"
LARGEST = 1e18
"""No figure of a load is larger."""
LISTS = ("benchmarks",)
"""Keys of a document whose elements are its records."""


class UnknownLoad(Exception):
    """Why a file, or one figure of it, cannot be used; `place` is within the file."""

    def __init__(self, why: str, place: str = "") -> None:
        super().__init__(why)
        self.place = place


class MissingFigure(UnknownLoad):
    """A figure that a record does not have; the message is its path."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one record by their path."""

    record: Record

    def find(self, path: str) -> Any:
        """The value at a path; None where there is none."""
        value: Any = self.record
        for name in (path,) if path in self.record else path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def __call__(self, path: str) -> float:
        """The number at a path, not below 0. Raises MissingFigure, or UnknownLoad where it is no such number."""
        value = self.find(path)
        if value is None or value == "":
            raise MissingFigure(path)
        number = parse_number(value) if isinstance(value, str) else value
        if isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= LARGEST:
            return float(number)
        raise UnknownLoad(f"{path} is {str(value)[:40]!r}, expected a number not below 0")


def list_records(data: bytes) -> list[tuple[str, Record]]:
    """Every record of a file with its place. Raises UnknownLoad where it has none of the shapes."""
    try:
        text = decode(data)[0].removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UnknownLoad("no text") from None
    if not text.strip():
        raise UnknownLoad("an empty file")
    if text.lstrip()[:1] in "{[":
        return _list_json(text)
    if KEY_VALUE_MARK in text:
        pairs = (line.partition(":") for line in text.splitlines())
        return [("", {key.strip(): value.strip() for key, colon, value in pairs if colon})]
    return _list_rows(text)


def _list_json(text: str) -> list[tuple[str, Record]]:
    try:
        document = json.loads(text)
    except ValueError:  # no JSON, or a number of too many digits
        return _list_json_lines(text)
    except RecursionError:
        raise UnknownLoad("too deep for a result") from None
    if isinstance(document, Mapping):
        for name in LISTS:
            if isinstance(document.get(name), list):
                return _check_records((f"{name}[{index}]", each) for index, each in enumerate(document[name]))
        return [("", document)]
    return _check_records((f"[{index}]", each) for index, each in enumerate(document))


def _list_json_lines(text: str) -> list[tuple[str, Record]]:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append((f"line {number}", json.loads(line)))
        except (ValueError, RecursionError):
            raise UnknownLoad("no JSON", f"line {number}") from None
    return _check_records(rows)


def _check_records(rows: Any) -> list[tuple[str, Record]]:
    records = list(rows)
    for place, each in records:
        if not isinstance(each, Mapping):
            raise UnknownLoad("no JSON object", place)
    return records


def _list_rows(text: str) -> list[tuple[str, Record]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        return [(f"line {reader.line_num}", row) for row in reader]
    except csv.Error as error:
        raise UnknownLoad(str(error), f"line {reader.line_num}") from None
