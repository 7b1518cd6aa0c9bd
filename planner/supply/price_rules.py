"""Whether a price may be planned: by what the request allows, and by the terms on which its provider sells."""

from __future__ import annotations

from datetime import date, timedelta

from planner.request.assumptions import Assumptions
from planner.request.calendar import month_names
from planner.request.models import Request, Workload
from planner.result.message import Message, message
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote


def plan_start(request: Request) -> date:
    """The first day of the plan: what is not sold any more by then cannot be planned."""
    return date.fromisoformat(f"{month_names(request)[0]}-01")


def sale_refusal(quote: Quote, day: date) -> Message | None:
    """Why a price cannot be bought on a day; None where it can, or where no source speaks against it."""
    state, term = quote.sale_state(day), quote.sale
    if term is None or state in ("confirmed", "not_confirmed"):
        return None
    if state == "ended":
        return message("sale_ended", ends=str(term.ends), successor=term.successor or None)
    return message(
        "not_sold_this_way", purchase_option=quote.price.purchase_option, source=term.source, checked=term.checked
    )


def last_start(quote: Quote, request: Request, start: date) -> int | None:
    """The last month of a plan from `start` on whose first day a price can be ordered for, on the plan's date: 0 where
    that is before the plan, None where no limit is known."""
    ahead = None if quote.sale is None else quote.sale.order_ahead_days
    if ahead is None:
        return None
    latest = request.as_of + timedelta(days=ahead)
    return max(0, 12 * (latest.year - start.year) + latest.month - start.month + 1)


def plans_beyond_window(assumptions: Assumptions) -> bool:
    """Whether dated capacity is planned beyond the time in which it can be ordered."""
    return assumptions["capacity_blocks_beyond_window"].value > 0


def is_allowed(quote: Quote, request: Request) -> bool:
    """Whether the request as a whole allows a price: its providers, regions and ways of paying, only listed prices
    where estimates are switched off."""
    price = quote.price
    return (
        is_permitted_place(quote, request)
        and (request.allow_estimates or price.method == "listed")
        and (not request.limits.purchase_options or price.kind in request.limits.purchase_options)
    )


def is_permitted_place(quote: Quote, request: Request) -> bool:
    """Whether the request allows the provider and the region of a price, for any workload."""
    price = quote.price
    return (not request.providers or price.provider in request.providers) and (
        not request.regions or price.region in request.regions
    )


def is_offered(quote: Quote, request: Request, start: date) -> bool:
    """Whether a price is allowed and can be bought so at the start of the plan."""
    return is_allowed(quote, request) and sale_refusal(quote, start) is None


def may_run(catalog: Catalog, request: Request, workload: Workload, quote: Quote) -> bool:
    """Whether a workload may run where a price is: its providers and regions, its residency and the request's."""
    price = quote.price
    if workload.providers and price.provider not in workload.providers:
        return False
    if workload.regions and price.region not in workload.regions:
        return False
    for residency in (workload.residency, request.residency):
        if residency:
            region = catalog.regions[price.provider, price.region]
            if region.country not in residency and not set(region.blocs) & set(residency):
                return False
    return True
