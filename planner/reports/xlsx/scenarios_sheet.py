"""The sheet Scenarios: every strategy as planned, and with all ranged figures at their cheap or at their dear ends.

The same decisions are priced again. The scenarios were computed with the plan and do not change; one column follows the
workbook.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.reports._content.repricing import HIGH_COST, LOW_COST, SCENARIOS, LedgerRepricing
from planner.reports.xlsx.assumptions_sheet import SCENARIO
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, PlanWorkbook, WorkbookSheet, a1, difference_formula
from planner.result import Plan

COSTS = ("total cost", "present cost")
BASE_COLUMN, NOW = 2, 7
NOTE = (
    "Base: as planned. Low and high cost: every assumption below at the end of its range at which the recommended "
    "strategy costs less, or more; the other strategies are priced with the same assumptions. Choices do not change: a "
    "plan made for those assumptions may decide otherwise."
)


@dataclass(frozen=True, slots=True)
class ScenarioResults:
    """Every strategy's own, and the strategy that is cheapest in this workbook now."""

    of_strategies: tuple[ScenarioComparison, ...] = ()
    cheapest: Formula | None = None


@dataclass(frozen=True, slots=True)
class ScenarioComparison:
    """A strategy's present cost in this workbook, and under the active scenario."""

    strategy: str
    now: Formula
    stored: Formula


def write(
    book: PlanWorkbook,
    plan: Plan,
    repricing: LedgerRepricing,
    blocks: Sequence[CashFlowBlock],
    cells: Mapping[str, str],
) -> ScenarioResults:
    """Writes the sheet, where a strategy is possible. `cells` are those of figures in use, by name."""
    if not blocks:
        return ScenarioResults()
    sheet = book.sheet("Scenarios")
    costs: dict[str, list[tuple[float, float]]] = {
        block.strategy.name: [repricing.costs(block.strategy.name, repricing.moves(scenario)) for scenario in SCENARIOS]
        for block in blocks
    }
    sheet.widths((38, 40, 18, 18, 18, 18, 18, 20, 18))
    sheet.heading(f"Scenarios, {plan.currency}", NOTE)
    heads = ("strategy", "cost", *SCENARIOS, *_less_base(SCENARIOS[1:]), "in this workbook now", "now less base")
    sheet.header(heads, stays=False)  # the table below has other heads
    sheet.freeze(HEADER_ROW)
    writer = _ScenariosWriter(sheet, repricing, cells)
    row, comparisons = HEADER_ROW + 1, []
    for block in blocks:
        name, by_scenario = block.strategy.name, costs[block.strategy.name]
        for index, (cost, now) in enumerate(zip(COSTS, (block.total_cost, block.present_cost), strict=True)):
            writer.costs(row, (name, cost), [pair[index] for pair in by_scenario], now)
            row += 1
        live = Formula(f"={sheet.address(row - 1, NOW)}", block.present_cost.value)
        comparisons.append(ScenarioComparison(name, live, _active_scenario_cost(sheet, row - 1, by_scenario[0][1])))
    cheapest = writer.cheapest(row, plan.recommendation.strategy, [block.strategy.name for block in blocks], costs)
    writer.moved(row + 2)
    return ScenarioResults(tuple(comparisons), cheapest)


def _less_base(names: Sequence[str]) -> list[str]:
    return [f"{name} less base" for name in names]


def _active_scenario_cost(sheet: WorkbookSheet, row: int, base: float) -> Formula:
    """The stored cost of the scenario that is active in sheet Assumptions."""
    planned, low, high = (sheet.address(row, BASE_COLUMN + index) for index in range(len(SCENARIOS)))
    return Formula(f'=IF({SCENARIO}="{LOW_COST}",{low},IF({SCENARIO}="{HIGH_COST}",{high},{planned}))', base)


@dataclass(frozen=True, slots=True)
class _ScenariosWriter:
    """Writes the rows of the sheet."""

    sheet: WorkbookSheet
    again: LedgerRepricing
    cells: Mapping[str, str]

    def costs(self, row: int, words: tuple[str, str], amounts: Sequence[float], now: Formula) -> None:
        """One cost of a strategy under every scenario and now, and differences to the base."""
        base = a1(row, BASE_COLUMN, fixed_column=True)
        for column, word in enumerate(words):
            self.sheet.put(row, column, word)
        for column, amount in enumerate(amounts, start=BASE_COLUMN):
            self.sheet.put(row, column, amount, "money")
        for column, amount in enumerate(amounts[1:], start=BASE_COLUMN + 1):
            self.sheet.put(row, column + 2, difference_formula(a1(row, column), base, amount - amounts[0]), "money")
        self.sheet.put(row, NOW, now, "money")
        self.sheet.put(row, NOW + 1, difference_formula(a1(row, NOW), base, float(now.value) - amounts[0]), "money")

    def cheapest(
        self, row: int, chosen: str | None, names: Sequence[str], costs: Mapping[str, Sequence[tuple[float, float]]]
    ) -> Formula:
        """The strategy with the least present cost, to a cent; the recommended one where it is among several. The cell
        for this workbook now."""
        order = sorted(names, key=lambda name: name != chosen)
        rows = {name: HEADER_ROW + 1 + len(COSTS) * names.index(name) + 1 for name in names}
        self.sheet.put(row, 0, "cheapest strategy", "total_text")
        self.sheet.put(row, 1, "by present cost; of equal ones as advised", "total_text")
        for column in range(BASE_COLUMN, NOW + 2):
            self.sheet.put(row, column, None, "total_text")
        for index, column in enumerate((*range(BASE_COLUMN, BASE_COLUMN + len(SCENARIOS)), NOW)):
            scenario = index if column != NOW else 0  # the stored value for now is the base
            # compared to a cent, as the formula does: a smaller difference is a rounding error
            least = min(order, key=lambda name: round(costs[name][scenario][1], 2))
            cells = {name: a1(rows[name], column) for name in order}
            text = f'"{order[-1]}"'
            for name in reversed(order[:-1]):
                text = f'IF(ROUND({cells[name]},2)=ROUND(MIN({",".join(cells.values())}),2),"{name}",{text})'
            self.sheet.put(row, column, Formula(f"={text}", least), "total_right")
        return Formula(f"={self.sheet.address(row, NOW)}", least)

    def moved(self, row: int) -> None:
        """The figures that a scenario moves, with their values under each and the one in use."""
        figures = self.again.recommended
        if not figures:
            self.sheet.put(row, 0, "No assumption with a range affects payments: the scenarios are equal.", "note")
            return
        self.sheet.header(("figure that moves", "meaning", *SCENARIOS, "unit", "", "in this workbook now"), row)
        for line, each in enumerate(figures, start=row + 1):
            figure = each.figure
            values = [each.value_in_scenario(scenario) for scenario in SCENARIOS]
            now = Formula(f"={self.cells[figure.name]}", figure.value)
            cells: tuple[Cell, ...] = (figure.name, figure.meaning, *values, figure.unit, None, now)
            self.sheet.put_row(line, cells, ("wrap", "wrap", "figure", "figure", "figure", "wrap", "text", "figure"))
