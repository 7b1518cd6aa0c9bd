"""What tells rows of one name apart: "Chatbot" as training and as inference are two workloads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from planner.inputs.cell_grid import Cell, GridRow
from planner.inputs.notation.units import normalize_text
from planner.inputs.spreadsheet.column_meanings import match_meaning
from planner.inputs.spreadsheet.table_detection import SheetTable


@dataclass(frozen=True, slots=True)
class DuplicateNames:
    """The names that stand in several rows, and the column that tells those rows apart (-1: none does)."""

    repeated: frozenset[str] = frozenset()
    index: int = -1
    header: Cell | None = None

    def name(self, row: GridRow, name: str) -> str:
        """The name that a row's workload goes by."""
        if self.index < 0 or name.casefold() not in self.repeated:
            return name
        return f"{name} ({row.cell(self.index).text})"


def find_duplicate_names(table: SheetTable) -> DuplicateNames:
    """How the rows of a table are told apart."""
    column = table.column("name")
    rows = [row for row, reason in table.rows if not reason] if column else []
    if column is None or len(rows) < 2:
        return DuplicateNames()
    counts = Counter(row.cell(column.index).text.casefold() for row in rows)
    repeated = frozenset(name for name, count in counts.items() if count > 1 and name)
    if not repeated:
        return DuplicateNames()
    twice = [row for row in rows if row.cell(column.index).text.casefold() in repeated]
    for index, header in _candidate_columns(table):
        pairs = [(row.cell(column.index).text.casefold(), row.cell(index).text.casefold()) for row in twice]
        if len(set(pairs)) == len(pairs) and all(other for _, other in pairs):
            return DuplicateNames(repeated, index, header)
    return DuplicateNames()


def _candidate_columns(table: SheetTable) -> list[tuple[int, Cell]]:
    """The columns that may tell rows apart: the kind, then names that are not used, then the accelerator."""
    places = {cell.place: index for index, cell in enumerate(table.header.cells)}
    candidates = [(column.index, column.header) for column in table.columns if column.meaning == "kind"]
    candidates += [
        (places[cell.place], cell)
        for cell in table.passed_over
        if match_meaning(normalize_text(cell.text)) in ("name", "kind") and cell.place in places
    ]
    return candidates + [(column.index, column.header) for column in table.columns if column.meaning == "accelerator"]
