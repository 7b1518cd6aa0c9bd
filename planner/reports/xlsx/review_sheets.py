"""The other sheets to print for a review: Cash, Orders, and Risks and sources, a page each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from planner.reports._content.evidence import price_age_text
from planner.reports._content.first_screen import doubt_sentences, list_orders, risk_sentences
from planner.reports._content.number_format import fiscal_start, in_words, month_name
from planner.reports.xlsx.cash_flow_sheet import FIRST as FIRST_OF_CASH
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    Formula,
    PlanWorkbook,
    WorkbookSheet,
    a1,
    column_range,
    fitting_width,
    row_range,
)
from planner.request.calendar import name_fiscal_year, name_quarter
from planner.result import Plan

ORDERS_MAX, SOURCES_MAX, QUARTERS_MAX = 40, 25, 14
"""Rows of a page."""
REVIEW_SHEETS = ("Summary", "Cash", "Cost centres", "Orders", "Risks and sources")
"""The sheets to print; the others are an annex."""


def write(book: PlanWorkbook, plan: Plan, blocks: tuple[CashFlowBlock, ...]) -> None:
    """Writes the three sheets; cash and orders only of a recommended strategy."""
    block = next((each for each in blocks if each.strategy.name == plan.recommendation.strategy), None)
    if block is not None:
        _put_cash(book.sheet("Cash"), plan, block, [each for each in blocks if each is not block])
        _put_orders(book.sheet("Orders"), plan, block)
    _put_risks(book.sheet("Risks and sources"), plan, block)


def _put_cash(sheet: WorkbookSheet, plan: Plan, block: CashFlowBlock, others: list[CashFlowBlock]) -> None:
    """A row for each month: the categories of the recommended strategy, their total, and those of the others."""
    categories = list(dict.fromkeys(name for name, _ in block.categories))
    heads = (
        "month",
        *map(in_words, categories),
        f"total {block.strategy.name}",
        *(other.strategy.name for other in others),
    )
    width = fitting_width(each.strategy.total_cost for each in (block, *others))
    sheet.widths((14, *(width for _ in heads[1:])))
    sheet.pages(1, 1)
    note = "Live, with unchanged choices. Payments of the recommended strategy by category; then totals of the others."
    sheet.heading(f"Cash by month, strategy {block.strategy.name}, {plan.currency}", note)
    sheet.header(heads)
    paid: dict[int, list[float]] = {}
    """The amounts of each month by its row."""
    for row, month in enumerate(block.months, start=HEADER_ROW + 1):
        column = FIRST_OF_CASH + month - block.months[0]
        cells = []
        for category in categories:
            lines = [line for (name, _), line in block.categories.items() if name == category]
            text = "+".join(f"'Cash flow'!{a1(line, column, True, True)}" for line in lines)
            cells.append(Formula(f"={text}", _sum_payments(block, month, category)))
        total = math.fsum(float(cell.value) for cell in cells)
        cells.append(Formula(f"=SUM({row_range(row, 1, len(categories))})", total))
        for other in others:
            text = f"='Cash flow'!{a1(other.cumulative_row - 1, column, True, True)}"
            cells.append(Formula(text, _sum_payments(other, month)))
        paid[row] = [float(cell.value) for cell in cells]
        sheet.put(row, 0, month_name(plan, month))
        sheet.put_row(row, cells, ["money"] * len(cells), 1)
    last = HEADER_ROW + len(block.months)
    sheet.put(last + 1, 0, "total", "total_text")
    for column, amount in enumerate(map(math.fsum, zip(*paid.values(), strict=True)), start=1):
        sheet.put(last + 1, column, Formula(f"=SUM({column_range(column, HEADER_ROW + 1, last)})", amount), "total")
    last = _put_fiscal_periods(sheet, plan, dict(zip(block.months, paid.items(), strict=True)), last + 3)
    sheet.print_area(last, len(heads) - 1)


def _put_fiscal_periods(
    sheet: WorkbookSheet, plan: Plan, months: Mapping[int, tuple[int, Sequence[float]]], row: int
) -> int:
    """The quarters and years of the fiscal year from `row` on, as sums of the months above (by month: row and
    amounts): years alone where quarters are too many for a page; the last row written."""
    columns = len(next(iter(months.values()))[1])
    sheet.put_block_title(row, f"fiscal years from {fiscal_start(plan)}", columns + 1)
    for name_period in (name_quarter, name_fiscal_year):
        periods: dict[str, list[tuple[int, Sequence[float]]]] = {}
        for month, line in months.items():
            periods.setdefault(name_period(plan.start, month, plan.fiscal_year_starts), []).append(line)
        if name_period is name_quarter and len(periods) > QUARTERS_MAX:
            continue
        for name, lines in periods.items():
            row += 1
            sheet.put(row, 0, name)
            for column, amounts in enumerate(zip(*(its for _, its in lines), strict=True), start=1):
                months_above = column_range(column, lines[0][0], lines[-1][0])
                sheet.put(row, column, Formula(f"=SUM({months_above})", math.fsum(amounts)), "money")
    return row


def _sum_payments(block: CashFlowBlock, month: int, category: str = "") -> float:
    rows = block.strategy.cash
    return math.fsum(row.amount for row in rows if row.month == month and category in ("", row.category))


def _put_orders(sheet: WorkbookSheet, plan: Plan, block: CashFlowBlock) -> None:
    """Orders, commitments and quotas to request of the recommended strategy, in order of time."""
    money = plan.currency
    columns = (
        ("by", 10, "text"), ("order", 62, "wrap"), ("where", 26, "wrap"), ("usable from", 12, "text"),
        ("usable to", 12, "text"), (f"upfront, {money}", 18, "money"), (f"per month, {money}", 18, "money"),
    )  # fmt: skip
    orders = list_orders(plan, block.strategy)
    rows = [
        (month_name(plan, o.month), o.title, o.where, o.usable_from, o.usable_to, o.upfront, o.per_month)
        for o in orders[:ORDERS_MAX]
    ]
    note = "As planned; whole machines. All else is rented by the hour, without an order."
    sheet.pages(1, 1)
    end = sheet.list("Orders", note, columns, rows)
    left = len(orders) - len(rows)
    if not rows or left > 0:
        sheet.put(end, 1, f"{left} more in sheet Purchases" if left > 0 else "nothing to order", "wrap")
    sheet.print_area(end, len(columns) - 1)


def _put_risks(sheet: WorkbookSheet, plan: Plan, block: CashFlowBlock | None) -> None:
    """Risks, doubts, and the sources of the prices that are compared."""
    sheet.widths((10, 60, 16, 14, 50))
    sheet.pages(1, 1)
    sheet.heading("Risks and sources", "As planned. Sheets Gaps, Sources and Sensitivity have all of it.")
    sheet.freeze(HEADER_ROW)
    row = HEADER_ROW
    lists = [("In doubt", doubt_sentences(plan))]
    if block is not None:
        lists.insert(0, ("Risks, the largest first", risk_sentences(plan, block.strategy)))
    for title, sentences in lists:
        sheet.put_block_title(row, title, 5)
        for number, text in enumerate(sentences, start=1):
            row += 1
            sheet.put(row, 0, number, "count")
            sheet.put_across(row, 5, text, "wrap", first=1)
        row += 2
    sheet.header(("prices", "source", "newest", "oldest", "how"), row, stays=False)
    for source, count in Counter(price.source_id for price in plan.prices).most_common(SOURCES_MAX):
        row += 1
        its = [price for price in plan.prices if price.source_id == source]
        dates, methods = [price.as_of for price in its], dict.fromkeys(price.method for price in its if price.method)
        cells = (count, f"{source}: {its[0].source}", max(dates), min(dates), ", ".join(methods))
        sheet.put_row(row, cells, ("count", "wrap", "date", "date", "wrap"))
    row += 1
    sheet.put_across(row, 5, f"Oldest price used: {price_age_text(plan)}.", "wrap", first=1)
    changed = ", ".join(f"{each.name} {each.value:g}" for each in plan.assumptions if each.overridden)
    sheet.put_across(row + 1, 5, f"Assumptions of the request: {changed or 'none, all are defaults'}.", "wrap", first=1)
    sheet.print_area(row + 1, 4)
