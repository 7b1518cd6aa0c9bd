"""Sheets as teams write them, with what a careful reader takes from each, written before any of them was read.

`python -m tests.intake.team_sheets [NAME]` prints how many facts are right, asked, listed or silently wrong. A file of
`team_sheets/` has settings, sheets of cells between bars and facts; '=== ' begins a part.
"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import openpyxl

from planner.inputs.file_reader import read
from planner.inputs.parsed_file import ParsedFile
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from pricing.accelerator import resolve as resolve_accelerator
from pricing.errors import UnknownName

FOLDER = Path(__file__).parent / "team_sheets"
OUTCOMES = ("right", "asked", "listed", "silent")
SHORT = {
    "hours": "accelerator_hours_per_month",
    "units": "units_per_month",
    "total": "total_units",
    "rps": "requests_per_second",
    "growth_per_month": "growth_per_month",
    "deadline": "deadline_month",
}
"""Names of facts that are fields of the demand."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SUM = re.compile(r"[\d.*/+ ]+")


@dataclass(frozen=True)
class Fact:
    """What a reader takes from a sheet: a field of a workload (with its month), or the number of workloads."""

    workload: str
    field: str
    month: str
    expected: Any


@dataclass(frozen=True)
class TeamSheet:
    """A workbook with its facts."""

    name: str
    language: str
    sheets: Mapping[str, list[list[Any]]]
    merges: tuple[str, ...]
    facts: tuple[Fact, ...]

    def workbook(self) -> bytes:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in self.sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        for text in self.merges:
            title, _, cells = text.partition("!")
            book[title].merge_cells(cells)
        target = io.BytesIO()
        book.save(target)
        return target.getvalue()

    def read(self, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
        return read(self.workbook(), f"{self.name}.xlsx", options)


def team_sheets() -> Iterator[TeamSheet]:
    for path in sorted(FOLDER.glob("*.txt")):
        yield parse_team_sheet(path.stem, path.read_text(encoding="utf-8"))


def parse_team_sheet(name: str, text: str) -> TeamSheet:
    settings, *parts = text.split("=== ")
    stated = dict(line.split(": ", 1) for line in settings.splitlines())
    sheets: dict[str, list[list[Any]]] = {}
    facts: tuple[Fact, ...] = ()
    for part in parts:
        title, *lines = part.rstrip("\n").split("\n")
        if title == "facts":
            facts = tuple(map(_parse_fact, lines))
        else:
            sheets[title] = [[_parse_cell(cell.strip()) for cell in line.split("|")] for line in lines]
    return TeamSheet(name, stated["language"], sheets, tuple(stated.get("merge", "").split()), facts)


def _parse_cell(text: str) -> str | float | None:
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text.removeprefix("'") or None


def _parse_fact(line: str) -> Fact:
    left, _, right = line.partition(" = ")
    workload, _, field = left.rpartition(": ")
    field, _, month = field.partition(" ")
    expected: Any = {"true": True, "false": False}.get(right, right)
    if field == "accelerator":
        expected = _canonical_name(right)
    elif field not in ("team", "deadline") and _SUM.fullmatch(right):
        expected = eval(right)
    return Fact(workload, field, month, expected)


def judge(sheet: TeamSheet, parsed: ParsedFile) -> list[tuple[Fact, str, Any]]:
    """Each fact with its outcome and what was read."""
    noted = (each.to_note() for each in parsed.doubts)
    listed = " ".join(
        (*parsed.inputs.notes, *noted, *(f"{row.place} {row.read}" for row in parsed.inputs.rows_refused))
    )
    return [(fact, _judge_fact(sheet, fact, parsed, listed), _read_value(fact, parsed)) for fact in sheet.facts]


def _judge_fact(sheet: TeamSheet, fact: Fact, parsed: ParsedFile, listed: str) -> str:
    if _is_asked(sheet, fact, parsed):
        return "asked"
    got = _read_value(fact, parsed)
    if got == fact.expected or (isinstance(got, float | int) and _is_close(got, fact.expected)):
        return "right"
    rows = _rows_of(sheet, fact.workload)
    if got in (None, "") and any(
        each.place.replace("'", "").startswith((*sheet.sheets, sheet.name)) for each in parsed.complaints
    ):
        return "asked"
    names_row = any(re.search(rf"{re.escape(title)}!\$?[A-Z]*{row}\b", listed) for title, row in rows)
    return "listed" if names_row else "silent"


def _is_close(got: float, expected: Any) -> bool:
    return isinstance(expected, int | float) and abs(got - expected) <= 1e-6 * max(abs(expected), 1)


def _is_asked(sheet: TeamSheet, fact: Fact, parsed: ParsedFile) -> bool:
    """Whether a question or a fault is about the fact: in the workload's row, or above all rows of its sheet."""
    asked = [each.place for each in parsed.complaints]
    asked += [place for each in parsed.doubts if each.stops_planning for place in each.places]
    if not fact.workload:
        return bool(asked) and _read_value(fact, parsed) != fact.expected
    rows = _rows_of(sheet, fact.workload)
    in_sheet = [place.replace("'", "").rpartition("!") for place in asked]
    for title, row in rows:
        for name, _, cell in in_sheet:
            at = re.sub(r"\D", "", cell)
            if name == title and at == str(row):
                return True
            if (name in ("", title)) and (not at or int(at) < row) and fact.field in (*SHORT, "accelerator"):
                first = min(other for each, other in rows if each == title)
                if not at or (int(at) < first and fact.field in SHORT and not _names_a_workload(sheet, title, int(at))):
                    return True
    return False


def _names_a_workload(sheet: TeamSheet, title: str, row: int) -> bool:
    """Whether a row belongs to a workload of the facts."""
    return any((title, row) in _rows_of(sheet, fact.workload) for fact in sheet.facts if fact.workload)


def _rows_of(sheet: TeamSheet, workload: str) -> list[tuple[str, int]]:
    """The sheets and rows that name a workload: "Training (Ads)" is Training in the sheet Ads."""
    name, _, qualifier = workload.removesuffix(")").partition(" (")
    titles = [title for title in sheet.sheets if not qualifier or qualifier not in sheet.sheets or title == qualifier]
    return [
        (title, number)
        for title in titles
        for number, row in enumerate(sheet.sheets[title], 1)
        if name in [cell for cell in row if isinstance(cell, str)]
    ]


def _read_value(fact: Fact, parsed: ParsedFile) -> Any:
    workloads = parsed.document.get("workloads", [])
    if not fact.workload:
        return len(workloads)
    one = next((each for each in workloads if each["name"] == fact.workload), None)
    if one is None:
        return None
    if fact.field == "accelerator":
        measured = (each["accelerator"] for each in one.get("measurements", ()))
        return _canonical_name(one["demand"].get("accelerator") or next(measured, ""))
    value = one["demand"].get(SHORT[fact.field]) if fact.field in SHORT else one.get(fact.field)
    if isinstance(value, dict):
        return value.get(fact.month) if fact.month else value
    if isinstance(value, list) and not isinstance(fact.expected, list):
        return ", ".join(map(str, value)).casefold() if fact.field == "providers" else ", ".join(map(str, value))
    return value


def _canonical_name(accelerator: str) -> str:
    try:
        return resolve_accelerator(accelerator).name
    except UnknownName:
        return accelerator


def main(only: str = "") -> int:
    totals: Counter[str] = Counter()
    for sheet in team_sheets():
        if not sheet.name.startswith(only):
            continue
        parsed = sheet.read()
        judged = judge(sheet, parsed)
        counts = Counter(outcome for _, outcome, _ in judged)
        totals += counts
        click.echo(f"{sheet.name:32} " + "  ".join(f"{counts[each]:3} {each}" for each in OUTCOMES))
        for fact, outcome, got in judged:
            if outcome in ("listed", "silent") or only:
                click.echo(f"    {outcome}: {fact.workload} {fact.field} {fact.month}: {got!r}, not {fact.expected!r}")
        if only:
            for each in (*parsed.complaints, *parsed.doubts, *parsed.inputs.notes):
                click.echo(f"    {each}")
    number = sum(totals.values())
    click.echo(f"{number} facts: " + ", ".join(f"{totals[each]} {each}" for each in OUTCOMES))
    return int(totals["silent"] > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
