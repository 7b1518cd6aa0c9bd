"""The sums of a table's number columns, to hold against what its totals rows say."""

from __future__ import annotations

import math

from planner.inputs.cell_grid import GridRow
from planner.inputs.reading_log import ReadingLog
from planner.inputs.spreadsheet.row_values import WorkloadRow
from planner.inputs.spreadsheet.table_detection import TEXT_MEANINGS, SheetTable

RELATIVE_TOLERANCE = 0.005
NON_ADDITIVE_MEANINGS = frozenset({"hours", "utilisation", "growth", "deadline", "throughput"})


class Totals:
    """Grows with the rows of a table; `check` notes a figure that is not the sum of the rows above it."""

    def __init__(self, table: SheetTable) -> None:
        self.table = table
        self.columns = [column for column in table.columns if column.meaning not in TEXT_MEANINGS]
        self.shown: dict[int, float] = {}
        self.block: dict[int, float] = {}
        self.with_hidden: dict[int, float] = {}
        self.waiting: list[tuple[GridRow, bool]] = []
        """Rows that are added once a total is to be held against them: most tables have none."""

    def add(self, row: GridRow, *, hidden: bool) -> None:
        self.waiting.append((row, hidden))

    def _add_waiting_rows(self) -> None:
        for row, hidden in self.waiting:
            for index, value in self._row_numbers(row).items():
                self.with_hidden[index] = self.with_hidden.get(index, 0.0) + value
                if not hidden:
                    self.shown[index] = self.shown.get(index, 0.0) + value
                    self.block[index] = self.block.get(index, 0.0) + value
        self.waiting = []

    def claims(self, row: GridRow) -> bool:
        """Whether a row without any text is the sum of those above it."""
        if any(isinstance(cell.value, str) and cell.text and not self._is_number(cell.text) for cell in row.cells):
            return False
        numbers = self._row_numbers(row)
        self._add_waiting_rows()
        return bool(numbers and self.shown) and all(
            _is_close(value, self.shown.get(index, 0.0)) for index, value in numbers.items()
        )

    def check(self, row: GridRow, ledger: ReadingLog) -> None:
        """A note for each figure of a totals row that is not the sum of the rows above it."""
        self._add_waiting_rows()
        apart = {column.index for column in self.columns if column.meaning in NON_ADDITIVE_MEANINGS}
        for index, value in self._row_numbers(row).items():
            cell, shown = row.cell(index), self.shown.get(index, 0.0)
            if _is_close(value, shown) or _is_close(value, self.block.get(index, 0.0)):
                continue
            if _is_close(value, self.with_hidden.get(index, 0.0)):
                ledger.note(f"{cell.place}: the total {cell.text} counts hidden rows; without them it is {shown:,.15g}")
            elif index not in apart:
                ledger.note(f"{cell.place}: the total reads {cell.text}, but the rows above add up to {shown:,.15g}")
        self.block = {}

    def _row_numbers(self, row: GridRow) -> dict[int, float]:
        silent = ReadingLog()
        line = WorkloadRow(self.table, row, 0, silent)
        pairs = ((c.index, line.number_in(c, cell)) for c in self.columns if not (cell := row.cell(c.index)).is_blank)
        return {index: found.value for index, found in pairs if found is not None}

    @staticmethod
    def _is_number(text: str) -> bool:
        return any(sign.isdigit() for sign in text) and not any(sign.isalpha() for sign in text)


def _is_close(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=RELATIVE_TOLERANCE)
