"""Behind `planner usage` for bills: reads billing exports and prints the sums of `planner.inputs.bills`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from planner.cli._exit_codes import DONE
from planner.cli._tables import print_report
from planner.cli._terminal import show_progress
from planner.inputs.bills import Bill, NotABill, read
from planner.inputs.bills.bill import BilledUsageLine
from planner.inputs.bills.commitments import Commitment, collect_commitments
from planner.inputs.bills.usage import Usage, UsageSum, combine_bills, sum_lines, sum_lines_by
from planner.inputs.measured_use import is_measured_use
from planner.library.file_problems import unreadable_file
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.price_catalog import Catalog
from pricing.counted_nouns import format_count
from pricing.money import format_amount
from pricing.plain_text import log_safe_text, spreadsheet_text
from pricing.plain_text import plain_text as clean
from pricing.text_tables import align_columns

UNSPECIFIED = "not in the bill"
HEAD_BYTES = 100_000
NUMBERS = ("rows", "hours", "unused", "billed", "effective", "nodes", "fee/month", "cost/month")
VIEWS: tuple[tuple[str, Callable[[Usage, BilledUsageLine], str]], ...] = (
    ("month", lambda _, line: line.month),
    ("workload", lambda usage, line: usage.workload(line)),
    ("account", lambda _, line: line.account or UNSPECIFIED),
    ("region", lambda _, line: f"{line.provider} {line.region or UNSPECIFIED}"),
    ("type", lambda _, line: " ".join(part for part in (line.instance_type, line.accelerator) if part)),
    ("option", lambda _, line: line.purchase_option),
)
"""The groupings of the text output, in the order of the first columns of the CSV."""
NAME_COLUMNS = ("month", "workload", "account", "provider", "region", "instance_type", "accelerator", "purchase_option",
                "commitment", "kind", "currency")  # fmt: skip
SUM_COLUMNS = ("rows", "hours_used", "hours_unused", "billed", "effective")
KINDS = {
    "used": "used",
    "commitment": "commitment fees, unused",
    "upfront": "paid upfront",
    "beside": "in addition to nodes",
}


def report_usage(files: Sequence[str], tag: str, form: str) -> int:
    """Print the sums of the files and return the exit code; InvalidRequest with every problem of all of them."""
    if measured := [file for file in files if is_measured_file(file)]:
        if len(measured) < len(files):
            bills_too = next(file for file in files if file not in measured)
            message = f"no measured use, and {measured[0]} is"
            raise InvalidRequest((InputProblem("", bills_too, message, "", "bills or measured use, not both"),))
        from planner.cli._measured_use_report import report_measured_use

        return report_measured_use(files, tag, form)
    baseline = read_usage(files, tag)
    columns = (*NAME_COLUMNS, *SUM_COLUMNS)
    print_report(form, _usage_lines(baseline), columns, _usage_records(baseline), lambda: _usage_document(baseline))
    return DONE


def read_usage(files: Sequence[str], tag: str) -> Usage:
    """The usage of bills together; InvalidRequest with every problem of all of them."""
    bills = _read_bills(files)
    try:
        return combine_bills(bills, tag)
    except LookupError as error:
        message = "no row of accelerators has that tag"
        raise InvalidRequest((InputProblem("", "--tag", message, tag, error.args[0]),)) from None


def is_measured_file(file: str) -> bool:
    """Whether the head of a file is that of measured use; False for a folder and an unreadable file."""
    try:
        with Path(file).open("rb") as opened:
            return is_measured_use(opened.read(HEAD_BYTES))
    except OSError:
        return False


def _read_bills(files: Sequence[str]) -> list[Bill]:
    catalog, bills, faults = Catalog.current(), list[Bill](), list[InputProblem]()
    paths: set[Path] = set()
    for file in files:
        try:
            if (path := Path(file).resolve()) in paths:
                faults.append(InputProblem("", file, "named twice", expected="each file once"))
                continue
            paths.add(path)
            with show_progress(f"reading {clean(file)}") as line:
                bills.append(read(Path(file), catalog, name=file, progress=line.update_fraction))
        except NotABill as fault:
            expected = "a FOCUS, AWS CUR, Azure, Google Cloud or Oracle billing export"
            faults.append(InputProblem("", file, f"no bill: {fault}", expected=expected))
        except OSError as error:
            faults.append(unreadable_file(file, error))
    if faults:
        raise InvalidRequest(tuple(faults))
    return bills


def _usage_lines(baseline: Usage) -> list[str]:
    parts: list[Iterable[str]] = [_file_lines(baseline)]
    if baseline.lines:
        parts += [_baseline_lines(baseline, currency) for currency in baseline.currencies]
        parts.append(_commitment_lines(collect_commitments(baseline)))
    parts += [_other_spend_lines(baseline), _rejected_row_lines(baseline), _note_lines(baseline)]
    return log_safe_text("\n".join(line for part in parts for line in part).rstrip()).split("\n")


def _file_lines(baseline: Usage) -> Iterator[str]:
    for bill in baseline.bills:
        days = f"usage from {min(bill.days)} to {max(bill.days)}" if bill.days else "no day of usage"
        yield f"{clean(bill.name)}: {bill.export}, {clean(bill.recognised_by)}"
        others = f"{bill.rows_apart:,} of other spend + {bill.rows_refused:,} rejected"
        yield f"  {format_count(bill.rows_in, 'row')} = {bill.rows_used:,} of accelerators + {others}; {days}"
        for each in bill.totals:
            own = sum_lines([line for line in bill.lines if line.currency == each.currency])
            views = (("billed", each.billed, own.billed), ("effective", each.effective, own.effective))
            for view, whole, part in views:
                if whole is not None:
                    amount = f"{format_amount(whole)} {_format_currency(each.currency)}"
                    share = "accelerators not in the bill" if part is None else f"{format_amount(part)} of accelerators"
                    yield f"  {view} {amount}: {share}, the rest is other spend"
    yield ""


def _baseline_lines(baseline: Usage, currency: str) -> Iterator[str]:
    """The accelerators in one currency, by each view in turn; every table adds up to the same."""
    lines = [line for line in baseline.lines if line.currency == currency]
    whole = sum_lines(lines)
    yield (
        f"Accelerators, {_format_currency(currency)} (billed is cash, effective is amortised: two views, "
        "never to be added)"
    )
    yield (
        f"  {format_amount(whole.hours_paid)} accelerator-hours paid = {format_amount(whole.hours_used)} used + "
        f"{format_amount(whole.hours_unused)} of unused commitments"
    )
    yield ""
    for title, name in VIEWS:
        called = f"workload ({baseline.key or 'account'}; {baseline.chosen})" if title == "workload" else title
        yield from _sum_table(called, sum_lines_by(lines, partial(name, baseline)), whole)
    yield from _sum_table("kind", sum_lines_by(lines, lambda line: KINDS[line.kind]), whole)


def _sum_table(title: str, sums: dict[str, UsageSum], whole: UsageSum) -> Iterator[str]:
    rows = [_sum_row(clean(name), each) for name, each in sums.items()]
    yield from align_columns((title, *NUMBERS[:5]), [*rows, _sum_row("total", whole)], NUMBERS, indent="  ")
    yield ""


def _sum_row(name: str, each: UsageSum) -> tuple[str, ...]:
    return (
        name,
        f"{each.rows:,}",
        format_amount(each.hours_used),
        format_amount(each.hours_unused),
        format_money(each.billed),
        format_money(each.effective),
    )


def _commitment_lines(commitment_list: Sequence[Commitment]) -> Iterator[str]:
    if not commitment_list:
        return
    yield "Commitments that covered accelerators"
    head = ("commitment", "type", "region", "option", "nodes", "ends", "hours", "unused", "fee/month", "cost/month")
    rows = [
        (
            clean(each.identity),
            each.instance_type or UNSPECIFIED,
            each.region or UNSPECIFIED,
            each.purchase_option,
            str(each.count or UNSPECIFIED),
            each.ends or UNSPECIFIED,
            format_amount(each.sums.hours_used),
            format_amount(each.sums.hours_unused),
            format_money(each.fee_per_month),
            format_money(each.cost_per_month),
        )
        for each in commitment_list
    ]
    yield from align_columns(head, rows, NUMBERS, indent="  ")
    for each in commitment_list:
        if each.unknown:
            yield f"  {clean(each.identity)}: the bill does not state {'; '.join(map(clean, each.unknown))}"
    yield ""


def _other_spend_lines(baseline: Usage) -> Iterator[str]:
    parts = [(bill, each) for bill in baseline.bills for each in bill.apart]
    if not parts:
        return
    yield "Other spend"
    rows = [
        (
            f"{each.why}{f': {clean(each.name)[:90]}' if each.name else ''}",
            _format_currency(each.currency),
            f"{each.rows:,}",
            format_money(each.billed),
            format_money(each.effective),
        )
        for _, each in parts
    ]
    yield from align_columns(("category", "currency", "rows", "billed", "effective"), rows, NUMBERS, indent="  ")
    yield ""


def _rejected_row_lines(baseline: Usage) -> Iterator[str]:
    for bill in baseline.bills:
        for each in bill.refused:
            examples = f" ({', '.join(map(clean, each.examples))})" if each.examples else ""
            yield f"Rejected in {clean(bill.name)}: {format_count(each.rows, 'row')}, {clean(each.reason)}{examples}"


def _note_lines(baseline: Usage) -> Iterator[str]:
    for bill in baseline.bills:
        for note in bill.notes:
            yield f"Note on {clean(bill.name)}: {note}"
    full = ", ".join(baseline.full_months) or "none"
    yield f"Full months, the baseline of `planner estimate`: {full}"


def _usage_records(baseline: Usage) -> Iterator[dict[str, Any]]:
    """One row for each set of names, with the workload; texts from the bill are escaped for spreadsheets."""

    def names_of(line: BilledUsageLine) -> tuple[str, ...]:
        return tuple(
            baseline.workload(line) if name == "workload" else str(getattr(line, name)) for name in NAME_COLUMNS
        )

    for names, each in sum_lines_by(baseline.lines, names_of).items():
        row: dict[str, Any] = dict(zip(NAME_COLUMNS, map(spreadsheet_text, names), strict=True))
        yield row | {name: getattr(each, name) for name in SUM_COLUMNS}


def _usage_document(baseline: Usage) -> dict[str, Any]:
    """Everything, with sums by each view; amounts unrounded."""
    views = []
    for currency in baseline.currencies:
        lines = [line for line in baseline.lines if line.currency == currency]
        by = {
            title: {name: _sum_document(each) for name, each in sum_lines_by(lines, partial(own, baseline)).items()}
            for title, own in VIEWS
        }
        views.append({"currency": currency, "total": _sum_document(sum_lines(lines)), "by": by})
    return {
        "tag": baseline.key,
        "tag_chosen": baseline.chosen,
        "full_months": baseline.full_months,
        "bills": [_bill_document(bill) for bill in baseline.bills],
        "accelerators": views,
        "commitments": [asdict(each) for each in collect_commitments(baseline)],
        "lines": [
            asdict(line) | {"tags": dict(line.tags), "workload": baseline.workload(line)} for line in baseline.lines
        ],
    }


def _bill_document(bill: Bill) -> dict[str, Any]:
    return {
        "name": bill.name, "export": bill.export, "recognised_by": bill.recognised_by, "rows_in": bill.rows_in,
        "rows_of_accelerators": bill.rows_used, "rows_apart": bill.rows_apart, "rows_refused": bill.rows_refused,
        "first_day": min(bill.days, default=None), "last_day": max(bill.days, default=None),
        "totals": [asdict(each) for each in bill.totals], "apart": [asdict(each) for each in bill.apart],
        "refused": [asdict(each) for each in bill.refused], "notes": bill.notes,
    }  # fmt: skip


def _sum_document(each: UsageSum) -> dict[str, Any]:
    return asdict(each) | {"hours_paid": math.fsum((each.hours_used, each.hours_unused))}


def _format_currency(code: str) -> str:
    return code or "(currency not in the bill)"


def format_money(amount: float | None) -> str:
    return UNSPECIFIED if amount is None else format_amount(amount)
