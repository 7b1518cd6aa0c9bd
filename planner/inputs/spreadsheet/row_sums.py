"""Holds the months of a row against the column that adds them up; a difference is a doubt."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from planner.inputs.cell_grid import Cell
from planner.inputs.notation.languages import TOTALS
from planner.inputs.spreadsheet.month_titles import read_plain_number
from planner.inputs.spreadsheet.row_values import WorkloadRow

MONTHS = "months"
DIFFERENCE_MAX = 0.01
_TOTAL = re.compile(
    rf"(?:(?:grand|overall|year|yearly) )?(?:total|sum)\b.*|(?:{TOTALS})\b.*|(?:fy ?)?(?:20)?\d\d total", re.IGNORECASE
)


def ask_about_row_sum(line: WorkloadRow) -> None:
    """Adds a doubt where a total at the end of a row is not the sum of its months, which are planned."""
    table = line.table
    months = [column for column in table.columns if column.meaning == "month"]
    sums = {cell.place for cell in table.passed_over if _TOTAL.fullmatch(cell.text)}
    if len(months) < 2 or not sums:
        return
    cells = [line.row.cell(column.index) for column in months]
    stated = _add_up(cells)
    said = _add_up(
        [line.ledger.originals.get(cell.place, cell) for cell in cells]
    )  # the total may be of the file as is
    for index, header in enumerate(table.header.cells):
        cell = line.row.cell(index)
        total = read_plain_number(cell) if header.place in sums and not cell.is_blank else None
        if total is None or not stated:
            continue
        if any(math.isclose(total, months_sum, rel_tol=DIFFERENCE_MAX) for months_sum in (stated, said)):
            continue
        text = f"the total reads {cell.text}, but its months add up to {stated:,.15g}: are the months right?"
        identity = f"total of a row: {line.text('name') or line.row.place}"
        change = abs(total / stated - 1)
        line.ledger.doubts.decide(identity, cell, text, {MONTHS: 1.0}, MONTHS, line.index, change=change)


def _add_up(cells: Iterable[Cell]) -> float:
    """The sum of the numbers."""
    values = map(read_plain_number, cells)
    return math.fsum(value for value in values if value is not None)
