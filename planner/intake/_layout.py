"""Sheets laid out otherwise -> tables with a row for each workload: months in rows, and workloads in columns.

Every cell keeps its place, so that complaints still point to where the asker wrote it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from planner.intake._choices import NONE, Choices
from planner.intake._columns import Column
from planner.intake._dates import EXPECTED, doubt
from planner.intake._grid import Cell, Row, Sheet
from planner.intake._months import month_of, ordinal_of
from planner.intake._table import Table, tables_of
from planner.intake._units import Metric

MERGED = "a further month of "
BY_MONTH_ROWS = "a row for each month"
BY_MONTH = "by_month"
"""The meaning of the column whose figures are spread over months."""
FIGURES = ("accelerator_hours", "units_per_month", "requests_per_second", "amount")
TURNED = "workloads stand in columns: read column by column"
TURN_MAX = 2_000
Fault = tuple[Cell, str, str]


def laid_out(sheet: Sheet, choices: Choices = NONE) -> tuple[tuple[Table, ...], str]:
    """The tables of a sheet, each with a row for each workload, and a note where the sheet had to be turned."""
    found = tuple(pivoted(table) for table in tables_of(sheet, choices))
    if any(table.is_of_workloads for table in found) or len(sheet.rows) > TURN_MAX:
        return found, ""
    turned = tuple(_cornered(table) for table in tables_of(_turned(sheet), choices))
    if any(table.is_of_workloads and any(not reason for _, reason in table.rows) for table in turned):
        return turned, TURNED
    return found, ""


def pivoted(table: Table) -> Table:
    """The table with months in columns where they stand in rows; as it is where they do not."""
    period, figure = table.column("period"), _figure(table)
    if period is None:
        return table
    if figure is None or "month" in table.meanings or "name" not in table.meanings:
        left = tuple(column for column in table.columns if column is not period)
        return replace(table, columns=left, passed_over=(*table.passed_over, period.header))
    return _pivot(table, period, figure)


def _figure(table: Table) -> Column | None:
    """The column whose figures are those of the months."""
    found = [column for meaning in FIGURES if (column := table.column(meaning)) is not None]
    if not found and "hours" in table.meanings and (gpus := table.column("gpus")) is not None:
        return replace(gpus, metric=Metric("accelerators"))
    return found[0] if len(found) == 1 else None


def _pivot(table: Table, period: Column, figure: Column) -> Table:
    faults: list[Fault] = []
    groups = _groups(table, period, faults)
    months = sorted({month for _, by_month in groups for month in by_month if month[0] != "("}, key=_order)
    width = max((len(row.cells) for row, _ in table.rows), default=0)
    rows: dict[int, tuple[Row, str]] = {id(row): (row, reason) for row, reason in table.rows}
    for first, by_month in groups:
        blank = Cell(first.place, None)
        cells = tuple(first.cell(index) for index in range(width))
        figures = tuple(by_month[month].cell(figure.index) if month in by_month else blank for month in months)
        rows[id(first)] = (replace(first, cells=cells + figures), "")
        for row in by_month.values():
            if row is not first:
                rows[id(row)] = (row, f"{MERGED}{first.place}")
                faults += _contradictions(table, first, row, (period.index, figure.index))
    spread = {figure.index: replace(figure, meaning=BY_MONTH, was=figure.meaning)}
    kept = tuple(spread.get(column.index, column) for column in table.columns)
    new = [
        Column(
            width + number, "month", period.header, period.words, month, figure.metric, figure.currency, BY_MONTH_ROWS
        )
        for number, month in enumerate(months)
    ]
    decimals = table.decimals | {column.index: table.decimals.get(figure.index, "") for column in new}
    ordered = tuple(rows[id(row)] for row, _ in table.rows)
    return replace(table, columns=(*kept, *new), rows=ordered, decimals=decimals, faults=tuple(faults))


def _groups(table: Table, period: Column, faults: list[Fault]) -> list[tuple[Row, dict[str, Row]]]:
    """The rows by workload and month; a row without a name belongs to the name above it."""
    name = next(column for column in table.columns if column.meaning == "name")
    found: dict[str, tuple[Row, dict[str, Row]]] = {}
    held = ""
    for row, reason in table.rows:
        if reason:
            continue
        held = row.cell(name.index).text.casefold() or held
        cell = row.cell(period.index)
        month = month_of(cell) or (f"#{ordinal_of(cell)}" if ordinal_of(cell) else "")
        first, by_month = found.setdefault(held, (row, {}))
        if not month:
            faults.append((cell, doubt(cell) or f"no month, under {period.header.text!r}", _expected(cell)))
        elif month in by_month:
            place = by_month[month].cell(period.index).place
            faults.append((cell, f"a second row of {first.cell(name.index).text} for {month}; see {place}", "one row"))
            month = ""
        by_month.setdefault(month or f"({row.place})", row)
    return list(found.values())


def _expected(cell: Cell) -> str:
    return EXPECTED if doubt(cell) else "month and year: Dec-26 or 2026-12"


def _contradictions(table: Table, first: Row, row: Row, apart: tuple[int, ...]) -> list[Fault]:
    """Cells that say another thing of a workload than its first row does."""
    found = []
    for column in table.columns:
        cell, held = row.cell(column.index), first.cell(column.index)
        if column.index in apart or column.meaning == "notes" or cell.is_blank or cell.text == held.text:
            continue
        if column.meaning != "name" or cell.text.casefold() != held.text.casefold():
            found.append((cell, f"differs from {held.text!r} in {held.place}, of the same workload", held.text))
    return found


def _order(month: str) -> tuple[str, int]:
    return ("#", int(month[1:])) if month[1:].isdigit() and month[0] == "#" else (month, 0)


def _turned(sheet: Sheet) -> Sheet:
    """The sheet with rows and columns exchanged; every cell keeps its place."""
    width = max((len(row.cells) for row in sheet.rows), default=0)
    rows = []
    for index in range(min(width, TURN_MAX)):
        cells = tuple(row.cell(index) for row in sheet.rows)
        there = next(cell.place for row, cell in zip(sheet.rows, cells, strict=True) if index < len(row.cells))
        rows.append(Row(_column_place(there), cells))
    return replace(sheet, rows=tuple(rows))


def _column_place(place: str) -> str:
    """The column of a cell: Plan!C of Plan!C5, column 3 of line 5 column 3."""
    return re.sub(r"^line \d+ ", "", re.sub(r"\d+$", "", place) if "!" in place else place)


def _cornered(table: Table) -> Table:
    """A turned table whose corner says Month has the names of the workloads beneath it."""
    period = table.column("period")
    if period is None or "name" in table.meanings:
        return table
    renamed = replace(period, meaning="name", rule="the row of titles over months")
    return replace(table, columns=tuple(renamed if column is period else column for column in table.columns))
