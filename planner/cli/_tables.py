"""Output of rows as text, CSV or JSON, and of progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from planner.cli._terminal import has_colours, paint_error
from planner.request.errors import InputProblem, InvalidRequest
from pricing.plain_text import log_safe_text


def one_format(as_json: bool, as_csv: bool) -> str:
    """json, csv or text; InvalidRequest if both options are given."""
    if as_json and as_csv:
        raise InvalidRequest((InputProblem("", "--csv", "two formats", "--json --csv", "one of them"),))
    return "json" if as_json else "csv" if as_csv else "text"


def print_report(
    format_name: str,
    lines: Iterable[str],
    columns: Sequence[str],
    records: Iterable[Mapping[str, Any]],
    make_document: Callable[[], object],
) -> None:
    """Print a report as lines of text, as CSV of its `records`, or as JSON of the document that `make_document` makes.

    Lines and records are read only in their own format.
    """
    if format_name == "json":
        print_text(json_text(make_document()))
    elif format_name == "csv":
        print_text(csv_text(columns, records))
    else:
        print_text("\n".join(lines) + "\n")


def csv_text(columns: Sequence[str], records: Iterable[Mapping[str, Any]], line_end: str = "\n") -> str:
    """The records under their columns; None is an empty cell."""
    import csv
    import io

    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator=line_end)
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def json_text(value: object) -> str:
    """Indented JSON, with dates and paths as text."""
    import json

    return json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n"


def print_text(text: str) -> None:
    """Print as UTF-8, independent of the locale."""
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def print_error(head: str, lines: Iterable[str]) -> None:
    """Print an error on standard error, with its lines below."""
    click.echo(f"{paint_error('error:')} {head}", err=True, color=has_colours(sys.stderr))
    for line in lines:
        click.echo(f"  {log_safe_text(line)}", err=True)


def format_percent(value: float | None) -> str:
    """+12.5%; empty for None."""
    return "" if value is None else f"{value:+,.1f}%"
