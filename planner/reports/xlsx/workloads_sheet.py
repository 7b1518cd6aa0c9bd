"""The sheets Workloads (the request and the cost of each as recommended) and Demand (by month)."""

from __future__ import annotations

from planner.reports._content.number_format import unit_cost_scale
from planner.reports._content.sections import recommended_strategy
from planner.reports.xlsx.checks_sheet import WorkbookCheck
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    Cell,
    Formula,
    WorkbookSheet,
    a1,
    column_range,
    fitting_width,
    row_range,
)
from planner.reports.xlsx.workload_costs_sheet import WorkloadCostCells
from planner.result import Plan, RequestedWorkload, WorkloadCost

COST, MEAN, BUDGET, UNITS, SCALE = 2, 3, 4, 6, 8
"""Columns that formulas look at."""


def write(sheet: WorkbookSheet, plan: Plan, of_pairs: WorkloadCostCells) -> Formula | None:
    """Writes the sheet; the address and value of the workloads' total cost, None where nothing is recommended."""
    money = plan.currency
    columns = (
        ("workload", 25, "wrap"), ("team", 13, "wrap"), (f"cost, {money}", 15, "money"),
        (f"mean cost a month, {money}", 13, "money"), (f"budget a month, {money}", 13, "money"),
        (f"mean above budget, {money}", 13, "money"), ("work done, units", 18, "count"), ("unit", 12, "wrap"),
        ("per how many units", 10, "count"), (f"cost per that many, {money}", 12, "figure"), ("where", 30, "wrap"),
        ("kind", 10, "text"), ("allowed accelerators", 13, "wrap"), ("gang, accelerators", 10, "figure"),
        ("may be interrupted", 11, "text"), ("notes", 14, "wrap"), ("read at", 11, "wrap"),
    )  # fmt: skip
    chosen = recommended_strategy(plan)
    costs = {cost.workload: cost for cost in chosen.workloads} if chosen else {}
    costs_note = f"Costs of the recommended strategy, {chosen.name}, with idle nodes" if chosen else "No recommendation"
    note = f"{costs_note}; and the request as it was read."
    first = HEADER_ROW + 1
    cost_cells = of_pairs.of_pairs
    at_cost = {name: cost_cells[chosen.name, name][0] for name in costs} if chosen and cost_cells else {}
    rows = [
        _workload_row(w, costs.get(w.name), at_cost.get(w.name), plan.months, first + index)
        for index, w in enumerate(plan.workloads)
    ]
    end = sheet.list("Workloads", note, columns, rows)
    sheet.freeze(first, 1)
    if not costs:
        return None
    cost = sum(costs[w.name].cost for w in plan.workloads if w.name in costs)
    total = Formula(f"=SUM({column_range(COST, first, end - 1)})", cost)
    sheet.put_row(end, ("total", None, total), ("total_text", "total_text", "total"))
    return Formula(f"={sheet.address(end, COST)}", total.value)


def _workload_row(
    w: RequestedWorkload, cost: WorkloadCost | None, at_cost: Formula | None, months: int, row: int
) -> tuple[Cell, ...]:
    """The costs, as formulas where the plan has an audit trail, and the request."""
    accelerators, interrupted = ", ".join(w.accelerators) or "any", "yes" if w.interruptible else "no"
    read: tuple[Cell, ...] = (w.kind, accelerators, w.gang, interrupted, w.notes, w.place)
    if cost is None:
        return (w.name, w.team, None, None, w.budget_per_month, None, None, w.unit, None, None, "", *read)
    scale, _word = unit_cost_scale(cost.cost_per_unit)
    per_unit = f"={a1(row, COST)}/{a1(row, UNITS)}*{a1(row, SCALE)}"
    mean = cost.cost / months
    over = None
    if w.budget_per_month is not None:
        over = Formula(f"=MAX(0,{a1(row, MEAN)}-{a1(row, BUDGET)})", max(0.0, mean - w.budget_per_month))
    each = Formula(per_unit, cost.cost / cost.units * scale) if cost.units else None
    return (
        w.name, w.team, at_cost or cost.cost, Formula(f"={a1(row, COST)}/months_of_plan", mean), w.budget_per_month,
        over, cost.units, w.unit, scale, each, cost.where, *read,
    )  # fmt: skip


def write_demand(sheet: WorkbookSheet, plan: Plan) -> WorkbookCheck:
    """Writes the requested work by month; the count of months in it against the plan's."""
    width = fitting_width((max(w.demand, default=0.0) for w in plan.workloads), decimals=0)
    total = fitting_width((sum(w.demand) for w in plan.workloads), decimals=0)
    sheet.widths((30, 16, total, *(width for _ in plan.month_names)))
    note = "Requested work by month, in each workload's own unit; work with a deadline is in its last month."
    sheet.heading("Demand", note)
    sheet.header(("workload", "unit", "total", *plan.month_names))
    sheet.freeze(HEADER_ROW + 1, 3)
    last = 3 + plan.months - 1
    for row, workload in enumerate(plan.workloads, start=HEADER_ROW + 1):
        total_demand = Formula(f"=SUM({row_range(row, 3, last)})", sum(workload.demand))
        counts: tuple[Cell, ...] = (total_demand, *workload.demand)
        sheet.put_row(row, (workload.name, workload.unit, *counts), ("wrap", "wrap", *("count" for _ in counts)))
    months = Formula(f"=COUNTA({sheet.range(HEADER_ROW, 3, last)})", plan.months)
    return WorkbookCheck("months in sheet Demand", months, plan.months, 0)
