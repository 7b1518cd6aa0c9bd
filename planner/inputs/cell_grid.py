"""Sheets as cells with places: the one form in which every kind of sheet is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache

from pricing.frozen_values import dataclass

CellValue = str | float | bool | date | None
HEADER_SEARCH_ROWS = 200
"""The rows in which a header is searched for."""
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")


@dataclass(slots=True, unsafe_hash=True)  # not frozen, which would double the time to make a million of them
class Cell:
    """One cell: its stored value, its number format, and its error ("#REF!"), if any. Treat it as immutable."""

    place: str
    value: CellValue
    number_format: str = ""
    fault: str = ""

    @property
    def text(self) -> str:
        """The value as the sheet displays it; whole numbers without .0."""
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
    def quoted(self) -> str:
        """The text with its place, for notes: 'GPU hours' (Plan!C1)."""
        return f"{self.text!r} ({self.place})"

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
        """The row in short, for a list of rejected rows."""
        return shorten_text(" | ".join(cell.text or cell.fault for cell in self.cells if not cell.is_blank), 120)


@dataclass(frozen=True, slots=True)
class InputSheet:
    """One sheet of a file; the only one of a CSV file has no name."""

    name: str
    rows: tuple[GridRow, ...]
    hidden: bool = False
    notes: tuple[str, ...] = ()


def shorten_text(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 3] + "..."


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
    """The reverse, but counted from 1 as references are: A -> 1, AA -> 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def sheet_place(sheet: str, rest: str) -> str:
    """A place as a spreadsheet writes it: Plan!C5, 'GPU plan'!C5."""
    return f"{sheet}!{rest}" if sheet.replace("_", "a").isalnum() else f"'{sheet}'!{rest}"


def parse_reference(text: str) -> tuple[int, int] | None:
    """Column and row of a reference, both from 1: $C$5 -> (3, 5). None for any other text."""
    match = _REFERENCE.fullmatch(text)
    return (column_number(match[1]), int(match[2])) if match else None


def spread_merged_texts(rows: list[GridRow], ranges: Iterable[tuple[int, int, int, int]]) -> None:
    """Repeats a text in all cells of its merged range (top, left, bottom, right, from 0).

    A number stays in its first cell: repeated, it would count more than once.
    """
    for top, left, bottom, right in ranges:
        value = rows[top].cell(left).value if top < len(rows) else None
        if not isinstance(value, str) or not value:
            continue
        for index in range(top, min(bottom + 1, len(rows))):
            cells = [
                replace(cell, value=value) if left <= column <= right and cell.is_blank else cell
                for column, cell in enumerate(rows[index].cells)
            ]
            rows[index] = replace(rows[index], cells=tuple(cells))


def hidden_column_notes(sheet: str, rows: Sequence[GridRow], hidden: Sequence[tuple[int, int]]) -> Iterator[str]:
    """A note for each hidden column that is not blank: it is read, since visible columns may depend on it."""
    for index in range(max((len(row.cells) for row in rows), default=0) if hidden else 0):
        is_hidden = any(first <= index <= last for first, last in hidden)
        if is_hidden and any(not row.cell(index).is_blank for row in rows):
            yield f"column {column_letters(index)} of {sheet} is hidden; it was read"
