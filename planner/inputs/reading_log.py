"""Keeps account while a sheet is read: what was read from which cell, what is wrong with it, what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.inputs.cell_grid import Cell, GridRow
from planner.request.errors import InputProblem
from planner.result import InputReading, RefusedRow


@dataclass(slots=True)
class ReadingLog:
    """Grows while a file is read; one for a file. Notes are kept once each, in the order they came up."""

    readings: list[InputReading] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    complaints: list[InputProblem] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    rows_used: int = 0
    amount: tuple[str, str] = ("", "")
    """The currency that the file's amounts are in, and the place of the first that says so."""

    def read(self, path: str, cell: Cell, value: object) -> None:
        """`cell` became (part of) the value at `path`; the last cell of a path is the one that complaints point to."""
        self.places[path] = cell.place
        self.readings.append(InputReading(path, cell.place, cell.text, _format_value(value)))

    def add_problem(self, cell: Cell, message: str, expected: str = "", path: str = "") -> None:
        self.complaints.append(
            InputProblem(path, cell.place, message, _shorten_text(cell.fault or cell.text), expected)
        )

    def checkpoint(self) -> tuple[int, int]:
        """How much is read so far, for `forget`."""
        return len(self.readings), len(self.places)

    def roll_back(self, mark: tuple[int, int]) -> None:
        """Forgets what was read since; complaints and notes stay."""
        del self.readings[mark[0] :]
        while len(self.places) > mark[1]:
            self.places.popitem()

    def accepts_currency(self, currency: str, cell: Cell) -> bool:
        """Whether an amount in `currency` agrees with the amounts before it; a complaint where it does not."""
        if not self.amount[0]:
            self.amount = (currency, cell.place)
        first, place = self.amount
        if first != currency:
            self.add_problem(
                cell, f"an amount in {currency} beside one in {first} ({place})", f"all amounts in {first}"
            )
        return first == currency

    def reject_row(self, row: GridRow, reason: str) -> None:
        self.refused.append(RefusedRow(row.place, row.shown, reason))

    def note(self, text: str) -> None:
        self.notes[text] = None


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _shorten_text(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
