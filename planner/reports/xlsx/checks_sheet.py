"""The sheet Checks: totals of the workbook against those of the plan, and one master check over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner.reports._content.repricing import BASE
from planner.reports.xlsx.assumptions_sheet import SCENARIO
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock
from planner.reports.xlsx.input_states import InputCounts
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, WorkbookSheet, a1, column_range
from planner.result import Plan
from pricing.frozen_values import dataclass

TITLES = ("check", "in this workbook", "should be", "difference", "allowed", "failed (1) or not (0)")
STYLES = ("text", "money", "money", "money", "money", "flag")
CENT = 0.01
EDITED, WRONG = "inputs_changed", "inputs_wrong"
"""The names of the number of inputs that are not as planned, and of those that cannot be right."""
UNEDITED = f"{EDITED}=0"
AS_PLANNED = f'AND({UNEDITED},{SCENARIO}="{BASE}")'


@dataclass(frozen=True, slots=True)
class WorkbookCheck:
    """One comparison; `at_most`: the left may be below the right; it rests where the condition `holds` is false."""

    name: str
    left: Formula | float
    right: Formula | float
    allowed: float = CENT
    at_most: bool = False
    holds: str = ""


def write(sheet: WorkbookSheet, plan: Plan, checks: Sequence[WorkbookCheck], inputs: InputCounts) -> Formula:
    """Writes the sheet; how many checks fail, which the Summary shows."""
    checks = [WorkbookCheck("inputs that are no number or out of range", Formula(f"={WRONG}", 0), 0, 0), *checks]
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
    # green for a passed check, red for a failed one or an error
    cell = a1(first, 5)
    good = f"AND(ISNUMBER({cell}),{cell}=0)"
    sheet.mark(first, 5, master, {"good": good, "bad": f"NOT(OR(ISBLANK({cell}),{good}))"})
    figures: list[tuple[str, Cell, str]] = [
        ("inputs that are not as planned", Formula(f"={inputs.edited}", 0), EDITED),
        ("inputs that are no number or out of range", Formula(f"={inputs.wrong}", 0), WRONG),
        ("months of the plan", plan.months, "months_of_plan"),
    ]
    for row, (label, value, name) in enumerate(figures, start=master + 1):
        sheet.put(row, 0, label)
        sheet.put(row, 1, value, "count")
        sheet.book.name(name, sheet.name, row, 1)
    return Formula(f"={sheet.address(master, 5)}", total.value)


def list_strategy_checks(
    plan: Plan, blocks: Sequence[CashFlowBlock], sums: Mapping[str, Formula], cost_of_workloads: Formula | None
) -> Iterator[WorkbookCheck]:
    """The checks of each strategy. `sums` are the costs of all its workloads by sheet Workload costs,
    `cost_of_workloads` is their cost in sheet Workloads, as recommended."""
    others = [block.present_cost for block in blocks if block.strategy.name != "hybrid"]
    for block in blocks:
        s = block.strategy
        yield WorkbookCheck(f"{s.name}: total cost", block.total_cost, s.total_cost, holds=AS_PLANNED)
        yield WorkbookCheck(f"{s.name}: present cost", block.present_cost, s.present_cost, holds=AS_PLANNED)
        if s.bound is not None:
            name = f"{s.name}: proven bound is not above present cost"
            yield WorkbookCheck(name, s.bound, block.present_cost, CENT, True, AS_PLANNED)
        if s.name in sums:
            yield WorkbookCheck(f"{s.name}: costs of workloads add up to the total", sums[s.name], block.total_cost)
        if s.name == plan.recommendation.strategy and cost_of_workloads is not None:
            name, holds = "workloads: their costs add up to the total", "" if plan.ledger.lines else AS_PLANNED
            yield WorkbookCheck(name, cost_of_workloads, block.total_cost, holds=holds)
        if s.name == "hybrid" and others:
            least = min(others, key=lambda other: float(other.value))
            gap = 0.0 if s.bound is None else s.present_cost - s.bound
            allowed, name = max(CENT, gap), "hybrid costs no more than the others"
            yield WorkbookCheck(name, block.present_cost, least, allowed, True, AS_PLANNED)


def _put_check(sheet: WorkbookSheet, row: int, check: WorkbookCheck) -> int:
    left, right = (side.value if isinstance(side, Formula) else side for side in (check.left, check.right))
    difference = float(left) - float(right)
    text = f"{a1(row, 1)}-{a1(row, 2)}"
    if check.at_most:
        difference, text = max(0.0, difference), f"MAX(0,{text})"
    if check.holds:
        text = f"IF({check.holds},{text},0)"
    failed = int(abs(difference) > check.allowed)
    rounded = Formula(f"=ROUND({text},6)", round(difference, 6) + 0.0)
    cell = a1(row, 3)
    state = Formula(f"=IF(ISNUMBER({cell}),IF(ABS({cell})>{a1(row, 4)},1,0),1)", failed)
    sheet.put_row(row, (check.name, check.left, check.right, rounded, check.allowed, state), STYLES)
    return failed
