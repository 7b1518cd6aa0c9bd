"""Behind `planner estimate --explain-input`, --map, --mapping and --save-mapping: the meaning of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from planner.cli._exit_codes import DONE, INVALID_INPUT
from planner.cli._input_problems import option_flag, unreadable_file, unwritable_file
from planner.cli._offer_listings import open_catalog
from planner.cli._request_files import read_bytes
from planner.cli._usage_report import progress_printer
from planner.inputs.bills import is_bill
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import (
    DATE_ORDERS,
    FIELDS,
    IGNORE,
    SheetOptions,
    check_field_names,
    month_field,
    normalize_title,
)
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.price_catalog import Catalog
from pricing.plain_text import plain_text, truncate_text
from pricing.text_tables import align_columns

SECONDS = 600.0
"""Time limit for a sheet or document; a bill has none, but prints its progress."""
TEXT_MAX = 80
aligned = partial(align_columns, width_max=70, indent="  ")
"""Tables whose columns have a maximal width, except for the last one."""


@dataclass(frozen=True, slots=True)
class FileReadingOptions:
    """The options about how a file is read, as they were typed."""

    maps: tuple[str, ...] = ()
    mapping: str | None = None
    save_mapping: str | None = None
    dates: str | None = None

    def choices(self, catalog: Catalog | None = None) -> tuple[SheetOptions, tuple[InputProblem, ...]]:
        """The options merged over the mapping file, and the problems of both."""
        columns, order, faults = _read_mapping_file(self.mapping) if self.mapping else ({}, "", [])
        choices, wrong = parse_column_choices(self.maps, self.dates, option_flag, catalog, columns=columns, order=order)
        return choices, (*faults, *wrong)

    def save(self, source: ParsedFile) -> tuple[InputProblem, ...]:
        """Write the file of --save-mapping; a problem if that fails."""
        if not self.save_mapping:
            return ()
        from pricing.csv_tables import write_atomically

        dates = self.choices()[0].dates
        try:
            write_atomically(Path(self.save_mapping), mapping_text(source, dates).encode())
        except OSError as error:
            return (unwritable_file(f"--save-mapping {self.save_mapping}", error),)
        return ()


DEFAULT_READING = FileReadingOptions()


def read_source(
    file: str,
    catalog: Catalog,
    choices: SheetOptions,
    bills: BillForecastOptions,
    complaints: Sequence[InputProblem] = (),
) -> tuple[ParsedFile, list[InputProblem]]:
    """The request in a file, read in a sandbox, and problems of options that do not apply to it. Raises as
    `read_bytes`."""
    if is_bill(path := Path(file)):
        return read_bill(path, file, catalog, choices, bills, option_flag, progress=progress_printer(file))
    return read_document(read_bytes(file, complaints), file, catalog, choices, bills, option_flag, seconds=SECONDS)


def explain(file: str, reading: FileReadingOptions, bills: BillForecastOptions) -> int:
    """Print how `file` is read; the exit code is 2 if it has problems."""
    catalog = open_catalog(None, None)[0]
    choices, faults = reading.choices(catalog)
    if faults:
        raise InvalidRequest(faults)
    source, unfit = read_source(file, catalog, choices, bills)
    if unfit:
        raise InvalidRequest(tuple(unfit))
    click.echo(explanation_text(source), nl=False)
    if wrong := reading.save(source):
        raise InvalidRequest(wrong)
    return INVALID_INPUT if source.complaints else DONE


def explanation_text(source: ParsedFile) -> str:
    """How a file was read: columns, rows used, rows left out, notes and problems."""
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
    lines += ["Notes", "", *(f"- {plain_text(note)}" for note in inputs.notes), ""] if inputs.notes else []
    if source.complaints:
        lines += [f"Problems ({len(source.complaints)}), to be corrected before planning", ""]
        lines += [f"- {plain_text(str(complaint))}" for complaint in source.complaints] + [""]
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


def _read_mapping_file(path: str) -> tuple[dict[str, str], str, list[InputProblem]]:
    """Columns by title, and the order of dates, of a mapping file."""
    from planner.inputs.formats import yaml

    place = f"--mapping {path}"
    try:
        source = yaml.read(Path(path).read_bytes(), path)
    except OSError as error:
        return {}, "", [unreadable_file(place, error)]
    document = source.document
    columns, dates = document.get("columns"), document.get("dates", "")
    if "workloads" in document or not isinstance(columns, dict) or set(document) - {"columns", "dates"}:
        expected = "columns: with lines 'Column title: field', and dates: dmy or mdy"
        return {}, "", [*source.complaints, InputProblem("", place, "no mapping of columns", "", expected)]
    places = {name: f"{path} {place}" for name, place in source.places.items()}
    named = [(str(title), str(name), places.get(f"columns.{title}", f"{path} ")) for title, name in columns.items()]
    faults = [*source.complaints, *check_field_names(named)]
    if dates not in ("", *DATE_ORDERS):
        faults.append(InputProblem("", places.get("dates", f"{path} "), "not valid", str(dates), "dmy or mdy"))
    return {normalize_title(title): name for title, name, _ in named}, str(dates), faults


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
