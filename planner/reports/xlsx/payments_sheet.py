"""The sheet Payments: every payment as a quantity of sheet Choices times a rate made of Assumptions and Offers.

The rates are the formulas of the audit trail with cells for names, and nothing else is computed here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from planner.reports._content.number_format import in_words, month_name
from planner.reports._content.repricing import LedgerRepricing, last_month
from planner.reports.xlsx.assumptions_sheet import DiscountRateCells
from planner.reports.xlsx.choices_sheet import ChoicesSheet
from planner.reports.xlsx.input_states import InputCounts, count_pairs
from planner.reports.xlsx.spreadsheet_formulas import spreadsheet_formula
from planner.reports.xlsx.workbook import MONTHS_ROW, Cell, Formula, WorkbookSheet, a1, fitting_width, row_range
from planner.result import Plan
from planner.result.audit_trail import AuditLine, AuditTrail, discount_factor
from planner.result.formulas import parse_formula

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
class FormulaCells:
    """By name of an assumption or offer the cell of its value in use, as formulas name it."""

    cells: Mapping[str, str]

    def formula(self, text: str, value: float) -> Formula | float:
        """A rate of the ledger as a formula of cells; the number itself where it names no figure."""
        node = parse_formula(text)
        return (
            value
            if node.number is not None
            else Formula(f"={spreadsheet_formula(node, self.cells.__getitem__)}", value)
        )


@dataclass(frozen=True, slots=True)
class PaymentsSheet:
    """The cells of the payments, for sums over them."""

    sheet: WorkbookSheet
    last: int
    totals: tuple[float, ...] = ()
    presents: tuple[float, ...] = ()
    """Of each line, before support plan and tax."""

    @property
    def inputs(self) -> InputCounts:
        """The rates that are inputs."""
        return count_pairs(self.column(RATE), self.column(PLANNED))

    def column(self, column: int) -> str:
        """All lines of one column, as other sheets name them."""
        return self.sheet.column(column, START, self.last)

    def month(self, month: int) -> str:
        """All lines of one month; the column is free to move along a row."""
        return f"{self.sheet.cell(START, FIRST + month - 1)}:{a1(self.last, FIRST + month - 1, fixed_row=True)}"

    def sum_of(self, values: str, criteria: Mapping[int, str]) -> str:
        """SUMIFS over `values` of the lines that meet a criterion in each given column."""
        conditions = "".join(f",{self.column(column)},{criterion}" for column, criterion in criteria.items())
        return f"SUMIFS({values}{conditions})"


def write(
    sheet: WorkbookSheet,
    plan: Plan,
    repricing: LedgerRepricing,
    figures: FormulaCells,
    rate: DiscountRateCells,
    choices: ChoicesSheet,
) -> PaymentsSheet:
    """Writes a row for each line of the ledger."""
    ledger, months = repricing.ledger, last_month(plan)
    paid = [_line_payments(repricing, line, rate.monthly_value) for line in ledger.lines]
    width = fitting_width(amount for each in paid for amount in each.amounts.values())
    sheet.widths((*(width for _, width, _ in COLUMNS), *(width for _ in range(months))))
    sheet.heading(f"Payments, {plan.currency}", NOTE)
    sheet.timeline([head for head, _, _ in COLUMNS], [month_name(plan, m + 1) for m in range(months)], WORKLOAD)
    writer = _PaymentsWriter(sheet, ledger, figures, rate, choices, months)
    for index, (line, each) in enumerate(zip(ledger.lines, paid, strict=True)):
        writer.write(START + index, line, each, repricing.figures)
    last = START + max(len(ledger.lines), 1) - 1
    return PaymentsSheet(sheet, last, tuple(each.total for each in paid), tuple(each.present for each in paid))


@dataclass(frozen=True, slots=True)
class _LinePayments:
    """The payments of a line by month, their sum and present cost."""

    amounts: Mapping[int, float]
    total: float
    present: float


def _line_payments(repricing: LedgerRepricing, line: AuditLine, rate_monthly: float) -> _LinePayments:
    amounts = repricing.ledger.amounts(line, line.rate_value, repricing.figures.get(line.growth, 0.0))
    worths = (amount * discount_factor(month, line.at, rate_monthly) for month, amount in amounts.items())
    return _LinePayments(amounts, math.fsum(amounts.values()), math.fsum(worths))


@dataclass(frozen=True, slots=True)
class _PaymentsWriter:
    """Writes one line after the other."""

    sheet: WorkbookSheet
    ledger: AuditTrail
    figures: FormulaCells
    rate: DiscountRateCells
    choices: ChoicesSheet
    months: int

    def write(self, row: int, line: AuditLine, paid: _LinePayments, planned: Mapping[str, float]) -> None:
        chosen = self.ledger.choices[line.choice]
        last = FIRST + self.months - 1
        growth: Cell = Formula(f"={self.figures.cells[line.growth]}", planned[line.growth]) if line.growth else None
        cells: tuple[Cell, ...] = (
            chosen.strategy, chosen.what, self.choices.labels[chosen.workload], in_words(line.category),
            line.at, line.choice + 1,
            int(line.is_billed), line.first, line.last, line.priced_in, line.borne_from or None, line.borne_to or None,
            chosen.unit, Formula(f"={self.choices.total(line.choice)}", math.fsum(chosen.quantity)),
            rate := self.figures.formula(line.rate, line.rate_value), rate if isinstance(rate, float) else None, growth,
            Formula(f"=SUM({row_range(row, FIRST, last)})", paid.total),
            Formula(self._present_cost_formula(row), paid.present), self._effective_formula(row, line, paid.total),
        )  # fmt: skip
        is_input = isinstance(rate, float)
        if is_input:
            self.sheet.numbers((row, RATE, row, RATE), None if line.rate_value < 0 else 0.0)
        styles = [style for _, _, style in COLUMNS]
        self.sheet.put_row(row, cells, [*styles[:RATE], "input" if is_input else styles[RATE], *styles[RATE + 1 :]])
        for month in range(1, self.months + 1):
            self.sheet.put(
                row, FIRST + month - 1, self._amount_formula(row, line, month, paid.amounts.get(month, 0.0)), "money"
            )

    def _amount_formula(self, row: int, line: AuditLine, month: int, amount: float) -> Formula:
        """One formula along the row: the month's own quantity, or the whole one in the months that it is paid."""
        now = a1(MONTHS_ROW, FIRST + month - 1, fixed_row=True)
        here = {column: a1(row, column, fixed_column=True) for column in (FROM, TO, PRICED, QUANTITY, RATE, GROWTH)}
        quantity = self.choices.month(line.choice, month)
        if not line.by_month:
            quantity = f"IF(AND({now}>={here[FROM]},{now}<={here[TO]}),{here[QUANTITY]},0)"
        text = f"={quantity}*{here[RATE]}"
        if line.growth:
            # without a month of its prices a payment grows to the month it is paid in
            priced = now if line.priced_in is None else here[PRICED]
            text += f"*(1+{here[GROWTH]})^(({priced}-1)/12)"
        return Formula(text, amount)

    def _present_cost_formula(self, row: int) -> str:
        paid = row_range(row, FIRST, FIRST + self.months - 1)
        when = f"{a1(MONTHS_ROW, FIRST, True, True)}:{a1(MONTHS_ROW, FIRST + self.months - 1, True, True)}"
        sooner = f'IF({a1(row, WHEN, fixed_column=True)}="start",1,0)'
        return f"=SUMPRODUCT({paid}/(1+{self.rate.monthly})^({when}-{sooner}))"

    def _effective_formula(self, row: int, line: AuditLine, total: float) -> Formula | None:
        """The equal share of each month over which the line is spread."""
        if not line.borne_to:
            return None
        text = f"={a1(row, TOTAL)}/({a1(row, SPREAD_TO)}-{a1(row, SPREAD_FROM)}+1)"
        return Formula(text, total / (line.borne_to - line.borne_from + 1))
