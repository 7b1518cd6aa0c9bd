"""Behind `planner init`: reads the answers, and writes them as a request with comments."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from planner.cli._catalog_options import raise_problems
from planner.cli._exit_codes import DONE
from planner.cli._input_problems import option_flag
from planner.cli._request_answers import (
    READERS,
    AcceleratorWork,
    AllowedPlaces,
    ModelService,
    UnclearAnswer,
    WorkLimit,
)
from planner.cli._terminal import print_remark
from planner.cli.init import InitQuestion
from planner.library.file_problems import unwritable_file
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.price_catalog import Catalog
from pricing.file_replacement import write_atomically
from pricing.units import HOURS_PER_MONTH

STANDARD_OUTPUT = "-"
SECONDS_PER_HOUR = 3600
COMMENT_COLUMN = 44
HEAD = """\
# A request for gpu-planner, made by `planner init`. Its plan: planner estimate {file}
# A line that begins with # is left out; remove the # where it fits your work. All fields: {reference}
"""


def write_request(
    questions: Sequence[InitQuestion], options: Mapping[str, str | None], output: str | None, *, force: bool
) -> int:
    """Prompt for answers without an option on a terminal, else read all from the options; write the request."""
    catalog = Catalog.current()
    read_answers = _prompt_for_answers if sys.stdin.isatty() and sys.stderr.isatty() else _read_options
    answers = read_answers(questions, options, catalog)
    path = output or f"{answers['name']}.yaml"
    text = request_text(answers, path)
    if path == STANDARD_OUTPUT:
        click.echo(text, nl=False)
        return DONE
    if Path(path).is_file() and not force:
        expected = "another name with -o, or --force to replace it"
        raise InvalidRequest((InputProblem("", path, "the file already exists", "", expected),))
    try:
        write_atomically(Path(path), text.encode())
    except OSError as error:
        raise InvalidRequest((unwritable_file(path, error),)) from None
    print_remark(f"wrote {path}\nnext: planner estimate {_shell_word(path)}")
    return DONE


def _prompt_for_answers(
    questions: Sequence[InitQuestion], options: Mapping[str, str | None], catalog: Catalog
) -> dict[str, Any]:
    """The answers typed at a terminal, each prompted for until it is valid; those of options without a prompt."""
    answers: dict[str, Any] = {}
    for question in questions:

        def read(text: str, question: InitQuestion = question) -> Any:
            try:
                return READERS[question.option](text.strip(), answers, catalog)
            except UnclearAnswer as unclear:
                raise click.UsageError(str(unclear)) from None

        if (given := options.get(question.option)) is not None:
            answers[question.option] = read(given)
        else:
            answers[question.option] = click.prompt(
                question.prompt(isinstance(answers.get("work"), ModelService)),
                default=question.default or None,
                value_proc=read,
                err=True,
            )
    return answers


def _read_options(
    questions: Sequence[InitQuestion], options: Mapping[str, str | None], catalog: Catalog
) -> dict[str, Any]:
    """The answers of the options, and defaults; InvalidRequest with every one that is missing or cannot be used."""
    answers: dict[str, Any] = {}
    problems = []
    for question in questions:
        text = question.default if (given := options.get(question.option)) is None else given.strip()
        try:
            if not text:
                raise UnclearAnswer("missing; there is no terminal for a prompt", question.example)
            answers[question.option] = READERS[question.option](text, answers, catalog)
        except UnclearAnswer as unclear:
            problems.append(InputProblem("", option_flag(question.option), unclear.message, "", unclear.expected))
    raise_problems(problems)
    return answers


def request_text(answers: Mapping[str, Any], path: str) -> str:
    """The request in YAML; `path` is where it will be written."""
    work, limit = answers["work"], answers["limit"]
    lines = [*_work_lines(work, answers), *_place_lines(answers["where"])]
    if limit.budget_per_month is not None:
        lines += [_line(f"budget_per_month: {limit.budget_per_month:.12g}", "the plan compares its cost with it")]
    lines += [_line("# team: research", "its cost centre in the report")]
    body = "".join(f"    {line}\n" for line in lines)
    name = json.dumps(answers["name"], ensure_ascii=False)
    head = HEAD.format(file=_shell_word(path), reference=_reference_page())
    # a budget is in the currency of the question, whatever the user's settings say
    currency = "currency: USD\n" if limit.budget_per_month is not None else ""
    return f"{head}months: {answers['months']}\n{currency}workloads:\n  - name: {name}\n{body}"


def _work_lines(work: AcceleratorWork | ModelService, answers: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(work, ModelService):
        return _served_lines(work, answers["demand"])
    [hours] = answers["demand"]
    return _rented_lines(work, hours, answers["limit"], answers["months"])


def _rented_lines(work: AcceleratorWork, hours: float, limit: WorkLimit, months: int) -> Iterator[str]:
    """So many hours of so many accelerators: each month, or in all by a month."""
    each_month, name = hours * work.count, json.dumps(work.accelerator)
    yield _line("kind: batch", "assumed; or training, inference, interactive")
    if limit.deadline_month is None:
        sum_text = f"{work.count} x {hours:g} hours; {HOURS_PER_MONTH:g} hours are a whole month"
        yield "demand:"
        yield _line(f"  accelerator_hours_per_month: {each_month:.12g}", sum_text)
        yield f"  accelerator: {name}"
        yield _line("# substitution: true", "other accelerators may do it, at the speed predicted for them")
    else:
        yield "unit: accelerator-hours"
        yield "demand:"
        yield _line(f"  total_units: {each_month * months:.12g}", f"{work.count} x {hours:g} hours in {months} months")
        yield _line(f"  deadline_month: {limit.deadline_month}", "done by its end")
        yield "measurements:"
        yield _line(f"  - accelerator: {name}", "the unit is an hour of this one: so it does one an hour")
        yield _line(f"    count: {work.count}", "`planner measure` gives the rate of your own unit")
        yield f"    units_per_hour: {work.count}"
        yield "    per: job"
        yield "    scaling: strong"
        yield _line(f"accelerators: [{name}]", "the only ones to use; without this line others may do it, too")
    yield _line(f"gang: {work.count}", "accelerators that it needs at once")
    yield _line("# interruptible: true", "spot capacity is allowed")
    yield _line("# checkpoint_minutes: 15", "minutes between two checkpoints")
    yield _line("# memory_gib_per_accelerator: 40", "no accelerator with less")


def _served_lines(work: ModelService, demand: tuple[float, ...]) -> Iterator[str]:
    """A model under so many requests a month."""
    requests, tokens_in, tokens_out = demand
    per_second = requests / (HOURS_PER_MONTH * SECONDS_PER_HOUR)
    yield "kind: inference"
    yield "network:"
    yield f"  model: {work.model}"
    yield "  run: inference"
    yield _line("  precision: bf16", "assumed; or fp8, int8, int4")
    yield "serving:"
    yield f"  input_tokens: {tokens_in:.12g}"
    yield f"  output_tokens: {tokens_out:.12g}"
    yield _line("  ttft_ms: 2000", "assumed: the longest time to the first token")
    yield _line("  tpot_ms: 50", "assumed: the longest time for each further token")
    yield "demand:"
    yield _line(f"  requests_per_second: {per_second:.12g}", f"{requests:,.0f} a month")
    yield _line("  daily_shape: day_and_evening", "assumed; or flat, business_hours")
    yield _line("# spare_replicas: 1", "replicas in reserve")


def _place_lines(places: AllowedPlaces) -> Iterator[str]:
    for field in ("providers", "regions", "residency"):
        if names := getattr(places, field):
            yield f"{field}: {json.dumps(names, ensure_ascii=False)}"
    yield _line("# may_be_owned: false", "no servers of your own, only the cloud")


def _line(field: str, comment: str) -> str:
    return f"{field:<{COMMENT_COLUMN}}  # {comment}"


def _reference_page() -> str:
    """The address of the page on all fields of a request."""
    from importlib.metadata import metadata

    urls = dict(line.split(", ", 1) for line in metadata("gpu-planner").get_all("Project-URL") or ())
    return f"{urls['Documentation']}/reference/request.md"


def _shell_word(path: str) -> str:
    """A path as a shell reads it back; double quotes are understood by that of Windows, too."""
    return f'"{path}"' if any(sign.isspace() for sign in path) else path
