"""The sheet As read: every cell of the input that was used, in the words of the file and as the request has it."""

from __future__ import annotations

import re

from planner.answer import Plan, Reading
from planner.reports.xlsx._book import Book, Cell

WIDTHS = (46, 40, 20, 44, 44)
TITLES = ("workload", "field", "read at", "what was read", "what it became")
_OF_WORKLOAD = re.compile(r"workloads\[(\d+)\]\.(.+)")


def write(book: Book, plan: Plan) -> None:
    """Writes the list; no sheet where nothing was read from a file."""
    if not plan.inputs.readings:
        return
    sheet = book.sheet("As read")
    sheet.widths(WIDTHS)
    note = "Every cell that was used, and what it became in the request. Refused rows and columns: sheet Sources."
    sheet.heading("As read", note)
    sheet.table(TITLES, ("wrap",) * len(TITLES), (_row(plan, reading) for reading in plan.inputs.readings))


def _row(plan: Plan, reading: Reading) -> tuple[Cell, ...]:
    """Of a workload's field, its name and the field; of anything else the path."""
    found = _OF_WORKLOAD.fullmatch(reading.path)
    if found is None or int(found[1]) >= len(plan.workloads):
        return ("", reading.path, reading.place, reading.read, reading.value)
    return (plan.workloads[int(found[1])].name, found[2], reading.place, reading.read, reading.value)
