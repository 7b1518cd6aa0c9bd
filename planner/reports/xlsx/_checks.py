"""The sheet Checks: what the workbook adds up to against what the plan says, and one master check over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from planner.answer import Plan
from planner.reports._shared.again import BASE
from planner.reports.xlsx._assumptions import SCENARIO
from planner.reports.xlsx._book import HEADER_ROW, Cell, Formula, Sheet, at, down
from planner.reports.xlsx._cash import Block
from planner.reports.xlsx._effective import Borne
from planner.reports.xlsx._inputs import Inputs, together
from planner.reports.xlsx._owning import Worth
from planner.reports.xlsx._scenarios import Scenario

TITLES = ("check", "in this workbook", "should be", "difference", "allowed", "failed (1) or not (0)")
CENT = 0.01
EDITED, WRONG = "inputs_changed", "inputs_wrong"
"""The names of the number of inputs that are not as planned, and of those that cannot be right."""
UNEDITED = f"{EDITED}=0"
AS_PLANNED = f'AND({UNEDITED},{SCENARIO}="{BASE}")'


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the other sheets add up to."""

    blocks: tuple[Block, ...]
    cost_of_workloads: Formula | None
    """In sheet Workloads, as recommended."""
    months: Formula
    rows: Formula
    borne: tuple[Borne, ...] = ()
    worths: tuple[Worth, ...] = ()
    bridge: Formula | None = None
    taxes: tuple[tuple[str, Formula, float], ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    sums: Mapping[str, Formula] = field(default_factory=dict)
    """What the workloads of each strategy cost in all, by sheet Workload costs."""
    inputs: Inputs = field(default_factory=lambda: together(()))


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison; `at_most`: the left may be below the right; it rests where the condition `holds` is false."""

    name: str
    left: Formula | float
    right: Formula | float
    allowed: float = CENT
    at_most: bool = False
    holds: str = ""


def write(sheet: Sheet, plan: Plan, grounds: Grounds) -> Formula:
    """Writes the sheet; how many checks fail, which the Summary shows."""
    checks = list(_checks(plan, grounds))
    sheet.widths((52, 20, 20, 16, 12, 14))
    note = "A check fails above the difference allowed; against the plan it rests once an input or the scenario changes"
    sheet.heading(f"Checks, amounts in {plan.currency}", note)
    sheet.header(TITLES)
    first = HEADER_ROW + 1
    failures = [_line(sheet, first + index, check) for index, check in enumerate(checks)]
    master = first + len(checks) + 1
    sheet.put(master, 0, "checks failed (master check)", "total_text")
    total = Formula(f"=SUM({down(5, first, master - 2)})", sum(failures))
    sheet.put(master, 5, total, "flag")
    _mark(sheet, first, master)
    figures: list[tuple[str, Cell, str]] = [
        ("inputs that are not as planned", Formula(f"={grounds.inputs.edited}", 0), EDITED),
        ("inputs that are no number or out of range", Formula(f"={grounds.inputs.wrong}", 0), WRONG),
        ("months of the plan", plan.months, "months_of_plan"),
    ]
    for row, (label, cell, name) in enumerate(figures, start=master + 1):
        sheet.put(row, 0, label)
        sheet.put(row, 1, cell, "count")
        sheet.book.name(name, sheet.name, row, 1)
    return Formula(f"={sheet.address(master, 5)}", total.value)


def _mark(sheet: Sheet, first: int, last: int) -> None:
    """Green for what holds; red for what fails, or is an error."""
    cell = at(first, 5)
    good = f"AND(ISNUMBER({cell}),{cell}=0)"
    sheet.mark(first, 5, last, {"good": good, "bad": f"NOT(OR(ISBLANK({cell}),{good}))"})


def _checks(plan: Plan, grounds: Grounds) -> Iterator[Check]:
    yield Check("inputs that are no number or out of range", Formula(f"={WRONG}", 0), 0, 0)
    present = {block.strategy.name: block.present_cost for block in grounds.blocks}
    for block in grounds.blocks:
        s = block.strategy
        yield Check(f"{s.name}: total cost", block.total_cost, s.total_cost, holds=AS_PLANNED)
        yield Check(f"{s.name}: present cost", block.present_cost, s.present_cost, holds=AS_PLANNED)
        name = f"{s.name}: proven bound is not above present cost"
        yield Check(name, s.bound, block.present_cost, CENT, True, AS_PLANNED)
        if s.name in grounds.sums:
            yield Check(f"{s.name}: costs of workloads add up to the total", grounds.sums[s.name], block.total_cost)
        if s.name == plan.recommendation.strategy and grounds.cost_of_workloads is not None:
            name, holds = "workloads: their costs add up to the total", "" if plan.ledger.lines else AS_PLANNED
            yield Check(name, grounds.cost_of_workloads, block.total_cost, holds=holds)
        others = [other for name, other in present.items() if name != "hybrid"]
        if s.name == "hybrid" and others:
            least = min(others, key=lambda other: float(other.value))
            allowed = max(CENT, s.present_cost - s.bound)
            yield Check("hybrid costs no more than the others", block.present_cost, least, allowed, True, AS_PLANNED)
    for each in grounds.scenarios:
        yield Check(f"{each.strategy}: present cost under the scenario", each.now, each.stored, holds=UNEDITED)
    yield from _of_views(plan, grounds)
    yield Check("months in sheet Demand", grounds.months, plan.months, 0)
    yield Check("rows used + rows refused = rows in", grounds.rows, plan.inputs.rows_in, 0)


def _of_views(plan: Plan, grounds: Grounds) -> Iterator[Check]:
    total: dict[str, Formula] = {block.strategy.name: block.total_cost for block in grounds.blocks}
    for borne in grounds.borne:
        name = f"{borne.strategy}: effective cost adds up to the total cost"
        yield Check(name, borne.total, total[borne.strategy])
    for worth in grounds.worths:
        name = f"{worth.strategy}: net present value against cloud"
        yield Check(name, worth.formula, worth.planned, holds=AS_PLANNED)
    if grounds.bridge is not None:
        yield Check(
            "bridge: differences add up to the worth", grounds.bridge, plan.recommendation.worth, holds=AS_PLANNED
        )
    for name, formula, value in grounds.taxes:
        yield Check(f"depreciation, {name}: worth today", formula, value, holds=AS_PLANNED)


def _line(sheet: Sheet, row: int, check: Check) -> int:
    left, right = (side.value if isinstance(side, Formula) else side for side in (check.left, check.right))
    difference = float(left) - float(right)
    text = f"{at(row, 1)}-{at(row, 2)}"
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
    found = at(row, 3)
    sheet.put(row, 5, Formula(f"=IF(ISNUMBER({found}),IF(ABS({found})>{at(row, 4)},1,0),1)", failed), "flag")
    return failed
