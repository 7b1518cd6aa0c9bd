"""Dominance: removes candidates and starts that cannot improve the optimum.

All rules are exact. By the hour: of two candidates of one workload, the one that costs no more per unit of work (for
serving: per whole node, for any number of nodes) and no more for data dominates. Committed or owned: m nodes of one
resource replace one of another if they do at least its work for every workload, in at least its months, at no more
present cost, for every month of start. A start is useless if it costs at least as much as all its hours could save
against the cheapest use by the hour.

Limits weaken the rules, since cost alone no longer decides: a resource that counts against an enforced quota dominates
none, spot dominates only spot where its share is limited, under a budget only resources with the same timing of
payments are compared, and owned nodes that share limited power, racks or operators all remain. Committed money and
existing capacity are never removed. What ends within the plan replaces only what ends no later.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from planner.finance.cashflow import Terms
from planner.request.assumptions import Assumptions
from planner.supply.candidates import Candidate, Market, Resource, gang_type, has_fixed_gang_type, round_up_to_gangs
from planner.supply.costs import (
    ChoiceSet,
    HourlyRates,
    SharedResource,
    build_shared_resources,
    group_by_need,
    hourly_rates,
)
from planner.supply.limits import LimitRules
from planner.supply.payments import data_payments, data_share_per_unit
from planner.supply.purchase_options import load_purchase_options
from planner.workloads.demand import PortfolioDemand, WorkloadDemand
from planner.workloads.placement import parallel_limit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TOLERANCE = 1e-9


def build_choice_set(
    market: Market, demands: PortfolioDemand, assumptions: Assumptions, terms: Terms, rules: LimitRules | None = None
) -> ChoiceSet:
    """The market without dominated candidates. Owned systems that renting would beat stay: onprem must own."""
    rules = rules or LimitRules()
    rates = hourly_rates(market, assumptions, terms)
    resources = market.resources
    mixed = _mixed_places(market, demands.needs)
    hourly = [
        _undominated_hourly(need, candidates, resources, rates, rules, mixed)
        for need, candidates in zip(demands.needs, group_by_need(market, rates, len(demands.needs)), strict=True)
    ]
    supply = build_shared_resources(market, assumptions, terms)
    plain = [item for item in supply if _is_removable(item)]
    plain = _cheapest_equivalents(plain, rules)
    plain = _without_useless_starts(plain, demands, hourly, rates, market, terms, rules)
    plain = _without_dominated(plain, demands.needs, rules)
    pools = [_undominated_cover(item, demands.needs, resources, rules, mixed) for item in supply if item.weights]
    shared = [*plain, *pools, *(item for item in supply if item.resource.held is not None)]
    remaining = sum(len(c) for c in hourly) + sum(len(s.candidates) for s in shared)
    used = {c.resource: rates[c.resource] for candidates in hourly for c in candidates}
    return ChoiceSet(tuple(hourly), used, tuple(shared), len(market.candidates), len(market.candidates) - remaining)


def full_choice_set(market: Market, assumptions: Assumptions, terms: Terms, needs: int) -> ChoiceSet:
    """The whole market without pruning, as a reference for tests."""
    rates = hourly_rates(market, assumptions, terms)
    hourly = tuple(tuple(candidates) for candidates in group_by_need(market, rates, needs))
    return ChoiceSet(
        hourly, rates, tuple(build_shared_resources(market, assumptions, terms)), len(market.candidates), 0
    )


def _is_removable(item: SharedResource) -> bool:
    return item.resource.held is None and not item.weights


NeedPlace = tuple[int, tuple[str, ...]]


def node_place(candidate: Candidate, resources: Sequence[Resource]) -> tuple[str, ...]:
    """Provider, region and type."""
    return resources[candidate.resource].key[:3]


def _mixed_places(market: Market, needs: Sequence[WorkloadDemand]) -> frozenset[NeedPlace]:
    """The types and places where a service can rent under several options at once (on demand, spot, committed money).

    A service stays in one place, so there an option may be needed to complement another.
    """
    ways: dict[NeedPlace, set[str]] = defaultdict(set)
    for candidate in market.candidates:
        resource = market.resources[candidate.resource]
        if needs[candidate.need].serving and resource.what in ("hourly", "covered"):
            ways[candidate.need, node_place(candidate, market.resources)].add(resource.purchase_option)
    return frozenset(place for place, options in ways.items() if len(options) > 1)


def _undominated_hourly(
    need: WorkloadDemand,
    candidates: Iterable[Candidate],
    resources: Sequence[Resource],
    rates: HourlyRates,
    rules: LimitRules,
    mixed: frozenset[NeedPlace],
) -> tuple[Candidate, ...]:
    """The candidates by the hour that no other of the same workload dominates; in a mixed place, no other there."""
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
    undominated: list[Candidate] = []
    rivals: dict[object, list[Candidate]] = {}  # a job with a fixed gang type is replaced within that type only
    for candidate in ordered:
        others = rivals.setdefault(gang_type(candidate, resources) if has_fixed_gang_type(need) else None, [])
        place = node_place(candidate, resources)
        stays = (candidate.need, place) in mixed
        if not any(
            not (stays and node_place(best, resources) != place)
            and _dominates_hourly(best, candidate, need, rates)
            and _may_replace(resources[best.resource], resources[candidate.resource], need, rules)
            for best in others
        ):
            others.append(candidate)
            undominated.append(candidate)
    return tuple(undominated)


def _may_replace(best: Resource, other: Resource, need: WorkloadDemand, rules: LimitRules) -> bool:
    """Whether limits allow any amount of `best` to replace `other`, in every month in which it works."""
    if best.last_month is not None and (other.last_month is None or best.last_month < other.last_month):
        return False
    if rules.counted(best):
        return False
    return rules.spot_share(need) == 1 or not _is_spot(best) or _is_spot(other)


def _is_spot(resource: Resource) -> bool:
    return resource.quote is not None and load_purchase_options()[resource.quote.price.kind].INTERRUPTS


def _dominates_hourly(best: Candidate, other: Candidate, need: WorkloadDemand, rates: HourlyRates) -> bool:
    """Whether `best` by the hour does all that `other` (of the same team where jobs are limited) does, for no more."""
    if best.around.total > other.around.total:
        return False
    if parallel_limit(need) is not None and best.gang_rate < other.gang_rate * (1 - TOLERANCE):
        return False
    step = other.nodes_per_gang  # the fewest nodes by the hour that a service takes at a time
    instead = _replacement_nodes(best, other.units_per_node_hour * step, need)
    if need.workload.spare_replicas:  # a spare gang must cost no more as well
        instead = max(instead, best.granule / other.granule * step)
    # Prices change as powers of time, so the ratio of two is monotone: the first and the last month decide.
    return all(
        instead * rates[best.resource][month] <= rates[other.resource][month] * step * (1 + TOLERANCE)
        for month in (0, -1)
    )


def _replacement_nodes(best: Candidate, units_per_hour: float, need: WorkloadDemand) -> float:
    """Nodes of `best` by the hour that do `units_per_hour`: whole gangs of nodes for a service, else any part of
    one."""
    nodes = units_per_hour / best.units_per_node_hour
    return round_up_to_gangs(nodes, best.nodes_per_gang, TOLERANCE) if need.serving else nodes


def _cheapest_equivalents(shared: Iterable[SharedResource], rules: LimitRules) -> list[SharedResource]:
    """Of commitments that differ only in price and region, the cheapest; those that count against quotas all stay."""
    cheapest: dict[tuple[object, ...], SharedResource] = {}
    for item in shared:
        quote = item.resource.quote
        if quote is None or rules.counted(item.resource):
            cheapest[item.resource.key,] = item
            continue
        price = quote.price
        like = (
            price.provider,
            price.instance_type,
            price.kind,
            price.term_months,
            price.upfront,
            item.resource.last_start,
        )
        uses = tuple((c.need, c.gang, c.units_per_node_hour, c.around) for c in item.candidates)
        best = cheapest.setdefault((like, uses), item)
        if (item.starts[0].present_cost, item.resource.key) < (best.starts[0].present_cost, best.resource.key):
            cheapest[like, uses] = item
    return sorted(cheapest.values(), key=lambda item: item.resource.key)


def _undominated_cover(
    item: SharedResource,
    needs: Sequence[WorkloadDemand],
    resources: Sequence[Resource],
    rules: LimitRules,
    mixed: frozenset[NeedPlace],
) -> SharedResource:
    """Committed money with those candidates that no other candidate it covers dominates at the plan's rates."""
    rates = {number: (weight,) for number, weight in item.weights.items()}
    undominated: list[Candidate] = []
    for index in dict.fromkeys(candidate.need for candidate in item.candidates):
        of_need = [candidate for candidate in item.candidates if candidate.need == index]
        undominated += _undominated_hourly(needs[index], of_need, resources, rates, rules, mixed)
    return replace(
        item, candidates=tuple(undominated), weights={c.resource: item.weights[c.resource] for c in undominated}
    )


def _without_useless_starts(
    shared: Iterable[SharedResource],
    demands: PortfolioDemand,
    hourly: Sequence[Sequence[Candidate]],
    rates: HourlyRates,
    market: Market,
    terms: Terms,
    rules: LimitRules,
) -> list[SharedResource]:
    """Commitments without the starts that cost at least as much as all their hours could save. Owned systems stay."""
    import numpy as np

    hour = np.array([rates.get(number, (math.nan,) * terms.months) for number in range(len(market.resources))])
    remaining = []
    for item in shared:
        if item.resource.what == "owned" or rules.budgets:
            remaining.append(item)
            continue
        uses = [
            (
                candidate,
                need,
                _hourly_substitutes(item, candidate, need, hourly[candidate.need], market.resources, rules),
            )
            for candidate in item.candidates
            for need in (demands.needs[candidate.need],)
        ]
        savings = item.hours(terms.hours_per_month) * _hourly_savings(uses, hour, market, terms)
        starts = tuple(
            start
            for start in item.starts
            if start.present_cost < math.fsum(savings[month - 1] for month in start.covers)
        )
        if starts:
            remaining.append(replace(item, starts=starts))
    return remaining


def _hourly_savings(
    uses: Iterable[tuple[Candidate, WorkloadDemand, list[Candidate]]], rates: Floats, market: Market, terms: Terms
) -> Floats:
    """By month, an upper bound on the saving of an hour of one node, given its possible uses and their substitutes by
    the hour (at `rates`, by resource and month); infinite without a substitute.

    Its hour is divided among workloads: the part of services saves whole nodes, so each may save as much as the whole
    hour would; the others share the rest, which saves no more than all of it on the best of them.
    """
    import numpy as np

    services, rest = np.zeros(terms.months), np.zeros(terms.months)
    for candidate, need, others in uses:
        share = np.array([data_share_per_unit(need, month) for month in range(1, terms.months + 1)])
        due = share > 0
        if not others or need.workload.spare_replicas:
            services[due] = math.inf
            continue
        units = candidate.units_per_node_hour
        own = _monthly_data_cost(need, candidate, market, terms)
        more = np.array([max(0.0, _monthly_data_cost(need, other, market, terms) - own) for other in others])
        replacing = np.array([_replacement_nodes(other, units, need) for other in others])
        each = replacing[:, None] * rates[[other.resource for other in others]] + more[:, None] * share * units
        # Storage and egress are not discounted: an upper bound on the saving of a better place. A service rents one
        # type only, so the most expensive substitute bounds its saving; other work takes the cheapest.
        saved = np.where(due, each.max(axis=0) if need.serving else each.min(axis=0), 0.0)
        if need.serving:
            services += saved
        else:
            rest = np.maximum(rest, saved)
    return services + rest


def _monthly_data_cost(need: WorkloadDemand, candidate: Candidate, market: Market, terms: Terms) -> float:
    """Storage, egress and transfer of all the work of a month."""
    month = next((month for month in range(1, terms.months + 1) if data_share_per_unit(need, month)), 0)
    if not month:
        return 0.0
    resource, units = market.resources[candidate.resource], 1 / data_share_per_unit(need, month)
    return math.fsum(p.amount for p in data_payments(need, candidate, resource, month, units, terms))


def _hourly_substitutes(
    item: SharedResource,
    candidate: Candidate,
    need: WorkloadDemand,
    hourly: Sequence[Candidate],
    resources: Sequence[Resource],
    rules: LimitRules,
) -> list[Candidate]:
    """Candidates by the hour that, in any number, could replace `candidate`: all; if gangs at once are limited, those
    no slower; for a job with a fixed gang type, of that type only."""
    hourly = [other for other in hourly if _may_replace(resources[other.resource], item.resource, need, rules)]
    if parallel_limit(need) is None:
        return hourly
    rate = candidate.gang_rate * (1 - TOLERANCE)
    as_fast = [other for other in hourly if other.gang_rate >= rate]
    if not has_fixed_gang_type(need):
        return as_fast
    own_type = (item.resource.accelerator, candidate.gang)
    return [other for other in as_fast if gang_type(other, resources) == own_type]


def _without_dominated(
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
    """Whether cost alone decides between two resources under the limits."""
    if best.resource.what != item.resource.what or best.by_month != item.by_month or rules.counted(best.resource):
        return False
    limits = rules.limits
    if item.resource.node is not None:
        return not (rules.budgets or limits.owned_power_kw or limits.owned_racks or rules.site.staff == "whole")
    a, b = best.resource.quote, item.resource.quote
    assert a is not None
    assert b is not None
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
        if other is None or not other.around.no_more_than(candidate.around):
            return None
        need = needs[candidate.need]
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
