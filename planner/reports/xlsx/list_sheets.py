"""The sheets that are lists as the plan has them: Resources, Purchases, Throughput, Prices and Gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.reports._content.number_format import month_name
from planner.reports.xlsx.workbook import Cell, PlanWorkbook
from planner.result import Plan


@dataclass(frozen=True, slots=True)
class ListSheet:
    """A sheet that is one list: its columns are (head, width, style)."""

    name: str
    note: str
    columns: Sequence[tuple[str, float, str]]
    rows: Iterable[Sequence[Cell]]


def write(book: PlanWorkbook, plan: Plan) -> None:
    """Writes the lists, each to a sheet of its own."""
    for one in (_resources_list(plan), _purchases_list(plan), _throughput_list(plan), _gaps_list(plan)):
        sheet = book.sheet(one.name)
        sheet.widths([width for _, width, _ in one.columns])
        sheet.heading(one.name, one.note)
        sheet.table([head for head, _, _ in one.columns], [style for _, _, style in one.columns], one.rows)


UNITS = {"node": "nodes", "node_day": "days of a node", "money": "money an hour"}
_NODE = (
    ("node", 20, "wrap"), ("provider", 10, "text"), ("region", 14, "wrap"), ("option", 15, "wrap"),
    ("accelerator", 13, "wrap"), ("accelerators per node", 12, "figure"),
)  # fmt: skip


def _resources_list(plan: Plan) -> ListSheet:
    columns = (
        ("strategy", 9, "text"), ("month", 7, "count"), ("month name", 9, "text"), ("workload", 26, "wrap"),
        ("what", 12, "text"),
        *_NODE, ("nodes at most", 10, "figure"), ("node-hours", 12, "figure"), ("work, units", 18, "count"),
        (f"cost of use, {plan.currency}", 15, "money"),
    )  # fmt: skip
    rows = [
        (
            s.name, u.month, month_name(plan, u.month), u.workload, u.what, u.name, u.provider, u.region,
            u.purchase_option, u.accelerator, u.accelerators_per_node, u.nodes, u.node_hours, u.units, u.cost,
        )
        for s in plan.strategies for u in s.uses
    ]  # fmt: skip
    return ListSheet(
        "Resources",
        "Which workload runs on what in each month; owned and committed nodes are paid as purchases.",
        columns,
        rows,
    )


def _purchases_list(plan: Plan) -> ListSheet:
    money = plan.currency
    columns = (
        ("strategy", 9, "text"), ("order month", 9, "text"), ("what", 12, "text"), *_NODE,
        ("amount", 10, "figure"), ("unit", 12, "wrap"),
        ("usable from", 9, "text"), ("usable to", 9, "text"), ("term, months", 9, "count"),
        (f"upfront, {money}", 16, "money"),
        (f"owed a month, {money}", 15, "money"), (f"present cost, {money}", 16, "money"),
    )  # fmt: skip
    rows = [
        (
            s.name, month_name(plan, p.month), p.what, p.name, p.provider, p.region, p.purchase_option,
            p.accelerator, p.accelerators_per_node, p.amount, UNITS[p.unit], month_name(plan, p.usable_from),
            month_name(plan, p.usable_to), p.term_months, p.upfront, p.per_month, p.present_cost,
        )
        for s in plan.strategies for p in s.purchases
    ]  # fmt: skip
    return ListSheet(
        "Purchases",
        "What is bought or committed to, by order month; amounts are for all nodes of the row.",
        columns,
        rows,
    )


def _throughput_list(plan: Plan) -> ListSheet:
    columns = (
        ("workload", 28, "wrap"), ("accelerator", 16, "wrap"), ("gang, accelerators", 12, "figure"),
        ("units an hour", 18, "figure"),
        ("low", 18, "figure"), ("high", 18, "figure"), ("basis", 28, "wrap"), ("how", 50, "wrap"),
    )  # fmt: skip
    rows = [
        (
            t.workload,
            t.accelerator,
            t.gang,
            t.units_per_hour,
            t.low,
            t.high,
            t.basis.replace("_", " "),
            t.explanation_text,
        )
        for t in plan.throughput
    ]
    return ListSheet("Throughput", "Work per hour of one gang; low and high bound 80 % of cases.", columns, rows)


def _gaps_list(plan: Plan) -> ListSheet:
    columns = (
        ("kind", 18, "text"), ("what is missing or estimated", 40, "wrap"), ("what follows", 70, "wrap"),
        ("workload", 28, "wrap"),
    )  # fmt: skip
    rows = [(g.kind.replace("_", " "), g.subject, str(g.effect), g.workload) for g in plan.gaps]
    note = "What is missing or estimated, and what it ruled out or changed. No gap was filled with a zero."
    return ListSheet("Gaps", note, columns, rows)
