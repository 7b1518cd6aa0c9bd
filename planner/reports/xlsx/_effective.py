"""The sheet Effective cost: what each month bears, a block for each strategy, with totals to set against its cash."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from planner.answer import Plan
from planner.reports._shared.figures import month_name
from planner.reports.xlsx._book import HEADER_ROW, Book, Formula, Sheet, along, down, pages_for, room_for

TOTAL, FIRST = 1, 2
NOTE = (
    "What is committed to or owned stands evenly in the months it serves, with what is owed after the plan; the rest "
    "as paid. Totals are formulas and are those of sheet Cash flow."
)


@dataclass(frozen=True, slots=True)
class Borne:
    """Where the total of a strategy's effective cost stands."""

    strategy: str
    total: Formula


def write(book: Book, plan: Plan) -> tuple[Borne, ...]:
    """Writes the sheet; none where the plan does not tell effective costs."""
    rows = plan.views.effective
    if not rows:
        return ()
    last = max([plan.months, *(row.month for row in rows)])
    sheet = book.sheet("Effective cost")
    width = room_for(row.amount for row in rows)
    sheet.widths((32, room_for(s.total_cost for s in plan.strategies), *(width for _ in range(last))))
    sheet.pages_wide(pages_for(last, width))
    sheet.heading(f"Effective cost, {plan.currency}", NOTE)
    sheet.header(("category", "total", *(month_name(plan, month) for month in range(1, last + 1))))
    sheet.freeze(HEADER_ROW + 1, FIRST)
    row, found = HEADER_ROW + 2, []
    for strategy in plan.strategies:
        amounts: dict[str, list[float]] = defaultdict(lambda: [0.0] * last)
        for cost in rows:
            if cost.strategy == strategy.name:
                amounts[cost.category][cost.month - 1] += cost.amount
        if amounts:
            total, row = _block(sheet, strategy.name, amounts, row)
            found.append(Borne(strategy.name, total))
    return tuple(found)


def _block(sheet: Sheet, name: str, amounts: dict[str, list[float]], row: int) -> tuple[Formula, int]:
    """A row for each category and their sum; where the grand total stands, and the row where the next may begin."""
    months = len(next(iter(amounts.values())))
    last = FIRST + months - 1
    sheet.put(row, 0, name, "block")
    for column in range(1, last + 1):
        sheet.put(row, column, None, "block")
    first = row + 1
    for line, (category, by_month) in enumerate(amounts.items(), start=first):
        sheet.put(line, 0, category.replace("_", " "))
        sheet.put(line, TOTAL, Formula(f"=SUM({along(line, FIRST, last)})", sum(by_month)), "money")
        for column, amount in enumerate(by_month, start=FIRST):
            sheet.put(line, column, amount, "money")
    end = first + len(amounts)
    sheet.put(end, 0, "total", "total_text")
    sums = [sum(by_month[month] for by_month in amounts.values()) for month in range(months)]
    for column, value in enumerate(sums, start=FIRST):
        sheet.put(end, column, Formula(f"=SUM({down(column, first, end - 1)})", value), "total")
    sheet.put(end, TOTAL, Formula(f"=SUM({along(end, FIRST, last)})", sum(sums)), "total")
    return Formula(f"={sheet.address(end, TOTAL)}", sum(sums)), end + 2
