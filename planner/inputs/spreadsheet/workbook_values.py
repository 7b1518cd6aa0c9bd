"""The stored values of a workbook's sheets."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.inputs.spreadsheet.workbook_parts import examine_workbook
from planner.inputs.spreadsheet.zip_archive import RejectedWorkbook


@dataclass(frozen=True, slots=True)
class SheetValues:
    """The values of a sheet by row and column; `merged` are the first and last (row, column) of ranges, from 0."""

    grid: list[list[Any]]
    merged: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    visible: bool


def load_sheet_values(data: bytes) -> dict[str, SheetValues]:
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


def read_visible_sheets(data: bytes) -> Mapping[str, list[list[Any]]]:
    """The rows of each visible sheet by its name; RejectedWorkbook where the workbook is damaged or unsafe."""
    examine_workbook(data)
    return {name: sheet.grid for name, sheet in load_sheet_values(data).items() if sheet.visible}
