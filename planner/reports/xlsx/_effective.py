"""The sheet Effective cost: what each month bears, a block for each strategy, with totals to set against its cash.

Formulas over sheet Payments: what is paid in a month and belongs to it, and each month's part of what is borne evenly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from planner.answer import Plan
from planner.reports._shared.figures import month_name
from planner.reports.xlsx._book import HEADER_ROW, Book, Formula, Sheet, along, at, down, room_for
from planner.reports.xlsx._cash import SURCHARGES, categories, surcharge
from planner.reports.xlsx._payments import BILLED, BORNE, BORNE_FROM, BORNE_TO, CATEGORY, STRATEGY, Payments

TOTAL, FIRST = 1, 2
MONTHS = HEADER_ROW + 1
"""The row with the numbers of the months."""
NOTE = (
    "What is committed to or owned stands evenly in the months it serves, with what is owed after the plan; the rest "
    "as paid. Totals are formulas and are those of sheet Cash flow."
)


@dataclass(frozen=True, slots=True)
class Borne:
    """Where the total of a strategy's effective cost stands."""

    strategy: str
    total: Formula


def write(book: Book, plan: Plan, payments: Payments, figures: Mapping[str, str]) -> tuple[Borne, ...]:
    """Writes the sheet; none where the plan does not tell effective costs."""
    rows = plan.views.effective
    if not rows:
        return ()
    last = max([plan.months, *(row.month for row in rows)])
    sheet = book.sheet("Effective cost")
    width = room_for(row.amount for row in rows)
    sheet.widths((32, room_for(s.total_cost for s in plan.strategies), *(width for _ in range(last))))
    sheet.heading(f"Effective cost, {plan.currency}", NOTE)
    sheet.header(("category", "total", *(month_name(plan, month) for month in range(1, last + 1))))
    sheet.put(MONTHS, 0, "month")
    for month in range(1, last + 1):
        sheet.put(MONTHS, FIRST + month - 1, month, "count")
    sheet.freeze(MONTHS + 1, FIRST)
    writer, row, found = _Writer(sheet, payments, figures), MONTHS + 2, []
    for strategy in plan.strategies:
        amounts: dict[str, list[float]] = defaultdict(lambda: [0.0] * last)
        for cost in rows:
            if cost.strategy == strategy.name:
                amounts[cost.category][cost.month - 1] += cost.amount
        if amounts:
            for category in dict.fromkeys(name for names in categories(plan, strategy).values() for name in names):
                amounts[category]  # one that costs nothing yet has a row too: its figures may change
            total, row = writer.block(strategy.name, amounts, row)
            found.append(Borne(strategy.name, total))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes one block after the other."""

    sheet: Sheet
    payments: Payments
    figures: Mapping[str, str]

    def block(self, name: str, amounts: Mapping[str, list[float]], row: int) -> tuple[Formula, int]:
        """A row for each category and their sum; where the grand total stands, and the row where the next may begin."""
        sheet, months = self.sheet, len(next(iter(amounts.values())))
        last = FIRST + months - 1
        sheet.put(row, 0, name, "block")
        for column in range(1, last + 1):
            sheet.put(row, column, None, "block")
        first = row + 1
        for line, (category, by_month) in enumerate(amounts.items(), start=first):
            sheet.put(line, 0, category.replace("_", " "))
            sheet.put(line, TOTAL, Formula(f"=SUM({along(line, FIRST, last)})", sum(by_month)), "money")
            for month, amount in enumerate(by_month, start=1):
                text = self._amount(category, at(row, 0, True, True), line, month)
                sheet.put(line, FIRST + month - 1, Formula(f"={text}", amount), "money")
        end = first + len(amounts)
        sheet.put(end, 0, "total", "total_text")
        sums = [sum(by_month[month] for by_month in amounts.values()) for month in range(months)]
        for column, value in enumerate(sums, start=FIRST):
            sheet.put(end, column, Formula(f"=SUM({down(column, first, end - 1)})", value), "total")
        sheet.put(end, TOTAL, Formula(f"=SUM({along(end, FIRST, last)})", sum(sums)), "total")
        return Formula(f"={sheet.address(end, TOTAL)}", sum(sums)), end + 2

    def _amount(self, category: str, named: str, row: int, month: int) -> str:
        """What a month bears of a category; what comes on top of cloud bills is a share of all that is billed."""
        own = self._borne({STRATEGY: named, CATEGORY: at(row, 0, fixed_column=True)}, month)
        if category not in SURCHARGES:
            return own
        return f"{own}+{surcharge(category, self.figures)}*({self._borne({STRATEGY: named, BILLED: '1'}, month)})"

    def _borne(self, criteria: Mapping[int, str], month: int) -> str:
        """Of the lines that meet the criteria: what is borne as paid, and the month's part of the others."""
        now = at(MONTHS, FIRST + month - 1, fixed_row=True)
        spread = {**criteria, BORNE_FROM: f'"<="&{now}', BORNE_TO: f'">="&{now}'}
        as_paid = self.payments.sum_of(self.payments.month(month), {**criteria, BORNE_TO: '""'})
        return f"{as_paid}+{self.payments.sum_of(self.payments.column(BORNE), spread)}"
