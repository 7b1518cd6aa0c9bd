"""The sheet Break-even: owning one node of each system against renting its equal, and how one pair of them gets there.

The chart shows the system with the most nodes in the recommended strategy, else in another one, else the first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from planner.reports._content.evidence import break_even_months, break_even_share
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, PlanWorkbook, WorkbookSheet, a1
from planner.result import BreakEven, Plan

WIDTHS = (22, 34, 14, 16, 16, 16, 16, 15, 16, 13, 16)
SHARES = tuple(step / 20 for step in range(2, 21))
"""Shares of the hours used for which costs are drawn: from 10 % to all."""
OWN_HOUR, RENT_HOUR, CAPITAL, OWN, RENT = 4, 5, 6, 7, 8
MONTHS, SHARE = 2, 7
"""First columns of the two tables that the charts draw."""
CHART_ROWS, CHART_COLUMN = 20, 5
OWNING, RENTING, CROSSING = "#C55A11", "#1F3864", "#C00000"
NOTE = (
    "As planned: the list does not follow changes. Months: at full use, without resale. Share of hours used: over the"
    " life, with resale, discounted. Owning costs the same at any use, renting its price times the hours used."
)


def write(book: PlanWorkbook, plan: Plan) -> None:
    """Writes the list, and below it two charts with their data."""
    sheet = book.sheet("Break-even")
    sheet.widths(WIDTHS)
    sheet.heading("Break-even", NOTE)
    money = plan.currency
    titles = (
        "owned system", "rented equal", "months from delivery", "at a share of hours used",
        f"owning, {money} per accelerator-hour", f"renting, {money} per accelerator-hour",
        f"capital of one node, {money}", f"running it, {money} a month", f"renting its equal, {money} a month",
        "life, months", f"resale after its life, {money}",
    )  # fmt: skip
    styles = ("wrap", "wrap", "right", "right", "figure", "figure", "money", "money", "money", "count", "money")
    sheet.header(titles, stays=False)  # the tables below have other heads
    sheet.freeze(HEADER_ROW)
    sheet.pages(1, 2)
    first = HEADER_ROW + 1
    for row, point in enumerate(plan.break_even, start=first):
        sheet.put_row(row, _break_even_row(point), styles)
    pair = pair_to_draw(plan)
    if pair is not None:
        _draw_pair(sheet, plan, pair, first + plan.break_even.index(pair), first + len(plan.break_even) + 1)


def _break_even_row(b: BreakEven) -> tuple[Cell, ...]:
    life_costs: tuple[Cell, ...] = (None,) * 5
    if b.life_months:
        life_costs = (b.capital, b.own_per_month, b.rent_per_month, b.life_months, b.resale)
    per_hour = (b.own_cost_per_accelerator_hour, b.rent_cost_per_accelerator_hour)
    return (b.system, b.rented, break_even_months(b), break_even_share(b), *per_hour, *life_costs)


def pair_to_draw(plan: Plan) -> BreakEven | None:
    """The pair that matters most; None without one, or where the plan lacks its months."""
    points = {point.system: point for point in plan.break_even if point.life_months}
    first = plan.recommendation.strategy
    for strategy in sorted(plan.strategies, key=lambda s: (s.name != first, s.name != "onprem")):
        counts: Counter[str] = Counter()
        for item in strategy.purchases:
            if item.what == "owned" and item.name in points:
                counts[item.name] += item.count
        if counts:
            return points[min(counts, key=lambda name: (-counts[name], name))]
    return next(iter(points.values()), None)


CrossingCell = tuple[int, int] | None
"""Row and column of where the lines cross: across, with its height in the next column. None where they do not."""


@dataclass(frozen=True, slots=True)
class BreakEvenChart:
    """A chart: its table (`area`: first column, first and last row), and how its axes are called and written."""

    title: str
    below: str
    upward: str
    area: tuple[int, int, int]
    most: float
    scale: str
    amounts: str
    crossing: CrossingCell = None
    crossing_name: str = ""


def _draw_pair(sheet: WorkbookSheet, plan: Plan, pair: BreakEven, source: int, row: int) -> None:
    """The charts from `row` on and their data below; `source` is the pair's row in the list."""
    sheet.put(row, 0, f"Owning one {pair.system} against renting {pair.rented}", "title")
    data = row + 2 + CHART_ROWS
    sheet.repeat(data)
    sheet.put(data - 1, MONTHS, f"At full use, from delivery, without resale, {plan.currency}", "note")
    sheet.put(data - 1, SHARE, f"By the share of hours used, {plan.currency} per accelerator-hour used", "note")
    _put_chart(sheet, row + 1, 0, _put_cumulative(sheet, plan.currency, pair, source, data))
    _put_chart(sheet, row + 1, CHART_COLUMN, _put_by_share(sheet, plan.currency, pair, source, data))


def _put_cumulative(sheet: WorkbookSheet, money: str, pair: BreakEven, source: int, row: int) -> BreakEvenChart:
    """Month 0 is delivery, with the capital for owning and no cost for renting; each month adds its cost."""
    _put_heads(sheet, row, MONTHS, ("month", "owning", "renting", "owning less renting"))
    first = row + 1
    for month in range(pair.life_months + 1):
        row += 1
        now, owning, renting = a1(row, MONTHS), pair.capital + month * pair.own_per_month, month * pair.rent_per_month
        own = Formula(f"={_absolute_cell(source, CAPITAL)}+{now}*{_absolute_cell(source, OWN)}", owning)
        rent = Formula(f"={now}*{_absolute_cell(source, RENT)}", renting)
        less = Formula(f"={a1(row, MONTHS + 1)}-{a1(row, MONTHS + 2)}", owning - renting)
        cells: tuple[Cell, ...] = (float(month), own, rent, less)
        for column, cell in enumerate(cells, start=MONTHS):
            sheet.put(row, column, cell, "flag" if column == MONTHS else "money")
    drawing = BreakEvenChart(
        "Cumulative cost of one node", "month from delivery", money, (MONTHS, first, row), pair.life_months,
        "0", "#,##0",
    )  # fmt: skip
    row += 1
    if pair.month is None:
        sheet.put(row, MONTHS, "The lines do not cross within its life.", "note")
        return drawing
    crossing = pair.capital / (pair.rent_per_month - pair.own_per_month)
    across = f"={_absolute_cell(source, CAPITAL)}/({_absolute_cell(source, RENT)}-{_absolute_cell(source, OWN)})"
    sheet.put(row, MONTHS, Formula(across, crossing), "figure")
    sheet.put(
        row,
        MONTHS + 1,
        Formula(f"={a1(row, MONTHS)}*{_absolute_cell(source, RENT)}", crossing * pair.rent_per_month),
        "money",
    )
    sheet.put(row, MONTHS + 2, "where the lines cross: month and cost", "note")
    return replace(drawing, crossing=(row, MONTHS), crossing_name=f"break-even after {crossing:,.1f} months")


def _put_by_share(sheet: WorkbookSheet, money: str, pair: BreakEven, source: int, row: int) -> BreakEvenChart:
    """The cost of an hour of use: constant for renting, inversely proportional to use for owning."""
    _put_heads(sheet, row, SHARE, ("share of hours used", "owning", "renting"))
    first = row + 1
    own, rent = pair.own_cost_per_accelerator_hour, pair.rent_cost_per_accelerator_hour
    for share in SHARES:
        row += 1
        sheet.put(row, SHARE, share, "percent")
        sheet.put(
            row, SHARE + 1, Formula(f"={_absolute_cell(source, OWN_HOUR)}/{a1(row, SHARE)}", own / share), "figure"
        )
        sheet.put(row, SHARE + 2, Formula(f"={_absolute_cell(source, RENT_HOUR)}", rent), "figure")
    drawing = BreakEvenChart(
        "Cost of an accelerator-hour that is used", "share of hours used", f"{money} per accelerator-hour",
        (SHARE, first, row), 1, "0%", "#,##0.00",
    )  # fmt: skip
    row += 1
    if own > rent:
        sheet.put(row, SHARE, "Not even full use makes owning cheaper.", "note")
        return drawing
    even = Formula(f"={_absolute_cell(source, OWN_HOUR)}/{_absolute_cell(source, RENT_HOUR)}", own / rent)
    sheet.put(row, SHARE, even, "percent")
    sheet.put(row, SHARE + 1, Formula(f"={_absolute_cell(source, RENT_HOUR)}", rent), "figure")
    sheet.put(row, SHARE + 2, "where the lines cross: share and cost", "note")
    return replace(drawing, crossing=(row, SHARE), crossing_name=f"break-even at {own / rent:.1%} of the hours")


def _put_heads(sheet: WorkbookSheet, row: int, first: int, titles: tuple[str, ...]) -> None:
    for column, title in enumerate(titles, start=first):
        sheet.put(row, column, title, "header")


def _absolute_cell(row: int, column: int) -> str:
    """The absolute address of a cell: $H$5."""
    return a1(row, column, True, True)


def _put_chart(sheet: WorkbookSheet, row: int, column: int, drawing: BreakEvenChart) -> None:
    """A chart of two lines and where they cross."""
    across, first, last = drawing.area
    series: list[dict[str, object]] = [
        {
            "name": name,
            "categories": [sheet.name, first, across, last, across],
            "values": [sheet.name, first, across + offset, last, across + offset],
            "line": {"color": colour, "width": 2.25},
        }
        for offset, name, colour in ((1, "owning", OWNING), (2, "renting", RENTING))
    ]
    if drawing.crossing is not None:
        at_row, at_column = drawing.crossing
        red = {"color": CROSSING}
        series.append(
            {
                "name": drawing.crossing_name,
                "categories": [sheet.name, at_row, at_column, at_row, at_column],
                "values": [sheet.name, at_row, at_column + 1, at_row, at_column + 1],
                "marker": {"type": "diamond", "size": 11, "fill": red, "border": red},
                "line": red,
            }
        )
    below = {"name": drawing.below, "num_format": drawing.scale, "max": drawing.most}
    upward = {"name": drawing.upward, "num_format": drawing.amounts}
    sheet.chart(row, sheet.book.scatter_chart(drawing.title, below, upward, series), column)
