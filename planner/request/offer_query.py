"""The search for offers as both doors understand it: faults of filters are problems of the input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.price_catalog import Catalog
from pricing.errors import InvalidQuery
from pricing.search import OfferQuery, parse_query


def parse_offer_query(
    given: Mapping[str, Sequence[str]], catalog: Catalog, place: Callable[[str], str] = str
) -> OfferQuery:
    """The query in texts by field name, as `pricing.search` reads it; InvalidRequest with every problem."""
    try:
        return parse_query(given, catalog, place)
    except InvalidQuery as error:
        problems = (InputProblem("", each.place, each.message, each.value, each.expected) for each in error.problems)
        raise InvalidRequest(tuple(problems)) from None
