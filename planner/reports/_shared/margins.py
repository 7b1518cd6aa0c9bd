"""What one more of something costs, for a reader: work with all purchases kept, and limits a tenth higher."""

from __future__ import annotations

from planner.answer import Plan
from planner.answer.margin import Marginal
from planner.reports._shared.figures import NONE, money, quantity, unit_cost
from planner.reports._shared.sections import Section, table


def margins_section(plan: Plan) -> Section | None:
    """One row for each workload and each limit; None where there is no plan."""
    if not plan.margins:
        return None
    titles = ("one more", "added", f"present cost, {plan.currency}", "each")
    text = "1 % more work in every month with all purchases kept; each limit a tenth higher, planned anew."
    return Section("What one more costs", (text, table(titles, [_row(row) for row in plan.margins], (1, 2, 3))))


def _row(row: Marginal) -> tuple[str, ...]:
    what = f"{row.subject}: {row.unit}"
    if row.worth is None or row.per_unit is None:
        return (what, quantity(row.added), "cannot be served" if row.kind == "demand" else NONE, NONE)
    return (what, quantity(row.added), money(row.worth), unit_cost(row.per_unit, row.unit))
