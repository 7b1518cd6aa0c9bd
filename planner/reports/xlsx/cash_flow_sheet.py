"""The sheet Cash flow: a block for each strategy, a column a month, a row for each category and time of payment.

Amounts are sums over sheet Payments; the support plan and the tax of cloud bills are worked out here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from planner.reports._content.number_format import in_words, month_name
from planner.reports._content.repricing import SUPPORT, TAX, ledger_of
from planner.reports.xlsx.assumptions_sheet import DiscountRateCells
from planner.reports.xlsx.payments_sheet import BILLED, CATEGORY, STRATEGY, WHEN, PaymentsSheet
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    MONTHS_ROW,
    Formula,
    WorkbookSheet,
    a1,
    column_range,
    fitting_width,
    row_range,
)
from planner.result import Plan, Strategy

TOTAL, FIRST = 2, 3
"""The column of totals and that of the first month."""


@dataclass(frozen=True, slots=True)
class CashFlowRow:
    """A row of a block, with its amount in each month."""

    row: int
    amounts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CashFlowBlock:
    """A strategy's totals for the formulas of other sheets, and its rows; `start` and `end` are its payments at the
    start and at the end of each month."""

    strategy: Strategy
    total_cost: Formula
    present_cost: Formula
    cumulative_row: int
    last_column: int
    start: CashFlowRow
    end: CashFlowRow
    categories: Mapping[tuple[str, str], int]
    """The row of each category by when it is paid."""


def write(
    sheet: WorkbookSheet, plan: Plan, rate: DiscountRateCells, payments: PaymentsSheet, figures: Mapping[str, str]
) -> tuple[CashFlowBlock, ...]:
    """Writes every strategy that can serve the demand; the cells of its totals."""
    last_month = max([plan.months, *(row.month for s in plan.strategies for row in s.cash)])
    months = range(1, last_month + 1)
    total, width = fitting_width([s.total_cost for s in plan.strategies]), _month_width(plan)
    sheet.widths((32, 9, total, *(width for _ in months)))
    sheet.heading(f"Cash flow, {plan.currency}", "Every amount is a formula over sheet Payments. Resale is negative.")
    sheet.timeline(("category", "paid at", "total"), [month_name(plan, month) for month in months])
    row = HEADER_ROW + 3
    blocks = []
    for strategy in plan.strategies:
        sheet.put_block_title(row, strategy.name, FIRST + last_month)
        sheet.put(row, 1, in_words(strategy.status), "block")
        if strategy.status == "infeasible":
            sheet.put(row + 1, 0, "; ".join(map(str, strategy.reasons)))
            row += 3
        else:
            categories_by_time = payable_categories(plan, strategy)
            block, row = _CashFlowWriter(sheet, last_month, rate, payments, figures).write(
                strategy, categories_by_time, row + 1
            )
            blocks.append(block)
    return tuple(blocks)


def _month_width(plan: Plan) -> float:
    """Cumulative costs are the longest amounts of a month."""
    by_month = [sorted(strategy.cash, key=lambda row: row.month) for strategy in plan.strategies]
    return max((fitting_width(accumulate(row.amount for row in rows)) for rows in by_month), default=fitting_width(()))


def payable_categories(plan: Plan, strategy: Strategy) -> dict[str, list[str]]:
    """By time of payment the categories that a strategy may pay, as they come in its ledger; with a cloud bill the
    support plan and the tax on it, even at rates of zero."""
    ledger = ledger_of(plan)
    by_time: dict[str, dict[str, None]] = {"start": {}, "end": {}}
    billed = set()
    for line in ledger.lines:
        if ledger.choices[line.choice].strategy == strategy.name:
            by_time[line.at][line.category] = None
            if line.is_billed:
                billed.add(line.at)
    for row in strategy.cash:
        by_time[row.at][row.category] = None
    return {at: list(names | (dict.fromkeys(SURCHARGES) if at in billed else {})) for at, names in by_time.items()}


SURCHARGES = ("cloud_support", "tax")


def surcharge_formula(category: str, figures: Mapping[str, str]) -> str:
    """The factor on a billed amount for the support plan, or for the tax on both, as a formula."""
    support, tax = figures.get(SUPPORT, "0"), figures.get(TAX, "0")
    return support if category == "cloud_support" else f"(1+{support})*{tax}"


def bill_factor_formula(figures: Mapping[str, str]) -> str:
    """The factor on a billed amount for both, as a formula."""
    return f"(1+{figures.get(SUPPORT, '0')})*(1+{figures.get(TAX, '0')})"


class _CashFlowWriter:
    """Writes one block, row by row."""

    def __init__(
        self,
        sheet: WorkbookSheet,
        months: int,
        rate: DiscountRateCells,
        payments: PaymentsSheet,
        figures: Mapping[str, str],
    ) -> None:
        self.sheet, self.months, self.rate = sheet, months, rate
        self.payments, self.figures = payments, figures
        self.last = FIRST + months - 1

    def write(self, strategy: Strategy, categories: Mapping[str, Sequence[str]], row: int) -> tuple[CashFlowBlock, int]:
        """The block and the row where the next may begin; the row above has the strategy's name."""
        named = a1(row - 1, 0, True, True)
        start = self._payment_rows(strategy, named, "start", categories["start"], row)
        end = self._payment_rows(strategy, named, "end", categories["end"], start.row + 1)
        rows = {(name, "start"): row + index for index, name in enumerate(categories["start"])}
        rows |= {(name, "end"): start.row + 1 + index for index, name in enumerate(categories["end"])}
        both = [a + b for a, b in zip(start.amounts, end.amounts, strict=True)]
        formulas = [f"={a1(start.row, c)}+{a1(end.row, c)}" for c in self._month_columns()]
        total = self._formula_row(end.row + 1, "total", formulas, both, "total")
        cumulative = total.row + 1
        self.sheet.put_running_sums(cumulative, "cumulative", total.row, FIRST, total.amounts)
        discounted = self._discounted_row(start, end, cumulative + 1)
        block = CashFlowBlock(
            strategy,
            Formula(f"={self.sheet.address(total.row, TOTAL)}", sum(total.amounts)),
            Formula(f"={self.sheet.address(discounted.row, TOTAL)}", sum(discounted.amounts)),
            cumulative,
            self.last,
            start,
            end,
            rows,
        )
        return block, discounted.row + 2

    def _month_columns(self) -> range:
        return range(FIRST, self.last + 1)

    def _payment_rows(
        self, strategy: Strategy, named: str, when: str, categories: Sequence[str], row: int
    ) -> CashFlowRow:
        """One row for each category paid then, and their sum below; the cell `named` has the name of the strategy."""
        amounts: dict[str, list[float]] = {category: [0.0] * self.months for category in categories}
        for cash in strategy.cash:
            if cash.at == when:
                amounts[cash.category][cash.month - 1] += cash.amount
        for index, (category, by_month) in enumerate(amounts.items()):
            self.sheet.put(row + index, 0, in_words(category))
            self.sheet.put(row + index, 1, when)
            sum_of_row = Formula(f"=SUM({row_range(row + index, FIRST, self.last)})", sum(by_month))
            self.sheet.put(row + index, TOTAL, sum_of_row, "money")
            for month, amount in enumerate(by_month, start=1):
                text = self._amount_formula(category, row + index, named, month)
                self.sheet.put(row + index, FIRST + month - 1, Formula(text, amount), "money")
        end = row + len(amounts)
        sums = [sum(by_month[m] for by_month in amounts.values()) for m in range(self.months)]
        formulas = [f"=SUM({column_range(c, row, end - 1)})" if amounts else "=0" for c in self._month_columns()]
        return self._formula_row(end, f"paid at the {when} of the month", formulas, sums)

    def _amount_formula(self, category: str, row: int, named: str, month: int) -> str:
        """The payments of a category in a month. Surcharges on cloud bills are a share of all billed amounts."""
        paid, moment = self.payments.month(month), {STRATEGY: named, WHEN: a1(row, 1, fixed_column=True)}
        own = self.payments.sum_of(paid, {**moment, CATEGORY: a1(row, 0, fixed_column=True)})
        if category not in SURCHARGES:
            return f"={own}"
        share = surcharge_formula(category, self.figures)
        return f"={own}+{share}*{self.payments.sum_of(paid, {**moment, BILLED: '1'})}"

    def _discounted_row(self, start: CashFlowRow, end: CashFlowRow, row: int) -> CashFlowRow:
        month = [a1(MONTHS_ROW, c) for c in self._month_columns()]
        formulas = [
            f"={a1(start.row, c)}/(1+{self.rate.monthly})^({m}-1)+{a1(end.row, c)}/(1+{self.rate.monthly})^{m}"
            for c, m in zip(self._month_columns(), month, strict=True)
        ]
        factor = 1 + self.rate.monthly_value
        values = [
            a / factor ** (m - 1) + b / factor**m
            for m, (a, b) in enumerate(zip(start.amounts, end.amounts, strict=True), 1)
        ]
        return self._formula_row(row, "discounted (present cost)", formulas, values)

    def _formula_row(
        self, row: int, label: str, formulas: list[str], values: list[float], style: str = "money"
    ) -> CashFlowRow:
        """A row of formulas with their values, and their sum in the column of totals."""
        pairs = zip(formulas, values, strict=True)
        self.sheet.put_formulas(row, label, FIRST, [Formula(formula, value) for formula, value in pairs], style)
        self.sheet.put(row, 1, None, "total_text" if style == "total" else "text")
        self.sheet.put(row, TOTAL, Formula(f"=SUM({row_range(row, FIRST, self.last)})", sum(values)), style)
        return CashFlowRow(row, tuple(values))
