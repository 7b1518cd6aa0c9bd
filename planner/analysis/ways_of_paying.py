"""How the types that a plan runs on are sold beside what it pays, each named for the types of the plan alone.

Ways of paying that it cannot use, spot prices that it counts at more than they are listed at, and types that end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from planner.optimization.solution import PlanningContext
from planner.optimization.strategy import SolvedStrategy
from planner.request.models import Request
from planner.result import Gap
from planner.result.message import Message, message
from planner.supply.price_rules import plan_start, use_refusal
from planner.supply.purchase_options import load_purchase_options
from planner.supply.resources import Resource
from planner.supply.spot_prices import describe_bound, find_spot_bounds
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.price import AdjustedPrice
from pricing.sale import SaleTerm
from pricing.search.retired import find_successor_price

Place = tuple[str, ...]
"""Provider, region and instance type."""
UNPRICED = message("way_unpriced")


def find_sale_gaps(
    request: Request, setting: PlanningContext, catalog: Catalog, solved: Sequence[SolvedStrategy]
) -> Iterator[Gap]:
    """All gaps of how the types of a plan are sold."""
    paid = {resource.key: resource for one in solved for resource in one.resources}
    places: dict[Place, set[int]] = defaultdict(set)
    for candidate in (candidate for one in solved for candidate in one.candidates):
        resource = setting.market.resources[candidate.resource]
        if resource.quote is not None:
            places[resource.place].add(candidate.need)
    open_to: dict[tuple[str, ...], set[int]] = defaultdict(set)
    resources = setting.market.resources
    for candidate in setting.market.candidates:
        if (resource := resources[candidate.resource]).place in places:
            open_to[resource.key].add(candidate.need)
    for place, needs in sorted(places.items()):
        yield from _find_unused_ways(place, needs, request, setting, catalog, open_to)
    yield from _find_spot_bounds(places, request, setting, catalog)
    yield from _find_spot_hours(setting, solved)
    yield from _find_reservations(paid.values())
    yield from _find_ending_types(paid.values(), setting, catalog)


def _find_unused_ways(
    place: Place,
    needs: set[int],
    request: Request,
    setting: PlanningContext,
    catalog: Catalog,
    open_to: Mapping[tuple[str, ...], AbstractSet[int]],
) -> Iterator[Gap]:
    """The ways of paying that are sold for a type where it runs, and that have no price or are not for this work."""
    provider, region, instance_type = place
    here = [quote for quote in catalog.of_type(catalog.offerings[provider, instance_type]) if _region(quote) == region]
    for way, term in sorted(_sold_ways(place, catalog).items()):
        kind = next((each for each in load_purchase_options() if way.startswith(each)), way)
        if term.state(plan_start(request)) != "confirmed" or kind not in (request.limits.purchase_options or (kind,)):
            continue
        priced = [quote for quote in here if term.covers(quote.price)]
        why = _why_unused(priced, needs, setting, open_to) if priced else UNPRICED
        if why is not None:
            effect = message(
                "way_not_planned",
                provider=provider,
                region=region,
                instance_type=instance_type,
                purchase_option=way,
                limits=term.limits,
                reason=why,
            )
            yield Gap("not_planned", f"{provider} {region} {instance_type} {way}", effect)


def _region(quote: Quote) -> str:
    return quote.price.region


def _sold_ways(place: Place, catalog: Catalog) -> dict[str, SaleTerm]:
    """By way of paying, how a type is sold in a region: a term for the region holds against one for everywhere."""
    provider, region, instance_type = place
    ways: dict[str, SaleTerm] = {}
    for term in sorted(catalog.sale_terms(provider, instance_type), key=lambda term: term.region != ""):
        if term.purchase_option and term.region in ("", region):
            ways[term.purchase_option] = term
    return ways


def _why_unused(
    priced: Sequence[Quote],
    needs: set[int],
    setting: PlanningContext,
    open_to: Mapping[tuple[str, ...], AbstractSet[int]],
) -> Message | None:
    """Why no workload of a type can be paid for so; None where one could (`open_to`: those of each price), or where the
    request does not allow it."""
    if any(needs & open_to.get(quote.price.key, frozenset()) for quote in priced):
        return None
    for index in sorted(needs):
        for quote in priced:
            option = load_purchase_options().get(quote.price.kind)
            refused = setting.market.refused[index].get(quote.price.key)
            why = refused or (use_refusal(quote, option, setting.demands.needs[index]) if option else None)
            if why is not None:
                return why
    return None


def _find_spot_bounds(
    places: Mapping[Place, set[int]], request: Request, setting: PlanningContext, catalog: Catalog
) -> Iterator[Gap]:
    """The spot prices of the plan's types that are counted at more, one by one, and how many others could have served
    and are."""
    counted = {
        resource.key: resource.quote
        for resource in setting.market.resources
        if resource.quote is not None
        and resource.quote.price.kind == "spot"
        and resource.quote.price.method == "derived"
        and isinstance(resource.quote.price, AdjustedPrice)
    }
    max_age_days = setting.assumptions["old_spot_price_days"].value
    for provider, region, instance_type in sorted(places):
        listed = catalog.of_type(catalog.offerings[provider, instance_type])
        bounds = find_spot_bounds(listed, request.as_of, max_age_days)
        for quote in listed:
            key = quote.price.key
            if quote.price.region == region and key in bounds and key in counted:
                del counted[key]
                effect = describe_bound(quote, bounds[quote.price.key], request.as_of)
                yield Gap("old_price", " ".join(quote.price.key), effect)
    if counted:
        days = [quote.price.as_of for quote in counted.values()]
        effect = message("spot_prices_counted_at", prices=len(days), oldest=min(days), newest=max(days))
        yield Gap("old_price", "spot prices of other types and regions", effect)


def _find_spot_hours(setting: PlanningContext, solved: Sequence[SolvedStrategy]) -> Iterator[Gap]:
    """The hours that are billed for each useful hour on spot: the rest is recomputed or spent on checkpoints."""
    for candidate in dict.fromkeys(candidate for one in solved for candidate in one.candidates):
        resource = setting.market.resources[candidate.resource]
        if not resource.interrupts:
            continue
        undisturbed = candidate.throughput.units_per_hour * candidate.gangs_per_node / candidate.nodes_per_gang
        effect = message(
            "spot_hours_billed",
            hours_per_useful_hour=undisturbed / candidate.units_per_node_hour,
            hours_to_interruption=setting.assumptions["spot_hours_to_interruption"].value,
        )
        yield Gap("estimated", resource.title, effect, setting.demands.needs[candidate.need].workload.name)


def _find_reservations(paid: Iterable[Resource]) -> Iterator[Gap]:
    """Commitments that are sold only together with a reservation."""
    for resource in paid:
        sale = resource.quote.sale if resource.is_listed and resource.quote is not None else None
        if sale is not None and sale.needs_reservation:
            yield Gap("limited_use", resource.title, message("reservation_attached"))


def _find_ending_types(paid: Iterable[Resource], setting: PlanningContext, catalog: Catalog) -> Iterator[Gap]:
    """The types of the plan that end within it, with their successor and what that costs."""
    for resource in paid:
        quote, until = resource.quote, resource.last_month
        if quote is None or quote.sale is None or until is None:
            continue
        names = (quote.offering.successor or "", quote.sale.successor)
        prices = (find_successor_price(resource.provider, name, catalog) for name in names if name)
        price = next((price for price in prices if price is not None), None)
        effect = message(
            "type_ends",
            ends=str(quote.sale.ends),
            last_month=setting.demands.month_names[until - 1] if until else None,
            successor=quote.offering.successor or quote.sale.successor or None,
            price_per_hour=None if price is None else price.price_per_hour,
            currency="" if price is None else price.currency,
            region="" if price is None else price.region,
        )
        yield Gap("sale_ends", f"{resource.provider} {resource.region} {resource.name}", effect)
