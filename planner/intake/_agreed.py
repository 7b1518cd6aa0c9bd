"""Two columns of one thing in other units (GPU-hours a month, and a year): the same, or a fault."""

from __future__ import annotations

import math

from planner.intake._columns import Column
from planner.intake._ledger import Ledger
from planner.intake._line import Line
from planner.intake._table import Table
from planner.intake._units import PER_MONTH, adjusted, money_scale, period_of

WITHIN = 0.01
COUNTED = frozenset({"accelerator_hours", "units_per_month", "requests_per_second"})


def agree(table: Table, first: Column, second: Column) -> bool:
    """Whether both columns say the same amount a month in every row that is a workload."""
    if first.meaning not in COUNTED | {"budget"}:
        return False
    rows = [Line(table, row, 0, Ledger()) for row, reason in table.rows if not reason]
    pairs = [(_amount(line, first), _amount(line, second)) for line in rows]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return bool(known) and known == pairs and all(math.isclose(a, b, rel_tol=WITHIN) for a, b in known)


def _amount(line: Line, column: Column) -> float | None:
    """The amount a month, None where there is none that can be told."""
    found = line.number_in(column, line.row.cell(column.index))
    if found is None:
        return None
    if column.meaning == "budget":
        plain_unit = not found.quantity.unit and period_of(column.words)
        return found.value * money_scale(column.words) * PER_MONTH[plain_unit] if plain_unit else None
    metric = adjusted(column.metric, found.quantity.unit) if column.metric else None
    return found.value * metric.factor if metric else None
