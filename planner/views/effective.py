"""Effective cost: what each month bears, whenever it is paid. Knows no price; it only moves payments between months."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

from planner import paying, replay
from planner.answer.views import EffectiveCost
from planner.cashflow import Payment
from planner.replay import Bought, Setting
from planner.strategy import Solved


def effective(solved: Solved, setting: Setting) -> tuple[EffectiveCost, ...]:
    """The rows of one strategy by month and category; they add up to its total cost."""
    sums: dict[tuple[int, str], list[float]] = defaultdict(list)
    for month, category, amount in _borne(solved, setting):
        sums[month, category].append(amount)
    amounts = ((month, category, math.fsum(parts)) for (month, category), parts in sorted(sums.items()))
    return tuple(EffectiveCost(solved.strategy.name, *row) for row in amounts if row[2])


def _borne(solved: Solved, setting: Setting) -> Iterator[tuple[int, str, float]]:
    for bought in solved.decisions.bought:
        yield from _of_purchase(bought, setting)
    for share in solved.decisions.shares:
        yield from _as_paid(replay.use_payments(setting, share))
    for overhead in solved.decisions.overheads:
        yield from _as_paid(replay.overhead_payments(setting, overhead))


def _of_purchase(bought: Bought, setting: Setting) -> Iterator[tuple[int, str, float]]:
    """Evenly over the months covered, but for what running an owned node costs."""
    covered = paying.covers(bought.resource, bought.month, setting.assumptions, setting.terms)
    rows = replay.purchase_payments(setting, bought)
    as_paid = paying.RUNNING if bought.resource.node is not None else frozenset()
    if not covered:
        yield from _as_paid(rows)
        return
    yield from _as_paid(row for row in rows if row.category in as_paid)
    totals: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.category not in as_paid:
            totals[row.category].append(row.amount)
    for category, amounts in totals.items():
        each = math.fsum(amounts) / len(covered)
        yield from ((month, category, each) for month in covered)


def _as_paid(rows: Iterable[Payment]) -> Iterator[tuple[int, str, float]]:
    return ((row.month, row.category, row.amount) for row in rows)
