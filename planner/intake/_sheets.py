"""Sheets of cells -> a request: the one path that CSV and XLSX share.

Finds the tables, reads every row or refuses it with its reason, and checks what totals rows claim.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from planner.answer import Inputs
from planner.errors import Complaint
from planner.intake._assumptions import is_of_assumptions, read_assumptions
from planner.intake._columns import FIRST_WINS, NEEDED
from planner.intake._grid import Row, Sheet
from planner.intake._ledger import Ledger
from planner.intake._line import Line
from planner.intake._read import Read, digest, stand_in
from planner.intake._table import TEXT_MEANINGS, Table, tables_of
from planner.intake._workload import workload_of

AGREE_WITHIN = 0.005
KNOWN_EXPORTS = (
    ("an AWS price-calculator export", {"configuration summary", "first 12 months total"}),
    ("an Azure price-calculator export", {"estimated monthly cost", "service category"}),
    ("a FOCUS billing export", {"billedcost", "chargeperiodstart"}),
    ("an AWS cost and usage report", {"line_item_usage_start_date", "line_item_usage_type"}),
    ("an Azure cost export", {"metercategory", "costinbillingcurrency"}),
)


def read_sheets(data: bytes, name: str, format_name: str, sheets: Sequence[Sheet], notes: Sequence[str] = ()) -> Read:
    """What all sheets of a file ask for together."""
    ledger = Ledger()
    for note in notes:
        ledger.note(note)
    workloads: list[dict[str, Any]] = []
    document: dict[str, Any] = {}
    seen: dict[str, str] = {}
    tables = [(sheet, () if is_of_assumptions(sheet) else tables_of(sheet)) for sheet in sheets]
    for sheet, found in tables:
        for note in sheet.notes:
            ledger.note(note)
        if sheet.hidden:
            _refuse_hidden(sheet, found, ledger)
        elif is_of_assumptions(sheet):
            document |= {"assumptions": read_assumptions(sheet, ledger)}
        else:
            for table in _usable(sheet, found, ledger):
                _read_table(table, workloads, seen, ledger, name)
    if not workloads and not ledger.complaints:
        ledger.complaints.append(
            _nothing(name, [table for sheet, found in tables if not sheet.hidden for table in found], sheets)
        )
    inputs = Inputs(
        name=name,
        format=format_name,
        sha256=digest(data),
        rows_in=ledger.rows_used + len(ledger.refused),
        rows_used=ledger.rows_used,
        rows_refused=tuple(ledger.refused),
        readings=tuple(ledger.readings),
        notes=tuple(ledger.notes),
    )
    document |= {"workloads": workloads} if workloads else stand_in()
    if ledger.amount[0]:
        document["currency"], ledger.places["currency"] = ledger.amount
    return Read(document, inputs, tuple(ledger.complaints), ledger.places)


def _usable(sheet: Sheet, found: tuple[Table, ...], ledger: Ledger) -> list[Table]:
    usable = [table for table in found if table.is_of_workloads]
    if not usable and any(not row.is_blank for row in sheet.rows):
        ledger.note(f"no table of workloads in {sheet.name or 'the file'}: nothing read there")
    return usable


def _refuse_hidden(sheet: Sheet, found: tuple[Table, ...], ledger: Ledger) -> None:
    rows = [row for table in found if table.is_of_workloads for row, reason in table.rows if reason != "blank"]
    for row in rows:
        ledger.refuse(row, "hidden sheet; unhide it to have it planned")
    if not rows:
        ledger.note(f"hidden sheet {sheet.name} was not read")


def _read_table(table: Table, workloads: list[dict[str, Any]], seen: dict[str, str], ledger: Ledger, file: str) -> None:
    _complain_of_columns(table, ledger)
    totals = _Totals(table)
    for row, told in table.rows:
        reason = told or ("total without a label" if totals.claims(row) else "")
        if reason:
            ledger.refuse(row, reason)
            if reason.startswith("total"):
                totals.check(row, ledger)
            elif reason.startswith("hidden"):
                totals.add(row, hidden=True)
            continue
        line = Line(table, row, len(workloads), ledger)
        workload, stated = workload_of(line, _name(line, seen), file)
        if stated is not None and stated.is_zero:
            _take_back(line, ledger, seen, workload["name"])
            continue
        ledger.rows_used += 1
        totals.add(row, hidden=False)
        workloads.append(workload)
    for cell in table.passed_over:
        ledger.note(f"column {cell.text!r} ({cell.place}) is not used")


def _name(line: Line, seen: dict[str, str]) -> str:
    """The workload's name; one that is missing or taken is complained of and stood in for."""
    ledger = line.ledger
    cell = line.cell("name")
    column = line.table.column("name")
    if cell is None or not (name := line.text("name")):
        at = line.row.cell(column.index) if column else line.row.cell(0)
        if cell is None:
            ledger.complain(at, "a row with figures but no name", "a name, or nothing at all in the row")
        ledger.places[line.path] = at.place
        return f"({line.row.place})"
    first = seen.setdefault(name.casefold(), cell.place)
    ledger.places[line.path] = cell.place
    if first != cell.place:
        ledger.complain(cell, f"a second workload of this name; the first stands in {first}", "a name of its own")
        return f"{name} ({cell.place})"
    ledger.read(f"{line.path}.name", cell, name)
    return name


def _take_back(line: Line, ledger: Ledger, seen: dict[str, str], name: str) -> None:
    """Forgets a row that asks for nothing, and refuses it."""
    own = [path for path in ledger.places if path == line.path or path.startswith(f"{line.path}.")]
    for path in own:
        del ledger.places[path]
    ledger.readings = [reading for reading in ledger.readings if not reading.path.startswith(f"{line.path}.")]
    seen.pop(name.casefold(), None)
    ledger.refuse(line.row, "its demand is 0")


def _complain_of_columns(table: Table, ledger: Ledger) -> None:
    """Two columns that mean the same number, and months that do not say their year."""
    first: dict[str, Any] = {}
    for column in table.columns:
        if column.meaning == "yearless":
            ledger.complain(column.header, "which months are these?", "month and year: Dec-26 or 2026-12")
        key = column.month or column.meaning
        held = first.setdefault(key, column)
        if held is not column and column.meaning not in FIRST_WINS | {"yearless"}:
            message = f"means the same as {held.header.text!r} in {held.header.place}"
            ledger.complain(column.header, message, "one column for one thing")


class _Totals:
    """The sums of a table's number columns so far, to hold against what its totals rows say."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns = [column for column in table.columns if column.meaning not in TEXT_MEANINGS]
        self.shown: dict[int, float] = {}
        self.block: dict[int, float] = {}
        self.with_hidden: dict[int, float] = {}

    def add(self, row: Row, *, hidden: bool) -> None:
        for index, value in self._numbers(row).items():
            self.with_hidden[index] = self.with_hidden.get(index, 0.0) + value
            if not hidden:
                self.shown[index] = self.shown.get(index, 0.0) + value
                self.block[index] = self.block.get(index, 0.0) + value

    def claims(self, row: Row) -> bool:
        """Whether a row without any text is the sum of those above it."""
        numbers = self._numbers(row)
        if (
            not numbers
            or not self.shown
            or any(isinstance(cell.value, str) and cell.text and not self._is_number(cell.text) for cell in row.cells)
        ):
            return False
        return all(_agree(value, self.shown.get(index, 0.0)) for index, value in numbers.items())

    def check(self, row: Row, ledger: Ledger) -> None:
        """A note for each figure of a totals row that is not the sum of the rows above it."""
        for index, value in self._numbers(row).items():
            cell, shown = row.cell(index), self.shown.get(index, 0.0)
            if _agree(value, shown) or _agree(value, self.block.get(index, 0.0)):
                continue
            if _agree(value, self.with_hidden.get(index, 0.0)):
                ledger.note(f"{cell.place}: the total {cell.text} counts hidden rows; without them it is {shown:,.15g}")
            elif any(
                c.index == index and c.meaning in ("hours", "utilisation", "growth", "deadline", "throughput")
                for c in self.columns
            ):
                continue
            else:
                ledger.note(f"{cell.place}: the total reads {cell.text}, but the rows above add up to {shown:,.15g}")
        self.block = {}

    def _numbers(self, row: Row) -> dict[int, float]:
        silent = Ledger()
        line = Line(self.table, row, 0, silent)
        pairs = ((c.index, line.number_in(c, cell)) for c in self.columns if not (cell := row.cell(c.index)).is_blank)
        return {index: found.value for index, found in pairs if found is not None}

    @staticmethod
    def _is_number(text: str) -> bool:
        return any(sign.isdigit() for sign in text) and not any(sign.isalpha() for sign in text)


def _agree(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=AGREE_WITHIN)


def _known_export(sheets: Sequence[Sheet]) -> tuple[str, Row | None]:
    """What the file is an export of, by the words of one of its rows, and that row."""
    for sheet in sheets:
        for row in sheet.rows:
            words = {cell.text.casefold() for cell in row.cells}
            if known := next((what for what, signs in KNOWN_EXPORTS if signs <= words), ""):
                return known, row
    return "", None


def _nothing(name: str, tables: list[Table], sheets: Sequence[Sheet]) -> Complaint:
    """Why a file holds no workload: the nearest thing to a table in it, and what that lacks."""
    usable = next((table for table in tables if table.is_of_workloads), None)
    if usable is not None:
        return Complaint(
            "", usable.header.place, "no row beneath the header is a workload", usable.header.shown, "at least one"
        )
    known, known_row = _known_export(sheets)
    best = max(tables, key=lambda table: len(table.meanings), default=None)
    what = f"this is {known}: it lists prices or charges, not workloads" if known else "no table of workloads was found"
    if best is None and known_row is not None:
        return Complaint("", known_row.place, what, known_row.shown, f"a name (workload, job) and {NEEDED}")
    if best is None:
        return Complaint(
            "",
            name,
            f"{what}; no row looks like a header",
            "",
            f"a row of column headers: a name (workload, job) and {NEEDED}",
        )
    lacks = [
        text
        for is_missing, text in (
            ("name" not in best.meanings, "a name (workload, job)"),
            (not best.says_demand, NEEDED),
        )
        if is_missing
    ]
    return Complaint(
        "", best.header.place, f"{what}; this header lacks what is needed", best.header.shown, "; and ".join(lacks)
    )
