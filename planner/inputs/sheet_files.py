"""Sheets of any kind as a request: exports of price calculators by their layout, all other sheets by their headers."""

from __future__ import annotations

from collections.abc import Sequence

from planner.inputs.calculators.export_reader import read_calculator_sheet
from planner.inputs.cell_grid import InputSheet
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import SheetOptions
from planner.inputs.spreadsheet import sheet_reader

SPECIAL_LAYOUTS = (read_calculator_sheet,)


def read_sheets(
    data: bytes, name: str, format_name: str, sheets: Sequence[InputSheet], notes: Sequence[str], options: SheetOptions
) -> ParsedFile:
    """The request of all sheets of a file together. `notes` are those of the file as a whole."""
    return sheet_reader.read_sheets(data, name, format_name, sheets, notes, options, SPECIAL_LAYOUTS)
