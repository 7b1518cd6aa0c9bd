"""Sheets laid out otherwise -> tables with a row for each workload: months in rows, and workloads in columns.

Every cell keeps its place, so that complaints still point to where the asker wrote it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.notation.dates import EXPECTED_DATE_FORMAT, describe_ambiguous_date
from planner.inputs.notation.months import parse_month, parse_month_number
from planner.inputs.notation.units import Metric
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.spreadsheet.column_meanings import SheetColumn
from planner.inputs.spreadsheet.table_detection import SheetTable, find_tables

MERGED_ROW_REASON = "a further month of "
RULE_MONTH_ROWS = "a row for each month"
SPREAD_MEANING = "by_month"
"""The meaning of the column whose figures are spread over months."""
VALUE_MEANINGS = ("accelerator_hours", "units_per_month", "requests_per_second", "amount")
TRANSPOSED_NOTE = "workloads stand in columns: read column by column"
TRANSPOSE_MAX = 2_000
CellProblem = tuple[Cell, str, str]


def normalize_tables(sheet: InputSheet, choices: SheetOptions = NO_SHEET_OPTIONS) -> tuple[tuple[SheetTable, ...], str]:
    """The tables of a sheet, each with a row for each workload, and a note where the sheet had to be turned."""
    tables = tuple(pivot_months(table) for table in find_tables(sheet, choices))
    if any(table.is_of_workloads for table in tables) or len(sheet.rows) > TRANSPOSE_MAX:
        return tables, ""
    turned = tuple(_name_corner_column(table) for table in find_tables(_transpose_sheet(sheet), choices))
    if any(table.is_of_workloads and any(not reason for _, reason in table.rows) for table in turned):
        return turned, TRANSPOSED_NOTE
    return tables, ""


def pivot_months(table: SheetTable) -> SheetTable:
    """The table with months in columns where they stand in rows; as it is where they do not."""
    period, figure = table.column("period"), _find_value_column(table)
    if period is None:
        return table
    if figure is None or "month" in table.meanings or "name" not in table.meanings:
        left = tuple(column for column in table.columns if column is not period)
        return replace(table, columns=left, passed_over=(*table.passed_over, period.header))
    return _pivot_rows(table, period, figure)


def _find_value_column(table: SheetTable) -> SheetColumn | None:
    """The column whose figures are those of the months."""
    columns = [column for meaning in VALUE_MEANINGS if (column := table.column(meaning)) is not None]
    if not columns and "hours" in table.meanings and (gpus := table.column("gpus")) is not None:
        return replace(gpus, metric=Metric("accelerators"))
    return columns[0] if len(columns) == 1 else None


def _pivot_rows(table: SheetTable, period: SheetColumn, figure: SheetColumn) -> SheetTable:
    faults: list[CellProblem] = []
    groups = _group_rows(table, period, faults)
    months = sorted({month for _, by_month in groups for month in by_month if month[0] != "("}, key=_month_order)
    width = max((len(row.cells) for row, _ in table.rows), default=0)
    rows: dict[int, tuple[GridRow, str]] = {id(row): (row, reason) for row, reason in table.rows}
    for first, by_month in groups:
        blank = Cell(first.place, None)
        cells = tuple(first.cell(index) for index in range(width))
        figures = tuple(by_month[month].cell(figure.index) if month in by_month else blank for month in months)
        rows[id(first)] = (replace(first, cells=cells + figures), "")
        for row in by_month.values():
            if row is not first:
                rows[id(row)] = (row, f"{MERGED_ROW_REASON}{first.place}")
                faults += _find_contradictions(table, first, row, (period.index, figure.index))
    spread = {figure.index: replace(figure, meaning=SPREAD_MEANING, was=figure.meaning)}
    retained = tuple(spread.get(column.index, column) for column in table.columns)
    new = [
        SheetColumn(
            width + number, "month", period.header, period.words, month, figure.metric, figure.currency, RULE_MONTH_ROWS
        )
        for number, month in enumerate(months)
    ]
    decimals = table.decimals | {column.index: table.decimals.get(figure.index, "") for column in new}
    ordered = tuple(rows[id(row)] for row, _ in table.rows)
    return replace(table, columns=(*retained, *new), rows=ordered, decimals=decimals, faults=tuple(faults))


def _group_rows(
    table: SheetTable, period: SheetColumn, faults: list[CellProblem]
) -> list[tuple[GridRow, dict[str, GridRow]]]:
    """The rows by workload and month; a row without a name belongs to the name above it."""
    name = next(column for column in table.columns if column.meaning == "name")
    groups: dict[str, tuple[GridRow, dict[str, GridRow]]] = {}
    current_name = ""
    for row, reason in table.rows:
        if reason:
            continue
        current_name = row.cell(name.index).text.casefold() or current_name
        cell = row.cell(period.index)
        month = parse_month(cell) or (f"#{parse_month_number(cell)}" if parse_month_number(cell) else "")
        first, by_month = groups.setdefault(current_name, (row, {}))
        if not month:
            faults.append(
                (
                    cell,
                    describe_ambiguous_date(cell) or f"no month, under {period.header.text!r}",
                    _expected_month(cell),
                )
            )
        elif month in by_month:
            place = by_month[month].cell(period.index).place
            faults.append((cell, f"a second row of {first.cell(name.index).text} for {month}; see {place}", "one row"))
            month = ""
        by_month.setdefault(month or f"({row.place})", row)
    return list(groups.values())


def _expected_month(cell: Cell) -> str:
    return EXPECTED_DATE_FORMAT if describe_ambiguous_date(cell) else "month and year: Dec-26 or 2026-12"


def _find_contradictions(table: SheetTable, first: GridRow, row: GridRow, apart: tuple[int, ...]) -> list[CellProblem]:
    """Cells that say another thing of a workload than its first row does."""
    problems = []
    for column in table.columns:
        cell, first_cell = row.cell(column.index), first.cell(column.index)
        if column.index in apart or column.meaning == "notes" or cell.is_blank or cell.text == first_cell.text:
            continue
        if column.meaning != "name" or cell.text.casefold() != first_cell.text.casefold():
            problems.append(
                (cell, f"differs from {first_cell.text!r} in {first_cell.place}, of the same workload", first_cell.text)
            )
    return problems


def _month_order(month: str) -> tuple[str, int]:
    return ("#", int(month[1:])) if month[1:].isdigit() and month[0] == "#" else (month, 0)


def _transpose_sheet(sheet: InputSheet) -> InputSheet:
    """The sheet with rows and columns exchanged; every cell keeps its place."""
    width = max((len(row.cells) for row in sheet.rows), default=0)
    rows = []
    for index in range(min(width, TRANSPOSE_MAX)):
        cells = tuple(row.cell(index) for row in sheet.rows)
        there = next(cell.place for row, cell in zip(sheet.rows, cells, strict=True) if index < len(row.cells))
        rows.append(GridRow(_column_place(there), cells))
    return replace(sheet, rows=tuple(rows))


def _column_place(place: str) -> str:
    """The column of a cell: Plan!C of Plan!C5, column 3 of line 5 column 3."""
    return re.sub(r"^line \d+ ", "", re.sub(r"\d+$", "", place) if "!" in place else place)


def _name_corner_column(table: SheetTable) -> SheetTable:
    """A turned table whose corner says Month has the names of the workloads beneath it."""
    period = table.column("period")
    if period is None or "name" in table.meanings:
        return table
    renamed = replace(period, meaning="name", rule="the row of titles over months")
    return replace(table, columns=tuple(renamed if column is period else column for column in table.columns))
