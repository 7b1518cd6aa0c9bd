"""The sums of a table's number columns, to hold against what its totals rows say."""

from __future__ import annotations

import math

from planner.intake._grid import Row
from planner.intake._ledger import Ledger
from planner.intake._line import Line
from planner.intake._table import TEXT_MEANINGS, Table

AGREE_WITHIN = 0.005
NEVER_ADDED = frozenset({"hours", "utilisation", "growth", "deadline", "throughput"})


class Totals:
    """Grows with the rows of a table; `check` notes a figure that is not the sum of the rows above it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns = [column for column in table.columns if column.meaning not in TEXT_MEANINGS]
        self.shown: dict[int, float] = {}
        self.block: dict[int, float] = {}
        self.with_hidden: dict[int, float] = {}
        self.waiting: list[tuple[Row, bool]] = []
        """Rows that are added once a total is to be held against them: most tables have none."""

    def add(self, row: Row, *, hidden: bool) -> None:
        self.waiting.append((row, hidden))

    def _sum(self) -> None:
        for row, hidden in self.waiting:
            for index, value in self._numbers(row).items():
                self.with_hidden[index] = self.with_hidden.get(index, 0.0) + value
                if not hidden:
                    self.shown[index] = self.shown.get(index, 0.0) + value
                    self.block[index] = self.block.get(index, 0.0) + value
        self.waiting = []

    def claims(self, row: Row) -> bool:
        """Whether a row without any text is the sum of those above it."""
        if any(isinstance(cell.value, str) and cell.text and not self._is_number(cell.text) for cell in row.cells):
            return False
        numbers = self._numbers(row)
        self._sum()
        return bool(numbers and self.shown) and all(
            _agree(value, self.shown.get(index, 0.0)) for index, value in numbers.items()
        )

    def check(self, row: Row, ledger: Ledger) -> None:
        """A note for each figure of a totals row that is not the sum of the rows above it."""
        self._sum()
        apart = {column.index for column in self.columns if column.meaning in NEVER_ADDED}
        for index, value in self._numbers(row).items():
            cell, shown = row.cell(index), self.shown.get(index, 0.0)
            if _agree(value, shown) or _agree(value, self.block.get(index, 0.0)):
                continue
            if _agree(value, self.with_hidden.get(index, 0.0)):
                ledger.note(f"{cell.place}: the total {cell.text} counts hidden rows; without them it is {shown:,.15g}")
            elif index not in apart:
                ledger.note(f"{cell.place}: the total reads {cell.text}, but the rows above add up to {shown:,.15g}")
        self.block = {}

    def _numbers(self, row: Row) -> dict[int, float]:
        silent = Ledger()
        line = Line(self.table, row, 0, silent)
        pairs = ((c.index, line.number_in(c, cell)) for c in self.columns if not (cell := row.cell(c.index)).is_blank)
        return {index: found.value for index, found in pairs if found is not None}

    @staticmethod
    def _is_number(text: str) -> bool:
        return any(sign.isdigit() for sign in text) and not any(sign.isalpha() for sign in text)


def _agree(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=AGREE_WITHIN)
