"""Problems and failed gates as workflow commands of GitHub, which shows them on the lines of a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from planner.request.errors import InputProblem
from pricing.plain_text import log_safe_text, plain_text

ANNOTATING_FORMAT = "github"
"""The report format whose runs print annotations."""
TITLE = "gpu-planner"
_LINE = re.compile(r"\bline (?P<line>\d+)(?: column (?P<column>\d+))?")
_OPTION = re.compile(r"^--?[\w-]+ ")
TABLES = (".csv", ".tsv", ".txt")
"""Suffixes of files in which a column is a field, not a character."""


def print_problem_annotations(problems: Iterable[InputProblem], file: str) -> None:
    """One annotation per problem on standard error, which the runner reads, too: reports are on standard output."""
    for problem in problems:
        click.echo(annotate_problem(problem, file), err=True)


def annotate_problem(problem: InputProblem, file: str) -> str:
    """The annotation of a problem in `file`, or in the other file that its place names.

    >>> annotate_problem(InputProblem("", "line 3 column 7", "not valid"), "job.yaml")
    '::error file=job.yaml,line=3,col=7,title=gpu-planner::line 3 column 7: not valid'
    """
    match = _LINE.search(problem.place)
    named = _OPTION.sub("", problem.place[: match.start()] if match else problem.place).strip()
    path = named if named and Path(named).is_file() else file
    properties = {"file": path}
    if match:
        properties["line"] = match["line"]
        if match["column"] and Path(path).suffix.lower() not in TABLES:
            properties["col"] = match["column"]
    return format_annotation(str(problem), properties)


def format_annotation(message: str, properties: dict[str, str] | None = None) -> str:
    """A workflow command: https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions."""
    stated = {**(properties or {}), "title": TITLE}
    listed = ",".join(f"{name}={_escape_property(value)}" for name, value in stated.items())
    return f"::error {listed}::{_escape_data(message)}"


def print_annotations(messages: Iterable[str]) -> None:
    """One annotation per message, of no file."""
    for message in messages:
        click.echo(format_annotation(message), err=True)


def without_annotations(lines: Iterable[str]) -> Iterator[str]:
    """The lines that are no workflow commands."""
    return (line for line in lines if not line.startswith("::"))


def _escape_data(text: str) -> str:
    """Plain text is one line; a percent sign would begin an escape."""
    return log_safe_text(plain_text(text)).replace("%", "%25")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
