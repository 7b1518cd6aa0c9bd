"""How a file is read: --map, --mapping, --answers and what they save, and the text of `--explain-input`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from planner.application import (
    BillForecastOptions,
    parse_column_choices,
    read_bill,
    read_document,
)
from planner.cli._input_problems import option_flag
from planner.cli._terminal import show_progress
from planner.inputs.answers_file import answers_text, parse_answers
from planner.inputs.bills import is_bill
from planner.inputs.doubt_record import A_NUMBER
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import (
    FIELDS,
    IGNORE,
    NO_SHEET_OPTIONS,
    SheetOptions,
    month_field,
)
from planner.library.file_problems import unreadable_file, unwritable_file
from planner.library.request_files import STANDARD_INPUT, read_bytes
from planner.request.doubts import open_doubts
from planner.request.errors import InputProblem
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_text, truncate_text
from pricing.text_tables import align_columns

SECONDS = 600.0
"""Time limit for a sheet or document; a bill has none, but prints its progress."""
TEXT_MAX = 80
SINGULAR = {"maps": "map", "sheets": "sheet"}
"""Names of options that may be repeated."""
aligned = partial(align_columns, width_max=70, indent="  ")
"""Tables whose columns have a maximal width, except for the last one."""


@dataclass(frozen=True, slots=True)
class FileReadingOptions:
    """The options about how a file is read, as they were typed."""

    maps: tuple[str, ...] = ()
    mapping: str | None = None
    save_mapping: str | None = None
    dates: str | None = None
    sheets: tuple[str, ...] = ()
    answers: str | None = None
    save_answers: str | None = None
    accept_proposals: bool = False
    ask: bool = False

    @classmethod
    def take_from(cls, options: dict[str, Any]) -> FileReadingOptions:
        """The options about reading, which are removed from those of a command."""
        return cls(**{field.name: options.pop(field.name) for field in fields(cls)})

    def flags_given(self) -> list[str]:
        """The options that were typed, by their names on the command line."""
        return [option_flag(SINGULAR.get(each.name, each.name)) for each in fields(self) if getattr(self, each.name)]

    def choices(self, catalog: Catalog | None = None) -> tuple[SheetOptions, tuple[InputProblem, ...]]:
        """The options merged over the mapping and the answers file, and the problems of all."""
        base, faults = NO_SHEET_OPTIONS, list[InputProblem]()
        for option, path in (("mapping", self.mapping), ("answers", self.answers)):
            if path:
                stated, wrong = _read_answers_file(option, path)
                base, faults = _merge_options(base, stated), [*faults, *wrong]
        base = replace(base, sheets=self.sheets or base.sheets)
        choices, wrong = parse_column_choices(self.maps, self.dates, option_flag, catalog, base=base)
        return choices, (*faults, *wrong)

    def save(self, source: ParsedFile, choices: SheetOptions) -> tuple[InputProblem, ...]:
        """Write the files of --save-mapping (of a file without problems) and --save-answers; problems if that fails."""
        texts = {
            "save_mapping": "" if source.complaints else mapping_text(source, choices.dates),
            "save_answers": answers_text(source.inputs.name, source.doubts, source.complaints),
        }
        wrong = []
        for name, text in texts.items():
            path = getattr(self, name)
            if path and text:
                from pricing.file_replacement import write_atomically

                try:
                    write_atomically(Path(path), text.encode())
                except OSError as error:
                    wrong.append(unwritable_file(f"{option_flag(name)} {path}", error))
        return tuple(wrong)


DEFAULT_READING = FileReadingOptions()


def ask_doubts(source: ParsedFile) -> dict[str, str]:
    """The answers of somebody at a terminal to the doubts of a file that stop planning, each with its proposal."""
    answers = {}
    for doubt in open_doubts(source.doubts):
        click.echo(
            f"{plain_text(doubt.places[0])}: {plain_text(doubt.question)} Read: {plain_text(doubt.read)}", err=True
        )
        choices = [each for each in doubt.choices if each != A_NUMBER]
        kind = click.Choice(choices, case_sensitive=False) if len(choices) == len(doubt.choices) else None
        answers[doubt.id] = str(click.prompt("  answer", default=doubt.proposed, type=kind, err=True))
    return answers


def read_source(
    file: str,
    catalog: Catalog,
    choices: SheetOptions,
    bills: BillForecastOptions,
    complaints: Sequence[InputProblem] = (),
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a file, read in a sandbox, and problems of options that do not apply to it. Raises as
    `read_bytes`."""
    named = "standard input" if file == STANDARD_INPUT else plain_text(file)
    with show_progress(f"reading {named}") as line:
        if is_bill(path := Path(file)):
            return read_bill(path, file, catalog, choices, bills, option_flag, progress=line.update_fraction)
        return read_document(read_bytes(file, complaints), file, catalog, choices, bills, option_flag, seconds=SECONDS)


def explanation_text(source: ParsedFile, problems: Sequence[InputProblem]) -> str:
    """How a file was read: columns, rows used, rows left out, notes, and the problems of planning it."""
    inputs = source.inputs
    lines = [f"{inputs.name}: {inputs.format or 'not read'}, sha256 {inputs.sha256[:12]}", ""]
    for table in source.tables:
        where = f" in {table.sheet}" if table.sheet else ""
        layout = f" ({table.layout})" if table.layout else ""
        lines += [f"Table{where}, header at {table.header}{layout}", ""]
        rows = [(c.place, c.title, c.field or "-", c.unit or "-", c.rule) for c in table.columns]
        lines += [*aligned(("cell", "title", "read as", "unit", "because"), rows), ""]
    if inputs.rows_in:
        refused = len(inputs.rows_refused)
        lines += [f"Rows: {inputs.rows_in:,} in = {inputs.rows_used:,} used + {refused:,} left out", ""]
    if (not inputs.rows_in and not source.complaints) or inputs.rows_used:
        lines += ["Used", "", *aligned(("row", "became"), _workload_rows(source)), ""]
    if inputs.rows_refused:
        left = [(row.place, row.reason, truncate_text(row.read, TEXT_MAX)) for row in inputs.rows_refused]
        lines += ["Left out", "", *aligned(("row", "reason", "read"), left), ""]
    notes = [*inputs.notes, *(each.to_note() for each in source.doubts)]
    lines += ["Notes", "", *(f"- {plain_text(note)}" for note in notes), ""] if notes else []
    if problems:
        lines += [f"Problems ({len(problems)}), to be corrected before planning", ""]
        lines += [f"- {plain_text(str(each))}" for each in problems] + [""]
    return "\n".join(lines).rstrip("\n") + "\n"


def mapping_text(source: ParsedFile, dates: str) -> str:
    """A mapping file with every column of a file as it was understood."""
    import yaml

    columns: dict[str, str] = {}
    for table in source.tables:
        for column in table.columns:
            field = column.field or IGNORE
            if field in FIELDS or month_field(field):
                columns.setdefault(column.title, field)
    document: dict[str, Any] = {"columns": columns} | ({"dates": dates} if dates else {})
    head = f"# The meaning of the columns of {plain_text(source.inputs.name)}, for --mapping.\n"
    return head + yaml.safe_dump(document, allow_unicode=True, sort_keys=False)


def _read_answers_file(option: str, path: str) -> tuple[SheetOptions, list[InputProblem]]:
    """What the file of --mapping or --answers says."""
    place = f"--{option} {path}"
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        return NO_SHEET_OPTIONS, [unreadable_file(place, error)]
    return parse_answers(data, path, place)


def _merge_options(first: SheetOptions, second: SheetOptions) -> SheetOptions:
    """Both files together; the second overrides the first."""
    return replace(
        first,
        columns={**first.columns, **second.columns},
        dates=second.dates or first.dates,
        sheets=second.sheets or first.sheets,
        answers={**first.answers, **second.answers},
        cells={**first.cells, **second.cells},
    )


def _workload_rows(source: ParsedFile) -> list[tuple[str, str]]:
    """The place of each workload and the fields read from its row."""
    rows = []
    for index, workload in enumerate(source.document.get("workloads") or ()):
        if not isinstance(workload, dict) or not isinstance(workload.get("demand"), dict):
            continue
        path = f"workloads[{index}]"
        shown = {key: value for key, value in workload.items() if key not in ("name", "demand", "notes")}
        demand = ", ".join(f"{key} {_format_value(value)}" for key, value in workload["demand"].items())
        parts = [f"{workload.get('name', '')}: {demand}", *(f"{key} {_format_value(shown[key])}" for key in shown)]
        rows.append((source.places.get(path, ""), "; ".join(parts)))
    return rows


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, dict):
        text = ", ".join(f"{key} {_format_value(item)}" for key, item in value.items() if item)
        zero_months = sum(not item for item in value.values())
        return text + (f" (0 in {zero_months} other months)" if zero_months else "")
    if isinstance(value, list):
        return ", ".join(_format_value(item) for item in value)
    return str(value)
