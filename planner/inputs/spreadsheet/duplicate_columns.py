"""Two columns of one thing in other units (GPU-hours a month, and a year): the same, or a fault."""

from __future__ import annotations

import math

from planner.inputs.notation.units import PER_MONTH, adjust_metric, parse_header_money_factor, parse_period
from planner.inputs.reading_log import ReadingLog
from planner.inputs.spreadsheet.column_meanings import SheetColumn
from planner.inputs.spreadsheet.row_values import WorkloadRow
from planner.inputs.spreadsheet.table_detection import SheetTable

RELATIVE_TOLERANCE = 0.01
COMPARABLE_MEANINGS = frozenset({"accelerator_hours", "units_per_month", "requests_per_second"})


def columns_agree(table: SheetTable, first: SheetColumn, second: SheetColumn) -> bool:
    """Whether both columns say the same amount a month in every row that is a workload."""
    if first.meaning not in COMPARABLE_MEANINGS | {"budget"}:
        return False
    rows = [WorkloadRow(table, row, 0, ReadingLog()) for row, reason in table.rows if not reason]
    pairs = [(_monthly_amount(line, first), _monthly_amount(line, second)) for line in rows]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return bool(known) and known == pairs and all(math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE) for a, b in known)


def _monthly_amount(line: WorkloadRow, column: SheetColumn) -> float | None:
    """The amount a month, None where there is none that can be told."""
    number = line.number_in(column, line.row.cell(column.index))
    if number is None:
        return None
    if column.meaning == "budget":
        plain_unit = not number.quantity.unit and parse_period(column.words)
        return number.value * parse_header_money_factor(column.words) * PER_MONTH[plain_unit] if plain_unit else None
    metric = adjust_metric(column.metric, number.quantity.unit) if column.metric else None
    return number.value * metric.factor if metric else None
