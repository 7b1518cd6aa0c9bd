"""The sheet Changes: what is not as it was at the last review; there is none where no plan was compared.

Then is as the last review had it. What this plan costs now is read from the sheet Cash flow; differences, and what the
causes come to, are formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.answer import Plan
from planner.answer.changes import TOPICS, Causes, Change, Changes, Value
from planner.reports.xlsx._book import HEADER_ROW, Book, Cell, Formula, Sheet, at, down
from planner.reports.xlsx._cash import FIRST, Block

WIDTHS = (17, 46, 18, 18, 18, 20, 17, 17, 62)
TOPIC, WHAT, THEN, NOW, DIFFERENCE, UNIT, TOTAL, PRESENT, WHY = range(9)
SMALL = 0.001
"""Figures below this are shown with six decimals."""
MONEY = frozenset({"cost", "month"})
NOTE = (
    "Then: the last review; now: this plan, its costs and payments as sheet Cash flow has them. Differences are "
    "formulas, empty where units or currencies are unlike."
)


def write(book: Book, plan: Plan, cash: Sheet, blocks: Sequence[Block]) -> None:
    """Writes the sheet, if the plan was compared with another; `blocks` stand on the sheet `cash`."""
    found = plan.changes
    if found is None:
        return
    sheet = book.sheet("Changes")
    sheet.widths(WIDTHS)
    sheet.heading("Changes since the last review", NOTE)
    money = plan.currency
    sheet.header(
        ("about", "what", "then", "now", "difference", "unit", f"adds to total cost, {money}",
         f"adds to present cost, {money}", "why")
    )  # fmt: skip
    live = _live(plan, cash, blocks)
    row, costs = _topics(sheet, found, ("cost", "recommendation"), live, _compared(sheet, found, HEADER_ROW + 1))
    if found.causes:
        row = _causes(sheet, found.causes, costs, like=found.currency == money, row=row)
    others = [topic for topic in TOPICS if topic not in ("cost", "recommendation")]
    row, _ = _topics(sheet, found, others, live, row)
    sheet.print_area(row - 1, WHY)


def _live(plan: Plan, cash: Sheet, blocks: Sequence[Block]) -> dict[str, Formula]:
    """By subject the cells of sheet Cash flow that say what it is now: costs, and payments of the recommended one."""
    found: dict[str, Formula] = {}
    for block in blocks:
        name = block.strategy.name
        found[f"{name}: total cost"] = block.total_cost
        found[f"{name}: present cost"] = block.present_cost
        if name == plan.recommendation.strategy:
            amounts = zip(block.start.amounts, block.end.amounts, strict=True)
            for column, (month, paid) in enumerate(zip(plan.month_names, amounts, strict=False), start=FIRST):
                parts = "+".join(cash.address(line.row, column) for line in (block.start, block.end))
                found[month] = Formula(f"={parts}", sum(paid))
    return found


def _compared(sheet: Sheet, found: Changes, row: int) -> int:
    """Which plan it is compared with, and how unlike ones were set side by side."""
    months = f"{found.month_names[0]}..{found.month_names[-1]}" if found.month_names else "no months"
    told = f"The last review: plan {found.plan_id} of {found.as_of}, {months}, in {found.currency}."
    for text in (told, *found.notes):
        sheet.across(row, len(WIDTHS), f"{text[:1].upper()}{text[1:].removesuffix('.')}.", "wrap")
        row += 1
    return row


def _topics(
    sheet: Sheet, found: Changes, topics: Sequence[str], live: Mapping[str, Formula], row: int
) -> tuple[int, dict[str, int]]:
    """A block for each topic that has changes: the row after them, and where each subject stands."""
    rows: dict[str, int] = {}
    for topic, title in TOPICS.items():
        changes = found.of(topic) if topic in topics else ()
        if changes:
            row = _title(sheet, title, row)
        for change in changes:
            rows[change.subject] = row
            _line(sheet, row, change, live.get(change.subject) if change.topic in MONEY else None)
            row += 1
    return row, rows


def _title(sheet: Sheet, title: str, row: int) -> int:
    for column in range(len(WIDTHS)):
        sheet.put(row, column, title if column == 0 else None, "block")
    return row + 1


def _line(sheet: Sheet, row: int, change: Change, now: Formula | None) -> None:
    style = "money" if change.topic in MONEY else ""
    sheet.put(row, TOPIC, change.topic, "wrap")
    sheet.put(row, WHAT, change.subject, "wrap")
    _figures(sheet, row, change.then, change.now, style, is_like=change.difference is not None)
    if now is not None and change.now is not None:
        sheet.put(row, NOW, now, style)
    sheet.put(row, UNIT, change.unit, "wrap")
    sheet.put(row, WHY, change.why, "wrap")


def _figures(sheet: Sheet, row: int, then: Value, now: Value, style: str, *, is_like: bool) -> None:
    """Then, now and, of figures in one unit, now - then; without a style as many decimals as they need."""
    style = style or _decimals(then, now)
    for column, value in ((THEN, then), (NOW, now)):
        sheet.put(row, column, value, "right" if isinstance(value, str) else style)
    difference: Cell = None
    if is_like and not isinstance(then, str | None) and not isinstance(now, str | None):
        difference = Formula(f"={at(row, NOW)}-{at(row, THEN)}", now - then)
    sheet.put(row, DIFFERENCE, difference, style)


def _decimals(*values: Value) -> str:
    figures = [abs(value) for value in values if isinstance(value, float | int) and value]
    if all(float(figure).is_integer() for figure in figures):
        return "count"
    return "rate" if min(figures) < SMALL else "figure"


def _causes(sheet: Sheet, causes: Causes, costs: dict[str, int], *, like: bool, row: int) -> int:
    """From the cost then, change by change, to the cost now; what is left over must be nothing."""
    old, new = causes.strategies
    row = _title(sheet, "why the recommended strategy costs more or less than it did: the changes add up", row)
    start = row
    sheet.put(start, WHAT, f"{old}: cost then", "wrap")
    for column, cost, amount in zip((TOTAL, PRESENT), ("total", "present"), causes.restated, strict=True):
        there = costs.get(f"{old}: {cost} cost") if like else None
        sheet.put(start, column, amount if there is None else Formula(f"={at(there, THEN)}", amount), "money")
    row += 1
    moved: list[tuple[float, float]] = []
    for step in causes.steps:
        for part in step.parts:
            sheet.put(row, TOPIC, step.cause, "wrap")
            sheet.put(row, WHAT, part.name, "wrap")
            _figures(sheet, row, part.old, part.new, "", is_like=True)
            sheet.put(row, UNIT, part.unit, "wrap")
            sheet.put(row, TOTAL, part.total, "money")
            sheet.put(row, PRESENT, part.present, "money")
            moved.append((part.total, part.present))
            row += 1
    _sums(sheet, row, start, causes, moved)
    sheet.put(row + 1, WHAT, f"{new}: cost now", "wrap")
    sheet.put(row + 2, WHAT, "not explained, or changed in this workbook", "wrap")
    for index, (column, cost) in enumerate(((TOTAL, "total"), (PRESENT, "present"))):
        there = costs.get(f"{new}: {cost} cost")
        amount = causes.new[index]
        sheet.put(row + 1, column, amount if there is None else Formula(f"={at(there, NOW)}", amount), "money")
        left = amount - _sum(causes, moved, index)
        sheet.put(row + 2, column, Formula(f"={at(row + 1, column)}-{at(row, column)}", left), "money")
    return row + 3


def _sums(sheet: Sheet, row: int, start: int, causes: Causes, moved: Sequence[tuple[float, float]]) -> None:
    sheet.put(row, WHAT, "cost then with all changes", "total_text")
    for column in (THEN, NOW, DIFFERENCE, UNIT):
        sheet.put(row, column, None, "total_text")
    for index, column in enumerate((TOTAL, PRESENT)):
        total = Formula(f"=SUM({down(column, start, row - 1)})", _sum(causes, moved, index))
        sheet.put(row, column, total, "total")


def _sum(causes: Causes, moved: Sequence[tuple[float, float]], index: int) -> float:
    return causes.restated[index] + sum(each[index] for each in moved)
