"""The sheet Changes: differences from the last review; only where a plan was compared.

Old values are those of the last review. New costs are read from the sheet Cash flow; differences and sums of causes are
formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.reports._content.changes import MONEY
from planner.reports.xlsx.cash_flow_sheet import FIRST, CashFlowBlock
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, PlanWorkbook, WorkbookSheet, a1, column_range
from planner.result import Plan
from planner.result.comparison import TOPIC_TITLES, Changes, ComparedValue, CostAttribution, PlanChange

WIDTHS = (17, 46, 18, 18, 18, 20, 17, 17, 62)
TOPIC, WHAT, THEN, NOW, DIFFERENCE, UNIT, TOTAL, PRESENT, WHY = range(9)
SMALL = 0.001
"""Values below this have six decimals."""
NOTE = (
    "Then: the last review; now: this plan, its costs and payments as sheet Cash flow has them. Differences are "
    "formulas, empty where units or currencies are unlike."
)


def write(book: PlanWorkbook, plan: Plan, cash: WorkbookSheet, blocks: Sequence[CashFlowBlock]) -> None:
    """Writes the sheet, if the plan was compared with another; `blocks` are on the sheet `cash`."""
    comparison = plan.changes
    if comparison is None:
        return
    sheet = book.sheet("Changes")
    sheet.widths(WIDTHS)
    sheet.heading("Changes since the last review", NOTE)
    money = plan.currency
    sheet.header(
        ("about", "what", "then", "now", "difference", "unit", f"adds to total cost, {money}",
         f"adds to present cost, {money}", "why")
    )  # fmt: skip
    live = _live_cells(plan, cash, blocks)
    row = _put_comparison(sheet, comparison, HEADER_ROW + 1)
    row, costs = _put_topics(sheet, comparison, ("cost", "recommendation"), live, row)
    if comparison.causes:
        row = _put_causes(sheet, comparison.causes, costs, like=comparison.currency == money, row=row)
    others = [topic for topic in TOPIC_TITLES if topic not in ("cost", "recommendation")]
    row, _ = _put_topics(sheet, comparison, others, live, row)
    sheet.print_area(row - 1, WHY)


def _live_cells(plan: Plan, cash: WorkbookSheet, blocks: Sequence[CashFlowBlock]) -> dict[str, Formula]:
    """By subject the cells of sheet Cash flow with its new value: costs, and payments of the recommended strategy."""
    cells: dict[str, Formula] = {}
    for block in blocks:
        name = block.strategy.name
        cells[f"{name}: total cost"] = block.total_cost
        cells[f"{name}: present cost"] = block.present_cost
        if name == plan.recommendation.strategy:
            amounts = zip(block.start.amounts, block.end.amounts, strict=True)
            for column, (month, paid) in enumerate(zip(plan.month_names, amounts, strict=False), start=FIRST):
                parts = "+".join(cash.address(line.row, column) for line in (block.start, block.end))
                cells[month] = Formula(f"={parts}", sum(paid))
    return cells


def _put_comparison(sheet: WorkbookSheet, comparison: Changes, row: int) -> int:
    """The other plan, and how differences of months and currencies were handled."""
    names = comparison.month_names
    months = f"{names[0]}..{names[-1]}" if names else "no months"
    review = f"The last review: plan {comparison.plan_id} of {comparison.as_of}, {months}, in {comparison.currency}."
    for text in (review, *map(str, comparison.notes)):
        sheet.put_across(row, len(WIDTHS), f"{text[:1].upper()}{text[1:].removesuffix('.')}.", "wrap")
        row += 1
    return row


def _put_topics(
    sheet: WorkbookSheet, comparison: Changes, topics: Sequence[str], live: Mapping[str, Formula], row: int
) -> tuple[int, dict[str, int]]:
    """A block for each topic that has changes: the row after them, and the row of each subject."""
    rows: dict[str, int] = {}
    for topic, title in TOPIC_TITLES.items():
        changes = comparison.of(topic) if topic in topics else ()
        if changes:
            sheet.put_block_title(row, title, len(WIDTHS))
            row += 1
        for change in changes:
            rows[change.subject] = row
            _put_change(sheet, row, change, live.get(change.subject) if change.topic in MONEY else None)
            row += 1
    return row, rows


def _put_change(sheet: WorkbookSheet, row: int, change: PlanChange, now: Formula | None) -> None:
    style = "money" if change.topic in MONEY else ""
    sheet.put(row, TOPIC, change.topic, "wrap")
    sheet.put(row, WHAT, change.subject, "wrap")
    _put_values(sheet, row, change.then, change.now, style, is_like=change.difference is not None)
    if now is not None and change.now is not None:
        sheet.put(row, NOW, now, style)
    sheet.put(row, UNIT, change.unit, "wrap")
    sheet.put(row, WHY, str(change.why or ""), "wrap")


def _put_values(
    sheet: WorkbookSheet, row: int, then: ComparedValue, now: ComparedValue, style: str, *, is_like: bool
) -> None:
    """Then, now and, of figures in one unit, now - then; without a style as many decimals as they need."""
    style = style or _number_style(then, now)
    for column, value in ((THEN, then), (NOW, now)):
        sheet.put(row, column, value, "right" if isinstance(value, str) else style)
    difference: Cell = None
    if is_like and not isinstance(then, str | None) and not isinstance(now, str | None):
        difference = Formula(f"={a1(row, NOW)}-{a1(row, THEN)}", now - then)
    sheet.put(row, DIFFERENCE, difference, style)


def _number_style(*values: ComparedValue) -> str:
    figures = [abs(value) for value in values if isinstance(value, float | int) and value]
    if all(float(figure).is_integer() for figure in figures):
        return "count"
    return "rate" if min(figures) < SMALL else "figure"


def _put_causes(sheet: WorkbookSheet, causes: CostAttribution, costs: dict[str, int], *, like: bool, row: int) -> int:
    """From the old cost, change by change, to the new cost; the remainder must be zero."""
    old, new = causes.strategies
    title = "why the recommended strategy costs more or less than it did: the changes add up"
    sheet.put_block_title(row, title, len(WIDTHS))
    start = row + 1
    sheet.put(start, WHAT, f"{old}: cost then", "wrap")
    row = start + 1
    for step in causes.steps:
        for part in step.parts:
            sheet.put(row, TOPIC, step.cause, "wrap")
            sheet.put(row, WHAT, part.name, "wrap")
            _put_values(sheet, row, part.old, part.new, "", is_like=True)
            sheet.put(row, UNIT, part.unit, "wrap")
            sheet.put(row, TOTAL, part.total, "money")
            sheet.put(row, PRESENT, part.present, "money")
            row += 1
    sheet.put(row, WHAT, "cost then with all changes", "total_text")
    for column in (THEN, NOW, DIFFERENCE, UNIT):
        sheet.put(row, column, None, "total_text")
    sheet.put(row + 1, WHAT, f"{new}: cost now", "wrap")
    sheet.put(row + 2, WHAT, "not explained, or changed in this workbook", "wrap")
    for column, name, amounts in (
        (TOTAL, "total", [part.total for step in causes.steps for part in step.parts]),
        (PRESENT, "present", [part.present for step in causes.steps for part in step.parts]),
    ):
        then, now = causes.restated[column - TOTAL], causes.new[column - TOTAL]
        then_row, now_row = costs.get(f"{old}: {name} cost") if like else None, costs.get(f"{new}: {name} cost")
        sheet.put(start, column, then if then_row is None else Formula(f"={a1(then_row, THEN)}", then), "money")
        explained = then + sum(amounts)
        sheet.put(row, column, Formula(f"=SUM({column_range(column, start, row - 1)})", explained), "total")
        sheet.put(row + 1, column, now if now_row is None else Formula(f"={a1(now_row, NOW)}", now), "money")
        left = Formula(f"={a1(row + 1, column)}-{a1(row, column)}", now - explained)
        sheet.put(row + 2, column, left, "money")
    return row + 3
