"""The sheets Bridge, Unit economics and Depreciation: differences, costs per unit and tax are formulas."""

from __future__ import annotations

from planner.answer import Plan
from planner.answer.views import Depreciation, UnitCost
from planner.reports._shared.figures import year_named
from planner.reports._shared.views import METHODS
from planner.reports.xlsx._assumptions import Rate
from planner.reports.xlsx._book import HEADER_ROW, Book, Cell, Formula, Sheet, at, down


def write_bridge(book: Book, plan: Plan) -> Formula | None:
    """Writes the sheet; the sum of all differences, None where there is no runner-up."""
    steps, advice = plan.views.bridge, plan.recommendation
    if not steps:
        return None
    sheet = book.sheet("Bridge")
    sheet.widths((26, 20, 20, 20))
    sheet.heading(
        f"From runner-up to recommendation, present cost, {plan.currency}", "Largest difference first; positive: saved."
    )
    sheet.header(("category", f"{advice.runner_up} (runner-up)", f"{advice.strategy} (recommended)", "saved"))
    first = HEADER_ROW + 1
    for row, step in enumerate(steps, start=first):
        cells = (step.category.replace("_", " "), step.runner_up, step.recommended)
        sheet.put_row(row, cells, ("text", "money", "money"))
        sheet.put(row, 3, Formula(f"={at(row, 1)}-{at(row, 2)}", step.runner_up - step.recommended), "money")
    end = first + len(steps)
    sheet.put(end, 0, "total", "total_text")
    sums = (
        sum(step.runner_up for step in steps),
        sum(step.recommended for step in steps),
        sum(step.runner_up - step.recommended for step in steps),
    )
    for column, value in enumerate(sums, start=1):
        sheet.put(end, column, Formula(f"=SUM({down(column, first, end - 1)})", value), "total")
    return Formula(f"={sheet.address(end, 3)}", sums[2])


def write_unit_costs(book: Book, plan: Plan) -> None:
    """Writes the sheet, if the plan tells costs per unit."""
    if not plan.views.unit_costs:
        return
    money = plan.currency
    columns = (
        ("strategy", 10, "text"), ("workload", 30, "wrap"), ("team", 20, "wrap"), ("work done, units", 22, "count"),
        ("cost of each", 24, "wrap"), ("per how many units", 12, "count"), (f"cost, {money}", 18, "money"),
        (f"present cost, {money}", 18, "money"), (f"cost of each, {money}", 16, "figure"),
        (f"present cost of each, {money}", 16, "figure"),
    )  # fmt: skip
    sheet = book.sheet("Unit economics")
    sheet.widths([width for _, width, _ in columns])
    note = "Cost over the work done, with shares of idle hours; work is not discounted."
    sheet.heading("Unit economics", note)
    rows = [_unit_cost(row, cost) for row, cost in enumerate(plan.views.unit_costs, start=HEADER_ROW + 1)]
    sheet.table([head for head, _, _ in columns], [style for _, _, style in columns], rows)


def _unit_cost(row: int, cost: UnitCost) -> tuple[Cell, ...]:
    each = Formula(f"={at(row, 6)}/{at(row, 3)}*{at(row, 5)}", cost.cost_each)
    present = Formula(f"={at(row, 7)}/{at(row, 3)}*{at(row, 5)}", cost.present_cost_each)
    read: tuple[Cell, ...] = (cost.strategy, cost.workload, cost.team, cost.units, cost.each, cost.per)
    return (*read, cost.cost, cost.present_cost, each, present)


TAX_COLUMNS = (
    ("strategy", 10, "text"), ("hardware", 34, "wrap"), ("method", 14, "text"), ("year of the plan", 18, "text"),
    ("year", 7, "count"), ("cost or price", 18, "money"), ("deducted", 18, "money"), ("left in the books", 18, "money"),
    ("income tax", 10, "percent"), ("tax saved", 18, "money"), ("worth today", 18, "money"),
)  # fmt: skip
COST, DEDUCTED, BOOKS, FRACTION, SAVED, TODAY = 5, 6, 7, 8, 9, 10


def write_depreciation(book: Book, plan: Plan, rate: Rate) -> tuple[tuple[str, Formula, float], ...]:
    """Writes the sheet, if tax was asked for; by purchase its name, what it is worth today, and what the plan says."""
    if not plan.views.depreciation:
        return ()
    sheet = book.sheet("Depreciation")
    sheet.widths([width for _, width, _ in TAX_COLUMNS])
    sheet.heading(
        f"Depreciation and tax, {plan.currency}",
        "Costs of the plan are before tax. A sale takes the rest out of the books; a loss at it is deducted too. "
        "Tax falls at the end of a year of the plan.",
    )
    sheet.header([head for head, _, _ in TAX_COLUMNS])
    row, found = HEADER_ROW + 1, []
    for each in plan.views.depreciation:
        total, row = _schedule(sheet, plan, each, rate, row)
        found.append((f"{each.strategy}: {each.name}, month {each.month}", total, each.present_value))
    return tuple(found)


def _schedule(sheet: Sheet, plan: Plan, each: Depreciation, rate: Rate, row: int) -> tuple[Formula, int]:
    first, name = row, f"{each.count} x {each.name}"
    words = ("text", "wrap", "text", "text", "count")
    left, worth = each.cost, []
    for year in each.years:
        cells = (each.strategy, name, METHODS[each.method], year_named(plan, year.year), year.year)
        sheet.put_row(row, cells, words)
        before = at(row - 1, BOOKS) if row > first else at(row, COST)
        left -= year.deduction
        sheet.put(row, COST, each.cost if row == first else None, "money")
        sheet.put(row, DEDUCTED, year.deduction, "money")
        sheet.put(row, BOOKS, Formula(f"={before}-{at(row, DEDUCTED)}", left), "money")
        worth.append(_tax(sheet, row, year.year, year.deduction, each.tax_fraction, rate, plan))
        row += 1
    sold = each.years[-1].year
    sheet.put_row(row, (each.strategy, name, "sale", year_named(plan, sold), sold), words)
    sheet.put(row, COST, each.resale, "money")
    sheet.put(row, DEDUCTED, Formula(f"={at(row - 1, BOOKS)}-{at(row, COST)}", left - each.resale), "money")
    sheet.put(row, BOOKS, 0.0, "money")
    worth.append(_tax(sheet, row, sold, left - each.resale, each.tax_fraction, rate, plan))
    row += 1
    sheet.put(row, 0, "total", "total_text")
    for column in range(1, TODAY):
        sheet.put(row, column, None, "total")
    sheet.put(row, TODAY, Formula(f"=SUM({down(TODAY, first, row - 1)})", sum(worth)), "total")
    return Formula(f"={sheet.address(row, TODAY)}", sum(worth)), row + 2


def _tax(sheet: Sheet, row: int, year: int, deducted: float, fraction: float, rate: Rate, plan: Plan) -> float:
    """The tax that a deduction saves, and what that is worth today at the live rate; its value."""
    saved = deducted * fraction
    today = saved / (1 + plan.discount_rate_annual) ** year
    sheet.put(row, FRACTION, fraction, "percent")
    sheet.put(row, SAVED, Formula(f"={at(row, DEDUCTED)}*{at(row, FRACTION)}", saved), "money")
    sheet.put(row, TODAY, Formula(f"={at(row, SAVED)}/(1+{rate.annual})^{at(row, 4)}", today), "money")
    return today
