"""The sheets Bridge and Unit economics: differences and costs per unit are formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.answer import Plan
from planner.answer.views import UnitCost
from planner.reports.xlsx._assumptions import Rate
from planner.reports.xlsx._book import HEADER_ROW, Book, Cell, Formula, Sheet, at, down, less
from planner.reports.xlsx._cash import FIRST, MONTHS, Block
from planner.reports.xlsx._costs import Costs


def write_bridge(book: Book, plan: Plan, cash: Sheet, blocks: Sequence[Block], rate: Rate) -> Formula | None:
    """Writes the sheet: present costs by category of sheet Cash flow; the sum of all differences, None where there is
    no runner-up."""
    steps, advice = plan.views.bridge, plan.recommendation
    if not steps:
        return None
    by_name = {block.strategy.name: block for block in blocks}
    pair = [by_name[name] for name in (advice.runner_up, advice.strategy) if name is not None]
    sheet = book.sheet("Bridge")
    sheet.widths((26, 20, 20, 20))
    sheet.heading(
        f"From runner-up to recommendation, present cost, {plan.currency}", "Largest difference first; positive: saved."
    )
    sheet.header(("category", f"{advice.runner_up} (runner-up)", f"{advice.strategy} (recommended)", "saved"))
    first = HEADER_ROW + 1
    told = {step.category for step in steps}
    unpaid = {category for block in pair for category, _ in block.categories} - told
    rows = [
        *((step.category, step.runner_up, step.recommended) for step in steps),
        *((c, 0.0, 0.0) for c in sorted(unpaid)),
    ]
    for row, (category, *costs) in enumerate(rows, start=first):
        sheet.put(row, 0, category.replace("_", " "))
        for column, (block, cost) in enumerate(zip(pair, costs, strict=True), start=1):
            sheet.put(row, column, Formula(_present(category, block, cash, rate), cost), "money")
        sheet.put(row, 3, less(at(row, 1), at(row, 2), costs[0] - costs[1], digits=6), "money")
    end = first + len(rows)
    sheet.put(end, 0, "total", "total_text")
    sums = [math.fsum(costs) for costs in zip(*((a, b, a - b) for _, a, b in rows), strict=True)]
    for column, value in enumerate(sums, start=1):
        sheet.put(end, column, Formula(f"=SUM({down(column, first, end - 1)})", value), "total")
    return Formula(f"={sheet.address(end, 3)}", sums[2])


def _present(category: str, block: Block, cash: Sheet, rate: Rate) -> str:
    """The present cost of a category: what is paid at the start of months and at their end, each discounted."""
    months = cash.range(MONTHS, FIRST, block.last_column)
    parts = [
        f"SUMPRODUCT({cash.range(row, FIRST, block.last_column)}/(1+{rate.monthly})^({months}-{int(when == 'start')}))"
        for (name, when), row in block.categories.items()
        if name == category
    ]
    return f"={'+'.join(parts) or '0'}"


def write_unit_costs(book: Book, plan: Plan, costs: Costs) -> None:
    """Writes the sheet, if the plan tells costs per unit."""
    if not plan.views.unit_costs:
        return
    money = plan.currency
    columns = (
        ("strategy", 10, "text"), ("workload", 30, "wrap"), ("team", 20, "wrap"), ("work done, units", 22, "count"),
        ("cost of each", 24, "wrap"), ("per how many units", 12, "count"), (f"cost, {money}", 18, "money"),
        (f"present cost, {money}", 18, "money"), (f"cost of each, {money}", 16, "figure"),
        (f"present cost of each, {money}", 16, "figure"),
    )  # fmt: skip
    sheet = book.sheet("Unit economics")
    sheet.widths([width for _, width, _ in columns])
    note = "Cost over the work done, with shares of idle hours; work is not discounted."
    sheet.heading("Unit economics", note)
    rows = [
        _unit_cost(row, cost, costs.of_pairs.get((cost.strategy, cost.workload), (cost.cost, cost.present_cost)))
        for row, cost in enumerate(plan.views.unit_costs, start=HEADER_ROW + 1)
    ]
    sheet.table([head for head, _, _ in columns], [style for _, _, style in columns], rows)


def _unit_cost(row: int, cost: UnitCost, both: tuple[Cell, Cell]) -> tuple[Cell, ...]:
    each = Formula(f"={at(row, 6)}/{at(row, 3)}*{at(row, 5)}", cost.cost_each)
    present = Formula(f"={at(row, 7)}/{at(row, 3)}*{at(row, 5)}", cost.present_cost_each)
    read: tuple[Cell, ...] = (cost.strategy, cost.workload, cost.team, cost.units, cost.each, cost.per)
    return (*read, *both, each, present)
