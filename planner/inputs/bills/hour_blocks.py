"""Hours that an export counts in blocks (100 Hours): whether its quantities are blocks or hours already.

Exports write them either way, each file in one way throughout. As its prices are for a block, so are quantities, unless
a node would then cost far less than anybody sells it for. Knows the catalogue's prices and no export.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

from planner.inputs.bills.accelerator_matching import AcceleratorMatch, AcceleratorMatcher, block_size, hours_per_unit
from planner.inputs.bills.duckdb_scan import RowGroup

PLAUSIBLE_PRICE_FRACTION = 0.2
"""Of the lowest price known of a type: less an hour than that is no discount but another unit."""


def hours_by_unit(
    groups: Iterable[tuple[RowGroup, AcceleratorMatch | None]], finder: AcceleratorMatcher
) -> tuple[dict[str, float | None], tuple[str, ...]]:
    """Hours in one of each unit that the groups have (None: no time), and how blocks were read, in words."""
    priced: dict[str, list[tuple[float, float]]] = defaultdict(list)
    rows: dict[str, int] = defaultdict(int)
    hours: dict[str, float | None] = {}
    for group, match in groups:
        hours[group.unit] = hours_per_unit(group.unit)
        if match is None or not match.accelerator or block_size(group.unit) == 1.0 or hours[group.unit] is None:
            continue
        rows[group.unit] += group.rows
        lowest = finder.lowest_price(group.provider, match, spot=group.option == "spot")
        if lowest is not None and group.billed > 0 and (group.quantity or 0.0) > 0:
            priced[group.unit].append((group.billed, (group.quantity or 0.0) * lowest))
    notes = []
    for unit in sorted(rows):
        block = block_size(unit)
        paid, lowest = (math.fsum(parts) for parts in zip(*priced[unit], strict=True)) if priced[unit] else (0.0, 0.0)
        counts_hours = paid > 0 and paid < PLAUSIBLE_PRICE_FRACTION * lowest * block
        if counts_hours:
            hours[unit] = (hours[unit] or 0.0) / block
            why = f"hours: as blocks they would cost under {PLAUSIBLE_PRICE_FRACTION:.0%} of the lowest price known"
        else:
            why = f"blocks of {block:g}" + ("" if paid > 0 else ", with no price in them to tell")
        counted = f"{rows[unit]:,} row{'s' * (rows[unit] != 1)} of accelerators counted in {unit}"
        notes.append(f"{counted}; their quantities are {why}")
    return hours, tuple(notes)
