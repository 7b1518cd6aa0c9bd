"""Output of rows as text, CSV or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner.request.errors import InputProblem, InvalidRequest


def one_format(as_json: bool, as_csv: bool) -> str:
    """json, csv or text; InvalidRequest if both options are given."""
    if as_json and as_csv:
        raise InvalidRequest((InputProblem("", "--csv", "two formats", "--json --csv", "one of them"),))
    return "json" if as_json else "csv" if as_csv else "text"


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows under their columns; None is an empty cell."""
    import csv
    import io

    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def json_text(value: object) -> str:
    """Indented JSON, with dates and paths as text."""
    import json

    return json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n"


def print_text(text: str) -> None:
    """Print as UTF-8, independent of the locale."""
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def format_days(number: int) -> str:
    """1 day, 2 days."""
    return f"{number:,} day{'' if number == 1 else 's'}"


def format_percent(value: float | None) -> str:
    """+12.5%; empty for None."""
    return "" if value is None else f"{value:+,.1f}%"
