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

from planner.answer import Inputs, Reading
from planner.errors import Complaint
from planner.intake._present import Kept, Present
from planner.intake._read import Read, stand_in
from planner.intake._taken import fees, taken_over, unnamed
from pricing.units import HOURS_PER_MONTH

if TYPE_CHECKING:
    from planner.billing import Progress
    from planner.billing.bill import Line
    from planner.billing.usage import Usage
    from pricing.catalog import Catalog

SUFFIXES = (".parquet", ".jsonl", ".ndjson", ".gz")
IS_SURE = True
"""Its columns tell a billing export whatever the file is called: a bill that ends in .csv is no sheet of workloads."""
HEAD_BYTES = 400_000
MONTHS_MAX = 3
NAME_MAX = 150
SECONDS = 60.0
"""For a bill that was sent: a command takes as long as it takes."""
NOT_TOLD = "not told"


@dataclass(frozen=True, slots=True)
class Forward:
    """How to carry a bill on: growth of the hours each month, the tag that tells workloads apart ("" for the best),
    and whether other accelerators may do the work."""

    growth_per_month: float = 0.0
    tag: str = ""
    substitution: bool = False


AS_TODAY = Forward()


def claims(data: bytes) -> bool:
    """Whether the head of the bytes is that of a known billing export."""
    from planner.billing import is_bill

    if not data.strip():
        return False
    whole = data.startswith((b"PAR1", b"\x1f\x8b"))
    with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
        path = Path(folder) / "head"
        path.write_bytes(data if whole else data[:HEAD_BYTES])
        return is_bill(path)


def read(data: bytes, name: str) -> Read:
    """The accelerators of a bill as a request, with no growth and by the tag that fits best."""
    from pricing.catalog import Catalog

    with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
        path = Path(folder) / "bill"
        path.write_bytes(data)
        return request_of([path], Catalog.embedded(), AS_TODAY, names=[name], seconds=SECONDS)


def request_of(
    paths: Sequence[Path],
    catalog: Catalog,
    forward: Forward = AS_TODAY,
    *,
    names: Sequence[str] = (),
    progress: Progress | None = None,
    seconds: float | None = None,
) -> Read:
    """The accelerators of one or more bills as a request. Faults are complaints; nothing is raised for bad files.

    `names` are what to call the files; `progress` and `seconds` (for each) are those of `billing.read`.
    """
    from planner.billing import NotABill
    from planner.billing import read as read_bill
    from planner.billing.usage import together

    names = names or [path.name for path in paths]
    complaints: list[Complaint] = []
    bills, digests = [], []
    for path, name in zip(paths, names, strict=True):
        try:
            with path.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
            bills.append(read_bill(path, catalog, name=name, progress=progress, seconds=seconds))
        except NotABill as error:
            complaints.append(Complaint("", name, f"no bill: {error}", expected="a billing export"))
        except OSError as error:
            complaints.append(Complaint("", name, f"cannot be read: {error.strerror or error}"))
    inputs = Inputs(", ".join(names), "billing", digests[0] if len(digests) == 1 else _joined(digests))
    if complaints:
        return Read(stand_in(), inputs, tuple(complaints), {})
    try:
        usage = together(bills, forward.tag)
    except LookupError as error:
        fault = Complaint("", "--tag", "no row of accelerators has that tag", forward.tag, error.args[0])
        return Read(stand_in(), inputs, (fault,), {})
    return _carried(usage, catalog, forward, inputs)


def _joined(digests: Sequence[str]) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _carried(usage: Usage, catalog: Catalog, forward: Forward, inputs: Inputs) -> Read:
    """The request that goes on from the last full months of the bills."""
    from planner.billing.commitments import commitments

    months = base_months(usage)
    used = [line for line in usage.lines if line.month in months]
    if fault := _fault(usage, months, used, inputs.name):
        return Read(stand_in(), inputs, (fault,), {})
    scale = HOURS_PER_MONTH / (math.fsum(_hours(month) for month in months) / len(months)) / len(months)
    workloads, readings, left = _workloads(usage, used, months, scale, forward)
    if not workloads:
        message = f"no accelerator ran in {', '.join(months)}"
        return Read(stand_in(), inputs, (Complaint("", inputs.name, message, expected="hours of accelerators"),), {})
    found = commitments(usage)
    taken, kept, notes, loose = taken_over(found, catalog)
    nameless = unnamed(used, scale)
    document: dict[str, Any] = {"workloads": workloads}
    if usage.currencies[0]:
        document["currency"] = usage.currencies[0]
    if taken:
        document["existing"] = {"commitments": taken}
    present, words = _present(usage, used, scale, forward, kept, math.fsum((loose, *nameless.values())))
    inputs = Inputs(
        inputs.name, inputs.format, inputs.sha256, readings=tuple(readings),
        notes=(*_told(usage, months, forward), words, *left, *notes, *fees(nameless),
               *(n for bill in usage.bills for n in bill.notes)),
    )  # fmt: skip
    places = {reading.path: reading.place for reading in readings}
    places["workloads"] = f"{inputs.name}, by {_by(usage)} (--tag)"
    return Read(document, inputs, (), places, present=present)


def base_months(usage: Usage) -> tuple[str, ...]:
    """The last full months, up to three, that follow one another."""
    found: list[str] = []
    for month in reversed(usage.full_months[-MONTHS_MAX:]):
        if found and _number(month) + 1 != _number(found[0]):
            break
        found.insert(0, month)
    return tuple(found)


def _number(month: str) -> int:
    return int(month[:4]) * 12 + int(month[5:])


def _fault(usage: Usage, months: tuple[str, ...], used: list[Line], name: str) -> Complaint | None:
    """Why no demand can be made of the bills."""
    if not usage.lines:
        expected = "hours of accelerators; `planner usage` tells what is in it"
        return Complaint("", name, "no usage of a known accelerator in it", expected=expected)
    if len(usage.currencies) > 1:
        listed = ", ".join(currency or NOT_TOLD for currency in usage.currencies)
        return Complaint("", name, "accelerators in several currencies", listed, "the bills of one currency")
    if not months:
        days = sorted(day for bill in usage.bills for day in bill.days)
        span = f"{days[0]} to {days[-1]}" if days else "no day of usage"
        return Complaint("", name, "covers no calendar month from its first to its last day", span, "a full month")
    if not any(line.kind == "used" for line in used):
        return Complaint("", name, f"no accelerator ran in {', '.join(months)}", expected="hours of accelerators")
    return None


def _hours(month: str) -> int:
    return monthrange(int(month[:4]), int(month[5:]))[1] * 24


def _workloads(
    usage: Usage, used: list[Line], months: tuple[str, ...], scale: float, forward: Forward
) -> tuple[list[dict[str, Any]], list[Reading], list[str]]:
    """One workload for each tag value and accelerator; readings; and what was left out, in words."""
    found: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in used:
        if line.kind == "used":
            found[usage.workload(line), line.accelerator].append(line)
    many = Counter(name for name, _ in found)
    workloads: list[dict[str, Any]] = []
    readings, left, taken = [], [], set[str]()
    for (tag, accelerator), lines in sorted(found.items()):
        hours = math.fsum(line.hours_used for line in lines)
        if hours <= 0:
            left.append(f"{tag} on {accelerator} is left out: its hours come to {hours:,.2f}")
            continue
        name = _name(tag if many[tag] == 1 else f"{tag} on {accelerator}", taken)
        readings.append(
            Reading(f"workloads[{len(workloads)}].demand.accelerator_hours_per_month", _place(usage, lines),
                    f"{hours:,.2f} accelerator-hours in {', '.join(months)}", f"{hours * scale:.6g}")
        )  # fmt: skip
        workloads.append(_workload(name, accelerator, hours * scale, lines, forward))
    return workloads, readings, left


def _workload(name: str, accelerator: str, hours: float, lines: list[Line], forward: Forward) -> dict[str, Any]:
    """Work stays on its accelerator and in nodes at least as large as the smallest it ran on; as much on spot."""
    gang = min(line.accelerators_per_node for line in lines)
    total = math.fsum(line.hours_used for line in lines)
    spot = math.fsum(line.hours_used for line in lines if line.purchase_option == "spot") / total
    demand: dict[str, Any] = {"accelerator_hours_per_month": hours, "accelerator": accelerator}
    if forward.growth_per_month:
        demand["growth_per_month"] = forward.growth_per_month
    found: dict[str, Any] = {
        "name": name,
        "kind": "batch",
        "demand": demand,
        "gang": gang,
        "accelerators_per_node": gang,
    }
    if spot > 0:
        found |= {"interruptible": True, "spot_fraction_max": min(1.0, spot)}
    if forward.substitution:
        found["substitution"] = True
    return found


def _name(text: str, taken: set[str]) -> str:
    """A name that no workload has yet, as short as a request takes."""
    text = " ".join(text.split())[:NAME_MAX] or "(no name)"
    name = text
    for number in range(2, len(taken) + 3):
        if name.casefold() not in taken:
            break
        name = f"{text} ({number})"
    taken.add(name.casefold())
    return name


def _place(usage: Usage, lines: list[Line]) -> str:
    rows = sum(line.rows for line in lines)
    return f"{', '.join(bill.name for bill in usage.bills)}: {rows:,} row{'s' * (rows != 1)}"


def _present(
    usage: Usage, used: list[Line], scale: float, forward: Forward, kept: tuple[Kept, ...], loose: float
) -> tuple[Present | None, str]:
    """What accelerators cost a month at present, and the same in words; amortised where the bill tells it. `loose` is
    what commitments that are not taken over cost of it."""
    from planner.billing.usage import total

    idle = total([line for line in used if line.kind in ("commitment", "upfront")])
    held = total([line for line in used if line.kind in ("used", "beside") and line.commitment])
    whole = total(used)
    currency = usage.currencies[0]
    told = " and ".join(
        f"{amount * scale:,.2f} {view}"
        for view, amount in (("effective", whole.effective), ("billed", whole.billed))
        if amount is not None
    )
    words = (
        f"accelerators cost {told or 'what the bill does not tell'} {currency or '(currency not told)'} in a month of "
        f"{HOURS_PER_MONTH:,.0f} hours at present, two views of one spend, for {whole.hours_used * scale:,.1f} "
        f"accelerator-hours used and {whole.hours_unused * scale:,.1f} paid for and not used"
    )
    view = "effective" if whole.effective is not None else "billed"
    sums = [amount * scale for each in (whole, held, idle) if (amount := getattr(each, view)) is not None]
    if len(sums) < 3:
        return None, words
    if view == "billed" and any(line.kind == "upfront" for line in used):
        why = "some of it was paid upfront for later months too, and the bill tells no amortised cost"
        return None, f"{words}; going on as today is not held against the plan: {why}"
    present = Present(
        view, currency, sums[0] - sums[1] - sums[2], sums[1], sums[2], forward.growth_per_month,
        kept if view == "effective" else (), loose,
    )  # fmt: skip
    return present, words


def _by(usage: Usage) -> str:
    return f"the tag {usage.key}" if usage.key else "account"


def _told(usage: Usage, months: tuple[str, ...], forward: Forward) -> list[str]:
    """How the demand was made, for who reads the plan."""
    growth = f", {forward.growth_per_month:+.1%} each month after the first" if forward.growth_per_month else ""
    found = [
        f"{bill.name}: {bill.export}, {bill.recognised_by}; {bill.rows_in:,} rows, {bill.rows_used:,} of accelerators, "
        f"{bill.rows_apart:,} of all else, {bill.rows_refused:,} refused (`planner usage` names them)"
        for bill in usage.bills
    ]
    found.append(f"demand is the mean of {', '.join(months)}, for months of {HOURS_PER_MONTH:,.0f} hours{growth}")
    found.append(f"workloads are told apart by {_by(usage)} ({usage.chosen}), and by accelerator")
    found.append(
        "each keeps its accelerator" + (", or another one where that is allowed" if forward.substitution else "")
        + ", nodes at least as large as the smallest it ran on, and at most its share of spot; it may run anywhere "
        "unless --providers or --regions say otherwise"
    )  # fmt: skip
    return found
