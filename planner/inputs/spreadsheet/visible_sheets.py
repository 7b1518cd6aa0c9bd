"""The values of a workbook's visible sheets, as they were saved."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from planner.inputs.spreadsheet.workbook_parts import examine_workbook
from planner.inputs.spreadsheet.zip_archive import RejectedWorkbook


def read_visible_sheets(data: bytes) -> Mapping[str, list[list[Any]]]:
    """The rows of each visible sheet by its name; RejectedWorkbook where it is damaged or unsafe."""
    import python_calamine

    examine_workbook(data)
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        seen = [meta.name for meta in book.sheets_metadata if meta.visible == python_calamine.SheetVisibleEnum.Visible]
        return {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in seen}
    except (python_calamine.CalamineError, ValueError, OSError, OverflowError) as error:
        raise RejectedWorkbook(f"is a damaged workbook ({error})") from None
