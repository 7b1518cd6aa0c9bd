"""Behind `planner estimate`: turns options and a file into a request, plans it and writes the outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.application import (
    DEFAULT_FORECAST,
    BillForecastOptions,
    check_input,
    parse_fraction,
    plan_input,
)
from planner.cli._exit_codes import DONE, INFEASIBLE, INTERRUPTED, INVALID_INPUT
from planner.cli._input_explanation import (
    DEFAULT_READING,
    FileReadingOptions,
    ask_doubts,
    explanation_text,
    read_source,
)
from planner.cli._input_problems import option_flag, unreadable_file
from planner.cli._offer_listings import open_catalog
from planner.cli._plan_gates import GATE_OPTIONS, parse_gates, report_gate_failures
from planner.cli._plan_outputs import (
    OutputChoice,
    choose_outputs,
    refuse_binary_to_terminal,
    select_sections,
    write_plan,
)
from planner.cli._quota_tables import read_quota_rows
from planner.cli._request_files import STANDARD_INPUT, expand_document
from planner.cli._tables import print_progress
from planner.inputs.merged_settings import merge_mappings
from planner.inputs.parsed_file import ParsedFile
from planner.request.errors import InputProblem, InvalidRequest
from planner.result import Plan
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count

if TYPE_CHECKING:
    from planner.analysis.comparison import ReviewRecord

OptionValue = str | bool | tuple[str, ...] | None
Settings = tuple[dict[str, Any], dict[str, str], list[InputProblem]]
FIELDS = {"discount_rate": "discount_rate_annual"}
"""Options whose request field has another name."""
ANALYSES = {"risk": "a risk analysis", "uncertainty": "decisions under uncertainty"}
"""Parts of a request that take time."""
SETUP = ("systems", "existing", "site", "finance", "limits", "grid_gco2e_per_kwh", "call_prices", "uncertainty")
"""The parts of a request that a setup file may hold."""
CALL_PRICE_FIELDS = ("input_per_million", "output_per_million", "input_tokens_per_unit", "output_tokens_per_unit")
"""What `--call-price` gives after the name of the workload, in this order."""
PARTS = {
    "risk": "risk",
    "seed": "risk.seed",
    "draws": "risk.draws",
    "reoptimise": "risk.reoptimise",
    "uncertainty": "uncertainty",
    "scenarios": "uncertainty.scenarios",
    "tail_weight": "uncertainty.tail_weight",
    "carbon_limit": "limits.carbon_kg_per_year",
    "demand_range": "uncertainty.ranges.demand_change_annual",
}
"""Options that set a field within a part of the request; the first of each part asks for it alone."""


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

    `compare_to` is the file of the last review.
    """
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
    print_progress("writing")
    for line in write_plan(plan, outputs):
        click.echo(line, err=True)
    return INFEASIBLE if plan.status == "infeasible" else report_gate_failures(plan, gates) or DONE


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
    print_progress(f"planning {format_count(len(read.document.get('workloads') or ()), 'workload')}{analyses}")
    return _run_interruptibly(
        lambda: plan_input(
            read.source,
            read.document,
            read.catalog,
            read.problems,
            places,
            last_review=last,
            negotiates=negotiates,
            accepts_proposals=inputs.reading.accept_proposals,
        )
    )


def explain(file: str, options: Mapping[str, OptionValue], inputs: InputFileOptions) -> int:
    """Print how `file` is read, with the problems that a plan of it would have; the exit code is 2 if it has any."""
    settings, places, faults = parse_settings({k: v for k, v in options.items() if k not in GATE_OPTIONS})
    read = _read_input(file, settings, faults, inputs)
    problems: tuple[InputProblem, ...] = ()
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
        problems = error.complaints
    if read.problems:
        raise InvalidRequest(problems)  # of options, without which nothing more of the file can be told
    click.echo(explanation_text(read.source, problems), nl=False)
    return INVALID_INPUT if problems else DONE


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
    print_progress(f"reading {'standard input' if file == STANDARD_INPUT else file}")
    reading, bills = inputs.reading, inputs.bills
    catalog, faults = open_catalog(inputs.private_prices, inputs.exchange_rates)
    choices, wrong = reading.choices(catalog)
    choices = choices.under_settings(settings)
    source, unfit = read_source(file, catalog, choices, bills, complaints)
    while reading.ask and (answers := ask_doubts(source)):  # an answer may raise another doubt
        choices = replace(choices, answers={**choices.answers, **answers})
        source, unfit = read_source(file, catalog, choices, bills, complaints)
    wrong += reading.save(source, choices)
    document, unread = expand_document(source.document, settings, file, source)
    if faults:
        document.pop("currency", None)  # whether it has an exchange rate is unknown
    return _ReadInput(source, document, catalog, (*complaints, *unfit, *wrong, *faults, *unread))


def _run_interruptibly(work: Callable[[], Plan]) -> Plan:
    """The result of `work`, in a thread: Ctrl-C then ends the program at once, which the solver alone would not."""
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            # No file is written yet. The solver cannot be stopped, and a normal exit would wait for its thread.
            click.echo("planner: interrupted; no files were written", err=True)
            os._exit(INTERRUPTED)


def parse_settings(options: Mapping[str, OptionValue]) -> Settings:
    """The request fields that the options set, their places, and problems. Texts are validated with the request."""
    settings: dict[str, Any] = {}
    places: dict[str, str] = {}
    complaints: list[InputProblem] = []
    for option, value in options.items():
        if not value:
            continue
        field, place = FIELDS.get(option, option), option_flag(option)
        if option == "assumptions":
            expected = "one `name: value` a line"
            settings[field], more, faults = _read_mapping(str(value), "assumptions", "assumptions.", expected)
            places |= more
            complaints += faults
        elif option == "setup":
            parts, more, faults = _read_setup(str(value))
            settings |= {name: _merge_part(part, settings.get(name)) for name, part in parts.items()}
            places |= more
            complaints += faults
            continue
        elif option == "call_price" and isinstance(value, tuple):
            field = "call_prices"
            settings[field], faults = _read_call_prices(value)
            complaints += faults
        elif option == "quotas":
            settings[field], faults = read_quota_rows(Path(str(value)))
            complaints += faults
        elif option in PARTS:
            field = PARTS[option]
            complaints += _set_part(settings, field, value)
        elif option == "no_estimates":
            field = "allow_estimates"
            settings[field] = False
        elif isinstance(value, tuple):
            settings[field] = [part.strip() for text in value for part in text.split(",") if part.strip()]
        else:
            settings[field] = value
            if option == "discount_rate" and "%" in str(value) and (rate := parse_fraction(str(value))) is not None:
                settings[field] = rate  # 8% as 0.08; other texts are validated with the request
        places[field] = place
    return settings, places, complaints


def _set_part(settings: dict[str, Any], field: str, value: OptionValue) -> list[InputProblem]:
    """Sets a field within a part of the request, a flag the part itself; the problems of its text."""
    *above, name = field.split(".")
    for part in above:
        settings = settings.setdefault(part, {})
    if value is True:
        settings.setdefault(name, {})
    elif name == "demand_change_annual":
        ends = [parse_fraction(end) for end in str(value).split(",")]
        if len(ends) != 2 or None in ends:
            expected = "the lowest and the highest change a year, such as -20%,50%"
            return [InputProblem(field, option_flag("demand_range"), "not a range", str(value), expected)]
        settings[name] = dict(zip(("low", "high"), ends, strict=True))
    else:
        settings[name] = parse_fraction(value) if isinstance(value, str) and value.endswith("%") else value
    return []


def _merge_part(part: Any, option: Any) -> Any:
    """A part of a setup file, with what options say of it over it."""
    if isinstance(part, Mapping) and isinstance(option, Mapping):
        return merge_mappings(part, option)
    return part if option is None else option


def _read_call_prices(texts: Sequence[str]) -> tuple[list[dict[str, Any]], list[InputProblem]]:
    """Prices per million tokens from texts such as chat=0.5,1.5,800,200; amounts are validated with the request."""
    prices, faults = [], []
    for index, text in enumerate(texts):
        workload, _, amounts = text.rpartition("=")
        values = [part.strip() for part in amounts.split(",")]
        if not workload.strip() or len(values) not in (2, len(CALL_PRICE_FIELDS)):
            expected = "a workload with its prices of a million input and output tokens, such as chat=0.5,1.5, and the"
            expected += " tokens of one work unit if these are not given otherwise, such as chat=0.5,1.5,800,200"
            faults.append(
                InputProblem(f"call_prices[{index}]", option_flag("call_price"), "not call prices", text, expected)
            )
            continue
        prices.append({"workload": workload.strip(), **dict(zip(CALL_PRICE_FIELDS, values, strict=False))})
    return prices, faults


def _read_setup(path: str) -> Settings:
    """The parts of a request that a spreadsheet cannot express: existing hardware, quotes, site, finance and limits."""
    expected = f"some of {', '.join(SETUP)}"
    document, places, faults = _read_mapping(path, "setup", "", expected)
    for name in sorted(set(document) - set(SETUP)):
        faults.append(InputProblem(name, places.get(name, path), "not a part of a setup", name, expected))
        del document[name]
    return document, places, faults


def _read_mapping(path: str, option: str, prefix: str, expected: str) -> Settings:
    """Names and values of a file, read as a request in YAML (or JSON) is."""
    from planner.inputs.formats import yaml

    try:
        source = yaml.read(Path(path).read_bytes(), path)
    except OSError as error:
        return {}, {}, [unreadable_file(f"--{option} {path}", error)]
    faults = [
        replace(fault, place=fault.place if fault.place.startswith(path) else f"{path} {fault.place}")
        for fault in source.complaints
    ]
    if "workloads" in source.document:  # unreadable, or a request or a list
        faults = faults or [InputProblem("", path, f"no list of {option}" if prefix else f"no {option}")]
        return {}, {}, [replace(fault, path=option, expected=expected) for fault in faults]
    places = {f"{prefix}{name}": f"{path} {place}" for name, place in source.places.items()}
    return dict(source.document), places, faults
