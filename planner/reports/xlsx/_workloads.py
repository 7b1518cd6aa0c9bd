"""The sheets Workloads (what was asked and what each costs as recommended) and Demand (by month)."""

from __future__ import annotations

from planner.answer import Plan, RequestedWorkload, WorkloadCost
from planner.reports._shared.figures import unit_scale
from planner.reports._shared.sections import recommended
from planner.reports.xlsx._book import HEADER_ROW, Cell, Formula, Sheet, along, at, down, pages_for, room_for
from planner.reports.xlsx._costs import Costs

STYLES = (
    "wrap", "wrap", "text", "wrap", "wrap", "figure", "text", "wrap", "count", "money", "count", "figure", "money",
    "money", "money", "wrap", "wrap",
)  # fmt: skip
UNITS, COST, SCALE, BUDGET, MEAN = 8, 9, 10, 12, 13


def write(sheet: Sheet, plan: Plan, of_pairs: Costs) -> Formula | None:
    """Writes the sheet; the address and value of the workloads' total cost, None where nothing is recommended."""
    chosen = recommended(plan)
    costs = {cost.workload: cost for cost in chosen.workloads} if chosen else {}
    sheet.widths((25, 14, 11, 13, 15, 13, 12, 14, 20, 15, 11, 13, 14, 14, 14, 40, 24))
    name = f"recommended strategy, {chosen.name}" if chosen else "no strategy is recommended"
    sheet.heading(
        "Workloads", f"As they were read, and what they cost in the {name}. Costs include shares of idle nodes."
    )
    money = plan.currency
    titles = (
        "workload", "team", "kind", "unit", "allowed accelerators", "gang, accelerators", "may be interrupted",
        "read at", "work done, units", f"cost, {money}", "per how many units", f"cost per that many, {money}",
        f"budget a month, {money}", f"mean cost a month, {money}", f"mean above budget, {money}", "where", "notes",
    )  # fmt: skip
    first = HEADER_ROW + 1
    at_cost = {name: of_pairs[chosen.name, name][0] for name in costs} if chosen and of_pairs else {}
    rows = [
        _row(w, costs.get(w.name), at_cost.get(w.name), plan.months, first + index)
        for index, w in enumerate(plan.workloads)
    ]
    end = sheet.table(titles, STYLES, rows)
    sheet.freeze(first, 1)
    if not costs:
        return None
    total = Formula(
        f"=SUM({down(COST, first, end - 1)})", sum(costs[w.name].cost for w in plan.workloads if w.name in costs)
    )
    sheet.put(end, 0, "total", "total_text")
    sheet.put(end, COST, total, "total")
    return Formula(f"={sheet.address(end, COST)}", total.value)


def _row(
    w: RequestedWorkload, cost: WorkloadCost | None, at_cost: Formula | None, months: int, row: int
) -> tuple[Cell, ...]:
    """As read, and at cost: a formula where the ledger tells how that comes about."""
    accelerators = ", ".join(w.accelerators) or "any"
    read: tuple[Cell, ...] = (
        w.name,
        w.team,
        w.kind,
        w.unit,
        accelerators,
        w.gang,
        "yes" if w.interruptible else "no",
        w.place,
    )
    if cost is None:
        return (*read, None, None, None, None, w.budget_per_month, None, None, "", w.notes)
    scale, _word = unit_scale(cost.cost_per_unit)
    per_unit = f"={at(row, COST)}/{at(row, UNITS)}*{at(row, SCALE)}"
    mean = cost.cost / months
    over = None
    if w.budget_per_month is not None:
        over = Formula(f"=MAX(0,{at(row, MEAN)}-{at(row, BUDGET)})", max(0.0, mean - w.budget_per_month))
    done: tuple[Cell, ...] = (
        cost.units,
        at_cost or cost.cost,
        scale,
        Formula(per_unit, cost.cost / cost.units * scale) if cost.units else None,
        w.budget_per_month,
        Formula(f"={at(row, COST)}/months_of_plan", mean),
        over,
    )
    return (*read, *done, cost.where, w.notes)


def write_demand(sheet: Sheet, plan: Plan) -> Formula:
    """Writes the work asked for by month; the count of months in it."""
    width = room_for((max(w.demand, default=0.0) for w in plan.workloads), decimals=0)
    total = room_for((sum(w.demand) for w in plan.workloads), decimals=0)
    sheet.widths((30, 16, total, *(width for _ in plan.month_names)))
    sheet.pages_wide(pages_for(plan.months, width))
    sheet.heading(
        "Demand", "Work asked for by month, in each workload's own unit; work with a deadline stands in its last month."
    )
    sheet.header(("workload", "unit", "total", *plan.month_names))
    sheet.freeze(HEADER_ROW + 1, 3)
    last = 3 + plan.months - 1
    for row, workload in enumerate(plan.workloads, start=HEADER_ROW + 1):
        sheet.put(row, 0, workload.name, "wrap")
        sheet.put(row, 1, workload.unit, "wrap")
        sheet.put(row, 2, Formula(f"=SUM({along(row, 3, last)})", sum(workload.demand)), "count")
        for column, units in enumerate(workload.demand, start=3):
            sheet.put(row, column, units, "count")
    return Formula(f"=COUNTA({sheet.range(HEADER_ROW, 3, last)})", plan.months)
