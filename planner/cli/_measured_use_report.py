"""Behind `planner usage` for what a cluster measured: demand by month and hour, utilisation, queue and waste."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from planner.cli._exit_codes import DONE
from planner.cli._tables import print_report
from planner.inputs.measured_use import MeasuredUsage, UnreadableUse, read_isolated_use
from planner.inputs.measured_use.use_projection import describe_left_out
from planner.inputs.measured_use.use_record import UNALLOCATED, MeasuredUse
from planner.inputs.measured_use.use_summary import (
    HourOfWeek,
    UseSum,
    split_by_month,
    sum_by_hour_of_week,
    sum_by_month,
    sum_uses,
    sum_uses_by,
)
from planner.library.request_files import read_bytes
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count
from pricing.money import format_amount
from pricing.plain_text import log_safe_text, spreadsheet_text
from pricing.plain_text import plain_text as clean
from pricing.text_tables import align_columns

UNKNOWN = "-"
NUMBERS = ("runs", "hours", "busy", "idle hours", "lost hours", "unallocated", "mean wait", "9 of 10 waits", "cost")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
BLOCK_HOURS = 4
CSV_COLUMNS = (
    "month", "workload", "team", "accelerator", "runs", "hours", "measured_hours", "busy_hours", "lost_hours",
    "unallocated_hours", "mean_wait_hours", "cost", "currency",
)  # fmt: skip


def report_measured_use(files: Sequence[str], tag: str, form: str, answers: Mapping[str, str] | None = None) -> int:
    """Print the sums of files of measured use and return the exit code; InvalidRequest with every problem."""
    usages = read_usages(files, tag, answers)
    columns = CSV_COLUMNS
    print_report(form, _report_lines(usages), columns, _use_records(usages), lambda: _use_document(usages))
    return DONE


def read_usages(files: Sequence[str], tag: str, answers: Mapping[str, str] | None = None) -> list[MeasuredUsage]:
    """The measured use in each file; InvalidRequest with every problem."""
    catalog, usages, faults = Catalog.current(), list[MeasuredUsage](), list[InputProblem]()
    for file in files:
        try:
            usages.append(read_isolated_use(read_bytes(file), file, catalog, tag, answers))
        except UnreadableUse as fault:
            expected = "output of sacct, DCGM metrics of Prometheus, or allocations of OpenCost"
            faults.append(InputProblem("", f"{file} {fault.place}".rstrip(), clean(str(fault)), expected=expected))
        except InvalidRequest as error:
            faults += error.complaints
    if faults:
        raise InvalidRequest(tuple(faults))
    return usages


def _all_uses(usages: Sequence[MeasuredUsage]) -> list[MeasuredUse]:
    return [use for usage in usages for use in usage.uses]


def _report_lines(usages: Sequence[MeasuredUsage]) -> list[str]:
    uses = _all_uses(usages)
    parts: list[Iterable[str]] = [_file_lines(usages)]
    if uses:
        total = sum_uses(uses)
        parts += [
            _sum_table("month", sum_by_month(uses), total),
            _sum_table(f"workload ({usages[0].grouped_by})", sum_uses_by(uses, lambda use: use.workload), total),
            _sum_table("accelerator", sum_uses_by(uses, _accelerator_name), total),
            _week_lines(sum_by_hour_of_week(uses)),
            _waste_lines(usages, total),
        ]
    parts.append(f"Note on {clean(usage.name)}: {clean(note)}" for usage in usages for note in usage.notes)
    return log_safe_text("\n".join(line for part in parts for line in part).rstrip()).split("\n")


def _accelerator_name(use: MeasuredUse) -> str:
    return use.accelerator or (f"{use.written} (not in the catalogue)" if use.written else "(not named)")


def _file_lines(usages: Sequence[MeasuredUsage]) -> Iterator[str]:
    for usage in usages:
        yield f"{clean(usage.name)}: {usage.source}"
        span = (
            f"{usage.first:%Y-%m-%d %H:%M} to {usage.last:%Y-%m-%d %H:%M}" if usage.first and usage.last else "no use"
        )
        left = usage.rows_in - usage.rows_used
        yield f"  {format_count(usage.rows_in, 'row')} = {usage.rows_used:,} of use + {left:,} left out; {span}"
        yield from (f"  {clean(describe_left_out(each))}" for each in usage.left_out)
    yield ""


def _sum_table(title: str, sums: Mapping[str, UseSum], total: UseSum) -> Iterator[str]:
    rows = [_sum_row(clean(name), each) for name, each in sums.items()]
    yield from align_columns((title, *NUMBERS), [*rows, _sum_row("total", total)], NUMBERS, indent="  ")
    yield ""


def _sum_row(name: str, each: UseSum) -> tuple[str, ...]:
    return (
        name,
        f"{each.runs:,}" if each.runs else UNKNOWN,
        format_amount(each.hours),
        _format_share(each.utilisation),
        format_amount(each.idle_hours) if each.measured_hours else UNKNOWN,
        format_amount(each.lost_hours),
        format_amount(each.unallocated_hours),
        _format_hours(each.mean_wait_hours),
        _format_hours(each.long_wait_hours),
        UNKNOWN if each.cost is None else format_amount(each.cost),
    )


def _format_share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0%}"


def _format_hours(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.2f} h"


def _week_lines(hours: Sequence[HourOfWeek]) -> Iterator[str]:
    """Accelerators in use by day and four hours of it."""
    titles = tuple(f"{first:02d}-{first + BLOCK_HOURS:02d}" for first in range(0, 24, BLOCK_HOURS))
    rows = []
    for day, name in enumerate(DAYS):
        blocks = [hours[24 * day + first : 24 * day + first + BLOCK_HOURS] for first in range(0, 24, BLOCK_HOURS)]
        rows.append((name, *(_format_mean(block) for block in blocks)))
    yield from align_columns(("accelerators in use, mean", *titles), rows, titles, indent="  ")
    yield ""


def _format_mean(block: Sequence[HourOfWeek]) -> str:
    times = sum(each.times for each in block)
    return f"{sum(each.sums.hours for each in block) / times:,.1f}" if times else UNKNOWN


def _waste_lines(usages: Sequence[MeasuredUsage], total: UseSum) -> Iterator[str]:
    whole = total.hours + total.unallocated_hours
    if not whole:
        return
    parts = []
    if total.measured_hours:
        parts.append(
            f"{total.idle_hours:,.0f} idle in use ({total.idle_hours / total.measured_hours:.0%} of those measured)"
        )
    parts += [
        f"{hours:,.0f} {words} ({hours / whole:.0%})"
        for hours, words in (
            (total.lost_hours, "of runs that did not complete"),
            (total.unallocated_hours, "unallocated"),
        )
        if hours
    ]
    yield f"Waste, of {whole:,.0f} accelerator-hours: {'; '.join(parts) or 'none is known'} (the parts may overlap)"
    if queued := sum(usage.queued for usage in usages):
        yield f"Waiting at the end: {queued:,.0f} accelerators"
    yield ""


def _use_records(usages: Sequence[MeasuredUsage]) -> Iterator[dict[str, Any]]:
    """One row for each month, workload, team and accelerator; texts are escaped for spreadsheets."""
    for usage in usages:
        sums: dict[tuple[str, str, str, str], UseSum] = {}
        for use in usage.uses:
            names = (use.workload, use.team, _accelerator_name(use))
            for index, (month, fraction) in enumerate(split_by_month(use)):
                its = sums.setdefault((month, *names), UseSum())
                its.add(use, fraction)
                if not index:
                    its.add_start(use)
        for key, its in sorted(sums.items()):
            row: dict[str, Any] = dict(zip(CSV_COLUMNS, map(spreadsheet_text, key), strict=False))
            yield row | _sum_document(its) | {"currency": usage.currency}


def _sum_document(each: UseSum) -> dict[str, Any]:
    return {
        "runs": each.runs, "hours": each.hours, "measured_hours": each.measured_hours, "busy_hours": each.busy_hours,
        "utilisation": each.utilisation, "lost_hours": each.lost_hours, "unallocated_hours": each.unallocated_hours,
        "mean_wait_hours": each.mean_wait_hours, "long_wait_hours": each.long_wait_hours, "cost": each.cost,
    }  # fmt: skip


def _use_document(usages: Sequence[MeasuredUsage]) -> dict[str, Any]:
    """Everything, unrounded."""
    uses = _all_uses(usages)
    by = {
        "month": sum_by_month(uses),
        "workload": sum_uses_by(uses, lambda use: use.workload),
        "accelerator": sum_uses_by(uses, _accelerator_name),
    }
    return {
        "files": [
            {
                "name": usage.name, "source": usage.source, "grouped_by": usage.grouped_by, "rows_in": usage.rows_in,
                "rows_used": usage.rows_used, "first": usage.first, "last": usage.last, "notes": usage.notes,
                "left_out": [{"reason": each.reason, "rows": each.rows} for each in usage.left_out],
                "queued": usage.queued, "currency": usage.currency,
            }
            for usage in usages
        ],
        "unallocated": UNALLOCATED,
        "total": _sum_document(sum_uses(uses)),
        "by": {title: {name: _sum_document(each) for name, each in sums.items()} for title, sums in by.items()},
        "hours_of_week": [
            {"hour": each.hour, "times": each.times, "accelerators": each.accelerators} | _sum_document(each.sums)
            for each in sum_by_hour_of_week(uses)
        ],
    }  # fmt: skip
