"""The sheets Shares and Workload costs: the cost of each choice, its allocation, and the cost of each workload.

The cost of a workload is its own use, its share of purchases (by hours, as planned) and of overheads (by other costs).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from planner.reports._content.repricing import LedgerRepricing
from planner.reports.xlsx import choices_sheet as of_choices
from planner.reports.xlsx.cash_flow_sheet import bill_factor_formula
from planner.reports.xlsx.choices_sheet import ChoicesSheet
from planner.reports.xlsx.payments_sheet import BILLED, CHOICE, PRESENT, TOTAL, PaymentsSheet
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, PlanWorkbook, WorkbookSheet, a1
from planner.result import Plan

Amounts = tuple[float, float]
"""Cost and present cost."""
Pair = tuple[str, str]
"""Strategy and workload."""


@dataclass(frozen=True, slots=True)
class WorkloadCostCells:
    """The cells of cost and present cost of each pair, and of the sum of costs by strategy."""

    of_pairs: Mapping[Pair, tuple[Formula, Formula]] = field(default_factory=dict)
    sums: Mapping[str, Formula] = field(default_factory=dict)


FIRST = HEADER_ROW + 1
STRATEGY, WORKLOAD = 0, 1
PART, SHARED = 3, (4, 5)
OWN, COST = (2, 6), (5, 9)
"""The columns of own use; those of purchases, of overheads and of their sum follow. Cost first, then present cost."""


def write(
    book: PlanWorkbook,
    plan: Plan,
    repricing: LedgerRepricing,
    choices: ChoicesSheet,
    payments: PaymentsSheet,
    figures: Mapping[str, str],
) -> WorkloadCostCells:
    """Fills in the costs of sheet Choices and writes both sheets; none of them where no workload is costed."""
    amounts = _put_choice_costs(repricing, choices, payments, figures)
    pairs: list[Pair] = [(s.name, cost.workload) for s in plan.strategies for cost in s.workloads]
    kinds = repricing.ledger.choices
    if not pairs or not any(choice.workload or choice.parts for choice in kinds):
        return WorkloadCostCells()
    own, shared, overheads = defaultdict(list), defaultdict(list), defaultdict(list)
    for choice, (cost, present) in zip(kinds, amounts, strict=True):
        if choice.workload:
            own[choice.strategy, choice.workload].append((cost, present))
        elif not choice.parts:
            overheads[choice.strategy].append((cost, present))
        for workload, part in choice.parts:
            shared[choice.strategy, workload].append((part * cost, part * present))
    shares = _put_shares(book, plan, repricing, choices, amounts)
    direct_costs = {pair: (_sum_amounts(own[pair]), _sum_amounts(shared[pair])) for pair in pairs}
    writer = _WorkloadCostsWriter(book.sheet("Workload costs"), choices, shares, direct_costs)
    return writer.write(plan.currency, {name: _sum_amounts(overheads[name]) for name, _ in pairs})


def _sum_amounts(amounts: Iterable[Amounts]) -> Amounts:
    pairs = [*amounts]
    return math.fsum(cost for cost, _ in pairs), math.fsum(present for _, present in pairs)


def _put_choice_costs(
    repricing: LedgerRepricing, choices: ChoicesSheet, payments: PaymentsSheet, figures: Mapping[str, str]
) -> list[Amounts]:
    """Writes the cost of each choice, with support plan and tax; those amounts."""
    times = bill_factor_formula(figures)
    line_costs: list[list[Amounts]] = [[] for _ in repricing.ledger.choices]
    for line, total, present in zip(repricing.ledger.lines, payments.totals, payments.presents, strict=True):
        factor = repricing.bill_factor if line.is_billed else 1.0
        line_costs[line.choice].append((total * factor, present * factor))
    choice_costs = [_sum_amounts(amounts) for amounts in line_costs]
    for number, costs in enumerate(choice_costs):
        row = choices.row(number)
        for column, paid, amount in zip((of_choices.COST, of_choices.PRESENT), (TOTAL, PRESENT), costs, strict=True):
            plain, billed = (
                payments.sum_of(payments.column(paid), {CHOICE: a1(row, 0, fixed_column=True), BILLED: flag})
                for flag in ("0", "1")
            )
            choices.sheet.put(row, column, Formula(f"={plain}+{times}*{billed}", amount), "money")
    return choice_costs


@dataclass(frozen=True, slots=True)
class _SharesSheet:
    """The cells of the shares of purchases."""

    sheet: WorkbookSheet
    last: int

    def column(self, column: int) -> str:
        return self.sheet.column(column, FIRST, self.last)


def _put_shares(
    book: PlanWorkbook, plan: Plan, repricing: LedgerRepricing, choices: ChoicesSheet, amounts: list[Amounts]
) -> _SharesSheet | None:
    """Writes the share of each workload in each purchase; None without shared purchases."""
    rows: list[tuple[Cell, ...]] = []
    for number, choice in enumerate(repricing.ledger.choices):
        cells = choices.cost(number), choices.present(number)
        for workload, part in choice.parts:
            label = choices.labels[workload]
            part_cell = a1(FIRST + len(rows), PART)
            costs = (
                Formula(f"={part_cell}*{c}", part * amount) for c, amount in zip(cells, amounts[number], strict=True)
            )
            rows.append((choice.strategy, label, f"choice {number + 1}: {choice.what}", part, *costs))
    if not rows:
        return None
    sheet = book.sheet("Shares")
    columns = (
        ("strategy", 10, "text"), ("workload", 30, "wrap"), ("purchased item", 46, "wrap"), ("part", 12, "input"),
        (f"cost, {plan.currency}", 18, "money"), (f"present cost, {plan.currency}", 18, "money"),
    )  # fmt: skip
    note = "Shares by hours used, idle hours included; they stay as decided, whatever is changed."
    sheet.list("Shares", note, columns, rows)
    return _SharesSheet(sheet, HEADER_ROW + len(rows))


@dataclass(frozen=True, slots=True)
class _WorkloadCostsWriter:
    """Writes the sheet Workload costs; `direct_costs` are own use and share of purchases of each pair."""

    sheet: WorkbookSheet
    choices: ChoicesSheet
    shares: _SharesSheet | None
    direct_costs: Mapping[Pair, tuple[Amounts, Amounts]]

    def write(self, money: str, overheads: Mapping[str, Amounts]) -> WorkloadCostCells:
        """A row for each pair; `overheads` of each strategy."""
        self.sheet.widths((10, 30, *(17 for _ in range(8))))
        note = "The costs of all workloads add up to those of their strategy; idle hours are in them."
        self.sheet.heading("Workload costs", note)
        heads = ("own use", "share of purchases", "share of overheads", "cost")
        titles = (*(f"{head}, {money}" for head in heads), *(f"{head}, present, {money}" for head in heads))
        self.sheet.header(("strategy", "workload", *titles))
        of_all = {name: self._direct_costs(name) for name in overheads}
        cost_cells = {}
        for row, (pair, (own, shared)) in enumerate(self.direct_costs.items(), start=FIRST):
            self.sheet.put(row, STRATEGY, pair[0])
            self.sheet.put(row, WORKLOAD, self.choices.labels[pair[1]], "wrap")
            cost, present = (
                self._cost_row(row, view, (own[view], shared[view]), overheads[pair[0]][view] * part)
                for view, part in enumerate(
                    (own[view] + shared[view]) / all_others if all_others else 1 / count
                    for view, (all_others, count) in enumerate(of_all[pair[0]])
                )
            )
            cost_cells[pair] = cost, present
        return WorkloadCostCells(cost_cells, {name: self._strategy_total(name, cost_cells) for name in overheads})

    def _strategy_total(self, name: str, cost_cells: Mapping[Pair, tuple[Formula, Formula]]) -> Formula:
        """The cost of all workloads of a strategy, for sheet Checks."""
        last = HEADER_ROW + len(cost_cells)
        area, strategies = self.sheet.column(COST[0], FIRST, last), self.sheet.column(STRATEGY, FIRST, last)
        costs = (float(cost.value) for (strategy, _), (cost, _) in cost_cells.items() if strategy == name)
        return Formula(f'=SUMIFS({area},{strategies},"{name}")', math.fsum(costs))

    def _direct_costs(self, name: str) -> list[tuple[float, int]]:
        """The cost and the present cost of its workloads without overheads, and the number of workloads."""
        both_costs = [amounts for pair, both in self.direct_costs.items() if pair[0] == name for amounts in both]
        return [(each, len(both_costs) // 2) for each in _sum_amounts(both_costs)]

    def _cost_row(self, row: int, view: int, amounts: tuple[float, float], overhead: float) -> Formula:
        """Own use, shares and their sum, as cost (view 0) or present cost; the cell of the sum."""
        first = OWN[view]
        texts = (
            self._own_use_formula(row, view),
            self._shared_cost_formula(row, view),
            self._overhead_formula(row, view),
        )
        for column, (text, amount) in enumerate(zip(texts, (*amounts, overhead), strict=True), start=first):
            self.sheet.put(row, column, Formula(f"={text}", amount), "money")
        parts = "+".join(a1(row, column) for column in range(first, first + 3))
        self.sheet.put(row, COST[view], Formula(f"={parts}", math.fsum((*amounts, overhead))), "total")
        return Formula(f"={self.sheet.address(row, COST[view])}", math.fsum((*amounts, overhead)))

    def _own_use_formula(self, row: int, view: int) -> str:
        values = self.choices.column((of_choices.COST, of_choices.PRESENT)[view])
        return self._exact_sum(row, values, map(self.choices.column, (of_choices.STRATEGY, of_choices.WORKLOAD)))

    def _choice_costs_formula(self, row: int, view: int, criteria: Mapping[int, str]) -> str:
        """The cost of the choices of the row's strategy that meet the criteria."""
        values = self.choices.column((of_choices.COST, of_choices.PRESENT)[view])
        all_criteria = {of_choices.STRATEGY: a1(row, STRATEGY, fixed_column=True), **criteria}
        pairs = "".join(f",{self.choices.column(c)},{criterion}" for c, criterion in all_criteria.items())
        return f"SUMIFS({values}{pairs})"

    def _shared_cost_formula(self, row: int, view: int) -> str:
        if self.shares is None:
            return "0"
        values = self.shares.column(SHARED[view])
        return self._exact_sum(row, values, map(self.shares.column, (STRATEGY, WORKLOAD)))

    def _exact_sum(self, row: int, values: str, pair: Iterable[str]) -> str:
        """The sum over the row's strategy and workload. SUMIFS would take a name such as "a*" or "<1" for a rule."""
        strategies, workloads = pair
        strategy, name = (a1(row, column, fixed_column=True) for column in (STRATEGY, WORKLOAD))
        return f"SUMPRODUCT(({strategies}={strategy})*EXACT({workloads},{name})*{values})"

    def _overhead_formula(self, row: int, view: int) -> str:
        """The strategy's overheads by the workload's part of all other costs; in equal parts where there are none."""
        last, strategy = HEADER_ROW + len(self.direct_costs), a1(row, STRATEGY, fixed_column=True)
        strategies = self.sheet.column(STRATEGY, FIRST, last)
        others = "+".join(
            f"SUMIFS({self.sheet.column(column, FIRST, last)},{strategies},{strategy})"
            for column in (OWN[view], OWN[view] + 1)
        )
        # equal parts where all other costs are zero, since 0/0 would be an error
        own = f"({a1(row, OWN[view])}+{a1(row, OWN[view] + 1)})/({others})"
        overheads = self._choice_costs_formula(row, view, {of_choices.ALLOCATED_TO: f'"{of_choices.BY_COST}"'})
        return f"{overheads}*IF(({others})=0,1/COUNTIF({strategies},{strategy}),{own})"
