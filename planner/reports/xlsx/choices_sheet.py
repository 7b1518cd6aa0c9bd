"""The sheet Choices: the decisions of the solver, as inputs: every payment is one of these quantities times a rate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from planner.reports._content.number_format import month_name
from planner.reports._content.repricing import last_month, ledger_of
from planner.reports.xlsx.input_states import (
    AS_PLANNED,
    CHANGED,
    NO_NUMBER,
    InputCounts,
    count_states,
    difference_condition,
    mark_states,
)
from planner.reports.xlsx.workbook import MONTHS_ROW, Formula, WorkbookSheet, a1, cell_text, fitting_width, row_range
from planner.result import Plan
from pricing.frozen_values import dataclass

NOTE = (
    "Decisions of the solver, which no change in this workbook alters: plan again for new ones. Orders and commitments "
    "are in the month that they start, hours and data in the month of their use. Mean month: weighted by quantity."
)
TOP_UP = "top-up to its least fee"
TOP_UP_NOTE = "The top-up of a support plan to its least fee is an amount as planned: it does not follow the bill."
COLUMNS = (
    ("choice", 7, "count"), ("strategy", 9, "text"), ("what", 36, "wrap"), ("workload", 24, "wrap"),
    ("unit", 14, "wrap"),
)  # fmt: skip
TOTAL, MEAN, STATE, PLANNED, MEAN_PLANNED, ALLOCATED_TO, COST, PRESENT = range(len(COLUMNS), len(COLUMNS) + 8)
FIRST = PRESENT + 1
STRATEGY, WORKLOAD = 1, 3
START = MONTHS_ROW + 1
ITS_OWN, BY_HOURS, BY_COST = "its workload", "workloads by hours", "workloads by other costs"
"""The workloads that share the cost of a choice."""


@dataclass(frozen=True, slots=True)
class ChoicesSheet:
    """The cells of the quantities."""

    sheet: WorkbookSheet
    count: int
    labels: Mapping[str, str]
    """The label of each workload on this sheet, by its name: all are distinct."""

    def column(self, column: int) -> str:
        """All choices of one column, as other sheets name them."""
        return self.sheet.column(column, self.row(0), self.row(max(self.count, 1) - 1))

    @property
    def inputs(self) -> InputCounts:
        """The choices as inputs, a row each."""
        return count_states(self.column(STATE))

    def row(self, choice: int) -> int:
        """The row of a choice of the ledger."""
        return START + choice

    def total(self, choice: int) -> str:
        """Its quantity in all months, as other sheets name it."""
        return self.sheet.address(self.row(choice), TOTAL)

    def month(self, choice: int, month: int) -> str:
        """Its quantity in one month; the column is free to move along a row."""
        return self.sheet.cell(self.row(choice), FIRST + month - 1)


def write(sheet: WorkbookSheet, plan: Plan) -> ChoicesSheet:
    """Writes a row for each choice."""
    choices, months = ledger_of(plan).choices, last_month(plan)
    width = fitting_width((max(choice.quantity, default=0.0) for choice in choices), decimals=3)
    sheet.widths((*(width for _, width, _ in COLUMNS), 12, 8, 12, 12, 8, 13, 14, 14, *(width for _ in range(months))))
    has_top_up = any(choice.unit == TOP_UP for choice in choices)
    sheet.heading("Choices", f"{NOTE} {TOP_UP_NOTE}" if has_top_up else NOTE)
    costs = (
        "all months", "mean month", "state of the input", "all months, as planned", "mean month, as planned",
        "allocated to", f"cost, {plan.currency}", f"present cost, {plan.currency}",
    )  # fmt: skip
    heads = (*(head for head, _, _ in COLUMNS), *costs)
    sheet.timeline(heads, [month_name(plan, month + 1) for month in range(months)], STRATEGY + 2)
    names = (*(workload.name for workload in plan.workloads), *(choice.workload for choice in choices))
    labels = distinct_labels(("", *names, *(n for c in choices for n, _ in c.parts)))
    choice_cells = ChoicesSheet(sheet, len(choices), labels)
    for number, choice in enumerate(choices):
        row = choice_cells.row(number)
        cells = (number + 1, choice.strategy, choice.what, choice_cells.labels[choice.workload], choice.unit)
        sheet.put_row(row, cells, [style for _, _, style in COLUMNS])
        sheet.put(row, ALLOCATED_TO, ITS_OWN if choice.workload else BY_HOURS if choice.parts else BY_COST, "wrap")
        _put_quantities(sheet, row, choice.quantity)
    if choices:
        least = 0.0 if all(quantity >= 0 for choice in choices for quantity in choice.quantity) else None
        sheet.numbers((START, FIRST, choice_cells.row(len(choices) - 1), FIRST + months - 1), least)
        mark_states(sheet, START, choice_cells.row(len(choices) - 1), STATE, a1(START, STATE))
    return choice_cells


def _put_quantities(sheet: WorkbookSheet, row: int, quantity: Sequence[float]) -> None:
    """The quantity of each month, their sum, and whether it is still as planned."""
    last = FIRST + len(quantity) - 1
    cells, months = row_range(row, FIRST, last), row_range(MONTHS_ROW, FIRST, last, fixed_row=True)
    decided = math.fsum(quantity)
    mean = math.fsum(month * each for month, each in enumerate(quantity, start=1)) / decided if decided else 0.0
    total = Formula(f"=SUM({cells})", decided)
    now = Formula(f"=IF({a1(row, TOTAL)}=0,0,SUMPRODUCT({months},{cells})/{a1(row, TOTAL)})", mean)
    moved = (difference_condition(a1(row, a), a1(row, b)) for a, b in ((TOTAL, PLANNED), (MEAN, MEAN_PLANNED)))
    changed = f'IF(OR({",".join(moved)}),"{CHANGED}","{AS_PLANNED}")'
    state = Formula(f'=IF(COUNTA({cells})>COUNT({cells}),"{NO_NUMBER}",{changed})', AS_PLANNED)
    sheet.put_row(row, (total, now, state, decided, mean), ("figure", "figure", "text", "figure", "figure"), TOTAL)
    for month, each in enumerate(quantity):
        sheet.put(row, FIRST + month, each or None, "input")


def distinct_labels(names: Iterable[str]) -> dict[str, str]:
    """A label for each name: names that are equal as plain text get a number, or sums by name would mix them up."""
    used_labels: set[str] = set()
    labels = {}
    for name in names:
        if name not in labels:
            label, number = cell_text(name), 1
            while label.casefold() in used_labels:
                number += 1
                label = f"{cell_text(name)} ({number})"
            used_labels.add(label.casefold())
            labels[name] = label
    return labels
