"""The record of reading a file: its workloads, values with their cells, problems, rejected rows and notes."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Any

from planner.inputs.cell_grid import Cell, GridRow, shorten_text
from planner.inputs.doubt_record import DoubtRecord
from planner.inputs.parsed_file import CalculatorEstimate, TableInterpretation
from planner.request.errors import InputProblem
from planner.result import CellEdit, InputReading, RefusedRow
from pricing.frozen_values import dataclass


class RowKind(Enum):
    """A workload, or the reason why a row is none. The value is the text of the reason, with its parameters."""

    WORKLOAD = ""
    BLANK = "blank"
    HIDDEN = "hidden row; unhide it to include it"
    HIDDEN_SHEET = "hidden sheet; unhide it to include it"
    REPEATED_HEADER = "repeated header"
    TOTAL = "total"
    UNLABELLED_TOTAL = "total without a label"
    LAST_YEAR = "last year, to compare with"
    EXCLUDED = "excluded by its row"
    EXAMPLE = "example row"
    HEADING = "note or heading: a single text"
    NOTE = "note: no number in it"
    NAME_WITHOUT_VALUE = "note: a name without a value"
    NO_AMOUNT = "note: no amount in it"
    NO_DEMAND = "its demand is 0"
    NO_ACCELERATOR = "no accelerator: {service}, {amount:,.2f} {currency} a month in the estimate"
    FURTHER_MONTH = "a further month of another row"
    NO_ASSUMPTION = "no assumption of the planner"
    OTHER_VERSION = "another version of workloads that are planned from {planned}"


@dataclass(frozen=True, slots=True)
class LastYear:
    """The use or cost of last year of the workload of that index (-1: of all), called `title`, in `cell`.

    `kind` is cost, hours, or empty for an amount in the unit of its column, which holds `planned` of the demand.
    `readings` are the possible amounts a month, in `currency` where it is a cost.
    """

    workload: int
    title: str
    kind: str
    cell: Cell
    readings: tuple[float, ...]
    currency: str = ""
    planned: float = 0.0


@dataclass(slots=True)
class ReadingLog:
    """The record of one file so far. `names` are the places of the workloads' names, in lower case; notes are unique,
    in the order of their first occurrence."""

    workloads: list[dict[str, Any]] = field(default_factory=list)
    call_prices: list[dict[str, Any]] = field(default_factory=list)
    assumptions: dict[str, float] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    tables: list[TableInterpretation] = field(default_factory=list)
    estimated: list[CalculatorEstimate] = field(default_factory=list)
    readings: list[InputReading] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    complaints: list[InputProblem] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    doubts: DoubtRecord = field(default_factory=DoubtRecord)
    edits: list[CellEdit] = field(default_factory=list)
    originals: dict[str, Cell] = field(default_factory=dict)
    """The cells that were edited, by place, as the file has them."""
    last_year: list[LastYear] = field(default_factory=list)
    rows_used: int = 0
    fiscal_year_starts: int = 0
    """The month in which the fiscal year starts; 0: not known yet."""
    amount: tuple[str, str] = ("", "")
    """The currency of the file's amounts, and the place of the first one."""

    def read(self, path: str, cell: Cell, value: object) -> None:
        """Records that `value` at `path` was read from `cell`; problems point to the last cell of a path."""
        self.places[path] = cell.place
        self.readings.append(InputReading(path, cell.place, cell.text, _format_value(value)))

    def add_problem(self, cell: Cell, message: str, expected: str = "", path: str = "") -> None:
        written = shorten_text(cell.fault or cell.text, 80)
        self.complaints.append(InputProblem(path, cell.place, message, written, expected))

    def checkpoint(self) -> tuple[int, int]:
        """The position so far, for `roll_back`."""
        return len(self.readings), len(self.places)

    def roll_back(self, mark: tuple[int, int]) -> None:
        """Removes the readings since a checkpoint; problems and notes stay."""
        del self.readings[mark[0] :]
        while len(self.places) > mark[1]:
            self.places.popitem()

    def accepts_currency(self, currency: str, cell: Cell) -> bool:
        """Whether an amount in `currency` agrees with the earlier ones; adds a problem where it does not."""
        if not self.amount[0]:
            self.amount = (currency, cell.place)
        first, place = self.amount
        if first != currency:
            self.add_problem(
                cell, f"an amount in {currency}; the one in {place} is in {first}", f"all amounts in {first}"
            )
        return first == currency

    def reject_row(self, row: GridRow, kind: RowKind, **parameters: object) -> None:
        self.refused.append(RefusedRow(row.place, row.shown, kind.value.format(**parameters)))

    def note(self, text: str) -> None:
        self.notes[text] = None


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.15g}" if isinstance(value, float) else str(value)
