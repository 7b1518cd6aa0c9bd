"""Sheets as cells with places: the one shape that every kind of sheet is read through."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache

CellValue = str | float | bool | date | None


@dataclass(slots=True, unsafe_hash=True)  # not frozen, which would double the time to make a million of them
class Cell:
    """One cell: what is stored, how it is shown, and what is wrong with it ("#REF!"), if anything. Never changed."""

    place: str
    value: CellValue
    number_format: str = ""
    fault: str = ""

    @property
    def text(self) -> str:
        """The value as the asker sees it; numbers without a needless .0."""
        value = self.value
        if isinstance(value, str):
            return value.strip()
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, date):
            return value.date().isoformat() if isinstance(value, datetime) else value.isoformat()
        return f"{value:.15g}"

    @property
    def is_blank(self) -> bool:
        value = self.value
        return not self.fault and (value is None or (isinstance(value, str) and not value.strip()))

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)


@dataclass(frozen=True, slots=True)
class GridRow:
    """One row of a sheet; `cells` may be shorter than other rows."""

    place: str
    cells: tuple[Cell, ...]
    hidden: bool = False

    @property
    def is_blank(self) -> bool:
        return all(cell.is_blank for cell in self.cells)

    def cell(self, index: int) -> Cell:
        return self.cells[index] if index < len(self.cells) else Cell(self.place, None)

    @property
    def shown(self) -> str:
        """The row in short, for a list of what was refused."""
        text = " | ".join(cell.text or cell.fault for cell in self.cells if not cell.is_blank)
        return text if len(text) <= 120 else text[:117] + "..."


@dataclass(frozen=True, slots=True)
class InputSheet:
    """A table-like thing with a name."""

    name: str
    rows: tuple[GridRow, ...]
    hidden: bool = False
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=1 << 14)
def column_letters(index: int) -> str:
    """0 -> A, 25 -> Z, 26 -> AA."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@lru_cache(maxsize=1 << 14)
def column_number(letters: str) -> int:
    """The reverse, counted from 1 as a reference does: A -> 1, AA -> 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def sheet_place(sheet: str, rest: str) -> str:
    """A place as a spreadsheet writes it: Plan!C5, 'GPU plan'!C5."""
    return f"{sheet}!{rest}" if sheet.replace("_", "a").isalnum() else f"'{sheet}'!{rest}"
