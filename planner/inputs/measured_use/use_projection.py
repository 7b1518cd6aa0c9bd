"""Measured use as a request: the demand of the last full months goes on."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from planner.inputs.bills.line_classification import full_months
from planner.inputs.bills.usage import hours_in_month
from planner.inputs.measured_use import read_use
from planner.inputs.measured_use.use_record import (
    UNALLOCATED,
    LeftOutRows,
    MeasuredUsage,
    MeasuredUse,
    UnreadableUse,
)
from planner.inputs.measured_use.use_summary import split_by_month, sum_uses
from planner.inputs.parsed_file import ParsedFile, digest, placeholder_request, reject_file, unique_name
from planner.inputs.sheet_options import SheetOptions, UsageProjection
from planner.inputs.workload_files.hardware_names import find_accelerator
from planner.request.calendar import month_index
from planner.request.errors import InputProblem
from planner.result import InputProvenance, InputReading
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count
from pricing.units import HOURS_PER_DAY, HOURS_PER_MONTH

MONTHS_MAX = 3
DAYS_MIN = 7
NAME_MAX = 150
HOURS_MIN = 1e-6


def build_request_from_use(data: bytes, name: str, format_name: str, options: SheetOptions) -> ParsedFile:
    """The request in a file of measured use. Problems are in `complaints`; bad files raise nothing."""
    catalog = options.catalog or Catalog.embedded()
    try:
        usage = read_use(data, name, catalog, options.projection.tag, options.answers)
    except UnreadableUse as fault:
        return reject_file(
            data, name, format_name, str(fault), place=fault.place, expected="measured use of accelerators"
        )
    months, hours, basis = choose_base(usage)
    if not months:
        return reject_file(data, name, format_name, basis, expected="a full month, or a part of one")
    workloads, readings, problems = _build_workloads(usage, months, HOURS_PER_MONTH / hours, catalog, options)
    if not workloads and not problems:
        problems = [InputProblem("", name, f"no use of accelerators in {', '.join(months)}", "", "GPUs in use")]
    inputs = InputProvenance(
        name,
        format_name,
        digest(data),
        readings=tuple(readings),
        notes=(
            f"{usage.source}: {format_count(usage.rows_in, 'row')}, {usage.rows_used:,} of use, by {usage.grouped_by}",
            *(describe_left_out(each) for each in usage.left_out),
            basis,
            *usage.notes,
            *_describe_waste(usage, months),
        ),
    )
    places = {reading.path: reading.place for reading in readings}
    document = {"workloads": workloads} if workloads else placeholder_request()
    return ParsedFile(document, inputs, tuple(problems), places)


def describe_left_out(rows: LeftOutRows) -> str:
    """How many rows are no use, why, and the places of the first."""
    return f"left out: {format_count(rows.rows, 'row')}, {rows.reason} ({', '.join(rows.examples)})"


def choose_base(usage: MeasuredUsage) -> tuple[tuple[str, ...], float, str]:
    """The last full months that follow one another (up to three), else the last month that is covered in part; their
    hours, and a note. Without a month of enough days the note says so."""
    days, months = sorted(usage.days), list[str]()
    for month in reversed(full_months(days)[-MONTHS_MAX:]):
        if months and month_index(month) + 1 != month_index(months[0]):
            break
        months.insert(0, month)
    if months:
        listed = ", ".join(months)
        hours = math.fsum(hours_in_month(month) for month in months)
        return tuple(months), hours, f"demand is the mean of {listed}, for months of {HOURS_PER_MONTH:,.0f} hours"
    if not days:
        return (), 0.0, "no use of accelerators in it"
    month = days[-1][:7]
    own = [day for day in days if day.startswith(month)]
    if len(own) < DAYS_MIN:
        return (), 0.0, f"no {DAYS_MIN} days of a month are covered: {days[0]} to {days[-1]}"
    words = f"{month} is covered from day {own[0][8:]} to {own[-1][8:]}: its hours are scaled up by days"
    return (month,), len(own) * float(HOURS_PER_DAY), words


def _build_workloads(
    usage: MeasuredUsage, months: Sequence[str], scale: float, catalog: Catalog, options: SheetOptions
) -> tuple[list[dict[str, Any]], list[InputReading], list[InputProblem]]:
    """A workload for each name and accelerator; a problem for each accelerator that is not known."""
    groups: dict[tuple[str, str], list[tuple[MeasuredUse, float]]] = defaultdict(list)
    unknown: dict[str, None] = {}
    for use in usage.uses:
        part = math.fsum(fraction for month, fraction in split_by_month(use) if month in months)
        if use.workload == UNALLOCATED or not part:
            continue
        accelerator = name_accelerator(use, catalog, options.answers)
        if accelerator:
            groups[use.workload, accelerator].append((use, part))
        else:
            unknown[use.written] = None
    problems = [_unknown_accelerator(usage.name, written) for written in unknown]
    many = Counter(workload for workload, _ in groups)
    workloads: list[dict[str, Any]] = []
    readings, names = list[InputReading](), set[str]()
    for (title, accelerator), parts in sorted(groups.items()):
        hours = math.fsum(use.accelerator_hours * part for use, part in parts)
        if hours < HOURS_MIN:
            continue
        full = " ".join((title if many[title] == 1 else f"{title} on {accelerator}").split())[:NAME_MAX] or "(no name)"
        name = unique_name(full, names)
        names.add(name.casefold())
        at = f"workloads[{len(workloads)}].demand.accelerator_hours_per_month"
        text = f"{hours:,.2f} accelerator-hours in {', '.join(months)}"
        readings.append(InputReading(at, f"{usage.name}, by {usage.grouped_by}", text, f"{hours * scale:.6g}"))
        workloads.append(
            _build_workload(name, accelerator, hours * scale, [use for use, _ in parts], options.projection)
        )
    return workloads, readings, problems


def name_accelerator(use: MeasuredUse, catalog: Catalog, answers: Mapping[str, str]) -> str:
    """The accelerator of a use: by the answer about its name, else by its name, else by the answer for all."""
    answer = answers.get(f"accelerator: {use.written}", "") or (
        "" if use.accelerator else answers.get("accelerator", "")
    )
    return find_accelerator(catalog, answer) if answer else use.accelerator


def _unknown_accelerator(name: str, written: str) -> InputProblem:
    message = f"no accelerator of the catalogue is named {written}" if written else "its accelerators are not named"
    question = f"'accelerator: {written}'" if written else "'accelerator'"
    return InputProblem("", name, message, written, f"the answer {question} in --answers, such as H100")


def _build_workload(
    name: str, accelerator: str, hours: float, uses: Sequence[MeasuredUse], projection: UsageProjection
) -> dict[str, Any]:
    """A workload on its accelerator, in gangs as large as those in which half of its hours ran."""
    demand: dict[str, Any] = {"accelerator_hours_per_month": hours, "accelerator": accelerator}
    if projection.growth_per_month:
        demand["growth_per_month"] = projection.growth_per_month
    middle = _find_middle(uses)
    workload: dict[str, Any] = {"name": name, "kind": "batch", "demand": demand, "gang": middle.accelerators}
    teams = {use.team for use in uses}
    if len(teams) == 1 and (team := teams.pop()):
        workload["team"] = team
    if middle.nodes and middle.nodes > 1 and not middle.accelerators % middle.nodes:
        workload["accelerators_per_node"] = middle.accelerators / middle.nodes
    if projection.substitution:
        workload["substitution"] = True
    return workload


def _find_middle(uses: Sequence[MeasuredUse]) -> MeasuredUse:
    """The use at half of the hours, from the fewest accelerators to the most."""
    ordered = sorted(uses, key=lambda use: (use.accelerators, use.nodes or 0.0))
    half, passed = math.fsum(use.accelerator_hours for use in uses) / 2, 0.0
    for use in ordered:
        passed += use.accelerator_hours
        if passed >= half:
            return use
    return ordered[-1]


def _describe_waste(usage: MeasuredUsage, months: Sequence[str]) -> list[str]:
    """What is in the demand that did no work, and what is not in it."""
    total, notes = sum_uses(usage.uses), list[str]()
    if (utilisation := total.utilisation) is not None:
        notes.append(
            f"accelerators in use were busy for {utilisation:.0%} of their time ({total.idle_hours:,.0f} hours idle): "
            "the plan has the hours in use, not the busy ones"
        )
    if total.lost_hours:
        notes.append(f"{total.lost_hours:,.0f} accelerator-hours were of runs that did not complete; the plan has them")
    if total.unallocated_hours:
        notes.append(f"{total.unallocated_hours:,.0f} accelerator-hours ran for nobody; the plan does not have them")
    if (wait := total.mean_wait_hours) is not None:
        notes.append(f"runs waited {wait:,.2f} hours in the mean: work that waits may run at any hour of its month")
    if len(months) < len({day[:7] for day in usage.days}):
        notes.append(f"use outside {', '.join(months)} is not part of the demand")
    return notes
