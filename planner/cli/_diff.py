"""Behind `planner diff`: two files become two plans, and their difference a table that adds up."""

from __future__ import annotations

import dataclasses
from itertools import accumulate, pairwise
from pathlib import Path

from planner.answer import Plan
from planner.cli._run import DONE
from planner.cli._tables import aligned, json_text, show
from planner.diff import Diff, NoRate, Step, diff
from planner.errors import Complaint, InvalidRequest
from planner.reports.json import loads

DETAILS = 8
"""Lines shown beneath a cause; --json has all."""


def show_diff(old: str, new: str, strategy: str | None, as_json: bool) -> int:
    """Prints why `new` costs what `old` did not; InvalidRequest with every fault of both."""
    faults: list[Complaint] = []
    plans = [_plan(path, faults) for path in (old, new)]
    named = [_strategy(plan, path, strategy, faults) for plan, path in zip(plans, (old, new), strict=True)]
    if faults or None in plans:
        raise InvalidRequest(tuple(faults))
    before, after = plans
    assert before is not None
    assert after is not None
    try:
        found = diff(before, after, *named)
    except NoRate as error:
        raise InvalidRequest((Complaint("", new, str(error), after.currency, "plans in one currency"),)) from None
    show(json_text(dataclasses.asdict(found)) if as_json else "\n".join(_lines(found, before, after)) + "\n")
    return DONE


def _plan(path: str, faults: list[Complaint]) -> Plan | None:
    try:
        return loads(Path(path).read_bytes())
    except OSError as error:
        faults.append(Complaint("", path, f"cannot be read: {error.strerror or error}"))
    except InvalidRequest as error:
        first = error.complaints[0]
        expected = "a plan as JSON, as `planner estimate -o plan.json` writes it"
        more = f" (and {len(error.complaints) - 1} more faults)" if len(error.complaints) > 1 else ""
        faults.append(Complaint(first.path, path, f"is no plan: {first}{more}", expected=expected))
    return None


def _strategy(plan: Plan | None, path: str, wanted: str | None, faults: list[Complaint]) -> str:
    """The strategy of a plan that is compared; a fault where it has none of that name that is possible."""
    if plan is None:
        return ""
    name = wanted or plan.recommendation.strategy
    possible = [s.name for s in plan.strategies if s.status != "infeasible"]
    if name is None or name not in possible:
        message = f"has no possible strategy {name}" if name else "recommends no strategy: it is infeasible"
        faults.append(Complaint("", path, message, expected=f"one of {', '.join(possible) or 'none'}"))
    return name or ""


def _lines(found: Diff, old: Plan, new: Plan) -> list[str]:
    """The table, in whole money that adds up, and what stands behind each cause."""
    heads = [f"{p.plan_id} of {p.as_of}, {p.month_names[0]} to {p.month_names[-1]}" for p in (old, new)]
    lines = [f"old: {heads[0]}, {found.strategy[0]}", f"new: {heads[1]}, {found.strategy[1]}"]
    advice = [p.recommendation.strategy for p in (old, new)]
    if advice[0] != advice[1]:
        lines.append(f"the recommendation changed from {advice[0]} to {advice[1]}")
    moving = [step for step in found.steps if _moves(step)]
    if not moving:
        return [*lines, "", "nothing changed"]
    money = [_rounded(found, index) for index in (0, 1)]
    rows: list[tuple[str, ...]] = [("old plan", *(f"{column[0]:,d}" for column in money))]
    for number, step in enumerate(found.steps, start=1):
        rows.append((step.cause, *(f"{column[number]:+,d}" if column[number] else "-" for column in money)))
    rows.append(("new plan", *(f"{column[-1]:,d}" for column in money)))
    titles = (f"{found.currencies[1]}", "total cost", "present cost")
    lines += ["", *aligned(titles, rows, titles[1:])]
    if found.currencies[0] != found.currencies[1]:
        lines.append(f"the old plan's amounts are in {found.currencies[0]} until the step exchange rate")
    for step in found.steps:
        if step.details and _moves(step):
            lines += ["", f"{step.cause}:", *(f"  {line}" for line in step.details[:DETAILS])]
            if len(step.details) > DETAILS:
                lines.append(f"  and {len(step.details) - DETAILS} more (--json has all)")
    return lines


def _moves(step: Step) -> bool:
    """Whether a cause adds a whole unit of money."""
    return abs(step.total) >= 0.5 or abs(step.present) >= 0.5


def _rounded(found: Diff, index: int) -> list[int]:
    """Old, every step and new in whole money: each step as the running sum moves, so that they add up as shown."""
    sums = list(accumulate([found.old[index], *(step.total if index == 0 else step.present for step in found.steps)]))
    whole = [round(amount) for amount in sums]
    return [whole[0], *(b - a for a, b in pairwise(whole)), whole[-1]]
