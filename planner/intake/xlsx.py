"""XLSX: stored values of every sheet, with what is hidden, wrong or formatted told apart.

Formulas and macros never run.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from planner.intake._grid import Cell, Row, Sheet, Value, column_letters, sheet_place
from planner.intake._read import Read, unreadable
from planner.intake._text import binary_kind
from planner.intake._workbook import Marks, Parts, Refused, examine

SUFFIXES = (".xlsx", ".xlsm")
ZIP = b"PK\x03\x04"
EXPECTED = "an Excel workbook (.xlsx)"


def claims(data: bytes) -> bool:
    """Whether the bytes are a ZIP archive, as every workbook is."""
    return data.startswith(ZIP)


def read(data: bytes, name: str) -> Read:
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
    return read_sheets(data, name, "xlsx", sheets, notes)


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
    return tuple(
        _sheet(name, values, merged, parts.sheets.get(name, Marks()), parts.formats, hidden=not visible.get(name, True))
        for name, (values, merged) in grids.items()
    )


def _sheet(
    name: str,
    values: Sequence[Sequence[Any]],
    merged: Sequence[Any],
    marks: Marks,
    formats: tuple[str, ...],
    *,
    hidden: bool,
) -> Sheet:
    grid = [[_value(value) for value in row] for row in values]
    for (top, left), (bottom, right) in merged:
        _fill(grid, top, left, bottom, right)
    rows = []
    height = max(len(grid), max((int("".join(filter(str.isdigit, ref))) for ref in marks.faults), default=0))
    for index in range(height):
        cells = grid[index] if index < len(grid) else []
        rows.append(_row(name, index, cells, marks, formats))
    return Sheet(name, tuple(rows), hidden, tuple(_hidden_columns(name, rows, marks)))


def _hidden_columns(sheet: str, rows: Sequence[Row], marks: Marks) -> Iterator[str]:
    """A note for each hidden column with something in it: it is read, since the columns beside it may need it."""
    for index in range(marks.columns):
        is_hidden = any(first <= index + 1 <= last for first, last in marks.hidden_columns)
        if is_hidden and any(not row.cell(index).is_blank for row in rows):
            yield f"column {column_letters(index)} of {sheet} is hidden; it was read"


def _row(sheet: str, index: int, values: Sequence[Value], marks: Marks, formats: tuple[str, ...]) -> Row:
    cells = []
    width = max(len(values), marks.columns)
    for column in range(width):
        reference = f"{column_letters(column)}{index + 1}"
        value = values[column] if column < len(values) else None
        style = marks.styles.get(reference, -1)
        number_format = formats[style] if 0 <= style < len(formats) else ""
        fault = marks.faults.get(reference, "")
        cells.append(Cell(sheet_place(sheet, reference), None if fault else value, number_format, fault))
    return Row(sheet_place(sheet, str(index + 1)), tuple(cells), index + 1 in marks.hidden_rows)


def _fill(grid: list[list[Value]], top: int, left: int, bottom: int, right: int) -> None:
    """Gives a text that spans merged cells to all of them; a number stays where it is, or it would count twice."""
    if top >= len(grid) or left >= len(grid[top]) or not isinstance(text := grid[top][left], str) or not text:
        return
    for row in range(top, min(bottom + 1, len(grid))):
        for column in range(left, min(right + 1, len(grid[row]))):
            grid[row][column] = text


def _value(value: Any) -> Value:
    if value is None or value == "":
        return None
    if isinstance(value, bool | str | float | datetime | date):
        return value
    if isinstance(value, int):
        return float(value)
    if isinstance(value, timedelta):
        return value.total_seconds() / 86400
    return value.isoformat() if isinstance(value, time) else str(value)
