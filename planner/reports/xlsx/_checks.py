"""The sheet Checks: what the workbook adds up to against what the plan says, and one master check over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.answer import Plan
from planner.reports._shared.again import BASE
from planner.reports.xlsx._assumptions import SCENARIO
from planner.reports.xlsx._book import HEADER_ROW, Formula, Sheet, at, down
from planner.reports.xlsx._cash import Block
from planner.reports.xlsx._effective import Borne
from planner.reports.xlsx._owning import Worth
from planner.reports.xlsx._scenarios import Scenario

TITLES = ("check", "in this workbook", "should be", "difference", "allowed", "failed (1) or not (0)")
CENT = 0.01
EDITED = "inputs_changed"
"""The name of the number of inputs that are not as planned."""
UNEDITED = f"{EDITED}=0"
AS_PLANNED = f'AND({UNEDITED},{SCENARIO}="{BASE}")'


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the other sheets add up to."""

    blocks: tuple[Block, ...]
    cost_of_workloads: Formula | None
    months: Formula
    rows: Formula
    borne: tuple[Borne, ...] = ()
    worths: tuple[Worth, ...] = ()
    bridge: Formula | None = None
    taxes: tuple[tuple[str, Formula, float], ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    edited: tuple[str, ...] = ()
    """Formulas that count inputs that are not as planned."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison; `at_most`: the left may be below the right; it rests where the condition `holds` is false."""

    name: str
    left: Formula
    right: Formula | float
    allowed: float = CENT
    at_most: bool = False
    holds: str = ""


def write(sheet: Sheet, plan: Plan, grounds: Grounds) -> Formula:
    """Writes the sheet; how many checks fail, which the Summary shows."""
    checks = list(_checks(plan, grounds))
    sheet.widths((52, 20, 20, 16, 12, 14))
    note = "A check fails above the difference allowed; against the plan it rests once an input or the scenario changes"
    sheet.heading("Checks", note)
    sheet.header(TITLES)
    first = HEADER_ROW + 1
    failures = [_line(sheet, first + index, check) for index, check in enumerate(checks)]
    master = first + len(checks) + 1
    sheet.put(master, 0, "checks failed (master check)", "total_text")
    total = Formula(f"=SUM({down(5, first, master - 2)})", sum(failures))
    sheet.put(master, 5, total, "flag")
    sheet.mark(master, 5, good_if_zero=at(master, 5))
    sheet.put(master + 1, 0, "inputs of Assumptions, Offers and Choices not as planned")
    sheet.put(master + 1, 1, Formula(f"={'+'.join(grounds.edited) or '0'}", 0), "count")
    sheet.book.name(EDITED, sheet.name, master + 1, 1)
    sheet.put(master + 2, 0, "months of the plan")
    sheet.put(master + 2, 1, plan.months, "count")
    sheet.book.name("months_of_plan", sheet.name, master + 2, 1)
    return Formula(f"={sheet.address(master, 5)}", total.value)


def _checks(plan: Plan, grounds: Grounds) -> Iterator[Check]:
    present = {block.strategy.name: block.present_cost for block in grounds.blocks}
    for block in grounds.blocks:
        s = block.strategy
        yield Check(f"{s.name}: total cost", block.total_cost, s.total_cost, holds=AS_PLANNED)
        yield Check(f"{s.name}: present cost", block.present_cost, s.present_cost, holds=AS_PLANNED)
        bound = Formula(f"={s.bound!r}", s.bound)
        yield Check(
            f"{s.name}: proven bound is not above present cost", bound, block.present_cost, CENT, True, AS_PLANNED
        )
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
    right = check.right.value if isinstance(check.right, Formula) else check.right
    difference = float(check.left.value) - float(right)
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
    sheet.put(row, 5, Formula(f"=IF(ABS({at(row, 3)})>{at(row, 4)},1,0)", failed), "flag")
    sheet.mark(row, 5, good_if_zero=at(row, 5))
    return failed
