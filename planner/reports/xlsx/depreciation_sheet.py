"""The sheet Depreciation: the tax effect of each purchase, year by year; taxes and book values are formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.reports._content.financial_views import METHODS
from planner.reports._content.number_format import plan_year_name
from planner.reports._content.repricing import INCOME_TAX, LedgerRepricing
from planner.reports.xlsx.assumptions_sheet import DiscountRateCells
from planner.reports.xlsx.checks_sheet import AS_PLANNED, WorkbookCheck
from planner.reports.xlsx.input_states import InputCounts, count_pairs
from planner.reports.xlsx.payments_sheet import CATEGORY, CHOICE, TOTAL, PaymentsSheet
from planner.reports.xlsx.spreadsheet_formulas import spreadsheet_formula
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, PlanWorkbook, WorkbookSheet, a1, column_range
from planner.result import Plan
from planner.result.audit_trail import AuditLine
from planner.result.financial_views import Depreciation
from planner.result.formulas import FormulaNode, evaluate_formula, parse_formula
from pricing.frozen_values import dataclass

TAX_COLUMNS = (
    ("strategy", 10, "text"), ("hardware", 34, "wrap"), ("method", 14, "text"), ("year of the plan", 18, "text"),
    ("year", 7, "count"), ("cost or price", 18, "money"), ("part of the cost", 9, "input"), ("deducted", 18, "money"),
    ("left in the books", 18, "money"), ("income tax", 10, "percent"), ("tax saved", 18, "money"),
    ("present value", 18, "money"), ("part as planned", 9, "figure"),
)  # fmt: skip
COST, PART, DEDUCTED, BOOKS, FRACTION, SAVED, TODAY, PLANNED = 5, 6, 7, 8, 9, 10, 11, 12
NOTE = (
    "Costs of the plan are before tax. A sale takes the rest out of the books; a loss at it is deducted too. Tax falls "
    "at the end of a year of the plan. Blue parts are inputs."
)


def write(
    book: PlanWorkbook, plan: Plan, repricing: LedgerRepricing, rate: DiscountRateCells, payments: PaymentsSheet
) -> tuple[list[WorkbookCheck], list[InputCounts]]:
    """Writes the sheet, if tax was requested: the present value of each purchase against that of the plan, and the
    parts as inputs."""
    if not plan.views.depreciation:
        return [], []
    sheet = book.sheet("Depreciation")
    sheet.list(f"Depreciation and tax, {plan.currency}", NOTE, TAX_COLUMNS, ())
    row, checks = HEADER_ROW + 1, []
    for each in plan.views.depreciation:
        present, row = _DepreciationSchedule(sheet, repricing, each, rate, payments).write(row)
        name = f"depreciation, {each.strategy}: {each.name}, month {each.month}: present value"
        checks.append(WorkbookCheck(name, present, each.present_value, holds=AS_PLANNED))
    parts, planned = (sheet.column(column, HEADER_ROW + 1, row) for column in (PART, PLANNED))
    return checks, [count_pairs(parts, planned)]


@dataclass(frozen=True, slots=True)
class _DepreciationSchedule:
    """Writes the years of one purchase and its sale."""

    sheet: WorkbookSheet
    repricing: LedgerRepricing
    each: Depreciation
    rate: DiscountRateCells
    payments: PaymentsSheet

    def write(self, row: int) -> tuple[Formula, int]:
        """The cell of its present value, and the row where the next may begin."""
        sheet, plan, each = self.sheet, self.repricing.plan, self.each
        first, name = row, f"{each.count} x {each.name}"
        words = ("text", "wrap", "text", "text", "count")
        left, tax_values = each.cost, []
        for year in each.years:
            cells = (each.strategy, name, METHODS[each.method], plan_year_name(plan, year.year), year.year)
            sheet.put_row(row, cells, words)
            before = a1(row - 1, BOOKS) if row > first else a1(row, COST)
            left -= year.deduction
            cost = self._payment_cell(("hardware", "installation"), each.cost) if row == first else None
            part = year.deduction / each.cost if each.cost else 0.0
            deducted = Formula(f"={a1(first, COST, True, True)}*{a1(row, PART)}", year.deduction)
            books = Formula(f"={before}-{a1(row, DEDUCTED)}", left)
            sheet.put_row(row, (cost, part, deducted, books), ("money", "input", "money", "money"), COST)
            sheet.put(row, PLANNED, part, "figure")
            sheet.numbers((row, PART, row, PART), 0.0, 1.0)
            tax_values.append(self._put_tax(row, year.year, year.deduction))
            row += 1
        sold = each.years[-1].year
        sheet.put_row(row, (each.strategy, name, "sale", plan_year_name(plan, sold), sold), words)
        sale = self._payment_cell(("resale",), each.resale)
        deducted = Formula(f"={a1(row - 1, BOOKS)}-{a1(row, COST)}", left - each.resale)
        sheet.put_row(row, (sale, None, deducted, 0.0), ("money", "text", "money", "money"), COST)
        tax_values.append(self._put_tax(row, sold, left - each.resale))
        row += 1
        sheet.put(row, 0, "total", "total_text")
        for column in range(1, TODAY):
            sheet.put(row, column, None, "total")
        sheet.put(row, TODAY, Formula(f"=SUM({column_range(TODAY, first, row - 1)})", sum(tax_values)), "total")
        return Formula(f"={sheet.address(row, TODAY)}", sum(tax_values)), row + 2

    def _payment_cell(self, categories: Sequence[str], amount: float) -> Cell:
        """Its payments (for a sale: receipts) by sheet Payments, and loans; the amount itself where these differ
        from it."""
        ledger, each = self.repricing.ledger, self.each
        choices = (
            number
            for number, made in enumerate(ledger.choices)
            if (made.strategy, made.what) == (each.strategy, each.name) and made.quantity[each.month - 1]
        )
        choice = next(choices, None)
        if choice is None:
            return amount
        lines = [line for line in ledger.lines if line.choice == choice]
        is_sale = categories == ("resale",)
        loans = [] if is_sale else [loan for line in lines if (loan := _loan_formula(line)) is not None]
        own = [line for line in lines if line.category in categories]
        paid = [cash for line in own for cash in ledger.amounts(line, line.rate_value, 0.0).values()]
        quantity = math.fsum(ledger.choices[choice].quantity)
        known = math.fsum([*paid, *(quantity * evaluate_formula(loan, self.repricing.figures) for loan in loans)])
        if not math.isclose(abs(known), amount, rel_tol=1e-9, abs_tol=0.005):
            return amount
        total = self.payments.column(TOTAL)
        parts = [self.payments.sum_of(total, {CHOICE: str(choice + 1), CATEGORY: f'"{name}"'}) for name in categories]
        ordered, in_use = self.payments.choices.total(choice), self.payments.figures.__getitem__
        parts += [f"{ordered}*({spreadsheet_formula(loan, in_use)})" for loan in loans]
        return Formula(f"={'-' if is_sale else ''}({'+'.join(parts)})", amount)

    def _put_tax(self, row: int, year: int, deducted: float) -> float:
        """Writes the tax that a deduction saves, and its present value at the live rate; that value."""
        sheet, fraction = self.sheet, self.each.tax_fraction
        saved = deducted * fraction
        # tax is settled at the end of a year, so it is discounted by whole years
        today = saved / (1 + self.repricing.plan.discount_rate_annual) ** year
        cell = self.payments.figures.get(INCOME_TAX)
        cells: tuple[Cell, ...] = (
            Formula(f"={cell}", fraction) if cell else fraction,
            Formula(f"={a1(row, DEDUCTED)}*{a1(row, FRACTION)}", saved),
            Formula(f"={a1(row, SAVED)}/(1+{self.rate.annual})^{a1(row, 4)}", today),
        )
        sheet.put_row(row, cells, ("percent", "money", "money"), FRACTION)
        return today


def _loan_formula(line: AuditLine) -> FormulaNode | None:
    """The formula of the principal of a loan whose level payments this line is: X / PV(...)."""
    node = parse_formula(line.rate)
    is_level = line.category == "financing" and node.text == "/" and node.sides[1].text == "PV"
    return node.sides[0] if is_level else None
