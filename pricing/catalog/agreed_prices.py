"""The catalogue with one more price agreed: what a plan would be at a price that is only asked for."""

from __future__ import annotations

from pricing.catalog.price_catalog import Catalog
from pricing.private_prices import NAME_COLUMNS, PrivatePriceRule, RateCard


def agree_price(catalog: Catalog, rule: PrivatePriceRule) -> Catalog:
    """The catalogue with a further private price, which replaces one that names the same."""
    names = [getattr(rule, name) for name in NAME_COLUMNS]
    others = (each for each in catalog.card.rules if [getattr(each, name) for name in NAME_COLUMNS] != names)
    card = RateCard((*others, rule), catalog.card.name or "agreed")
    return Catalog(catalog.layout, catalog._cache, catalog.exchange, card)  # noqa: SLF001  (the same catalogue)
