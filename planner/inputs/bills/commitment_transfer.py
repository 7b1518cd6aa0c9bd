"""Commitments of a bill for the estate of a request: those that are taken over, and in words all others.

Knows what a bill tells of them, and no plan.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from planner.inputs.present_spend import SunkCommitment

if TYPE_CHECKING:
    from planner.inputs.bills.bill import BilledUsageLine
    from planner.inputs.bills.commitments import Commitment
    from pricing.catalog.price_catalog import Catalog


def transfer_commitments(
    commitments: Iterable[Commitment], catalog: Catalog
) -> tuple[list[dict[str, Any]], tuple[SunkCommitment, ...], list[str], float]:
    """Commitments for the estate of a request, what of them is paid already, those that are not taken over, and what
    these cost a month, as far as it is told."""
    lines: dict[tuple[str, ...], dict[str, Any]] = {}
    sunk_commitments, notes, loose = [], [], []
    for each in commitments:
        region = _catalog_region(each, catalog)
        unknown = [*each.unknown, *([f"its region as the catalogue spells it ({each.region})"] if not region else [])]
        if unknown or each.count is None:
            notes.append(
                f"commitment {each.identity} is not taken over, since the bill does not tell {'; '.join(unknown)}"
                f"{_describe_cost(each)}"
            )
            loose.append(_monthly_cost(each) or 0.0)
            continue
        owed = _remaining_fee(each)
        if owed is None:
            notes.append(f"commitment {each.identity} is not taken over, since no full month tells what it costs")
            continue
        key = (each.provider, region, each.instance_type, each.purchase_option, each.ends)
        line = lines.setdefault(key, dict(zip(("provider", "region", "instance_type", "purchase_option", "ends"), key,
                                              strict=True)) | {"count": 0, "fee_per_month": 0.0})  # fmt: skip
        owes = f"{owed:,.2f} a month still owed for it" if owed else "nothing more owed for it"
        notes.append(
            f"commitment {each.identity} is taken over: {each.count} x {each.instance_type} {region} "
            f"{each.purchase_option} to the end of {each.ends}, {owes}"
        )
        line["count"] += each.count
        line["fee_per_month"] += owed
        sunk_commitments.append(SunkCommitment(each.ends, max(0.0, (each.cost_per_month or owed) - owed)))
    return list(lines.values()), tuple(sunk_commitments), notes, math.fsum(loose)


def _monthly_cost(each: Commitment) -> float | None:
    """What it costs a month: amortised, else its fee."""
    return each.cost_per_month if each.cost_per_month is not None else each.fee_per_month


def _describe_cost(each: Commitment) -> str:
    """What a commitment that no plan holds costs and until when, as far as it is told."""
    cost = _monthly_cost(each)
    text = "" if cost is None else f"; it costs {cost:,.2f} a month"
    text += f"{'' if text else '; it runs'} to the end of {each.ends}" if each.ends else ""
    return f"{text}, and what is still owed for it comes on top of the plan" if text else ""


def sum_unattributed_fees(used: list[BilledUsageLine], scale: float) -> dict[str, float]:
    """Fees a month, by accelerator, of commitments that the bill does not tell apart, as those of Google Cloud."""
    fees = [line for line in used if line.kind in ("commitment", "upfront") and not line.commitment]
    return {
        accelerator: math.fsum(line.billed or 0.0 for line in fees if line.accelerator == accelerator) * scale
        for accelerator in sorted({line.accelerator for line in fees})
    }


def describe_unattributed_fees(unnamed: dict[str, float]) -> list[str]:
    """The same in words."""
    return [
        f"fees and unused capacity of {accelerator} of {paid:,.2f} a month are of commitments or reservations that "
        "the bill does not name: none is taken over, and what is still owed for them comes on top of the plan"
        for accelerator, paid in unnamed.items()
    ]


def _remaining_fee(each: Commitment) -> float | None:
    """What is still owed for it each month: the fee billed, else what it costs amortised, as if paid as it runs."""
    if each.purchase_option.endswith("all_upfront"):
        return 0.0
    fee = each.fee_per_month if each.fee_per_month is not None else each.cost_per_month
    return max(0.0, fee) if fee is not None else None


def _catalog_region(each: Commitment, catalog: Catalog) -> str:
    """The catalogue's name of its region, by name or title without regard to case and spaces; "" where it has none."""
    wanted = re.sub(r"[\s_-]", "", each.region.casefold())
    for (provider, name), region in catalog.regions.items():
        if provider == each.provider and wanted in (re.sub(r"[\s_-]", "", t.casefold()) for t in (name, region.name)):
            return name
    return ""
