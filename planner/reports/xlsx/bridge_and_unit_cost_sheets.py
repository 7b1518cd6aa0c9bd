"""The sheets Bridge and Unit economics: differences and costs per unit are formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.reports._content.number_format import in_words
from planner.reports.xlsx.assumptions_sheet import DiscountRateCells
from planner.reports.xlsx.cash_flow_sheet import FIRST, CashFlowBlock
from planner.reports.xlsx.checks_sheet import AS_PLANNED, WorkbookCheck
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    MONTHS_ROW,
    Cell,
    Formula,
    PlanWorkbook,
    WorkbookSheet,
    a1,
    column_range,
    difference_formula,
)
from planner.reports.xlsx.workload_costs_sheet import WorkloadCostCells
from planner.result import Plan


def write_bridge(
    book: PlanWorkbook, plan: Plan, cash: WorkbookSheet, blocks: Sequence[CashFlowBlock], rate: DiscountRateCells
) -> list[WorkbookCheck]:
    """Writes the sheet, none where there is no runner-up: present costs by category of sheet Cash flow; the sum of all
    differences against the plan's."""
    steps, advice = plan.views.bridge, plan.recommendation
    if not steps:
        return []
    by_name = {block.strategy.name: block for block in blocks}
    pair = [by_name[name] for name in (advice.runner_up, advice.strategy) if name is not None]
    sheet = book.sheet("Bridge")
    sheet.widths((26, 20, 20, 20))
    title = f"From runner-up to recommendation, present cost, {plan.currency}"
    sheet.heading(title, "Largest difference first; positive: saved.")
    sheet.header(("category", f"{advice.runner_up} (runner-up)", f"{advice.strategy} (recommended)", "saved"))
    first = HEADER_ROW + 1
    unpaid = {category for block in pair for category, _ in block.categories} - {step.category for step in steps}
    rows = [
        *((step.category, step.runner_up, step.recommended) for step in steps),
        *((c, 0.0, 0.0) for c in sorted(unpaid)),
    ]
    for row, (category, *costs) in enumerate(rows, start=first):
        sheet.put(row, 0, in_words(category))
        for column, (block, cost) in enumerate(zip(pair, costs, strict=True), start=1):
            sheet.put(row, column, Formula(_present_cost_formula(category, block, cash, rate), cost), "money")
        sheet.put(row, 3, difference_formula(a1(row, 1), a1(row, 2), costs[0] - costs[1], digits=6), "money")
    end = first + len(rows)
    sheet.put(end, 0, "total", "total_text")
    sums = [math.fsum(costs) for costs in zip(*((a, b, a - b) for _, a, b in rows), strict=True)]
    for column, value in enumerate(sums, start=1):
        sheet.put(end, column, Formula(f"=SUM({column_range(column, first, end - 1)})", value), "total")
    saved = Formula(f"={sheet.address(end, 3)}", sums[2])
    return [WorkbookCheck("bridge: differences add up to the saving", saved, advice.worth, holds=AS_PLANNED)]


def _present_cost_formula(category: str, block: CashFlowBlock, cash: WorkbookSheet, rate: DiscountRateCells) -> str:
    """The present cost of a category: payments at the start of months and at their end, each discounted."""
    months = cash.range(MONTHS_ROW, FIRST, block.last_column)
    parts = [
        f"SUMPRODUCT({cash.range(row, FIRST, block.last_column)}/(1+{rate.monthly})^({months}-{int(when == 'start')}))"
        for (name, when), row in block.categories.items()
        if name == category
    ]
    return f"={'+'.join(parts) or '0'}"


def write_unit_costs(book: PlanWorkbook, plan: Plan, costs: WorkloadCostCells) -> None:
    """Writes the sheet, if the plan has costs per unit."""
    if not plan.views.unit_costs:
        return
    money = plan.currency
    columns = (
        ("strategy", 10, "text"), ("workload", 30, "wrap"), ("team", 20, "wrap"), ("work done, units", 22, "count"),
        ("cost of each", 24, "wrap"), ("per how many units", 12, "count"), (f"cost, {money}", 18, "money"),
        (f"present cost, {money}", 18, "money"), (f"cost of each, {money}", 16, "figure"),
        (f"present cost of each, {money}", 16, "figure"),
    )  # fmt: skip
    note = "Cost over the work done, with shares of idle hours; work is not discounted."
    rows: list[tuple[Cell, ...]] = []
    for row, cost in enumerate(plan.views.unit_costs, start=HEADER_ROW + 1):
        both = costs.of_pairs.get((cost.strategy, cost.workload), (cost.cost, cost.present_cost))
        each = (
            Formula(f"={a1(row, column)}/{a1(row, 3)}*{a1(row, 5)}", value)
            for column, value in ((6, cost.cost_each), (7, cost.present_cost_each))
        )
        rows.append((cost.strategy, cost.workload, cost.team, cost.units, cost.each, cost.per, *both, *each))
    book.sheet("Unit economics").list("Unit economics", note, columns, rows)
