"""Cells that a query edits: their texts and days by place, and how two queries are put over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from planner.inputs.cell_answers import EXPECTED_PLACE, split_cell_text
from planner.request.errors import InputProblem
from pricing.clock import today

CELL, EDITED = "cell", "edited"
CELL_PARAMETERS: Mapping[str, str] = {
    CELL: "for a sheet or a document: what to read in a cell instead of what it says, as place=text (Plan!C5=1200, "
    "line 3 column 7=1200); may be repeated",
    EDITED: "the day of an edit of ?cell=, as place=2026-12-01; today where it is left out; may be repeated",
}


def parse_cells(query: Mapping[str, Sequence[str]]) -> tuple[dict[str, str], list[InputProblem]]:
    """The texts of cells by place, and a problem for each parameter that names no place."""
    parts = [(text, split_cell_text(text)) for text in query.get(CELL, ())]
    faults = [
        InputProblem("", f"?{CELL}", "not a cell with its text", text, f"such as {EXPECTED_PLACE}, then =1200")
        for text, part in parts
        if part is None
    ]
    return dict(part for _, part in parts if part is not None), faults


def parse_edit_days(query: Mapping[str, Sequence[str]]) -> tuple[dict[str, date], list[InputProblem]]:
    """The days of edits by place, and a problem for each parameter that states none."""
    days, faults = dict[str, date](), list[InputProblem]()
    for text in query.get(EDITED, ()):
        part = split_cell_text(text)
        try:
            if part is None:
                raise ValueError
            days[part[0]] = date.fromisoformat(part[1])
        except ValueError:
            faults.append(InputProblem("", f"?{EDITED}", "not valid", text, "such as Plan!C5=2026-12-01"))
    return days, faults


def date_edits(query: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The query with the day of each edit of a cell: today where it states none. A plan that is made again, or by
    another worker, tells the same day."""
    dated = {_place_of(text) for text in query.get(EDITED, ())}
    edits = [part[0] for text in query.get(CELL, ()) if (part := split_cell_text(text))]
    days = [f"{place}={today()}" for place in dict.fromkeys(edits) if place not in dated]
    return {**query, EDITED: [*query.get(EDITED, ()), *days]} if days else dict(query)


def merge_cells(asked: Mapping[str, list[str]], settings: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """An earlier query with other settings over it; those on cells by cell, and the day of an earlier edit is not that
    of a later one."""
    replaced = {_place_of(text) for text in settings.get(CELL, ())}
    merged = {**asked, **settings}
    for name in (CELL, EDITED):
        kept = [text for text in asked.get(name, ()) if _place_of(text) not in replaced]
        merged[name] = [*kept, *settings.get(name, ())]
        if not merged[name]:
            del merged[name]
    return merged


def _place_of(text: str) -> str:
    part = split_cell_text(text)
    return text if part is None else part[0]
