"""The sheet Sensitivity: the effect of each assumption on the recommended strategy's cost over its range.

One assumption changes at a time. The same decisions are repriced, unless a row is marked as planned again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.reports._content.repricing import LedgerRepricing
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    Cell,
    PlanWorkbook,
    WorkbookSheet,
    a1,
    bar_chart_rows,
    difference_formula,
)
from planner.result import Plan
from pricing.frozen_values import dataclass

BARS = 15
CENT = 0.01
COLUMNS = (
    ("figure", 38, "wrap"), ("meaning", 42, "wrap"), ("unit", 18, "wrap"), ("low", 13, "figure"),
    ("planned", 13, "figure"), ("high", 13, "figure"), ("present cost at low", 18, "money"),
    ("present cost at high", 18, "money"), ("change at low", 18, "money"), ("change at high", 18, "money"),
    ("how it was computed", 16, "wrap"),
)  # fmt: skip
AT_LOW, AT_HIGH, TO_LOW, TO_HIGH = 6, 7, 8, 9
INFEASIBLE, REPRICED, REPLANNED = "impossible", "priced again", "planned again"
NOTE = (
    "One assumption at a time, the largest effect first. Priced again: unchanged choices; planned again: new choices. "
    "Computed with the plan: these amounts do not follow changes made in this workbook."
)
FLIPS = (
    ("figure", "wrap"), ("meaning", "wrap"), ("unit", "wrap"), ("searched from", "figure"), ("planned", "figure"),
    ("searched to", "figure"), ("equal at", "figure"), ("away from the plan", "percent"), ("cheaper beyond", "text"),
    ("inside its range", "text"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CostDriver:
    """A figure with the strategy's present cost at the ends of its range; None where it is impossible there."""

    name: str
    meaning: str
    unit: str
    low: float
    value: float
    high: float
    at_low: float | None
    at_high: float | None
    how: str

    def spread(self, planned: float) -> float:
        """By how much the cost differs between the ends and the plan."""
        costs = [planned, *(cost for cost in (self.at_low, self.at_high) if cost is not None)]
        return max(costs) - min(costs)


def write(book: PlanWorkbook, plan: Plan, repricing: LedgerRepricing) -> None:
    """Writes the sheet, where there is a recommendation."""
    chosen = plan.recommendation.strategy
    if chosen is None:
        return
    planned = repricing.costs(chosen, {})[1]
    all_drivers = sorted(_cost_drivers(plan, repricing, chosen), key=lambda each: (-each.spread(planned), each.name))
    drivers = [each for each in all_drivers if each.spread(planned) >= CENT or None in (each.at_low, each.at_high)]
    still = [each.name for each in all_drivers if each not in drivers]
    sheet = book.sheet("Sensitivity")
    sheet.widths([width for _, width, _ in COLUMNS])
    sheet.heading(f"Sensitivity of the present cost of {chosen}, {plan.currency}", NOTE)
    row = HEADER_ROW
    sheet.freeze(row)
    if drivers:
        bars = min(len(drivers), BARS)
        table = row + bar_chart_rows(bars) + 1
        sheet.chart(row, _change_chart(sheet, plan, table + 1, bars))
        row = _put_table(sheet, drivers, planned, table)
        sheet.repeat(table)
        if still:
            sheet.put_across(row, len(COLUMNS), f"Without effect here: {', '.join(still)}.", "wrap")
            row += 1
    else:
        sheet.put(row, 0, "No figure that has a range acts on this cost.", "note")
    last = _put_flips(sheet, plan, row + 2)
    sheet.print_area(last, len(COLUMNS) - 1)


def _cost_drivers(plan: Plan, repricing: LedgerRepricing, chosen: str) -> Iterator[CostDriver]:
    """Repriced assumptions, and those of the plan's risk analysis that are not among them."""
    for each in repricing.recommended:
        f = each.figure
        assert f.low is not None
        assert f.high is not None
        yield CostDriver(f.name, f.meaning, f.unit, f.low, f.value, f.high, each.at_low, each.at_high, REPRICED)
    known = {each.figure.name for each in repricing.recommended}
    for row in plan.risk.tornado if plan.risk is not None else ():
        cost = next((cost for cost in row.costs if cost.strategy == chosen), None)
        if row.name not in known and cost is not None:
            how = REPLANNED if row.planned_anew else REPRICED
            yield CostDriver(
                row.name, row.meaning, row.unit, row.low, row.value, row.high, cost.at_low, cost.at_high, how
            )


def _put_table(sheet: WorkbookSheet, drivers: Sequence[CostDriver], planned: float, row: int) -> int:
    """A row for each figure and below them the cost as planned; the row after it."""
    sheet.header([head for head, _, _ in COLUMNS], row)
    base = row + 1 + len(drivers)
    cell_as_planned = a1(base, AT_LOW, fixed_row=True)
    for line, each in enumerate(drivers, start=row + 1):
        ends: list[Cell] = []
        changes: list[Cell] = []
        styles = [style for _, _, style in COLUMNS]
        for column, cost in ((AT_LOW, each.at_low), (AT_HIGH, each.at_high)):
            ends.append(INFEASIBLE if cost is None else cost)
            styles[column] = "right" if cost is None else styles[column]
            change = None if cost is None else difference_formula(a1(line, column), cell_as_planned, cost - planned)
            changes.append(change)
        known = (each.name, each.meaning, each.unit, each.low, each.value, each.high)
        sheet.put_row(line, (*known, *ends, *changes, each.how), styles)
    sheet.put(base, 0, "as planned", "total_text")
    for column in range(1, len(COLUMNS)):
        sheet.put(base, column, planned if column == AT_LOW else None, "total")
    return base + 1


def _change_chart(sheet: WorkbookSheet, plan: Plan, first: int, bars: int) -> object:
    """The largest changes of the table that begins at `first`, a bar to each side of the plan."""
    last = first + bars - 1
    series: list[dict[str, object]] = [
        {
            "name": name,
            "categories": [sheet.name, first, 0, last, 0],
            "values": [sheet.name, first, column, last, column],
            "fill": {"color": colour},
            "overlap": 100,
            "gap": 40,
        }
        for name, column, colour in (("at its low", TO_LOW, "#2E75B6"), ("at its high", TO_HIGH, "#C55A11"))
    ]
    title = "Effect of one assumption, the others as planned"
    return sheet.book.bar_chart(title, f"change of the present cost, {plan.currency}", series, bars)


def _put_flips(sheet: WorkbookSheet, plan: Plan, row: int) -> int:
    """The values of figures at which runner-up and recommended strategy cost the same; the last row."""
    chosen, other = plan.recommendation.strategy, plan.recommendation.runner_up
    if not plan.flips or other is None:
        return row - 1
    sheet.put(row, 0, f"Break-even values between {chosen} and {other}, with unchanged decisions", "title")
    crossing = [flip for flip in plan.flips if flip.at is not None]
    steady = len(plan.flips) - len(crossing)
    row += 1
    if crossing:
        sheet.header([head for head, _ in FLIPS], row)
        for flip in crossing:
            row += 1
            cells = (
                flip.name, flip.meaning, flip.unit, flip.searched_from, flip.value, flip.searched_to, flip.at,
                flip.distance_fraction, flip.cheaper_beyond, "yes" if flip.is_inside_range else "no",
            )  # fmt: skip
            sheet.put_row(row, cells, [style for _, style in FLIPS])
        row += 1
    words = f"{steady} {'more ' if crossing else ''}assumptions"
    sheet.put(row, 0, f"{words}, searched from a tenth to ten times their value, have none.", "note")
    return row
