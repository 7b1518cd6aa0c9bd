"""Spot prices that are too old or too low to decide with, and what they are counted at instead.

Spot moves daily, and a price of last year may have no capacity behind it. Such a price is counted at the median of
those of its type that are recent, over all regions; where none is recent, at the median of all of them if they are of
several regions, else at the price on demand, which spot does not exceed. It is never lowered, and never counted above
the price on demand of its region (decision 0028).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import date
from statistics import median
from typing import Literal

from planner.result.message import Message, message
from pricing.catalog.quotes import Quote
from pricing.frozen_values import dataclass
from pricing.price import AdjustedPrice
from pricing.private_prices import SOURCE_ID

LOW_FRACTION_OF_MEDIAN = 0.5
"""Below this fraction of the median of its type, a spot price is taken for an outlier."""
MEDIAN_REGIONS_MIN = 3
"""Fewer old prices of a type tell too little of its level."""
PriceKey = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class SpotBound:
    """What a listed spot price is counted at: the median over `regions` (of recent ones where there are any), or
    the price on demand."""

    price_per_hour: float
    listed_per_hour: float
    why: Literal["old", "low"]
    basis: Literal["median", "on_demand"]
    regions: int


def find_spot_bounds(quotes: Sequence[Quote], as_of: date, max_age_days: float) -> Mapping[PriceKey, SpotBound]:
    """The spot prices of one type that are counted at more than they are listed at, by key. Prices that were agreed
    with the provider are as old as the agreement, and in force."""
    spot = [quote.price for quote in quotes if quote.price.kind == "spot" and quote.price.source_id != SOURCE_ID]
    fresh = [price.price_per_hour for price in spot if (as_of - price.as_of).days <= max_age_days]
    here = {q.price.region: q.price.price_per_hour for q in quotes if q.price.kind == "on_demand"}
    known_level = fresh or [price.price_per_hour for price in spot]
    level = median(known_level) if fresh or len(known_level) >= MEDIAN_REGIONS_MIN else None
    bounds = {}
    for price in spot:
        listed = price.price_per_hour
        is_old = (as_of - price.as_of).days > max_age_days
        if not is_old and (level is None or listed >= LOW_FRACTION_OF_MEDIAN * level):
            continue
        on_demand = here.get(price.region) or (median(here.values()) if here else None)
        known = [amount for amount in (level, on_demand) if amount is not None]
        if known and min(known) > listed:
            basis: Literal["median", "on_demand"] = "on_demand" if min(known) != level else "median"
            bounds[price.key] = SpotBound(min(known), listed, "old" if is_old else "low", basis, len(known_level))
    return bounds


def count_spot_at_bound(quote: Quote, bound: SpotBound | None) -> Quote:
    """The quote at the price that decides; its list price stays with it."""
    if bound is None:
        return quote
    price = quote.price
    values = {field.name: getattr(price, field.name) for field in fields(price)}
    if not isinstance(price, AdjustedPrice):
        values |= {"list_price_per_hour": price.price_per_hour, "list_currency": price.currency}
    counted = AdjustedPrice(**{**values, "price_per_hour": bound.price_per_hour, "method": "derived"})
    return replace(quote, price=counted)


def describe_bound(quote: Quote, bound: SpotBound, as_of: date) -> Message:
    """The reason for a bound, for the price as it is listed."""
    return message(
        "spot_price_counted_at",
        why=bound.why,
        basis=bound.basis,
        as_of=quote.price.as_of,
        age_days=(as_of - quote.price.as_of).days,
        listed_per_hour=bound.listed_per_hour,
        counted_per_hour=bound.price_per_hour,
        regions=bound.regions,
    )
