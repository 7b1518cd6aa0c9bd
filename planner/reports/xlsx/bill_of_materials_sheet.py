"""The sheet Bill of materials: what every strategy buys, with power, racks, months and cost; none where none buys."""

from __future__ import annotations

from planner.reports._content.bill_of_materials import list_materials
from planner.reports.xlsx.workbook import PlanWorkbook
from planner.result import Plan

NAME = "Bill of materials"
NOTE = (
    "What each strategy buys to own. An empty cell is not known, and leaves its total empty. Costs are before what a "
    "loan or lease makes of them; when each is paid stands in the sheet Cash flow."
)


def write(book: PlanWorkbook, plan: Plan) -> None:
    """Writes the sheet, if any strategy buys hardware."""
    columns = (
        ("strategy", 9, "text"), ("ordered", 9, "text"), ("delivered", 10, "text"), ("system", 22, "wrap"),
        ("item", 18, "wrap"), ("quantity", 9, "count"), ("unit", 8, "text"), ("accelerators", 12, "count"),
        ("power at most, kW", 10, "figure"), ("rack units", 8, "figure"), ("racks", 8, "figure"),
        (f"cost each, {plan.currency}", 15, "money"), (f"cost, {plan.currency}", 15, "money"), ("basis", 44, "wrap"),
    )  # fmt: skip
    rows = [
        (
            strategy.name, line.ordered, line.delivered, line.system, line.item, line.quantity, line.unit,
            line.accelerators, line.power_kw, line.rack_units, line.racks, line.cost_each, line.cost, line.basis,
        )
        for strategy in plan.strategies for line in list_materials(plan, strategy)
    ]  # fmt: skip
    if not rows:
        return
    sheet = book.sheet(NAME)
    sheet.widths([width for _, width, _ in columns])
    sheet.heading(NAME, NOTE)
    sheet.table([head for head, _, _ in columns], [style for _, _, style in columns], rows)
