"""What one more of something costs, for a reader: work with all purchases kept, and limits a tenth higher."""

from __future__ import annotations

from planner.reports._content.number_format import NO_VALUE, format_money, format_quantity, format_unit_cost
from planner.reports._content.sections import Section, make_table
from planner.result import Plan
from planner.result.marginal_values import MarginalValue


def marginal_cost_section(plan: Plan) -> Section | None:
    """One row for each workload and each limit; None where there is no plan."""
    if not plan.margins:
        return None
    titles = ("one more", "added", f"present cost, {plan.currency}", "each")
    text = "1 % more work in every month with all purchases kept; each limit a tenth higher, planned anew."
    return Section(
        "What one more costs", (text, make_table(titles, [_marginal_row(row) for row in plan.margins], (1, 2, 3)))
    )


def _marginal_row(row: MarginalValue) -> tuple[str, ...]:
    what = f"{row.subject}: {row.unit}"
    if row.worth is None or row.per_unit is None:
        return (what, format_quantity(row.added), "cannot be served" if row.kind == "demand" else NO_VALUE, NO_VALUE)
    return (what, format_quantity(row.added), format_money(row.worth), format_unit_cost(row.per_unit, row.unit))
