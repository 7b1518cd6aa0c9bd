"""The sheet Choices: what the solver decided, as inputs: every payment is one of these quantities times a rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.answer import Plan
from planner.reports._shared.again import last_month, ledger_of
from planner.reports._shared.figures import month_name
from planner.reports.xlsx._book import HEADER_ROW, Formula, Sheet, along, changed, pages_for, room_for

NOTE = (
    "Decided by the solver and kept whatever is changed here: plan again to decide anew. Orders and commitments "
    "stand in the month that they start, hours and data in the month of their use."
)
COLUMNS = (
    ("choice", 7, "count"), ("strategy", 9, "text"), ("what", 40, "wrap"), ("workload", 26, "wrap"),
    ("unit", 20, "wrap"),
)  # fmt: skip
TOTAL, PLANNED, BORNE_BY, COST, PRESENT = range(len(COLUMNS), len(COLUMNS) + 5)
FIRST = PRESENT + 1
STRATEGY, WORKLOAD = 1, 3
ITS_OWN, BY_HOURS, BY_COST = "its workload", "workloads by hours", "workloads by other costs"
"""Who bears what a choice costs."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Where the quantities stand."""

    sheet: Sheet
    count: int

    def column(self, column: int) -> str:
        """All choices of one column, as other sheets name them."""
        return self.sheet.column(column, self.row(0), self.row(max(self.count, 1) - 1))

    @property
    def edited(self) -> str:
        """The formula of how many choices do not add up to what was decided."""
        return changed(self.column(TOTAL), self.column(PLANNED))

    def cost(self, choice: int) -> str:
        """What it costs, with support plan and tax."""
        return self.sheet.address(self.row(choice), COST)

    def present(self, choice: int) -> str:
        """The same as present cost."""
        return self.sheet.address(self.row(choice), PRESENT)

    def row(self, choice: int) -> int:
        """The row of a choice of the ledger."""
        return HEADER_ROW + 1 + choice

    def total(self, choice: int) -> str:
        """Its quantity in all months, as other sheets name it."""
        return self.sheet.address(self.row(choice), TOTAL)

    def month(self, choice: int, month: int) -> str:
        """Its quantity in one month; the column is free to move along a row."""
        return self.sheet.cell(self.row(choice), FIRST + month - 1)


def write(sheet: Sheet, plan: Plan) -> Choices:
    """Writes a row for each choice."""
    choices, months = ledger_of(plan).choices, last_month(plan)
    width = room_for((max(choice.quantity, default=0.0) for choice in choices), decimals=3)
    sheet.widths((*(width for _, width, _ in COLUMNS), 14, 14, 14, 15, 15, *(width for _ in range(months))))
    sheet.pages_wide(pages_for(months, width))
    sheet.heading("Choices", NOTE)
    costs = ("all months", "as planned", "borne by", f"cost, {plan.currency}", f"present cost, {plan.currency}")
    sheet.header((*(head for head, _, _ in COLUMNS), *costs, *(month_name(plan, m + 1) for m in range(months))))
    sheet.freeze(HEADER_ROW + 1, STRATEGY + 2)
    found = Choices(sheet, len(choices))
    for number, choice in enumerate(choices):
        row = found.row(number)
        cells = (number + 1, choice.strategy, choice.what, choice.workload, choice.unit)
        sheet.put_row(row, cells, [style for _, _, style in COLUMNS])
        decided = math.fsum(choice.quantity)
        sheet.put(row, TOTAL, Formula(f"=SUM({along(row, FIRST, FIRST + months - 1)})", decided), "figure")
        sheet.put(row, PLANNED, decided, "figure")
        sheet.put(row, BORNE_BY, ITS_OWN if choice.workload else BY_HOURS if choice.parts else BY_COST, "wrap")
        for month, quantity in enumerate(choice.quantity):
            sheet.put(row, FIRST + month, quantity or None, "input")
    return found
