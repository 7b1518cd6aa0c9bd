"""The commitments in bills that covered accelerators, and those that a request takes over as existing ones.

Attributes are read or derived from hours, never assumed: a missing term, end or count stays unknown.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from planner.inputs.bills.bill import BilledUsageLine
from planner.inputs.bills.usage import Usage, UsageSum, hours_in_month, sum_lines
from planner.inputs.catalog_regions import find_region
from planner.inputs.notation.dates import last_full_month
from planner.inputs.parsed_file import SunkCommitment
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.price import parse_purchase_option

ROUNDING_TOLERANCE = 0.02
"""The relative distance from an integer that a count of nodes derived from hours may have."""
YEARS = {"1": 1, "3": 3, "5": 5, "12": 1, "36": 3, "60": 5}
"""Years by the number in a term: 1yr, P3Y, 36, 3 Years."""
UPFRONT = {"no upfront": "no", "partial upfront": "partial", "all upfront": "all"}
NODE_COMMITMENTS = ("reserved", "committed_use")
"""Commitments to nodes; a savings plan is a commitment to an amount of money an hour."""
Details = Sequence[Mapping[str, str | None]]


@dataclass(frozen=True, slots=True)
class Commitment:
    """A commitment that covered accelerators. `unknown` lists its missing attributes, for people.

    `count` is the number of nodes, None where unknown; `ends` is the last full month, "" where unknown;
    `purchase_option` is the catalogue's full name (reserved_1y_no_upfront) or its kind alone. `sums` are those of its
    lines; `fee_per_month` is the bill of a full month without upfront payments, `cost_per_month` its amortised cost,
    used and unused: both None without a full month.
    """

    identity: str
    provider: str
    region: str
    instance_type: str
    accelerator: str
    purchase_option: str
    count: int | None
    ends: str
    currency: str
    sums: UsageSum
    fee_per_month: float | None
    cost_per_month: float | None
    unknown: tuple[str, ...]


def collect_commitments(usage: Usage) -> tuple[Commitment, ...]:
    """The commitments of all bills together, by identity."""
    lines_by_commitment: dict[str, list[BilledUsageLine]] = defaultdict(list)
    for line in usage.lines:
        if line.commitment:
            lines_by_commitment[line.commitment].append(line)
    details_by_commitment = {
        key: [each for bill in usage.bills for each in bill.details.get(key, ())] for key in lines_by_commitment
    }
    return tuple(
        _build_commitment(key, lines_by_commitment[key], details_by_commitment[key], usage.full_months)
        for key in sorted(lines_by_commitment)
    )


def _build_commitment(
    identity: str, lines: list[BilledUsageLine], details: Details, full: tuple[str, ...]
) -> Commitment:
    own = [line for line in lines if line.kind in ("commitment", "upfront") and line.instance_type] or lines
    types = sorted({line.instance_type for line in own if line.instance_type})
    regions = sorted({line.region for line in own if line.region})
    kinds = sorted({line.purchase_option for line in lines} - {"on_demand", "not told"})
    kind = kinds[0] if len(kinds) == 1 else "commitment"
    months = [month for month in full if any(line.month == month for line in lines)]
    count = _node_count(lines, details, months) if kind in NODE_COMMITMENTS else None
    option, ends = _option_name(kind, own[0].provider, details), _last_month(details)
    unknown = [words for holds, words in (
        (kind not in NODE_COMMITMENTS, f"the nodes it commits to ({kind.replace('_', ' ')})"),
        (kind in NODE_COMMITMENTS and parse_purchase_option(option) is None, "its term or its payment option"),
        (len(types) != 1, f"its instance type (it covered {', '.join(types) or 'rates without one'})"),
        (len(regions) != 1, f"its region ({', '.join(regions) or 'none'})"),
        (kind in NODE_COMMITMENTS and count is None, "the number of nodes"),
        (not ends, "its end"),
    ) if holds]  # fmt: skip
    sums, in_full = sum_lines(lines), [line for line in lines if line.month in months]
    fee, cost = sum_lines([line for line in in_full if line.kind == "commitment"]).billed, sum_lines(in_full).effective
    return Commitment(
        identity, own[0].provider, regions[0] if len(regions) == 1 else "", types[0] if len(types) == 1 else "",
        own[0].accelerator, option, count, ends, own[0].currency, sums,
        fee / len(months) if fee is not None and months else None,
        cost / len(months) if cost is not None and months else None,
        tuple(unknown),
    )  # fmt: skip


def _node_count(lines: list[BilledUsageLine], details: Details, months: list[str]) -> int | None:
    """The stated count, else the hours of full months as nodes, where that is nearly an integer."""
    counts = {each["count"] for each in details if each.get("count")}
    if len(counts) == 1 and (text := str(counts.pop())).replace(".0", "").isdigit():
        return int(float(text)) or None
    per_node = {line.accelerators_per_node for line in lines}
    hours = sum(map(hours_in_month, months))
    if counts or len(per_node) != 1 or not hours:
        return None
    paid = math.fsum(line.hours_used + line.hours_unused for line in lines if line.month in months)
    nodes = paid / hours / per_node.pop()
    return round(nodes) if round(nodes) and abs(nodes - round(nodes)) <= ROUNDING_TOLERANCE * nodes else None


def _option_name(kind: str, provider: str, details: Details) -> str:
    """The full name where the term (and for AWS the payment option) is known; else the kind."""
    years = next((years for each in details if (years := _term_years(each))), None)
    if kind not in NODE_COMMITMENTS or years is None:
        return kind
    name = f"{kind}_{years}y"
    if provider != "aws":
        return name
    classes = {str(each["class"]).casefold() for each in details if each.get("class")}
    paid = {UPFRONT.get(str(each["upfront"]).casefold(), "") for each in details if each.get("upfront")}
    ways = {str(each["paid"]) for each in details if each.get("paid")}
    by_way = {"one-time": "all", "recurring": "no", "one-time recurring": "partial"}
    upfront = paid.pop() if len(paid) == 1 else by_way.get(" ".join(sorted(ways)), "")
    full = f"{name}{'_convertible' if 'convertible' in classes else ''}_{upfront}_upfront"
    return full if upfront else kind


def _term_years(detail: Mapping[str, str | None]) -> int | None:
    """The term as written, else from the first and last day."""
    digits = re.search(r"\d+", detail.get("term") or "")
    if digits and digits[0] in YEARS:
        return YEARS[digits[0]]
    begins, until = _parse_day(detail.get("begins")), _parse_day(detail.get("until"))
    if begins is None or until is None:
        return None
    years = (until - begins).days / 365.25
    return round(years) if round(years) in (1, 3, 5) and abs(years - round(years)) < ROUNDING_TOLERANCE else None


def _last_month(details: Details) -> str:
    """The last full month: the one before the month of its end, unless it ends on the last day of a month."""
    until = [day for each in details if (day := _parse_day(each.get("until")))]
    if not until:
        return ""
    return last_full_month(max(until).year, max(until).month, max(until).day)


def _parse_day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None


def transfer_commitments(
    commitments: Iterable[Commitment], catalog: Catalog
) -> tuple[list[dict[str, Any]], tuple[SunkCommitment, ...], list[str], float]:
    """Existing commitments of a request, the part of each that is already paid, a note on every commitment, and the
    known monthly cost of those that are not taken over."""
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    sunk_commitments, notes, loose = [], [], []
    for each in commitments:
        region = find_region(catalog, each.provider, each.region) or ""
        unknown = [*each.unknown, *([f"its region as the catalogue spells it ({each.region})"] if not region else [])]
        if unknown or each.count is None:
            notes.append(
                f"commitment {each.identity} is not taken over, since the bill does not state {'; '.join(unknown)}"
                f"{_describe_cost(each)}"
            )
            loose.append(_monthly_cost(each) or 0.0)
            continue
        fee = _remaining_fee(each)
        if fee is None:
            notes.append(f"commitment {each.identity} is not taken over, since no full month shows its cost")
            continue
        key = (each.provider, region, each.instance_type, each.purchase_option, each.ends)
        line = lines.setdefault(key, dict(zip(("provider", "region", "instance_type", "purchase_option", "ends"), key,
                                              strict=True)) | {"count": 0, "fee_per_month": 0.0})  # fmt: skip
        remaining = f"{fee:,.2f} a month still due" if fee else "no further payments due"
        notes.append(
            f"commitment {each.identity} is taken over: {each.count} x {each.instance_type} {region} "
            f"{each.purchase_option} to the end of {each.ends}, {remaining}"
        )
        line["count"] += each.count
        line["fee_per_month"] += fee
        sunk_commitments.append(SunkCommitment(each.ends, max(0.0, (each.cost_per_month or fee) - fee)))
    return list(lines.values()), tuple(sunk_commitments), notes, math.fsum(loose)


def _monthly_cost(each: Commitment) -> float | None:
    """Its cost a month: amortised, else its fee."""
    return each.cost_per_month if each.cost_per_month is not None else each.fee_per_month


def _describe_cost(each: Commitment) -> str:
    """The known cost and end of a commitment that is not part of the plan."""
    cost = _monthly_cost(each)
    text = "" if cost is None else f"; it costs {cost:,.2f} a month"
    text += f"{'' if text else '; it runs'} to the end of {each.ends}" if each.ends else ""
    return f"{text}, and its remaining payments come on top of the plan" if text else ""


def sum_unattributed_fees(used: list[BilledUsageLine], scale: float) -> dict[str, float]:
    """Monthly fees, by accelerator, of commitments that the bill does not identify, as those of Google Cloud."""
    fees = [line for line in used if line.kind in ("commitment", "upfront") and not line.commitment]
    return {
        accelerator: math.fsum(line.billed or 0.0 for line in fees if line.accelerator == accelerator) * scale
        for accelerator in sorted({line.accelerator for line in fees})
    }


def describe_unattributed_fees(fees: dict[str, float]) -> list[str]:
    return [
        f"fees and unused capacity of {accelerator}, {paid:,.2f} a month, belong to commitments or reservations that "
        "the bill does not identify: none is taken over, and their remaining payments come on top of the plan"
        for accelerator, paid in fees.items()
    ]


def _remaining_fee(each: Commitment) -> float | None:
    """Its remaining monthly payment: the fee billed, else the amortised cost as if it were paid as it runs."""
    if each.purchase_option.endswith("all_upfront"):
        return 0.0
    fee = each.fee_per_month if each.fee_per_month is not None else each.cost_per_month
    return max(0.0, fee) if fee is not None else None
