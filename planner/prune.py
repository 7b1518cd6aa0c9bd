"""What can be left out without changing the optimum, and the present cost of one node-hour or one node of what stays.

Exact rules only. By the hour: of two candidates of one workload, one that costs no more per unit of work (for
serving: per whole node, whatever number replaces it) and no more for data. Committed or owned: m nodes of one
resource replace one of another where they do at least its work for every workload, in at least its months, for no
more present cost, whatever the month of the start. And a start is useless where it costs at least what all its hours
could save against the cheapest use by the hour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from planner.assumptions import Assumptions
from planner.candidates import Candidate, Market, Resource, keeps_team, parallel_limit, team
from planner.cashflow import Terms, present_cost
from planner.demand import Demands, Need
from planner.paying import around_per_unit, covers, payments_of
from pricing.catalog import Quote

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Start:
    """Ordering or committing one node at the start of `month`: its present cost and the months it then covers."""

    month: int
    present_cost: float
    covers: range


@dataclass(frozen=True, slots=True)
class Shared:
    """A resource that workloads share: paid per node from a start, used by any of `candidates`."""

    resource: Resource
    starts: tuple[Start, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What the solver may choose from. `hourly[need]` are candidates by the hour; `rates` their present cost per
    node-hour by month (index 0 is month 1), by resource number."""

    hourly: tuple[tuple[Candidate, ...], ...]
    rates: dict[int, tuple[float, ...]]
    shared: tuple[Shared, ...]
    candidates: int
    pruned: int


def choose_from(market: Market, demands: Demands, assumptions: Assumptions, terms: Terms) -> Choice:
    """The market less what is dominated. Owned starts that renting would beat stay: a strategy may insist on owning."""
    hourly_rates = _hourly_rates(market, assumptions, terms)
    hourly: list[tuple[Candidate, ...]] = []
    grouped: dict[int, list[Candidate]] = {}
    by_need: list[list[Candidate]] = [[] for _ in demands.needs]
    for candidate in market.candidates:
        if market.resources[candidate.resource].what == "hourly":
            by_need[candidate.need].append(candidate)
        else:
            grouped.setdefault(candidate.resource, []).append(candidate)
    for need, candidates in zip(demands.needs, by_need, strict=True):
        hourly.append(_best_hourly(need, candidates, market.resources, hourly_rates))
    shared = _starts(market, grouped, assumptions, terms)
    shared = _without_useless(shared, demands, hourly, hourly_rates, market.resources, terms)
    shared = _without_dominated(shared, demands.needs)
    kept = sum(len(c) for c in hourly) + sum(len(s.candidates) for s in shared)
    used = {c.resource: hourly_rates[c.resource] for candidates in hourly for c in candidates}
    return Choice(tuple(hourly), used, tuple(shared), len(market.candidates), len(market.candidates) - kept)


def _hourly_rates(market: Market, assumptions: Assumptions, terms: Terms) -> dict[int, tuple[float, ...]]:
    """Present cost of a node-hour in each month, by resource. Payments are in proportion to the price: one curve per
    kind."""
    curves: dict[str, tuple[float, ...]] = {}
    rates = {}
    for number, resource in enumerate(market.resources):
        if resource.what != "hourly" or resource.quote is None:
            continue
        price = resource.quote.price
        if price.kind not in curves:
            unit = _at_unit_price(resource, resource.quote)
            curves[price.kind] = tuple(
                present_cost(payments_of(unit, month, 1.0, assumptions, terms), terms.discount_rate_monthly)
                for month in range(1, terms.months + 1)
            )
        rates[number] = tuple(price.price_per_hour * factor for factor in curves[price.kind])
    return rates


def _at_unit_price(resource: Resource, quote: Quote) -> Resource:
    """The resource at a price of 1 an hour: payments are in proportion to the price."""
    return replace(resource, quote=replace(quote, price=replace(quote.price, price_per_hour=1.0)))


def _best_hourly(
    need: Need, candidates: Iterable[Candidate], resources: Sequence[Resource], rates: dict[int, tuple[float, ...]]
) -> tuple[Candidate, ...]:
    """The candidates by the hour that no other of the same workload dominates. Rates of all months move together."""
    limited = parallel_limit(need) is not None
    ordered = sorted(
        candidates,
        key=lambda c: (
            float(f"{rates[c.resource][0] / c.units_per_node_hour:.9g}"),  # equal but for rounding is equal
            c.storage + c.egress,
            resources[c.resource].accelerators_per_node,
            resources[c.resource].key,
            c.gang,
        ),
    )
    kept: list[Candidate] = []
    rivals: dict[object, list[Candidate]] = {}  # a job that keeps one team is replaced within that team only
    for candidate in ordered:
        others = rivals.setdefault(team(candidate, resources) if keeps_team(need) else None, [])
        if not any(_outdoes(best, candidate, need, rates, limited) for best in others):
            others.append(candidate)
            kept.append(candidate)
    return tuple(kept)


def _outdoes(best: Candidate, other: Candidate, need: Need, rates: dict[int, tuple[float, ...]], limited: bool) -> bool:
    """Whether `best` by the hour does all that `other` (of the same team where jobs are limited) does, for no more."""
    if best.storage + best.egress > other.storage + other.egress:
        return False
    if limited and _gang_rate(best) < _gang_rate(other) * (1 - TOLERANCE):
        return False
    step = other.nodes_per_gang  # the fewest nodes by the hour that a service takes at a time
    instead = _replacing(best, other.units_per_node_hour * step, need) * rates[best.resource][0]
    return instead <= rates[other.resource][0] * step * (1 + TOLERANCE)


def _replacing(best: Candidate, units_per_hour: float, need: Need) -> float:
    """Nodes of `best` by the hour that do `units_per_hour`: whole gangs of nodes for a service, else any part of
    one."""
    nodes = units_per_hour / best.units_per_node_hour
    if not need.serving:
        return nodes
    return math.ceil(nodes / best.nodes_per_gang - TOLERANCE) * best.nodes_per_gang


def _gang_rate(candidate: Candidate) -> float:
    """Work per hour of one gang."""
    return candidate.units_per_node_hour * candidate.granule


def _starts(
    market: Market, grouped: dict[int, list[Candidate]], assumptions: Assumptions, terms: Terms
) -> list[Shared]:
    """Every shared resource with all its starts; of rows that differ only in price (regions, say) the cheapest."""
    cheapest: dict[tuple[object, ...], int] = {}
    for number, candidates in grouped.items():
        resource = market.resources[number]
        if resource.quote is None:
            cheapest[number,] = number
            continue
        price = resource.quote.price
        like = (price.provider, price.instance_type, price.kind, price.term_months, price.upfront)
        uses = tuple((c.need, c.gang, c.units_per_node_hour, c.storage, c.egress) for c in candidates)
        best = cheapest.setdefault((like, uses), number)
        other = market.resources[best].quote
        assert other is not None
        if (price.price_per_hour, resource.key) < (other.price.price_per_hour, market.resources[best].key):
            cheapest[like, uses] = number
    curves: dict[tuple[object, ...], list[Start]] = {}
    shared = []
    for number in cheapest.values():
        resource = market.resources[number]
        starts = _priced_starts(resource, curves, assumptions, terms)
        if starts:
            shared.append(Shared(resource, tuple(starts), tuple(grouped[number])))
    return sorted(shared, key=lambda s: s.resource.key)


def _priced_starts(
    resource: Resource, curves: dict[tuple[object, ...], list[Start]], assumptions: Assumptions, terms: Terms
) -> list[Start]:
    """Present cost of one node by month of start; for commitments in proportion to the price, so one curve per term."""
    if resource.quote is None:
        return _curve(resource, assumptions, terms)
    price = resource.quote.price
    like = (price.kind, price.term_months, price.upfront)
    if like not in curves:
        curves[like] = _curve(_at_unit_price(resource, resource.quote), assumptions, terms)
    return [replace(start, present_cost=start.present_cost * price.price_per_hour) for start in curves[like]]


def _curve(resource: Resource, assumptions: Assumptions, terms: Terms) -> list[Start]:
    starts = []
    for month in range(1, terms.months + 1):
        if covered := covers(resource, month, assumptions, terms):
            paid = payments_of(resource, month, 1, assumptions, terms)
            starts.append(Start(month, present_cost(paid, terms.discount_rate_monthly), covered))
    return starts


def _without_useless(
    shared: Iterable[Shared],
    demands: Demands,
    hourly: Sequence[Sequence[Candidate]],
    rates: dict[int, tuple[float, ...]],
    resources: Sequence[Resource],
    terms: Terms,
) -> list[Shared]:
    """Commitments less the starts that cost at least what all their hours could save. Owned systems stay as they
    are."""
    kept = []
    for item in shared:
        if item.resource.what == "owned":
            kept.append(item)
            continue
        uses = [
            (candidate, need, _stand_ins(item, candidate, need, hourly[candidate.need], resources))
            for candidate in item.candidates
            for need in (demands.needs[candidate.need],)
        ]
        savings = [terms.hours_per_month * _saving(uses, rates, month) for month in range(1, terms.months + 1)]
        starts = tuple(
            start
            for start in item.starts
            if start.present_cost < math.fsum(savings[month - 1] for month in start.covers)
        )
        if starts:
            kept.append(replace(item, starts=starts))
    return kept


def _saving(
    uses: Iterable[tuple[Candidate, Need, list[Candidate]]], rates: dict[int, tuple[float, ...]], month: int
) -> float:
    """The most that an hour of one node can save in `month`, given what it can do and what could do that by the hour;
    infinite where nothing can.

    Its hour is divided among workloads: the part of services saves whole nodes, so each may save as much as the whole
    hour would; the others share the rest, which saves no more than all of it on the best of them.
    """
    services, rest = 0.0, 0.0
    for candidate, need, others in uses:
        if not need.monthly[month - 1] and need.deadline is None:
            continue
        if not others:
            return math.inf
        own_data = math.fsum(around_per_unit(need, candidate, month))
        worst = max if need.serving else min  # a service rents one type only, whichever the plan picks
        saved = worst(
            _replacing(other, candidate.units_per_node_hour, need) * rates[other.resource][month - 1]
            + max(0.0, math.fsum(around_per_unit(need, other, month)) - own_data) * candidate.units_per_node_hour
            for other in others
        )  # storage and egress are not discounted here: an upper bound on what a better place can save
        if need.serving:
            services += saved
        else:
            rest = max(rest, saved)
    return services + rest


def _stand_ins(
    item: Shared, candidate: Candidate, need: Need, hourly: Sequence[Candidate], resources: Sequence[Resource]
) -> list[Candidate]:
    """Candidates by the hour that could do what `candidate` does: any, or for a job that keeps its accelerator and gang
    those of the same, no slower."""
    if parallel_limit(need) is None:
        return list(hourly)
    rate = _gang_rate(candidate) * (1 - TOLERANCE)
    as_fast = [other for other in hourly if _gang_rate(other) >= rate]
    if not keeps_team(need):
        return as_fast
    mine = (item.resource.accelerator, candidate.gang)
    return [other for other in as_fast if team(other, resources) == mine]


def _without_dominated(shared: Sequence[Shared], needs: Sequence[Need]) -> list[Shared]:
    """The resources that no other replaces. Cheaper ones are tried first, ties by key, so that one of two equals
    stays."""
    ordered = sorted(shared, key=lambda s: (s.starts[0].present_cost, s.resource.key))
    kept: list[Shared] = []
    for item in ordered:
        if not any(_replaces(best, item, needs) for best in kept):
            kept.append(item)
    return sorted(kept, key=lambda s: s.resource.key)


def _replaces(best: Shared, item: Shared, needs: Sequence[Need]) -> bool:
    """Whether some whole number of nodes of `best` does all that one node of `item` does, for no more."""
    if best.resource.what != item.resource.what:
        return False
    copies = _copies(best, item, needs)
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


def _copies(best: Shared, item: Shared, needs: Sequence[Need]) -> int | None:
    """Nodes of `best` that stand in for one of `item` for every workload; None where they cannot."""
    offered = {(c.need, c.gang): c for c in best.candidates}
    copies = 1
    for candidate in item.candidates:
        other = offered.get((candidate.need, candidate.gang))
        if other is None or other.storage > candidate.storage or other.egress > candidate.egress:
            return None
        need = needs[candidate.need]
        same = best.resource.accelerator == item.resource.accelerator
        if not same and parallel_limit(need) is not None:
            return None
        copies = max(copies, math.ceil(candidate.units_per_node_hour / other.units_per_node_hour - TOLERANCE))
        if copies * candidate.nodes_per_gang < other.nodes_per_gang:
            return None
    return copies
