"""The sums of a table's number columns, to check its totals rows."""

from __future__ import annotations

import math

from planner.inputs.cell_grid import GridRow
from planner.inputs.reading_log import ReadingLog
from planner.inputs.spreadsheet.row_values import WorkloadRow
from planner.inputs.spreadsheet.table_detection import TEXT_MEANINGS, SheetTable

RELATIVE_TOLERANCE = 0.005
NON_ADDITIVE_MEANINGS = frozenset({"hours", "utilisation", "growth", "deadline", "throughput"})


class Totals:
    """The sums of a table's rows so far: of visible rows, of those since the last total, and with hidden rows."""

    def __init__(self, table: SheetTable) -> None:
        self.table = table
        self.columns = [column for column in table.columns if column.meaning not in TEXT_MEANINGS]
        self.visible: dict[int, float] = {}
        self.block: dict[int, float] = {}
        self.with_hidden: dict[int, float] = {}
        self.waiting: list[tuple[GridRow, bool]] = []
        """Rows that are added when a total is checked: most tables have no total."""

    def add(self, row: GridRow, *, hidden: bool) -> None:
        self.waiting.append((row, hidden))

    def _add_waiting_rows(self) -> None:
        for row, hidden in self.waiting:
            for index, value in self._row_numbers(row).items():
                self.with_hidden[index] = self.with_hidden.get(index, 0.0) + value
                if not hidden:
                    self.visible[index] = self.visible.get(index, 0.0) + value
                    self.block[index] = self.block.get(index, 0.0) + value
        self.waiting = []

    def claims(self, row: GridRow) -> bool:
        """Whether a row without any text is the sum of the rows above it."""
        if any(isinstance(cell.value, str) and cell.text and not self._is_number(cell.text) for cell in row.cells):
            return False
        numbers = self._row_numbers(row)
        self._add_waiting_rows()
        return bool(numbers and self.visible) and all(
            _is_close(value, self.visible.get(index, 0.0)) for index, value in numbers.items()
        )

    def check(self, row: GridRow, ledger: ReadingLog) -> None:
        """Adds a note for each number of a totals row that is not the sum of the rows above it."""
        self._add_waiting_rows()
        non_additive = {column.index for column in self.columns if column.meaning in NON_ADDITIVE_MEANINGS}
        for index, value in self._row_numbers(row).items():
            cell, total = row.cell(index), self.visible.get(index, 0.0)
            if _is_close(value, total) or _is_close(value, self.block.get(index, 0.0)):
                continue
            if _is_close(value, self.with_hidden.get(index, 0.0)):
                ledger.note(
                    f"{cell.place}: the total {cell.text} includes hidden rows; without them it is {total:,.15g}"
                )
            elif index not in non_additive:
                ledger.note(f"{cell.place}: the total reads {cell.text}, but the rows above add up to {total:,.15g}")
        self.block = {}

    def _row_numbers(self, row: GridRow) -> dict[int, float]:
        line = WorkloadRow(self.table, row, 0, ReadingLog())
        pairs = ((c.index, line.number_in(c, cell)) for c in self.columns if not (cell := row.cell(c.index)).is_blank)
        return {index: number.value for index, number in pairs if number is not None}

    @staticmethod
    def _is_number(text: str) -> bool:
        return any(sign.isdigit() for sign in text) and not any(sign.isalpha() for sign in text)


def _is_close(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=RELATIVE_TOLERANCE)
