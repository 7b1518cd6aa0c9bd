"""Sheets of cells -> a request: the one path that every kind of sheet shares.

Finds the tables, reads every row or refuses it with its reason, and checks what totals rows claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planner.inputs.calculators import export_reader
from planner.inputs.cell_grid import InputSheet
from planner.inputs.notation.dates import EXPECTED_DATE_FORMAT, describe_ambiguous_date, resolve_dates
from planner.inputs.parsed_file import CalculatorEstimate, ParsedFile, TableInterpretation, digest, placeholder_request
from planner.inputs.reading_log import ReadingLog
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.spreadsheet.adjacent_tables import split_adjacent_tables
from planner.inputs.spreadsheet.assumptions_sheet import is_assumptions_sheet, read_assumptions
from planner.inputs.spreadsheet.column_meanings import SINGLE_COLUMN_MEANINGS
from planner.inputs.spreadsheet.duplicate_columns import columns_agree
from planner.inputs.spreadsheet.duplicate_names import DuplicateNames, find_duplicate_names
from planner.inputs.spreadsheet.missing_workloads import explain_missing_workloads
from planner.inputs.spreadsheet.row_values import WorkloadRow
from planner.inputs.spreadsheet.table_detection import SheetTable
from planner.inputs.spreadsheet.table_interpretation import check_mapped_columns, describe_table, unused_column_notes
from planner.inputs.spreadsheet.table_pivoting import MERGED_ROW_REASON, normalize_tables
from planner.inputs.spreadsheet.totals_rows import Totals
from planner.inputs.spreadsheet.workload_builder import build_workload
from planner.result import InputProvenance


@dataclass(slots=True)
class FileContents:
    """What the sheets of a file ask for so far; `seen` are names with the place of each."""

    workloads: list[dict[str, Any]] = field(default_factory=list)
    assumptions: dict[str, float] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    tables: list[TableInterpretation] = field(default_factory=list)
    estimated: list[CalculatorEstimate] = field(default_factory=list)
    looked_at: list[SheetTable] = field(default_factory=list)


def read_sheets(
    data: bytes,
    name: str,
    format_name: str,
    sheets: Sequence[InputSheet],
    notes: Sequence[str] = (),
    choices: SheetOptions = NO_SHEET_OPTIONS,
) -> ParsedFile:
    """What all sheets of a file ask for together."""
    ledger, gathered = ReadingLog(), FileContents()
    for note in notes:
        ledger.note(note)
    for sheet in sheets:
        _read_sheet(resolve_dates(sheet, choices.dates), gathered, ledger, name, choices)
    check_mapped_columns(gathered.tables, choices, ledger)
    if not gathered.workloads and not ledger.complaints:
        ledger.complaints.append(explain_missing_workloads(name, gathered.looked_at, sheets))
    inputs = InputProvenance(
        name=name,
        format=format_name,
        sha256=digest(data),
        rows_in=ledger.rows_used + len(ledger.refused),
        rows_used=ledger.rows_used,
        rows_refused=tuple(ledger.refused),
        readings=tuple(ledger.readings),
        notes=tuple(ledger.notes),
    )
    document: dict[str, Any] = {"assumptions": gathered.assumptions} if gathered.assumptions else {}
    document |= {"workloads": gathered.workloads} if gathered.workloads else placeholder_request()
    if ledger.amount[0]:
        document["currency"], ledger.places["currency"] = ledger.amount
    parsed = ParsedFile(document, inputs, tuple(ledger.complaints), ledger.places)
    return replace(parsed, tables=tuple(gathered.tables), estimated=tuple(gathered.estimated))


def _read_sheet(
    sheet: InputSheet, gathered: FileContents, ledger: ReadingLog, file: str, choices: SheetOptions
) -> None:
    for note in sheet.notes:
        ledger.note(note)
    if is_assumptions_sheet(sheet) and not sheet.hidden:
        gathered.assumptions |= read_assumptions(sheet, ledger)
        return
    export = export_reader.find_export(sheet)
    if export is not None and not sheet.hidden:
        estimated, how = export_reader.read_export(export, gathered.workloads, gathered.seen, ledger, choices)
        gathered.estimated.append(estimated)
        gathered.tables.append(how)
        return
    parts = (sheet,) if sheet.hidden else split_adjacent_tables(sheet, choices)
    if len(parts) > 1:
        ledger.note(f"tables stand side by side in {sheet.name or 'the file'}: each was read on its own")
    for part in parts:
        _read_part(part, gathered, ledger, file, choices)


def _read_part(sheet: InputSheet, gathered: FileContents, ledger: ReadingLog, file: str, choices: SheetOptions) -> None:
    found, layout = ((), "") if is_assumptions_sheet(sheet) else normalize_tables(sheet, choices)
    if sheet.hidden:
        _reject_hidden_rows(sheet, found, ledger)
        return
    gathered.looked_at += found
    if layout:
        ledger.note(f"in {sheet.name or 'the file'} {layout}")
    for table in _usable_tables(sheet, found, ledger):
        gathered.tables.append(describe_table(table, choices, layout))
        _read_table(table, gathered, ledger, file, choices)


def _usable_tables(sheet: InputSheet, found: tuple[SheetTable, ...], ledger: ReadingLog) -> list[SheetTable]:
    usable = [table for table in found if table.is_of_workloads]
    if not usable and any(not row.is_blank for row in sheet.rows):
        ledger.note(f"no table of workloads in {sheet.name or 'the file'}: nothing read there")
    return usable


def _reject_hidden_rows(sheet: InputSheet, tables: tuple[SheetTable, ...], ledger: ReadingLog) -> None:
    rows = [row for table in tables if table.is_of_workloads for row, reason in table.rows if reason != "blank"]
    for row in rows:
        ledger.reject_row(row, "hidden sheet; unhide it to have it planned")
    if not rows:
        ledger.note(f"hidden sheet {sheet.name} was not read")


def _read_table(
    table: SheetTable, gathered: FileContents, ledger: ReadingLog, file: str, choices: SheetOptions
) -> None:
    _check_columns(table, ledger)
    for cell, message, expected in table.faults:
        ledger.add_problem(cell, message, expected)
    totals, naming = Totals(table), find_duplicate_names(table)
    if naming.header is not None:
        ledger.note(f"rows of one name are told apart by {naming.header.text!r} ({naming.header.place})")
    idle: set[str] = set()
    for row, row_reason in table.rows:
        if row_reason.startswith(MERGED_ROW_REASON) and row_reason.removeprefix(MERGED_ROW_REASON) not in idle:
            ledger.rows_used += 1
            totals.add(row, hidden=False)
            continue
        reason = row_reason or ("total without a label" if totals.claims(row) else "")
        if reason:
            ledger.reject_row(row, "its demand is 0" if row_reason.startswith(MERGED_ROW_REASON) else reason)
            if reason.startswith("total"):
                totals.check(row, ledger)
            elif reason.startswith("hidden"):
                totals.add(row, hidden=True)
            continue
        line, mark = WorkloadRow(table, row, len(gathered.workloads), ledger, choices.catalog), ledger.checkpoint()
        workload, stated = build_workload(line, _read_workload_name(line, gathered.seen, naming), file)
        if stated is not None and stated.is_zero:
            ledger.roll_back(mark)
            gathered.seen.pop(workload["name"].casefold(), None)
            ledger.reject_row(row, "its demand is 0")
            idle.add(row.place)
            continue
        ledger.rows_used += 1
        totals.add(row, hidden=False)
        gathered.workloads.append(workload)
    for note in unused_column_notes(table):
        ledger.note(note)


def _read_workload_name(line: WorkloadRow, seen: dict[str, str], naming: DuplicateNames) -> str:
    """The workload's name; one that is missing or taken is complained of and stood in for."""
    ledger = line.ledger
    cell = line.cell("name")
    column = line.table.column("name")
    if cell is None or not (name := line.text("name")):
        at = line.row.cell(column.index) if column else line.row.cell(0)
        if cell is None:
            ledger.add_problem(at, "a row with figures but no name", "a name, or nothing at all in the row")
        ledger.places[line.path] = at.place
        return f"({line.row.place})"
    name = naming.name(line.row, name)
    first = seen.setdefault(name.casefold(), cell.place)
    ledger.places[line.path] = cell.place
    if first != cell.place:
        ledger.add_problem(cell, f"a second workload of this name; the first stands in {first}", "a name of its own")
        return f"{name} ({cell.place})"
    ledger.read(f"{line.path}.name", cell, name)
    return name


def _check_columns(table: SheetTable, ledger: ReadingLog) -> None:
    """Two columns that mean the same number, and months that do not say their year."""
    first: dict[str, Any] = {}
    for column in table.columns:
        if column.meaning == "yearless":
            why = describe_ambiguous_date(column.header)
            ledger.add_problem(
                column.header,
                why or "which months are these?",
                EXPECTED_DATE_FORMAT if why else "month and year: Dec-26 or 2026-12",
            )
        key = column.month or column.meaning
        earlier = first.setdefault(key, column)
        if earlier is not column and column.meaning not in SINGLE_COLUMN_MEANINGS | {"yearless"}:
            if columns_agree(table, earlier, column):
                same = f"{column.header.text!r} ({column.header.place}) says the same as {earlier.header.text!r}"
                ledger.note(f"{same}: one was read")
                continue
            message = f"means the same as {earlier.header.text!r} in {earlier.header.place}"
            ledger.add_problem(column.header, message, "one column for one thing")
