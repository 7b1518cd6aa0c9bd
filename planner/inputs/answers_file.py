"""Answers files: the meaning of columns, the order of dates, sheets, choices for doubts and values of cells, in YAML.

A mapping file (--mapping) is one without answers. `answers_text` writes the questions of a file with their proposals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from planner.inputs.sheet_options import DATE_ORDERS, SheetOptions, check_field_names, normalize_title
from planner.request.doubts import Doubt
from planner.request.errors import InputProblem
from pricing.plain_text import plain_text

PARTS = ("columns", "dates", "sheets", "answers", "cells")
EXPECTED = "columns:, dates:, sheets:, answers: and cells:, as --save-answers and --save-mapping write them"


def parse_answers(data: bytes, path: str, place: str) -> tuple[SheetOptions, list[InputProblem]]:
    """What an answers file says, and its problems; `path` is its name, `place` that of the option that names it."""
    from planner.inputs.formats import yaml

    source = yaml.read(data, path)
    document = source.document
    places = {name: f"{path} {at}" for name, at in source.places.items()}
    if "workloads" in document or not set(document) <= set(PARTS) or not document:
        return SheetOptions(), [*source.complaints, InputProblem("", place, "no answers", "", EXPECTED)]
    faults = list(source.complaints)
    parts = {name: _read_texts(document, name, places, path, faults) for name in ("columns", "answers", "cells")}
    faults += check_field_names(
        [(title, name, places.get(f"columns.{title}", f"{path} ")) for title, name in parts["columns"].items()]
    )
    dates, sheets = document.get("dates", ""), document.get("sheets", [])
    if dates not in ("", *DATE_ORDERS):
        faults.append(InputProblem("", places.get("dates", f"{path} "), "not valid", str(dates), "dmy or mdy"))
    if not isinstance(sheets, list) or not all(isinstance(name, str | int) for name in sheets):
        faults.append(InputProblem("", places.get("sheets", f"{path} "), "not valid", "", "a list of names of sheets"))
        sheets = []
    columns = {normalize_title(title): name for title, name in parts["columns"].items()}
    names = tuple(str(name) for name in sheets)
    return SheetOptions(columns, dates=str(dates), sheets=names, answers=parts["answers"], cells=parts["cells"]), faults


def _read_texts(
    document: Mapping[str, Any], name: str, places: Mapping[str, str], path: str, faults: list[InputProblem]
) -> dict[str, str]:
    """A part of an answers file: names with one text or number each."""
    value = document.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping) or any(isinstance(each, Mapping | list) for each in value.values()):
        faults.append(
            InputProblem("", places.get(name, f"{path} "), "not valid", "", f"{name}: with lines 'name: value'")
        )
        return {}
    return {str(key): _format_value(each) for key, each in value.items()}


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def answers_text(name: str, doubts: Sequence[Doubt], problems: Sequence[InputProblem]) -> str:
    """An answers file with every open doubt answered by its proposal, and the cells of `problems` to fill in."""
    import yaml

    lines = [
        f"# Answers to the questions about {plain_text(name)}. Change what is wrong, and plan with --answers.",
        "answers:" if doubts else "answers: {}",
    ]
    for each in doubts:
        choices = ", ".join(each.choices)
        lines += [
            f"  # {plain_text(each.places[0])}: {plain_text(each.question)} Read: {plain_text(each.read)}",
            f"  # One of: {plain_text(choices)}. It changes {each.change_text}.",
            f"  {_quote_text(yaml, each.id)}: {_quote_text(yaml, each.answer or each.proposed)}",
        ]
    cells = [each for each in problems if "!" in each.place or each.place.startswith("line ")]
    lines += ["# cells:  # values that replace cells of the file"] if cells else []
    for problem in cells:
        lines += [f"#   # {plain_text(str(problem))}", f"#   {_quote_text(yaml, problem.place)}: "]
    return "\n".join(lines) + "\n"


def _quote_text(yaml: Any, text: str) -> str:
    """A text as YAML in double quotes, on one line."""
    quoted: str = yaml.safe_dump(text, default_style='"', allow_unicode=True, width=10_000)
    return quoted.strip()
