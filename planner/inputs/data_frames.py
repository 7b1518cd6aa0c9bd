"""Data frames of pandas, polars and others, read as a sheet: a column of the frame is one of the sheet.

Values have their types, as those of a workbook. Rows count from 0, as frames count them: the place of a value is
"row 3 column 'GPU hours'".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

from planner.inputs.cell_grid import Cell, CellValue, GridRow, InputSheet
from planner.inputs.parsed_file import ParsedFile, UnreadableFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.request.optional_libraries import MissingLibrary, load_library

if TYPE_CHECKING:
    import narwhals

EXTRA = "frames"
FORMAT = "frame"
EXPECTED = "a data frame with a row for each workload, in the columns of a spreadsheet"
INTERCHANGES = ("__arrow_c_stream__", "__dataframe__", "__narwhals_dataframe__", "collect_schema")
"""Of these a table of any library has one; the last is that of polars where it is not computed yet."""
CELLS_MAX = 2_000_000


def is_data_frame(value: object) -> bool:
    """Whether a value is a table of some library of data frames."""
    return any(hasattr(value, name) for name in INTERCHANGES)


def read_frame(frame: Any, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The request in a data frame; problems are in the result. MissingLibrary where narwhals is not installed."""
    from planner.inputs.spreadsheet.sheet_reader import read_sheets

    try:
        titles, rows = _read_cells(frame)
    except UnreadableFile as fault:
        return reject_file(b"", name, FORMAT, str(fault), place=fault.place, expected=EXPECTED)
    texts = [Cell("", _cell_value(title)).text for title in titles]
    head = GridRow(
        "columns",
        tuple(Cell(f"column {text!r}", _cell_value(title)) for title, text in zip(titles, texts, strict=True)),
    )
    body = tuple(
        GridRow(
            f"row {number}",
            tuple(
                Cell(f"row {number} column {text!r}", _cell_value(each))
                for text, each in zip(texts, values, strict=True)
            ),
        )
        for number, values in enumerate(rows)
    )
    sheet = InputSheet("", (head, *body))
    return read_sheets(_canonical_text(sheet).encode(), name, FORMAT, (sheet,), (), options)


def _read_cells(frame: Any) -> tuple[list[Any], Sequence[Sequence[Any]]]:
    """The titles of the columns and the rows of a frame."""
    if hasattr(frame, "reset_index") and hasattr(frame, "columns"):
        frame = _with_named_index(frame)
    table = _open_frame(load_library("narwhals", EXTRA), frame)
    titles = list(getattr(frame, "columns", table.columns)) if hasattr(frame, "iloc") else list(table.columns)
    if len(table) * len(titles) > CELLS_MAX:
        raise UnreadableFile(f"more than {CELLS_MAX:,} values")
    return titles, table.rows()


def _open_frame(library: Any, frame: Any) -> narwhals.DataFrame[Any]:
    try:
        table = library.from_native(frame, pass_through=True)
        if isinstance(table, library.LazyFrame):
            table = table.collect()
        elif not isinstance(table, library.DataFrame) and hasattr(frame, "__arrow_c_stream__"):
            table = library.from_arrow(frame, backend=load_library("pyarrow", EXTRA))
        elif not isinstance(table, library.DataFrame):
            interchange = load_library("pyarrow.interchange", EXTRA)
            table = library.from_native(interchange.from_dataframe(frame))
    except MissingLibrary:
        raise
    except Exception as error:  # noqa: BLE001  (other libraries raise any error)
        raise UnreadableFile(f"not a table: {str(error).partition(chr(10))[0]}") from None
    opened: narwhals.DataFrame[Any] = table
    return opened


def _with_named_index(frame: Any) -> Any:
    """A pandas frame with the levels of its index that have a name as columns; columns of one level only."""
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise UnreadableFile("columns of several levels", "columns")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise UnreadableFile("two columns of this name", f"column {str(twice)!r}")
    named = [name for name in frame.index.names if name is not None]
    return frame.reset_index(level=named) if named else frame


def _cell_value(value: Any) -> CellValue:
    """A value as a cell of a workbook has it; a missing one (None, NaN, NaT) is blank."""
    if _is_missing(value):
        return None
    if hasattr(value, "item") and not isinstance(value, date):
        value = value.item()  # of numpy
    if isinstance(value, bool | str | datetime | date):
        return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    if isinstance(value, Real | Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(value)
    return str(value)


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # noqa: PLR0124  (NaN and NaT differ from themselves)
    except (TypeError, ValueError):  # NA of pandas has no truth, nor has an array
        return type(value).__name__ == "NAType"


def _canonical_text(sheet: InputSheet) -> str:
    """The cells as text, for the checksum: equal for equal frames, whichever library has them."""
    return "\n".join(_canonical_row(row.cells) for row in sheet.rows)


def _canonical_row(cells: Iterable[Cell]) -> str:
    return "\x1f".join(cell.text for cell in cells)
