"""What a billing export comes to: accelerator usage by month and kind, and everything else counted and summed apart.

Amounts are as the export states them, in its currency and never converted. `billed` is cash (what an invoice asks for),
`effective` is amortised (prepaid commitments spread over what they cover): two views of one spend, never to be added.
None is a figure that this export does not tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

LineKind = Literal["used", "commitment", "upfront", "beside"]
ExclusionReason = Literal[
    "not accelerators", "not matched", "shared commitment", "credit", "refund", "tax", "support", "adjustment"
]  # fmt: skip
CENT = 0.005


@dataclass(frozen=True, slots=True)
class BilledUsageLine:
    """Rows of accelerators that agree in all names here.

    `kind`: used are hours that ran; commitment is what a commitment cost beyond them (its fee in `billed`, its unused
    part in `effective`, with the unused hours); upfront is what was paid once for all of its term; beside is what comes
    with the nodes (vCPU and memory billed apart, discounts), which has no hours. Hours are accelerator-hours: an hour
    of a node with eight is eight. `tags` are all of the rows' tags; `month` (2026-09) is that in which the charge
    period begins.
    """

    kind: LineKind
    month: str
    provider: str
    account: str
    region: str
    instance_type: str
    accelerator: str
    accelerators_per_node: float
    purchase_option: str
    commitment: str
    currency: str
    tags: tuple[tuple[str, str], ...]
    rows: int
    hours_used: float
    hours_unused: float
    billed: float | None
    effective: float | None


@dataclass(frozen=True, slots=True)
class ExcludedRows:
    """Rows that are no usage of a known accelerator: how many, why, and what they come to."""

    why: ExclusionReason
    name: str
    currency: str
    rows: int
    billed: float | None
    effective: float | None


@dataclass(frozen=True, slots=True)
class RejectedRows:
    """Rows that could not be read, with the reason and where the first few stand (or what stood in them)."""

    reason: str
    rows: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CurrencyTotal:
    """All rows of one currency as the file states them, summed before anything was told apart."""

    currency: str
    rows: int
    billed: float | None
    effective: float | None


@dataclass(frozen=True, slots=True)
class Bill:
    """One export, read. rows_in = rows of lines + rows apart + rows refused; `totals` hold the same for amounts.

    `days` are those on which usage of any kind begins, or the last that it covers. `details` is what rows say of the
    commitments they name, by commitment.
    """

    name: str
    export: str
    recognised_by: str
    rows_in: int
    lines: tuple[BilledUsageLine, ...]
    apart: tuple[ExcludedRows, ...]
    refused: tuple[RejectedRows, ...]
    totals: tuple[CurrencyTotal, ...]
    days: frozenset[str]
    details: dict[str, tuple[dict[str, str], ...]]
    notes: tuple[str, ...]

    @property
    def rows_used(self) -> int:
        return sum(line.rows for line in self.lines)

    @property
    def rows_apart(self) -> int:
        return sum(each.rows for each in self.apart)

    @property
    def rows_refused(self) -> int:
        return sum(each.rows for each in self.refused)

    def differences(self) -> tuple[str, ...]:
        """Where rows or sums do not come to the file's own; empty for every bill that may be shown."""
        imbalances = []
        parts = self.rows_used + self.rows_apart + self.rows_refused
        if parts != self.rows_in:
            imbalances.append(f"{parts:,} rows told apart of {self.rows_in:,}")
        for total in self.totals:
            parts_of: list[BilledUsageLine | ExcludedRows] = [*self.lines, *self.apart]
            own = [each for each in parts_of if each.currency == total.currency]
            for view in ("billed", "effective"):
                stated, summed = getattr(total, view), sum_or_none(getattr(each, view) for each in own)
                if stated is not None and summed is not None and abs(stated - summed) > max(CENT, 1e-12 * abs(stated)):
                    imbalances.append(f"{view} {summed:,.2f} of {stated:,.2f} {total.currency}")
        return tuple(imbalances)


def sum_or_none(amounts: Iterable[float | None]) -> float | None:
    """Their sum, or None where one of them is not told."""
    known: list[float] = []
    for amount in amounts:
        if amount is None:
            return None
        known.append(amount)
    return math.fsum(known)
