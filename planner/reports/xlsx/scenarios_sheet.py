"""The sheet Scenarios: every strategy as planned, and with all ranged figures at their cheap or at their dear ends.

The same decisions are priced again. The scenarios were computed with the plan and do not change; one column follows the
workbook.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.reports._content.repricing import HIGH_COST, LOW_COST, SCENARIOS, LedgerRepricing
from planner.reports.xlsx.assumptions_sheet import SCENARIO
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock
from planner.reports.xlsx.checks_sheet import UNEDITED, WorkbookCheck
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, PlanWorkbook, WorkbookSheet, a1, difference_formula
from planner.result import Plan

COSTS = ("total cost", "present cost")
BASE_COLUMN, NOW = 2, 7
NOTE = (
    "Base: as planned. Low and high cost: every assumption below at the end of its range at which the recommended "
    "strategy costs less, or more; the other strategies are priced with the same assumptions. Choices do not change: a "
    "plan made for those assumptions may decide otherwise."
)
ScenarioCosts = Mapping[str, Sequence[tuple[float, float]]]
"""By strategy the total and the present cost under each scenario."""


def write(
    book: PlanWorkbook,
    plan: Plan,
    repricing: LedgerRepricing,
    blocks: Sequence[CashFlowBlock],
    cells: Mapping[str, str],
) -> tuple[list[WorkbookCheck], Formula | None]:
    """Writes the sheet, where a strategy is possible: its costs now against those of the active scenario, and the
    strategy that is cheapest in this workbook now. `cells` are those of figures in use, by name."""
    if not blocks:
        return [], None
    sheet = book.sheet("Scenarios")
    costs: ScenarioCosts = {
        block.strategy.name: [repricing.costs(block.strategy.name, repricing.moves(scenario)) for scenario in SCENARIOS]
        for block in blocks
    }
    sheet.widths((38, 40, 18, 18, 18, 18, 18, 20, 18))
    sheet.heading(f"Scenarios, {plan.currency}", NOTE)
    less_base = (f"{name} less base" for name in SCENARIOS[1:])
    heads = ("strategy", "cost", *SCENARIOS, *less_base, "in this workbook now", "now less base")
    sheet.header(heads, stays=False)  # the table below has other heads
    sheet.freeze(HEADER_ROW)
    row, checks = HEADER_ROW + 1, []
    for block in blocks:
        name, by_scenario = block.strategy.name, costs[block.strategy.name]
        for index, (cost, now) in enumerate(zip(COSTS, (block.total_cost, block.present_cost), strict=True)):
            _put_costs(sheet, row, (name, cost), [pair[index] for pair in by_scenario], now)
            row += 1
        live = Formula(f"={sheet.address(row - 1, NOW)}", block.present_cost.value)
        stored = _active_scenario_cost(sheet, row - 1, by_scenario[0][1])
        checks.append(WorkbookCheck(f"{name}: present cost under the scenario", live, stored, holds=UNEDITED))
    cheapest = _put_cheapest(sheet, row, plan.recommendation.strategy, costs)
    _put_moved_figures(sheet, row + 2, repricing, cells)
    return checks, cheapest


def _active_scenario_cost(sheet: WorkbookSheet, row: int, base: float) -> Formula:
    """The stored cost of the scenario that is active in sheet Assumptions."""
    planned, low, high = (sheet.address(row, BASE_COLUMN + index) for index in range(len(SCENARIOS)))
    return Formula(f'=IF({SCENARIO}="{LOW_COST}",{low},IF({SCENARIO}="{HIGH_COST}",{high},{planned}))', base)


def _put_costs(sheet: WorkbookSheet, row: int, words: tuple[str, str], amounts: Sequence[float], now: Formula) -> None:
    """One cost of a strategy under every scenario and now, and differences to the base."""
    base = a1(row, BASE_COLUMN, fixed_column=True)
    differences = [
        difference_formula(a1(row, column), base, amount - amounts[0])
        for column, amount in ((BASE_COLUMN + 1, amounts[1]), (BASE_COLUMN + 2, amounts[2]), (NOW, float(now.value)))
    ]
    cells: tuple[Cell, ...] = (*words, *amounts, *differences[:2], now, differences[2])
    sheet.put_row(row, cells, ("text", "text", *("money" for _ in cells[2:])))


def _put_cheapest(sheet: WorkbookSheet, row: int, chosen: str | None, costs: ScenarioCosts) -> Formula:
    """The strategy with the least present cost, to a cent; the recommended one where it is among several. The cell
    for this workbook now."""
    order = sorted(costs, key=lambda name: name != chosen)
    rows = {name: HEADER_ROW + 1 + len(COSTS) * index + 1 for index, name in enumerate(costs)}
    sheet.put(row, 0, "cheapest strategy", "total_text")
    sheet.put(row, 1, "by present cost; of equal ones as advised", "total_text")
    for column in range(BASE_COLUMN, NOW + 2):
        sheet.put(row, column, None, "total_text")
    for index, column in enumerate((*range(BASE_COLUMN, BASE_COLUMN + len(SCENARIOS)), NOW)):
        scenario = index if column != NOW else 0  # the stored value for now is the base
        # compared to a cent, as the formula does: a smaller difference is a rounding error
        least = min(order, key=lambda name: round(costs[name][scenario][1], 2))
        cells = {name: a1(rows[name], column) for name in order}
        text = f'"{order[-1]}"'
        for name in reversed(order[:-1]):
            text = f'IF(ROUND({cells[name]},2)=ROUND(MIN({",".join(cells.values())}),2),"{name}",{text})'
        sheet.put(row, column, Formula(f"={text}", least), "total_right")
    return Formula(f"={sheet.address(row, NOW)}", least)


def _put_moved_figures(sheet: WorkbookSheet, row: int, repricing: LedgerRepricing, in_use: Mapping[str, str]) -> None:
    """The figures that a scenario moves, with their values under each and the one in use."""
    if not repricing.recommended:
        sheet.put(row, 0, "No assumption with a range affects payments: the scenarios are equal.", "note")
        return
    sheet.header(("figure that moves", "meaning", *SCENARIOS, "unit", "", "in this workbook now"), row)
    for line, each in enumerate(repricing.recommended, start=row + 1):
        figure = each.figure
        values = [each.value_in_scenario(scenario) for scenario in SCENARIOS]
        now = Formula(f"={in_use[figure.name]}", figure.value)
        cells: tuple[Cell, ...] = (figure.name, figure.meaning, *values, figure.unit, None, now)
        sheet.put_row(line, cells, ("wrap", "wrap", "figure", "figure", "figure", "wrap", "text", "figure"))
