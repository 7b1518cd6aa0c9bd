"""Where the figures of the ledger's formulas stand in the workbook, and its formulas written with those cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.reports._content.ledger_formulas import parse_formula, spreadsheet_formula
from planner.reports.xlsx.workbook import Formula


@dataclass(frozen=True, slots=True)
class FormulaCells:
    """By name of a figure the cell where its value in use stands, as formulas name it."""

    cells: Mapping[str, str]

    def formula(self, text: str, value: float) -> Formula | float:
        """A rate of the ledger as a formula of cells; the number itself where it names no figure."""
        node = parse_formula(text)
        return (
            value
            if node.number is not None
            else Formula(f"={spreadsheet_formula(node, self.cells.__getitem__)}", value)
        )
