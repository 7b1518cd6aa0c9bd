"""Replaces cells by values that were typed for them, so that a fault is settled without an edit of the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from planner.inputs.cell_grid import (
    Cell,
    CellValue,
    GridRow,
    InputSheet,
    column_letters,
    parse_reference,
    shorten_text,
)
from planner.inputs.reading_log import ReadingLog
from planner.inputs.sheet_options import SheetOptions
from planner.request.errors import InputProblem
from planner.result import CellEdit

COLUMNS_MAX = 2_000
EXPECTED_PLACE = "Plan!C5 or line 3 column 7"
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_CSV_PLACE = re.compile(r"(line \d{1,7}) column (\d{1,4})")
_ASSIGNMENT = re.compile(r"(.+?!\$?[A-Za-z]{1,3}\$?\d{1,7}|line \d{1,7} column \d{1,4})\s*=(.*)", re.DOTALL)
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}


def split_cell_text(text: str) -> tuple[str, str] | None:
    """The place and the value of "Plan!C5=1200"; None where the text begins with no place of a cell."""
    match = _ASSIGNMENT.fullmatch(text.strip())
    return None if match is None else (match[1].strip(), match[2].strip())


def replace_cells(sheets: Sequence[InputSheet], options: SheetOptions, log: ReadingLog) -> tuple[InputSheet, ...]:
    """The sheets with the cells of the options by place; each is an edit in the log, and a place outside all rows is a
    problem. A cell that says so already stays as it is."""
    if not options.cells:
        return tuple(sheets)
    by_row: dict[str, dict[int, str]] = {}
    for place, text in options.cells.items():
        at = _parse_place(place)
        if at is None:
            log.complaints.append(InputProblem("", f"cells {place!r}", "not a cell", place, EXPECTED_PLACE))
        else:
            by_row.setdefault(at[0], {})[at[1]] = text
    days = {at: day for place, day in options.edited.items() if (at := _parse_place(place))}
    changed = tuple(
        replace(sheet, rows=tuple(_replace_in_row(row, by_row.pop(row.place, {}), days, log) for row in sheet.rows))
        for sheet in sheets
    )
    for row, values in by_row.items():
        log.complaints += [
            InputProblem("", f"cells {row}", "no such row in the file", text) for text in values.values()
        ]
    return changed


def _parse_place(place: str) -> tuple[str, int] | None:
    """The place of the row and the index of the column."""
    if match := _CSV_PLACE.fullmatch(place):
        index = int(match[2]) - 1
        return (match[1], index) if 0 <= index < COLUMNS_MAX else None
    sheet, mark, cell = place.rpartition("!")
    reference = parse_reference(cell) if mark else None
    return (f"{sheet}!{reference[1]}", reference[0] - 1) if reference and reference[0] <= COLUMNS_MAX else None


def _replace_in_row(
    row: GridRow, values: Mapping[int, str], days: Mapping[tuple[str, int], date], log: ReadingLog
) -> GridRow:
    if not values:
        return row
    cells = list(row.cells)
    for index, text in values.items():
        cells += [Cell(_cell_place(row.place, further), None) for further in range(len(cells), index + 1)]
        old = cells[index]
        said, value = old.fault or old.text, _parse_value(text)
        if text == said:
            continue
        log.edits.append(CellEdit(old.place, said, text, days.get((row.place, index))))
        log.originals[old.place] = old
        # the format has the currency or the per cent sign of a number, and another number has the same
        keeps_format = old.is_number and isinstance(value, int | float)
        cells[index] = Cell(old.place, value, old.number_format if keeps_format else "")
    return replace(row, cells=tuple(cells))


def _cell_place(row: str, index: int) -> str:
    """The place of a cell beyond the end of its row."""
    sheet, mark, number = row.rpartition("!")
    return f"{sheet}!{column_letters(index)}{number}" if mark else f"{row} column {index + 1}"


def _parse_value(text: str) -> CellValue:
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text or None


@dataclass(slots=True)
class ScalarEdits:
    """Replaces values of a document by their places, and notes which were."""

    options: SheetOptions
    edits: list[CellEdit] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def replace_scalar(self, place: str, value: Any) -> Any:
        """The value at a place, or the one that was typed instead."""
        text = self.options.cells.get(place)
        if text is None:
            return value
        self._seen.add(place)
        said = "" if value is None else str(value)
        if text == said:
            return value
        self.edits.append(CellEdit(place, said, text, self.options.edited.get(place)))
        if isinstance(value, bool):
            return _FLAGS.get(text.casefold(), text)
        return text if isinstance(value, str) and text else _parse_value(text)

    def unused(self) -> list[InputProblem]:
        """A problem for each place at which the document has no value."""
        return [
            InputProblem("", place, "no value of the document is here", text)
            for place, text in self.options.cells.items()
            if place not in self._seen
        ]


def edit_notes(edits: Iterable[CellEdit]) -> tuple[str, ...]:
    """A remark for each edit: what is read now, since when, and what the file says."""
    return tuple(
        f"{each.place}: {_quote(each.value)}, edited by hand{f' on {each.on}' if each.on else ''}; the file said "
        f"{_quote(each.said)}"
        for each in edits
    )


def _quote(text: str) -> str:
    return repr(shorten_text(text, 40)) if text else "nothing"
