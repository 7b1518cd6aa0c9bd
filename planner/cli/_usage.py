"""Behind `planner usage`: reads bills, shows the baseline. What it prints are sums that `planner.billing` made."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from planner.billing import Bill, NotABill, read
from planner.billing.bill import Line
from planner.billing.commitments import Commitment, commitments
from planner.billing.usage import Sum, Usage, summed, together, total
from planner.cli._run import DONE
from planner.cli._tables import aligned, csv_text, json_text, show
from planner.errors import Complaint, InvalidRequest
from planner.reports._shared.clean import for_log, for_spreadsheet
from planner.reports._shared.clean import plain as clean
from pricing.catalog import Catalog
from pricing.money import shown

NOT_TOLD = "not told"
NUMBERS = ("rows", "hours", "unused", "billed", "effective", "nodes", "fee/month", "cost/month")
VIEWS: tuple[tuple[str, Callable[[Usage, Line], str]], ...] = (
    ("month", lambda _, line: line.month),
    ("workload", lambda usage, line: usage.workload(line)),
    ("account", lambda _, line: line.account or NOT_TOLD),
    ("region", lambda _, line: f"{line.provider} {line.region or NOT_TOLD}"),
    ("type", lambda _, line: " ".join(part for part in (line.instance_type, line.accelerator) if part)),
    ("option", lambda _, line: line.purchase_option),
)
"""What the text is told by, and what the columns of the CSV begin with."""
KINDS = {
    "used": "used",
    "commitment": "commitment fees, unused",
    "upfront": "paid upfront",
    "beside": "beside the nodes",
}


def usage(files: Sequence[str], tag: str, form: str) -> int:
    """The exit code, once the bills are told; InvalidRequest with every fault of all of them."""
    bills = _bills(files)
    try:
        found = together(bills, tag)
    except LookupError as error:
        message = "no row of accelerators has that tag"
        raise InvalidRequest((Complaint("", "--tag", message, tag, error.args[0]),)) from None
    show({"text": _text, "json": _json, "csv": _csv}[form](found))
    return DONE


def _bills(files: Sequence[str]) -> list[Bill]:
    catalog, bills, faults = Catalog.current(), list[Bill](), list[Complaint]()
    seen: set[Path] = set()
    for file in files:
        try:
            if (path := Path(file).resolve()) in seen:
                faults.append(Complaint("", file, "named twice", expected="each file once"))
                continue
            seen.add(path)
            bills.append(read(Path(file), catalog, name=file, progress=progress(file)))
        except NotABill as fault:
            expected = "a FOCUS, AWS CUR, Azure, Google Cloud or Oracle billing export"
            faults.append(Complaint("", file, f"no bill: {fault}", expected=expected))
        except OSError as error:
            faults.append(Complaint("", file, f"cannot be read: {error.strerror or error}"))
    if faults:
        raise InvalidRequest(tuple(faults))
    return bills


def progress(file: str) -> Callable[[float], None] | None:
    """Tells on a terminal how far a file is read; nothing elsewhere."""
    if not sys.stderr.isatty():
        return None

    def tell(fraction: float) -> None:
        sys.stderr.write(f"\rreading {clean(file)} ... {fraction:4.0%}" + ("\n" if fraction >= 1 else ""))
        sys.stderr.flush()

    return tell


def _text(found: Usage) -> str:
    parts: list[Iterable[str]] = [_files(found)]
    if found.lines:
        parts += [_baseline(found, currency) for currency in found.currencies]
        parts.append(_commitments(commitments(found)))
    parts += [_apart(found), _refused(found), _notes(found)]
    return for_log("\n".join(line for part in parts for line in part).rstrip() + "\n")


def _files(found: Usage) -> Iterator[str]:
    for bill in found.bills:
        days = f"usage from {min(bill.days)} to {max(bill.days)}" if bill.days else "no day of usage"
        yield f"{clean(bill.name)}: {bill.export}, {clean(bill.recognised_by)}"
        yield (
            f"  {bill.rows_in:,} row{'s' * (bill.rows_in != 1)} = {bill.rows_used:,} of accelerators "
            f"+ {bill.rows_apart:,} of all else + {bill.rows_refused:,} refused; {days}"
        )
        for each in bill.totals:
            own = total([line for line in bill.lines if line.currency == each.currency])
            for view, whole, part in (
                ("billed", each.billed, own.billed),
                ("effective", each.effective, own.effective),
            ):
                if whole is not None:
                    told = f"{money(part)} of accelerators" if part is not None else "accelerators not told"
                    yield f"  {view} {shown(whole)} {_currency(each.currency)}: {told}, the rest apart"
    yield ""


def _baseline(found: Usage, currency: str) -> Iterator[str]:
    """The accelerators in one currency, by each view in turn; every table adds up to the same."""
    lines = [line for line in found.lines if line.currency == currency]
    whole = total(lines)
    yield f"Accelerators, {_currency(currency)} (billed is cash, effective is amortised: two views, never to be added)"
    yield (
        f"  {hours(whole.hours_paid)} accelerator-hours paid = {hours(whole.hours_used)} used + "
        f"{hours(whole.hours_unused)} of commitments that nothing used"
    )
    yield ""
    for title, name in VIEWS:
        called = f"workload ({found.key or 'account'}; {found.chosen})" if title == "workload" else title
        yield from _table(called, summed(lines, partial(name, found)), whole)
    yield from _table("kind", summed(lines, lambda line: KINDS[line.kind]), whole)


def _table(title: str, sums: dict[str, Sum], whole: Sum) -> Iterator[str]:
    rows = [_row(clean(name), each) for name, each in sums.items()]
    yield from (f"  {line}" for line in aligned((title, *NUMBERS[:5]), [*rows, _row("total", whole)], NUMBERS))
    yield ""


def _row(name: str, each: Sum) -> tuple[str, ...]:
    return (
        name,
        f"{each.rows:,}",
        hours(each.hours_used),
        hours(each.hours_unused),
        money(each.billed),
        money(each.effective),
    )


def _commitments(found: Sequence[Commitment]) -> Iterator[str]:
    if not found:
        return
    yield "Commitments that covered accelerators"
    head = ("commitment", "type", "region", "option", "nodes", "ends", "hours", "unused", "fee/month", "cost/month")
    rows = [
        (clean(each.identity), each.instance_type or NOT_TOLD, each.region or NOT_TOLD, each.purchase_option,
         str(each.count or NOT_TOLD), each.ends or NOT_TOLD, hours(each.sums.hours_used), hours(each.sums.hours_unused),
         money(each.fee_per_month), money(each.cost_per_month))
        for each in found
    ]  # fmt: skip
    yield from (f"  {line}" for line in aligned(head, rows, NUMBERS))
    for each in found:
        if each.unknown:
            yield f"  {clean(each.identity)}: the bill does not tell {'; '.join(map(clean, each.unknown))}"
    yield ""


def _apart(found: Usage) -> Iterator[str]:
    parts = [(bill, each) for bill in found.bills for each in bill.apart]
    if not parts:
        return
    yield "Apart"
    rows = [
        (f"{each.why}{f': {clean(each.name)[:90]}' if each.name else ''}", _currency(each.currency), f"{each.rows:,}",
         money(each.billed), money(each.effective))
        for _, each in parts
    ]  # fmt: skip
    yield from (f"  {line}" for line in aligned(("what", "currency", "rows", "billed", "effective"), rows, NUMBERS))
    yield ""


def _refused(found: Usage) -> Iterator[str]:
    for bill in found.bills:
        for each in bill.refused:
            examples = f" ({', '.join(map(clean, each.examples))})" if each.examples else ""
            rows = f"{each.rows:,} row{'s' * (each.rows != 1)}"
            yield f"Refused in {clean(bill.name)}: {rows}, {clean(each.reason)}{examples}"


def _notes(found: Usage) -> Iterator[str]:
    for bill in found.bills:
        for note in bill.notes:
            yield f"Note on {clean(bill.name)}: {note}"
    full = ", ".join(found.full_months) or "none"
    yield f"Full months, from which `planner estimate` goes on: {full}"


def _csv(found: Usage) -> str:
    """One row for each set of names, with the workload; texts of the bill are safe to open in a spreadsheet."""
    names = ("month", "workload", "account", "provider", "region", "instance_type", "accelerator", "purchase_option",
             "commitment", "kind", "currency")  # fmt: skip
    sums = ("rows", "hours_used", "hours_unused", "billed", "effective")

    def by(line: Line) -> tuple[str, ...]:
        return tuple(found.workload(line) if name == "workload" else str(getattr(line, name)) for name in names)

    rows: list[dict[str, Any]] = []
    for key, each in summed(found.lines, by).items():
        row: dict[str, Any] = dict(zip(names, map(for_spreadsheet, key), strict=True))
        rows.append(row | {name: getattr(each, name) for name in sums})
    return csv_text((*names, *sums), rows)


def _json(found: Usage) -> str:
    """Everything, with sums by each view; amounts unrounded."""
    views = []
    for currency in found.currencies:
        lines = [line for line in found.lines if line.currency == currency]
        by = {
            title: {name: _figures(each) for name, each in summed(lines, partial(own, found)).items()}
            for title, own in VIEWS
        }
        views.append({"currency": currency, "total": _figures(total(lines)), "by": by})
    return json_text({
        "tag": found.key, "tag_chosen": found.chosen, "full_months": found.full_months,
        "bills": [_bill(bill) for bill in found.bills],
        "accelerators": views,
        "commitments": [asdict(each) for each in commitments(found)],
        "lines": [asdict(line) | {"tags": dict(line.tags), "workload": found.workload(line)} for line in found.lines],
    })  # fmt: skip


def _bill(bill: Bill) -> dict[str, Any]:
    return {
        "name": bill.name, "export": bill.export, "recognised_by": bill.recognised_by, "rows_in": bill.rows_in,
        "rows_of_accelerators": bill.rows_used, "rows_apart": bill.rows_apart, "rows_refused": bill.rows_refused,
        "first_day": min(bill.days, default=None), "last_day": max(bill.days, default=None),
        "totals": [asdict(each) for each in bill.totals], "apart": [asdict(each) for each in bill.apart],
        "refused": [asdict(each) for each in bill.refused], "notes": bill.notes,
    }  # fmt: skip


def _figures(each: Sum) -> dict[str, Any]:
    return asdict(each) | {"hours_paid": math.fsum((each.hours_used, each.hours_unused))}


def _currency(code: str) -> str:
    return code or "(currency not told)"


def money(amount: float | None) -> str:
    return NOT_TOLD if amount is None else shown(amount)


def hours(amount: float) -> str:
    return shown(amount)
