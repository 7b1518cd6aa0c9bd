"""A CSV table of published results, read row by row: every row gives a result or the reason why it gives none."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from planner.request.errors import InputProblem, InvalidRequest
from pricing.frozen_values import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RefusedResult:
    """A row that is left out, by its line in the file (the head is 1), and the reason."""

    line: int
    reason: str


def read_result_rows(
    path: Path, columns: Sequence[str], expected: str, parse_row: Callable[[int, Mapping[str, str]], T | str]
) -> tuple[tuple[T, ...], tuple[RefusedResult, ...]]:
    """What the rows of a file in UTF-8 give, and those that are refused. `parse_row` gets the line and the cells by
    column and returns a result or a reason. Raises InvalidRequest, which names what was `expected`, where it is no such
    table at all."""

    def problem(place: str, why: str) -> InvalidRequest:
        return InvalidRequest((InputProblem("", place, why, "", expected),))

    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = "no UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror or str(error)
        raise problem(str(path), f"cannot be read: {why}") from None
    reader = csv.DictReader(io.StringIO(text, newline=""), restval="", strict=True)
    used: list[T] = []
    refused: list[RefusedResult] = []
    try:
        if missing := [name for name in columns if name not in (reader.fieldnames or ())]:
            raise problem(f"{path}:1", f"no column {', '.join(missing)}")
        for row in reader:  # only the reader knows the line past empty lines and cells with line ends
            outcome = "more cells than columns" if None in row else parse_row(reader.line_num, row)
            if isinstance(outcome, str):
                refused.append(RefusedResult(reader.line_num, outcome))
            else:
                used.append(outcome)
    except csv.Error as error:
        raise problem(f"{path}:{reader.line_num}", str(error)) from None
    return tuple(used), tuple(refused)
