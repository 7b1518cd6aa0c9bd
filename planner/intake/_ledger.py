"""Keeps account while a sheet is read: what was read from which cell, what is wrong with it, what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.answer import Reading, RefusedRow
from planner.errors import Complaint
from planner.intake._grid import Cell, Row


@dataclass(slots=True)
class Ledger:
    """Grows while a file is read; one for a file. Notes are kept once each, in the order they came up."""

    readings: list[Reading] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    rows_used: int = 0
    amount: tuple[str, str] = ("", "")
    """The currency that the file's amounts are in, and the place of the first that says so."""

    def read(self, path: str, cell: Cell, value: object) -> None:
        """`cell` became (part of) the value at `path`; the last cell of a path is the one that complaints point to."""
        self.places[path] = cell.place
        self.readings.append(Reading(path, cell.place, cell.text, _shown(value)))

    def complain(self, cell: Cell, message: str, expected: str = "", path: str = "") -> None:
        self.complaints.append(Complaint(path, cell.place, message, _short(cell.fault or cell.text), expected))

    def mark(self) -> tuple[int, int]:
        """How much is read so far, for `forget`."""
        return len(self.readings), len(self.places)

    def forget(self, mark: tuple[int, int]) -> None:
        """Forgets what was read since; complaints and notes stay."""
        del self.readings[mark[0] :]
        while len(self.places) > mark[1]:
            self.places.popitem()

    def is_in(self, currency: str, cell: Cell) -> bool:
        """Whether an amount in `currency` agrees with the amounts before it; a complaint where it does not."""
        if not self.amount[0]:
            self.amount = (currency, cell.place)
        first, place = self.amount
        if first != currency:
            self.complain(cell, f"an amount in {currency} beside one in {first} ({place})", f"all amounts in {first}")
        return first == currency

    def refuse(self, row: Row, reason: str) -> None:
        self.refused.append(RefusedRow(row.place, row.shown, reason))

    def note(self, text: str) -> None:
        self.notes[text] = None


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
