"""The sheet Checks: totals of the workbook against those of the plan, and one master check over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from planner.reports._content.repricing import BASE
from planner.reports.xlsx.assumptions_sheet import SCENARIO
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock
from planner.reports.xlsx.effective_cost_sheet import EffectiveCostTotal
from planner.reports.xlsx.input_states import InputCounts, sum_counts
from planner.reports.xlsx.owning_sheet import NetPresentValueCell
from planner.reports.xlsx.scenarios_sheet import ScenarioComparison
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, WorkbookSheet, a1, column_range
from planner.result import Plan

TITLES = ("check", "in this workbook", "should be", "difference", "allowed", "failed (1) or not (0)")
CENT = 0.01
EDITED, WRONG = "inputs_changed", "inputs_wrong"
"""The names of the number of inputs that are not as planned, and of those that cannot be right."""
UNEDITED = f"{EDITED}=0"
AS_PLANNED = f'AND({UNEDITED},{SCENARIO}="{BASE}")'


@dataclass(frozen=True, slots=True)
class CheckedTotals:
    """The totals of the other sheets."""

    blocks: tuple[CashFlowBlock, ...]
    cost_of_workloads: Formula | None
    """In sheet Workloads, as recommended."""
    months: Formula
    rows: Formula
    effective_totals: tuple[EffectiveCostTotal, ...] = ()
    net_present_values: tuple[NetPresentValueCell, ...] = ()
    bridge: Formula | None = None
    taxes: tuple[tuple[str, Formula, float], ...] = ()
    scenarios: tuple[ScenarioComparison, ...] = ()
    sums: Mapping[str, Formula] = field(default_factory=dict)
    """The cost of all workloads of each strategy, by sheet Workload costs."""
    inputs: InputCounts = field(default_factory=lambda: sum_counts(()))


@dataclass(frozen=True, slots=True)
class WorkbookCheck:
    """One comparison; `at_most`: the left may be below the right; it rests where the condition `holds` is false."""

    name: str
    left: Formula | float
    right: Formula | float
    allowed: float = CENT
    at_most: bool = False
    holds: str = ""


def write(sheet: WorkbookSheet, plan: Plan, totals: CheckedTotals) -> Formula:
    """Writes the sheet; how many checks fail, which the Summary shows."""
    checks = list(_list_checks(plan, totals))
    sheet.widths((52, 20, 20, 16, 12, 14))
    note = "A check fails above the difference allowed; against the plan it rests once an input or the scenario changes"
    sheet.heading(f"Checks, amounts in {plan.currency}", note)
    sheet.header(TITLES)
    first = HEADER_ROW + 1
    failures = [_put_check(sheet, first + index, check) for index, check in enumerate(checks)]
    master = first + len(checks) + 1
    sheet.put(master, 0, "checks failed (master check)", "total_text")
    total = Formula(f"=SUM({column_range(5, first, master - 2)})", sum(failures))
    sheet.put(master, 5, total, "flag")
    _mark_failures(sheet, first, master)
    figures: list[tuple[str, Cell, str]] = [
        ("inputs that are not as planned", Formula(f"={totals.inputs.edited}", 0), EDITED),
        ("inputs that are no number or out of range", Formula(f"={totals.inputs.wrong}", 0), WRONG),
        ("months of the plan", plan.months, "months_of_plan"),
    ]
    for row, (label, cell, name) in enumerate(figures, start=master + 1):
        sheet.put(row, 0, label)
        sheet.put(row, 1, cell, "count")
        sheet.book.name(name, sheet.name, row, 1)
    return Formula(f"={sheet.address(master, 5)}", total.value)


def _mark_failures(sheet: WorkbookSheet, first: int, last: int) -> None:
    """Green for a passed check, red for a failed one or an error."""
    cell = a1(first, 5)
    good = f"AND(ISNUMBER({cell}),{cell}=0)"
    sheet.mark(first, 5, last, {"good": good, "bad": f"NOT(OR(ISBLANK({cell}),{good}))"})


def _list_checks(plan: Plan, totals: CheckedTotals) -> Iterator[WorkbookCheck]:
    yield WorkbookCheck("inputs that are no number or out of range", Formula(f"={WRONG}", 0), 0, 0)
    present = {block.strategy.name: block.present_cost for block in totals.blocks}
    for block in totals.blocks:
        s = block.strategy
        yield WorkbookCheck(f"{s.name}: total cost", block.total_cost, s.total_cost, holds=AS_PLANNED)
        yield WorkbookCheck(f"{s.name}: present cost", block.present_cost, s.present_cost, holds=AS_PLANNED)
        name = f"{s.name}: proven bound is not above present cost"
        yield WorkbookCheck(name, s.bound, block.present_cost, CENT, True, AS_PLANNED)
        if s.name in totals.sums:
            yield WorkbookCheck(
                f"{s.name}: costs of workloads add up to the total", totals.sums[s.name], block.total_cost
            )
        if s.name == plan.recommendation.strategy and totals.cost_of_workloads is not None:
            name, holds = "workloads: their costs add up to the total", "" if plan.ledger.lines else AS_PLANNED
            yield WorkbookCheck(name, totals.cost_of_workloads, block.total_cost, holds=holds)
        others = [other for name, other in present.items() if name != "hybrid"]
        if s.name == "hybrid" and others:
            least = min(others, key=lambda other: float(other.value))
            allowed = max(CENT, s.present_cost - s.bound)
            yield WorkbookCheck(
                "hybrid costs no more than the others", block.present_cost, least, allowed, True, AS_PLANNED
            )
    for each in totals.scenarios:
        yield WorkbookCheck(f"{each.strategy}: present cost under the scenario", each.now, each.stored, holds=UNEDITED)
    yield from _view_checks(plan, totals)
    yield WorkbookCheck("months in sheet Demand", totals.months, plan.months, 0)
    yield WorkbookCheck("rows used + rows refused = rows in", totals.rows, plan.inputs.rows_in, 0)


def _view_checks(plan: Plan, totals: CheckedTotals) -> Iterator[WorkbookCheck]:
    total: dict[str, Formula] = {block.strategy.name: block.total_cost for block in totals.blocks}
    for effective in totals.effective_totals:
        name = f"{effective.strategy}: effective cost adds up to the total cost"
        yield WorkbookCheck(name, effective.total, total[effective.strategy])
    for value in totals.net_present_values:
        name = f"{value.strategy}: net present value against cloud"
        yield WorkbookCheck(name, value.formula, value.planned, holds=AS_PLANNED)
    if totals.bridge is not None:
        yield WorkbookCheck(
            "bridge: differences add up to the saving", totals.bridge, plan.recommendation.worth, holds=AS_PLANNED
        )
    for name, formula, planned in totals.taxes:
        yield WorkbookCheck(f"depreciation, {name}: present value", formula, planned, holds=AS_PLANNED)


def _put_check(sheet: WorkbookSheet, row: int, check: WorkbookCheck) -> int:
    left, right = (side.value if isinstance(side, Formula) else side for side in (check.left, check.right))
    difference = float(left) - float(right)
    text = f"{a1(row, 1)}-{a1(row, 2)}"
    if check.at_most:
        difference, text = max(0.0, difference), f"MAX(0,{text})"
    if check.holds:
        text = f"IF({check.holds},{text},0)"
    failed = int(abs(difference) > check.allowed)
    sheet.put(row, 0, check.name)
    sheet.put(row, 1, check.left, "money")
    sheet.put(row, 2, check.right, "money")
    sheet.put(row, 3, Formula(f"=ROUND({text},6)", round(difference, 6) + 0.0), "money")
    sheet.put(row, 4, check.allowed, "money")
    difference_cell = a1(row, 3)
    sheet.put(
        row,
        5,
        Formula(f"=IF(ISNUMBER({difference_cell}),IF(ABS({difference_cell})>{a1(row, 4)},1,0),1)", failed),
        "flag",
    )
    return failed
