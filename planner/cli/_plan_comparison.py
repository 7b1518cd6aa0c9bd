"""Behind `planner diff`: compares two plans in a table of causes that adds up to the cent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from planner.analysis.comparison import (
    CAUSES,
    CostComparison,
    NoCommonCurrency,
    ReviewRecord,
    compare_costs,
    find_plan_problems,
    is_workbook,
)
from planner.application import read_review
from planner.cli._exit_codes import DONE
from planner.cli._tables import json_text, print_text
from planner.inputs.file_reader import MEMORY_BYTES
from planner.inputs.sandbox import SandboxFailure, SandboxLimits, run_isolated
from planner.library.file_problems import unreadable_file
from planner.reports._content.changes import part_text
from planner.reports._content.number_format import format_signed
from planner.reports.json import loads
from planner.request.errors import InputProblem, InvalidRequest
from planner.result import SCHEMA_VERSION, Gap, Plan
from planner.result.comparison import CauseComponent
from pricing.counted_nouns import format_count
from pricing.money import format_amount
from pricing.plain_text import plain_text
from pricing.text_tables import align_columns

LISTED_MAX = 10
"""Changes and gaps printed of each kind; --json has all."""
SECONDS = 120.0
"""Time limit for reading the workbook of a review."""
EXPECTED_LAST = (
    "the plan of the last review as JSON (`planner estimate -o plan.json`), or its workbook (`-o plan.xlsx`)"
)
EXPECTED = "a plan as JSON, as `planner estimate -o plan.json` writes it"
CostPair = tuple[float, float]


def show_diff(old: str, new: str, strategy: str | None, as_json: bool) -> int:
    """Print the cost difference between two plans by cause; InvalidRequest with every problem of both."""
    problems: list[InputProblem] = []
    before, after = (read_plan(path, problems) for path in (old, new))
    of_old, of_new = (_select_strategy(plan, path, strategy, problems) for plan, path in ((before, old), (after, new)))
    if problems or before is None or after is None:
        raise InvalidRequest(tuple(problems))
    try:
        parted = compare_costs(before, after, of_old, of_new)
    except NoCommonCurrency as error:
        expected = f"plans in one currency, or one that was converted from {before.currency}"
        raise InvalidRequest((InputProblem("", new, str(error), after.currency, expected),)) from None
    except ArithmeticError as error:
        message = f"values out of range: {error}"
        raise InvalidRequest((InputProblem("", f"{old}, {new}", message),)) from None
    lines = _difference_lines(parted, before, after)
    print_text(json_text(asdict(parted)) if as_json else "\n".join(lines) + "\n")
    return DONE


def read_plan(path: str, problems: list[InputProblem]) -> Plan | None:
    """The plan in a JSON file; None, with the problems added to `problems`, if there is none."""
    data = _read_bytes(path, problems)
    return None if data is None else _parse_plan(data, path, problems, EXPECTED)


def read_last_review(path: str, problems: list[InputProblem]) -> Plan | ReviewRecord | None:
    """The last review, from its plan as JSON or its workbook; None, with the problems added, if it cannot be read."""
    data = _read_bytes(path, problems)
    if data is None:
        return None
    if is_workbook(data):
        try:
            return run_isolated(read_review, data, bounds=SandboxLimits(MEMORY_BYTES, SECONDS))
        except (ValueError, SandboxFailure) as error:
            problems.append(InputProblem("", path, plain_text(str(error)), expected=EXPECTED_LAST))
            return None
    plan = _parse_plan(data, path, problems, EXPECTED_LAST)
    if plan is None:
        return None
    possible = [strategy for strategy in plan.strategies if strategy.status != "infeasible"]
    if not possible:
        message = "is infeasible: it has no costs to compare"
        problems.append(InputProblem("", path, message, expected="a feasible plan"))
        return None
    try:
        of_plan = dict.fromkeys(
            _locate_in_file(fault, path) for strategy in possible for fault in find_plan_problems(plan, strategy)
        )
    except ArithmeticError as error:
        of_plan = {InputProblem("", path, f"has values out of range: {error}"): None}
    problems += of_plan
    return None if of_plan else plan


def _locate_in_file(fault: InputProblem, path: str) -> InputProblem:
    return replace(fault, place=f"{path} {fault.path}", message=plain_text(fault.message))


def _read_bytes(path: str, problems: list[InputProblem]) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        problems.append(unreadable_file(path, error))
    return None


def _parse_plan(data: bytes, path: str, problems: list[InputProblem], expected: str) -> Plan | None:
    try:
        version = _read_schema_version(data)
        if version != SCHEMA_VERSION:
            message = f"is a plan of schema version {version}" if version else "is no plan"
            current = f"version {SCHEMA_VERSION}, {expected}"
            problems.append(InputProblem("schema_version", path, message, expected=current))
            return None
        return loads(data)
    except (ValueError, RecursionError) as error:
        problems.append(InputProblem("", path, f"is no JSON: {plain_text(str(error))}", expected=expected))
    except InvalidRequest as error:
        first = error.complaints[0]
        more = f" (and {len(error.complaints) - 1} more problems)" if len(error.complaints) > 1 else ""
        message = f"is no plan: {plain_text(str(first))}{more}"
        problems.append(InputProblem(first.path, path, message, expected=expected))
    return None


def _read_schema_version(data: bytes) -> str:
    """The schema version of a document, "" where it has none. ValueError where it is no JSON of finite numbers."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no number")

    document = json.loads(data, parse_constant=refuse)
    version = document.get("schema_version") if isinstance(document, dict) else None
    return plain_text(version)[:20] if isinstance(version, str) else ""


def _select_strategy(plan: Plan | None, path: str, strategy: str | None, problems: list[InputProblem]) -> str:
    """The name of the strategy to compare; a problem is added if the plan has no feasible one of that name."""
    if plan is None:
        return ""
    name = strategy or plan.recommendation.strategy
    possible = {s.name: s for s in plan.strategies if s.status != "infeasible"}
    if name is None or name not in possible:
        message = f"has no strategy {name} that is feasible" if name else "is infeasible: it recommends no strategy"
        expected = f"one of {', '.join(possible)}" if possible else "a feasible plan"
        problems.append(InputProblem("", path, message, expected=expected))
        return ""
    of_plan = find_plan_problems(plan, possible[name])
    problems += (_locate_in_file(fault, path) for fault in of_plan)
    return name


def _difference_lines(parted: CostComparison, old: Plan, new: Plan) -> list[str]:
    """The plans compared, the causes with their changes, and the gaps that only one of the plans has."""
    lines = [_plan_heading("old", old, parted.strategies[0]), _plan_heading("new", new, parted.strategies[1])]
    advice = [plan.recommendation.strategy or "none" for plan in (old, new)]
    if advice[0] != advice[1]:
        lines.append(f"the recommendation changed from {advice[0]} to {advice[1]}")
    if old.start != new.start:
        lines.append(f"the first month of the old plan, {old.start}, is compared with that of the new one, {new.start}")
    lines += (plain_text(f"workload renamed: {then} is now {now}") for then, now in parted.renamed)
    if parted.is_same and not (parted.new_gaps or parted.gone_gaps):
        return [*lines, "", "no changes"]
    rows, parts = _cause_table(parted)
    titles = (parted.currencies[1], "total cost", "present cost")
    lines += ["", *align_columns(titles, rows, titles[1:])]
    if parted.currencies[0] != parted.currencies[1]:
        was = " and ".join(format_amount(amount, currency=parted.currencies[0]) for amount in parted.old)
        lines.append(f"the old plan's costs, {was}, are restated in {parted.currencies[1]}")
    for cause, its in parts.items():
        if its:
            lines += ["", f"{cause}: {CAUSES[cause]}", *_change_lines(its)]
    lines += _gap_lines("new gaps", parted.new_gaps)
    return lines + _gap_lines("gaps that are gone", parted.gone_gaps)


def _plan_heading(word: str, plan: Plan, strategy: str) -> str:
    months = f"{plan.month_names[0]} to {plan.month_names[-1]} ({format_count(plan.months, 'month')})"
    digest = f" (content {plan.content_digest})" if plan.content_digest else ""
    return plain_text(f"{word}: plan {plan.plan_id}{digest} of {plan.as_of}, {months}, in {plan.currency}: {strategy}")


RoundedChange = tuple[CauseComponent, CostPair]
"""A change with its rounded cost."""


def _cause_table(parted: CostComparison) -> tuple[list[tuple[str, ...]], dict[str, list[RoundedChange]]]:
    """The table of causes and the changes behind each, in cents that add up: each is the difference of two
    rounded running sums."""
    sums, whole = list(parted.restated), [round(amount, 2) for amount in parted.restated]
    rows: list[tuple[str, ...]] = [("old plan", *(format_amount(amount) for amount in whole))]
    parts: dict[str, list[RoundedChange]] = {}
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
            rows.append((step.cause, *(format_signed(amount, 2) for amount in moved)))
    return [*rows, ("new plan", *(format_amount(amount) for amount in end))], parts


def _change_lines(its: Sequence[RoundedChange]) -> Iterator[str]:
    """The changes that cost or save, the largest first, then those that do neither."""
    acting = sorted((each for each in its if any(each[1])), key=lambda each: -abs(each[1][0]))
    rows = [(part_text(part), *(format_signed(amount, 2) for amount in money)) for part, money in acting[:LISTED_MAX]]
    if rest := acting[LISTED_MAX:]:
        sums = [round(sum(money[n] for _, money in rest), 2) for n in (0, 1)]
        rows.append((f"{len(rest)} more (--json has all)", *(format_signed(amount, 2) for amount in sums)))
    if rows:
        yield from align_columns(("change", "total", "present"), rows, ("total", "present"), indent="  ")[1:]
    if idle := [part_text(part) for part, money in its if not any(money)]:
        yield f"  without effect on these costs: {len(idle)}"
        yield from (f"    {words}" for words in idle[:LISTED_MAX])


def _gap_lines(title: str, gaps: Sequence[Gap]) -> list[str]:
    if not gaps:
        return []
    lines = [f"  {plain_text(f'{gap.subject}: {gap.effect}')}" for gap in gaps[:LISTED_MAX]]
    more = [f"  {len(gaps) - LISTED_MAX} more (--json has all)"] if len(gaps) > LISTED_MAX else []
    return ["", f"{title}: {len(gaps)}", *lines, *more]
