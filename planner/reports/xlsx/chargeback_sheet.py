"""The sheet Chargeback: each choice of the recommended strategy by month, and the part of each cost centre.

Amounts are sums over sheet Payments; parts are those of sheets Shares and Workload costs, so that cost centres follow
both. Workloads with a budget are a group of their own inside their cost centre: their cost is held against it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from planner.reports._content.cost_centres import NO_TEAM, group_by_team
from planner.reports._content.number_format import month_name
from planner.reports._content.repricing import LedgerRepricing, last_month
from planner.reports.xlsx.cash_flow_sheet import bill_factor_formula
from planner.reports.xlsx.effective_cost_sheet import effective_formula
from planner.reports.xlsx.payments_sheet import BILLED, CHOICE, PaymentsSheet
from planner.reports.xlsx.workbook import (
    MONTHS_ROW,
    Cell,
    Formula,
    PlanWorkbook,
    WorkbookSheet,
    a1,
    fitting_width,
    row_range,
)
from planner.reports.xlsx.workload_costs_sheet import WorkloadCostCells, part_cells
from planner.result import Plan
from pricing.frozen_values import dataclass

Group = tuple[str, bool]
"""A cost centre, and whether its workloads state a budget."""
NUMBER, TITLE, FIRST = 0, 1, 2
START = MONTHS_ROW + 2
VIEWS = ("cash", "effective", "idle")
"""The blocks of the sheet, in their order."""
ALL = -10_000
"""In place of a month."""
NOTE = (
    "The part of each choice of a cost centre, and the amounts of the choice by month: paid, then effective "
    "(amortised), then the unused part of the hours of purchases, as planned, with its cost. Parts follow "
    "sheets Shares and Workload costs. * workloads that state a budget."
)


@dataclass(frozen=True, slots=True)
class ChargebackSheet:
    """The cells of parts and amounts. `amounts` has by view (idle: in all months alone) and month (ALL: in all) those
    of each choice, `parts` by group those of each choice; `overheads` are the rows of choices shared by all cost.
    """

    sheet: WorkbookSheet
    parts: Mapping[Group, Sequence[float]]
    amounts: Mapping[str, Mapping[int, Sequence[float]]]
    first_month: int
    overheads: Sequence[int]

    def cost(self, team: str, view: str, month: int = ALL, *, budgeted: bool = False) -> Formula:
        """The charge of a cost centre in a month or in all, or only its workloads with a budget."""
        row = START + VIEWS.index(view) * (len(self.amounts["cash"][ALL]) + 2)
        groups = [group for group in self.parts if group[0] == team and (group[1] or not budgeted)]
        count, column = len(self.amounts[view][month]), FIRST + len(self.parts)
        column += 0 if month == ALL else 1 + month - self.first_month
        amounts = self.sheet.column(column, row, row + count - 1)
        terms, values = [], []
        for group in groups:
            parts = self.sheet.column(FIRST + list(self.parts).index(group), START, START + count - 1)
            terms.append(f"SUMPRODUCT({parts},{amounts})")
            values.append(_sum_products(self.parts[group], self.amounts[view][month]))
        return Formula(f"={'+'.join(terms) or '0'}", math.fsum(values))

    def shared_cost(self, team: str) -> Formula:
        """The part of a cost centre in shared costs: operators and the least fee of the support plan, effective."""
        row = START + VIEWS.index("effective") * (len(self.amounts["cash"][ALL]) + 2)
        terms, values = [], []
        for column, group in enumerate(self.parts, start=FIRST):
            if group[0] == team:
                for index in self.overheads:
                    amount = self.sheet.address(row + index, FIRST + len(self.parts))
                    terms.append(f"{self.sheet.address(START + index, column)}*{amount}")
                    values.append(self.parts[group][index] * self.amounts["effective"][ALL][index])
        return Formula(f"={'+'.join(terms) or '0'}", math.fsum(values))

    def whole_cost(self, view: str, rows: Sequence[int] = ()) -> Formula:
        """The sum of all choices in a view, or of those in these rows."""
        count, column = len(self.amounts["cash"][ALL]), FIRST + len(self.parts)
        first = START + VIEWS.index(view) * (count + 2)
        amounts, rows = self.amounts[view][ALL], rows or range(count)
        cells = [self.sheet.address(first + index, column) for index in rows]
        return Formula(f"={'+'.join(cells)}", math.fsum(amounts[index] for index in rows))


def write(
    book: PlanWorkbook, plan: Plan, repricing: LedgerRepricing, payments: PaymentsSheet, costs: WorkloadCostCells
) -> ChargebackSheet | None:
    """Writes the sheet; None where the plan charges no cost centres or has no audit trail."""
    if not plan.views.cost_centres or not plan.ledger.lines or not costs.of_pairs:
        return None
    groups = _group_workloads(plan)
    chosen = [n for n, c in enumerate(plan.ledger.choices) if c.strategy == plan.recommendation.strategy]
    months = range(payments.first_month, last_month(plan) + 1)
    amounts = {view: _choice_amounts(repricing, chosen, months, view) for view in ("cash", "effective")}
    idle = [[_idle_fraction(plan, number, month) for month in months] for number in chosen]
    by_choice = zip(*(amounts["effective"][month] for month in months), strict=True)
    amounts["idle"] = {ALL: [_sum_products(part, its) for part, its in zip(idle, by_choice, strict=True)]}
    sheet = book.sheet("Chargeback")
    width = fitting_width(amount for view in amounts.values() for its in view.values() for amount in its)
    sheet.widths((8, 44, *(14 for _ in groups), *(width for _ in range(len(months) + 1))))
    sheet.heading(f"Chargeback of {plan.recommendation.strategy}, {plan.currency}", NOTE)
    heads = ("choice", "paid for", *(f"{team} *" if budgeted else team for team, budgeted in groups), "all months")
    sheet.timeline(heads, [month_name(plan, month) for month in months], FIRST, months[0])
    parts = _put_parts(sheet, plan, chosen, groups, costs)
    _put_idle(sheet, plan, chosen, amounts["idle"][ALL], idle, FIRST + len(groups))
    for view, row in (("cash", START), ("effective", START + len(chosen) + 2)):
        sheet.put_block_title(row - 1, {"cash": "paid", "effective": "effective cost"}[view], FIRST + len(groups))
        for index, number in enumerate(chosen):
            sheet.put_row(row + index, (number + 1, plan.ledger.choices[number].what), ("count", "wrap"))
            first = FIRST + len(groups) + 1
            whole = Formula(
                f"=SUM({row_range(row + index, first, first + len(months) - 1)})", amounts[view][ALL][index]
            )
            sheet.put(row + index, first - 1, whole, "total")
            for column, month in enumerate(months, start=first):
                text = _amount_formula(payments, a1(row + index, NUMBER, fixed_column=True), view, month, column)
                sheet.put(row + index, column, Formula(text, amounts[view][month][index]), "money")
    overheads = [
        index
        for index, number in enumerate(chosen)
        if not plan.ledger.choices[number].workload and not plan.ledger.choices[number].parts
    ]
    return ChargebackSheet(sheet, parts, amounts, months[0], overheads)


def _idle_fraction(plan: Plan, number: int, month: int) -> float:
    """The unused part of the hours of a purchase in a month; all of them before and after the plan."""
    choice = plan.ledger.choices[number]
    if not choice.parts:
        return 0.0
    return 1.0 if not 1 <= month <= plan.months else choice.idle[month - 1] if choice.idle else 0.0


def _put_idle(
    sheet: WorkbookSheet,
    plan: Plan,
    chosen: Sequence[int],
    amounts: Sequence[float],
    idle: Sequence[Sequence[float]],
    column: int,
) -> None:
    """The block of idle hours: the part of each choice by month, and its effective cost."""
    size = len(chosen) + 2
    row = START + VIEWS.index("idle") * size
    sheet.put_block_title(row - 1, "idle hours, as planned", column)
    for index, number in enumerate(chosen):
        sheet.put_row(row + index, (number + 1, plan.ledger.choices[number].what), ("count", "wrap"))
        effective, parts = (
            row_range(line + index, column + 1, column + len(idle[index])) for line in (row - size, row)
        )
        sheet.put(row + index, column, Formula(f"=SUMPRODUCT({effective},{parts})", amounts[index]), "total")
        for at, part in enumerate(idle[index], start=column + 1):
            sheet.put(row + index, at, part, "percent")


def _sum_products(parts: Sequence[float], amounts: Sequence[float]) -> float:
    return math.fsum(part * amount for part, amount in zip(parts, amounts, strict=True))


def _group_workloads(plan: Plan) -> dict[Group, list[str]]:
    """The workloads of each group, cost centres in their order."""
    groups: dict[Group, list[str]] = {}
    for team in group_by_team(plan):
        for workload in plan.workloads:
            if (workload.team or NO_TEAM) == team:
                groups.setdefault((team, workload.budget_per_month is not None), []).append(workload.name)
    return groups


def _choice_amounts(
    repricing: LedgerRepricing, chosen: Sequence[int], months: range, view: str
) -> dict[int, list[float]]:
    """The amounts of each choice by month, with support plan and tax."""
    sums: dict[tuple[int, int], float] = defaultdict(float)
    for line in repricing.ledger.lines:
        factor = repricing.bill_factor if line.is_billed else 1.0
        paid = repricing.ledger.amounts(line, line.rate_value, repricing.figures.get(line.growth, 0.0))
        if view == "effective" and line.borne_to:
            borne = range(line.borne_from, line.borne_to + 1)
            paid = dict.fromkeys(borne, math.fsum(paid.values()) / len(borne))
        for month, amount in paid.items():
            sums[line.choice, month] += factor * amount
    by_month = {month: [sums[number, month] for number in chosen] for month in months}
    return by_month | {ALL: [math.fsum(sums[number, month] for month in months) for number in chosen]}


def _amount_formula(payments: PaymentsSheet, number: str, view: str, month: int, column: int) -> str:
    now, factor = a1(MONTHS_ROW, column, fixed_row=True), bill_factor_formula(payments.figures)
    plain, billed = (
        payments.sum_of(payments.month(month), {CHOICE: number, BILLED: flag})
        if view == "cash"
        else f"({effective_formula(payments, {CHOICE: number, BILLED: flag}, month, now)})"
        for flag in ("0", "1")
    )
    return f"={plain}+{factor}*{billed}"


def _put_parts(
    sheet: WorkbookSheet,
    plan: Plan,
    chosen: Sequence[int],
    groups: Mapping[Group, Sequence[str]],
    costs: WorkloadCostCells,
) -> dict[Group, list[float]]:
    """Writes the part of each group in each choice: whole for its own, its parts of shared purchases by hours, and for
    overheads its part of all other costs."""
    shared = part_cells(plan.ledger)
    parts: dict[Group, list[float]] = {group: [] for group in groups}
    for index, number in enumerate(chosen):
        choice = plan.ledger.choices[number]
        for column, (group, names) in enumerate(groups.items(), start=FIRST):
            cell: Cell = None
            if choice.workload:
                cell = 1.0 if choice.workload in names else None
            elif choice.parts:
                its = [(part, shared[number, name]) for name, part in choice.parts if name in names]
                cell = Formula(f"={'+'.join(a for _, a in its)}", math.fsum(p for p, _ in its)) if its else None
            else:
                cell = costs.part_of_overheads(str(choice.strategy), names)
            value = cell.value if isinstance(cell, Formula) else cell or 0.0
            parts[group].append(float(value) if isinstance(value, int | float) else 0.0)
            sheet.put(START + index, column, cell, "percent")
    return parts
