"""The sheet Cash flow: a block for each strategy, a column a month, a row for each category and time of payment."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate

from planner.answer import Plan, Strategy
from planner.reports._shared.figures import month_name
from planner.reports.xlsx._assumptions import Rate
from planner.reports.xlsx._book import HEADER_ROW, Formula, Sheet, along, at, down, pages_for, room_for

TOTAL, FIRST = 2, 3
"""The column of totals and that of the first month."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the block that was written: where it stands and what it amounts to in each month."""

    row: int
    amounts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Where a strategy's totals stand in other sheets' formulas, and their values; `start` and `end` are what it pays
    at the start and at the end of each month."""

    strategy: Strategy
    total_cost: Formula
    present_cost: Formula
    cumulative_row: int
    last_column: int
    start: Line
    end: Line


def write(sheet: Sheet, plan: Plan, rate: Rate) -> tuple[Block, ...]:
    """Writes every strategy that can serve the demand and says where its totals are."""
    last_month = max([plan.months, *(row.month for s in plan.strategies for row in s.cash)])
    months = range(1, last_month + 1)
    total, width = room_for([s.total_cost for s in plan.strategies]), _month_width(plan)
    sheet.widths((32, 9, total, *(width for _ in months)))
    sheet.pages_wide(pages_for(last_month, width))
    note = (
        "Amounts by month are the planner's; totals, cumulative and discounted costs are formulas. Resale is negative."
    )
    sheet.heading(f"Cash flow, {plan.currency}", note)
    sheet.header(("category", "paid at", "total", *(month_name(plan, month) for month in months)))
    for column, text in enumerate(("month", "", "")):
        sheet.put(HEADER_ROW + 1, column, text)
    for month in months:
        sheet.put(HEADER_ROW + 1, FIRST + month - 1, month, "count")
    sheet.freeze(HEADER_ROW + 2, FIRST)
    row = HEADER_ROW + 3
    blocks = []
    for strategy in plan.strategies:
        sheet.put(row, 0, f"{strategy.name}: {strategy.status}", "block")
        for column in range(1, FIRST + last_month):
            sheet.put(row, column, None, "block")
        if strategy.status == "infeasible":
            sheet.put(row + 1, 0, "; ".join(strategy.reasons))
            row += 3
        else:
            block, row = _Writer(sheet, last_month, rate).write(strategy, row + 1)
            blocks.append(block)
    return tuple(blocks)


def _month_width(plan: Plan) -> float:
    """Cumulative costs are the longest amounts of a month."""
    by_month = [sorted(strategy.cash, key=lambda row: row.month) for strategy in plan.strategies]
    return max((room_for(accumulate(row.amount for row in rows)) for rows in by_month), default=room_for(()))


class _Writer:
    """Writes one block, row by row."""

    def __init__(self, sheet: Sheet, months: int, rate: Rate) -> None:
        self.sheet, self.months, self.rate = sheet, months, rate
        self.last = FIRST + months - 1

    def write(self, strategy: Strategy, row: int) -> tuple[Block, int]:
        """The block and the row where the next may begin."""
        start = self._payments(strategy, "start", row)
        end = self._payments(strategy, "end", start.row + 1)
        both = [a + b for a, b in zip(start.amounts, end.amounts, strict=True)]
        formulas = [f"={at(start.row, c)}+{at(end.row, c)}" for c in self._columns()]
        total = self._line(end.row + 1, "total", formulas, both, "total")
        cumulative = self._cumulative(total)
        discounted = self._discounted(start, end, cumulative.row + 1)
        block = Block(
            strategy,
            Formula(f"={self.sheet.address(total.row, TOTAL)}", sum(total.amounts)),
            Formula(f"={self.sheet.address(discounted.row, TOTAL)}", sum(discounted.amounts)),
            cumulative.row,
            self.last,
            start,
            end,
        )
        return block, discounted.row + 2

    def _columns(self) -> range:
        return range(FIRST, self.last + 1)

    def _payments(self, strategy: Strategy, when: str, row: int) -> Line:
        """One row for each category paid then, and their sum below."""
        amounts: dict[str, list[float]] = defaultdict(lambda: [0.0] * self.months)
        for cash in strategy.cash:
            if cash.at == when:
                amounts[cash.category][cash.month - 1] += cash.amount
        for index, (category, by_month) in enumerate(amounts.items()):
            self.sheet.put(row + index, 0, category.replace("_", " "))
            self.sheet.put(row + index, 1, when)
            sum_of_row = Formula(f"=SUM({along(row + index, FIRST, self.last)})", sum(by_month))
            self.sheet.put(row + index, TOTAL, sum_of_row, "money")
            for column, amount in zip(self._columns(), by_month, strict=True):
                self.sheet.put(row + index, column, amount, "money")
        end = row + len(amounts)
        sums = [sum(by_month[m] for by_month in amounts.values()) for m in range(self.months)]
        formulas = [f"=SUM({down(c, row, end - 1)})" if amounts else "=0" for c in self._columns()]
        return self._line(end, f"paid at the {when} of the month", formulas, sums)

    def _cumulative(self, total: Line) -> Line:
        """The running sum of the totals; it has no total of its own."""
        row, values = total.row + 1, tuple(accumulate(total.amounts))
        self.sheet.put(row, 0, "cumulative")
        for column, value in zip(self._columns(), values, strict=True):
            before = "" if column == FIRST else f"{at(row, column - 1)}+"
            self.sheet.put(row, column, Formula(f"={before}{at(total.row, column)}", value), "money")
        return Line(row, values)

    def _discounted(self, start: Line, end: Line, row: int) -> Line:
        month = [f"{at(HEADER_ROW + 1, c)}" for c in self._columns()]
        formulas = [
            f"={at(start.row, c)}/(1+{self.rate.monthly})^({m}-1)+{at(end.row, c)}/(1+{self.rate.monthly})^{m}"
            for c, m in zip(self._columns(), month, strict=True)
        ]
        factor = 1 + self.rate.monthly_value
        values = [
            a / factor ** (m - 1) + b / factor**m
            for m, (a, b) in enumerate(zip(start.amounts, end.amounts, strict=True), 1)
        ]
        return self._line(row, "discounted (present cost)", formulas, values)

    def _line(self, row: int, label: str, formulas: list[str], values: list[float], style: str = "money") -> Line:
        """A row of formulas with their values, and their sum in the column of totals."""
        words = "total_text" if style == "total" else "text"
        self.sheet.put(row, 0, label, words)
        self.sheet.put(row, 1, None, words)
        self.sheet.put(row, TOTAL, Formula(f"=SUM({along(row, FIRST, self.last)})", sum(values)), style)
        for column, formula, value in zip(self._columns(), formulas, values, strict=True):
            self.sheet.put(row, column, Formula(formula, value), style)
        return Line(row, tuple(values))
