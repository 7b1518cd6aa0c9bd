"""The contents of a billing export: accelerator usage by month and kind, and the sums of all other rows.

Amounts are those of the export, in its currency and never converted. `billed` is cash (the invoice), `effective` is
amortised (prepaid commitments spread over their usage): two views of one spend, never to be added. None is a value that
the export does not have.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from pricing.frozen_values import dataclass

LineKind = Literal["used", "commitment", "upfront", "beside"]
ExclusionReason = Literal[
    "not accelerators", "not matched", "shared commitment", "credit", "refund", "tax", "support", "adjustment"
]  # fmt: skip
CENT = 0.005


@dataclass(frozen=True, slots=True)
class BilledUsageLine:
    """Rows of accelerators with the same names.

    `kind`: used is hours that ran; commitment is the cost of a commitment beyond them (its fee in `billed`, its unused
    part in `effective`, with the unused hours); upfront is a single payment for the entire term; beside is a further
    charge for the nodes without hours (separately billed vCPU and memory, discounts). Hours are accelerator-hours: an
    hour of a node with eight is eight. `month` (2026-09) is the one in which the charge period begins.
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
    """Rows other than usage of a known accelerator: the reason, their number and their sums."""

    why: ExclusionReason
    name: str
    currency: str
    rows: int
    billed: float | None
    effective: float | None


@dataclass(frozen=True, slots=True)
class RejectedRows:
    """Rows that could not be read: the reason, and the places or the values of the first few."""

    reason: str
    rows: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CurrencyTotal:
    """The sum of all rows of one currency in the file, independent of their classification."""

    currency: str
    rows: int
    billed: float | None
    effective: float | None


@dataclass(frozen=True, slots=True)
class Bill:
    """The contents of one export. rows_in = rows of lines + excluded rows + rejected rows; `totals` is for amounts.

    `days` are the first and last days of charge periods with usage of any kind. `details` are the attributes of
    commitments in their rows, by commitment.
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
        """Differences from the file's own numbers of rows and sums; empty for a valid result."""
        imbalances = []
        parts = self.rows_used + self.rows_apart + self.rows_refused
        if parts != self.rows_in:
            imbalances.append(f"{parts:,} rows classified of {self.rows_in:,}")
        for total in self.totals:
            parts_of: list[BilledUsageLine | ExcludedRows] = [*self.lines, *self.apart]
            own = [each for each in parts_of if each.currency == total.currency]
            for view in ("billed", "effective"):
                total_amount, summed = getattr(total, view), sum_or_none(getattr(each, view) for each in own)
                if total_amount is None or summed is None:
                    continue
                if abs(total_amount - summed) > max(CENT, 1e-12 * abs(total_amount)):
                    imbalances.append(f"{view} {summed:,.2f} of {total_amount:,.2f} {total.currency}")
        return tuple(imbalances)


def sum_or_none(amounts: Iterable[float | None]) -> float | None:
    """The sum of the amounts, or None where one is None."""
    known: list[float] = []
    for amount in amounts:
        if amount is None:
            return None
        known.append(amount)
    return math.fsum(known)
