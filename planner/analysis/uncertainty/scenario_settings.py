"""The planning problem of each scenario: the same places and commitments, at the prices, speeds, deliveries and demand
of the scenario.

The workloads, places and commitments are those of a narrowed setting (`narrow_setting`). An order of the first months
that a scenario delivers after the horizon is paid for there all the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from statistics import NormalDist

from planner.analysis.risk.cost_model import TermsFunction, apply_overrides, apply_price_levels
from planner.analysis.uncertainty.scenarios import THROUGHPUT_RANK, Scenario
from planner.analysis.uncertainty.uncertain_figures import DEMAND, THROUGHPUT
from planner.finance.cashflow import present_cost
from planner.optimization.solution import PlanningContext
from planner.request.assumptions import Assumptions
from planner.supply.candidates import Candidate, billed_hours
from planner.supply.costs import ResourceStart, SharedResource, StartCurves, hourly_rates, list_starts
from planner.supply.payments import covered_months, resource_payments
from planner.workloads.demand import WorkloadDemand
from pricing.frozen_values import dataclass

HIGH_RANK = 0.9
"""The rank of the high end of a predicted throughput: nine of ten cases are below (of the low end: one)."""
RANK_MIN = 0.02
"""Ranks nearer to an end count as this: the tails of a prediction are not known."""


def has_predicted_throughput(setting: PlanningContext) -> list[str]:
    """The workloads with a throughput of which only an interval is known."""
    shared = (item.candidates for item in setting.choice.shared)
    candidates = (c for each in (*setting.choice.hourly, *setting.choice.overflow, *shared) for c in each)
    predicted = {c.need for c in candidates if c.throughput.low < c.throughput.high}
    return [need.workload.name for index, need in enumerate(setting.demands.needs) if index in predicted]


@dataclass(frozen=True, slots=True)
class ScenarioSettings:
    """Builds the setting of each scenario from that of the plan. Orders up to `decide_months` are decided now."""

    setting: PlanningContext
    terms_of: TermsFunction
    decide_months: int

    def build(self, scenario: Scenario) -> PlanningContext:
        """The setting of one scenario; its candidates and resources have the same places as in the plan's."""
        base, values = self.setting, scenario.values
        assumptions = apply_overrides(base.assumptions, values)
        terms = self.terms_of(assumptions)
        needs = tuple(_change_demand(need, values.get(DEMAND, 0.0)) for need in base.demands.needs)
        resources = tuple(apply_price_levels(resource, values) for resource in base.market.resources)
        changed = replace(
            base,
            demands=replace(base.demands, needs=needs),
            assumptions=assumptions,
            terms=terms,
            market=replace(base.market, resources=resources, candidates=()),
        )
        speeds = _CandidateSpeeds(base, changed, scenario)
        rates = hourly_rates(changed.market, assumptions, terms)
        choice = replace(
            base.choice,
            hourly=tuple(speeds.change(candidates) for candidates in base.choice.hourly),
            overflow=tuple(speeds.change(candidates) for candidates in base.choice.overflow),
            rates={number: rates[number] for number in base.choice.rates},
            shared=self._price_shared(changed, speeds),
        )
        return replace(changed, choice=choice)

    def _price_shared(self, changed: PlanningContext, speeds: _CandidateSpeeds) -> tuple[SharedResource, ...]:
        """Orders and commitments at the scenario's prices, with all of their starts."""
        curves: StartCurves = {}
        rows = []
        for item in self.setting.choice.shared:
            resource = apply_price_levels(item.resource, speeds.scenario.values)
            starts = list_starts(resource, curves, changed.assumptions, changed.terms)
            if resource.node is not None and resource.held is None:
                starts = [*self._list_undelivered(replace(item, resource=resource), changed), *starts]
            rows.append(
                replace(item, resource=resource, starts=tuple(starts), candidates=speeds.change(item.candidates))
            )
        return tuple(rows)

    def _list_undelivered(self, item: SharedResource, changed: PlanningContext) -> Iterable[ResourceStart]:
        """Orders of the first months of which nothing works within the horizon."""
        terms, resource = changed.terms, item.resource
        for month in range(1, min(self.decide_months, terms.months) + 1):
            if covered_months(resource, month, changed.assumptions, terms):
                continue
            paid = resource_payments(resource, month, 1, changed.assumptions, terms)
            yield ResourceStart(month, present_cost(paid, terms.discount_rate_monthly), range(0))


@dataclass(frozen=True, slots=True)
class _CandidateSpeeds:
    """Candidates at the throughput and with the interruptions of a scenario."""

    base: PlanningContext
    changed: PlanningContext
    scenario: Scenario

    def change(self, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
        """The candidates at their speeds; without those that are interrupted too often to get anywhere."""
        return tuple(moved for candidate in candidates if (moved := self._change_candidate(candidate)) is not None)

    def _change_candidate(self, candidate: Candidate) -> Candidate | None:
        need = self.base.demands.needs[candidate.need]
        interrupts = self.base.market.resources[candidate.resource].interrupts
        sides = (self.base.assumptions, self.changed.assumptions)
        before, after = (_billed_hours(self.base, candidate, side, interrupts=interrupts) for side in sides)
        if not math.isfinite(after):
            return None
        speed = self._throughput_ratio(need, candidate)
        ratio = speed * before / after
        if ratio == 1:
            return candidate
        rate = replace(candidate.throughput, units_per_hour=candidate.throughput.units_per_hour * speed)
        return candidate._replace(units_per_node_hour=candidate.units_per_node_hour * ratio, throughput=rate)

    def _throughput_ratio(self, need: WorkloadDemand, candidate: Candidate) -> float:
        """The throughput over that planned."""
        if THROUGHPUT in self.scenario.values:
            return self.scenario.values[THROUGHPUT]
        known = candidate.throughput
        rank = self.scenario.values.get(THROUGHPUT_RANK + need.workload.name)
        if rank is None or not known.low < known.high:
            return 1.0
        distance = _normal_distance(min(max(rank, RANK_MIN), 1 - RANK_MIN))
        end = known.high if distance > 0 else known.low
        return float((end / known.units_per_hour) ** abs(distance))


def _billed_hours(base: PlanningContext, candidate: Candidate, assumptions: Assumptions, *, interrupts: bool) -> float:
    need = base.demands.needs[candidate.need]
    return billed_hours(need, candidate.gang, candidate.nodes_per_gang, assumptions, interrupts=interrupts)


@cache
def _normal_distance(rank: float) -> float:
    """How far a rank is from the middle of a normal distribution, in distances from there to the high end."""
    normal = NormalDist()
    return normal.inv_cdf(rank) / normal.inv_cdf(HIGH_RANK)


def _change_demand(need: WorkloadDemand, change_annual: float) -> WorkloadDemand:
    """The demand after a change a year, from the start of the plan on: of each month at its middle, of a deadline at
    its month."""
    if not change_annual:
        return need
    years = [(month if need.deadline is not None else month - 0.5) / 12 for month in range(1, len(need.monthly) + 1)]
    changed = (units * (1 + change_annual) ** year for units, year in zip(need.monthly, years, strict=True))
    return replace(need, monthly=tuple(changed))
