"""The part of each charge that a cost centre (team) is charged with, by the parts of the audit trail.

A use is its workload's. Purchases are charged as the audit trail shares it, in every month alike; support and tax go
with what they are paid on, and overheads by all other cost.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from planner.reports._content.charges import Charge
from planner.reports._content.repricing import LedgerRepricing
from planner.result import EXISTING_SUFFIX, Plan, Strategy, Use

Parts = Mapping[str, float]
"""By team; they add up to 1."""


def split_charges(plan: Plan, strategy: Strategy, plan_charges: Sequence[Charge]) -> Iterator[tuple[Charge, Parts]]:
    """Each charge with the parts of the cost centres; those shared without an audit trail have none ("")."""
    of_workload = {cost.workload: cost.team for cost in strategy.workloads}
    by_cost: dict[str, float] = defaultdict(float)
    for cost in strategy.workloads if plan.ledger.lines else ():
        by_cost[cost.team] += cost.cost
    overheads, paid = _normalise_parts(by_cost) or {"": 1.0}, _paid_by_team(plan, strategy, of_workload)
    on_bills: dict[tuple[int, str], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for charge in plan_charges:
        if isinstance(charge.line, Use):
            parts: Parts = {of_workload.get(charge.line.workload, ""): 1.0}
        elif charge.kind == "on_top":
            parts = _normalise_parts(on_bills[charge.month, charge.provider]) or overheads
        else:
            titles = (charge.what, charge.category, charge.month), (charge.pool or charge.what, "", 0)
            parts = next(
                (known for known in (_normalise_parts(paid.get(title, {})) for title in titles) if known), overheads
            )
        yield charge, parts
        if not charge.what.endswith(EXISTING_SUFFIX) and charge.kind != "on_top":
            for team, part in parts.items():
                on_bills[charge.month, charge.provider][team] += part * charge.billed


def _paid_by_team(
    plan: Plan, strategy: Strategy, of_workload: Mapping[str, str]
) -> dict[tuple[str, str, int], dict[str, float]]:
    """Amounts by team: of a title, category and month, and of a title in all (category "", month 0)."""
    repricing = LedgerRepricing(plan)
    paid: dict[tuple[str, str, int], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line in plan.ledger.lines:
        choice = plan.ledger.choices[line.choice]
        parts = ((choice.workload, 1.0),) if choice.workload else choice.parts
        if choice.strategy != strategy.name:
            continue
        growth = repricing.figures.get(line.growth, 0.0)
        for month, amount in plan.ledger.amounts(line, line.rate_value, growth).items():
            for workload, part in parts:
                team = of_workload.get(workload, "")
                paid[choice.what, line.category, month][team] += part * amount
                paid[choice.what.removesuffix(EXISTING_SUFFIX), "", 0][team] += part * amount
    return paid


def _normalise_parts(amounts: Mapping[str, float]) -> Parts:
    """The part of each in their sum; empty where that is 0."""
    total = math.fsum(amounts.values())
    return {team: amount / total for team, amount in amounts.items() if amount} if total else {}
