"""Cost and hours of last year in columns, rows and assumptions, to compare the demand with."""

from __future__ import annotations

import re

from planner.inputs.cell_grid import Cell, GridRow
from planner.inputs.notation.units import (
    PER_MONTH,
    normalize_text,
    parse_header_money_factor,
    parse_money_factor,
)
from planner.inputs.reading_log import LastYear, ReadingLog, RowKind
from planner.inputs.spreadsheet.row_values import CellNumber, WorkloadRow
from planner.inputs.spreadsheet.table_detection import DEMAND_MEANINGS, SheetTable

COST, HOURS = "cost", "hours"
ALL = "all workloads"
_MONTHLY = re.compile(r"\b(?:monthly|(?:per |/|an? )(?:month|mo|mth))\b|/(?:month|mo|mth)\b")
_YEARLY = re.compile(
    r"\b(?:last|prior|previous) years?\b|\b(?:fy ?)?20\d\d\b|\bfy ?\d\d\b|\b(?:yearly|annual)|/ ?year\b"
)


def read_last_year(line: WorkloadRow, workload: str) -> None:
    """Adds the cost and the hours of last year of a row."""
    for meaning, kind in (("last_cost", COST), ("last_hours", HOURS)):
        if (number := line.number(meaning)) is None:
            continue
        scale = _money_factor(number) if kind == COST else (number.column.metric.scale if number.column.metric else 1.0)
        currency = number.column.currency or number.quantity.currency
        readings = list_monthly_readings(number.value * scale, f"{number.column.words} {number.unit_words}")
        line.ledger.last_year.append(LastYear(line.index, workload, kind, number.cell, readings, currency))


def list_monthly_readings(amount: float, words: str) -> tuple[float, ...]:
    """The amount a month: of a month or of a year by the words, both where these name neither."""
    per_year = amount * PER_MONTH["year"]
    return (amount,) if _MONTHLY.search(words) else (per_year,) if _YEARLY.search(words) else (amount, per_year)


def _money_factor(number: CellNumber) -> float:
    word = re.sub(r"(?:per |/|an? )?\b(?:month|mo|year|yr|annum|monthly|yearly|annually)\b", "", number.unit_words)
    stated = parse_money_factor(word.strip()) if word.strip() else None
    return stated or parse_header_money_factor(number.column.words)


def read_last_year_rows(table: SheetTable, log: ReadingLog) -> None:
    """Adds the rows of last year of a table, to compare with the sums of its workloads, by column."""
    for each in table.rows:
        if each.kind is RowKind.LAST_YEAR:
            _read_row(table, each.row, log)


def _read_row(table: SheetTable, row: GridRow, log: ReadingLog) -> None:
    line = WorkloadRow(table, row, 0, ReadingLog())
    for column in table.columns:
        cell = row.cell(column.index)
        is_demand = column.meaning in DEMAND_MEANINGS
        number = line.number_in(column, cell) if is_demand and not cell.is_blank else None
        if number is None:
            continue
        above = [line.number_in(column, each.cell(column.index)) for each in table.workload_rows]
        total = sum(each.value for each in above if each is not None)
        title = f"{column.header.text} {column.month if column.meaning == 'month' else ''}".strip()
        log.last_year.append(LastYear(-1, title, "", cell, (number.value,), planned=total))


def read_last_year_spend(name: Cell, cell: Cell, value: float, currency: str, log: ReadingLog) -> None:
    """Adds the spend of last year that a sheet of assumptions states."""
    readings = list_monthly_readings(value, normalize_text(name.text))
    log.last_year.append(LastYear(-1, ALL, COST, cell, readings, currency))
