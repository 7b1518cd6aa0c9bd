"""The sheet Effective cost: a block for each strategy, with totals to compare with its cash.

Formulas over sheet Payments: payments that belong to the month they are paid in, and the month's share of the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from planner.reports._content.number_format import in_words, month_name
from planner.reports.xlsx.cash_flow_sheet import SURCHARGES, payable_categories, surcharge_formula
from planner.reports.xlsx.payments_sheet import (
    BILLED,
    CATEGORY,
    MONTHLY_SHARE,
    SPREAD_FROM,
    SPREAD_TO,
    STRATEGY,
    PaymentsSheet,
)
from planner.reports.xlsx.workbook import (
    MONTHS_ROW,
    Formula,
    PlanWorkbook,
    WorkbookSheet,
    a1,
    column_range,
    fitting_width,
    row_range,
)
from planner.result import Plan

TOTAL, FIRST = 1, 2
NOTE = (
    "Commitments and hardware are spread evenly over the months they serve, payments after the plan included; other "
    "costs are as paid. Totals are formulas and equal those of sheet Cash flow."
)


@dataclass(frozen=True, slots=True)
class EffectiveCostTotal:
    """The cell of the total of a strategy's effective cost."""

    strategy: str
    total: Formula


def write(
    book: PlanWorkbook, plan: Plan, payments: PaymentsSheet, figures: Mapping[str, str]
) -> tuple[EffectiveCostTotal, ...]:
    """Writes the sheet; none where the plan has no effective costs."""
    rows = plan.views.effective
    if not rows:
        return ()
    last = max([plan.months, *(row.month for row in rows)])
    sheet = book.sheet("Effective cost")
    width = fitting_width(row.amount for row in rows)
    sheet.widths((32, fitting_width(s.total_cost for s in plan.strategies), *(width for _ in range(last))))
    sheet.heading(f"Effective cost, {plan.currency}", NOTE)
    sheet.timeline(("category", "total"), [month_name(plan, month) for month in range(1, last + 1)])
    writer, row, totals = _EffectiveCostWriter(sheet, payments, figures), MONTHS_ROW + 2, []
    for strategy in plan.strategies:
        amounts: dict[str, list[float]] = defaultdict(lambda: [0.0] * last)
        for cost in rows:
            if cost.strategy == strategy.name:
                amounts[cost.category][cost.month - 1] += cost.amount
        if amounts:
            for category in dict.fromkeys(
                name for names in payable_categories(plan, strategy).values() for name in names
            ):
                amounts[category]  # a category at zero cost has a row too: its assumptions may change
            total, row = writer.block(strategy.name, amounts, row)
            totals.append(EffectiveCostTotal(strategy.name, total))
    return tuple(totals)


@dataclass(frozen=True, slots=True)
class _EffectiveCostWriter:
    """Writes one block after the other."""

    sheet: WorkbookSheet
    payments: PaymentsSheet
    figures: Mapping[str, str]

    def block(self, name: str, amounts: Mapping[str, list[float]], row: int) -> tuple[Formula, int]:
        """A row for each category and their sum; the cell of the grand total, and the row where the next may begin."""
        sheet, months = self.sheet, len(next(iter(amounts.values())))
        last = FIRST + months - 1
        sheet.put_block_title(row, name, last + 1)
        first = row + 1
        for line, (category, by_month) in enumerate(amounts.items(), start=first):
            sheet.put(line, 0, in_words(category))
            sheet.put(line, TOTAL, Formula(f"=SUM({row_range(line, FIRST, last)})", sum(by_month)), "money")
            for month, amount in enumerate(by_month, start=1):
                text = self._amount_formula(category, a1(row, 0, True, True), line, month)
                sheet.put(line, FIRST + month - 1, Formula(f"={text}", amount), "money")
        end = first + len(amounts)
        sums = [sum(by_month[month] for by_month in amounts.values()) for month in range(months)]
        totals = (Formula(f"=SUM({column_range(c, first, end - 1)})", value) for c, value in enumerate(sums, FIRST))
        sheet.put_formulas(end, "total", FIRST, totals, "total")
        sheet.put(end, TOTAL, Formula(f"=SUM({row_range(end, FIRST, last)})", sum(sums)), "total")
        return Formula(f"={sheet.address(end, TOTAL)}", sum(sums)), end + 2

    def _amount_formula(self, category: str, named: str, row: int, month: int) -> str:
        """The effective cost of a category in a month; surcharges on cloud bills are a share of all billed amounts."""
        own = self._effective_formula({STRATEGY: named, CATEGORY: a1(row, 0, fixed_column=True)}, month)
        if category not in SURCHARGES:
            return own
        billed = self._effective_formula({STRATEGY: named, BILLED: "1"}, month)
        return f"{own}+{surcharge_formula(category, self.figures)}*({billed})"

    def _effective_formula(self, criteria: Mapping[int, str], month: int) -> str:
        """Of the lines that meet the criteria: payments of the month itself, and its share of the spread ones."""
        now = a1(MONTHS_ROW, FIRST + month - 1, fixed_row=True)
        spread = {**criteria, SPREAD_FROM: f'"<="&{now}', SPREAD_TO: f'">="&{now}'}
        as_paid = self.payments.sum_of(self.payments.month(month), {**criteria, SPREAD_TO: '""'})
        return f"{as_paid}+{self.payments.sum_of(self.payments.column(MONTHLY_SHARE), spread)}"
