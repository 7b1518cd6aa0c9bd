"""The sums of a table's number columns, to check its totals rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from planner.inputs.cell_grid import Cell, GridRow
from planner.inputs.reading_log import ReadingLog
from planner.inputs.spreadsheet.row_values import WorkloadRow
from planner.inputs.spreadsheet.table_detection import DEMAND_MEANINGS, TEXT_MEANINGS, SheetTable

RELATIVE_TOLERANCE = 0.005
ROWS = "rows"
USUAL_ERRORS = (0.001, 0.01, 0.1, 1 / 12, 12, 10, 100, 1000)
"""Factors by which a value is often wrong: a magnitude, or a year for a month."""
NON_ADDITIVE_MEANINGS = frozenset({"hours", "utilisation", "growth", "deadline", "throughput"})


@dataclass(slots=True)
class _ColumnSums:
    """The sums of each column: of visible rows, of those since the last total, and with hidden rows."""

    visible: dict[int, float] = field(default_factory=dict)
    block: dict[int, float] = field(default_factory=dict)
    with_hidden: dict[int, float] = field(default_factory=dict)

    def add(self, numbers: Mapping[int, float], *, hidden: bool) -> None:
        for index, value in numbers.items():
            for sums in (self.with_hidden,) if hidden else (self.with_hidden, self.visible, self.block):
                sums[index] = sums.get(index, 0.0) + value

    def are_fitted_by(self, index: int, value: float) -> bool:
        """Whether a total is the sum of the visible rows, or of those since the last total."""
        return any(_is_close(value, sums.get(index, 0.0)) for sums in (self.visible, self.block))


class Totals:
    """The sums of a table's rows so far. `originals` are the cells that were edited by hand, as the file has them: its
    totals may be of these."""

    def __init__(self, table: SheetTable, originals: Mapping[str, Cell]) -> None:
        self.table, self.originals = table, originals
        self.columns = [column for column in table.columns if column.meaning not in TEXT_MEANINGS]
        self.read, self.said = _ColumnSums(), _ColumnSums()
        self.parts: dict[int, list[tuple[Cell, float]]] = {}
        """The visible values of each column, to find the one that a total does not fit."""
        self.waiting: list[tuple[GridRow, bool]] = []
        """Rows that are added when a total is checked: most tables have no total."""

    def add(self, row: GridRow, *, hidden: bool) -> None:
        self.waiting.append((row, hidden))

    def _add_waiting_rows(self) -> None:
        for row, hidden in self.waiting:
            numbers = self._row_numbers(row)
            self.read.add(numbers, hidden=hidden)
            cells = tuple(self.originals.get(cell.place, cell) for cell in row.cells) if self.originals else row.cells
            self.said.add(
                numbers if cells == row.cells else self._row_numbers(replace(row, cells=cells)), hidden=hidden
            )
            if not hidden:
                for index, value in numbers.items():
                    self.parts.setdefault(index, []).append((row.cell(index), value))
        self.waiting = []

    def claims(self, row: GridRow) -> bool:
        """Whether a row without any text is the sum of the rows above it."""
        if any(isinstance(cell.value, str) and cell.text and not self._is_number(cell.text) for cell in row.cells):
            return False
        numbers = self._row_numbers(row)
        self._add_waiting_rows()
        return bool(numbers) and any(
            sums.visible and all(_is_close(value, sums.visible.get(index, 0.0)) for index, value in numbers.items())
            for sums in (self.read, self.said)
        )

    def check(self, row: GridRow, ledger: ReadingLog) -> None:
        """Adds a note for each number of a totals row that is not the sum of the rows above it."""
        self._add_waiting_rows()
        non_additive = {column.index for column in self.columns if column.meaning in NON_ADDITIVE_MEANINGS}
        for index, value in self._row_numbers(row).items():
            cell, total = row.cell(index), self.read.visible.get(index, 0.0)
            if self.read.are_fitted_by(index, value) or self.said.are_fitted_by(index, value):
                continue
            if any(_is_close(value, sums.with_hidden.get(index, 0.0)) for sums in (self.read, self.said)):
                ledger.note(
                    f"{cell.place}: the total {cell.text} includes hidden rows; without them it is {total:,.15g}"
                )
            elif index not in non_additive:
                self._ask_which_is_right(index, cell, value, total, ledger)
        self.read.block, self.said.block = {}, {}

    def _ask_which_is_right(self, index: int, cell: Cell, value: float, total: float, ledger: ReadingLog) -> None:
        """Asks which is right, a total or its rows; the rows are planned. A total of no demand is noted."""
        column = next(column for column in self.columns if column.index == index)
        text = f"the total reads {cell.text}, but the rows above add up to {total:,.15g}"
        if column.meaning not in DEMAND_MEANINGS | {"gpus"}:
            ledger.note(f"{cell.place}: {text}")
            return
        suspect = self._find_suspect(column.index, value - total)
        places = (cell,) if suspect is None else (cell, suspect[0])
        hint = "" if suspect is None else f"; {suspect[0].place} times {suspect[1]:g} would explain it"
        change = abs(value / total - 1) if total else math.inf
        title = f"{column.header.text} {column.month}".strip()
        for place in places:
            ledger.doubts.decide(
                f"total: {title}", place, f"{text}{hint}: are the rows right?", {ROWS: 1.0}, ROWS, change=change
            )

    def _find_suspect(self, index: int, difference: float) -> tuple[Cell, float] | None:
        """The only row whose value, times a usual error of unit, would make the rows add up."""
        suspects = [
            (cell, factor)
            for cell, value in self.parts.get(index, ())
            for factor in USUAL_ERRORS
            if math.isclose(value * (factor - 1), difference, rel_tol=RELATIVE_TOLERANCE)
        ]
        return suspects[0] if len(suspects) == 1 else None

    def _row_numbers(self, row: GridRow) -> dict[int, float]:
        line = WorkloadRow(self.table, row, 0, ReadingLog())
        pairs = ((c.index, line.number_in(c, cell)) for c in self.columns if not (cell := row.cell(c.index)).is_blank)
        return {index: number.value for index, number in pairs if number is not None}

    @staticmethod
    def _is_number(text: str) -> bool:
        return any(sign.isdigit() for sign in text) and not any(sign.isalpha() for sign in text)


def _is_close(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=RELATIVE_TOLERANCE)
