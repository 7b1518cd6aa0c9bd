"""Tables that stand side by side on one sheet -> a sheet for each, so that each has its own header.

Cells keep their places; a sheet with one table is left as it is.
"""

from __future__ import annotations

from dataclasses import replace

from planner.intake._choices import NONE, Choices
from planner.intake._columns import columns_of
from planner.intake._grid import Cell, Row, Sheet
from planner.intake._headers import header_from

ROWS_MAX = 2_000
"""Longer sheets are lists, which have nothing beside them."""
APART = frozenset({"month", "yearless", "notes"})
"""What may stand twice in one table, or on both sides of a column left blank for the eye."""


def parted(sheet: Sheet, choices: Choices = NONE) -> tuple[Sheet, ...]:
    """The sheet cut at each blank column where the titles start anew."""
    if len(sheet.rows) > ROWS_MAX or (header := header_from(sheet, 0, choices)) is None:
        return (sheet,)
    columns = columns_of(header.row, None, choices)
    for gap in range(1, len(header.row.cells) - 1):
        if not header.row.cell(gap).is_blank:
            continue
        left = {c.meaning for c in columns if c.index < gap}
        right = [c.meaning for c in columns if c.index > gap]
        again = right and right[0] in left - APART
        if again and all(row.cell(gap).is_blank for row in sheet.rows[header.below :]):
            first = replace(sheet, rows=tuple(replace(row, cells=row.cells[:gap]) for row in sheet.rows))
            rest = replace(sheet, rows=tuple(_from(row, gap) for row in sheet.rows), notes=())
            return (first, *parted(rest, choices))
    return (sheet,)


def _from(row: Row, start: int) -> Row:
    """The row with nothing before the column `start`."""
    blank = tuple(Cell(cell.place, None) for cell in row.cells[:start])
    return replace(row, cells=blank + row.cells[start:])
