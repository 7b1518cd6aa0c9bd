"""Tables that stand side by side on one sheet -> a sheet for each, so that each has its own header.

Cells keep their places; a sheet with one table is left as it is.
"""

from __future__ import annotations

from dataclasses import replace

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.spreadsheet.column_meanings import match_columns
from planner.inputs.spreadsheet.header_detection import find_header

ROWS_MAX = 2_000
"""Longer sheets are lists, which have nothing beside them."""
REPEATABLE_MEANINGS = frozenset({"month", "yearless", "notes"})
"""What may stand twice in one table, or on both sides of a column left blank for the eye."""


def split_adjacent_tables(sheet: InputSheet, choices: SheetOptions = NO_SHEET_OPTIONS) -> tuple[InputSheet, ...]:
    """The sheet cut at each blank column where the titles start anew."""
    if len(sheet.rows) > ROWS_MAX or (header := find_header(sheet, 0, choices)) is None:
        return (sheet,)
    columns = match_columns(header.row, None, choices)
    for gap in range(1, len(header.row.cells) - 1):
        if not header.row.cell(gap).is_blank:
            continue
        left = {c.meaning for c in columns if c.index < gap}
        right = [c.meaning for c in columns if c.index > gap]
        again = right and right[0] in left - REPEATABLE_MEANINGS
        if again and all(row.cell(gap).is_blank for row in sheet.rows[header.below :]):
            first = replace(sheet, rows=tuple(replace(row, cells=row.cells[:gap]) for row in sheet.rows))
            rest = replace(sheet, rows=tuple(_blank_columns_before(row, gap) for row in sheet.rows), notes=())
            return (first, *split_adjacent_tables(rest, choices))
    return (sheet,)


def _blank_columns_before(row: GridRow, start: int) -> GridRow:
    """The row with nothing before the column `start`."""
    blank = tuple(Cell(cell.place, None) for cell in row.cells[:start])
    return replace(row, cells=blank + row.cells[start:])
