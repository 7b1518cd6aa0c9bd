"""The sheet Summary: one page with the decision, the strategies side by side, the checks and the cumulative costs."""

from __future__ import annotations

from planner.answer import Plan, Strategy
from planner.reports._shared.evidence import age, break_even_months, break_even_share
from planner.reports._shared.risk import nearest_flip
from planner.reports._shared.sections import bought, headline
from planner.reports.xlsx._book import HEADER_ROW, Cell, Formula, Sheet, at
from planner.reports.xlsx._cash import FIRST, Block
from planner.reports.xlsx._checks import AS_PLANNED

LABEL, WIDE = 32, 42
BREAK_EVENS_MAX = 5
AGAINST = " against plan"
"""What a note says that holds a bill, or an estimate, against the plan."""
COLOURS = {"cloud": "#2E75B6", "onprem": "#C55A11", "hybrid": "#548235"}

Row = tuple[str, list[Cell], str]


def write(sheet: Sheet, plan: Plan, blocks: tuple[Block, ...], failed: Formula) -> None:
    """Writes the sheet, chart inside the print area."""
    columns = 1 + max(3, len(plan.strategies))
    sheet.widths((LABEL, *(WIDE for _ in range(columns - 1))))
    sheet.pages_wide(1, down=1)
    sheet.put(0, 0, f"GPU capacity plan {plan.start}, {plan.months} months", "title")
    sheet.across(1, columns, headline(plan), "lead")
    reasons = "; ".join((*plan.recommendation.reasons, *plan.reasons))
    sheet.across(2, columns, reasons, "wrap")
    row = _side_by_side(sheet, plan, {block.strategy.name: block for block in blocks})
    row = _facts(sheet, plan, failed, row + 1)
    row = _break_even(sheet, plan, row + 1)
    if blocks:
        row = sheet.chart(row + 1, _chart(sheet, plan, blocks))
    sheet.print_area(row, columns - 1)


def _side_by_side(sheet: Sheet, plan: Plan, blocks: dict[str, Block]) -> int:
    strategies = plan.strategies
    names = [f"{s.name} (recommended)" if s.name == plan.recommendation.strategy else s.name for s in strategies]
    sheet.header(("strategy", *names))
    row = HEADER_ROW + 1
    for label, cells, style in _rows(plan, blocks, row):
        sheet.put(row, 0, label)
        for column, cell in enumerate(cells, start=1):
            sheet.put(row, column, cell, style if not isinstance(cell, str) else "right")
        row += 1
    for s in strategies:
        for reason in s.reasons:
            sheet.across(row, len(strategies) + 1, f"{s.name}: {reason}", "wrap")
            row += 1
    return row


def _rows(plan: Plan, blocks: dict[str, Block], row: int) -> list[Row]:
    strategies, money = plan.strategies, plan.currency
    present = [blocks[s.name].present_cost if s.name in blocks else None for s in strategies]
    total = [blocks[s.name].total_cost if s.name in blocks else None for s in strategies]
    return [
        ("status", [s.status.replace("_", " ") for s in strategies], "right"),
        (f"present cost, {money}", [*present], "money"),
        (f"more than the cheapest, {money}", _above_cheapest(present, row + 1), "money"),
        (f"total cost, {money}", [*total], "money"),
        ("owned nodes bought", [_bought(s, owned=True) for s in strategies], "right"),
        ("commitments", [_bought(s, owned=False) for s in strategies], "right"),
        (f"proven bound, {money}", [s.bound if s.name in blocks else None for s in strategies], "money"),
        ("gap to the bound", [s.gap_fraction if s.name in blocks else None for s in strategies], "percent_fine"),
        ("candidates", [s.candidates for s in strategies], "count"),
        ("of these pruned as dominated", [s.pruned for s in strategies], "count"),
    ]


def _above_cheapest(present: list[Formula | None], row: int) -> list[Cell]:
    values = [float(cost.value) for cost in present if cost is not None]
    cells = f"{at(row, 1)}:{at(row, len(present))}"
    return [
        None if cost is None else Formula(f"={at(row, column)}-MIN({cells})", float(cost.value) - min(values))
        for column, cost in enumerate(present, start=1)
    ]


def _bought(strategy: Strategy, *, owned: bool) -> str:
    return bought([purchase for purchase in strategy.purchases if (purchase.what == "owned") == owned])


def _facts(sheet: Sheet, plan: Plan, failed: Formula, row: int) -> int:
    check = failed.text.removeprefix("=")
    passed = "all checks pass" if failed.value == 0 else "CHECKS FAIL: see sheet Checks"
    asked = f'IF({AS_PLANNED},"all checks pass","checks pass, with inputs or scenario changed; choices are kept")'
    facts: list[tuple[str, Cell, str]] = [
        ("checks", Formula(f'=IF({check}=0,{asked},"CHECKS FAIL: see sheet Checks")', passed), "text"),
        ("runner-up", plan.recommendation.runner_up or "none", "text"),
        (f"worth against the runner-up, {plan.currency}", plan.recommendation.worth, "money"),
        ("the same as a share", plan.recommendation.worth_fraction, "percent"),
        ("what would change it first", nearest_flip(plan) or "nothing that was looked at", "text"),
        *(("against today", note, "text") for note in plan.inputs.notes if AGAINST in note),
        ("date of the plan", plan.as_of, "date"),
        ("oldest price", age(plan), "text"),
        ("gaps (see sheet Gaps)", len(plan.gaps), "count"),
        ("input", plan.inputs.name, "text"),
    ]
    for index, (label, cell, style) in enumerate(facts):
        sheet.put(row + index, 0, label)
        sheet.put(row + index, 1, cell, style)
    sheet.mark(row, 1, good_if_zero=check)
    return row + len(facts)


def _break_even(sheet: Sheet, plan: Plan, row: int) -> int:
    if not plan.break_even:
        return row
    sheet.header(("break-even: owning", "against renting", "months from delivery", "at a share of hours used"), row)
    for point in plan.break_even[:BREAK_EVENS_MAX]:
        row += 1
        sheet.put(row, 0, point.system, "wrap")
        sheet.put(row, 1, point.rented, "wrap")
        sheet.put(row, 2, break_even_months(point), "right")
        sheet.put(row, 3, break_even_share(point), "right")
    if len(plan.break_even) > BREAK_EVENS_MAX:
        row += 1
        sheet.put(row, 0, f"{len(plan.break_even) - BREAK_EVENS_MAX} more in sheet Break-even", "note")
    return row + 1


def _chart(sheet: Sheet, plan: Plan, blocks: tuple[Block, ...]) -> object:
    last = FIRST + plan.months - 1
    series: list[dict[str, object]] = [
        {
            "name": block.strategy.name,
            "categories": ["Cash flow", HEADER_ROW, FIRST, HEADER_ROW, last],
            "values": ["Cash flow", block.cumulative_row, FIRST, block.cumulative_row, last],
            "line": {"color": COLOURS[block.strategy.name], "width": 2.25},
        }
        for block in blocks
    ]
    return sheet.book.line_chart("Cumulative cost by strategy", plan.currency, series)
