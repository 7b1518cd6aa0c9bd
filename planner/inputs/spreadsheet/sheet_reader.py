"""Reads sheets of cells as a request: finds their tables, and reads every row or rejects it with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from planner.inputs.calculators.export_reader import read_calculator_sheet
from planner.inputs.cell_answers import edit_notes, replace_cells
from planner.inputs.cell_grid import InputSheet
from planner.inputs.doubt_record import DoubtRecord
from planner.inputs.notation.dates import EXPECTED_MONTH, date_problem, resolve_dates
from planner.inputs.parsed_file import ParsedFile, digest, placeholder_request, reject_file
from planner.inputs.reading_log import ReadingLog, RowKind
from planner.inputs.sheet_options import SheetOptions, month_field
from planner.inputs.spreadsheet.assumptions_sheet import find_fiscal_row, is_assumptions_sheet, read_assumptions
from planner.inputs.spreadsheet.call_prices import read_call_price
from planner.inputs.spreadsheet.column_meanings import SINGLE_COLUMN_MEANINGS, SheetColumn
from planner.inputs.spreadsheet.demand_plausibility import check_demand_plausibility
from planner.inputs.spreadsheet.duplicates import DuplicateNames, columns_agree, find_duplicate_names
from planner.inputs.spreadsheet.fiscal_columns import settle_fiscal_year
from planner.inputs.spreadsheet.last_year import read_last_year, read_last_year_rows
from planner.inputs.spreadsheet.row_sums import ask_about_row_sum
from planner.inputs.spreadsheet.row_values import WorkloadRow
from planner.inputs.spreadsheet.table_detection import ClassifiedRow, SheetTable
from planner.inputs.spreadsheet.table_interpretation import (
    check_mapped_columns,
    describe_table,
    explain_missing_workloads,
    unused_column_notes,
)
from planner.inputs.spreadsheet.table_pivoting import normalize_tables, split_adjacent_tables
from planner.inputs.spreadsheet.table_versions import FoundTable, choose_sheets, choose_versions
from planner.inputs.spreadsheet.totals_rows import Totals
from planner.inputs.spreadsheet.workload_builder import build_workload
from planner.request.models import WORKLOADS_MAX
from planner.result import InputProvenance


def read_sheets(
    data: bytes, name: str, format_name: str, sheets: Sequence[InputSheet], notes: Sequence[str], options: SheetOptions
) -> ParsedFile:
    """The request of all sheets of a file together: exports of price calculators by their layout, others by headers.

    `notes` are those of the file as a whole.
    """
    log = ReadingLog(doubts=DoubtRecord(options.answers), fiscal_year_starts=options.fiscal_year_starts)
    for note in notes:
        log.note(note)
    chosen = choose_sheets(replace_cells(sheets, options, log), options.sheets, log)
    sheets = tuple(resolve_dates(sheet, options.dates) for sheet in chosen)
    with_work, tables = _find_all_tables(sheets, log, options)
    if (number := sum(len(each.table.workload_rows) for each in with_work)) > WORKLOADS_MAX:
        message, expected = f"{number:,} rows of workloads", f"at most {WORKLOADS_MAX:,} in one plan"
        return reject_file(data, name, format_name, message, expected=expected)
    for sheet in sheets:
        if is_assumptions_sheet(sheet) and not sheet.hidden:  # columns of months need it before their rows are read
            log.fiscal_year_starts = log.fiscal_year_starts or find_fiscal_row(sheet)
    versions = choose_versions(with_work, log)
    settled = settle_fiscal_year([each.table for each in versions], log)
    versions = [replace(each, table=table) for each, table in zip(versions, settled, strict=True)]
    for sheet in sheets:
        if sheet.hidden:
            _reject_hidden_rows(sheet, log, options)
        elif is_assumptions_sheet(sheet):
            log.assumptions |= read_assumptions(sheet, log)
        for version in versions:
            if version.table.sheet.name == sheet.name:
                log.tables.append(describe_table(version.table, options, version.layout))
                _read_table(version, log, name, options)
    if not log.complaints:
        check_demand_plausibility(log, options.catalog)
    check_mapped_columns(log.tables, options, log)
    if not log.workloads and not log.complaints:
        log.complaints.append(explain_missing_workloads(name, tables, sheets))
    return _build_result(data, name, format_name, log, _list_months(versions))


def _build_result(data: bytes, name: str, format_name: str, log: ReadingLog, months: tuple[str, ...]) -> ParsedFile:
    """What a log has of a file."""
    for identity in log.doubts.unused_answers():
        log.note(f"the answer to {identity!r} is not used: nothing in this file asks it")
    inputs = InputProvenance(
        name=name,
        format=format_name,
        sha256=digest(data),
        rows_in=log.rows_used + len(log.refused),
        rows_used=log.rows_used,
        rows_refused=tuple(log.refused),
        readings=tuple(log.readings),
        notes=(*edit_notes(log.edits), *log.notes),
        edits=tuple(log.edits),
        is_editable=True,
    )
    document: dict[str, Any] = {"assumptions": log.assumptions} if log.assumptions else {}
    document |= {"workloads": log.workloads} if log.workloads else placeholder_request()
    document |= {"call_prices": log.call_prices} if log.call_prices else {}
    document |= {"fiscal_year_starts": log.fiscal_year_starts} if log.fiscal_year_starts else {}
    if log.amount[0]:
        document["currency"], log.places["currency"] = log.amount
    problems, doubts = (*log.complaints, *log.doubts.problems), log.doubts.list_doubts(log.workloads)
    estimated = tuple(log.estimated)
    return ParsedFile(
        document,
        inputs,
        problems,
        log.places,
        tuple(log.tables),
        estimated,
        doubts=doubts,
        months=months,
    )


def _find_all_tables(
    sheets: Sequence[InputSheet], log: ReadingLog, options: SheetOptions
) -> tuple[list[FoundTable], list[SheetTable]]:
    """The tables of workloads of all visible sheets, and all their tables; reads exports of calculators."""
    with_work: list[FoundTable] = []
    tables: list[SheetTable] = []
    for sheet in sheets:
        for note in sheet.notes:
            log.note(note)
        if sheet.hidden or is_assumptions_sheet(sheet) or read_calculator_sheet(sheet, log, options):
            continue
        candidates, usable = _find_tables(sheet, log, options)
        tables += candidates
        with_work += usable
    return with_work, tables


def _list_months(versions: Sequence[FoundTable]) -> tuple[str, ...]:
    """The calendar months of the columns, or the rows, of the tables that are planned."""
    columns = (column for each in versions if not each.is_planned_by for column in each.table.columns)
    return tuple(sorted({column.month for column in columns if month_field(column.month)}))


def _find_tables(
    sheet: InputSheet, log: ReadingLog, options: SheetOptions
) -> tuple[list[SheetTable], list[FoundTable]]:
    """The tables of a visible sheet, and those of them that have workloads."""
    parts = split_adjacent_tables(sheet, options)
    title = sheet.name or "the file"
    if len(parts) > 1:
        log.note(f"{title} has tables side by side: each was read separately")
    tables: list[SheetTable] = []
    with_work: list[FoundTable] = []
    for part in parts:
        candidates, layout = normalize_tables(part, options)
        usable = [table for table in candidates if table.is_of_workloads]
        tables += candidates
        if layout:
            log.note(f"in {title} {layout}")
        if not usable and any(not row.is_blank for row in part.rows):
            log.note(f"{title} has no table of workloads and was not read")
        with_work += [FoundTable(table, layout) for table in usable]
    return tables, with_work


def _reject_hidden_rows(sheet: InputSheet, log: ReadingLog, options: SheetOptions) -> None:
    candidates = () if is_assumptions_sheet(sheet) else normalize_tables(sheet, options)[0]
    tables = [table for table in candidates if table.is_of_workloads]
    rows = [each.row for table in tables for each in table.rows if each.kind is not RowKind.BLANK]
    for row in rows:
        log.reject_row(row, RowKind.HIDDEN_SHEET)
    if not rows:
        log.note(f"the hidden sheet {sheet.name} was not read")


def _read_table(version: FoundTable, log: ReadingLog, file: str, options: SheetOptions) -> None:
    table = version.table
    if version.is_planned_by:
        for each in table.rows:
            is_work = each.kind in (RowKind.WORKLOAD, RowKind.FURTHER_MONTH)
            log.reject_row(each.row, RowKind.OTHER_VERSION if is_work else each.kind, planned=version.is_planned_by)
        return
    _check_columns(table, log)
    for cell, message, expected in table.faults:
        log.add_problem(cell, message, expected)
    totals, naming = Totals(table, log.originals), find_duplicate_names(table)
    if naming.header is not None:
        log.note(f"rows of one name are distinguished by {naming.header.quoted}")
    idle: set[str] = set()
    """Places of the rows without demand: their further months are rejected with them."""
    for each in table.rows:
        kind = _row_kind(each, totals, idle)
        if kind is RowKind.WORKLOAD:
            line = WorkloadRow(table, each.row, len(log.workloads), log, options.catalog)
            kind = _read_workload(line, naming, file, version.label)
            if kind is RowKind.NO_DEMAND:
                idle.add(each.row.place)
        if kind in (RowKind.WORKLOAD, RowKind.FURTHER_MONTH):
            log.rows_used += 1
            totals.add(each.row, hidden=False)
            continue
        log.reject_row(each.row, kind)
        if kind in (RowKind.TOTAL, RowKind.UNLABELLED_TOTAL):
            totals.check(each.row, log)
        elif kind is RowKind.HIDDEN:
            totals.add(each.row, hidden=True)
    read_last_year_rows(table, log)
    for note in unused_column_notes(table):
        log.note(note)


def _row_kind(classified: ClassifiedRow, totals: Totals, idle: set[str]) -> RowKind:
    """The kind of a row with regard to the rows before it."""
    if classified.kind is RowKind.FURTHER_MONTH and classified.first_place in idle:
        return RowKind.NO_DEMAND
    if classified.kind is RowKind.WORKLOAD and totals.claims(classified.row):
        return RowKind.UNLABELLED_TOTAL
    return classified.kind


def _read_workload(line: WorkloadRow, naming: DuplicateNames, file: str, label: str) -> RowKind:
    """Adds the workload of a row; one without demand is removed again."""
    checkpoint = line.ledger.checkpoint()
    workload, stated = build_workload(line, _read_workload_name(line, naming, label), file)
    if stated is not None and stated.is_zero:
        line.ledger.roll_back(checkpoint)
        line.ledger.names.pop(workload["name"].casefold(), None)
        line.ledger.doubts.forget(line.index)
        return RowKind.NO_DEMAND
    if label == line.table.sheet.name and "team" not in workload and (cell := line.cell("name")) is not None:
        workload |= line.record("team", cell, label)  # sheets of teams that name their work alike
    line.ledger.workloads.append(workload)
    read_call_price(line, workload["name"])
    read_last_year(line, workload["name"])
    ask_about_row_sum(line)
    return RowKind.WORKLOAD


def _read_workload_name(line: WorkloadRow, naming: DuplicateNames, label: str) -> str:
    """The workload's name, with the `label` of its table where others have the same names; a placeholder, and a
    problem, where it is missing or used already."""
    log = line.ledger
    cell = line.cell("name")
    column = line.table.column("name")
    if cell is None or not (name := line.text("name")):
        at = line.row.cell(column.index) if column else line.row.cell(0)
        if cell is None:
            log.add_problem(at, "a row with values but without a name", "a name, or a blank row")
        log.places[line.path] = at.place
        return f"({line.row.place})"
    name = naming.name(line.row, name) + (f" ({label})" if label else "")
    first = log.names.setdefault(name.casefold(), cell.place)
    log.places[line.path] = cell.place
    if first != cell.place:
        log.add_problem(cell, f"a second workload of this name; the first is in {first}", "a unique name")
        return f"{name} ({cell.place})"
    log.read(f"{line.path}.name", cell, name)
    return name


def _check_columns(table: SheetTable, log: ReadingLog) -> None:
    """Reports columns that mean the same number, and months without a year."""
    first: dict[str, SheetColumn] = {}
    for column in table.columns:
        if column.meaning == "yearless":
            log.add_problem(column.header, *date_problem(column.header, "not a month with its year", EXPECTED_MONTH))
        earlier = first.setdefault(column.month or column.meaning, column)
        if earlier is column or column.meaning in SINGLE_COLUMN_MEANINGS | {"yearless"}:
            continue
        if columns_agree(table, earlier, column):
            same = f"{column.header.quoted} states the same as {earlier.header.text!r}"
            log.note(f"{same}: one was read")
        else:
            message = f"means the same as {earlier.header.text!r} in {earlier.header.place}"
            log.add_problem(column.header, message, "one column for each quantity")
