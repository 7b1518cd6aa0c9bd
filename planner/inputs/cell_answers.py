"""Replaces cells by the values of an answers file, so that a fault is settled without an edit of the spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner.inputs.cell_grid import Cell, CellValue, GridRow, InputSheet, parse_reference, shorten_text
from planner.inputs.reading_log import ReadingLog
from planner.request.errors import InputProblem

COLUMNS_MAX = 2_000
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_CSV_PLACE = re.compile(r"(line \d{1,7}) column (\d{1,4})")


def replace_cells(sheets: Sequence[InputSheet], cells: Mapping[str, str], log: ReadingLog) -> tuple[InputSheet, ...]:
    """The sheets with the values of `cells` by place; each is noted, and a place outside all rows is a problem."""
    if not cells:
        return tuple(sheets)
    by_row: dict[str, dict[int, str]] = {}
    for place, text in cells.items():
        at = _parse_place(place)
        if at is None:
            log.complaints.append(
                InputProblem("", f"cells {place!r}", "not a cell", place, "Plan!C5 or line 3 column 7")
            )
        else:
            by_row.setdefault(at[0], {})[at[1]] = text
    changed = tuple(
        replace(sheet, rows=tuple(_replace_in_row(row, by_row.pop(row.place, {}), log) for row in sheet.rows))
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


def _replace_in_row(row: GridRow, values: Mapping[int, str], log: ReadingLog) -> GridRow:
    if not values:
        return row
    cells = list(row.cells)
    for index, text in values.items():
        cells += [Cell(row.place, None) for _ in range(index + 1 - len(cells))]
        old = cells[index]
        shown = shorten_text(old.fault or old.text, 40)
        log.note(f"{old.place}: read as {text!r} by the answers, not {shown!r}")
        cells[index] = Cell(old.place, _parse_value(text))
    return replace(row, cells=tuple(cells))


def _parse_value(text: str) -> CellValue:
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text or None
