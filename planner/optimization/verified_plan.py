"""What verification reads, and what it finds: a solved strategy in natural units."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from planner.optimization.solution import Decisions, PlanningContext
from planner.request.models import Request
from planner.result import Strategy
from planner.supply.candidates import Candidate
from planner.supply.payments import covered_months
from planner.supply.resources import Resource
from planner.workloads.demand import WorkloadDemand
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass

ROUNDING = 1e-6
"""Of an amount: what the solver's arithmetic may leave. Work and hours are compared to it, whole numbers exactly."""
NODE_HOURS_ROUNDING = 0.01
"""Node-hours of a month that are rounding, however large or small the rest of the month is."""


class Violation(NamedTuple):
    """One rule that a strategy breaks: `found` against `allowed`, in the natural unit of the rule."""

    rule: str
    subject: str
    month: int
    found: float
    allowed: float

    def __str__(self) -> str:
        return f"{self.rule}: {self.subject}, month {self.month}: {self.found:.6g} against {self.allowed:.6g}"


@dataclass(frozen=True, slots=True)
class VerifiedPlan:
    """What is verified: the decisions of a strategy, with its totals, under a request and a catalogue."""

    strategy: Strategy
    decisions: Decisions
    setting: PlanningContext
    request: Request
    catalog: Catalog

    def resource(self, candidate: Candidate) -> Resource:
        return self.setting.market.resources[candidate.resource]

    def need(self, candidate: Candidate) -> WorkloadDemand:
        return self.setting.demands.needs[candidate.need]

    def hours(self, block: int) -> float:
        """The hours of a block, or of the whole month for work at any hour."""
        return self.setting.demands.block_hours[block] if block >= 0 else self.setting.terms.hours_per_month


def exceeds(found: float, allowed: float) -> bool:
    """Whether an amount is above a limit by more than rounding."""
    return found > allowed + max(ROUNDING * abs(allowed), 1e-9)


def active_units(plan: VerifiedPlan) -> Mapping[tuple[tuple[str, ...], int], float]:
    """Units of each resource that were started and cover a month, by key and month."""
    active: dict[tuple[tuple[str, ...], int], float] = defaultdict(float)
    for order in plan.decisions.bought:
        for month in covered_months(order.resource, order.month, plan.setting.assumptions, plan.setting.terms):
            active[order.resource.key, month] += order.quantity
    return active
