"""XLSX: the stored values of every sheet, with number formats, error values and hidden parts.

Macros never run. A formula is computed only where no value is stored, and only a simple one.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from planner.inputs.cell_grid import (
    Cell,
    CellValue,
    GridRow,
    InputSheet,
    column_letters,
    hidden_column_notes,
    parse_reference,
    sheet_place,
    spread_merged_texts,
)
from planner.inputs.parsed_file import ParsedFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.spreadsheet.formulas import Formulas, UnsupportedFormula
from planner.inputs.spreadsheet.workbook_parts import NO_VALUE, SheetMarks, WorkbookParts, examine_workbook
from planner.inputs.spreadsheet.zip_archive import RejectedWorkbook, is_open_document
from planner.inputs.text_encoding import binary_kind
from pricing.frozen_values import dataclass

IS_SHEET = True
SUFFIXES = (".xlsx", ".xlsm")
ZIP = b"PK\x03\x04"
EXPECTED = "an Excel workbook (.xlsx)"


@dataclass(frozen=True, slots=True)
class SheetValues:
    """The values of a sheet by row and column; `merged` are the first and last (row, column) of ranges, from 0."""

    grid: list[list[Any]]
    merged: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    visible: bool


def claims(data: bytes) -> bool:
    """Whether the bytes are a ZIP archive, as every workbook is, and not an OpenDocument file."""
    return data.startswith(ZIP) and not is_open_document(data)


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The workloads of all visible sheets; places are cells ("Plan!C5")."""
    from planner.inputs.spreadsheet.sheet_reader import read_sheets

    if not claims(data):
        kind = binary_kind(data) or "text (if it is CSV, its name must end in .csv)"
        return reject_file(data, name, "xlsx", f"not a workbook, but {kind}", expected=EXPECTED)
    try:
        parts = examine_workbook(data)
        sheets = _load_sheets(data, parts)
    except RejectedWorkbook as error:
        return reject_file(data, name, "xlsx", f"not opened: {error}", expected=EXPECTED)
    notes = ["the workbook has macros; they were not run"] if parts.has_macros else []
    if parts.has_links:
        notes.append("the workbook links to other workbooks; its stored values were read")
    return read_sheets(data, name, "xlsx", sheets, notes, options)


def read_visible_sheets(data: bytes) -> Mapping[str, list[list[Any]]]:
    """The rows of each visible sheet by its name; RejectedWorkbook where the workbook is damaged or unsafe."""
    examine_workbook(data)
    return {name: sheet.grid for name, sheet in _load_values(data).items() if sheet.visible}


def _load_sheets(data: bytes, parts: WorkbookParts) -> tuple[InputSheet, ...]:
    sheets = _load_values(data)
    grids = {name: sheet.grid for name, sheet in sheets.items()}
    # All formulas first: computing one stores its value in the grid that other sheets refer to.
    notes = {name: _compute_formulas(name, grids, parts) for name in grids}
    return tuple(_build_sheet(name, sheet, parts, notes[name]) for name, sheet in sheets.items())


def _load_values(data: bytes) -> dict[str, SheetValues]:
    """The sheets by name, in order. The workbook must have passed `examine_workbook`. Raises RejectedWorkbook."""
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = {}
        for meta in book.sheets_metadata:
            sheet = book.get_sheet_by_name(meta.name)
            visible = meta.visible == python_calamine.SheetVisibleEnum.Visible
            merged = tuple(sheet.merged_cell_ranges or ())
            sheets[meta.name] = SheetValues(sheet.to_python(skip_empty_area=False), merged, visible)
    except (python_calamine.CalamineError, ValueError, OSError, OverflowError) as error:
        raise RejectedWorkbook(f"a damaged workbook ({error})") from None
    except BaseException as error:
        # A panic of the library's Rust code; the class cannot be imported, and does not derive from Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise RejectedWorkbook(f"a damaged workbook ({error})") from None
    return sheets


def _compute_formulas(sheet: str, grids: dict[str, list[list[Any]]], parts: WorkbookParts) -> list[str]:
    """Stores the values of simple formulas where no value is stored, or a 0 that was never computed. Gives notes."""
    marks = parts.sheets.get(sheet, SheetMarks())
    if not marks.formulas:
        return []
    book = Formulas(
        {name: parts.sheets.get(name, SheetMarks()).formulas for name in grids},
        lambda name, ref: _value_at(grids[name], ref),
    )
    filled, notes = [], []
    for reference, formula in marks.formulas.items():
        stored, fault = _value_at(grids[sheet], reference), marks.faults.get(reference, "")
        if fault not in ("", NO_VALUE) or (not fault and (stored != 0 or isinstance(stored, bool))):
            continue
        book.cells_read = 0
        try:
            value = book.value(sheet, reference)
        except UnsupportedFormula as error:
            marks.faults |= {reference: f"={formula[:40]}, no value stored: {error}"} if fault else {}
            continue
        if fault:
            del marks.faults[reference]
            filled.append(reference)
        elif value:
            place = sheet_place(sheet, reference)
            notes.append(f"{place} stores 0, but ={formula[:40]} gives {value:,.15g}, which was read")
        _store_value(grids[sheet], reference, value)
    if filled:
        listed = ", ".join(filled[:8]) + (f" and {len(filled) - 8} more" if len(filled) > 8 else "")
        notes.append(f"formulas of {sheet} without a stored value were computed: {listed}")
    return notes


def _value_at(grid: list[list[Any]], reference: str) -> CellValue:
    column, row = _grid_position(reference)
    return _convert_value(grid[row][column]) if row < len(grid) and column < len(grid[row]) else None


def _store_value(grid: list[list[Any]], reference: str, value: float) -> None:
    column, row = _grid_position(reference)
    grid += [[] for _ in range(row + 1 - len(grid))]
    grid[row] += [None] * (column + 1 - len(grid[row]))
    grid[row][column] = value


def _grid_position(reference: str) -> tuple[int, int]:
    """Column and row of a reference, both from 0."""
    column, row = parse_reference(reference) or (0, 0)
    return column - 1, row - 1


def _build_sheet(name: str, sheet: SheetValues, parts: WorkbookParts, notes: Sequence[str]) -> InputSheet:
    marks = parts.sheets.get(name, SheetMarks())
    grid = [[_convert_value(value) for value in row] for row in sheet.grid]
    front = sheet_place(name, "")
    height = max(len(grid), max((_grid_position(reference)[1] + 1 for reference in marks.faults), default=0))
    rows = [
        _build_row(front, index, grid[index] if index < len(grid) else [], marks, parts.formats)
        for index in range(height)
    ]
    spread_merged_texts(rows, ((*first, *last) for first, last in sheet.merged))
    hidden_columns = [(first - 1, last - 1) for first, last in marks.hidden_columns]
    all_notes = (*notes, *hidden_column_notes(name, rows, hidden_columns))
    return InputSheet(name, tuple(rows), not sheet.visible, all_notes)


def _build_row(
    front: str, index: int, values: Sequence[CellValue], marks: SheetMarks, formats: tuple[str, ...]
) -> GridRow:
    """One row; `front` is the part of a place before the reference."""
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
