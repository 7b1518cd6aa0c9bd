"""Duplicates in a table: columns that state the same amount in two units, and rows with the same name."""

from __future__ import annotations

import math
from collections import Counter

from planner.inputs.cell_grid import Cell, GridRow
from planner.inputs.notation.units import (
    PER_MONTH,
    adjust_metric,
    normalize_text,
    parse_header_money_factor,
    parse_period,
)
from planner.inputs.reading_log import ReadingLog
from planner.inputs.spreadsheet.column_meanings import SheetColumn, match_meaning
from planner.inputs.spreadsheet.row_values import WorkloadRow
from planner.inputs.spreadsheet.table_detection import SheetTable
from pricing.frozen_values import dataclass

RELATIVE_TOLERANCE = 0.01
COMPARABLE_MEANINGS = frozenset({"accelerator_hours", "units_per_month", "requests_per_second", "budget"})


def columns_agree(table: SheetTable, first: SheetColumn, second: SheetColumn) -> bool:
    """Whether both columns state the same amount a month in every workload, as GPU-hours a month and a year do."""
    if first.meaning not in COMPARABLE_MEANINGS:
        return False
    lines = [WorkloadRow(table, row, 0, ReadingLog()) for row in table.workload_rows]
    pairs = [(_monthly_amount(line, first), _monthly_amount(line, second)) for line in lines]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return bool(known) and known == pairs and all(math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE) for a, b in known)


def _monthly_amount(line: WorkloadRow, column: SheetColumn) -> float | None:
    """The amount a month; None where the cell states none."""
    number = line.number_in(column, line.row.cell(column.index))
    if number is None:
        return None
    if column.meaning == "budget":
        period = parse_period(column.words) if not number.quantity.unit else ""
        return number.value * parse_header_money_factor(column.words) * PER_MONTH[period] if period else None
    metric = adjust_metric(column.metric, number.quantity.unit) if column.metric else None
    return number.value * metric.factor if metric else None


@dataclass(frozen=True, slots=True)
class DuplicateNames:
    """The names of several rows, and the column that distinguishes those rows (-1: none does)."""

    repeated: frozenset[str] = frozenset()
    index: int = -1
    header: Cell | None = None

    def name(self, row: GridRow, name: str) -> str:
        """The name of a row's workload: "Chatbot (training)" where "Chatbot" is also a row of inference."""
        if self.index < 0 or name.casefold() not in self.repeated:
            return name
        return f"{name} ({row.cell(self.index).text})"


def find_duplicate_names(table: SheetTable) -> DuplicateNames:
    """The duplicate names of a table's workloads."""
    column = table.column("name")
    rows = table.workload_rows if column else ()
    if column is None or len(rows) < 2:
        return DuplicateNames()
    counts = Counter(row.cell(column.index).text.casefold() for row in rows)
    repeated = frozenset(name for name, count in counts.items() if count > 1 and name)
    if not repeated:
        return DuplicateNames()
    twice = [row for row in rows if row.cell(column.index).text.casefold() in repeated]
    for index, header in _distinguishing_columns(table):
        pairs = [(row.cell(column.index).text.casefold(), row.cell(index).text.casefold()) for row in twice]
        if len(set(pairs)) == len(pairs) and all(other for _, other in pairs):
            return DuplicateNames(repeated, index, header)
    return DuplicateNames()


def _distinguishing_columns(table: SheetTable) -> list[tuple[int, Cell]]:
    """The columns that may distinguish rows: the kind, then unused columns of names, then the accelerator."""
    places = {cell.place: index for index, cell in enumerate(table.header.cells)}
    candidates = [(column.index, column.header) for column in table.columns if column.meaning == "kind"]
    candidates += [
        (places[cell.place], cell)
        for cell in table.passed_over
        if match_meaning(normalize_text(cell.text)) in ("name", "kind") and cell.place in places
    ]
    return candidates + [(column.index, column.header) for column in table.columns if column.meaning == "accelerator"]
