"""The sheets Shares and Workload costs: the cost of each choice, its allocation, and the cost of each workload.

The cost of a workload is its own use, its share of purchases (by hours, as planned) and of overheads (by other costs).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field

from planner.reports._content.repricing import LedgerRepricing
from planner.reports.xlsx import choices_sheet as of_choices
from planner.reports.xlsx.cash_flow_sheet import bill_factor_formula
from planner.reports.xlsx.choices_sheet import ChoicesSheet
from planner.reports.xlsx.payments_sheet import BILLED, CHOICE, PRESENT, TOTAL, PaymentsSheet
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, PlanWorkbook, WorkbookSheet, a1
from planner.result import Plan
from planner.result.audit_trail import AuditTrail
from pricing.frozen_values import dataclass

Amounts = tuple[float, float]
"""Cost and present cost."""
Pair = tuple[str, str]
"""Strategy and workload."""


@dataclass(frozen=True, slots=True)
class WorkloadCostCells:
    """The cells of cost and present cost of each pair, and of the sum of costs by strategy."""

    of_pairs: Mapping[Pair, tuple[Formula, Formula]] = field(default_factory=dict)
    sums: Mapping[str, Formula] = field(default_factory=dict)

    def part_of_overheads(self, strategy: str, workloads: Collection[str]) -> Formula:
        """The part of a strategy's overheads that these workloads bear: that of their costs in all of its costs."""
        every = {workload: cost for (name, workload), (cost, _) in self.of_pairs.items() if name == strategy}
        own, count = [cost for workload, cost in every.items() if workload in workloads], len(every)
        total = self.sums[strategy]
        its = "+".join(cost.text.removeprefix("=") for cost in own) or "0"
        value = math.fsum(float(cost.value) for cost in own) / float(total.value) if total.value else len(own) / count
        whole = total.text.removeprefix("=")
        return Formula(f"=IF({whole}=0,{len(own)}/{count},({its})/({whole}))", value)


FIRST = HEADER_ROW + 1
STRATEGY, WORKLOAD = 0, 1
PART, SHARED = 3, (4, 5)
OWN, COST = (2, 6), (5, 9)
"""The columns of own use; those of purchases, of overheads and of their sum follow. Cost first, then present cost."""


def write(book: PlanWorkbook, plan: Plan, repricing: LedgerRepricing, payments: PaymentsSheet) -> WorkloadCostCells:
    """Fills in the costs of sheet Choices and writes both sheets; none of them where no workload is costed."""
    amounts = _put_choice_costs(repricing, payments)
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
    shares = _put_shares(book, plan, repricing, payments.choices, amounts)
    direct_costs = {pair: (_sum_amounts(own[pair]), _sum_amounts(shared[pair])) for pair in pairs}
    writer = _WorkloadCostsWriter(book.sheet("Workload costs"), payments.choices, shares, direct_costs)
    return writer.write(plan.currency, {name: _sum_amounts(overheads[name]) for name, _ in pairs})


def _sum_amounts(amounts: Iterable[Amounts]) -> Amounts:
    pairs = [*amounts]
    return math.fsum(cost for cost, _ in pairs), math.fsum(present for _, present in pairs)


def _put_choice_costs(repricing: LedgerRepricing, payments: PaymentsSheet) -> list[Amounts]:
    """Writes the cost of each choice, with support plan and tax; those amounts."""
    choices, times = payments.choices, bill_factor_formula(payments.figures)
    line_costs: list[list[Amounts]] = [[] for _ in repricing.ledger.choices]
    for line, (total, present) in zip(repricing.ledger.lines, payments.costs, strict=True):
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


def part_cells(ledger: AuditTrail) -> dict[tuple[int, str], str]:
    """By number of the choice and workload, the cell of its part on sheet Shares."""
    pairs = [(number, workload) for number, choice in enumerate(ledger.choices) for workload, _ in choice.parts]
    return {pair: f"'Shares'!{a1(FIRST + row, PART, True, True)}" for row, pair in enumerate(pairs)}


ColumnRange = Callable[[int], str]
"""The cells of a column of a sheet, as other sheets name them."""


def _put_shares(
    book: PlanWorkbook, plan: Plan, repricing: LedgerRepricing, choices: ChoicesSheet, amounts: list[Amounts]
) -> ColumnRange | None:
    """Writes the share of each workload in each purchase; None without shared purchases."""
    rows: list[tuple[Cell, ...]] = []
    for number, choice in enumerate(repricing.ledger.choices):
        cells = [choices.sheet.address(choices.row(number), c) for c in (of_choices.COST, of_choices.PRESENT)]
        for workload, part in choice.parts:
            part_cell, pairs = a1(FIRST + len(rows), PART), zip(cells, amounts[number], strict=True)
            costs = (Formula(f"={part_cell}*{cell}", part * amount) for cell, amount in pairs)
            item = f"choice {number + 1}: {choice.what}"
            rows.append((choice.strategy, choices.labels[workload], item, part, *costs))
    if not rows:
        return None
    sheet = book.sheet("Shares")
    columns = (
        ("strategy", 10, "text"), ("workload", 30, "wrap"), ("purchased item", 46, "wrap"), ("part", 12, "input"),
        (f"cost, {plan.currency}", 18, "money"), (f"present cost, {plan.currency}", 18, "money"),
    )  # fmt: skip
    note = "Shares by hours used, idle hours included; they stay as decided, whatever is changed."
    end = sheet.list("Shares", note, columns, rows)
    return lambda column: sheet.column(column, FIRST, end - 1)


@dataclass(frozen=True, slots=True)
class _WorkloadCostsWriter:
    """Writes the sheet Workload costs; `direct_costs` are own use and share of purchases of each pair."""

    sheet: WorkbookSheet
    choices: ChoicesSheet
    shares: ColumnRange | None
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
        cells: dict[Pair, tuple[Formula, Formula]] = {}
        for row, (pair, (own, shared)) in enumerate(self.direct_costs.items(), start=FIRST):
            self.sheet.put(row, STRATEGY, pair[0])
            self.sheet.put(row, WORKLOAD, self.choices.labels[pair[1]], "wrap")
            both = []
            for view, (all_others, count) in enumerate(of_all[pair[0]]):
                part = (own[view] + shared[view]) / all_others if all_others else 1 / count
                both.append(self._put_cost(row, view, (own[view], shared[view], overheads[pair[0]][view] * part)))
            cells[pair] = both[0], both[1]
        # the cost of all workloads of a strategy, for sheet Checks
        sums = {}
        for name in overheads:
            costs = math.fsum(float(cost.value) for (strategy, _), (cost, _) in cells.items() if strategy == name)
            sums[name] = Formula(f'=SUMIFS({self._column(COST[0])},{self._column(STRATEGY)},"{name}")', costs)
        return WorkloadCostCells(cells, sums)

    def _column(self, column: int) -> str:
        return self.sheet.column(column, FIRST, HEADER_ROW + len(self.direct_costs))

    def _direct_costs(self, name: str) -> list[tuple[float, int]]:
        """The cost and the present cost of its workloads without overheads, and the number of workloads."""
        both_costs = [amounts for pair, both in self.direct_costs.items() if pair[0] == name for amounts in both]
        return [(each, len(both_costs) // 2) for each in _sum_amounts(both_costs)]

    def _put_cost(self, row: int, view: int, amounts: tuple[float, float, float]) -> Formula:
        """Own use, shares of purchases and of overheads, and their sum, as cost (view 0) or present cost; the cell of
        the sum."""
        first, values = OWN[view], self.choices.column((of_choices.COST, of_choices.PRESENT)[view])
        own_use = self._exact_sum(row, values, map(self.choices.column, (of_choices.STRATEGY, of_choices.WORKLOAD)))
        shared = "0"
        if self.shares is not None:
            shared = self._exact_sum(row, self.shares(SHARED[view]), map(self.shares, (STRATEGY, WORKLOAD)))
        texts = own_use, shared, self._overhead_formula(row, view, values)
        for column, (text, amount) in enumerate(zip(texts, amounts, strict=True), start=first):
            self.sheet.put(row, column, Formula(f"={text}", amount), "money")
        parts = "+".join(a1(row, column) for column in range(first, first + 3))
        self.sheet.put(row, COST[view], Formula(f"={parts}", math.fsum(amounts)), "total")
        return Formula(f"={self.sheet.address(row, COST[view])}", math.fsum(amounts))

    def _exact_sum(self, row: int, values: str, pair: Iterable[str]) -> str:
        """The sum over the row's strategy and workload. SUMIFS would take a name such as "a*" or "<1" for a rule."""
        strategies, workloads = pair
        strategy, name = (a1(row, column, fixed_column=True) for column in (STRATEGY, WORKLOAD))
        return f"SUMPRODUCT(({strategies}={strategy})*EXACT({workloads},{name})*{values})"

    def _overhead_formula(self, row: int, view: int, costs: str) -> str:
        """The strategy's overheads by the workload's part of all other costs; in equal parts where there are none."""
        strategies, strategy = self._column(STRATEGY), a1(row, STRATEGY, fixed_column=True)
        columns = (OWN[view], OWN[view] + 1)
        others = "+".join(f"SUMIFS({self._column(column)},{strategies},{strategy})" for column in columns)
        # equal parts where all other costs are zero, since 0/0 would be an error
        own = f"({a1(row, OWN[view])}+{a1(row, OWN[view] + 1)})/({others})"
        by_cost = f'{self.choices.column(of_choices.ALLOCATED_TO)},"{of_choices.BY_COST}"'
        overheads = f"SUMIFS({costs},{self.choices.column(of_choices.STRATEGY)},{strategy},{by_cost})"
        return f"{overheads}*IF(({others})=0,1/COUNTIF({strategies},{strategy}),{own})"
