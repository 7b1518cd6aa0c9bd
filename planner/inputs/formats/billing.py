"""Billing exports: FOCUS, AWS CUR, Azure, Google Cloud and Oracle; the accelerators in use become the demand.

Demand is the mean of the last full months, by workload tag and accelerator; commitments in force are taken over.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from calendar import monthrange
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.inputs.bills.commitment_transfer import (
    describe_unattributed_fees,
    sum_unattributed_fees,
    transfer_commitments,
)
from planner.inputs.parsed_file import ParsedFile, placeholder_request
from planner.inputs.present_spend import PresentSpend, SunkCommitment
from planner.request.errors import InputProblem
from planner.result import InputProvenance, InputReading
from pricing.units import HOURS_PER_MONTH

if TYPE_CHECKING:
    from planner.inputs.bills import Progress
    from planner.inputs.bills.bill import BilledUsageLine
    from planner.inputs.bills.usage import Usage
    from pricing.catalog.price_catalog import Catalog

SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".gz")
IS_SURE = True
"""Its columns tell a billing export whatever the file is called: a bill that ends in .csv is no sheet of workloads."""
HEAD_BYTES = 400_000
MONTHS_MAX = 3
NAME_MAX = 150
SECONDS = 60.0
"""For a bill that was sent: a command takes as long as it takes."""
UNSPECIFIED_CURRENCY = "not told"


@dataclass(frozen=True, slots=True)
class UsageProjection:
    """How to carry a bill on: growth of the hours each month, the tag that tells workloads apart ("" for the best),
    and whether other accelerators may do the work."""

    growth_per_month: float = 0.0
    tag: str = ""
    substitution: bool = False


UNCHANGED_USAGE = UsageProjection()


def claims(data: bytes) -> bool:
    """Whether the head of the bytes is that of a known billing export."""
    from planner.inputs.bills import is_bill

    if not data.strip():
        return False
    whole = data.startswith((b"PAR1", b"\x1f\x8b"))
    with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
        path = Path(folder) / "head"
        path.write_bytes(data if whole else data[:HEAD_BYTES])
        return is_bill(path)


def read(data: bytes, name: str) -> ParsedFile:
    """The accelerators of a bill as a request, with no growth and by the tag that fits best."""
    from pricing.catalog.price_catalog import Catalog

    with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
        path = Path(folder) / "bill"
        path.write_bytes(data)
        return build_request_from_bills([path], Catalog.embedded(), UNCHANGED_USAGE, names=[name], seconds=SECONDS)


def build_request_from_bills(
    paths: Sequence[Path],
    catalog: Catalog,
    forward: UsageProjection = UNCHANGED_USAGE,
    *,
    names: Sequence[str] = (),
    progress: Progress | None = None,
    seconds: float | None = None,
) -> ParsedFile:
    """The accelerators of one or more bills as a request. Faults are complaints; nothing is raised for bad files.

    `names` are what to call the files; `progress` and `seconds` (for each) are those of `billing.read`.
    """
    from planner.inputs.bills import NotABill
    from planner.inputs.bills import read as read_bill
    from planner.inputs.bills.usage import combine_bills

    names = names or [path.name for path in paths]
    complaints: list[InputProblem] = []
    bills, digests = [], []
    for path, name in zip(paths, names, strict=True):
        try:
            with path.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
            bills.append(read_bill(path, catalog, name=name, progress=progress, seconds=seconds))
        except NotABill as error:
            complaints.append(InputProblem("", name, f"no bill: {error}", expected="a billing export"))
        except OSError as error:
            complaints.append(InputProblem("", name, f"cannot be read: {error.strerror or error}"))
    inputs = InputProvenance(
        ", ".join(names), "billing", digests[0] if len(digests) == 1 else _combine_digests(digests)
    )
    if complaints:
        return ParsedFile(placeholder_request(), inputs, tuple(complaints), {})
    try:
        usage = combine_bills(bills, forward.tag)
    except LookupError as error:
        fault = InputProblem("", "--tag", "no row of accelerators has that tag", forward.tag, error.args[0])
        return ParsedFile(placeholder_request(), inputs, (fault,), {})
    return _project_usage(usage, catalog, forward, inputs)


def _combine_digests(digests: Sequence[str]) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _project_usage(usage: Usage, catalog: Catalog, forward: UsageProjection, inputs: InputProvenance) -> ParsedFile:
    """The request that goes on from the last full months of the bills."""
    from planner.inputs.bills.commitments import collect_commitments

    months = base_months(usage)
    used = [line for line in usage.lines if line.month in months]
    if fault := _find_problem(usage, months, used, inputs.name):
        return ParsedFile(placeholder_request(), inputs, (fault,), {})
    scale = HOURS_PER_MONTH / (math.fsum(_hours_in_month(month) for month in months) / len(months)) / len(months)
    workloads, readings, left = _build_workloads(usage, used, months, scale, forward)
    if not workloads:
        message = f"no accelerator ran in {', '.join(months)}"
        return ParsedFile(
            placeholder_request(),
            inputs,
            (InputProblem("", inputs.name, message, expected="hours of accelerators"),),
            {},
        )
    bill_commitments = collect_commitments(usage)
    estate_commitments, sunk_commitments, notes, loose = transfer_commitments(bill_commitments, catalog)
    nameless = sum_unattributed_fees(used, scale)
    document: dict[str, Any] = {"workloads": workloads}
    if usage.currencies[0]:
        document["currency"] = usage.currencies[0]
    if estate_commitments:
        document["existing"] = {"commitments": estate_commitments}
    present, words = _measure_present_spend(
        usage, used, scale, forward, sunk_commitments, math.fsum((loose, *nameless.values()))
    )
    inputs = InputProvenance(
        inputs.name,
        inputs.format,
        inputs.sha256,
        readings=tuple(readings),
        notes=(
            *_describe_demand_basis(usage, months, forward),
            words,
            *left,
            *notes,
            *describe_unattributed_fees(nameless),
            *(n for bill in usage.bills for n in bill.notes),
        ),
    )
    places = {reading.path: reading.place for reading in readings}
    places["workloads"] = f"{inputs.name}, by {_describe_grouping(usage)} (--tag)"
    return ParsedFile(document, inputs, (), places, present=present)


def base_months(usage: Usage) -> tuple[str, ...]:
    """The last full months, up to three, that follow one another."""
    months: list[str] = []
    for month in reversed(usage.full_months[-MONTHS_MAX:]):
        if months and _month_index(month) + 1 != _month_index(months[0]):
            break
        months.insert(0, month)
    return tuple(months)


def _month_index(month: str) -> int:
    return int(month[:4]) * 12 + int(month[5:])


def _find_problem(usage: Usage, months: tuple[str, ...], used: list[BilledUsageLine], name: str) -> InputProblem | None:
    """Why no demand can be made of the bills."""
    if not usage.lines:
        expected = "hours of accelerators; `planner usage` tells what is in it"
        return InputProblem("", name, "no usage of a known accelerator in it", expected=expected)
    if len(usage.currencies) > 1:
        listed = ", ".join(currency or UNSPECIFIED_CURRENCY for currency in usage.currencies)
        return InputProblem("", name, "accelerators in several currencies", listed, "the bills of one currency")
    if not months:
        days = sorted(day for bill in usage.bills for day in bill.days)
        span = f"{days[0]} to {days[-1]}" if days else "no day of usage"
        return InputProblem("", name, "covers no calendar month from its first to its last day", span, "a full month")
    if not any(line.kind == "used" for line in used):
        return InputProblem("", name, f"no accelerator ran in {', '.join(months)}", expected="hours of accelerators")
    return None


def _hours_in_month(month: str) -> int:
    return monthrange(int(month[:4]), int(month[5:]))[1] * 24


def _build_workloads(
    usage: Usage, used: list[BilledUsageLine], months: tuple[str, ...], scale: float, forward: UsageProjection
) -> tuple[list[dict[str, Any]], list[InputReading], list[str]]:
    """One workload for each tag value and accelerator; readings; and what was left out, in words."""
    lines_by_workload: dict[tuple[str, str], list[BilledUsageLine]] = defaultdict(list)
    for line in used:
        if line.kind == "used":
            lines_by_workload[usage.workload(line), line.accelerator].append(line)
    many = Counter(name for name, _ in lines_by_workload)
    workloads: list[dict[str, Any]] = []
    readings, left, used_names = [], [], set[str]()
    for (tag, accelerator), lines in sorted(lines_by_workload.items()):
        hours = math.fsum(line.hours_used for line in lines)
        if hours <= 0:
            left.append(f"{tag} on {accelerator} is left out: its hours come to {hours:,.2f}")
            continue
        name = _unique_name(tag if many[tag] == 1 else f"{tag} on {accelerator}", used_names)
        readings.append(
            InputReading(
                f"workloads[{len(workloads)}].demand.accelerator_hours_per_month",
                _describe_rows(usage, lines),
                f"{hours:,.2f} accelerator-hours in {', '.join(months)}",
                f"{hours * scale:.6g}",
            )
        )
        workloads.append(_build_workload(name, accelerator, hours * scale, lines, forward))
    return workloads, readings, left


def _build_workload(
    name: str, accelerator: str, hours: float, lines: list[BilledUsageLine], forward: UsageProjection
) -> dict[str, Any]:
    """Work stays on its accelerator and in nodes at least as large as the smallest it ran on; as much on spot."""
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


def _unique_name(text: str, used_names: set[str]) -> str:
    """A name that no workload has yet, as short as a request takes."""
    text = " ".join(text.split())[:NAME_MAX] or "(no name)"
    name = text
    for number in range(2, len(used_names) + 3):
        if name.casefold() not in used_names:
            break
        name = f"{text} ({number})"
    used_names.add(name.casefold())
    return name


def _describe_rows(usage: Usage, lines: list[BilledUsageLine]) -> str:
    rows = sum(line.rows for line in lines)
    return f"{', '.join(bill.name for bill in usage.bills)}: {rows:,} row{'s' * (rows != 1)}"


def _measure_present_spend(
    usage: Usage,
    used: list[BilledUsageLine],
    scale: float,
    forward: UsageProjection,
    sunk_commitments: tuple[SunkCommitment, ...],
    loose: float,
) -> tuple[PresentSpend | None, str]:
    """What accelerators cost a month at present, and the same in words; amortised where the bill tells it. `loose` is
    what commitments that are not taken over cost of it."""
    from planner.inputs.bills.usage import sum_lines

    idle = sum_lines([line for line in used if line.kind in ("commitment", "upfront")])
    committed = sum_lines([line for line in used if line.kind in ("used", "beside") and line.commitment])
    whole = sum_lines(used)
    currency = usage.currencies[0]
    amounts = " and ".join(
        f"{amount * scale:,.2f} {view}"
        for view, amount in (("effective", whole.effective), ("billed", whole.billed))
        if amount is not None
    )
    words = (
        f"accelerators cost {amounts or 'what the bill does not tell'} {currency or '(currency not told)'} in "
        "a month of "
        f"{HOURS_PER_MONTH:,.0f} hours at present, two views of one spend, for {whole.hours_used * scale:,.1f} "
        f"accelerator-hours used and {whole.hours_unused * scale:,.1f} paid for and not used"
    )
    view = "effective" if whole.effective is not None else "billed"
    sums = [amount * scale for each in (whole, committed, idle) if (amount := getattr(each, view)) is not None]
    if len(sums) < 3:
        return None, words
    if view == "billed" and any(line.kind == "upfront" for line in used):
        why = "some of it was paid upfront for later months too, and the bill tells no amortised cost"
        return None, f"{words}; going on as today is not held against the plan: {why}"
    present = PresentSpend(
        view, currency, sums[0] - sums[1] - sums[2], sums[1], sums[2], forward.growth_per_month,
        sunk_commitments if view == "effective" else (), loose,
    )  # fmt: skip
    return present, words


def _describe_grouping(usage: Usage) -> str:
    return f"the tag {usage.key}" if usage.key else "account"


def _describe_demand_basis(usage: Usage, months: tuple[str, ...], forward: UsageProjection) -> list[str]:
    """How the demand was made, for who reads the plan."""
    growth = f", {forward.growth_per_month:+.1%} each month after the first" if forward.growth_per_month else ""
    notes = [
        f"{bill.name}: {bill.export}, {bill.recognised_by}; {bill.rows_in:,} rows, {bill.rows_used:,} of accelerators, "
        f"{bill.rows_apart:,} of all else, {bill.rows_refused:,} refused (`planner usage` names them)"
        for bill in usage.bills
    ]
    notes.append(f"demand is the mean of {', '.join(months)}, for months of {HOURS_PER_MONTH:,.0f} hours{growth}")
    notes.append(f"workloads are told apart by {_describe_grouping(usage)} ({usage.chosen}), and by accelerator")
    notes.append(
        "each keeps its accelerator" + (", or another one where that is allowed" if forward.substitution else "")
        + ", nodes at least as large as the smallest it ran on, and at most its share of spot; it may run anywhere "
        "unless --providers or --regions say otherwise"
    )  # fmt: skip
    return notes
