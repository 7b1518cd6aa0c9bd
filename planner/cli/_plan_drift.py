"""Behind `planner drift`: the cells of a plan and of files of use, the table of causes, and the gate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict

from planner.analysis.use_drift import UseCell, UseDrift, explain_drift
from planner.cli._exit_codes import DONE
from planner.cli._measured_use_report import read_usages
from planner.cli._plan_comparison import read_plan
from planner.cli._plan_gates import GATE_FAILED
from planner.cli._tables import json_text, print_error, print_text
from planner.cli._usage_report import is_measured_file, read_usage
from planner.inputs.bills.export_columns import fold_alphanumeric
from planner.inputs.bills.line_classification import full_months
from planner.inputs.bills.sunk_costs import CostedLine, Place, separate_sunk_costs
from planner.inputs.bills.usage import Usage, hours_in_month
from planner.inputs.measured_use.use_record import UNALLOCATED, MeasuredUsage
from planner.inputs.measured_use.use_summary import split_by_month
from planner.inputs.notation.numbers import parse_fraction
from planner.reports._content.charges import build_charges
from planner.reports._content.number_format import format_signed
from planner.reports._content.purchase_pools import OWN_SITE
from planner.reports._content.sections import recommended_strategy
from planner.request.errors import InputProblem, InvalidRequest
from planner.result import Plan, Strategy, Use
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass
from pricing.money import format_amount
from pricing.plain_text import plain_text
from pricing.text_tables import align_columns

DAYS_MIN = 7
LISTED_MAX = 15
COMPARED = "accelerators alone: without storage, data transfer, support, tax, power and staff"


@dataclass(frozen=True, slots=True)
class ComparedPeriod:
    """The months that are compared, and the hours of the calendar in them that the files cover."""

    months: tuple[str, ...]
    hours: float
    days: int

    @property
    def words(self) -> str:
        return f"{', '.join(self.months)} ({format_count(self.days, 'day')})"


@dataclass(frozen=True, slots=True)
class ActualUse:
    """The use in files: its cells by month, the days covered, its currency and remarks."""

    cells: tuple[tuple[str, UseCell], ...]
    days: frozenset[str]
    currency: str
    notes: tuple[str, ...]


def show_drift(
    plan_file: str, files: Sequence[str], strategy: str | None, tag: str, max_drift: str | None, *, as_json: bool
) -> int:
    """Print how the use in `files` left a plan, and return the exit code; InvalidRequest with every problem."""
    problems: list[InputProblem] = []
    limit = _parse_limit(max_drift, problems)
    plan = read_plan(plan_file, problems)
    chosen = _choose_strategy(plan, plan_file, strategy, problems) if plan else None
    actual = _read_actual(files, tag, plan, chosen, problems)
    if problems or plan is None or chosen is None or actual is None:
        raise InvalidRequest(tuple(problems))
    period = _choose_period(plan, actual.days)
    if period is None or actual.currency not in ("", plan.currency):
        raise InvalidRequest((_not_comparable(plan, plan_file, files, actual, period),))
    drift = explain_drift(
        list_planned_cells(plan, chosen, period), [cell for month, cell in actual.cells if month in period.months]
    )
    failures = _find_failures(drift, limit)
    notes = (COMPARED, *actual.notes, *(_describe_unpriced(name, hours) for name, hours in drift.unpriced))
    if as_json:
        print_text(json_text(_drift_document(plan, chosen, period, drift, limit, failures, notes)))
    else:
        print_text("\n".join(_drift_lines(plan, chosen, period, drift, notes)) + "\n")
    if failures:
        print_error("the use was compared, but a gate failed", failures)
        return GATE_FAILED
    return DONE


def _parse_limit(text: str | None, problems: list[InputProblem]) -> float | None:
    limit = None if text is None else parse_fraction(text)
    if text is not None and (limit is None or not 0 <= limit <= 1000):
        problems.append(InputProblem("", "--max-drift", "no share", text, "such as 10% or 0.1"))
        return None
    return limit


def _choose_strategy(plan: Plan, path: str, name: str | None, problems: list[InputProblem]) -> Strategy | None:
    feasible = [each for each in plan.strategies if each.status != "infeasible"]
    if name is None:
        chosen = recommended_strategy(plan)
        if chosen is None:
            problems.append(InputProblem("", path, "is infeasible: it has no costs to compare", "", "a feasible plan"))
        return chosen
    matched = next((each for each in feasible if each.name == name), None)
    if matched is None:
        expected = "one of " + ", ".join(each.name for each in feasible)
        problems.append(InputProblem("", "--strategy", "not a strategy of the plan", name, expected))
    return matched


def _read_actual(
    files: Sequence[str], tag: str, plan: Plan | None, chosen: Strategy | None, problems: list[InputProblem]
) -> ActualUse | None:
    """The use in bills, or in files of measured use; None, with the problems added, where they cannot be read."""
    measured = [file for file in files if is_measured_file(file)]
    names = {fold_alphanumeric(each.name): each.name for each in plan.workloads} if plan else {}
    try:
        if len(measured) == len(files):
            return _actual_of_measured(read_usages(files, tag), names)
        if measured:
            other = next(file for file in files if file not in measured)
            message = f"no measured use, and {measured[0]} is"
            problems.append(InputProblem("", other, message, "", "bills or measured use, not both"))
            return None
        return _actual_of_bills(read_usage(files, tag), names, list_earlier_commitments(chosen) if chosen else set())
    except InvalidRequest as error:
        problems += error.complaints
        return None


def list_earlier_commitments(strategy: Strategy) -> set[Place]:
    """Where the plan uses commitments that it has not made itself."""
    made = {(each.provider, each.region, each.name) for each in strategy.purchases if each.what == "commitment"}
    used = {(use.provider, use.region, use.name) for use in strategy.uses if use.what == "commitment"}
    return used - made


def name_workload(name: str, accelerator: str, names: dict[str, str]) -> str:
    """The plan's name of a workload, which a plan of a bill completes by its accelerator where it has several."""
    for written in (f"{name} on {accelerator}", name):
        if (matched := names.get(fold_alphanumeric(written))) is not None:
            return matched
    return name


def _actual_of_bills(usage: Usage, names: dict[str, str], earlier: AbstractSet[Place]) -> ActualUse:
    is_effective = all(line.effective is not None for line in usage.lines)
    if is_effective:
        costed = list(separate_sunk_costs(usage.lines, earlier))
    else:
        costed = [CostedLine(line, line.billed) for line in usage.lines]
    cells = []
    for line, cost, sunk in ((each.line, each.cost, each.sunk) for each in costed):
        is_spare = line.kind in ("commitment", "upfront")
        option = "commitment" if line.commitment else (line.purchase_option or "on_demand")
        option = option if option in ("on_demand", "spot") else "commitment"
        name = "" if is_spare else name_workload(usage.workload(line), line.accelerator, names)
        place = f"{line.provider} {line.region}".strip()
        hours = 0.0 if is_spare else line.hours_used
        cells.append((line.month, UseCell(name, option, place, line.accelerator, hours, cost, sunk)))
    days = frozenset(day for bill in usage.bills for day in bill.days)
    view = "effective (amortised)" if is_effective else "billed: the bill has no amortised cost"
    currency = usage.currencies[0] if len(usage.currencies) == 1 else ", ".join(usage.currencies)
    notes = [f"actual costs are {view}"]
    if any(each.sunk for each in costed):
        notes.append(
            "commitments from before the plan: their fees are charged to the work that used them, as the plan does it"
        )
    return ActualUse(tuple(cells), days, currency, tuple(notes))


def _actual_of_measured(usages: Sequence[MeasuredUsage], names: dict[str, str]) -> ActualUse:
    cells = []
    for usage in usages:
        for use in usage.uses:
            is_spare = use.workload == UNALLOCATED
            name = "" if is_spare else name_workload(use.workload, use.accelerator, names)
            for month, part in split_by_month(use):
                cost = None if use.cost is None else use.cost * part
                hours = 0.0 if is_spare else use.accelerator_hours * part
                cells.append((month, UseCell(name, "", "", use.accelerator, hours, cost)))
    days = frozenset(day for usage in usages for day in usage.days)
    currencies = sorted({usage.currency for usage in usages if usage.currency})
    has_cost = any(use.cost is not None for usage in usages for use in usage.uses)
    note = "costs are those of the cluster's price list" if has_cost else "no costs in it: hours are valued as planned"
    return ActualUse(tuple(cells), days, ", ".join(currencies), (note,))


def _choose_period(plan: Plan, days: Iterable[str]) -> ComparedPeriod | None:
    """The full months that are both in the plan and in the files, else the covered days of the last such month."""
    covered = sorted(days)
    months = tuple(month for month in full_months(covered) if month in plan.month_names)
    if months:
        hours = math.fsum(hours_in_month(month) for month in months)
        return ComparedPeriod(months, hours, round(hours / 24))
    shared = [day for day in covered if day[:7] in plan.month_names]
    own = [day for day in shared if day[:7] == shared[-1][:7]]
    return ComparedPeriod((own[0][:7],), 24.0 * len(own), len(own)) if len(own) >= DAYS_MIN else None


def _not_comparable(
    plan: Plan, plan_file: str, files: Sequence[str], actual: ActualUse, period: ComparedPeriod | None
) -> InputProblem:
    if period is None:
        covered = f"{min(actual.days)} to {max(actual.days)}" if actual.days else "no day"
        message = f"has no {DAYS_MIN} days of a month of {plan_file}"
        expected = f"use from {plan.month_names[0]} to {plan.month_names[-1]}"
        return InputProblem("", ", ".join(files), message, covered, expected)
    message = f"is not in the currency of {plan_file}"
    return InputProblem("", ", ".join(files), message, actual.currency, f"{plan.currency} (plan with --currency)")


def list_planned_cells(plan: Plan, strategy: Strategy, period: ComparedPeriod) -> list[UseCell]:
    """The plan's accelerators in the period: a month of the plan is brought to the hours of the calendar."""
    of_calendar = period.hours / (len(period.months) * plan.hours_per_month)
    # Fees of commitments from before the plan are due by the month, however many days it has.
    of_months = period.hours / math.fsum(hours_in_month(month) for month in period.months)
    earlier = list_earlier_commitments(strategy)
    cells = []
    for charge in build_charges(plan, strategy):
        if not 1 <= charge.month <= plan.months or plan.month_names[charge.month - 1] not in period.months:
            continue
        use = charge.line
        is_earlier = isinstance(use, Use) and (use.provider, use.region, use.name) in earlier
        scale = of_months if is_earlier and charge.category == "commitment" else of_calendar
        cost = scale * (charge.billed if charge.effective is None else charge.effective)
        if charge.kind == "use" and isinstance(use, Use):
            option = {"owned": "owned", "commitment": "commitment"}.get(use.what, charge.category)
            place = OWN_SITE if use.what == "owned" else f"{use.provider} {use.region}"
            hours = of_calendar * use.node_hours * use.accelerators_per_node
            cells.append(UseCell(use.workload, option, place, use.accelerator, hours, cost))
        elif charge.kind == "unused":
            cells.append(UseCell("", "commitment", "", "", 0.0, cost))
    return cells


def _find_failures(drift: UseDrift, limit: float | None) -> list[str]:
    """Why the gate failed; a gate that cannot be evaluated fails."""
    if limit is None:
        return []
    if drift.unpriced:
        names = ", ".join(plain_text(name) for name, _ in drift.unpriced)
        return [f"the cost of {names} is not known: the drift cannot be held against {limit:.1%}"]
    if drift.share is None:
        return [f"the plan has no cost in these months: the drift cannot be held against {limit:.1%}"]
    if abs(drift.share) <= limit:
        return []
    return [f"cost is {drift.share:+.1%} off the plan, more than {limit:.1%}"]


def _describe_unpriced(name: str, hours: float) -> str:
    return f"{plain_text(name)}: {hours:,.2f} hours on accelerators without a rate in the plan: in no amount"


def _drift_lines(
    plan: Plan, chosen: Strategy, period: ComparedPeriod, drift: UseDrift, notes: Sequence[str]
) -> Iterator[str]:
    yield plain_text(f"plan {plan.plan_id} of {plan.as_of}, {chosen.name}, against the use of {period.words}")
    yield ""
    running, printed = drift.planned, round(drift.planned, 2)
    rows = [("planned", format_amount(drift.planned_hours), format_amount(printed))]
    for step in drift.steps:
        running += step.amount
        # Differences of rounded running sums: printed amounts add up to the cent.
        moved, printed = round(running, 2) - printed, round(running, 2)
        more = math.fsum(part.hours for part in step.parts)
        rows.append((step.cause, format_signed(more, 2) if more else "", format_signed(round(moved, 2), 2)))
    rows.append(("actual", format_amount(drift.actual_hours), format_amount(round(drift.actual, 2))))
    titles = (f"cost in {plan.currency}", "accelerator-hours", "cost")
    yield from align_columns(titles, rows, titles[1:], indent="  ")
    share = "" if drift.share is None else f" ({drift.share:+.1%} of the plan)"
    yield ""
    difference = round(drift.actual - drift.planned, 2)
    yield f"difference {format_signed(difference, 2) if difference else '0.00'} {plan.currency}{share}"
    if drift.sunk:
        whole, sunk = format_amount(drift.actual + drift.sunk), format_amount(drift.sunk)
        yield f"the bill has {whole}: {sunk} of it was paid upfront for commitments from before the plan"
    yield from _workload_lines(drift)
    yield ""
    yield from (f"- {plain_text(note)}" for note in notes)


def _workload_lines(drift: UseDrift) -> Iterator[str]:
    """The workloads that moved the cost most, by cause."""
    causes = [step.cause for step in drift.steps if any(part.workload and part.amount for part in step.parts)]
    amounts: dict[str, dict[str, float]] = {}
    for step in drift.steps:
        for part in step.parts:
            if part.workload and step.cause in causes:
                amounts.setdefault(part.workload, {})[step.cause] = part.amount
    moved = [name for name, its in amounts.items() if round(sum(map(abs, its.values())), 2)]
    ordered = sorted(moved, key=lambda name: (-abs(math.fsum(amounts[name].values())), name))
    if not ordered:
        return
    rows = [
        (plain_text(name), *(_format_change(amounts[name].get(cause, 0.0)) for cause in causes),
         _format_change(math.fsum(amounts[name].values())))
        for name in ordered[:LISTED_MAX]
    ]  # fmt: skip
    titles = ("workload", *causes, "difference")
    yield ""
    yield from align_columns(titles, rows, titles[1:], indent="  ")
    if len(ordered) > LISTED_MAX:
        yield f"  {len(ordered) - LISTED_MAX} more (--json has all)"


def _format_change(amount: float) -> str:
    return format_signed(amount, 2) if round(amount, 2) else "-"


def _drift_document(
    plan: Plan,
    chosen: Strategy,
    period: ComparedPeriod,
    drift: UseDrift,
    limit: float | None,
    failures: Sequence[str],
    notes: Sequence[str],
) -> dict[str, object]:
    return {
        "plan_id": plan.plan_id,
        "content_digest": plan.content_digest,
        "strategy": chosen.name,
        "currency": plan.currency,
        "months": period.months,
        "days": period.days,
        "planned": drift.planned,
        "actual": drift.actual,
        "difference": drift.actual - drift.planned,
        "share": drift.share,
        "paid_before_the_plan": drift.sunk,
        "planned_hours": drift.planned_hours,
        "actual_hours": drift.actual_hours,
        "max_drift": limit,
        "passed": not failures,
        "failures": failures,
        "causes": [
            {"cause": step.cause, "amount": step.amount, "parts": [asdict(part) for part in step.parts]}
            for step in drift.steps
        ],
        "unpriced": [{"workload": name, "hours": hours} for name, hours in drift.unpriced],
        "notes": notes,
    }
