"""The limits of a request in terms of the market: which limits each resource counts against."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from planner.request.limits import PlanLimits, YearlyAmounts
from planner.request.ownership import Site
from planner.result import Category
from planner.supply.carbon import CarbonFigures
from planner.supply.quotas import quota_units_per_node
from planner.supply.resources import Resource
from planner.workloads.demand import WorkloadDemand
from pricing.frozen_values import dataclass
from pricing.quota import Quota

CAPEX_CATEGORIES: frozenset[Category] = frozenset({"hardware", "installation"})
"""Categories of the capital budget; all others but resale count against the budget of running costs."""

COMMITMENT_TARGETS = ("commitment_coverage_min", "commitment_utilisation_min", "commitment_ending_per_quarter_max")
SHARE_ROUNDING = 1e-5
"""Of a target on the ends of commitments: 50.0005 % of 50 % is kept. Where two units have nearly the same price there
may be no plan nearer to it, and a search for one is long."""


@dataclass(frozen=True, slots=True)
class LimitRules:
    """Limits on every strategy. `quotas` are empty unless the request enforces them."""

    limits: PlanLimits = field(default_factory=PlanLimits)
    site: Site = field(default_factory=Site)
    quotas: tuple[Quota, ...] = ()
    carbon: CarbonFigures = field(default_factory=CarbonFigures)

    def counted(self, resource: Resource) -> tuple[tuple[Quota, float], ...]:
        """The quotas that its nodes count against, with the units that one node uses; none for owned nodes."""
        if resource.quote is None or not self.quotas:
            return ()
        price, offering = resource.quote.price, resource.quote.offering
        return tuple(
            (quota, each)
            for quota in self.quotas
            if (quota.provider, quota.region) == (price.provider, price.region)
            and quota.counts(price.instance_type, price.kind)
            and (each := quota_units_per_node(quota, offering)) is not None
        )

    def spot_share(self, need: WorkloadDemand) -> float:
        """Of a workload's work, the most that may run on spot."""
        own = need.workload.spot_fraction_max
        return own if own is not None else (1.0 if (of_all := self.limits.spot_fraction_max) is None else of_all)

    def has_limits(self, needs: Iterable[WorkloadDemand]) -> bool:
        """Whether anything limits a plan of those workloads."""
        return self.limits != PlanLimits() or bool(self.quotas) or any(self.spot_share(need) < 1 for need in needs)

    @property
    def commitment_targets(self) -> dict[str, float]:
        """The targets on commitments of the request, by the names of their fields."""
        return {name: value for name in COMMITMENT_TARGETS if (value := getattr(self.limits, name)) is not None}

    def without_commitment_targets(self) -> LimitRules:
        return replace(self, limits=self.limits.model_copy(update=dict.fromkeys(COMMITMENT_TARGETS)))

    @property
    def budgets(self) -> bool:
        """Whether it matters when money is paid."""
        return self.limits.capex_per_year is not None or self.limits.opex_per_year is not None

    @property
    def limits_carbon(self) -> bool:
        return self.limits.carbon_kg_per_year is not None


def budget_year(month: int) -> int:
    """The year of the plan, from 0, whose budget pays in a month; what is ordered before the plan counts in the
    first."""
    return max(0, month - 1) // 12


def budget_by_year(yearly: YearlyAmounts, months: int) -> Sequence[float]:
    """The budget of each year of the plan; the last amount of a list applies to all later years."""
    years = math.ceil(months / 12)
    amounts = list(yearly) if isinstance(yearly, list) else [yearly]
    return [amounts[min(year, len(amounts) - 1)] for year in range(years)]
