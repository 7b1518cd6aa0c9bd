"""The sheet As read: every cell of the input that was used, in the words of the file and as the request has it."""

from __future__ import annotations

import re

from planner.reports.xlsx.workbook import Cell, PlanWorkbook
from planner.result import InputReading, Plan

WIDTHS = (46, 40, 20, 44, 44)
TITLES = ("workload", "field", "read at", "what was read", "what it became")
_OF_WORKLOAD = re.compile(r"workloads\[(\d+)\]\.(.+)")


def write(book: PlanWorkbook, plan: Plan) -> None:
    """Writes the list; no sheet where nothing was read from a file."""
    if not plan.inputs.readings:
        return
    sheet = book.sheet("As read")
    sheet.widths(WIDTHS)
    note = "Every cell that was used, and what it became in the request. Refused rows and columns: sheet Sources."
    sheet.heading("As read", note)
    sheet.table(TITLES, ("wrap",) * len(TITLES), (_reading_row(plan, reading) for reading in plan.inputs.readings))


def _reading_row(plan: Plan, reading: InputReading) -> tuple[Cell, ...]:
    """Of a workload's field, its name and the field; of anything else the path."""
    match = _OF_WORKLOAD.fullmatch(reading.path)
    if match is None or int(match[1]) >= len(plan.workloads):
        return ("", reading.path, reading.place, reading.read, reading.value)
    return (plan.workloads[int(match[1])].name, match[2], reading.place, reading.read, reading.value)
