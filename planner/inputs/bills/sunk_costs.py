"""The amortised cost of commitments from before a plan, in the two parts that a plan distinguishes.

A plan charges what is still due for such a commitment to the work that uses it, and no part of its upfront payment.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from planner.inputs.bills.bill import BilledUsageLine
from pricing.frozen_values import dataclass

Place = tuple[str, str, str]
"""Provider, region and instance type."""


@dataclass(frozen=True, slots=True)
class CostedLine:
    """A line with its cost, and the part of it that was paid upfront before the plan (not in `cost`)."""

    line: BilledUsageLine
    cost: float | None
    sunk: float = 0.0


def separate_sunk_costs(lines: Iterable[BilledUsageLine], places: AbstractSet[Place]) -> Iterator[CostedLine]:
    """The lines with amortised costs. For commitments in `places` the unused part is charged to the lines that use
    them, and what exceeds the fees of the month is sunk; other lines are as they are."""
    by_commitment: dict[tuple[str, str, str], list[BilledUsageLine]] = defaultdict(list)
    for line in lines:
        if line.commitment and (line.provider, line.region, line.instance_type) in places:
            by_commitment[line.commitment, line.month, line.currency].append(line)
        else:
            yield CostedLine(line, line.effective)
    for own in by_commitment.values():
        yield from _separate_commitment(own)


def _separate_commitment(own: Sequence[BilledUsageLine]) -> Iterator[CostedLine]:
    """One commitment in one month."""
    used = [line for line in own if line.kind == "used" and line.hours_used > 0]
    hours = math.fsum(line.hours_used for line in used)
    amounts = [line.effective for line in own]
    fees = [line.billed for line in own if line.kind != "upfront"]
    if not hours or None in amounts or None in fees:
        yield from (CostedLine(line, line.effective) for line in own)
        return
    cost = math.fsum(amount or 0.0 for amount in amounts)
    due = min(cost, math.fsum(fee or 0.0 for fee in fees))
    for line in own:
        part = line.hours_used / hours if line in used else 0.0
        yield CostedLine(line, part * due, part * (cost - due))
