"""Consecutive months in which a workload runs on the same resource, joined into one line for readers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from planner.result import Plan, Strategy, Use

ROWS_MAX = 60
"""Above this many lines, months that differ are joined too, as a range."""


UsagePeriod = Sequence[Use]
"""Uses of one resource by one workload in consecutive months, in order."""


def group_usage(strategy: Strategy, plan: Plan) -> tuple[list[UsagePeriod], bool]:
    """The strategy's uses in the order of the plan's workloads, and whether different months had to be joined."""
    exact = _join_months(strategy.uses, plan, _is_same_usage)
    if len(exact) <= ROWS_MAX:
        return exact, False
    return _join_months(strategy.uses, plan, lambda _first, _second: True), True


def _join_months(uses: Iterable[Use], plan: Plan, is_same: Callable[[Use, Use], bool]) -> list[UsagePeriod]:
    place = {workload.name: index for index, workload in enumerate(plan.workloads)}

    def workload_key(use: Use) -> tuple[int, str]:
        return place.get(use.workload, len(place)), use.workload

    ordered = sorted(uses, key=lambda use: (workload_key(use), _resource_key(use), use.month))
    periods: list[list[Use]] = [ordered[:1]] if ordered else []
    for before, use in pairwise(ordered):
        follows = _resource_key(before) == _resource_key(use) and before.workload == use.workload
        # a gap of a month, another node or another workload starts a new line
        if follows and use.month == before.month + 1 and is_same(before, use):
            periods[-1].append(use)
        else:
            periods.append([use])
    return sorted(periods, key=lambda run: (workload_key(run[0]), run[0].month, _resource_key(run[0])))


def _resource_key(use: Use) -> tuple[str | float, ...]:
    where = (use.what, use.name, use.provider, use.region, use.purchase_option)
    return (*where, use.accelerator, use.accelerators_per_node)


def _is_same_usage(first: Use, second: Use) -> bool:
    return all(
        math.isclose(getattr(first, field), getattr(second, field), rel_tol=1e-3, abs_tol=1e-6)
        for field in ("nodes", "node_hours", "cost")
    )
