"""Behind `planner diff`: two files become two plans, and their difference a table that adds up to the cent."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from planner.answer import Gap, Plan
from planner.answer.changes import Part
from planner.apart import Bounds, NoAnswer, apart
from planner.cli._run import DONE
from planner.cli._tables import aligned, json_text, show
from planner.diff import CAUSES, Diff, NoRate, Record, diff, faults, is_workbook, record_of_workbook
from planner.errors import Complaint, InvalidRequest
from planner.intake import MEMORY_BYTES
from planner.plan import SCHEMA_VERSION
from planner.reports._shared.changes import part_words, signed
from planner.reports._shared.clean import plain
from planner.reports.json import loads
from pricing.money import shown

LISTED_MAX = 10
"""Changes and gaps shown of a kind; --json has all."""
SECONDS = 120.0
"""For the workbook of a review."""
EXPECTED_LAST = (
    "the plan of the last review, kept with `planner estimate -o plan.json`, or its workbook (`-o plan.xlsx`)"
)
EXPECTED = "a plan as JSON, as `planner estimate -o plan.json` writes it"
Money = tuple[float, float]


def show_diff(old: str, new: str, strategy: str | None, as_json: bool) -> int:
    """Prints why `new` costs what `old` did not; InvalidRequest with every fault of both."""
    found: list[Complaint] = []
    before, after = (read_plan(path, found) for path in (old, new))
    of_old, of_new = (_strategy(plan, path, strategy, found) for plan, path in ((before, old), (after, new)))
    if found or before is None or after is None:
        raise InvalidRequest(tuple(found))
    try:
        parted = diff(before, after, of_old, of_new)
    except NoRate as error:
        expected = f"plans in one currency, or one that was converted from {before.currency}"
        raise InvalidRequest((Complaint("", new, str(error), after.currency, expected),)) from None
    except ArithmeticError as error:
        message = f"figures that nothing can be computed with: {error}"
        raise InvalidRequest((Complaint("", f"{old}, {new}", message),)) from None
    show(json_text(dataclasses.asdict(parted)) if as_json else "\n".join(_lines(parted, before, after)) + "\n")
    return DONE


def read_plan(path: str, found: list[Complaint]) -> Plan | None:
    """The plan that a JSON file holds; None with the faults added to `found` where it holds none."""
    data = _bytes(path, found)
    return None if data is None else _plan(data, path, found, EXPECTED)


def last_review(path: str, found: list[Complaint]) -> Plan | Record | None:
    """The last review: its plan as JSON, or what its workbook tells of it; None with the faults added to `found`."""
    data = _bytes(path, found)
    if data is None:
        return None
    if is_workbook(data):
        return _workbook(data, path, found)
    plan = _plan(data, path, found, EXPECTED_LAST)
    if plan is None:
        return None
    possible = [strategy for strategy in plan.strategies if strategy.status != "infeasible"]
    if not possible:
        message = "is infeasible: it has no costs to set against those of another plan"
        found.append(Complaint("", path, message, expected="a plan that is possible"))
        return None
    try:
        of_plan = dict.fromkeys(_in_file(fault, path) for strategy in possible for fault in faults(plan, strategy))
    except ArithmeticError as error:
        of_plan = {Complaint("", path, f"has figures that nothing can be computed with: {error}"): None}
    found += of_plan
    return None if of_plan else plan


def _workbook(data: bytes, path: str, found: list[Complaint]) -> Record | None:
    try:
        return apart(record_of_workbook, data, bounds=Bounds(MEMORY_BYTES, SECONDS))
    except (ValueError, NoAnswer) as error:
        found.append(Complaint("", path, plain(str(error)), expected=EXPECTED_LAST))
    return None


def _in_file(fault: Complaint, path: str) -> Complaint:
    return replace(fault, place=f"{path} {fault.path}", message=plain(fault.message))


def _bytes(path: str, found: list[Complaint]) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        found.append(Complaint("", path, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
    return None


def _plan(data: bytes, path: str, found: list[Complaint], expected: str) -> Plan | None:
    try:
        version = _version(data)
        if version != SCHEMA_VERSION:
            message = f"is a plan of schema version {version}" if version else "is no plan"
            wanted = f"version {SCHEMA_VERSION}, {expected}"
            found.append(Complaint("schema_version", path, message, expected=wanted))
            return None
        return loads(data)
    except (ValueError, RecursionError) as error:
        found.append(Complaint("", path, f"is no JSON: {plain(str(error))}", expected=expected))
    except InvalidRequest as error:
        first = error.complaints[0]
        more = f" (and {len(error.complaints) - 1} more faults)" if len(error.complaints) > 1 else ""
        found.append(Complaint(first.path, path, f"is no plan: {plain(str(first))}{more}", expected=expected))
    return None


def _version(data: bytes) -> str:
    """The schema version of a document, "" where it has none. ValueError where it is no JSON of finite numbers."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no number")

    document = json.loads(data, parse_constant=refuse)
    version = document.get("schema_version") if isinstance(document, dict) else None
    return plain(version)[:20] if isinstance(version, str) else ""


def _strategy(plan: Plan | None, path: str, wanted: str | None, found: list[Complaint]) -> str:
    """The strategy of a plan that is compared; a fault where it has none of that name that is possible."""
    if plan is None:
        return ""
    name = wanted or plan.recommendation.strategy
    possible = {s.name: s for s in plan.strategies if s.status != "infeasible"}
    if name is None or name not in possible:
        message = f"has no strategy {name} that is possible" if name else "is infeasible: it recommends no strategy"
        expected = f"one of {', '.join(possible)}" if possible else "a plan that is possible"
        found.append(Complaint("", path, message, expected=expected))
        return ""
    of_plan = faults(plan, possible[name])
    found += (_in_file(fault, path) for fault in of_plan)
    return name


def _lines(parted: Diff, old: Plan, new: Plan) -> list[str]:
    """Who is compared, the causes, what stands behind each, and gaps that only one of the plans has."""
    lines = [_head("old", old, parted.strategies[0]), _head("new", new, parted.strategies[1])]
    advice = [plan.recommendation.strategy or "none" for plan in (old, new)]
    if advice[0] != advice[1]:
        lines.append(f"the recommendation changed from {advice[0]} to {advice[1]}")
    if old.start != new.start:
        lines.append(f"the first month of the old plan, {old.start}, is set against that of the new one, {new.start}")
    if parted.is_same and not (parted.new_gaps or parted.gone_gaps):
        return [*lines, "", "nothing changed"]
    rows, parts = _money(parted)
    titles = (parted.currencies[1], "total cost", "present cost")
    lines += ["", *aligned(titles, rows, titles[1:])]
    if parted.currencies[0] != parted.currencies[1]:
        was = " and ".join(shown(amount, currency=parted.currencies[0]) for amount in parted.old)
        lines.append(f"the old plan's costs, {was}, are restated in {parted.currencies[1]}")
    for cause, its in parts.items():
        if its:
            lines += ["", f"{cause}: {CAUSES[cause]}", *_behind(its)]
    lines += _gaps("new gaps", parted.new_gaps)
    return lines + _gaps("gaps that are gone", parted.gone_gaps)


def _head(word: str, plan: Plan, strategy: str) -> str:
    months = f"{plan.month_names[0]} to {plan.month_names[-1]} ({plan.months} months)"
    return plain(f"{word}: plan {plan.plan_id} of {plan.as_of}, {months}, in {plan.currency}: {strategy}")


Shown = tuple[Part, Money]
"""A change with what it adds, rounded."""


def _money(parted: Diff) -> tuple[list[tuple[str, ...]], dict[str, list[Shown]]]:
    """The table of causes and the changes behind each, in cents that add up: each is what the rounded sum moves by."""
    sums, whole = list(parted.restated), [round(amount, 2) for amount in parted.restated]
    rows: list[tuple[str, ...]] = [("old plan", *(shown(amount) for amount in whole))]
    parts: dict[str, list[Shown]] = {}
    end = [round(amount, 2) for amount in parted.new]
    last = next((part for step in reversed(parted.steps) for part in reversed(step.parts)), None)
    for step in parted.steps:
        its = parts.setdefault(step.cause, [])
        for part in step.parts:
            sums = [sums[0] + part.total, sums[1] + part.present]
            then = end if part is last else [round(amount, 2) for amount in sums]
            its.append((part, (round(then[0] - whole[0], 2), round(then[1] - whole[1], 2))))
            whole = then
        moved = [round(sum(money[n] for _, money in its), 2) for n in (0, 1)]
        if any(moved):
            rows.append((step.cause, *map(signed, moved)))
    return [*rows, ("new plan", *(shown(amount) for amount in end))], parts


def _behind(its: Sequence[Shown]) -> Iterator[str]:
    """The changes that cost or save, the largest first, then those that do neither."""
    acting = sorted((each for each in its if any(each[1])), key=lambda each: -abs(each[1][0]))
    rows = [(f"  {part_words(part)}", *map(signed, money)) for part, money in acting[:LISTED_MAX]]
    if rest := acting[LISTED_MAX:]:
        sums = [round(sum(money[n] for _, money in rest), 2) for n in (0, 1)]
        rows.append((f"  {len(rest)} more (--json has all)", *map(signed, sums)))
    if rows:
        yield from aligned(("change", "total", "present"), rows, ("total", "present"))[1:]
    if idle := [part_words(part) for part, money in its if not any(money)]:
        yield f"  without effect on these costs: {len(idle)}"
        yield from (f"    {words}" for words in idle[:LISTED_MAX])


def _gaps(title: str, gaps: Sequence[Gap]) -> list[str]:
    if not gaps:
        return []
    told = [f"  {plain(f'{gap.subject}: {gap.effect}')}" for gap in gaps[:LISTED_MAX]]
    more = [f"  {len(gaps) - LISTED_MAX} more (--json has all)"] if len(gaps) > LISTED_MAX else []
    return ["", f"{title}: {len(gaps)}", *told, *more]
