"""Sheets of cells -> a request: the one path that every kind of sheet shares.

Finds the tables, reads every row or refuses it with its reason, and checks what totals rows claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planner.answer import Inputs
from planner.intake import _estimates
from planner.intake._agreed import agree
from planner.intake._assumptions import is_of_assumptions, read_assumptions
from planner.intake._beside import parted
from planner.intake._choices import NONE, Choices
from planner.intake._columns import FIRST_WINS
from planner.intake._dates import EXPECTED, dated, doubt
from planner.intake._grid import Sheet
from planner.intake._layout import MERGED, laid_out
from planner.intake._ledger import Ledger
from planner.intake._line import Line
from planner.intake._naming import Naming, naming_of
from planner.intake._none import nothing
from planner.intake._read import Estimated, Read, TableRead, digest, stand_in
from planner.intake._table import Table
from planner.intake._totals import Totals
from planner.intake._understood import check_choices, notes_of, understood
from planner.intake._workload import workload_of


@dataclass(slots=True)
class Gathered:
    """What the sheets of a file ask for so far; `seen` are names with the place of each."""

    workloads: list[dict[str, Any]] = field(default_factory=list)
    assumptions: dict[str, float] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    tables: list[TableRead] = field(default_factory=list)
    estimated: list[Estimated] = field(default_factory=list)
    looked_at: list[Table] = field(default_factory=list)


def read_sheets(
    data: bytes,
    name: str,
    format_name: str,
    sheets: Sequence[Sheet],
    notes: Sequence[str] = (),
    choices: Choices = NONE,
) -> Read:
    """What all sheets of a file ask for together."""
    ledger, gathered = Ledger(), Gathered()
    for note in notes:
        ledger.note(note)
    for sheet in sheets:
        _read_sheet(dated(sheet, choices.dates), gathered, ledger, name, choices)
    check_choices(gathered.tables, choices, ledger)
    if not gathered.workloads and not ledger.complaints:
        ledger.complaints.append(nothing(name, gathered.looked_at, sheets))
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
    document: dict[str, Any] = {"assumptions": gathered.assumptions} if gathered.assumptions else {}
    document |= {"workloads": gathered.workloads} if gathered.workloads else stand_in()
    if ledger.amount[0]:
        document["currency"], ledger.places["currency"] = ledger.amount
    found = Read(document, inputs, tuple(ledger.complaints), ledger.places)
    return replace(found, tables=tuple(gathered.tables), estimated=tuple(gathered.estimated))


def _read_sheet(sheet: Sheet, gathered: Gathered, ledger: Ledger, file: str, choices: Choices) -> None:
    for note in sheet.notes:
        ledger.note(note)
    if is_of_assumptions(sheet) and not sheet.hidden:
        gathered.assumptions |= read_assumptions(sheet, ledger)
        return
    export = _estimates.export_in(sheet)
    if export is not None and not sheet.hidden:
        estimated, how = _estimates.read_export(export, gathered.workloads, gathered.seen, ledger, choices)
        gathered.estimated.append(estimated)
        gathered.tables.append(how)
        return
    parts = (sheet,) if sheet.hidden else parted(sheet, choices)
    if len(parts) > 1:
        ledger.note(f"tables stand side by side in {sheet.name or 'the file'}: each was read on its own")
    for part in parts:
        _read_part(part, gathered, ledger, file, choices)


def _read_part(sheet: Sheet, gathered: Gathered, ledger: Ledger, file: str, choices: Choices) -> None:
    found, layout = ((), "") if is_of_assumptions(sheet) else laid_out(sheet, choices)
    if sheet.hidden:
        _refuse_hidden(sheet, found, ledger)
        return
    gathered.looked_at += found
    if layout:
        ledger.note(f"in {sheet.name or 'the file'} {layout}")
    for table in _usable(sheet, found, ledger):
        gathered.tables.append(understood(table, choices, layout))
        _read_table(table, gathered, ledger, file, choices)


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


def _read_table(table: Table, gathered: Gathered, ledger: Ledger, file: str, choices: Choices) -> None:
    _complain_of_columns(table, ledger)
    for cell, message, expected in table.faults:
        ledger.complain(cell, message, expected)
    totals, naming = Totals(table), naming_of(table)
    if naming.header is not None:
        ledger.note(f"rows of one name are told apart by {naming.header.text!r} ({naming.header.place})")
    idle: set[str] = set()
    for row, told in table.rows:
        if told.startswith(MERGED) and told.removeprefix(MERGED) not in idle:
            ledger.rows_used += 1
            totals.add(row, hidden=False)
            continue
        reason = told or ("total without a label" if totals.claims(row) else "")
        if reason:
            ledger.refuse(row, "its demand is 0" if told.startswith(MERGED) else reason)
            if reason.startswith("total"):
                totals.check(row, ledger)
            elif reason.startswith("hidden"):
                totals.add(row, hidden=True)
            continue
        line, mark = Line(table, row, len(gathered.workloads), ledger, choices.catalog), ledger.mark()
        workload, stated = workload_of(line, _name(line, gathered.seen, naming), file)
        if stated is not None and stated.is_zero:
            ledger.forget(mark)
            gathered.seen.pop(workload["name"].casefold(), None)
            ledger.refuse(row, "its demand is 0")
            idle.add(row.place)
            continue
        ledger.rows_used += 1
        totals.add(row, hidden=False)
        gathered.workloads.append(workload)
    for note in notes_of(table):
        ledger.note(note)


def _name(line: Line, seen: dict[str, str], naming: Naming) -> str:
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
    name = naming.name(line.row, name)
    first = seen.setdefault(name.casefold(), cell.place)
    ledger.places[line.path] = cell.place
    if first != cell.place:
        ledger.complain(cell, f"a second workload of this name; the first stands in {first}", "a name of its own")
        return f"{name} ({cell.place})"
    ledger.read(f"{line.path}.name", cell, name)
    return name


def _complain_of_columns(table: Table, ledger: Ledger) -> None:
    """Two columns that mean the same number, and months that do not say their year."""
    first: dict[str, Any] = {}
    for column in table.columns:
        if column.meaning == "yearless":
            why = doubt(column.header)
            ledger.complain(
                column.header,
                why or "which months are these?",
                EXPECTED if why else "month and year: Dec-26 or 2026-12",
            )
        key = column.month or column.meaning
        held = first.setdefault(key, column)
        if held is not column and column.meaning not in FIRST_WINS | {"yearless"}:
            if agree(table, held, column):
                same = f"{column.header.text!r} ({column.header.place}) says the same as {held.header.text!r}"
                ledger.note(f"{same}: one was read")
                continue
            message = f"means the same as {held.header.text!r} in {held.header.place}"
            ledger.complain(column.header, message, "one column for one thing")
