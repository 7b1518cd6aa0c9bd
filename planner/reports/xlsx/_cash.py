"""The sheet Cash flow: a block for each strategy, a column a month, a row for each category and time of payment.

Amounts are sums over sheet Payments; the support plan and the tax of cloud bills are worked out here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from planner.answer import Plan, Strategy
from planner.reports._shared.again import SUPPORT, TAX, ledger_of
from planner.reports._shared.figures import month_name
from planner.reports.xlsx._assumptions import Rate
from planner.reports.xlsx._book import HEADER_ROW, Formula, Sheet, along, at, down, room_for, so_far
from planner.reports.xlsx._payments import BILLED, CATEGORY, STRATEGY, WHEN, Payments

TOTAL, FIRST = 2, 3
"""The column of totals and that of the first month."""
MONTHS = HEADER_ROW + 1
"""The row with the numbers of the months."""


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
    categories: Mapping[tuple[str, str], int]
    """The row of each category by when it is paid."""


def write(sheet: Sheet, plan: Plan, rate: Rate, payments: Payments, figures: Mapping[str, str]) -> tuple[Block, ...]:
    """Writes every strategy that can serve the demand and says where its totals are."""
    last_month = max([plan.months, *(row.month for s in plan.strategies for row in s.cash)])
    months = range(1, last_month + 1)
    total, width = room_for([s.total_cost for s in plan.strategies]), _month_width(plan)
    sheet.widths((32, 9, total, *(width for _ in months)))
    sheet.heading(f"Cash flow, {plan.currency}", "Every amount is a formula over sheet Payments. Resale is negative.")
    sheet.header(("category", "paid at", "total", *(month_name(plan, month) for month in months)))
    for column, text in enumerate(("month", "", "")):
        sheet.put(HEADER_ROW + 1, column, text)
    for month in months:
        sheet.put(HEADER_ROW + 1, FIRST + month - 1, month, "count")
    sheet.freeze(HEADER_ROW + 2, FIRST)
    row = HEADER_ROW + 3
    blocks = []
    for strategy in plan.strategies:
        sheet.put(row, 0, strategy.name, "block")
        sheet.put(row, 1, strategy.status.replace("_", " "), "block")
        for column in range(2, FIRST + last_month):
            sheet.put(row, column, None, "block")
        if strategy.status == "infeasible":
            sheet.put(row + 1, 0, "; ".join(strategy.reasons))
            row += 3
        else:
            told = categories(plan, strategy)
            block, row = _Writer(sheet, last_month, rate, payments, figures).write(strategy, told, row + 1)
            blocks.append(block)
    return tuple(blocks)


def _month_width(plan: Plan) -> float:
    """Cumulative costs are the longest amounts of a month."""
    by_month = [sorted(strategy.cash, key=lambda row: row.month) for strategy in plan.strategies]
    return max((room_for(accumulate(row.amount for row in rows)) for rows in by_month), default=room_for(()))


def categories(plan: Plan, strategy: Strategy) -> dict[str, list[str]]:
    """By time of payment the categories that a strategy may pay, as they come in its ledger; with a cloud bill the
    support plan and the tax on it, though they be nothing yet."""
    ledger = ledger_of(plan)
    found: dict[str, dict[str, None]] = {"start": {}, "end": {}}
    billed = set()
    for line in ledger.lines:
        if ledger.choices[line.choice].strategy == strategy.name:
            found[line.at][line.category] = None
            if line.is_billed:
                billed.add(line.at)
    for row in strategy.cash:
        found[row.at][row.category] = None
    return {at: list(names | (dict.fromkeys(SURCHARGES) if at in billed else {})) for at, names in found.items()}


SURCHARGES = ("cloud_support", "tax")


def surcharge(category: str, figures: Mapping[str, str]) -> str:
    """What a billed amount is multiplied by for the support plan, or for the tax on both, as formulas write it."""
    support, tax = figures.get(SUPPORT, "0"), figures.get(TAX, "0")
    return support if category == "cloud_support" else f"(1+{support})*{tax}"


def bill_factor(figures: Mapping[str, str]) -> str:
    """What a billed amount is multiplied by for both, as formulas write it."""
    return f"(1+{figures.get(SUPPORT, '0')})*(1+{figures.get(TAX, '0')})"


class _Writer:
    """Writes one block, row by row."""

    def __init__(self, sheet: Sheet, months: int, rate: Rate, payments: Payments, figures: Mapping[str, str]) -> None:
        self.sheet, self.months, self.rate = sheet, months, rate
        self.payments, self.figures = payments, figures
        self.last = FIRST + months - 1

    def write(self, strategy: Strategy, categories: Mapping[str, Sequence[str]], row: int) -> tuple[Block, int]:
        """The block and the row where the next may begin; the strategy's name stands in the row above."""
        named = at(row - 1, 0, True, True)
        start = self._payments(strategy, named, "start", categories["start"], row)
        end = self._payments(strategy, named, "end", categories["end"], start.row + 1)
        rows = {(name, "start"): row + index for index, name in enumerate(categories["start"])}
        rows |= {(name, "end"): start.row + 1 + index for index, name in enumerate(categories["end"])}
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
            rows,
        )
        return block, discounted.row + 2

    def _columns(self) -> range:
        return range(FIRST, self.last + 1)

    def _payments(self, strategy: Strategy, named: str, when: str, categories: Sequence[str], row: int) -> Line:
        """One row for each category paid then, and their sum below; the name of the strategy stands at `named`."""
        amounts: dict[str, list[float]] = {category: [0.0] * self.months for category in categories}
        for cash in strategy.cash:
            if cash.at == when:
                amounts[cash.category][cash.month - 1] += cash.amount
        for index, (category, by_month) in enumerate(amounts.items()):
            self.sheet.put(row + index, 0, category.replace("_", " "))
            self.sheet.put(row + index, 1, when)
            sum_of_row = Formula(f"=SUM({along(row + index, FIRST, self.last)})", sum(by_month))
            self.sheet.put(row + index, TOTAL, sum_of_row, "money")
            for month, amount in enumerate(by_month, start=1):
                text = self._amount(category, row + index, named, month)
                self.sheet.put(row + index, FIRST + month - 1, Formula(text, amount), "money")
        end = row + len(amounts)
        sums = [sum(by_month[m] for by_month in amounts.values()) for m in range(self.months)]
        formulas = [f"=SUM({down(c, row, end - 1)})" if amounts else "=0" for c in self._columns()]
        return self._line(end, f"paid at the {when} of the month", formulas, sums)

    def _amount(self, category: str, row: int, named: str, month: int) -> str:
        """The payments of a category in a month. What comes on top of cloud bills is a share of all that is billed."""
        paid, moment = self.payments.month(month), {STRATEGY: named, WHEN: at(row, 1, fixed_column=True)}
        own = self.payments.sum_of(paid, {**moment, CATEGORY: at(row, 0, fixed_column=True)})
        if category not in SURCHARGES:
            return f"={own}"
        share = surcharge(category, self.figures)
        return f"={own}+{share}*{self.payments.sum_of(paid, {**moment, BILLED: '1'})}"

    def _cumulative(self, total: Line) -> Line:
        """The running sum of the totals; it has no total of its own."""
        row, values = total.row + 1, tuple(accumulate(total.amounts))
        self.sheet.put(row, 0, "cumulative")
        for column, value in zip(self._columns(), values, strict=True):
            self.sheet.put(row, column, Formula(f"=SUM({so_far(total.row, FIRST, column)})", value), "money")
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
