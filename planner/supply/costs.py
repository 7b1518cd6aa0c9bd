"""The costs of the market: hourly rates, and for everything that is started its present cost and the months it covers.

All candidates stay here; `optimization.dominance` removes those that cannot be part of an optimum.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import NamedTuple

from planner.finance.cashflow import Terms, present_cost
from planner.request.assumptions import Assumptions
from planner.supply.candidates import Candidate, Market
from planner.supply.payments import covered_months, resource_payments, resource_use_payments
from planner.supply.purchase_options import load_own_options
from planner.supply.recent_values import RecentValues
from planner.supply.resources import Resource
from pricing.catalog.quotes import Quote
from pricing.frozen_values import dataclass
from pricing.units import HOURS_PER_DAY

HourlyRates = Mapping[int, tuple[float, ...]]
"""Present cost of a node-hour in each month (index 0 is month 1), by resource number."""


CURVES_MAX = 256
"""Curves that are kept for the next plan, of each kind; one of 60 months has some 10 KB."""


class ResourceStart(NamedTuple):
    """Ordering or committing one unit at the start of `month`: its present cost and the months it then covers.
    `decided`: so many units are ordered in any case, and no more; None: that is open."""

    month: int
    present_cost: float
    covers: range
    decided: float | None = None


StartCurves = dict[tuple[object, ...], tuple[ResourceStart, ...]]
"""Starts at a price of 1 an hour, by what tells ways of paying apart."""
HOURLY_CURVES: RecentValues[tuple[float, ...]] = RecentValues(CURVES_MAX)
UNIT_STARTS: RecentValues[tuple[ResourceStart, ...]] = RecentValues(CURVES_MAX)


@dataclass(frozen=True, slots=True)
class SharedResource:
    """A resource that workloads share: paid per unit from a start, used by any of `candidates`.

    A node is there in every hour, a node-day for 24 hours of its month. Money an hour is drawn on at `weights`, by
    resource number. `use_costs` is the additional cost of a node-hour of use, by month.
    """

    resource: Resource
    starts: tuple[ResourceStart, ...]
    candidates: tuple[Candidate, ...]
    weights: Mapping[int, float] = field(default_factory=dict)
    use_costs: tuple[float, ...] = ()

    def weight(self, candidate: Candidate) -> float:
        """The share of one unit that a node-hour of a candidate uses: an hour of a node, or money."""
        return self.weights.get(candidate.resource, 1.0)

    @property
    def node_price(self) -> float | None:
        """The price of all nodes that committed money pays for; None where it has several."""
        prices = set(self.weights.values())
        return prices.pop() if len(prices) == 1 else None

    @property
    def by_month(self) -> bool:
        """Whether its hours are a stock for the month, not so many in every hour of it."""
        return self.resource.unit == "node_day"

    def hours(self, month_or_block: float) -> float:
        """The capacity of one unit in so many hours: node-hours or money. For a node-day always its 24 hours."""
        return float(HOURS_PER_DAY) if self.by_month else month_or_block


@dataclass(frozen=True, slots=True)
class ChoiceSet:
    """The input of the solver. `hourly[need]` are candidates by the hour at a home in the cloud, `overflow[need]` those
    for what exceeds owned nodes; `rates` are their present costs. `is_partial`: what is left out could keep targets on
    commitments for less; without these targets it could not."""

    hourly: tuple[tuple[Candidate, ...], ...]
    overflow: tuple[tuple[Candidate, ...], ...]
    rates: HourlyRates
    shared: tuple[SharedResource, ...]
    candidates: int
    pruned: int
    is_partial: bool = False


def hourly_rates(
    market: Market, assumptions: Assumptions, terms: Terms, places: Container[tuple[str, ...]] | None = None
) -> dict[int, tuple[float, ...]]:
    """Present cost of a node-hour in each month, at some places or (None) all. Payments are in proportion to the price:
    one curve per kind."""
    curves: dict[tuple[str, bool], tuple[float, ...]] = {}
    rates = {}
    for number, resource in enumerate(market.resources):
        if resource.what != "hourly" or resource.quote is None or not (places is None or resource.place in places):
            continue
        price = resource.quote.price
        like = (price.kind, bool(getattr(price, "adjustment", "")))
        if like not in curves:
            compute = partial(_hourly_curve, _at_unit_price(resource, resource.quote), assumptions, terms)
            key = _curve_key(like, price.kind, terms)
            curves[like] = compute() if key is None else HOURLY_CURVES.get(key, compute)
        amount = price.price_per_hour
        rates[number] = tuple([amount * factor for factor in curves[like]])
    return rates


def _hourly_curve(unit: Resource, assumptions: Assumptions, terms: Terms) -> tuple[float, ...]:
    """Present cost of a node-hour in each month."""
    return tuple(
        present_cost(resource_payments(unit, month, 1.0, assumptions, terms), terms.discount_rate_monthly)
        for month in range(1, terms.months + 1)
    )


def _curve_key(like: tuple[object, ...], kind: str, terms: Terms) -> Hashable | None:
    """All that a curve at a price of 1 depends on; None for ways of paying of plug-ins, which may read more of a
    price."""
    return (like, terms) if kind in load_own_options() else None


def build_shared_resources(market: Market, assumptions: Assumptions, terms: Terms) -> list[SharedResource]:
    """Everything that is started: nodes and node-days with all their starts, then pools of committed money, each with
    all that it covers; existing capacity last."""
    grouped: dict[int, list[Candidate]] = {n: [] for n, r in enumerate(market.resources) if r.held is not None}
    pools: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in market.candidates:
        resource = market.resources[candidate.resource]
        if resource.what == "covered":
            pools.setdefault(resource.pool, []).append(candidate)
        elif resource.what != "hourly":
            grouped.setdefault(candidate.resource, []).append(candidate)
    curves: StartCurves = {}
    shared_resources = []
    for number, candidates in grouped.items():
        resource = market.resources[number]
        item = SharedResource(
            resource,
            tuple(list_starts(resource, curves, assumptions, terms)),
            tuple(candidates),
            use_costs=_use_costs(resource, assumptions, terms),
        )
        shared_resources.append(item)
    for key, candidates in pools.items():
        numbers = dict.fromkeys(candidate.resource for candidate in candidates)
        members = [(number, market.resources[number]) for number in numbers]
        resource = _pool_resource(key, [member for _, member in members])
        rates = {n: m.quote.price.price_per_hour for n, m in members if m.quote is not None}
        starts = tuple(list_starts(resource, curves, assumptions, terms))
        shared_resources.append(SharedResource(resource, starts, tuple(candidates), weights=rates))
    ordered = sorted((item for item in shared_resources if item.starts), key=lambda item: item.resource.key)
    return sorted(ordered, key=lambda item: item.resource.held is not None)


def _pool_resource(key: tuple[str, ...], members: Sequence[Resource]) -> Resource:
    """Committed money as a resource: one unit is 1 an hour, for use of any of its members."""
    quotes = [member.quote for member in members if member.quote is not None]
    first = min(quotes, key=lambda quote: quote.price.key)
    oldest = min(quote.price.as_of for quote in quotes)
    price = replace(
        first.price, region=key[1], instance_type=key[2], price_per_hour=1.0, as_of=oldest, note="money an hour"
    )
    return Resource(key, "commitment", "", 0, quote=replace(first, price=price))


def list_starts(resource: Resource, curves: StartCurves, assumptions: Assumptions, terms: Terms) -> list[ResourceStart]:
    """Present cost of one unit by month of start; for commitments in proportion to the price, so one curve per term.

    Nothing is committed to in the past: the first start is in the first month that begins on the plan's date or later.
    """
    if resource.held is not None:
        paid = resource_payments(resource, 1, resource.held.count, assumptions, terms)
        total = present_cost(paid, terms.discount_rate_monthly)
        return [ResourceStart(1, total / resource.held.count, resource.held.covers)]
    if resource.quote is None:
        values = tuple((name, each.value) for name, each in assumptions.items())
        compute = partial(price_starts, resource, assumptions, terms)
        return list(UNIT_STARTS.get((resource.node, values, terms), compute))
    price = resource.quote.price
    like = (price.kind, price.term_months, price.upfront, bool(getattr(price, "adjustment", "")))
    if like not in curves:
        key = _curve_key(like, price.kind, terms)
        compute = partial(price_starts, _at_unit_price(resource, resource.quote), assumptions, terms)
        curves[like] = compute() if key is None else UNIT_STARTS.get(key, compute)
    first = 1 - terms.order_ahead_months
    last = terms.months if resource.last_start is None else resource.last_start
    rate = price.price_per_hour
    return [
        ResourceStart(month, cost * rate, covers) for month, cost, covers, _ in curves[like] if first <= month <= last
    ]


def price_starts(resource: Resource, assumptions: Assumptions, terms: Terms) -> tuple[ResourceStart, ...]:
    """Every start of one unit that covers a month of the horizon."""
    starts = []
    for month in range(1, terms.months + 1):
        if covered := covered_months(resource, month, assumptions, terms):
            paid = resource_payments(resource, month, 1, assumptions, terms)
            starts.append(ResourceStart(month, present_cost(paid, terms.discount_rate_monthly), covered))
    return tuple(starts)


def _use_costs(resource: Resource, assumptions: Assumptions, terms: Terms) -> tuple[float, ...]:
    def one(month: int) -> float:
        return present_cost(
            resource_use_payments(resource, month, 1.0, assumptions, terms), terms.discount_rate_monthly
        )

    costs = tuple(one(month) for month in range(1, terms.months + 1)) if resource.node is not None else ()
    return costs if any(costs) else ()


def _at_unit_price(resource: Resource, quote: Quote) -> Resource:
    """The resource at a price of 1 an hour: payments are in proportion to the price."""
    return replace(resource, quote=replace(quote, price=replace(quote.price, price_per_hour=1.0)))


def group_by_need(market: Market, rates: HourlyRates, needs: int) -> list[list[Candidate]]:
    """The candidates by the hour of each need."""
    candidates_by_need: list[list[Candidate]] = [[] for _ in range(needs)]
    for candidate in market.candidates:
        if candidate.resource in rates:
            candidates_by_need[candidate.need].append(candidate)
    return candidates_by_need
