"""The records of a file, whatever its shape: a JSON document, JSON lines, CSV with a head, or `key : value` lines.

Each record is a mapping with its place in the file. Figures of a record are read by path (`metrics.request_latency`),
as numbers or as text that is a number.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from planner.inputs.text_encoding import decode
from pricing.csv_tables import parse_number
from pricing.frozen_values import dataclass

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


def decode_text(data: bytes) -> str:
    """The text of a file. Raises UnknownLoad where it is none."""
    try:
        return decode(data)[0].removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UnknownLoad("no text") from None


def iterate_json_lines(text: str) -> Iterator[tuple[int, Record]]:
    """The object on each line that is not blank, with its line. Raises UnknownLoad."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise UnknownLoad("no JSON", f"line {number}") from None
        yield number, _check_object(row, f"line {number}")


def iterate_rows(text: str) -> Iterator[tuple[int, Record]]:
    """The rows of CSV with a head, each with its line. Raises UnknownLoad."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise UnknownLoad(str(error), f"line {reader.line_num}") from None


def list_records(data: bytes) -> list[tuple[str, Record]]:
    """Every record of a file with its place. Raises UnknownLoad where it has none of the shapes."""
    text = decode_text(data)
    if not text.strip():
        raise UnknownLoad("an empty file")
    if text.lstrip()[:1] in "{[":
        return _list_json(text)
    if KEY_VALUE_MARK in text:
        pairs = (line.partition(":") for line in text.splitlines())
        return [("", {key.strip(): value.strip() for key, colon, value in pairs if colon})]
    return [(f"line {number}", row) for number, row in iterate_rows(text)]


def _list_json(text: str) -> list[tuple[str, Record]]:
    try:
        document = json.loads(text)
    except ValueError:  # no JSON, or a number of too many digits
        return [(f"line {number}", row) for number, row in iterate_json_lines(text)]
    except RecursionError:
        raise UnknownLoad("too deep for a result") from None
    if not isinstance(document, Mapping):
        return _check_records("", document)
    listed = next((name for name in LISTS if isinstance(document.get(name), list)), None)
    return [("", document)] if listed is None else _check_records(listed, document[listed])


def _check_records(name: str, records: list[Any]) -> list[tuple[str, Record]]:
    places = ((f"{name}[{index}]", each) for index, each in enumerate(records))
    return [(place, _check_object(each, place)) for place, each in places]


def _check_object(value: Any, place: str) -> Record:
    if not isinstance(value, Mapping):
        raise UnknownLoad("no JSON object", place)
    return value
