"""Notes that bind the plan: "spot ok", "EU only", "must finish by 06/2027". Each is a doubt, so that it is listed."""

from __future__ import annotations

import re
from typing import Any

from planner.inputs.cell_grid import Cell
from planner.inputs.notation.dates import last_finished_month
from planner.inputs.spreadsheet.row_values import WorkloadRow

_SPOT = r"(?:spot|preemptible|pre-emptible|interruptible)"
_NO_SPOT = re.compile(
    rf"\b(?:no|not|never|without|kein\w*|nicht auf|pas de|sans|sin|sem|senza|non) {_SPOT}\b|\bon[- ]demand only\b",
    re.IGNORECASE,
)
_SPOT_OK = re.compile(
    rf"\b{_SPOT} (?:is |are )?(?:ok|okay|fine|allowed|possible|welcome|möglich|erlaubt|possible|permitido|ammesso)\b"
    rf"|\b(?:can|may|could) (?:use|run on|be) {_SPOT}\b|\bpode usar {_SPOT}\b|\bpuede usar {_SPOT}\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:(?P<a>EU|US|UK|DE|FR|ES|IT|CH)(?:[- ]region)? only|(?:only in|must stay in|stays? in|keep in the) "
    r"(?:the )?(?P<b>EU|US|UK|DE|FR|ES|IT|CH)|nur (?:in )?(?:der )?(?P<c>EU|DE|CH))\b(?! if)"
)
_COUNTRIES = {"UK": "GB"}
_FINISH = re.compile(r"\b(?:finish(?:ed)?|completed?|done|ready) by (\S+(?: 20\d\d)?)", re.IGNORECASE)
APPLY, IGNORE = "apply", "ignore"


def read_binding_notes(line: WorkloadRow, workload: dict[str, Any]) -> dict[str, Any]:
    """The fields that the note of a row sets, where no column of the row has set them in `workload`."""
    cell, text = line.cell("notes"), line.text("notes")
    if cell is None or not text:
        return {}
    result: dict[str, Any] = {}
    if "interruptible" not in workload and (_NO_SPOT.search(text) or _SPOT_OK.search(text)):
        value = not _NO_SPOT.search(text)
        if _note_applies(line, cell, "spot", f"does the note say {'that spot will do' if value else 'no spot'}?"):
            result |= line.record("interruptible", cell, value)
    if "residency" not in workload and (match := _PLACE.search(text)):
        name = next(part for part in match.groups() if part)
        name = _COUNTRIES.get(name, name)
        if _note_applies(line, cell, "residency", f"does the note say that the work stays in {name}?"):
            result |= line.record("residency", cell, [name], name)
    return result


def read_deadline_note(line: WorkloadRow) -> tuple[Cell, str] | None:
    """The month by whose end the note of a row says that the work must be done."""
    cell, text = line.cell("notes"), line.text("notes")
    match = _FINISH.search(text) if text else None
    month = last_finished_month(Cell("", match[1].rstrip(".,;!)"))) if match else ""
    if (
        cell is None
        or not month
        or not _note_applies(line, cell, "deadline", f"does the note say done by the end of {month}?")
    ):
        return None
    return cell, month


def _note_applies(line: WorkloadRow, cell: Cell, subject: str, question: str) -> bool:
    identity = f"note on {subject}: {line.text('name') or cell.place}"
    factors = {APPLY: 1.0, IGNORE: 1.0}  # it binds how the work is done, and changes no amount of it
    return line.ledger.doubts.decide(identity, cell, question, factors, APPLY, line.index) == APPLY
