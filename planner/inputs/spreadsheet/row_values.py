"""One row of a table as values by meaning: texts, numbers, yes and no. A faulty cell is a problem, never guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from planner.inputs.cell_grid import Cell, GridRow
from planner.inputs.notation.languages import NO, YES
from planner.inputs.notation.numbers import AmbiguousNumber, Quantity, parse_format_currency, parse_quantity
from planner.inputs.notation.units import normalize_text
from planner.inputs.reading_log import ReadingLog
from planner.inputs.spreadsheet.column_meanings import SheetColumn
from planner.inputs.spreadsheet.table_detection import SheetTable
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog

T = TypeVar("T")
BLANK_WORDS = frozenset({"", "-", "–", "—", "n/a", "na", "n.a.", "none", "null", "nil"})
_CLOCK_FORMAT = re.compile(r"(?:\[h+\]|\bh{1,2}):m", re.IGNORECASE)
"""A number format of times: the stored number is a fraction of a day."""
_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d)(?::[0-5]\d)?")
_RANGE = re.compile(r"(\d[\d.,]*) ?(?:[-–—]|to|bis) ?(\d[\d.,]*)")
CLOCK_MEANINGS = frozenset({"hours", "accelerator_hours", "node_hours", "checkpoint_minutes", "restart_minutes"})


@dataclass(frozen=True, slots=True)
class CellNumber:
    """A number in a cell as written, before the magnitude of its header, with its unit and currency."""

    cell: Cell
    column: SheetColumn
    quantity: Quantity

    @property
    def value(self) -> float:
        return self.quantity.value

    @property
    def unit_words(self) -> str:
        """The unit in the cell, normalized."""
        return normalize_text(self.quantity.unit)

    def stated(self, parse: Callable[[str], T]) -> T:
        """What `parse` finds in the unit in the cell, else in the header."""
        return parse(self.unit_words) or parse(self.column.words)


@dataclass(frozen=True)
class WorkloadRow:
    """A row that is a workload: number `index` of the request."""

    table: SheetTable
    row: GridRow
    index: int
    ledger: ReadingLog
    catalog: Catalog | None = None

    @property
    def path(self) -> str:
        return f"workloads[{self.index}]"

    @cached_property
    def filled(self) -> dict[str, Cell]:
        """The cells that are not blank, by meaning."""
        cells = {meaning: self.row.cell(column.index) for meaning, column in self.table.by_meaning.items()}
        return {
            meaning: cell for meaning, cell in cells.items() if cell.fault or cell.text.casefold() not in BLANK_WORDS
        }

    def record(self, key: str, cell: Cell, value: object, shown: object = None) -> dict[str, Any]:
        """The field of the workload with its value, recorded as read from `cell`; `shown` is the value for people."""
        self.ledger.read(f"{self.path}.{key}", cell, value if shown is None else shown)
        return {key.rpartition(".")[2]: value}

    def cell(self, meaning: str) -> Cell | None:
        """The cell under the column of that meaning; None where the column is missing or the cell is blank."""
        return self.filled.get(meaning)

    def text(self, meaning: str) -> str:
        cell = self.cell(meaning)
        if cell is None or self._is_faulty(cell, meaning):
            return ""
        return cell.text

    def number(self, meaning: str) -> CellNumber | None:
        """The number under the column of that meaning; None where there is none, or after a problem."""
        cell = self.filled.get(meaning)
        return self.number_in(self.table.by_meaning[meaning], cell) if cell is not None else None

    def number_in(self, column: SheetColumn, cell: Cell) -> CellNumber | None:
        if self._is_faulty(cell, column.header.text):
            return None
        if isinstance(cell.value, int | float) and not isinstance(cell.value, bool):
            currency = parse_format_currency(cell.number_format) if cell.number_format else ""
            percent = "%" in cell.number_format
            amount = Quantity(cell.value * 100 if percent else float(cell.value), "", currency, percent)
            if _CLOCK_FORMAT.search(cell.number_format):
                amount = Quantity(cell.value * 24, "h")
        else:
            parsed = self._parse_cell(column, cell)
            if parsed is None:
                return None
            amount = parsed
        if not math.isfinite(amount.value):
            self.ledger.add_problem(cell, f"not a finite number under {column.header.text!r}", "a number")
            return None
        if amount.value < 0:
            self.ledger.add_problem(cell, f"a negative number under {column.header.text!r}", "0 or more")
            return None
        return CellNumber(cell, column, amount)

    def _parse_cell(self, column: SheetColumn, cell: Cell) -> Quantity | None:
        if column.meaning in CLOCK_MEANINGS and (clock := _CLOCK.fullmatch(cell.text)):
            return Quantity(int(clock[1]) + int(clock[2]) / 60, "h")
        decimal = self.table.decimals.get(column.index, "")
        if not decimal and "," in cell.text:
            decimal = "."
        try:
            parsed = parse_quantity(cell.text, decimal) if isinstance(cell.value, str) else None
        except AmbiguousNumber:
            large, small = cell.text.replace(".", ""), cell.text
            message = f"ambiguous: {large} or {small}; the other cells under {column.header.text!r} do not decide"
            self.ledger.add_problem(cell, message, f"{large} or {small}0")
            return None
        if parsed is None:
            self._report_text(column, cell)
        return parsed

    def _report_text(self, column: SheetColumn, cell: Cell) -> None:
        kind, expected = "text", "a number, 24/7 or 8h x 22d" if column.meaning == "hours" else "a number"
        if isinstance(cell.value, date):
            kind = "a date"  # spreadsheets turn 3-4 into one
        elif match := _RANGE.fullmatch(cell.text):
            kind, expected = "a range", f"{match[1]} or {match[2]}"
        self.ledger.add_problem(cell, f"{kind} instead of a number, under {column.header.text!r}", expected)

    def fraction(self, meaning: str) -> tuple[float, Cell] | None:
        """A share under the column of that meaning, 0..1: 45 %, 0.45, or 45 where the column is in percent."""
        number = self.number(meaning)
        if number is None:
            return None
        if number.quantity.percent:
            return number.value / 100, number.cell
        in_percent = number.column.index in self.table.in_percent
        says_percent = bool(re.search(r"%|\bpercent|\bpct\b", number.column.words))
        if says_percent == in_percent or number.value == 0:
            return (number.value / 100 if says_percent else number.value), number.cell
        if in_percent and number.value >= 1:
            return number.value / 100, number.cell
        message = f"ambiguous: a share of 1 or a percentage; the header {number.column.header.text!r} does not decide"
        self.ledger.add_problem(number.cell, message, f"{number.value * 100:g}% or {number.value:g}%")
        return None

    def flag(self, meaning: str) -> bool | None:
        """Yes or no under the column of that meaning; None where the cell is blank, or after a problem."""
        cell = self.cell(meaning)
        if cell is None or self._is_faulty(cell, meaning):
            return None
        word = cell.text.casefold().rstrip(".!")
        if word in YES or word in NO:
            return word in YES
        self.ledger.add_problem(cell, "neither yes nor no", "yes or no")
        return None

    def names(self, meaning: str) -> tuple[str, ...]:
        """The names in a cell such as "H100, A100 80GB" or "EU / US"; empty for "any"."""
        text = self.text(meaning)
        if not text:
            return ()
        parts = [part.strip() for part in re.split(r"[,;|\n/]|\bor\b|\band\b", text)]
        return tuple(
            part for part in parts if part and part.casefold() not in ("any", "anywhere", "all", "no preference")
        )

    def _is_faulty(self, cell: Cell, title: str) -> bool:
        if cell.fault:
            self.ledger.add_problem(cell, f"the cell has an error, under {title!r}", "a value")
        return bool(cell.fault)
