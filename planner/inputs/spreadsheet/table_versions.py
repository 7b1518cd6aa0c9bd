"""Tables that name the same workloads: versions of one plan (actuals and plan, base and stretch), or separate work.

Planning all of them would count the work twice where they are versions, so it is a doubt which of them are planned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.doubt_record import UNKNOWN
from planner.inputs.reading_log import ReadingLog, RowKind
from planner.inputs.sheet_options import expected_names
from planner.inputs.spreadsheet.table_detection import SheetTable
from planner.request.errors import InputProblem
from pricing.frozen_values import dataclass

ALL = "all"
_PLANNED = re.compile(
    r"\b(?:plan|planned|planning|forecast|budget|base|baseline|expected|target|prevision|soll)", re.IGNORECASE
)
_NOT_PLANNED = re.compile(
    r"\b(?:actuals?|history|historical|past|last year|ist|r[eé]el|reali[sz]ed|stretch|high|low|upside|downside"
    r"|optimistic|pessimistic|worst|best|old|previous|backup|copy|archive)\b",
    re.IGNORECASE,
)
_HEADING_ROWS = 3
"""Rows above a header in which its heading may stand."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table of workloads, the note on its layout, and what its names are told apart by where others have the same."""

    table: SheetTable
    layout: str
    label: str = ""
    is_planned_by: str = ""
    """The label of the table that is planned in its place; empty: it is planned itself."""


def choose_sheets(sheets: Sequence[InputSheet], names: Sequence[str], log: ReadingLog) -> tuple[InputSheet, ...]:
    """The sheets of those names, and all of them where none is named; a problem for a name that no sheet has."""
    if not names:
        return tuple(sheets)
    known = {sheet.name.casefold(): sheet.name for sheet in sheets}
    for name in names:
        if name.casefold() not in known:
            expected = expected_names(name, known.values())
            log.complaints.append(InputProblem("", f"sheet {name!r}", "no sheet has this name", name, expected))
    wanted = {name.casefold() for name in names}
    for sheet in sheets:
        if sheet.name.casefold() not in wanted:
            log.note(f"the sheet {sheet.name} was not chosen and not read")
    return tuple(sheet for sheet in sheets if sheet.name.casefold() in wanted)


def choose_versions(tables: Sequence[FoundTable], log: ReadingLog) -> list[FoundTable]:
    """The tables with labels, where several name the same workloads, and with the one that is planned."""
    result = [part for each in tables for part in _split_at_repeated_headers(each)]
    for group in _group_by_names(result):
        labels = _label_tables([result[index].table for index in group])
        header = result[group[0]].table.header
        cell = next((each for each in header.cells if not each.is_blank), Cell(header.place, None))
        identity = f"tables: {', '.join(labels)}"
        question = f"{', '.join(labels)} name the same workloads: versions of one plan, or separate work?"
        choices = dict.fromkeys((*labels, ALL), UNKNOWN)
        chosen = log.doubts.decide(identity, cell, question, choices, _propose_version(labels))
        for index, label in zip(group, labels, strict=True):
            planned_by = "" if chosen in (ALL, label) else chosen
            result[index] = replace(result[index], label=label if chosen == ALL else "", is_planned_by=planned_by)
    return result


def _split_at_repeated_headers(whole: FoundTable) -> list[FoundTable]:
    """The table cut where its header is repeated, if workloads are repeated too: base and stretch below each other."""
    rows = whole.table.rows
    cuts = [index for index, each in enumerate(rows) if each.kind is RowKind.REPEATED_HEADER]
    if not cuts:
        return [whole]
    ends = (*cuts, len(rows))
    parts = [replace(whole.table, rows=rows[: cuts[0]])]
    parts += [
        replace(whole.table, header=rows[start].row, rows=rows[start:end])
        for start, end in zip(cuts, ends[1:], strict=True)
    ]
    names = [_workload_names(part) for part in parts]
    is_repeated = any(own & other for index, own in enumerate(names) for other in names[:index])
    return [replace(whole, table=part) for part in parts] if is_repeated else [whole]


def _group_by_names(tables: Sequence[FoundTable]) -> list[list[int]]:
    """The indices of tables that share at least half of the names of the shorter one."""
    names = [_workload_names(each.table) for each in tables]
    groups: list[list[int]] = []
    for index, own in enumerate(names):
        for group in groups:
            if any(_are_the_same(own, names[other]) for other in group):
                group.append(index)
                break
        else:
            groups.append([index])
    return [group for group in groups if len(group) > 1]


def _are_the_same(first: set[str], second: set[str]) -> bool:
    return bool(first & second) and 2 * len(first & second) >= min(len(first), len(second))


def _workload_names(table: SheetTable) -> set[str]:
    column = table.column("name")
    return {row.cell(column.index).text.casefold() for row in table.workload_rows} - {""} if column else set()


def _label_tables(tables: Sequence[SheetTable]) -> list[str]:
    """A name for each table: its sheet, else the heading above it, else the place of its header."""
    sheets = [table.sheet.name for table in tables]
    if len(set(sheets)) == len(sheets):
        return sheets
    labels = [_heading_above(table) or table.header.place for table in tables]
    return labels if len(set(labels)) == len(labels) else [table.header.place for table in tables]


def _heading_above(table: SheetTable) -> str:
    """The only text in one of the rows above a header."""
    rows: list[GridRow] = []
    for row in table.sheet.rows:
        if row.place == table.header.place:
            break
        rows.append(row)
    for row in reversed(rows[-_HEADING_ROWS:]):
        texts = {cell.text for cell in row.cells if not cell.is_blank}
        if len(texts) == 1:
            return texts.pop()
        if texts:
            break
    return ""


def _propose_version(labels: Sequence[str]) -> str:
    """The version that is a plan rather than a record or a variant; all tables where no name tells."""
    scores = [bool(_PLANNED.search(label)) - bool(_NOT_PLANNED.search(label)) for label in labels]
    return labels[scores.index(max(scores))] if min(scores) < max(scores) else ALL
