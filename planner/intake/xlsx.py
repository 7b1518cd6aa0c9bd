"""XLSX: stored values of every sheet, with what is hidden, wrong or formatted told apart.

Macros never run; a formula is computed only where no value is stored, and only a simple one.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from planner.intake._archive import Refused, is_open_document
from planner.intake._choices import NONE, Choices
from planner.intake._formulas import Formulas, NotComputed
from planner.intake._grid import Cell, Row, Sheet, Value, column_letters, sheet_place
from planner.intake._read import Read, unreadable
from planner.intake._text import binary_kind
from planner.intake._workbook import NO_VALUE, Marks, Parts, examine

IS_SHEET = True
SUFFIXES = (".xlsx", ".xlsm")
ZIP = b"PK\x03\x04"
EXPECTED = "an Excel workbook (.xlsx)"


def claims(data: bytes) -> bool:
    """Whether the bytes are a ZIP archive, as every workbook is, and not one of another kind."""
    return data.startswith(ZIP) and not is_open_document(data)


def read(data: bytes, name: str, choices: Choices = NONE) -> Read:
    """The workloads of all visible sheets; places are cells ("Plan!C5")."""
    from planner.intake._sheets import read_sheets

    if not claims(data):
        kind = binary_kind(data) or "text; if it is CSV, name it .csv"
        return unreadable(data, name, "xlsx", f"no workbook: this is {kind}", expected=EXPECTED)
    try:
        parts = examine(data)
        sheets = _sheets(data, parts)
    except Refused as refusal:
        return unreadable(data, name, "xlsx", f"not opened: {refusal}", expected=EXPECTED)
    notes = ["the workbook has macros; they were not run"] if parts.has_macros else []
    if parts.has_links:
        notes.append("the workbook links to others; the values stored in it were read")
    return read_sheets(data, name, "xlsx", sheets, notes, choices)


def _sheets(data: bytes, parts: Parts) -> tuple[Sheet, ...]:
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        visible = {meta.name: meta.visible == python_calamine.SheetVisibleEnum.Visible for meta in book.sheets_metadata}
        grids = {}
        for name in book.sheet_names:
            sheet = book.get_sheet_by_name(name)
            grids[name] = (sheet.to_python(skip_empty_area=False), sheet.merged_cell_ranges or ())
    except (python_calamine.CalamineError, ValueError, OSError, OverflowError) as error:
        raise Refused(f"a damaged workbook ({error})") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what the library raises where it gives up; it has no other name
            raise
        raise Refused(f"a damaged workbook ({error})") from None
    notes = {name: _compute(name, grids, parts) for name in grids}
    return tuple(
        _sheet(name, values, merged, parts, notes[name], hidden=not visible.get(name, True))
        for name, (values, merged) in grids.items()
    )


def _compute(sheet: str, grids: dict[str, tuple[list[list[Any]], Any]], parts: Parts) -> list[str]:
    """Puts what simple formulas give where no value (or a 0 that nobody computed) is stored; notes that tell where."""
    marks = parts.sheets.get(sheet, Marks())
    if not marks.formulas:
        return []
    book = Formulas(
        {name: parts.sheets.get(name, Marks()).formulas for name in grids}, lambda name, ref: _at(grids[name][0], ref)
    )
    filled, notes = [], []
    for reference, formula in marks.formulas.items():
        stored, fault = _at(grids[sheet][0], reference), marks.faults.get(reference, "")
        if fault not in ("", NO_VALUE) or (not fault and (stored != 0 or isinstance(stored, bool))):
            continue
        book.looked_at = 0
        try:
            value = book.value(sheet, reference)
        except NotComputed as why:
            marks.faults |= {reference: f"={formula[:40]}, no value stored: {why}"} if fault else {}
            continue
        if fault:
            del marks.faults[reference]
            filled.append(reference)
        elif value:
            place = sheet_place(sheet, reference)
            notes.append(f"{place} stores 0, but ={formula[:40]} gives {value:,.15g}: that was read")
        _put(grids[sheet][0], reference, value)
    if filled:
        shown = ", ".join(filled[:8]) + (f" and {len(filled) - 8} more" if len(filled) > 8 else "")
        notes.append(f"formulas of {sheet} without a stored value were computed: {shown}")
    return notes


def _at(grid: list[list[Any]], reference: str) -> Value:
    column, row = _split(reference)
    return _value(grid[row][column]) if row < len(grid) and column < len(grid[row]) else None


def _put(grid: list[list[Any]], reference: str, value: float) -> None:
    column, row = _split(reference)
    grid += [[] for _ in range(row + 1 - len(grid))]
    grid[row] += [None] * (column + 1 - len(grid[row]))
    grid[row][column] = value


def _split(reference: str) -> tuple[int, int]:
    """Column and row of a reference, both from 0."""
    letters = reference.rstrip("0123456789")
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return column - 1, int(reference[len(letters) :]) - 1


def _sheet(
    name: str,
    values: Sequence[Sequence[Any]],
    merged: Sequence[Any],
    parts: Parts,
    notes: Sequence[str],
    *,
    hidden: bool,
) -> Sheet:
    marks = parts.sheets.get(name, Marks())
    grid = [[_value(value) for value in row] for row in values]
    for (top, left), (bottom, right) in merged:
        _fill(grid, top, left, bottom, right)
    rows, front = [], sheet_place(name, "")
    height = max(len(grid), max((int("".join(filter(str.isdigit, ref))) for ref in marks.faults), default=0))
    for index in range(height):
        cells = grid[index] if index < len(grid) else []
        rows.append(_row(front, index, cells, marks, parts.formats))
    return Sheet(name, tuple(rows), hidden, (*notes, *_hidden_columns(name, rows, marks)))


def _hidden_columns(sheet: str, rows: Sequence[Row], marks: Marks) -> Iterator[str]:
    """A note for each hidden column with something in it: it is read, since the columns beside it may need it."""
    for index in range(marks.columns):
        is_hidden = any(first <= index + 1 <= last for first, last in marks.hidden_columns)
        if is_hidden and any(not row.cell(index).is_blank for row in rows):
            yield f"column {column_letters(index)} of {sheet} is hidden; it was read"


def _row(front: str, index: int, values: Sequence[Value], marks: Marks, formats: tuple[str, ...]) -> Row:
    """One row; `front` is what stands before a reference in a place."""
    cells, number = [], str(index + 1)
    styles, faults = marks.styles, marks.faults
    for column in range(max(len(values), marks.columns)):
        reference = column_letters(column) + number
        value = values[column] if column < len(values) else None
        style = styles.get(reference, -1) if styles else -1
        number_format = formats[style] if 0 <= style < len(formats) else ""
        fault = faults.get(reference, "") if faults else ""
        cells.append(Cell(front + reference, None if fault else value, number_format, fault))
    return Row(f"{front}{index + 1}", tuple(cells), index + 1 in marks.hidden_rows)


def _fill(grid: list[list[Value]], top: int, left: int, bottom: int, right: int) -> None:
    """Gives a text that spans merged cells to all of them; a number stays where it is, or it would count twice."""
    if top >= len(grid) or left >= len(grid[top]) or not isinstance(text := grid[top][left], str) or not text:
        return
    for row in range(top, min(bottom + 1, len(grid))):
        for column in range(left, min(right + 1, len(grid[row]))):
            grid[row][column] = text


def _value(value: Any) -> Value:
    if isinstance(value, str):
        return value or None
    if value is None or isinstance(value, bool | float | datetime | date):
        return value
    if isinstance(value, int):
        return float(value)
    if isinstance(value, timedelta):
        return value.total_seconds() / 86400
    if isinstance(value, time):
        return (value.hour * 3600 + value.minute * 60 + value.second) / 86400
    return str(value)
