"""Commitments of a bill as existing commitments of a request, with a note on each that is not taken over."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from planner.inputs.catalog_regions import find_region
from planner.inputs.parsed_file import SunkCommitment

if TYPE_CHECKING:
    from planner.inputs.bills.bill import BilledUsageLine
    from planner.inputs.bills.commitments import Commitment
    from pricing.catalog.price_catalog import Catalog


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
