"""The sheet Sources: where the request and the prices came from, every refused row, and what each cell was read as."""

from __future__ import annotations

from planner.answer import Plan
from planner.reports._shared.evidence import age
from planner.reports.xlsx._book import HEADER_ROW, Cell, Formula, Sheet

WIDTHS = (22, 24, 44, 34, 44)


def write(sheet: Sheet, plan: Plan) -> Formula:
    """Writes the sheet; rows used + rows refused as a formula over what is listed."""
    inputs = plan.inputs
    sheet.widths(WIDTHS)
    sheet.heading("Sources", "Rows in = rows used + rows refused; every refused row is listed with its reason.")
    facts: list[tuple[str, Cell]] = [
        ("input", inputs.name),
        ("format", inputs.format),
        ("sha256", inputs.sha256),
        ("rows in", inputs.rows_in),
        ("rows used", inputs.rows_used),
        ("rows refused", len(inputs.rows_refused)),
        ("oldest price", age(plan)),
        ("catalogue digest", plan.catalog_digest),
        ("plan", plan.plan_id),
        ("schema version", plan.schema_version),
        *(("exchange rate", rate.words) for rate in plan.exchange_rates),
        *(("note", note) for note in inputs.notes),
        *(("convention", convention) for convention in plan.conventions),
    ]
    sheet.header(("what", "value"), stays=False)  # other lists with other heads follow below
    sheet.freeze(HEADER_ROW)
    for row, (label, value) in enumerate(facts, start=HEADER_ROW + 1):
        sheet.put(row, 0, label)
        sheet.put(row, 1, value, "text" if isinstance(value, str) else "count")
    used = HEADER_ROW + 1 + [label for label, _ in facts].index("rows used")
    row = HEADER_ROW + len(facts) + 2
    sheet.header(("refused row", "place", "what was read", "reason"), row)
    first = row + 1
    for number, refused in enumerate(inputs.rows_refused, start=1):
        row += 1
        sheet.put_row(row, (number, refused.place, refused.read, refused.reason), ("count", "wrap", "wrap", "wrap"))
    listed = f"+COUNT({sheet.column(0, first, row)})" if inputs.rows_refused else ""
    accounted = Formula(f"={sheet.address(used, 1)}{listed}", inputs.rows_used + len(inputs.rows_refused))
    row += 2
    sheet.header(("reading", "place", "what was read", "value it became", "path in the request"), row)
    for number, reading in enumerate(inputs.readings, start=1):
        row += 1
        values = (number, reading.place, reading.read, reading.value, reading.path)
        sheet.put_row(row, values, ("count", "wrap", "wrap", "wrap", "wrap"))
    return accounted
