"""The usage of billing exports as a request: demand by workload, commitments taken over, and the present spend."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.inputs.bills import NotABill, Progress
from planner.inputs.bills import read as read_bill
from planner.inputs.bills.bill import BilledUsageLine
from planner.inputs.bills.bill_home import find_home
from planner.inputs.bills.commitments import (
    collect_commitments,
    describe_unattributed_fees,
    sum_unattributed_fees,
    transfer_commitments,
)
from planner.inputs.bills.export_folders import digest_parts
from planner.inputs.bills.partial_months import DAYS_MIN, convert_currencies, find_partial_month
from planner.inputs.bills.usage import Usage, combine_bills, hours_in_month, sum_lines
from planner.inputs.parsed_file import ParsedFile, PresentSpend, SunkCommitment, placeholder_request, unique_name
from planner.inputs.sheet_options import UNCHANGED_USAGE, UsageProjection
from planner.request.calendar import month_index
from planner.request.errors import InputProblem
from planner.result import InputProvenance, InputReading
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count
from pricing.errors import MissingExchangeRate
from pricing.units import HOURS_PER_MONTH

MONTHS_MAX = 3
NAME_MAX = 150
RATES_EXPECTED = "the bills of one currency, or rates in --exchange-rates FILE"


def build_request_from_bills(
    paths: Sequence[Path],
    catalog: Catalog,
    forward: UsageProjection = UNCHANGED_USAGE,
    *,
    names: Sequence[str] = (),
    progress: Progress | None = None,
    seconds: float | None = None,
) -> ParsedFile:
    """The accelerators of one or more bills as a request. Problems are in `complaints`; bad files raise nothing.

    `names` are the names of the files in messages; `progress` and `seconds` (for each file) are those of `bills.read`.
    """
    names = names or [path.name for path in paths]
    problems: list[InputProblem] = []
    bills, digests = [], []
    for path, name in zip(paths, names, strict=True):
        try:
            digests.append(digest_parts(path))
            bills.append(read_bill(path, catalog, name=name, progress=progress, seconds=seconds))
        except NotABill as error:
            problems.append(InputProblem("", name, f"not a bill: {error}", expected="a billing export"))
        except OSError as error:
            problems.append(InputProblem("", name, f"cannot be read: {error.strerror or error}"))
    combined = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    inputs = InputProvenance(", ".join(names), "billing", combined)
    if problems:
        return _reject_bills(inputs, *problems)
    try:
        usage = combine_bills(bills, forward.tag)
    except LookupError as error:
        message = "no row of accelerators has this tag"
        return _reject_bills(inputs, InputProblem("", "--tag", message, forward.tag, error.args[0]))
    try:
        usage, converted = convert_currencies(usage, catalog)
    except MissingExchangeRate as missing:
        message = f"accelerators in several currencies; {missing}"
        return _reject_bills(inputs, InputProblem("", inputs.name, message, "", RATES_EXPECTED))
    return _project_usage(usage, converted, catalog, forward, inputs)


def _reject_bills(inputs: InputProvenance, *problems: InputProblem) -> ParsedFile:
    return ParsedFile(placeholder_request(), inputs, problems, {})


def _project_usage(
    usage: Usage, converted: Sequence[str], catalog: Catalog, forward: UsageProjection, inputs: InputProvenance
) -> ParsedFile:
    """The request that continues the usage of the last full months of the bills, or of a part of the last one;
    `converted` are notes on currencies."""
    months, part = base_months(usage), find_partial_month(usage)
    months = months or ((part.month,) if part else ())
    used = [line for line in usage.lines if line.month in months]
    if (missing_part := _find_problem(usage, months, inputs.name)) is not None:
        return _reject_bills(inputs, missing_part)
    # From the sum over months of 28 to 31 days to the mean in a planning month of 730 hours.
    hours = part.hours if part else math.fsum(hours_in_month(month) for month in months)
    scale = HOURS_PER_MONTH / hours
    workloads, readings, left_out = _build_workloads(usage, used, months, scale, forward)
    if not workloads:
        message = f"no accelerator ran in {', '.join(months)}"
        return _reject_bills(inputs, InputProblem("", inputs.name, message, expected="hours of accelerators"))
    bill_commitments = collect_commitments(usage)
    estate_commitments, sunk_commitments, notes, loose = transfer_commitments(bill_commitments, catalog)
    nameless = sum_unattributed_fees(used, scale)
    document: dict[str, Any] = {"workloads": workloads}
    if usage.currencies[0]:
        document["currency"] = usage.currencies[0]
    if estate_commitments:
        document["existing"] = {"commitments": estate_commitments}
    home, home_note = find_home(used, catalog)
    present, spend_note = _measure_present_spend(
        usage, used, scale, forward, sunk_commitments, math.fsum((loose, *nameless.values()))
    )
    inputs = InputProvenance(
        inputs.name,
        inputs.format,
        inputs.sha256,
        readings=tuple(readings),
        notes=(
            *_describe_demand_basis(usage, months, forward),
            *([] if part is None else [part.note]),
            home_note,
            *converted,
            spend_note,
            *left_out,
            *notes,
            *describe_unattributed_fees(nameless),
            *(n for bill in usage.bills for n in bill.notes),
        ),
    )
    places = {reading.path: reading.place for reading in readings}
    places["workloads"] = f"{inputs.name}, by {_describe_grouping(usage)} (--tag)"
    return ParsedFile(document, inputs, (), places, present=present, home=home)


def base_months(usage: Usage) -> tuple[str, ...]:
    """The last full months, up to three, that follow one another."""
    months: list[str] = []
    for month in reversed(usage.full_months[-MONTHS_MAX:]):
        if months and month_index(month) + 1 != month_index(months[0]):
            break
        months.insert(0, month)
    return tuple(months)


def _find_problem(usage: Usage, months: tuple[str, ...], name: str) -> InputProblem | None:
    """Why no demand can be derived from the bills; None where it can."""
    if not usage.lines:
        expected = "hours of accelerators; `planner usage` lists what the bill contains"
        return InputProblem("", name, "no usage of a known accelerator", expected=expected)
    if not months:
        days = sorted(day for bill in usage.bills for day in bill.days)
        span = f"{days[0]} to {days[-1]}" if days else "no day of usage"
        return InputProblem(
            "", name, f"no {DAYS_MIN} days of a month are covered", span, "a full month, or a part of one"
        )
    return None


def _build_workloads(
    usage: Usage, used: list[BilledUsageLine], months: tuple[str, ...], scale: float, forward: UsageProjection
) -> tuple[list[dict[str, Any]], list[InputReading], list[str]]:
    """One workload for each tag value and accelerator, the readings, and a note for each one left out."""
    lines_by_workload: dict[tuple[str, str], list[BilledUsageLine]] = defaultdict(list)
    for line in used:
        if line.kind == "used":
            lines_by_workload[usage.workload(line), line.accelerator].append(line)
    many = Counter(name for name, _ in lines_by_workload)
    workloads: list[dict[str, Any]] = []
    readings, left_out, used_names = [], [], set[str]()
    for (tag, accelerator), lines in sorted(lines_by_workload.items()):
        hours = math.fsum(line.hours_used for line in lines)
        if hours <= 0:
            left_out.append(f"{tag} on {accelerator} is left out: its hours add up to {hours:,.2f}")
            continue
        title = " ".join((tag if many[tag] == 1 else f"{tag} on {accelerator}").split())[:NAME_MAX] or "(no name)"
        name = unique_name(title, used_names)
        used_names.add(name.casefold())
        rows = sum(line.rows for line in lines)
        readings.append(
            InputReading(
                f"workloads[{len(workloads)}].demand.accelerator_hours_per_month",
                f"{', '.join(bill.name for bill in usage.bills)}: {format_count(rows, 'row')}",
                f"{hours:,.2f} accelerator-hours in {', '.join(months)}",
                f"{hours * scale:.6g}",
            )
        )
        workloads.append(_build_workload(name, accelerator, hours * scale, lines, forward))
    return workloads, readings, left_out


def _build_workload(
    name: str, accelerator: str, hours: float, lines: list[BilledUsageLine], forward: UsageProjection
) -> dict[str, Any]:
    """A workload on its present accelerator and spot share, in nodes at least as large as the smallest it ran on."""
    gang = min(line.accelerators_per_node for line in lines)
    total = math.fsum(line.hours_used for line in lines)
    spot = math.fsum(line.hours_used for line in lines if line.purchase_option == "spot") / total
    demand: dict[str, Any] = {"accelerator_hours_per_month": hours, "accelerator": accelerator}
    if forward.growth_per_month:
        demand["growth_per_month"] = forward.growth_per_month
    workload: dict[str, Any] = {
        "name": name,
        "kind": "batch",
        "demand": demand,
        "gang": gang,
        "accelerators_per_node": gang,
    }
    if spot > 0:
        workload |= {"interruptible": True, "spot_fraction_max": min(1.0, spot)}
    if forward.substitution:
        workload["substitution"] = True
    return workload


def _measure_present_spend(
    usage: Usage,
    used: list[BilledUsageLine],
    scale: float,
    forward: UsageProjection,
    sunk_commitments: tuple[SunkCommitment, ...],
    loose: float,
) -> tuple[PresentSpend | None, str]:
    """The present monthly cost of accelerators (None where the bill lacks an amount), and a note on it.

    Amortised where the bill has amortised costs. `loose` is the part for commitments that are not taken over.
    """
    unused = sum_lines([line for line in used if line.kind in ("commitment", "upfront")])
    committed = sum_lines([line for line in used if line.kind in ("used", "beside") and line.commitment])
    total = sum_lines(used)
    currency = usage.currencies[0]
    amounts = " and ".join(
        f"{amount * scale:,.2f} {view}"
        for view, amount in (("effective", total.effective), ("billed", total.billed))
        if amount is not None
    )
    words = (
        f"accelerators cost {amounts or 'an amount that the bill does not state'} {currency or '(unknown currency)'} "
        f"in a month of {HOURS_PER_MONTH:,.0f} hours at present (effective and billed are two views of one spend), for "
        f"{total.hours_used * scale:,.1f} accelerator-hours used and {total.hours_unused * scale:,.1f} paid for but "
        "not used"
    )
    view = "effective" if total.effective is not None else "billed"
    sums = [amount * scale for each in (total, committed, unused) if (amount := getattr(each, view)) is not None]
    if len(sums) < 3:
        return None, words
    if view == "billed" and any(line.kind == "upfront" for line in used):
        why = "part of it was paid upfront for later months too, and the bill has no amortised cost"
        return None, f"{words}; the plan is not compared with the present spend: {why}"
    present = PresentSpend(
        view, currency, sums[0] - sums[1] - sums[2], sums[1], sums[2], forward.growth_per_month,
        sunk_commitments if view == "effective" else (), loose,
    )  # fmt: skip
    return present, words


def _describe_grouping(usage: Usage) -> str:
    return f"the tag {usage.key}" if usage.key else "account"


def _describe_demand_basis(usage: Usage, months: tuple[str, ...], forward: UsageProjection) -> list[str]:
    """Notes on how the demand was derived."""
    growth = f", {forward.growth_per_month:+.1%} each month after the first" if forward.growth_per_month else ""
    notes = [
        f"{bill.name}: {bill.export}, {bill.recognised_by}; {format_count(bill.rows_in, 'row')}, "
        f"{bill.rows_used:,} of accelerators, "
        f"{bill.rows_apart:,} of other charges, {bill.rows_refused:,} rejected (`planner usage` lists them)"
        for bill in usage.bills
    ]
    notes.append(f"demand is the mean of {', '.join(months)}, for months of {HOURS_PER_MONTH:,.0f} hours{growth}")
    notes.append(f"workloads are grouped by {_describe_grouping(usage)} ({usage.chosen}), and by accelerator")
    notes.append(
        "each workload keeps its accelerator" + (", or uses an allowed substitute" if forward.substitution else "")
        + ", nodes at least as large as the smallest it ran on, and at most its present share of spot"
    )  # fmt: skip
    return notes
