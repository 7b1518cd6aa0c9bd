"""What reading a file gives: the request's JSON, where every value stood, and what could not be read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from planner.inputs.present_spend import PresentSpend
from planner.request.errors import InputProblem
from planner.result import InputProvenance

PLACEHOLDER_DEMAND = {"units_per_month": 1}


@dataclass(frozen=True, slots=True)
class ColumnInterpretation:
    """How one column was understood: `field` is empty where it is not used, `rule` says why it is what it is."""

    place: str
    title: str
    field: str
    unit: str
    rule: str


@dataclass(frozen=True, slots=True)
class TableInterpretation:
    """How one table was understood; `layout` is empty for a row each workload."""

    sheet: str
    header: str
    columns: tuple[ColumnInterpretation, ...]
    layout: str = ""


@dataclass(frozen=True, slots=True)
class CalculatorEstimate:
    """What a price calculator's export says its accelerator lines cost, in one currency.

    `upfront` are amounts with the months that each pays for. `apart_per_month` is that of its other lines.
    """

    calculator: str
    currency: str
    per_month: float
    upfront: tuple[tuple[float, int], ...]
    apart_per_month: float


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file as a request that nobody has validated yet.

    `document` has the keys of a Request and only what the file says. Where there are `complaints`, faulty values are
    left out of it and stood in for, so that a validator finds the remaining faults and not the same ones again: such a
    document must not be planned. `places` maps JSON paths to what the asker sees ("Plan!C5", "line 3 column 7");
    `tables` say how sheets were understood; `present` is what a bill says is spent now.
    """

    document: dict[str, Any]
    inputs: InputProvenance
    complaints: tuple[InputProblem, ...]
    places: dict[str, str]
    tables: tuple[TableInterpretation, ...] = ()
    estimated: tuple[CalculatorEstimate, ...] = ()
    present: PresentSpend | None = None


class UnreadableFile(ValueError):
    """The bytes are not of the format they are read as; `place` is where that shows, empty for the file as a whole."""

    def __init__(self, message: str, place: str = "") -> None:
        self.place = place
        super().__init__(message)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def reject_file(
    data: bytes, name: str, format_name: str, message: str, *, place: str = "", value: str = "", expected: str = ""
) -> ParsedFile:
    """A Read of nothing but one complaint about the whole file, or about `place` in it."""
    complaint = InputProblem("", f"{name} {place}".rstrip(), message, value, expected)
    return ParsedFile(placeholder_request(), InputProvenance(name, format_name, digest(data)), (complaint,), {})


def placeholder_request() -> dict[str, Any]:
    """A document in which a validator finds nothing to complain of; only ever beside complaints."""
    return {"workloads": [{"name": "(unread)", "demand": dict(PLACEHOLDER_DEMAND)}]}
