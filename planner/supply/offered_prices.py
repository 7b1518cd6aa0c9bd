"""Prices as a request decides them, each with the nodes that it gives; kept for the next plan of equal settings.

What a price decides depends on the catalogue and on a few settings of a request, never on its workloads. A process that
answers one request after another asks the same again: for each of the last BOOKS_MAX settings an offer book keeps what
was found for each type of machine. Books are told apart by the values in `OfferSettings`, and what is in them is
frozen; a plan is the same with an empty book and a full one.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from planner.request.assumptions import Assumptions
from planner.request.models import Request
from planner.result.message import Message
from planner.supply.price_rules import commitment_pool, decide_prices, last_month, last_start, plan_start
from planner.supply.purchase_options import PurchaseOption, load_purchase_options
from planner.supply.recent_values import RecentValues
from planner.supply.resources import Resource, ResourceKind
from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import Quote
from pricing.installed_plugins import plugin_state
from pricing.offering import Offering

BOOKS_MAX = 4
"""Settings whose offers are kept. A book with every offer of the shipped catalogue has 3.4 MiB."""


class OfferedPrice(NamedTuple):
    """A price that the request as a whole allows: the reason why it cannot be bought so, or the way of paying and the
    nodes that it gives. Both are None, too, for a kind of price that nothing plans."""

    quote: Quote
    key: tuple[str, ...]
    place: tuple[str, str]
    refusal: Message | None
    option: PurchaseOption | None
    resource: Resource | None


class OfferSettings(NamedTuple):
    """All that decides on prices: the catalogue by its digest, settings and assumptions of a request, and plug-ins."""

    catalogue: str
    as_of: date
    start: date
    months: int
    providers: tuple[str, ...]
    regions: tuple[str, ...]
    purchase_options: tuple[str, ...]
    allow_estimates: bool
    old_spot_price_days: float
    capacity_blocks_beyond_window: float
    plugins: int


class OfferBook:
    """The offers of one setting by type of machine, filled in as plans ask for them."""

    def __init__(self) -> None:
        self._offers: dict[tuple[str, str], tuple[OfferedPrice, ...]] = {}

    def list_offers(
        self, offering: Offering, catalog: Catalog, request: Request, assumptions: Assumptions
    ) -> tuple[OfferedPrice, ...]:
        """The offers of a type, by rank. Two threads that ask at once find equal ones, and the first to finish is
        kept."""
        known = self._offers.get(offering.key)
        if known is None:
            known = self._offers.setdefault(offering.key, _decide_offers(offering, catalog, request, assumptions))
        return known


OFFER_BOOKS: RecentValues[OfferBook] = RecentValues(BOOKS_MAX)


def open_book(request: Request, catalog: Catalog, assumptions: Assumptions) -> OfferBook:
    """The offer book of the settings of a request."""
    settings = OfferSettings(
        catalog.digest,
        request.as_of,
        plan_start(request),
        request.months,
        request.providers,
        request.regions,
        request.limits.purchase_options,
        request.allow_estimates,
        float(assumptions["old_spot_price_days"].value),
        float(assumptions["capacity_blocks_beyond_window"].value),
        plugin_state(),
    )
    return OFFER_BOOKS.get(settings, OfferBook)


def _decide_offers(
    offering: Offering, catalog: Catalog, request: Request, assumptions: Assumptions
) -> tuple[OfferedPrice, ...]:
    start, options, offers = plan_start(request), load_purchase_options(), []
    for quote, refusal in decide_prices(catalog.of_type(offering), request, assumptions, start):
        price = quote.price
        option = options.get(price.kind) if refusal is None else None
        resource = None if option is None else _build_rented(quote, option, request, assumptions, start)
        offers.append(OfferedPrice(quote, price.key, (price.provider, price.region), refusal, option, resource))
    return tuple(offers)


def _build_rented(
    quote: Quote, option: PurchaseOption, request: Request, assumptions: Assumptions, start: date
) -> Resource:
    """The nodes at a price, with the last month in which they can be ordered where they are sold for dates, and the
    last in which they work where their type ends within the plan."""
    what: ResourceKind = "hourly" if not option.COMMITS else "covered" if option.UNIT == "money" else "commitment"
    return Resource(
        quote.price.key,
        what,
        quote.offering.accelerator,
        quote.offering.accelerator_count or 0,
        quote=quote,
        pool=commitment_pool(quote.price) if what == "covered" else (),
        last_start=last_start(quote, option, request, assumptions, start),
        last_month=last_month(quote, start, request.months),
    )
