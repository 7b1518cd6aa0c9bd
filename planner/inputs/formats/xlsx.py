"""XLSX: stored values of every sheet, with what is hidden, wrong or formatted told apart.

Macros never run; a formula is computed only where no value is stored, and only a simple one.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from planner.inputs.cell_grid import Cell, CellValue, GridRow, InputSheet, column_letters, sheet_place
from planner.inputs.parsed_file import ParsedFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.spreadsheet.formulas import Formulas, UnsupportedFormula
from planner.inputs.spreadsheet.workbook_parts import NO_VALUE, SheetMarks, WorkbookParts, examine_workbook
from planner.inputs.spreadsheet.zip_archive import RejectedWorkbook, is_open_document
from planner.inputs.text_encoding import binary_kind

IS_SHEET = True
SUFFIXES = (".xlsx", ".xlsm")
ZIP = b"PK\x03\x04"
EXPECTED = "an Excel workbook (.xlsx)"


def claims(data: bytes) -> bool:
    """Whether the bytes are a ZIP archive, as every workbook is, and not one of another kind."""
    return data.startswith(ZIP) and not is_open_document(data)


def read(data: bytes, name: str, choices: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The workloads of all visible sheets; places are cells ("Plan!C5")."""
    from planner.inputs.spreadsheet.sheet_reader import read_sheets

    if not claims(data):
        kind = binary_kind(data) or "text; if it is CSV, name it .csv"
        return reject_file(data, name, "xlsx", f"no workbook: this is {kind}", expected=EXPECTED)
    try:
        parts = examine_workbook(data)
        sheets = _load_sheets(data, parts)
    except RejectedWorkbook as refusal:
        return reject_file(data, name, "xlsx", f"not opened: {refusal}", expected=EXPECTED)
    notes = ["the workbook has macros; they were not run"] if parts.has_macros else []
    if parts.has_links:
        notes.append("the workbook links to others; the values stored in it were read")
    return read_sheets(data, name, "xlsx", sheets, notes, choices)


def _load_sheets(data: bytes, parts: WorkbookParts) -> tuple[InputSheet, ...]:
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        visible = {meta.name: meta.visible == python_calamine.SheetVisibleEnum.Visible for meta in book.sheets_metadata}
        grids = {}
        for name in book.sheet_names:
            sheet = book.get_sheet_by_name(name)
            grids[name] = (sheet.to_python(skip_empty_area=False), sheet.merged_cell_ranges or ())
    except (python_calamine.CalamineError, ValueError, OSError, OverflowError) as error:
        raise RejectedWorkbook(f"a damaged workbook ({error})") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what the library raises where it gives up; it has no other name
            raise
        raise RejectedWorkbook(f"a damaged workbook ({error})") from None
    notes = {name: _compute_formulas(name, grids, parts) for name in grids}
    return tuple(
        _build_sheet(name, values, merged, parts, notes[name], hidden=not visible.get(name, True))
        for name, (values, merged) in grids.items()
    )


def _compute_formulas(sheet: str, grids: dict[str, tuple[list[list[Any]], Any]], parts: WorkbookParts) -> list[str]:
    """Puts what simple formulas give where no value (or a 0 that nobody computed) is stored; notes that tell where."""
    marks = parts.sheets.get(sheet, SheetMarks())
    if not marks.formulas:
        return []
    book = Formulas(
        {name: parts.sheets.get(name, SheetMarks()).formulas for name in grids},
        lambda name, ref: _value_at(grids[name][0], ref),
    )
    filled, notes = [], []
    for reference, formula in marks.formulas.items():
        stored, fault = _value_at(grids[sheet][0], reference), marks.faults.get(reference, "")
        if fault not in ("", NO_VALUE) or (not fault and (stored != 0 or isinstance(stored, bool))):
            continue
        book.looked_at = 0
        try:
            value = book.value(sheet, reference)
        except UnsupportedFormula as why:
            marks.faults |= {reference: f"={formula[:40]}, no value stored: {why}"} if fault else {}
            continue
        if fault:
            del marks.faults[reference]
            filled.append(reference)
        elif value:
            place = sheet_place(sheet, reference)
            notes.append(f"{place} stores 0, but ={formula[:40]} gives {value:,.15g}: that was read")
        _store_value(grids[sheet][0], reference, value)
    if filled:
        shown = ", ".join(filled[:8]) + (f" and {len(filled) - 8} more" if len(filled) > 8 else "")
        notes.append(f"formulas of {sheet} without a stored value were computed: {shown}")
    return notes


def _value_at(grid: list[list[Any]], reference: str) -> CellValue:
    column, row = _split_reference(reference)
    return _convert_value(grid[row][column]) if row < len(grid) and column < len(grid[row]) else None


def _store_value(grid: list[list[Any]], reference: str, value: float) -> None:
    column, row = _split_reference(reference)
    grid += [[] for _ in range(row + 1 - len(grid))]
    grid[row] += [None] * (column + 1 - len(grid[row]))
    grid[row][column] = value


def _split_reference(reference: str) -> tuple[int, int]:
    """Column and row of a reference, both from 0."""
    letters = reference.rstrip("0123456789")
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return column - 1, int(reference[len(letters) :]) - 1


def _build_sheet(
    name: str,
    values: Sequence[Sequence[Any]],
    merged: Sequence[Any],
    parts: WorkbookParts,
    notes: Sequence[str],
    *,
    hidden: bool,
) -> InputSheet:
    marks = parts.sheets.get(name, SheetMarks())
    grid = [[_convert_value(value) for value in row] for row in values]
    for (top, left), (bottom, right) in merged:
        _fill_merged_cells(grid, top, left, bottom, right)
    rows, front = [], sheet_place(name, "")
    height = max(len(grid), max((int("".join(filter(str.isdigit, ref))) for ref in marks.faults), default=0))
    for index in range(height):
        cells = grid[index] if index < len(grid) else []
        rows.append(_build_row(front, index, cells, marks, parts.formats))
    return InputSheet(name, tuple(rows), hidden, (*notes, *_hidden_column_notes(name, rows, marks)))


def _hidden_column_notes(sheet: str, rows: Sequence[GridRow], marks: SheetMarks) -> Iterator[str]:
    """A note for each hidden column with something in it: it is read, since the columns beside it may need it."""
    for index in range(marks.columns):
        is_hidden = any(first <= index + 1 <= last for first, last in marks.hidden_columns)
        if is_hidden and any(not row.cell(index).is_blank for row in rows):
            yield f"column {column_letters(index)} of {sheet} is hidden; it was read"


def _build_row(
    front: str, index: int, values: Sequence[CellValue], marks: SheetMarks, formats: tuple[str, ...]
) -> GridRow:
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
    return GridRow(f"{front}{index + 1}", tuple(cells), index + 1 in marks.hidden_rows)


def _fill_merged_cells(grid: list[list[CellValue]], top: int, left: int, bottom: int, right: int) -> None:
    """Gives a text that spans merged cells to all of them; a number stays where it is, or it would count twice."""
    if top >= len(grid) or left >= len(grid[top]) or not isinstance(text := grid[top][left], str) or not text:
        return
    for row in range(top, min(bottom + 1, len(grid))):
        for column in range(left, min(right + 1, len(grid[row]))):
            grid[row][column] = text


def _convert_value(value: Any) -> CellValue:
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
