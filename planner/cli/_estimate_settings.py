"""Behind `planner estimate`: turns options and a file into a request, plans it and writes the outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import click

from planner.application import (
    DEFAULT_FORECAST,
    BillForecastOptions,
    check_input,
    plan_input,
)
from planner.cli._default_settings import request_defaults, stated_price_files
from planner.cli._exit_codes import DONE, INFEASIBLE, INTERRUPTED, INVALID_INPUT, TERMINATED, Terminated
from planner.cli._github_annotations import ANNOTATING_FORMAT, print_annotations, print_problem_annotations
from planner.cli._input_explanation import (
    DEFAULT_READING,
    FileReadingOptions,
    ask_doubts,
    explanation_text,
    read_source,
)
from planner.cli._input_problems import option_flag
from planner.cli._output_options import (
    OutputChoice,
    choose_outputs,
    print_outputs,
    refuse_binary_to_terminal,
    select_sections,
)
from planner.cli._plan_gates import GATE_OPTIONS, find_gate_failures, parse_gates, report_gate_failures
from planner.cli._request_settings import OptionValue, describe_defaults, parse_defaults, parse_settings
from planner.cli._terminal import describe_bounds, print_remark, show_progress
from planner.inputs.parsed_file import ParsedFile
from planner.library.catalog_files import open_catalog
from planner.library.plan_outputs import render_plan, write_outputs
from planner.library.request_files import expand_document
from planner.optimization.search_progress import SearchProgress, follow_search
from planner.request.errors import InputProblem, InvalidRequest
from planner.result import Plan
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from planner.analysis.comparison import ReviewRecord

ANALYSES = {"risk": "a risk analysis", "uncertainty": "decisions under uncertainty"}
"""Parts of a request that take time."""


@dataclass(frozen=True, slots=True)
class InputFileOptions:
    """How a command reads its file and the prices beside it: the options of columns and answers, those of bills, and
    the files of private prices and exchange rates (None for those of the data folder)."""

    reading: FileReadingOptions = DEFAULT_READING
    bills: BillForecastOptions = DEFAULT_FORECAST
    private_prices: str | None = None
    exchange_rates: str | None = None

    @classmethod
    def take_from(cls, options: dict[str, Any]) -> InputFileOptions:
        """These options, which are removed from those of a command; what it has no option for is the default."""
        bills = {each.name: options.pop(each.name) for each in fields(BillForecastOptions) if each.name in options}
        prices = {name: options.pop(name) for name in ("private_prices", "exchange_rates") if name in options}
        return cls(FileReadingOptions.take_from(options), BillForecastOptions(**bills), **prices)


def estimate(
    file: str,
    output_choice: OutputChoice,
    options: Mapping[str, OptionValue],
    inputs: InputFileOptions,
    compare_to: str | None,
) -> int:
    """Plan `file`, write the outputs and return the exit code; InvalidRequest with every problem of all inputs.

    `compare_to` is the file of the last review. With the format of GitHub, problems and failed gates are annotations,
    too.
    """
    try:
        return _plan_and_write(file, output_choice, options, inputs, compare_to)
    except InvalidRequest as error:
        if output_choice.format_name == ANNOTATING_FORMAT:
            print_problem_annotations(error.complaints, file)
        raise


def _plan_and_write(
    file: str,
    output_choice: OutputChoice,
    options: Mapping[str, OptionValue],
    inputs: InputFileOptions,
    compare_to: str | None,
) -> int:
    outputs, faults = choose_outputs(output_choice.format_name, output_choice.paths)
    outputs, unknown = select_sections(outputs, output_choice)
    gates, wrong = parse_gates(options)
    of_plan = {name: value for name, value in options.items() if name not in GATE_OPTIONS}
    settings, places, more = parse_settings(of_plan)
    complaints = [*faults, *unknown, *refuse_binary_to_terminal(outputs), *more, *wrong]
    last = None
    if compare_to is not None:
        from planner.cli._plan_comparison import read_last_review

        last = read_last_review(compare_to, complaints)
    plan = plan_file(file, settings, places, complaints, inputs, last)
    with show_progress("writing"):
        rendered = render_plan(plan, outputs)
    written = write_outputs(rendered)
    print_outputs(rendered)
    for line in written:
        print_remark(line)
    if plan.status == "infeasible":
        return INFEASIBLE
    failures = find_gate_failures(plan, gates)
    if output_choice.format_name == ANNOTATING_FORMAT:
        print_annotations(failures)
    return report_gate_failures(failures) or DONE


def plan_file(
    file: str,
    settings: dict[str, Any],
    places: dict[str, str],
    complaints: Sequence[InputProblem],
    inputs: InputFileOptions,
    last: Plan | ReviewRecord | None = None,
    *,
    negotiates: bool = False,
) -> Plan:
    """The plan of `file` with `settings`, compared with the review `last`; `complaints` are problems found before.

    `places` has the option of each setting; `negotiates` is as in `plan_input`."""
    read = _read_input(file, settings, complaints, inputs)
    asked = [text for part, text in ANALYSES.items() if read.document.get(part) is not None]
    analyses = f" with {' and '.join(asked)}" if asked else ""
    task = f"planning {format_count(len(read.document.get('workloads') or ()), 'workload')}{analyses}"
    with show_progress(task) as line:

        def report_step(step: SearchProgress) -> None:
            line.update(describe_bounds(step.words, step.best, step.bound))

        def make_plan() -> Plan:
            with follow_search(report_step) if line.is_printed else nullcontext():
                return plan_input(
                    read.source,
                    read.document,
                    read.catalog,
                    read.problems,
                    places,
                    last_review=last,
                    negotiates=negotiates,
                    accepts_proposals=inputs.reading.accept_proposals,
                )

        return _run_interruptibly(make_plan)


def explain(file: str, options: Mapping[str, OptionValue], inputs: InputFileOptions) -> int:
    """Print how `file` is read, with the problems that a plan of it would have; the exit code is 2 if it has any."""
    read, problems = _check_file(file, options, inputs)
    if read.problems:
        raise InvalidRequest(problems)  # of options, without which nothing more of the file can be told
    click.echo(explanation_text(read.source, problems), nl=False)
    return INVALID_INPUT if problems else DONE


def find_problems(file: str, options: Mapping[str, OptionValue], inputs: InputFileOptions) -> tuple[InputProblem, ...]:
    """The problems that a plan of `file` would have."""
    try:
        return _check_file(file, options, inputs)[1]
    except InvalidRequest as error:
        return error.complaints


def _check_file(
    file: str, options: Mapping[str, OptionValue], inputs: InputFileOptions
) -> tuple[_ReadInput, tuple[InputProblem, ...]]:
    """A file as it is read, and the problems that a plan of it would have. InvalidRequest if it cannot be read."""
    settings, places, faults = parse_settings({k: v for k, v in options.items() if k not in GATE_OPTIONS})
    read = _read_input(file, settings, faults, inputs)
    try:
        check_input(
            read.source,
            read.document,
            read.catalog,
            read.problems,
            places,
            accepts_proposals=inputs.reading.accept_proposals,
        )
    except InvalidRequest as error:
        return read, error.complaints
    return read, ()


@dataclass(frozen=True, slots=True)
class _ReadInput:
    """A file with the settings over it, and the problems of options and of files beside it."""

    source: ParsedFile
    document: dict[str, Any]
    catalog: Catalog
    problems: tuple[InputProblem, ...]


def _read_input(
    file: str,
    settings: dict[str, Any],
    complaints: Sequence[InputProblem],
    inputs: InputFileOptions,
) -> _ReadInput:
    """Reads `file`, asks about it where that is wanted, and writes what was to be saved of its reading."""
    reading, bills = inputs.reading, inputs.bills
    catalog, faults = open_catalog(inputs.private_prices, inputs.exchange_rates)
    choices, wrong = reading.choices(catalog)
    choices = choices.under_settings(settings)
    source, unfit = read_source(file, catalog, choices, bills, complaints)
    while reading.ask and (answers := ask_doubts(source)):  # an answer may raise another doubt
        choices = replace(choices, answers={**choices.answers, **answers})
        source, unfit = read_source(file, catalog, choices, bills, complaints)
    wrong += reading.save(source, choices)
    context = click.get_current_context()
    defaults = parse_defaults(request_defaults(context), settings, source.document, source.home)
    notes = describe_defaults({**defaults.applied, **dict(stated_price_files(context))})
    source = replace(
        source,
        document=defaults.beneath(source.document),
        inputs=replace(source.inputs, notes=(*source.inputs.notes, *notes)),
        places={**source.places, **defaults.places},
    )
    document, unread = expand_document(source.document, settings, file, source, place=option_flag)
    if faults:
        document.pop("currency", None)  # whether it has an exchange rate is unknown
    return _ReadInput(source, document, catalog, (*complaints, *unfit, *wrong, *faults, *defaults.problems, *unread))


def _run_interruptibly(work: Callable[[], Plan]) -> Plan:
    """The result of `work`, in a thread: Ctrl-C then ends the program at once, which the solver alone would not."""
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(copy_context().run, work)
        try:
            return future.result()
        except (KeyboardInterrupt, Terminated) as ended:
            # No file is written yet. The solver cannot be stopped, and a normal exit would wait for its thread.
            word, code = ("terminated", TERMINATED) if isinstance(ended, Terminated) else ("interrupted", INTERRUPTED)
            click.echo(f"planner: {word}; no files were written", err=True)
            os._exit(code)
