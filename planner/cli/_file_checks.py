"""Behind `planner check`: every problem of every file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from planner.cli._estimate_settings import InputFileOptions, find_problems
from planner.cli._exit_codes import DONE, INVALID_INPUT
from planner.cli._github_annotations import ANNOTATING_FORMAT, print_problem_annotations
from planner.cli._request_settings import OptionValue
from planner.cli._tables import print_error
from planner.request.errors import InputProblem
from pricing.counted_nouns import format_count
from pricing.plain_text import plain_text


def check_files(
    files: Sequence[str], options: Mapping[str, OptionValue], inputs: InputFileOptions, format_name: str
) -> int:
    """Print the problems of each file under its name; the exit code is 2 if there are any."""
    total = 0
    for file in files:
        problems = find_problems(file, options, inputs)
        total += len(problems)
        if format_name == ANNOTATING_FORMAT:
            print_problem_annotations(problems, file)
        if problems:
            _print_problems(file, problems)
        else:
            click.echo(f"{plain_text(file)}: can be planned")
    return INVALID_INPUT if total else DONE


def _print_problems(file: str, problems: Sequence[InputProblem]) -> None:
    print_error(
        f"{plain_text(file)}: {format_count(len(problems), 'problem')}", [plain_text(str(each)) for each in problems]
    )
