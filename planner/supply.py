"""The market with what it costs: rates by the hour, and for everything started its present cost and what it gives.

Nothing is left out here; `prune` does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from planner.assumptions import Assumptions
from planner.candidates import Candidate, Market, Resource
from planner.cashflow import Terms, present_cost
from planner.options import capacity_block
from planner.paying import covers, payments_of, use_payments_of
from pricing.catalog import Quote

Rates = Mapping[int, tuple[float, ...]]
"""Present cost of a node-hour in each month (index 0 is month 1), by resource number."""


@dataclass(frozen=True, slots=True)
class Start:
    """Ordering or committing one unit at the start of `month`: its present cost and the months it then covers."""

    month: int
    present_cost: float
    covers: range


@dataclass(frozen=True, slots=True)
class Shared:
    """A resource that workloads share: paid per unit from a start, used by any of `candidates`.

    A node is there in every hour, a node-day for 24 hours of its month. Money an hour is drawn on at `weights`, by
    resource number. `use_costs` is what a node-hour of use costs beside, by month.
    """

    resource: Resource
    starts: tuple[Start, ...]
    candidates: tuple[Candidate, ...]
    weights: Mapping[int, float] = field(default_factory=dict)
    use_costs: tuple[float, ...] = ()

    def weight(self, candidate: Candidate) -> float:
        """What a node-hour of a candidate takes of it: an hour of a node, or money."""
        return self.weights.get(candidate.resource, 1.0)

    @property
    def by_month(self) -> bool:
        """Whether its hours are a stock for the month, not so many in every hour of it."""
        return self.resource.unit == "node_day"

    def hours(self, month_or_block: float) -> float:
        """What one unit gives in so many hours: node-hours or money. For a node-day always its 24 hours."""
        return float(capacity_block.HOURS) if self.by_month else month_or_block


@dataclass(frozen=True, slots=True)
class Choice:
    """What the solver may choose from. `hourly[need]` are candidates by the hour, `rates` what they cost."""

    hourly: tuple[tuple[Candidate, ...], ...]
    rates: Rates
    shared: tuple[Shared, ...]
    candidates: int
    pruned: int


def hourly_rates(market: Market, assumptions: Assumptions, terms: Terms) -> dict[int, tuple[float, ...]]:
    """Present cost of a node-hour in each month. Payments are in proportion to the price: one curve per kind."""
    curves: dict[tuple[str, bool], tuple[float, ...]] = {}
    rates = {}
    for number, resource in enumerate(market.resources):
        if resource.what != "hourly" or resource.quote is None:
            continue
        price = resource.quote.price
        like = (price.kind, bool(getattr(price, "adjustment", "")))
        if like not in curves:
            unit = _at_unit_price(resource, resource.quote)
            curves[like] = tuple(
                present_cost(payments_of(unit, month, 1.0, assumptions, terms), terms.discount_rate_monthly)
                for month in range(1, terms.months + 1)
            )
        rates[number] = tuple(price.price_per_hour * factor for factor in curves[like])
    return rates


def shared_of(market: Market, assumptions: Assumptions, terms: Terms) -> list[Shared]:
    """Everything that is started: nodes and node-days with all their starts, then pools of committed money, each with
    all that it covers; what is held already last."""
    grouped: dict[int, list[Candidate]] = {n: [] for n, r in enumerate(market.resources) if r.held is not None}
    pools: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in market.candidates:
        resource = market.resources[candidate.resource]
        if resource.what == "covered":
            pools.setdefault(resource.pool, []).append(candidate)
        elif resource.what != "hourly":
            grouped.setdefault(candidate.resource, []).append(candidate)
    curves: dict[tuple[object, ...], list[Start]] = {}
    found = []
    for number, candidates in grouped.items():
        resource = market.resources[number]
        item = Shared(
            resource,
            tuple(_starts(resource, curves, assumptions, terms)),
            tuple(candidates),
            use_costs=_use_costs(resource, assumptions, terms),
        )
        found.append(item)
    for key, candidates in pools.items():
        numbers = dict.fromkeys(candidate.resource for candidate in candidates)
        members = [(number, market.resources[number]) for number in numbers]
        resource = _pool(key, [member for _, member in members])
        rates = {n: m.quote.price.price_per_hour for n, m in members if m.quote is not None}
        starts = tuple(_starts(resource, curves, assumptions, terms))
        found.append(Shared(resource, starts, tuple(candidates), weights=rates))
    ordered = sorted((item for item in found if item.starts), key=lambda item: item.resource.key)
    return sorted(ordered, key=lambda item: item.resource.held is not None)


def _pool(key: tuple[str, ...], members: Sequence[Resource]) -> Resource:
    """Committed money as a resource: one unit is 1 an hour, for use of any of its members."""
    quotes = [member.quote for member in members if member.quote is not None]
    first = min(quotes, key=lambda quote: quote.price.key)
    oldest = min(quote.price.as_of for quote in quotes)
    price = replace(
        first.price, region=key[1], instance_type=key[2], price_per_hour=1.0, as_of=oldest, note="money an hour"
    )
    return Resource(key, "commitment", "", 0, quote=replace(first, price=price))


def _starts(
    resource: Resource, curves: dict[tuple[object, ...], list[Start]], assumptions: Assumptions, terms: Terms
) -> list[Start]:
    """Present cost of one unit by month of start; for commitments in proportion to the price, so one curve per term."""
    if resource.held is not None:
        paid = payments_of(resource, 1, resource.held.count, assumptions, terms)
        owed = present_cost(paid, terms.discount_rate_monthly)
        return [Start(1, owed / resource.held.count, resource.held.covers)]
    if resource.quote is None:
        return curve(resource, assumptions, terms)
    price = resource.quote.price
    like = (price.kind, price.term_months, price.upfront, bool(getattr(price, "adjustment", "")))
    if like not in curves:
        curves[like] = curve(_at_unit_price(resource, resource.quote), assumptions, terms)
    return [replace(start, present_cost=start.present_cost * price.price_per_hour) for start in curves[like]]


def curve(resource: Resource, assumptions: Assumptions, terms: Terms) -> list[Start]:
    """Every start of one unit that covers a month of the horizon."""
    starts = []
    for month in range(1, terms.months + 1):
        if covered := covers(resource, month, assumptions, terms):
            paid = payments_of(resource, month, 1, assumptions, terms)
            starts.append(Start(month, present_cost(paid, terms.discount_rate_monthly), covered))
    return starts


def _use_costs(resource: Resource, assumptions: Assumptions, terms: Terms) -> tuple[float, ...]:
    def one(month: int) -> float:
        return present_cost(use_payments_of(resource, month, 1.0, assumptions, terms), terms.discount_rate_monthly)

    costs = tuple(one(month) for month in range(1, terms.months + 1)) if resource.node is not None else ()
    return costs if any(costs) else ()


def _at_unit_price(resource: Resource, quote: Quote) -> Resource:
    """The resource at a price of 1 an hour: payments are in proportion to the price."""
    return replace(resource, quote=replace(quote, price=replace(quote.price, price_per_hour=1.0)))


def by_need(market: Market, rates: Rates, needs: int) -> list[list[Candidate]]:
    """The candidates by the hour of each need."""
    found: list[list[Candidate]] = [[] for _ in range(needs)]
    for candidate in market.candidates:
        if candidate.resource in rates:
            found[candidate.need].append(candidate)
    return found
