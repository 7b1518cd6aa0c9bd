"""The parts of a price calculator's export: columns by role, and the machines in the text of a line.

Each calculator has its own module with a LAYOUT.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.notation.numbers import detect_decimal_separator, parse_format_currency, parse_quantity
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_MONTH

NUMBER = r"\d{1,12}(?:,\d{3})*(?:\.\d{1,12})?"
"""A number in a calculator's text: 1,234.5."""
WEEKS_PER_MONTH = HOURS_PER_MONTH / 168
_TERM = re.compile(r"(\d+) ?-?(?:years?|yrs?|ans?|années?|jaar|jahre?|años?|anos?|år|anni|anno)\b", re.IGNORECASE)
_SPOT = re.compile(r"\bspot\b|low priority|preemptible", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EstimatedMachines:
    """Machines of one type in a line. `hours` are those of all machines together in a month; None where unknown.

    `how` is their arithmetic, `option` the purchase option as written, `term_months` the term of a commitment.
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
    """One calculator: the columns of its export and the meaning of its texts.

    `roles` gives a column's role by its header in lower case, or an empty text; `machines` the machines of the
    provider's accelerator families in a text, including unknown types; `spelled` the provider's name of a type;
    `disks_gb` the storage named in a text, None for a calculator that names disks by their model.
    """

    calculator: str
    provider: str
    roles: Callable[[str], str]
    machines: Callable[[str], tuple[EstimatedMachines, ...]]
    spelled: Callable[[str], str]
    left_aside: str
    disks_gb: Callable[[str], float] | None = None


@dataclass(frozen=True, slots=True)
class CalculatorExport:
    """An export in a sheet: the index of its header row, and the column of each role."""

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
    """The decimal separator of an export: the one that its amounts prove, else a point."""
    columns = [export.columns[role] for role in ("monthly", "upfront") if role in export.columns]
    texts = [row.cell(index).value for row in export.sheet.rows[export.at + 1 :] for index in columns]
    separators = {detect_decimal_separator(text) for text in texts if isinstance(text, str)} - {""}
    return separators.pop() if len(separators) == 1 else "."


def parse_commitment_months(option: str) -> int | None:
    """The term of the commitment in the text of a purchase option; None without one."""
    match = _TERM.search(option)
    return int(match[1]) * 12 if match else None


def parse_amount(cell: Cell, decimal: str) -> tuple[float, str] | None:
    """The amount and the currency of a cell; None where it is not a number."""
    if isinstance(cell.value, int | float) and not isinstance(cell.value, bool):
        return float(cell.value), parse_format_currency(cell.number_format)
    if not isinstance(cell.value, str):
        return None
    parsed = parse_quantity(cell.text, decimal)
    return (parsed.value, parsed.currency) if parsed is not None and not parsed.unit and not parsed.percent else None


def parse_number(text: str) -> float:
    """The value of a text that matches NUMBER."""
    return float(text.replace(",", ""))
