"""Behind `planner ci`: changed files, their plans, one comment, and one exit code."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from planner.cli._change_plans import PlannedFile, compose_comment, plan_change, run_command
from planner.cli._changed_files import ChangedFile, check_out, find_base, list_changed_files, list_files
from planner.cli._comment_services import FORBIDDEN, SERVICES, CommentFailure, CommentService, write_comment
from planner.cli._exit_codes import DONE, INFEASIBLE, INTERNAL_ERROR, INVALID_INPUT, NOT_REFRESHED
from planner.cli._plan_gates import GATE_FAILED
from planner.cli._tables import print_text
from planner.cli._terminal import show_progress
from planner.library.file_problems import unwritable_file
from planner.request.errors import InputProblem, InvalidRequest
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_text

GRAVEST_FIRST = (INTERNAL_ERROR, INVALID_INPUT, INFEASIBLE, GATE_FAILED)
TOKENS = {"github": "GITHUB_TOKEN", "gitlab": "GITLAB_TOKEN"}
REQUESTS = {"github": "GITHUB_EVENT_PATH", "gitlab": "CI_MERGE_REQUEST_IID"}
"""The variable that a service sets where it runs for a request."""
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
LENGTH_MAX = 1_000_000
"""Characters of a printed comment that is not sent: a job summary has at most 1 MiB."""


@dataclass(frozen=True, slots=True)
class ReviewTask:
    """The options of `planner ci`, as they were typed; `options` are those of `planner estimate`."""

    patterns: tuple[str, ...]
    options: tuple[str, ...] = ()
    base: str | None = None
    comment: str = "auto"
    name: str = ""
    also: tuple[str, ...] = ()
    summary: str | None = None


def review_changes(task: ReviewTask) -> int:
    """Plan the changed files, print and write the comment, and return the exit code. Raises InvalidRequest."""
    environment = os.environ
    service, problems = choose_service(task.comment, environment)
    commands, wrong = _parse_commands(task.also)
    if not re.fullmatch(r"[\w .()/-]{1,60}", task.name):
        expected = "up to 60 letters, digits, blanks and . - / ( )"
        wrong = [*wrong, InputProblem("", "--name", "not a name for a comment", task.name, expected)]
    if problems or wrong:
        raise InvalidRequest((*problems, *wrong))
    base = find_base(task.base, environment)
    planned = _plan_changes(task, base)
    planned += [run_command(words) for words in commands]
    marker = f"<!-- gpu-planner: {task.name} -->"
    text = compose_comment(marker, task.name, planned, service.length_max if service else LENGTH_MAX)
    _write_summary(task.summary or environment.get(SUMMARY_VARIABLE), text)
    print_text(f"{text.rstrip()}\n")
    codes = {each.code for each in planned}
    code = next((each for each in GRAVEST_FIRST if each in codes), max(codes, default=DONE))
    return code if service is None else _post_comment(service, marker, text, code, is_empty=not planned)


def choose_service(choice: str, environment: Mapping[str, str]) -> tuple[CommentService | None, list[InputProblem]]:
    """The service to comment on, None for none, and the missing settings of the one chosen."""
    if choice == "auto":
        candidates = (name for name in SERVICES if environment.get(REQUESTS[name]) and environment.get(TOKENS[name]))
        for name in candidates:
            made = SERVICES[name](environment)
            if isinstance(made, CommentService):
                return made, []
        return None, []
    if choice == "none":
        return None, []
    made = SERVICES[choice](environment)
    return (made, []) if isinstance(made, CommentService) else (None, made)


def _parse_commands(texts: Sequence[str]) -> tuple[list[list[str]], list[InputProblem]]:
    commands, problems = [], []
    for text in texts:
        try:
            commands.append(shlex.split(text))
        except ValueError as error:
            problems.append(InputProblem("", "--also", str(error), text, "a command of planner with its options"))
    return commands, problems


def _plan_changes(task: ReviewTask, base: str) -> list[PlannedFile]:
    """The plans of the changed files; of all files that match where a file of the options changed."""
    stated = _option_files(task.options)
    changed = [each for each in list_changed_files(base, task.patterns) if each.now not in stated]
    if stated and list_changed_files(base, sorted(stated)):
        known = {each.now for each in changed}
        same = [name for name in list_files(task.patterns) if name not in known | stated]
        changed = sorted([*changed, *(ChangedFile(name, name) for name in same)], key=lambda each: each.now)
    planned = []
    with check_out(base) as folder:
        for each in _readable_files(changed):
            with show_progress(f"planning {each.now or each.before}"):
                planned.append(plan_change(each, task.options, folder))
    return planned


def _readable_files(changed: Sequence[ChangedFile]) -> list[ChangedFile]:
    """The files with a suffix of files that can be planned; the others are named on standard error."""
    from planner.inputs.file_reader import formats

    suffixes = {suffix for form in formats() for suffix in form.suffixes}
    readable = [each for each in changed if Path(each.now or each.before).suffix.lower() in suffixes]
    for each in changed:
        if each not in readable:
            click.echo(f"left out, since no such file can be planned: {plain_text(each.now or each.before)}", err=True)
    return readable


def _option_files(options: Sequence[str]) -> set[str]:
    """The files that options name."""
    values = (option.partition("=")[2] if option.startswith("--") else option for option in options)
    return {Path(value).as_posix() for value in values if value and Path(value).is_file()}


def _write_summary(path: str | None, text: str) -> None:
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise InvalidRequest((unwritable_file(f"--summary {path}", error),)) from None


def _post_comment(service: CommentService, marker: str, text: str, code: int, *, is_empty: bool) -> int:
    """The exit code after the comment is written: `code`, or 4 if that failed. Nothing is created for no change."""
    try:
        done = write_comment(service, marker, text, only_update=is_empty)
    except CommentFailure as error:
        click.echo(f"error: the comment was not written: {error}", err=True)
        if error.status == FORBIDDEN:
            click.echo(
                "  the token may not comment, as with requests from forks: the exit code is that of the plans", err=True
            )
            return code
        return code or NOT_REFRESHED
    click.echo(f"comment on {service.name}: {done or 'none needed'}", err=True)
    return code
