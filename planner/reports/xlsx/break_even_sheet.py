"""The sheet Break-even: owning one node of each system against renting its equal, and how one pair of them gets there.

The chart shows the system with the most nodes in the recommended strategy, else in another one, else the first.
"""

from __future__ import annotations

from planner.reports._content.evidence import break_even_months, break_even_share
from planner.reports._content.plan_charts import pair_to_draw
from planner.reports.xlsx.workbook import HEADER_ROW, Axis, Cell, Formula, PlanWorkbook, Series, WorkbookSheet, a1
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


def _draw_pair(sheet: WorkbookSheet, plan: Plan, pair: BreakEven, source: int, row: int) -> None:
    """The charts from `row` on and their data below; `source` is the pair's row in the list."""
    money = plan.currency
    sheet.put(row, 0, f"Owning one {pair.system} against renting {pair.rented}", "title")
    data = row + 2 + CHART_ROWS
    sheet.repeat(data)
    sheet.put(data - 1, MONTHS, f"At full use, from delivery, without resale, {money}", "note")
    sheet.put(data - 1, SHARE, f"By the share of hours used, {money} per accelerator-hour used", "note")
    across: Axis = {"name": "month from delivery", "num_format": "0", "max": pair.life_months}
    upward: Axis = {"name": money, "num_format": "#,##0"}
    lines = _put_cumulative(sheet, pair, source, data)
    sheet.chart(row + 1, sheet.book.scatter_chart("Cumulative cost of one node", across, upward, lines))
    across = {"name": "share of hours used", "num_format": "0%", "max": 1}
    upward = {"name": f"{money} per accelerator-hour", "num_format": "#,##0.00"}
    lines, title = _put_by_share(sheet, pair, source, data), "Cost of an accelerator-hour that is used"
    sheet.chart(row + 1, sheet.book.scatter_chart(title, across, upward, lines), CHART_COLUMN)


def _put_cumulative(sheet: WorkbookSheet, pair: BreakEven, source: int, row: int) -> list[Series]:
    """Month 0 is delivery, with the capital for owning and no cost for renting; each month adds its cost. The lines of
    the chart."""
    sheet.header(("month", "owning", "renting", "owning less renting"), row, first=MONTHS)
    capital, own, rent = (a1(source, column, True, True) for column in (CAPITAL, OWN, RENT))
    first = row + 1
    for month in range(pair.life_months + 1):
        row += 1
        now, owning, renting = a1(row, MONTHS), pair.capital + month * pair.own_per_month, month * pair.rent_per_month
        cells: tuple[Cell, ...] = (
            float(month),
            Formula(f"={capital}+{now}*{own}", owning),
            Formula(f"={now}*{rent}", renting),
            Formula(f"={a1(row, MONTHS + 1)}-{a1(row, MONTHS + 2)}", owning - renting),
        )
        sheet.put_row(row, cells, ("flag", "money", "money", "money"), MONTHS)
    lines = _chart_lines(sheet, MONTHS, first, row)
    row += 1
    if pair.month is None:
        sheet.put(row, MONTHS, "The lines do not cross within its life.", "note")
        return lines
    at = pair.capital / (pair.rent_per_month - pair.own_per_month)
    crossing = (
        Formula(f"={capital}/({rent}-{own})", at),
        Formula(f"={a1(row, MONTHS)}*{rent}", at * pair.rent_per_month),
    )
    cells = (*crossing, "where the lines cross: month and cost")
    sheet.put_row(row, cells, ("figure", "money", "note"), MONTHS)
    return [*lines, _crossing_point(sheet, row, MONTHS, f"break-even after {at:,.1f} months")]


def _put_by_share(sheet: WorkbookSheet, pair: BreakEven, source: int, row: int) -> list[Series]:
    """The cost of an hour of use: constant for renting, inversely proportional to use for owning. The lines of the
    chart."""
    sheet.header(("share of hours used", "owning", "renting"), row, first=SHARE)
    own_hour, rent_hour = (a1(source, column, True, True) for column in (OWN_HOUR, RENT_HOUR))
    own, rent = pair.own_cost_per_accelerator_hour, pair.rent_cost_per_accelerator_hour
    first, rented = row + 1, Formula(f"={rent_hour}", rent)
    for share in SHARES:
        row += 1
        owned = Formula(f"={own_hour}/{a1(row, SHARE)}", own / share)
        sheet.put_row(row, (share, owned, rented), ("percent", "figure", "figure"), SHARE)
    lines = _chart_lines(sheet, SHARE, first, row)
    row += 1
    if own > rent:
        sheet.put(row, SHARE, "Not even full use makes owning cheaper.", "note")
        return lines
    even, words = Formula(f"={own_hour}/{rent_hour}", own / rent), "where the lines cross: share and cost"
    sheet.put_row(row, (even, rented, words), ("percent", "figure", "note"), SHARE)
    return [*lines, _crossing_point(sheet, row, SHARE, f"break-even at {own / rent:.1%} of the hours")]


def _chart_lines(sheet: WorkbookSheet, across: int, first: int, last: int) -> list[Series]:
    """Owning and renting over the column `across`, whose next columns have their costs."""
    return [
        {
            "name": name,
            "categories": [sheet.name, first, across, last, across],
            "values": [sheet.name, first, across + offset, last, across + offset],
            "line": {"color": colour, "width": 2.25},
        }
        for offset, name, colour in ((1, "owning", OWNING), (2, "renting", RENTING))
    ]


def _crossing_point(sheet: WorkbookSheet, row: int, column: int, name: str) -> Series:
    """Where the lines cross: across in `column`, with its height in the next one."""
    red = {"color": CROSSING}
    return {
        "name": name,
        "categories": [sheet.name, row, column, row, column],
        "values": [sheet.name, row, column + 1, row, column + 1],
        "marker": {"type": "diamond", "size": 11, "fill": red, "border": red},
        "line": red,
    }
