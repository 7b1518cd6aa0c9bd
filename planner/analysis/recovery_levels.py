"""The levels of disaster recovery side by side, each planned again in the recommended strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import get_args

from planner.request.assumptions import Assumptions
from planner.request.models import Request, Workload
from planner.request.recovery import Recovery, RecoveryLevel
from planner.result import Plan, RecoveryOption, Strategy
from planner.supply.recovery import recovery_time, standby_name


def compare_recovery_levels(
    request: Request, baseline: Plan, assumptions: Assumptions, replan: Callable[[Request], Strategy]
) -> tuple[RecoveryOption, ...]:
    """Each level of each workload that has a second place, all else equal; none where nothing can be recommended.
    `request` is as written. Costs are above the same plan without a second place of that workload."""
    name = baseline.recommendation.strategy
    if name is None:
        return ()
    changes = {"strategies": (name,), "risk": None, "uncertainty": None}
    alone = request.model_copy(update=changes)

    def solve(workload: Workload, recovery: Recovery | None) -> Strategy | None:
        if recovery == workload.recovery:
            return baseline.strategy(name)
        changed = workload.model_copy(update={"recovery": recovery})
        workloads = tuple(changed if each is workload else each for each in request.workloads)
        solved = replan(alone.model_copy(update={"workloads": workloads}))
        return None if solved.status == "infeasible" else solved

    return tuple(
        option
        for workload in request.workloads
        if workload.recovery is not None
        for option in _list_options(workload, workload.recovery, assumptions, solve)
    )


def _list_options(
    workload: Workload,
    chosen: Recovery,
    assumptions: Assumptions,
    solve: Callable[[Workload, Recovery | None], Strategy | None],
) -> Iterator[RecoveryOption]:
    without = solve(workload, None)
    levels: tuple[RecoveryLevel, ...] = get_args(RecoveryLevel)
    for level in levels if workload.demand.is_tied_to_hours(workload.kind) else ("pilot_light",):
        solved = solve(workload, chosen.model_copy(update={"level": level}))
        time = recovery_time(workload, level, assumptions)
        added: tuple[float | None, float | None] = (None, None)
        if solved is not None and without is not None:
            added = (solved.total_cost - without.total_cost, solved.present_cost - without.present_cost)
        yield RecoveryOption(
            workload=workload.name,
            place=chosen.place,
            level=level,
            is_chosen=level == chosen.level,
            nodes=_most_nodes(solved, standby_name(workload.name, level)) if solved else None,
            cost_added=added[0],
            present_cost_added=added[1],
            hours_to_part=time.hours_to_part,
            hours_to_all=time.hours_to_all,
            is_stated=time.is_stated,
        )


def _most_nodes(solved: Strategy, workload: str) -> float:
    """The most nodes at once of a workload in a month."""
    by_month: dict[int, float] = {}
    for use in solved.uses:
        if use.workload == workload:
            by_month[use.month] = by_month.get(use.month, 0.0) + use.nodes_at_once
    return max(by_month.values(), default=0.0)
