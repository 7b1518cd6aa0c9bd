"""The sheet Cost centres, to print: the charge of each team, against its budget, and each month in both views.

Costs follow the inputs, by sheet Chargeback; idle hours and budgets are as planned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from planner.reports._content.cost_centres import group_by_team
from planner.reports._content.number_format import month_name
from planner.reports.xlsx.cash_flow_sheet import FIRST as FIRST_OF_CASH
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock
from planner.reports.xlsx.chargeback_sheet import ChargebackSheet
from planner.reports.xlsx.checks_sheet import CENT, WorkbookCheck
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    Cell,
    Formula,
    PlanWorkbook,
    WorkbookSheet,
    a1,
    column_range,
    difference_formula,
    row_range,
)
from planner.result import Plan

NAME, FIRST_WIDTH, WIDTH = "Cost centres", 30, 15
HEADS = ("cost centre", "cash", "effective (amortised)", "of it idle", "of it shared", "budget")
VARIANCE = "variance: workloads with a budget, less it"
NOTE = (
    "Live, with unchanged choices; hours and budgets as planned. Idle: cost of unused hours of commitments "
    "and owned nodes. Shared: operators and the least fee of the support plan."
)


def write(
    book: PlanWorkbook, plan: Plan, chargeback: ChargebackSheet | None, block: CashFlowBlock | None
) -> Iterator[WorkbookCheck]:
    """Writes the sheet, none without cost centres; the checks that they add up to cash by month and to the total."""
    if chargeback is None or block is None:
        return
    sheet, teams = book.sheet(NAME), group_by_team(plan)
    columns = max(len(HEADS) + 1, len(teams) + 4)
    words = max(len(word) for team in teams for word in team.split())
    sheet.widths((FIRST_WIDTH, *(max(WIDTH, words + 2.0) for _ in range(columns - 1))))
    sheet.pages(1, 2)
    sheet.heading(f"Cost centres, strategy {block.strategy.name}, {plan.currency}", NOTE)
    row = HEADER_ROW + len(teams) + 4
    cash_total = _put_months(sheet, plan, chargeback, block, "cash", row)
    row += len(block.months) + 4
    effective_total = _put_months(sheet, plan, chargeback, block, "effective", row)
    _put_teams(sheet, plan, chargeback, (cash_total, effective_total))
    first = HEADER_ROW + len(teams) + 5
    last = first + len(block.months) - 1
    total, paid = len(teams) + 1, len(teams) + 2
    off = f"SUMPRODUCT(ABS({sheet.column(total, first, last)}-{sheet.column(paid, first, last)}))"
    yield WorkbookCheck("cost centres: cash by month adds up to sheet Cash flow", Formula(f"={off}", 0.0), 0.0, CENT)
    every = Formula(f"={sheet.address(effective_total, total)}", block.strategy.total_cost)
    yield WorkbookCheck("cost centres: effective cost adds up to the total cost", every, block.total_cost)
    idle, shared = (
        Formula(f"={sheet.address(HEADER_ROW + len(teams) + 1, column)}", total)
        for column, total in (
            (HEADS.index("of it idle"), math.fsum(float(chargeback.cost(team, "idle").value) for team in teams)),
            (HEADS.index("of it shared"), math.fsum(float(chargeback.shared_cost(team).value) for team in teams)),
        )
    )
    yield WorkbookCheck("cost centres: idle cost adds up to that of purchases", idle, chargeback.whole_cost("idle"))
    if chargeback.overheads:
        every = chargeback.whole_cost("effective", chargeback.overheads)
        yield WorkbookCheck("cost centres: shared cost adds up to overheads", shared, every)
    sheet.print_area(effective_total, columns - 1)


def _put_months(
    sheet: WorkbookSheet, plan: Plan, chargeback: ChargebackSheet, block: CashFlowBlock, view: str, row: int
) -> int:
    """A row for each month with the charge of each cost centre; of cash also the total of sheet Cash flow. The row of
    the totals."""
    teams = list(group_by_team(plan))
    title = {"cash": "paid in the month", "effective": "effective cost of the month"}[view]
    compared = ("sheet Cash flow",) if view == "cash" else ()
    sheet.header((title, *teams, "total", *compared), row)
    sums = [0.0] * (len(teams) + 1)
    for line, month in enumerate(block.months, start=row + 1):
        cells = [chargeback.cost(team, view, month) for team in teams]
        cells.append(Formula(f"=SUM({row_range(line, 1, len(teams))})", math.fsum(float(c.value) for c in cells)))
        sums = [before + float(cell.value) for before, cell in zip(sums, cells, strict=True)]
        sheet.put(line, 0, month_name(plan, month))
        sheet.put_row(line, cells, ["money"] * len(cells), 1)
        if compared:
            source = a1(block.cumulative_row - 1, FIRST_OF_CASH + month - block.months[0], True, True)
            paid = math.fsum(each.amount for each in block.strategy.cash if each.month == month)
            sheet.put(line, len(teams) + 2, Formula(f"='Cash flow'!{source}", paid), "money")
    total, first = row + len(block.months) + 1, row + 1
    sheet.put(total, 0, "total", "total_text")
    for column, amount in enumerate(sums, start=1):
        sheet.put(total, column, Formula(f"=SUM({column_range(column, first, total - 1)})", amount), "total")
    return total


def _put_teams(sheet: WorkbookSheet, plan: Plan, chargeback: ChargebackSheet, totals: tuple[int, int]) -> None:
    """A row for each cost centre, live, except values as planned."""
    sheet.header((*HEADS, VARIANCE), stays=False)
    rows = group_by_team(plan)
    sums = [0.0] * (len(HEADS) - 1)
    for number, (team, months) in enumerate(rows.items(), start=1):
        line = HEADER_ROW + number
        costs = [float(chargeback.cost(team, view).value) for view in ("cash", "effective")]
        cells: list[Cell] = [Formula(f"={a1(row, number)}", cost) for row, cost in zip(totals, costs, strict=True)]
        of_it = (chargeback.cost(team, "idle"), chargeback.shared_cost(team))
        budgets = [each.budget for each in months if each.budget is not None]
        budget = math.fsum(budgets)
        amounts = (*costs, *(float(cell.value) for cell in of_it), budget)
        sums = [before + amount for before, amount in zip(sums, amounts, strict=True)]
        variance: Cell = None
        if budgets:
            cost = chargeback.cost(team, "effective", budgeted=True)
            text, value = cost.text.removeprefix("="), float(cost.value) - budget
            variance = difference_formula(f"({text})", a1(line, len(HEADS) - 1), value)
        sheet.put(line, 0, team, "wrap")
        sheet.put_row(line, (*cells, *of_it, budget if budgets else None, variance), ["money"] * len(HEADS), 1)
    total, first = HEADER_ROW + len(rows) + 1, HEADER_ROW + 1
    sheet.put(total, 0, "total", "total_text")
    for column, amount in enumerate(sums, start=1):
        sheet.put(total, column, Formula(f"=SUM({column_range(column, first, total - 1)})", amount), "total")
