"""Other layouts as tables with a row for each workload: months in rows, workloads in columns, adjacent tables.

Every cell keeps its place, so that problems still point to the cell in the file.
"""

from __future__ import annotations

import re
from dataclasses import replace

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.notation.dates import EXPECTED_MONTH, date_problem, parse_month, parse_month_number
from planner.inputs.notation.units import Metric
from planner.inputs.reading_log import RowKind
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.spreadsheet.column_meanings import SheetColumn, match_columns
from planner.inputs.spreadsheet.header_detection import find_header
from planner.inputs.spreadsheet.table_detection import ClassifiedRow, SheetTable, find_tables

RULE_MONTH_ROWS = "a row for each month"
SPREAD_MEANING = "by_month"
"""The meaning of the column whose values become month columns."""
VALUE_MEANINGS = ("accelerator_hours", "units_per_month", "requests_per_second", "amount")
TRANSPOSED_NOTE = "workloads are in columns: read column by column"
TRANSPOSE_MAX = 2_000
ADJACENT_ROWS_MAX = 2_000
"""Longer sheets are lists and have no adjacent tables."""
REPEATABLE_MEANINGS = frozenset({"month", "yearless", "notes"})
"""Meanings that one table may have on both sides of a column left blank for spacing."""
CellProblem = tuple[Cell, str, str]


def split_adjacent_tables(sheet: InputSheet, options: SheetOptions = NO_SHEET_OPTIONS) -> tuple[InputSheet, ...]:
    """The sheet cut at each blank column where a second table begins, so that each table has its own header."""
    if len(sheet.rows) > ADJACENT_ROWS_MAX or (header := find_header(sheet, 0, options)) is None:
        return (sheet,)
    columns = match_columns(header.row, None, options)
    for gap in range(1, len(header.row.cells) - 1):
        if not header.row.cell(gap).is_blank:
            continue
        left = {c.meaning for c in columns if c.index < gap}
        right = [c.meaning for c in columns if c.index > gap]
        is_repeated = right and right[0] in left - REPEATABLE_MEANINGS
        if is_repeated and all(row.cell(gap).is_blank for row in sheet.rows[header.below :]):
            first = replace(sheet, rows=tuple(replace(row, cells=row.cells[:gap]) for row in sheet.rows))
            rest = replace(sheet, rows=tuple(_blank_columns_before(row, gap) for row in sheet.rows), notes=())
            return (first, *split_adjacent_tables(rest, options))
    return (sheet,)


def _blank_columns_before(row: GridRow, start: int) -> GridRow:
    blank = tuple(Cell(cell.place, None) for cell in row.cells[:start])
    return replace(row, cells=blank + row.cells[start:])


def normalize_tables(sheet: InputSheet, options: SheetOptions = NO_SHEET_OPTIONS) -> tuple[tuple[SheetTable, ...], str]:
    """The tables of a sheet with a row for each workload, and a note on its layout where the sheet was transposed."""
    tables = tuple(pivot_months(_name_untitled_column(table)) for table in find_tables(sheet, options))
    if any(table.is_of_workloads for table in tables) or len(sheet.rows) > TRANSPOSE_MAX:
        return tables, ""
    transposed = tuple(
        _name_untitled_column(_name_corner_column(table)) for table in find_tables(_transpose_sheet(sheet), options)
    )
    if any(table.is_of_workloads and table.workload_rows for table in transposed):
        return transposed, TRANSPOSED_NOTE
    return tables, ""


def pivot_months(table: SheetTable) -> SheetTable:
    """The table with its months in columns; unchanged where its rows are not months."""
    period, values = table.column("period"), _find_value_column(table)
    if period is None:
        return table
    if values is None or "month" in table.meanings or "name" not in table.meanings:
        left = tuple(column for column in table.columns if column is not period)
        return replace(table, columns=left, passed_over=(*table.passed_over, period.header))
    return _pivot_rows(table, period, values)


def _find_value_column(table: SheetTable) -> SheetColumn | None:
    """The column with the value of each month."""
    columns = [column for meaning in VALUE_MEANINGS if (column := table.column(meaning)) is not None]
    if not columns and "hours" in table.meanings and (gpus := table.column("gpus")) is not None:
        return replace(gpus, metric=Metric("accelerators"))
    return columns[0] if len(columns) == 1 else None


def _pivot_rows(table: SheetTable, period: SheetColumn, values: SheetColumn) -> SheetTable:
    faults: list[CellProblem] = []
    groups = _group_rows(table, period, faults)
    months = sorted({month for _, by_month in groups for month in by_month if month[0] != "("}, key=_month_order)
    width = max((len(each.row.cells) for each in table.rows), default=0)
    rows = {id(each.row): each for each in table.rows}
    for first, by_month in groups:
        blank = Cell(first.place, None)
        cells = tuple(first.cell(index) for index in range(width))
        by_column = tuple(by_month[month].cell(values.index) if month in by_month else blank for month in months)
        rows[id(first)] = ClassifiedRow(replace(first, cells=cells + by_column), RowKind.WORKLOAD)
        for row in by_month.values():
            if row is not first:
                rows[id(row)] = ClassifiedRow(row, RowKind.FURTHER_MONTH, first.place)
                faults += _find_contradictions(table, first, row, (period.index, values.index))
    spread = {values.index: replace(values, meaning=SPREAD_MEANING, was=values.meaning)}
    retained = tuple(spread.get(column.index, column) for column in table.columns)
    new = [
        SheetColumn(
            width + number, "month", period.header, period.words, month, values.metric, values.currency, RULE_MONTH_ROWS
        )
        for number, month in enumerate(months)
    ]
    decimals = table.decimals | {column.index: table.decimals.get(values.index, "") for column in new}
    ordered = tuple(rows[id(each.row)] for each in table.rows)
    return replace(table, columns=(*retained, *new), rows=ordered, decimals=decimals, faults=tuple(faults))


def _group_rows(
    table: SheetTable, period: SheetColumn, faults: list[CellProblem]
) -> list[tuple[GridRow, dict[str, GridRow]]]:
    """The rows by workload and month; a row without a name belongs to the name above it."""
    name = next(column for column in table.columns if column.meaning == "name")
    groups: dict[str, tuple[GridRow, dict[str, GridRow]]] = {}
    current_name = ""
    for row in table.workload_rows:
        current_name = row.cell(name.index).text.casefold() or current_name
        cell = row.cell(period.index)
        month = parse_month(cell) or (f"#{parse_month_number(cell)}" if parse_month_number(cell) else "")
        first, by_month = groups.setdefault(current_name, (row, {}))
        if not month:
            faults.append((cell, *date_problem(cell, f"not a month, under {period.header.text!r}", EXPECTED_MONTH)))
        elif month in by_month:
            place = by_month[month].cell(period.index).place
            faults.append((cell, f"a second row of {first.cell(name.index).text} for {month}; see {place}", "one row"))
            month = ""
        by_month.setdefault(month or f"({row.place})", row)
    return list(groups.values())


def _find_contradictions(
    table: SheetTable, first: GridRow, row: GridRow, varying: tuple[int, ...]
) -> list[CellProblem]:
    """Cells that differ from the first row of the same workload, in other columns than the varying ones."""
    problems = []
    for column in table.columns:
        cell, first_cell = row.cell(column.index), first.cell(column.index)
        if column.index in varying or column.meaning == "notes" or cell.is_blank or cell.text == first_cell.text:
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
        first_place = next(cell.place for row, cell in zip(sheet.rows, cells, strict=True) if index < len(row.cells))
        rows.append(GridRow(_column_place(first_place), cells))
    return replace(sheet, rows=tuple(rows))


def _column_place(place: str) -> str:
    """The column of a cell: Plan!C of Plan!C5, column 3 of line 5 column 3."""
    return re.sub(r"^line \d+ ", "", re.sub(r"\d+$", "", place) if "!" in place else place)


def _name_untitled_column(table: SheetTable) -> SheetTable:
    """A table of demand whose first column has no title and a text in every row has the names there."""
    first = min((column.index for column in table.columns), default=0)
    rows = table.workload_rows
    if "name" in table.meanings or not table.has_demand_columns or not rows or first == 0:
        return table
    index = first - 1
    cells = [row.cell(index) for row in rows]
    if not table.header.cell(index).is_blank or any(cell.is_blank or cell.is_number for cell in cells):
        return table
    names = SheetColumn(index, "name", table.header.cell(index), "", rule="the texts of the column without a title")
    return replace(table, columns=(names, *table.columns))


def _name_corner_column(table: SheetTable) -> SheetTable:
    """A transposed table whose corner is Month has the names of the workloads beneath it."""
    period = table.column("period")
    if period is None or "name" in table.meanings:
        return table
    renamed = replace(period, meaning="name", rule="the row of titles over months")
    return replace(table, columns=tuple(renamed if column is period else column for column in table.columns))
