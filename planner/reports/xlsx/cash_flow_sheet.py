"""The sheet Cash flow: a block for each strategy, a column a month, a row for each category and time of payment.

Amounts are sums over sheet Payments; the support plan and the tax of cloud bills are worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

from planner.reports._content.charges import SURCHARGES
from planner.reports._content.number_format import in_words, month_name
from planner.reports._content.repricing import first_month, last_month, ledger_of
from planner.reports.xlsx.assumptions_sheet import DiscountRateCells
from planner.reports.xlsx.payments_sheet import BILLED, CATEGORY, STRATEGY, WHEN, PaymentsSheet
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    MONTHS_ROW,
    Formula,
    MonthlyRow,
    WorkbookSheet,
    a1,
    column_range,
    fitting_width,
)
from planner.result import Plan, Strategy
from planner.result.ledger_costs import SUPPORT, TAX
from pricing.frozen_values import dataclass

FIRST = 3
"""The column of the first month; that of the totals is before it."""


@dataclass(frozen=True, slots=True)
class CashFlowBlock:
    """A strategy's totals for the formulas of other sheets, and its rows; `start` and `end` are its payments at the
    start and at the end of each month."""

    strategy: Strategy
    months: range
    total_cost: Formula
    present_cost: Formula
    cumulative_row: int
    last_column: int
    start: MonthlyRow
    end: MonthlyRow
    categories: Mapping[tuple[str, str], int]
    """The row of each category by when it is paid."""


def write(
    sheet: WorkbookSheet, plan: Plan, rate: DiscountRateCells, payments: PaymentsSheet
) -> tuple[CashFlowBlock, ...]:
    """Writes every strategy that can serve the demand; the cells of its totals."""
    months = range(first_month(plan), last_month(plan) + 1)
    total, width = fitting_width([s.total_cost for s in plan.strategies]), _month_width(plan)
    sheet.widths((32, 9, total, *(width for _ in months)))
    sheet.heading(f"Cash flow, {plan.currency}", "Every amount is a formula over sheet Payments. Resale is negative.")
    sheet.timeline(
        ("category", "paid at", "total"), [month_name(plan, month) for month in months], first_month=months[0]
    )
    row = HEADER_ROW + 3
    blocks = []
    for strategy in plan.strategies:
        sheet.put_block_title(row, strategy.name, FIRST + len(months))
        sheet.put(row, 1, in_words(strategy.status), "block")
        if strategy.status == "infeasible":
            sheet.put(row + 1, 0, "; ".join(map(str, strategy.reasons)))
            row += 3
        else:
            block = _put_block(sheet, plan, strategy, row, months, rate, payments)
            blocks.append(block)
            row = block.cumulative_row + 3
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


def add_surcharge(own: str, category: str, billed: str, figures: Mapping[str, str]) -> str:
    """The formula of a category's amount: its own payments, and for the support plan and the tax on both a share of all
    `billed` amounts."""
    support, tax = figures.get(SUPPORT, "0"), figures.get(TAX, "0")
    shares = dict(zip(SURCHARGES, (support, f"(1+{support})*{tax}"), strict=True))
    return f"={own}+{shares[category]}*{billed}" if category in shares else f"={own}"


def bill_factor_formula(figures: Mapping[str, str]) -> str:
    """The factor on a billed amount for both, as a formula."""
    return f"(1+{figures.get(SUPPORT, '0')})*(1+{figures.get(TAX, '0')})"


def put_categories(
    sheet: WorkbookSheet,
    row: int,
    columns: range,
    amounts: Mapping[str, Sequence[float]],
    write_formula: Callable[[str, int, int], str],
    first_month: int = 1,
) -> list[Formula]:
    """A row for each category from `row` on, of formulas that `write_formula` makes of category, row and month, the
    first column being `first_month`; the sum of all of them in each month."""
    for line, (category, by_month) in enumerate(amounts.items(), start=row):
        numbered = enumerate(by_month, start=first_month)
        cells = [Formula(write_formula(category, line, month), each) for month, each in numbered]
        sheet.put_series(line, in_words(category), columns[0], cells)
    end = row + len(amounts)
    sums = [sum(by_month[index] for by_month in amounts.values()) for index in range(len(columns))]
    return [
        Formula(f"=SUM({column_range(column, row, end - 1)})" if amounts else "=0", each)
        for column, each in zip(columns, sums, strict=True)
    ]


def _put_block(
    sheet: WorkbookSheet,
    plan: Plan,
    strategy: Strategy,
    title_row: int,
    months: range,
    rate: DiscountRateCells,
    payments: PaymentsSheet,
) -> CashFlowBlock:
    """The block of a strategy below its name in `title_row`."""
    columns = range(FIRST, FIRST + len(months))
    named = a1(title_row, 0, True, True)

    def amount_formula(category: str, line: int, month: int) -> str:
        values, moment = payments.month(month), {STRATEGY: named, WHEN: a1(line, 1, fixed_column=True)}
        own = payments.sum_of(values, {**moment, CATEGORY: a1(line, 0, fixed_column=True)})
        return add_surcharge(own, category, payments.sum_of(values, {**moment, BILLED: "1"}), payments.figures)

    row, paid = title_row + 1, []
    rows: dict[tuple[str, str], int] = {}
    for when, categories in payable_categories(plan, strategy).items():
        rows |= {(name, when): row + index for index, name in enumerate(categories)}
        amounts = {category: [0.0] * len(months) for category in categories}
        for cash in strategy.cash:
            if cash.at == when:
                amounts[cash.category][cash.month - months[0]] += cash.amount
        sums = put_categories(sheet, row, columns, amounts, amount_formula, months[0])
        for line in range(row, row + len(categories)):
            sheet.put(line, 1, when)
        row += len(categories) + 1
        paid.append(sheet.put_series(row - 1, f"paid at the {when} of the month", FIRST, sums))
    start, end = paid
    pairs = [*zip(columns, start.amounts, end.amounts, strict=True)]
    both = [Formula(f"={a1(start.row, c)}+{a1(end.row, c)}", a + b) for c, a, b in pairs]
    total = sheet.put_series(row, "total", FIRST, both, "total")
    sheet.put_running_sums(row + 1, "cumulative", row, FIRST, total.amounts)
    discounted = sheet.put_series(
        row + 2, "discounted (present cost)", FIRST, _discounted_formulas(start, end, rate, months)
    )
    for each, style in ((start, "text"), (end, "text"), (total, "total_text"), (discounted, "text")):
        sheet.put(each.row, 1, None, style)
    total_cost, present_cost = (
        Formula(f"={sheet.address(each.row, FIRST - 1)}", sum(each.amounts)) for each in (total, discounted)
    )
    return CashFlowBlock(strategy, months, total_cost, present_cost, row + 1, columns[-1], start, end, rows)


def _discounted_formulas(
    start: MonthlyRow, end: MonthlyRow, rate: DiscountRateCells, months: range
) -> Iterator[Formula]:
    factor, growth = f"(1+{rate.monthly})", 1 + rate.monthly_value
    for column, (month, *amounts) in enumerate(zip(months, start.amounts, end.amounts, strict=True), start=FIRST):
        at_start, at_end, number = (a1(row, column) for row in (start.row, end.row, MONTHS_ROW))
        value = amounts[0] / growth ** (month - 1) + amounts[1] / growth**month
        yield Formula(f"={at_start}/{factor}^({number}-1)+{at_end}/{factor}^{number}", value)
