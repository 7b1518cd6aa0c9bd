"""What tells rows of one name apart: "Chatbot" as training and as inference are two workloads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from planner.intake._columns import meaning_of
from planner.intake._grid import Cell, Row
from planner.intake._table import Table
from planner.intake._units import plain


@dataclass(frozen=True, slots=True)
class Naming:
    """The names that stand in several rows, and the column that tells those rows apart (-1: none does)."""

    repeated: frozenset[str] = frozenset()
    index: int = -1
    header: Cell | None = None

    def name(self, row: Row, name: str) -> str:
        """The name that a row's workload goes by."""
        if self.index < 0 or name.casefold() not in self.repeated:
            return name
        return f"{name} ({row.cell(self.index).text})"


def naming_of(table: Table) -> Naming:
    """How the rows of a table are told apart."""
    column = table.column("name")
    rows = [row for row, reason in table.rows if not reason] if column else []
    if column is None or len(rows) < 2:
        return Naming()
    counts = Counter(row.cell(column.index).text.casefold() for row in rows)
    repeated = frozenset(name for name, count in counts.items() if count > 1 and name)
    if not repeated:
        return Naming()
    twice = [row for row in rows if row.cell(column.index).text.casefold() in repeated]
    for index, header in _candidates(table):
        pairs = [(row.cell(column.index).text.casefold(), row.cell(index).text.casefold()) for row in twice]
        if len(set(pairs)) == len(pairs) and all(other for _, other in pairs):
            return Naming(repeated, index, header)
    return Naming()


def _candidates(table: Table) -> list[tuple[int, Cell]]:
    """The columns that may tell rows apart: the kind, then names that are not used, then the accelerator."""
    places = {cell.place: index for index, cell in enumerate(table.header.cells)}
    found = [(column.index, column.header) for column in table.columns if column.meaning == "kind"]
    found += [
        (places[cell.place], cell)
        for cell in table.passed_over
        if meaning_of(plain(cell.text)) in ("name", "kind") and cell.place in places
    ]
    return found + [(column.index, column.header) for column in table.columns if column.meaning == "accelerator"]
