"""The sheet Payments: every payment as a quantity of sheet Choices times a rate made of Assumptions and Offers.

The rates are the formulas of the audit trail with cells for names, and nothing else is computed here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from planner.reports._content.number_format import in_words, month_name
from planner.reports._content.repricing import LedgerRepricing, first_month, last_month
from planner.reports.xlsx.assumptions_sheet import DiscountRateCells
from planner.reports.xlsx.choices_sheet import ChoicesSheet
from planner.reports.xlsx.input_states import InputCounts, count_pairs
from planner.reports.xlsx.spreadsheet_formulas import spreadsheet_formula
from planner.reports.xlsx.workbook import MONTHS_ROW, Cell, Formula, WorkbookSheet, a1, fitting_width, row_range
from planner.result import Plan
from planner.result.audit_trail import AuditLine, discount_factor
from planner.result.formulas import parse_formula
from pricing.frozen_values import dataclass

NOTE = (
    "Amount of a month = quantity x rate x (1 + growth) ^ ((month of its prices - 1) / 12). Support plan and tax on "
    "amounts of a cloud bill (1) are added in sheet Cash flow. Blue rates are inputs: no assumption has them."
)
COLUMNS = (
    ("strategy", 9, "text"), ("paid for", 34, "wrap"), ("workload", 22, "wrap"), ("category", 13, "text"),
    ("paid at", 7, "text"), ("choice", 7, "count"), ("on a cloud bill", 8, "flag"), ("first month", 7, "count"),
    ("last month", 7, "count"), ("month of its prices; none: each its own", 10, "count"),
    ("spread from month", 8, "count"), ("spread to month", 8, "count"), ("unit", 13, "wrap"),
    ("quantity", 13, "figure"),
    ("rate per unit", 15, "figure"), ("rate as planned", 12, "figure"), ("growth a year", 9, "percent"),
    ("total", 16, "money"),
    ("present cost", 16, "money"), ("share of a month", 15, "money"),
)  # fmt: skip
(STRATEGY, WHAT, WORKLOAD, CATEGORY, WHEN, CHOICE, BILLED, FROM, TO, PRICED, SPREAD_FROM, SPREAD_TO, UNIT, QUANTITY,
 RATE, PLANNED, GROWTH, TOTAL, PRESENT, MONTHLY_SHARE) = range(len(COLUMNS))  # fmt: skip
FIRST = len(COLUMNS)
START = MONTHS_ROW + 1


@dataclass(frozen=True, slots=True)
class PaymentsSheet:
    """The cells of the payments, for sums over them; `figures` has by name of an assumption or offer the cell of its
    value in use, as formulas name it."""

    sheet: WorkbookSheet
    choices: ChoicesSheet
    figures: Mapping[str, str]
    last: int
    first_month: int
    costs: tuple[tuple[float, float], ...]
    """Total and present cost of each line, before support plan and tax."""

    @property
    def inputs(self) -> InputCounts:
        """The rates that are inputs."""
        return count_pairs(self.column(RATE), self.column(PLANNED))

    def column(self, column: int) -> str:
        """All lines of one column, as other sheets name them."""
        return self.sheet.column(column, START, self.last)

    def month(self, month: int) -> str:
        """All lines of one month; the column is free to move along a row."""
        column = FIRST + month - self.first_month
        return f"{self.sheet.cell(START, column)}:{a1(self.last, column, fixed_row=True)}"

    def sum_of(self, values: str, criteria: Mapping[int, str]) -> str:
        """SUMIFS over `values` of the lines that meet a criterion in each given column."""
        conditions = "".join(f",{self.column(column)},{criterion}" for column, criterion in criteria.items())
        return f"SUMIFS({values}{conditions})"


def write(
    sheet: WorkbookSheet,
    plan: Plan,
    repricing: LedgerRepricing,
    figures: Mapping[str, str],
    rate: DiscountRateCells,
    choices: ChoicesSheet,
) -> PaymentsSheet:
    """Writes a row for each line of the ledger."""
    ledger, months = repricing.ledger, range(first_month(plan), last_month(plan) + 1)
    paid = [ledger.amounts(line, line.rate_value, repricing.figures.get(line.growth, 0.0)) for line in ledger.lines]
    width = fitting_width(amount for amounts in paid for amount in amounts.values())
    sheet.widths((*(width for _, width, _ in COLUMNS), *(width for _ in months)))
    sheet.heading(f"Payments, {plan.currency}", NOTE)
    sheet.timeline([head for head, _, _ in COLUMNS], [month_name(plan, m) for m in months], WORKLOAD, months[0])
    writer = _PaymentsWriter(sheet, repricing, figures, rate, choices, months)
    costs = [writer.write(START + index, *each) for index, each in enumerate(zip(ledger.lines, paid, strict=True))]
    return PaymentsSheet(sheet, choices, figures, START + max(len(costs), 1) - 1, months[0], tuple(costs))


@dataclass(frozen=True, slots=True)
class _PaymentsWriter:
    """Writes one line after the other."""

    sheet: WorkbookSheet
    repricing: LedgerRepricing
    figures: Mapping[str, str]
    rate: DiscountRateCells
    choices: ChoicesSheet
    months: range

    def write(self, row: int, line: AuditLine, paid: Mapping[int, float]) -> tuple[float, float]:
        """Writes a line that pays these amounts by month; their sum and present cost."""
        total = math.fsum(paid.values())
        present = math.fsum(
            amount * discount_factor(month, line.at, self.rate.monthly_value) for month, amount in paid.items()
        )
        chosen = self.repricing.ledger.choices[line.choice]
        months = row_range(row, FIRST, FIRST + len(self.months) - 1)
        node = parse_formula(line.rate)
        # a rate that names no figure is the number itself, and an input
        is_input = node.number is not None
        rate: Cell = line.rate_value
        if not is_input:
            rate = Formula(f"={spreadsheet_formula(node, self.figures.__getitem__)}", line.rate_value)
        growth: Cell = None
        if line.growth:
            growth = Formula(f"={self.figures[line.growth]}", self.repricing.figures[line.growth])
        share: Cell = None
        if line.borne_to:  # the equal share of each month over which the line is spread
            text = f"={a1(row, TOTAL)}/({a1(row, SPREAD_TO)}-{a1(row, SPREAD_FROM)}+1)"
            share = Formula(text, total / (line.borne_to - line.borne_from + 1))
        cells: tuple[Cell, ...] = (
            chosen.strategy, chosen.what, self.choices.labels[chosen.workload], in_words(line.category),
            line.at, line.choice + 1,
            int(line.is_billed), line.first, line.last, line.priced_in, line.borne_from or None, line.borne_to or None,
            chosen.unit, Formula(f"={self.choices.total(line.choice)}", math.fsum(chosen.quantity)),
            rate, line.rate_value if is_input else None, growth, Formula(f"=SUM({months})", total),
            Formula(self._present_cost_formula(row, months), present), share,
        )  # fmt: skip
        if is_input:
            self.sheet.numbers((row, RATE, row, RATE), None if line.rate_value < 0 else 0.0)
        styles = [style for _, _, style in COLUMNS]
        styles[RATE] = "input" if is_input else styles[RATE]
        self.sheet.put_row(row, cells, styles)
        for column, month in enumerate(self.months, start=FIRST):
            amount = Formula(self._amount_formula(row, line, month), paid.get(month, 0.0))
            self.sheet.put(row, column, amount, "money")
        return total, present

    def _amount_formula(self, row: int, line: AuditLine, month: int) -> str:
        """One formula along the row: the month's own quantity, or the whole one in the months that it is paid; nothing
        is used before the plan."""
        if line.by_month and month < 1:
            return "=0"
        now = a1(MONTHS_ROW, FIRST + month - self.months[0], fixed_row=True)
        here = {column: a1(row, column, fixed_column=True) for column in (FROM, TO, PRICED, QUANTITY, RATE, GROWTH)}
        if line.by_month:
            quantity = self.choices.month(line.choice, month)
        else:
            quantity = f"IF(AND({now}>={here[FROM]},{now}<={here[TO]}),{here[QUANTITY]},0)"
        text = f"={quantity}*{here[RATE]}"
        if line.growth:
            # without a month of its prices a payment grows to the month it is paid in
            priced = now if line.priced_in is None else here[PRICED]
            text += f"*(1+{here[GROWTH]})^(({priced}-1)/12)"
        return text

    def _present_cost_formula(self, row: int, paid: str) -> str:
        when = f"{a1(MONTHS_ROW, FIRST, True, True)}:{a1(MONTHS_ROW, FIRST + len(self.months) - 1, True, True)}"
        sooner = f'IF({a1(row, WHEN, fixed_column=True)}="start",1,0)'
        return f"=SUMPRODUCT({paid}/(1+{self.rate.monthly})^({when}-{sooner}))"
