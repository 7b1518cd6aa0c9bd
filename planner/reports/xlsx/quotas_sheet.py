"""The sheet of quotas to ask for, of every strategy; there is none where no strategy needs more than there is."""

from __future__ import annotations

from planner.reports._content.number_format import month_name
from planner.reports._content.quota_requests import missing_quota
from planner.reports.xlsx.workbook import PlanWorkbook
from planner.result import Plan
from pricing.quota import UNIT_WORDS

COLUMNS = (
    ("strategy", 9, "text"), ("provider", 10, "text"), ("region", 16, "wrap"), ("quota", 26, "wrap"),
    ("title", 40, "wrap"), ("unit", 12, "text"), ("ask for", 12, "figure"), ("more", 12, "figure"),
    ("limit", 12, "figure"), ("in use", 12, "figure"), ("runs at once", 12, "figure"), ("by", 9, "text"),
    ("workloads", 40, "wrap"), ("as of", 11, "date"), ("source", 20, "wrap"),
)  # fmt: skip
NOTE = "Limits that the account does not have yet. An empty cell under «in use» was not told, and is in no sum."


def write(book: PlanWorkbook, plan: Plan) -> None:
    """Writes the sheet, if there is anything to ask for."""
    if not plan.quota_requests:
        return
    rows = [
        (
            q.strategy,
            q.provider,
            q.region,
            q.code,
            q.title,
            UNIT_WORDS[q.unit],
            q.ask_for,
            missing_quota(q),
            q.limit,
            q.used,
            q.needed,
            month_name(plan, q.first_month),
            ", ".join(q.workloads),
            q.as_of,
            q.source_id,
        )
        for q in plan.quota_requests
    ]
    sheet = book.sheet("Quotas")
    sheet.widths([width for _, width, _ in COLUMNS])
    sheet.heading("Quotas", NOTE)
    sheet.table([head for head, _, _ in COLUMNS], [style for _, _, style in COLUMNS], rows)
