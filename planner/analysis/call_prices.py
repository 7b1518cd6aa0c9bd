"""Build or call: the cost of a self-run model against a stated price per token, and the volume at which they meet."""

from __future__ import annotations

import math
from collections.abc import Callable

from planner.request.errors import InvalidRequest
from planner.request.limits import CallPrice
from planner.request.models import Request, Workload
from planner.result import CallComparison, Plan, Strategy
from planner.supply.recovery import standby_name
from planner.workloads.demand import scale_demand

MILLION = 1e6
LEAST_VOLUME = 1e-6
"""Of the planned volume: where the search for the least volume begins."""
VOLUME_MAX = 1_000.0
"""Times the planned volume: the search ends there."""
STEPS_MAX = 60
"""Most plans for one price."""
TOLERANCE = 1e-4
"""Of a volume, beside the gap of its plan: a tenth of a per cent where one workload makes a small program."""


def compare_call_prices(
    request: Request, baseline: Plan, replan: Callable[[Request], Strategy]
) -> tuple[CallComparison, ...]:
    """A row for each price of the request; none where nothing can be recommended. The volume is that of
    the workload planned alone in the recommended strategy, all months scaled alike."""
    if baseline.recommendation.strategy is None:
        return ()
    workloads = {workload.name: workload for workload in request.workloads}
    return tuple(
        _compare_price(request, baseline, workloads[price.workload], price, replan) for price in request.call_prices
    )


def _compare_price(
    request: Request, baseline: Plan, workload: Workload, price: CallPrice, replan: Callable[[Request], Strategy]
) -> CallComparison:
    name = baseline.recommendation.strategy
    assert name is not None
    names = {workload.name, *([standby_name(workload.name, workload.recovery.level)] if workload.recovery else [])}
    own_cost = math.fsum(row.cost for row in baseline.strategy(name).workloads if row.workload in names)
    [described] = (each for each in baseline.workloads if each.name == workload.name)
    units = math.fsum(described.demand)
    tokens = units * price.tokens_per_unit
    call_cost = units * price.cost_per_unit
    changes = {"strategies": (name,), "effort": "coarse", "risk": None, "uncertainty": None, "call_prices": ()}

    def cost_per_month(volume: float) -> float | None:
        """The cost of that many tokens a month, on average over the plan; None where they cannot be done or are more
        than a request may ask for."""
        scaled = scale_demand(workload.demand, volume * baseline.months / tokens)
        alone = workload.model_copy(update={"demand": scaled})
        try:
            solved = replan(request.model_copy(update={**changes, "workloads": (alone,)}))
        except InvalidRequest:
            return None
        return None if solved.status == "infeasible" else solved.total_cost / baseline.months

    per_month = tokens / baseline.months
    return CallComparison(
        workload=workload.name,
        called=price.name,
        as_of=price.as_of,
        source=price.source,
        tokens_per_month=per_month,
        own_cost=own_cost,
        call_cost=call_cost,
        own_cost_per_million=own_cost / tokens * MILLION,
        call_cost_per_million=call_cost / tokens * MILLION,
        meet_tokens_per_month=find_meeting_volume(cost_per_month, call_cost / tokens, per_month),
    )


def find_meeting_volume(
    cost_per_month: Callable[[float], float | None], price_per_token: float, planned: float
) -> float | None:
    """The least volume a month at which a cost that never falls with volume is no more than calls at a price; 0: at
    every volume; None: at none up to VOLUME_MAX times the planned one.

    Whole nodes make the cost a stair. The least volume v with cost(v) = price x v is reached from below by v -> cost(v)
    / price, which never passes it since the cost never falls.
    """
    volume = planned * LEAST_VOLUME
    for step in range(STEPS_MAX):
        cost = cost_per_month(volume) if volume <= planned * VOLUME_MAX else None
        if cost is None:
            return None
        reached = cost / price_per_token
        if reached <= volume * (1 + TOLERANCE):
            return reached if step else 0.0
        volume = reached
    return None
