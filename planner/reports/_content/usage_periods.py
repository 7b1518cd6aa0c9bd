"""Consecutive months in which a workload runs on the same resource, joined into one line for readers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from planner.result import Plan, Strategy, Use

ROWS_MAX = 60
"""Above this many lines, months that differ are joined too, as a range."""


@dataclass(frozen=True, slots=True)
class UsagePeriod:
    """Uses of one resource by one workload in consecutive months, in order."""

    uses: tuple[Use, ...]

    @property
    def cost(self) -> float:
        """The cost of all its months."""
        return math.fsum(use.cost for use in self.uses)


def group_usage(strategy: Strategy, plan: Plan) -> tuple[tuple[UsagePeriod, ...], bool]:
    """The strategy's uses in the order of the plan's workloads, and whether different months had to be joined."""
    exact = _join_months(strategy.uses, plan, _is_same_usage)
    if len(exact) <= ROWS_MAX:
        return exact, False
    return _join_months(strategy.uses, plan, lambda _first, _second: True), True


def _join_months(uses: Iterable[Use], plan: Plan, is_same: Callable[[Use, Use], bool]) -> tuple[UsagePeriod, ...]:
    place = {workload.name: index for index, workload in enumerate(plan.workloads)}
    ordered = sorted(
        uses, key=lambda use: (place.get(use.workload, len(place)), use.workload, _resource_key(use), use.month)
    )
    periods: list[list[Use]] = [ordered[:1]] if ordered else []
    for before, use in pairwise(ordered):
        follows = _resource_key(before) == _resource_key(use) and before.workload == use.workload
        # a gap of a month, another node or another workload starts a new line
        if follows and use.month == before.month + 1 and is_same(before, use):
            periods[-1].append(use)
        else:
            periods.append([use])
    return tuple(sorted((UsagePeriod(tuple(run)) for run in periods), key=lambda run: _period_sort_key(run, place)))


def _period_sort_key(run: UsagePeriod, place: dict[str, int]) -> tuple[int, str, int, tuple[str | float, ...]]:
    first = run.uses[0]
    return place.get(first.workload, len(place)), first.workload, first.month, _resource_key(first)


def _resource_key(use: Use) -> tuple[str | float, ...]:
    where = (use.what, use.name, use.provider, use.region, use.purchase_option)
    return (*where, use.accelerator, use.accelerators_per_node)


def _is_same_usage(first: Use, second: Use) -> bool:
    return all(
        math.isclose(getattr(first, field), getattr(second, field), rel_tol=1e-3, abs_tol=1e-6)
        for field in ("nodes", "node_hours", "cost")
    )


def format_span(values: Sequence[float], formatted: Callable[[float], str]) -> str:
    """One value, or the lowest and the highest: "2" or "2 to 5"."""
    low, high = formatted(min(values)), formatted(max(values))
    return low if low == high else f"{low} to {high}"
