"""What a price calculator's export is made of: its rows by role, and the machines that the text of a row tells.

Knows no calculator; each has a module of its own that offers LAYOUT.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.notation.numbers import detect_decimal_separator, parse_format_currency, parse_quantity

HOURS_PER_MONTH = 730.0
NUMBER = r"\d{1,12}(?:,\d{3})*(?:\.\d{1,12})?"
"""A number as calculators write it inside a text: 1,234.5."""
WEEKS_PER_MONTH = HOURS_PER_MONTH / 168
_TERM = re.compile(r"(\d+) ?-?(?:years?|yrs?|ans?|années?|jaar|jahre?|años?|anos?|år|anni|anno)\b", re.IGNORECASE)
_SPOT = re.compile(r"\bspot\b|low priority|preemptible", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EstimatedMachines:
    """Machines of one type in a line. `hours` are those of all of them together in a month, None where not told.

    `how` is the arithmetic behind them, `option` the way of paying as written, `term_months` that of a commitment.
    """

    instance_type: str
    hours: float | None
    how: str
    option: str
    term_months: int | None = None
    egress_gb_per_month: float = 0.0

    @property
    def is_interruptible(self) -> bool:
        return bool(_SPOT.search(self.option))


@dataclass(frozen=True, slots=True)
class CalculatorLayout:
    """One calculator: how its header is told and what its texts say.

    `roles` gives a column's role by its header in lower case, or nothing; `machines` the machines of a provider's
    accelerator families in a text, also of types that nobody knows; `spelled` is a type as the provider names it;
    `disks_gb` is what a text names of storage, 0 for a calculator that names disks by their model.
    """

    calculator: str
    provider: str
    roles: Callable[[str], str]
    needed: frozenset[str]
    machines: Callable[[str, str], tuple[EstimatedMachines, ...]]
    spelled: Callable[[str], str]
    disks_gb: Callable[[str], float]
    left_aside: str


@dataclass(frozen=True, slots=True)
class CalculatorExport:
    """An export in a sheet: the row that names its columns, and the column of each role."""

    layout: CalculatorLayout
    sheet: InputSheet
    at: int
    columns: dict[str, int]

    @property
    def header(self) -> GridRow:
        return self.sheet.rows[self.at]

    def cell(self, row: GridRow, role: str) -> Cell:
        return row.cell(self.columns[role]) if role in self.columns else Cell(row.place, None)


def detect_export_decimal(export: CalculatorExport) -> str:
    """The decimal separator of an export's texts: the one that some amount in it proves, else a point."""
    columns = [export.columns[role] for role in ("monthly", "upfront") if role in export.columns]
    texts = [row.cell(index).value for row in export.sheet.rows[export.at + 1 :] for index in columns]
    separators = {detect_decimal_separator(text) for text in texts if isinstance(text, str)} - {""}
    return separators.pop() if len(separators) == 1 else "."


def parse_commitment_months(option: str) -> int | None:
    """The months of a commitment that an option's words name."""
    found = _TERM.search(option)
    return int(found[1]) * 12 if found else None


def parse_amount(cell: Cell, decimal: str) -> tuple[float, str] | None:
    """The amount and the currency that a cell shows, with that decimal separator; None where it holds no number."""
    if isinstance(cell.value, int | float) and not isinstance(cell.value, bool):
        return float(cell.value), parse_format_currency(cell.number_format)
    if not isinstance(cell.value, str):
        return None
    parsed = parse_quantity(cell.text, decimal)
    return (parsed.value, parsed.currency) if parsed is not None and not parsed.unit and not parsed.percent else None


def parse_number(text: str) -> float:
    """A count or an amount of hours inside a text that matches NUMBER."""
    return float(text.replace(",", ""))
