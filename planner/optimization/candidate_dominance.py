"""Dominance among candidates, commitments and owned systems: what another replaces for no more. The rules and the order
in which they hold are told in `dominance.py`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from planner.finance.cashflow import Terms
from planner.optimization.home_costs import HomeCosts
from planner.request.assumptions import Assumptions
from planner.supply.candidates import Candidate, Market
from planner.supply.carbon import node_energy
from planner.supply.costs import HourlyRates, SharedResource
from planner.supply.homes import gang_type, has_fixed_gang_type, round_up_to_gangs
from planner.supply.limits import LimitRules
from planner.supply.resources import Resource
from planner.workloads.demand import WorkloadDemand
from planner.workloads.placement import parallel_limit
from pricing.frozen_values import dataclass

TOLERANCE = 1e-9
Place = tuple[str, ...]
NeedPlace = tuple[int, Place]


@dataclass(frozen=True, slots=True)
class DominanceSetting:
    """What all rules need: the market with its rates, the workloads, the limits and the terms."""

    market: Market
    needs: Sequence[WorkloadDemand]
    rates: HourlyRates
    rules: LimitRules
    terms: Terms
    costs: HomeCosts
    assumptions: Assumptions

    @property
    def limits_places(self) -> bool:
        """Whether a limit makes the choice of a place matter to other workloads."""
        rules = self.rules
        return rules.budgets or bool(rules.quotas) or rules.limits_carbon or bool(rules.commitment_targets)

    def kg_per_hour(self, candidate: Candidate) -> float:
        return emission_per_hour(self.market.resources[candidate.resource], self.rules, self.assumptions)

    def place(self, candidate: Candidate) -> Place:
        return self.market.resources[candidate.resource].place


def emission_per_hour(resource: Resource, rules: LimitRules, assumptions: Assumptions) -> float:
    """Emission of an hour of work of a node, where carbon is limited and so is known."""
    return node_energy(resource, rules.carbon, assumptions).extra_kg_per_hour or 0.0


def without_useless_starts(shared: Iterable[SharedResource], setting: DominanceSetting) -> list[SharedResource]:
    """Commitments to nodes without the starts that cost no less than all their hours on demand at the same place."""
    resources = setting.market.resources
    on_demand: dict[Place, tuple[float, ...]] = {}
    if not (setting.rules.budgets or setting.rules.commitment_targets):
        for number, rates in setting.rates.items():
            resource = resources[number]
            if resource.purchase_option == "on_demand" and not setting.rules.counted(resource):
                on_demand[resource.place] = rates
    remaining = []
    for item in shared:
        hourly = on_demand.get(item.resource.place)
        if hourly is None or item.resource.held is not None or item.weights:
            remaining.append(item)
            continue
        hours = item.hours(setting.terms.hours_per_month)
        starts = tuple(
            start
            for start in item.starts
            if start.present_cost < hours * math.fsum(hourly[start.covers.start - 1 : start.covers.stop - 1])
        )
        if starts:
            remaining.append(replace(item, starts=starts))
    return remaining


def team_of(candidate: Candidate, need: WorkloadDemand, setting: DominanceSetting) -> tuple[str, float] | None:
    """The gang type of a job that does not change it; None of other workloads."""
    return gang_type(candidate, setting.market.resources) if has_fixed_gang_type(need) else None


def find_mixed_places(setting: DominanceSetting) -> frozenset[NeedPlace]:
    """The places where a workload may need on demand beside spot, of which only a part is allowed."""
    limited = [setting.rules.spot_share(need) < 1 for need in setting.needs]
    if not any(limited):
        return frozenset()
    ways: dict[NeedPlace, set[str]] = defaultdict(set)
    for candidate in setting.market.candidates:
        resource = setting.market.resources[candidate.resource]
        if candidate.resource in setting.rates and limited[candidate.need]:
            ways[candidate.need, resource.place].add(resource.purchase_option)
    return frozenset(place for place, options in ways.items() if len(options) > 1)


def shares_nodes(need: WorkloadDemand) -> bool:
    """Whether its nodes are not its own: it may cost nothing where others leave room, and a whole node elsewhere."""
    return need.serving and need.workload.shares_nodes


def undominated_hourly(
    need: WorkloadDemand, candidates: Iterable[Candidate], setting: DominanceSetting, opened: frozenset[NeedPlace]
) -> tuple[Candidate, ...]:
    """The candidates by the hour that no other of the same workload dominates; in an open place, no other there."""
    resources, rates = setting.market.resources, setting.rates
    ordered = sorted(
        candidates,
        key=lambda c: (
            float(f"{rates[c.resource][0] / c.units_per_node_hour:.9g}"),  # equal but for rounding is equal
            c.around.total,
            resources[c.resource].accelerators_per_node,
            resources[c.resource].key,
            c.gang,
        ),
    )
    if shares_nodes(need):
        return tuple(ordered)
    undominated: list[Candidate] = []
    teams: dict[tuple[str, float] | None, list[Candidate]] = defaultdict(list)
    for candidate in ordered:
        place = setting.place(candidate)
        stays = (candidate.need, place) in opened
        team = teams[team_of(candidate, need, setting)]
        if not any(
            not (stays and setting.place(best) != place)
            and costs_no_more(best, candidate, need, rates, rates[candidate.resource])
            and may_replace(resources[best.resource], resources[candidate.resource], need, setting.rules)
            and _emits_no_more(best, candidate, need, setting)
            for best in team
        ):
            team.append(candidate)
            undominated.append(candidate)
    return tuple(undominated)


def may_replace(best: Resource, other: Resource, need: WorkloadDemand, rules: LimitRules) -> bool:
    """Whether limits allow any amount of `best` to replace `other`, in every month in which it works."""
    if best.last_month is not None and (other.last_month is None or best.last_month < other.last_month):
        return False
    if rules.counted(best):
        return False
    return rules.spot_share(need) == 1 or not best.interrupts or other.interrupts


def costs_no_more(
    best: Candidate, other: Candidate, need: WorkloadDemand, rates: HourlyRates, other_rates: Sequence[float]
) -> bool:
    """Whether `best` by the hour does all that `other` (of the same team where jobs are limited) does, for no more than
    `other_rates` a node-hour."""
    if best.around.total > other.around.total or not _has_replicas_alike(best, other, need):
        return False
    if parallel_limit(need) is not None and best.gang_rate < other.gang_rate * (1 - TOLERANCE):
        return False
    # the fewest nodes that standing work takes at a time, and nodes of `best` that do as much
    step = other.nodes_per_gang
    instead = _replacement_nodes(best, other.units_per_node_hour * step, need)
    if need.workload.spare_replicas:  # a spare gang must cost no more as well
        instead = max(instead, best.granule / other.granule * step)
    return all(
        instead * rate <= other_rate * step * (1 + TOLERANCE)
        for rate, other_rate in zip(rates[best.resource], other_rates, strict=True)
    )


def _has_replicas_alike(best: Candidate, other: Candidate, need: WorkloadDemand) -> bool:
    """Whether replicas of one do as much as so many of the other: those of a queue are not in proportion to work, and
    where a service is divided over places the parts of it are parts of replicas, whose number is rounded."""
    if best.queue != other.queue:
        return False
    return not (need.serving and need.may_spread) or math.isclose(best.gang_rate, other.gang_rate, rel_tol=TOLERANCE)


def _emits_no_more(best: Candidate, other: Candidate, need: WorkloadDemand, setting: DominanceSetting) -> bool:
    """Whether `best` emits no more than `other` for any amount of work; of no matter without a limit on carbon."""
    if not setting.rules.limits_carbon:
        return True
    carbon = {c.resource: (setting.kg_per_hour(c),) for c in (best, other)}
    return costs_no_more(best, other, need, carbon, carbon[other.resource])


def _replacement_nodes(best: Candidate, units_per_hour: float, need: WorkloadDemand) -> float:
    """Nodes of `best` by the hour that do `units_per_hour`: whole gangs of nodes for a service, else any part of
    one."""
    nodes = units_per_hour / best.units_per_node_hour
    return round_up_to_gangs(nodes, best.nodes_per_gang, TOLERANCE) if need.serving else nodes


def without_dominated(
    shared: Sequence[SharedResource], needs: Sequence[WorkloadDemand], rules: LimitRules
) -> list[SharedResource]:
    """The resources that no other replaces. Cheaper ones are tried first, ties by key, so that one of two equals
    stays."""
    ordered = sorted(shared, key=lambda s: (s.starts[0].present_cost, s.resource.key))
    undominated: list[SharedResource] = []
    for item in ordered:
        if not any(_are_comparable(best, item, rules) and _dominates_shared(best, item, needs) for best in undominated):
            undominated.append(item)
    return sorted(undominated, key=lambda s: s.resource.key)


def _are_comparable(best: SharedResource, item: SharedResource, rules: LimitRules) -> bool:
    """Whether cost alone decides between two resources under the limits: commitments at one place, owned systems."""
    if best.resource.node is None and best.resource.place != item.resource.place:
        return False
    if best.resource.what != item.resource.what or best.by_month != item.by_month or rules.counted(best.resource):
        return False
    limits = rules.limits
    if item.resource.node is not None:
        return not (
            rules.budgets
            or rules.limits_carbon
            or limits.owned_power_kw
            or limits.owned_racks
            or rules.site.staff == "whole"
        )
    a, b = best.resource.quote, item.resource.quote
    assert a is not None
    assert b is not None
    if rules.commitment_targets and a.price.term_months != b.price.term_months:
        return False
    return not rules.budgets or (a.price.term_months, a.price.upfront) == (b.price.term_months, b.price.upfront)


def _dominates_shared(best: SharedResource, item: SharedResource, needs: Sequence[WorkloadDemand]) -> bool:
    """Whether some whole number of units of `best` does all that one unit of `item` does, for no more."""
    copies = _replacement_copies(best, item, needs)
    if copies is None:
        return False
    starts = {start.month: start for start in best.starts}
    for start in item.starts:
        other = starts.get(start.month)
        if other is None or other.covers.stop < start.covers.stop or other.covers.start > start.covers.start:
            return False
        if other.present_cost * copies > start.present_cost * (1 + TOLERANCE):
            return False
    return True


def _replacement_copies(best: SharedResource, item: SharedResource, needs: Sequence[WorkloadDemand]) -> int | None:
    """Units of `best` that replace one of `item` for every workload; None where they cannot."""
    offered = {(c.need, c.gang): c for c in best.candidates}
    copies = 1
    for candidate in item.candidates:
        other = offered.get((candidate.need, candidate.gang))
        need = needs[candidate.need]
        if other is None or not other.around.no_more_than(candidate.around):
            return None
        if not _has_replicas_alike(other, candidate, need):
            return None
        same = best.resource.accelerator == item.resource.accelerator
        if not same and parallel_limit(need) is not None:
            return None
        if not _use_is_cheaper(best, other, item, candidate):
            return None
        copies = max(copies, math.ceil(candidate.units_per_node_hour / other.units_per_node_hour - TOLERANCE))
        if need.workload.spare_replicas:
            copies = max(copies, math.ceil(other.granule / candidate.granule - TOLERANCE))
        if copies * candidate.nodes_per_gang < other.nodes_per_gang:
            return None
    return copies


def _use_is_cheaper(best: SharedResource, other: Candidate, item: SharedResource, candidate: Candidate) -> bool:
    """Whether use itself costs no more for each unit of work (the power of owned nodes at work)."""
    if not best.use_costs:
        return True
    if not item.use_costs:
        return False
    ratio = candidate.units_per_node_hour / other.units_per_node_hour
    return all(a * ratio <= b * (1 + TOLERANCE) for a, b in zip(best.use_costs, item.use_costs, strict=True))
