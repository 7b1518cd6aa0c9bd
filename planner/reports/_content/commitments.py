"""Savings, ends and exits of commitments, as a section of the readable report."""

from __future__ import annotations

from planner.reports._content.number_format import NO_VALUE, format_money, format_percent, month_name
from planner.reports._content.sections import ReportTable, Section, make_table
from planner.result import Plan, describe_amount
from planner.result.strategies import CommitmentEnd, CommitmentReport, PlannedCommitment

RATES = ("", "on demand", "effective cost", "effective savings rate", "coverage", "utilisation")
ENDS = ("ends in", "cost by the month", "of all commitments")
EXIT_WORDS = {
    "none": "cannot be left",
    "refund": "refunded",
    "resale": "sold to another customer, for a price that is not known",
    "unknown": "terms of leaving unknown",
}
NOTE = (
    "Effective savings rate: what all use but spot saves against its cost on demand (FinOps Foundation). Coverage:"
    " share of that cost, of use on demand and in commitments for a term, that is committed to. Utilisation: share of"
    " these commitments that is used."
)
EXIT_NOTE = "Remaining: fees of the rest of the term, beyond the plan's months too, and upfront payments not used up."


def commitments_section(plan: Plan) -> Section | None:
    """Savings rates, exits and ends of the recommended strategy's commitments; None where it commits to nothing."""
    report = plan.commitments
    if report is None:
        return None
    blocks: list[str | ReportTable] = [make_table(RATES, _rate_rows(report), range(1, 6)), NOTE]
    if report.commitments:
        month = _middle_month(plan)
        titles = ("commitment", "term", "used", f"remaining after {month_name(plan, month)}", "to leave then", "exit")
        blocks += [
            make_table(
                titles, [_exit_row(plan, each, month) for each in report.commitments], (2, 3, 4), has_prose=True
            ),
            EXIT_NOTE,
            make_table(ENDS, map(_end_row, report.ends), (1, 2)),
        ]
    return Section(f"Commitments, {plan.currency}", tuple(blocks))


def _end_row(end: CommitmentEnd) -> tuple[str, ...]:
    return end.quarter, format_money(end.per_month), format_percent(end.fraction)


def _rate_rows(report: CommitmentReport) -> list[tuple[str, ...]]:
    return [
        (
            each.provider or "all",
            format_money(each.on_demand_equivalent),
            format_money(each.effective_cost),
            *(
                NO_VALUE if fraction is None else format_percent(fraction)
                for fraction in (each.effective_savings_rate, each.coverage, each.utilisation)
            ),
        )
        for each in report.savings
    ]


def _middle_month(plan: Plan) -> int:
    """The month of the table: JSON and the workbook have all."""
    return max(1, plan.months // 2)


def _exit_row(plan: Plan, each: PlannedCommitment, month: int) -> tuple[str, ...]:
    leaving = next((row for row in each.exits if row.month == month), None)
    remaining = NO_VALUE if leaving is None else format_money(leaving.remaining_fees + leaving.lost_upfront)
    cost = NO_VALUE if leaving is None else "not known" if leaving.cost is None else format_money(leaving.cost)
    amount = describe_amount(each.amount, each.unit, plan.currency)
    return (
        f"{amount} {each.name} {each.provider} {each.region} {each.purchase_option}",
        f"{month_name(plan, each.month)}..{month_name(plan, each.last_month)}",
        format_percent(each.utilisation),
        remaining,
        cost,
        EXIT_WORDS[each.exit],
    )
