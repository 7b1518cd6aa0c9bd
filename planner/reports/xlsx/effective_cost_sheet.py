"""The sheet Effective cost: a block for each strategy, with totals to compare with its cash.

Formulas over sheet Payments: payments that belong to the month they are paid in, and the month's share of the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from planner.reports._content.number_format import month_name
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock, add_surcharge, payable_categories, put_categories
from planner.reports.xlsx.checks_sheet import WorkbookCheck
from planner.reports.xlsx.payments_sheet import (
    BILLED,
    CATEGORY,
    MONTHLY_SHARE,
    SPREAD_FROM,
    SPREAD_TO,
    STRATEGY,
    PaymentsSheet,
)
from planner.reports.xlsx.workbook import MONTHS_ROW, Formula, PlanWorkbook, a1, fitting_width
from planner.result import Plan

FIRST = 2
"""The column of the first month; that of the totals is before it."""
NOTE = (
    "Commitments and hardware are spread evenly over the months they serve, payments after the plan included; other "
    "costs are as paid. Totals are formulas and equal those of sheet Cash flow."
)


def write(
    book: PlanWorkbook, plan: Plan, payments: PaymentsSheet, blocks: Iterable[CashFlowBlock]
) -> list[WorkbookCheck]:
    """Writes the sheet, none where the plan has no effective costs; its totals against those of sheet Cash flow."""
    rows = plan.views.effective
    if not rows:
        return []
    last = max([plan.months, *(row.month for row in rows)])
    sheet = book.sheet("Effective cost")
    width = fitting_width(row.amount for row in rows)
    sheet.widths((32, fitting_width(s.total_cost for s in plan.strategies), *(width for _ in range(last))))
    sheet.heading(f"Effective cost, {plan.currency}", NOTE)
    sheet.timeline(("category", "total"), [month_name(plan, month) for month in range(1, last + 1)])
    total_costs = {block.strategy.name: block.total_cost for block in blocks}
    row, checks = MONTHS_ROW + 2, []
    for strategy in plan.strategies:
        amounts: dict[str, list[float]] = defaultdict(lambda: [0.0] * last)
        for cost in rows:
            if cost.strategy == strategy.name:
                amounts[cost.category][cost.month - 1] += cost.amount
        if not amounts:
            continue
        for category in (name for names in payable_categories(plan, strategy).values() for name in names):
            amounts[category]  # a category at zero cost has a row too: its assumptions may change
        sheet.put_block_title(row, strategy.name, FIRST + last)
        named = a1(row, 0, True, True)

        def amount_formula(category: str, line: int, month: int, named: str = named) -> str:
            of_category = {STRATEGY: named, CATEGORY: a1(line, 0, fixed_column=True)}
            now = a1(MONTHS_ROW, FIRST + month - 1, fixed_row=True)
            billed = f"({effective_formula(payments, {STRATEGY: named, BILLED: '1'}, month, now)})"
            own = effective_formula(payments, of_category, month, now)
            return add_surcharge(own, category, billed, payments.figures)

        sums = put_categories(sheet, row + 1, range(FIRST, FIRST + last), amounts, amount_formula)
        row += len(amounts) + 1
        total = sheet.put_series(row, "total", FIRST, sums, "total")
        cell = Formula(f"={sheet.address(row, FIRST - 1)}", sum(total.amounts))
        name = f"{strategy.name}: effective cost adds up to the total cost"
        checks.append(WorkbookCheck(name, cell, total_costs[strategy.name]))
        row += 2
    return checks


def effective_formula(payments: PaymentsSheet, criteria: Mapping[int, str], month: int, now: str) -> str:
    """Of the lines that meet the criteria: payments of the month itself, and its share of the spread ones; `now` is the
    cell with the number of the month."""
    spread = {**criteria, SPREAD_FROM: f'"<="&{now}', SPREAD_TO: f'">="&{now}'}
    as_paid = payments.sum_of(payments.month(month), {**criteria, SPREAD_TO: '""'})
    return f"{as_paid}+{payments.sum_of(payments.column(MONTHLY_SHARE), spread)}"
