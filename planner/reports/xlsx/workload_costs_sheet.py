"""The sheets Shares and Workload costs: what each choice costs, whose part of it is whose, and what workloads cost.

A workload bears what it uses, its part of what is bought (by hours, kept as decided) and of overheads by other costs.
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
    """Where the cost and the present cost of each pair stand, and the sum of costs by strategy."""

    of_pairs: Mapping[Pair, tuple[Formula, Formula]] = field(default_factory=dict)
    sums: Mapping[str, Formula] = field(default_factory=dict)


FIRST = HEADER_ROW + 1
STRATEGY, WORKLOAD = 0, 1
PART, SHARED = 3, (4, 5)
OWN, COST = (2, 6), (5, 9)
"""The columns of own use; those of what is bought, of overheads and of their sum follow. Cost first, then present."""


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
    own, bought, overheads = defaultdict(list), defaultdict(list), defaultdict(list)
    for choice, (cost, present) in zip(kinds, amounts, strict=True):
        if choice.workload:
            own[choice.strategy, choice.workload].append((cost, present))
        elif not choice.parts:
            overheads[choice.strategy].append((cost, present))
        for workload, part in choice.parts:
            bought[choice.strategy, workload].append((part * cost, part * present))
    shares = _put_shares(book, plan, repricing, choices, amounts)
    borne = {pair: (_sum_amounts(own[pair]), _sum_amounts(bought[pair])) for pair in pairs}
    writer = _WorkloadCostsWriter(book.sheet("Workload costs"), choices, shares, borne)
    return writer.write(plan.currency, {name: _sum_amounts(overheads[name]) for name, _ in pairs})


def _sum_amounts(amounts: Iterable[Amounts]) -> Amounts:
    pairs = [*amounts]
    return math.fsum(cost for cost, _ in pairs), math.fsum(present for _, present in pairs)


def _put_choice_costs(
    repricing: LedgerRepricing, choices: ChoicesSheet, payments: PaymentsSheet, figures: Mapping[str, str]
) -> list[Amounts]:
    """Writes what each choice costs, with support plan and tax; those amounts."""
    times = bill_factor_formula(figures)
    line_costs: list[list[Amounts]] = [[] for _ in repricing.ledger.choices]
    for line, total, present in zip(repricing.ledger.lines, payments.totals, payments.presents, strict=True):
        factor = repricing.bill_factor if line.is_billed else 1.0
        line_costs[line.choice].append((total * factor, present * factor))
    choice_costs = [_sum_amounts(amounts) for amounts in line_costs]
    for number, worth in enumerate(choice_costs):
        row = choices.row(number)
        for column, paid, amount in zip((of_choices.COST, of_choices.PRESENT), (TOTAL, PRESENT), worth, strict=True):
            plain, billed = (
                payments.sum_of(payments.column(paid), {CHOICE: a1(row, 0, fixed_column=True), BILLED: flag})
                for flag in ("0", "1")
            )
            choices.sheet.put(row, column, Formula(f"={plain}+{times}*{billed}", amount), "money")
    return choice_costs


@dataclass(frozen=True, slots=True)
class _SharesSheet:
    """Where the parts of what is bought stand."""

    sheet: WorkbookSheet
    last: int

    def column(self, column: int) -> str:
        return self.sheet.column(column, FIRST, self.last)


def _put_shares(
    book: PlanWorkbook, plan: Plan, repricing: LedgerRepricing, choices: ChoicesSheet, amounts: list[Amounts]
) -> _SharesSheet | None:
    """Writes whose part of what is bought is whose; None where nothing is."""
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
        ("strategy", 10, "text"), ("workload", 30, "wrap"), ("what is bought", 46, "wrap"), ("part", 12, "input"),
        (f"cost, {plan.currency}", 18, "money"), (f"present cost, {plan.currency}", 18, "money"),
    )  # fmt: skip
    note = "Shares by hours used, idle hours included; they stay as decided, whatever is changed."
    sheet.list("Shares", note, columns, rows)
    return _SharesSheet(sheet, HEADER_ROW + len(rows))


@dataclass(frozen=True, slots=True)
class _WorkloadCostsWriter:
    """Writes the sheet Workload costs; `borne` is what each pair uses itself, and its part of what is bought."""

    sheet: WorkbookSheet
    choices: ChoicesSheet
    shares: _SharesSheet | None
    borne: Mapping[Pair, tuple[Amounts, Amounts]]

    def write(self, money: str, overheads: Mapping[str, Amounts]) -> WorkloadCostCells:
        """A row for each pair; `overheads` of each strategy."""
        self.sheet.widths((10, 30, *(17 for _ in range(8))))
        note = "The costs of all workloads add up to those of their strategy; idle hours are in them."
        self.sheet.heading("Workload costs", note)
        heads = ("own use", "part of what is bought", "part of overheads", "cost")
        titles = (*(f"{head}, {money}" for head in heads), *(f"{head}, present, {money}" for head in heads))
        self.sheet.header(("strategy", "workload", *titles))
        of_all = {name: self._direct_costs(name) for name in overheads}
        cost_cells = {}
        for row, (pair, (own, bought)) in enumerate(self.borne.items(), start=FIRST):
            self.sheet.put(row, STRATEGY, pair[0])
            self.sheet.put(row, WORKLOAD, self.choices.labels[pair[1]], "wrap")
            cost, present = (
                self._cost_row(row, view, (own[view], bought[view]), overheads[pair[0]][view] * part)
                for view, part in enumerate(
                    (own[view] + bought[view]) / all_others if all_others else 1 / count
                    for view, (all_others, count) in enumerate(of_all[pair[0]])
                )
            )
            cost_cells[pair] = cost, present
        return WorkloadCostCells(cost_cells, {name: self._strategy_total(name, cost_cells) for name in overheads})

    def _strategy_total(self, name: str, cost_cells: Mapping[Pair, tuple[Formula, Formula]]) -> Formula:
        """What the workloads of a strategy cost in all, for sheet Checks."""
        last = HEADER_ROW + len(cost_cells)
        area, strategies = self.sheet.column(COST[0], FIRST, last), self.sheet.column(STRATEGY, FIRST, last)
        costs = (float(cost.value) for (strategy, _), (cost, _) in cost_cells.items() if strategy == name)
        return Formula(f'=SUMIFS({area},{strategies},"{name}")', math.fsum(costs))

    def _direct_costs(self, name: str) -> list[tuple[float, int]]:
        """What its workloads bear without overheads, as cost and as present cost, and how many they are."""
        borne = [amounts for pair, both in self.borne.items() if pair[0] == name for amounts in both]
        return [(each, len(borne) // 2) for each in _sum_amounts(borne)]

    def _cost_row(self, row: int, view: int, amounts: tuple[float, float], overhead: float) -> Formula:
        """Own use, parts and their sum, as cost (view 0) or present cost; where the sum stands."""
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
        """What the choices of the row's strategy cost that meet the criteria."""
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
        mine, name = (a1(row, column, fixed_column=True) for column in (STRATEGY, WORKLOAD))
        return f"SUMPRODUCT(({strategies}={mine})*EXACT({workloads},{name})*{values})"

    def _overhead_formula(self, row: int, view: int) -> str:
        """The strategy's overheads by the workload's part of all other costs; in equal parts where there are none."""
        last, mine = HEADER_ROW + len(self.borne), a1(row, STRATEGY, fixed_column=True)
        strategies = self.sheet.column(STRATEGY, FIRST, last)
        others = "+".join(
            f"SUMIFS({self.sheet.column(column, FIRST, last)},{strategies},{mine})"
            for column in (OWN[view], OWN[view] + 1)
        )
        own = f"({a1(row, OWN[view])}+{a1(row, OWN[view] + 1)})/({others})"
        overheads = self._choice_costs_formula(row, view, {of_choices.BORNE_BY: f'"{of_choices.BY_COST}"'})
        return f"{overheads}*IF(({others})=0,1/COUNTIF({strategies},{mine}),{own})"
