"""Why a file holds no workload: what it is instead, or the nearest thing to a table in it and what that lacks."""

from __future__ import annotations

from collections.abc import Sequence

from planner.inputs.cell_grid import GridRow, InputSheet
from planner.inputs.spreadsheet.column_meanings import REQUIRED_DEMAND
from planner.inputs.spreadsheet.table_detection import SheetTable
from planner.request.errors import InputProblem

KNOWN_EXPORTS = (
    ("a FOCUS billing export", {"billedcost", "chargeperiodstart"}),
    ("an AWS cost and usage report", {"line_item_usage_start_date", "line_item_usage_type"}),
    ("an Azure cost export", {"metercategory", "costinbillingcurrency"}),
)
REQUIRED_NAME = "a name (workload, job)"


def explain_missing_workloads(name: str, tables: Sequence[SheetTable], sheets: Sequence[InputSheet]) -> InputProblem:
    """The one complaint of a file without workloads."""
    usable = next((table for table in tables if table.is_of_workloads), None)
    if usable is not None:
        header = usable.header
        return InputProblem("", header.place, "no row beneath the header is a workload", header.shown, "at least one")
    known, known_row = _known_export(sheets)
    best = max(tables, key=lambda table: len(table.meanings), default=None)
    what = f"this is {known}: it lists prices or charges, not workloads" if known else "no table of workloads was found"
    if best is None and known_row is not None:
        return InputProblem("", known_row.place, what, known_row.shown, f"{REQUIRED_NAME} and {REQUIRED_DEMAND}")
    if best is None:
        expected = f"a row of column headers: {REQUIRED_NAME} and {REQUIRED_DEMAND}"
        return InputProblem("", name, f"{what}; no row looks like a header", "", expected)
    lacks = [
        text
        for is_missing, text in (
            ("name" not in best.meanings, REQUIRED_NAME),
            (not best.has_demand_columns, REQUIRED_DEMAND),
        )
        if is_missing
    ]
    message = f"{what}; this header lacks what is needed"
    return InputProblem("", best.header.place, message, best.header.shown, "; and ".join(lacks))


def _known_export(sheets: Sequence[InputSheet]) -> tuple[str, GridRow | None]:
    """What the file is an export of, by the words of one of its rows, and that row."""
    for sheet in sheets:
        for row in sheet.rows:
            words = {cell.text.casefold() for cell in row.cells}
            if known := next((what for what, signs in KNOWN_EXPORTS if signs <= words), ""):
                return known, row
    return "", None
