"""A digest of everything that a plan's prices depend on."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from pricing.catalog.price_catalog import Catalog


@lru_cache(maxsize=2)
def digest_catalogue(catalog: Catalog) -> str:
    """Equal for catalogues with equal prices, private ones and exchange rates included."""
    own = repr((catalog.digest, catalog.card, catalog.exchange))
    return hashlib.sha256(own.encode()).hexdigest()
