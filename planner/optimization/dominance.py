"""Dominance: removes candidates, starts and places that cannot improve the optimum.

All rules are exact where each workload lives in one place. In this order:

- Regions: of two places with the same instance type, one that has every way of paying of the other, for no more, for
  every workload that can be there, and with no dearer data, replaces it as a whole.
- Starts: a commitment that costs at least as much as all its hours on demand at the same place is useless.
- Commitments at one place, and owned systems among each other: m nodes of one replace one of another if they do at
  least its work for every workload, in at least its months, at no more present cost, for every month of start.
- Places with commitments that are worth it to nobody: if for each workload some place by the hour costs no more than
  the place does with its commitments used in every hour, all that lives there may as well live elsewhere. Work with a
  deadline is done in the dearest of its months there, and here in the cheapest.
- By the hour: of two candidates of one workload, the one that costs no more per unit of work (for standing work: per
  whole node, for any number of nodes) and no more for data dominates; not where a place needs several ways of paying.

Work that shares nodes keeps all of its places by the hour: it may cost nothing where others leave room on a node.

Limits weaken the rules, since cost alone no longer decides: a resource that counts against an enforced quota dominates
none, spot dominates only spot where its share is limited, under a budget only resources with the same timing of
payments are compared, under a limit on carbon none replaces one that emits less, and owned nodes that share limited
power, racks, carbon or operators all remain. With targets on commitments every term at a place remains; a place that
another replaces could still keep a target for less, so the choice is then called partial. Existing capacity is never
removed. What ends within the plan replaces only what ends no later.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple

from planner.finance.cashflow import Terms
from planner.optimization.candidate_dominance import (
    TOLERANCE,
    DominanceSetting,
    Place,
    costs_no_more,
    emission_per_hour,
    find_mixed_places,
    may_replace,
    shares_nodes,
    team_of,
    undominated_hourly,
    without_dominated,
    without_useless_starts,
)
from planner.optimization.home_costs import HomeCosts
from planner.request.assumptions import Assumptions
from planner.supply.candidates import Candidate, Market
from planner.supply.costs import ChoiceSet, SharedResource, build_shared_resources, group_by_need, hourly_rates
from planner.supply.homes import Home, home_of
from planner.supply.limits import LimitRules
from planner.workloads.demand import PortfolioDemand

FULL_COLUMNS = 6_000
"""Markets of at most about so many decisions are not pruned where there are targets on commitments."""


def build_choice_set(
    market: Market, demands: PortfolioDemand, assumptions: Assumptions, terms: Terms, rules: LimitRules | None = None
) -> ChoiceSet:
    """The market without dominated candidates. Owned systems that renting would beat stay: onprem must own."""
    rules = rules or LimitRules()
    slots = [demands.count_slots(need) for need in demands.needs]
    if rules.commitment_targets and sum(slots[c.need] for c in market.candidates) <= FULL_COLUMNS:
        return full_choice_set(market, assumptions, terms, len(demands.needs))
    kept = _undominated_places(market, rules, assumptions)
    here = _keep_places(market, kept)
    rates = hourly_rates(here, assumptions, terms, kept)
    setting = DominanceSetting(
        here, demands.needs, rates, rules, terms, HomeCosts(here, demands, rates, rules, terms), assumptions
    )
    hourly = group_by_need(here, rates, len(demands.needs))
    shared = _kept_at(build_shared_resources(here, assumptions, terms), kept, setting)
    shared = without_useless_starts(shared, setting)
    plain = [item for item in shared if item.resource.held is None and not item.weights]
    others = [item for item in shared if item.resource.held is not None or item.weights]
    shared = [*without_dominated(plain, demands.needs, rules), *others]
    mixed = find_mixed_places(setting)
    by_unit = [
        undominated_hourly(need, candidates, setting, mixed)
        for need, candidates in zip(demands.needs, hourly, strict=True)
    ]
    alone = [_cheapest_home(setting, candidates) for candidates in hourly]
    shared = _kept_at(shared, kept - _worthless_places(setting, alone, by_unit, shared), setting)
    remaining = _hourly_homes(setting, hourly, alone, by_unit, shared)
    owned = {c.need for item in shared if item.resource.node is not None for c in item.candidates}
    overflow = tuple(c if index in owned else () for index, c in enumerate(by_unit))
    used = {c.resource: rates[c.resource] for candidates in (*remaining, *overflow) for c in candidates}
    count = len({*(c for cs in (*remaining, *overflow) for c in cs), *(c for s in shared for c in s.candidates)})
    return ChoiceSet(
        remaining,
        overflow,
        used,
        tuple(shared),
        len(market.candidates),
        len(market.candidates) - count,
        is_partial=bool(rules.commitment_targets),
    )


def full_choice_set(market: Market, assumptions: Assumptions, terms: Terms, needs: int) -> ChoiceSet:
    """The whole market without pruning."""
    rates = hourly_rates(market, assumptions, terms)
    hourly = tuple(tuple(candidates) for candidates in group_by_need(market, rates, needs))
    return ChoiceSet(
        hourly, hourly, rates, tuple(build_shared_resources(market, assumptions, terms)), len(market.candidates), 0
    )


class _HourlyHome(NamedTuple):
    """What a workload costs at least at one home by the hour alone, and the home; infinite and none where no home does
    all of its work."""

    cost: float
    home: Home | None


class _UsedRates(NamedTuple):
    """By month the cost of an hour of a unit in full use, and by place the units that a node-hour there takes."""

    rates: Sequence[float]
    weights: dict[Place, float]


@dataclass(slots=True)
class _PlaceOffer:
    """What a place in the cloud offers: prices by way of paying of each workload, and its placements with data."""

    prices: dict[tuple[int, float, str], float]
    placed: dict[tuple[int, float], Candidate]
    last_month: float = math.inf
    is_fixed: bool = False
    """Whether it stays whatever others offer."""
    kg_per_hour: float = 0.0
    """Emission of a node at work, where carbon is limited."""
    is_limited: bool = False
    """Whether a quota may allow too few of its nodes to take work from elsewhere."""

    def replaces(self, other: _PlaceOffer) -> bool:
        """Whether every workload of `other` may as well be here, in every way of paying."""
        if (
            self.is_limited
            or other.is_fixed
            or self.last_month < other.last_month
            or self.kg_per_hour > other.kg_per_hour
        ):
            return False
        prices, placed = self.prices, self.placed
        for way, price in other.prices.items():
            if prices.get(way, math.inf) > price:
                return False
        for key, candidate in other.placed.items():
            here = placed[key]
            if here.units_per_node_hour < candidate.units_per_node_hour * (1 - TOLERANCE):
                return False
            if not here.around.no_more_than(candidate.around):
                return False
        return True


def _keep_places(market: Market, places: frozenset[Place]) -> Market:
    """The market without the candidates at other places; what is set against committed money stays, since all of its
    prices tell how old that of the money is."""
    resources = market.resources
    stays = [resource.place in places or resource.what == "covered" for resource in resources]
    return replace(market, candidates=tuple(c for c in market.candidates if stays[c.resource]))


def _undominated_places(market: Market, rules: LimitRules, assumptions: Assumptions) -> frozenset[Place]:
    """The places that no other region of the same type replaces; owned systems all stay."""
    offers = _list_place_offers(market, rules, assumptions)
    resources = market.resources
    used = dict.fromkeys(candidate.resource for candidate in market.candidates)
    kept = {resources[number].place for number in used} - offers.keys()
    by_type: dict[tuple[str, str], list[tuple[float, Place, _PlaceOffer]]] = defaultdict(list)
    for place, offer in offers.items():
        by_type[place[0], place[2]].append((math.fsum(offer.prices.values()) / len(offer.prices), place, offer))
    for places in by_type.values():
        undominated: list[_PlaceOffer] = []
        for _, place, offer in sorted(places, key=itemgetter(0, 1)):
            for best in undominated:
                if best.replaces(offer):
                    break
            else:
                undominated.append(offer)
                kept.add(place)
    return frozenset(kept)


def _list_place_offers(market: Market, rules: LimitRules, assumptions: Assumptions) -> dict[Place, _PlaceOffer]:
    """The offer of each place in the cloud."""
    offers, at_place = _open_place_offers(market, rules)
    resources, limits_carbon = market.resources, rules.limits_carbon
    for candidate in market.candidates:
        need, number, gang = candidate[:3]
        if number not in at_place:
            continue
        offer, option, price = at_place[number]
        key, way = (need, gang), (need, gang, option)
        known = offer.placed.get(key)
        if known is None or candidate.units_per_node_hour < known.units_per_node_hour:
            offer.placed[key] = candidate
        if price < offer.prices.get(way, math.inf):
            offer.prices[way] = price
        if limits_carbon:
            offer.kg_per_hour = emission_per_hour(resources[number], rules, assumptions)
    return offers


def _open_place_offers(
    market: Market, rules: LimitRules
) -> tuple[dict[Place, _PlaceOffer], dict[int, tuple[_PlaceOffer, str, float]]]:
    """The offers by place, still without prices, and for each resource with candidates its offer, way of paying and
    price. A place that counts against a quota or has existing capacity is fixed, and one whose committed money covers
    other types of its region too."""
    resources = market.resources
    types: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for resource in resources:
        if resource.pool:
            types[resource.pool].add(resource.name)
    offers: dict[Place, _PlaceOffer] = {}
    at_place: dict[int, tuple[_PlaceOffer, str, float]] = {}
    for number in dict.fromkeys(candidate.resource for candidate in market.candidates):
        resource = resources[number]
        if resource.quote is None:
            continue
        offer = offers.get(resource.place)
        if offer is None:
            offer = offers[resource.place] = _PlaceOffer({}, {})
        at_place[number] = (offer, resource.purchase_option, resource.quote.price.price_per_hour)
        if resource.last_month:
            offer.last_month = min(offer.last_month, resource.last_month)
        if rules.quotas and rules.counted(resource):
            offer.is_limited = True
        pool = resource.pool
        if offer.is_limited or resource.held or (pool and resource.region in pool and len(types[pool]) > 1):
            offer.is_fixed = True
    return offers, at_place


def _kept_at(
    shared: Iterable[SharedResource], places: frozenset[Place], setting: DominanceSetting
) -> list[SharedResource]:
    """Shared resources for their candidates at some places, those without any left out; existing capacity as it is."""
    remaining = []
    for item in shared:
        if item.resource.held is not None:
            remaining.append(item)
        elif candidates := tuple(c for c in item.candidates if setting.place(c) in places):
            used = {c.resource for c in candidates}
            weights = {number: weight for number, weight in item.weights.items() if number in used}
            remaining.append(replace(item, candidates=candidates, weights=weights))
    return remaining


def _worthless_places(
    setting: DominanceSetting,
    alone: Sequence[_HourlyHome],
    by_unit: Sequence[Sequence[Candidate]],
    shared: Sequence[SharedResource],
) -> frozenset[Place]:
    """The places in the cloud whose commitments are worth it to nobody, even if each were used in every hour: every
    workload there has another place by the hour that costs no more. Whoever lives there may as well live elsewhere."""
    if setting.limits_places:
        return frozenset()
    used_rates = _spread_costs(setting, shared)
    least = {spot: _fully_used_rates(setting, used_rates, spot=spot) for spot in (False, True)}
    resources = setting.market.resources
    worthwhile = {item.resource.place for item in shared if item.resource.held or item.resource.node}
    offered: set[Place] = set()
    for item in shared:
        for candidate in item.candidates:
            need, place = setting.needs[candidate.need], setting.place(candidate)
            offered.add(place)
            if place in worthwhile:
                continue
            rates = least[need.workload.interruptible][place]
            if shares_nodes(need):
                beaten = False
            elif need.may_spread:
                team = team_of(candidate, need, setting)
                beaten = any(
                    team_of(best, need, setting) == team
                    and may_replace(resources[best.resource], item.resource, need, setting.rules)
                    and costs_no_more(best, candidate, need, setting.rates, rates)
                    for best in by_unit[candidate.need]
                )
            else:
                beaten = setting.costs.at_least(candidate, rates) >= alone[candidate.need].cost
            if not beaten:
                worthwhile.add(place)
    return frozenset(offered - worthwhile)


def _cheapest_home(setting: DominanceSetting, candidates: Iterable[Candidate]) -> _HourlyHome:
    """The home by the hour that costs least; of equals the one with the smallest nodes, then by name."""
    ways: dict[Home, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        ways[home_of(candidate, setting.market.resources)].append(candidate)
    resources = setting.market.resources
    ranked = sorted(
        # equal but for rounding is equal
        (float(f"{cost:.9g}"), resources[each[0].resource].accelerators_per_node, home, cost)
        for home, each in ways.items()
        if math.isfinite(cost := setting.costs.by_the_hour(each))
    )
    return _HourlyHome(ranked[0][3], ranked[0][2]) if ranked else _HourlyHome(math.inf, None)


def _hourly_homes(
    setting: DominanceSetting,
    hourly: Sequence[Sequence[Candidate]],
    alone: Sequence[_HourlyHome],
    by_unit: Sequence[Sequence[Candidate]],
    shared: Iterable[SharedResource],
) -> tuple[tuple[Candidate, ...], ...]:
    """The candidates by the hour: of each workload at its cheapest place, and next to commitments. All that no other
    dominates for work that may be divided, and where limits make the choice of a place matter. Of work with a deadline
    also those that cost less in their cheapest month than the cheapest place in its dearest."""
    opened: dict[int, set[Place]] = defaultdict(set)
    for item in shared:
        for candidate in item.candidates:
            opened[candidate.need].add(setting.place(candidate))
    remaining = []
    for index, (candidates, undominated) in enumerate(zip(hourly, by_unit, strict=True)):
        home, need = alone[index].home, setting.needs[index]
        places = opened[index]
        kept = set()
        if home is None:  # no place does all of it by the hour alone
            kept = set(undominated)
        elif setting.limits_places or need.may_spread or shares_nodes(need):
            places |= {setting.place(c) for c in undominated}
        else:
            places |= {home.place, *(setting.place(c) for c in undominated if _may_cost_less(c, alone[index], setting))}
        there = [c for c in candidates if c in kept or setting.place(c) in places]
        apart = frozenset((c.need, setting.place(c)) for c in there)
        best = set(undominated_hourly(need, there, setting, apart))  # spot is not taken at the price of on demand
        remaining.append(tuple(c for c in there if c in best))
    return tuple(remaining)


def _may_cost_less(candidate: Candidate, cheapest: _HourlyHome, setting: DominanceSetting) -> bool:
    """Whether work by the hour may cost less on a candidate than at the cheapest home: its type ends within the plan,
    or the months in which work with a deadline is done matter."""
    if setting.market.resources[candidate.resource].last_month is not None:
        return True
    if setting.needs[candidate.need].deadline is None:
        return False
    return setting.costs.at_least(candidate, setting.rates[candidate.resource]) < cheapest.cost


def _fully_used_rates(
    setting: DominanceSetting, used_rates: Sequence[_UsedRates], *, spot: bool
) -> dict[Place, tuple[float, ...]]:
    """By place with a shared resource, the least present cost of a node-hour in each month: by the hour (on `spot` or
    not), or of a commitment that is used in every hour."""
    ways: dict[Place, list[Sequence[float]]] = defaultdict(list)
    for used in used_rates:
        for place, weight in used.weights.items():
            ways[place].append(used.rates if weight == 1 else [rate * weight for rate in used.rates])
    resources = setting.market.resources
    for number, rates in setting.rates.items():
        resource = resources[number]
        if resource.place in ways and (spot or not resource.interrupts):
            ways[resource.place].append(rates)
    return {place: tuple(map(min, zip(*each, strict=True))) for place, each in ways.items()}


def _spread_costs(setting: DominanceSetting, shared: Iterable[SharedResource]) -> list[_UsedRates]:
    """Of each shared resource, by month the least cost of an hour of a unit that is used in every hour, spread evenly
    over the months of its start."""
    resources, spread = setting.market.resources, []
    for item in shared:
        rates, hours = [math.inf] * setting.terms.months, item.hours(setting.terms.hours_per_month)
        for start in item.starts:
            an_hour = start.present_cost / (len(start.covers) * hours)
            for month in start.covers:
                rates[month - 1] = min(rates[month - 1], an_hour)
        weights = {resources[c.resource].place: item.weight(c) for c in item.candidates}
        spread.append(_UsedRates(rates, weights))
    return spread
