"""The sheets Bridge, Unit economics and Depreciation: differences, costs per unit and tax are formulas."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.answer import Plan
from planner.answer.views import Depreciation, UnitCost
from planner.reports._shared.again import ledger_of
from planner.reports._shared.figures import year_named
from planner.reports._shared.views import METHODS
from planner.reports.xlsx._assumptions import Rate
from planner.reports.xlsx._book import HEADER_ROW, Book, Cell, Formula, Sheet, at, down
from planner.reports.xlsx._cash import FIRST, MONTHS, Block
from planner.reports.xlsx._costs import Costs
from planner.reports.xlsx._payments import CATEGORY, CHOICE, TOTAL, Payments


def write_bridge(book: Book, plan: Plan, cash: Sheet, blocks: Sequence[Block], rate: Rate) -> Formula | None:
    """Writes the sheet: present costs by category of sheet Cash flow; the sum of all differences, None where there is
    no runner-up."""
    steps, advice = plan.views.bridge, plan.recommendation
    if not steps:
        return None
    by_name = {block.strategy.name: block for block in blocks}
    pair = [by_name[name] for name in (advice.runner_up, advice.strategy) if name is not None]
    sheet = book.sheet("Bridge")
    sheet.widths((26, 20, 20, 20))
    sheet.heading(
        f"From runner-up to recommendation, present cost, {plan.currency}", "Largest difference first; positive: saved."
    )
    sheet.header(("category", f"{advice.runner_up} (runner-up)", f"{advice.strategy} (recommended)", "saved"))
    first = HEADER_ROW + 1
    told = {step.category for step in steps}
    unpaid = {category for block in pair for category, _ in block.categories} - told
    rows = [
        *((step.category, step.runner_up, step.recommended) for step in steps),
        *((c, 0.0, 0.0) for c in sorted(unpaid)),
    ]
    for row, (category, *costs) in enumerate(rows, start=first):
        sheet.put(row, 0, category.replace("_", " "))
        for column, (block, cost) in enumerate(zip(pair, costs, strict=True), start=1):
            sheet.put(row, column, Formula(_present(category, block, cash, rate), cost), "money")
        sheet.put(row, 3, Formula(f"={at(row, 1)}-{at(row, 2)}", costs[0] - costs[1]), "money")
    end = first + len(rows)
    sheet.put(end, 0, "total", "total_text")
    sums = [math.fsum(costs) for costs in zip(*((a, b, a - b) for _, a, b in rows), strict=True)]
    for column, value in enumerate(sums, start=1):
        sheet.put(end, column, Formula(f"=SUM({down(column, first, end - 1)})", value), "total")
    return Formula(f"={sheet.address(end, 3)}", sums[2])


def _present(category: str, block: Block, cash: Sheet, rate: Rate) -> str:
    """The present cost of a category: what is paid at the start of months and at their end, each discounted."""
    months = cash.range(MONTHS, FIRST, block.last_column)
    parts = [
        f"SUMPRODUCT({cash.range(row, FIRST, block.last_column)}/(1+{rate.monthly})^({months}-{int(when == 'start')}))"
        for (name, when), row in block.categories.items()
        if name == category
    ]
    return f"={'+'.join(parts) or '0'}"


def write_unit_costs(book: Book, plan: Plan, of_pairs: Costs) -> None:
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
    rows = [
        _unit_cost(row, cost, of_pairs.get((cost.strategy, cost.workload), (cost.cost, cost.present_cost)))
        for row, cost in enumerate(plan.views.unit_costs, start=HEADER_ROW + 1)
    ]
    sheet.table([head for head, _, _ in columns], [style for _, _, style in columns], rows)


def _unit_cost(row: int, cost: UnitCost, both: tuple[Cell, Cell]) -> tuple[Cell, ...]:
    each = Formula(f"={at(row, 6)}/{at(row, 3)}*{at(row, 5)}", cost.cost_each)
    present = Formula(f"={at(row, 7)}/{at(row, 3)}*{at(row, 5)}", cost.present_cost_each)
    read: tuple[Cell, ...] = (cost.strategy, cost.workload, cost.team, cost.units, cost.each, cost.per)
    return (*read, *both, each, present)


TAX_COLUMNS = (
    ("strategy", 10, "text"), ("hardware", 34, "wrap"), ("method", 14, "text"), ("year of the plan", 18, "text"),
    ("year", 7, "count"), ("cost or price", 18, "money"), ("part of the cost", 9, "input"), ("deducted", 18, "money"),
    ("left in the books", 18, "money"), ("income tax", 10, "percent"), ("tax saved", 18, "money"),
    ("worth today", 18, "money"),
)  # fmt: skip
COST, PART, DEDUCTED, BOOKS, FRACTION, SAVED, TODAY = 5, 6, 7, 8, 9, 10, 11
INCOME_TAX = "income_tax_fraction"


def write_depreciation(
    book: Book, plan: Plan, rate: Rate, payments: Payments, figures: Mapping[str, str]
) -> tuple[tuple[str, Formula, float], ...]:
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
        total, row = _Schedule(sheet, plan, each, rate, payments, figures).write(row)
        found.append((f"{each.strategy}: {each.name}, month {each.month}", total, each.present_value))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Schedule:
    """Writes the years of one purchase and its sale."""

    sheet: Sheet
    plan: Plan
    each: Depreciation
    rate: Rate
    payments: Payments
    figures: Mapping[str, str]

    def write(self, row: int) -> tuple[Formula, int]:
        """What it is worth today, and the row where the next may begin."""
        sheet, plan, each = self.sheet, self.plan, self.each
        first, name = row, f"{each.count} x {each.name}"
        words = ("text", "wrap", "text", "text", "count")
        left, worth = each.cost, []
        for year in each.years:
            cells = (each.strategy, name, METHODS[each.method], year_named(plan, year.year), year.year)
            sheet.put_row(row, cells, words)
            before = at(row - 1, BOOKS) if row > first else at(row, COST)
            left -= year.deduction
            sheet.put(row, COST, self._paid(("hardware", "installation"), each.cost) if row == first else None, "money")
            sheet.put(row, PART, year.deduction / each.cost if each.cost else 0.0, "input")
            deducted = Formula(f"={at(first, COST, True, True)}*{at(row, PART)}", year.deduction)
            sheet.put(row, DEDUCTED, deducted, "money")
            sheet.put(row, BOOKS, Formula(f"={before}-{at(row, DEDUCTED)}", left), "money")
            worth.append(self._tax(row, year.year, year.deduction))
            row += 1
        sold = each.years[-1].year
        sheet.put_row(row, (each.strategy, name, "sale", year_named(plan, sold), sold), words)
        sheet.put(row, COST, self._paid(("resale",), each.resale), "money")
        sheet.put(row, PART, None, "text")
        sheet.put(row, DEDUCTED, Formula(f"={at(row - 1, BOOKS)}-{at(row, COST)}", left - each.resale), "money")
        sheet.put(row, BOOKS, 0.0, "money")
        worth.append(self._tax(row, sold, left - each.resale))
        row += 1
        sheet.put(row, 0, "total", "total_text")
        for column in range(1, TODAY):
            sheet.put(row, column, None, "total")
        sheet.put(row, TODAY, Formula(f"=SUM({down(TODAY, first, row - 1)})", sum(worth)), "total")
        return Formula(f"={sheet.address(row, TODAY)}", sum(worth)), row + 2

    def _paid(self, categories: Sequence[str], amount: float) -> Cell:
        """What is paid (a sale: received) for it by sheet Payments; the amount itself where it is not paid so: a loan
        or a lease pays it in other ways."""
        ledger, each = ledger_of(self.plan), self.each
        choice = next(
            (
                number
                for number, made in enumerate(ledger.choices)
                if (made.strategy, made.what) == (each.strategy, each.name) and made.quantity[each.month - 1]
            ),
            None,
        )
        lines = [line for line in ledger.lines if line.choice == choice and line.category in categories]
        paid = math.fsum(a for line in lines for a in ledger.amounts(line, line.rate_value, 0.0).values())
        sign = "-" if categories == ("resale",) else ""
        if choice is None or not math.isclose(abs(paid), amount, rel_tol=1e-9, abs_tol=0.005):
            return amount
        total = self.payments.column(TOTAL)
        sums = (self.payments.sum_of(total, {CHOICE: str(choice + 1), CATEGORY: f'"{name}"'}) for name in categories)
        return Formula(f"={sign}({'+'.join(sums)})", amount)

    def _tax(self, row: int, year: int, deducted: float) -> float:
        """The tax that a deduction saves, and what that is worth today at the live rate; its value."""
        sheet, fraction = self.sheet, self.each.tax_fraction
        saved = deducted * fraction
        today = saved / (1 + self.plan.discount_rate_annual) ** year
        cell = self.figures.get(INCOME_TAX)
        sheet.put(row, FRACTION, Formula(f"={cell}", fraction) if cell else fraction, "percent")
        sheet.put(row, SAVED, Formula(f"={at(row, DEDUCTED)}*{at(row, FRACTION)}", saved), "money")
        sheet.put(row, TODAY, Formula(f"={at(row, SAVED)}/(1+{self.rate.annual})^{at(row, 4)}", today), "money")
        return today
