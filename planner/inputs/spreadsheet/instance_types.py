"""Instance types by their name in any cloud: p4d.24xlarge has 8 A100."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pricing.catalog.price_catalog import Catalog
    from pricing.offering import Offering

_FORM = re.compile(
    r"(?:ml\.)?[a-z]{1,4}\d{1,2}[a-z-]*\.(?:\d{0,3}x?large|metal[\w-]*)|[a-z]\d-[a-z]+-\d+[a-z]*|standard_n[\w-]+"
    r"|(?:vm|bm)\.gpu[\w.]+",
    re.IGNORECASE,
)


def is_instance_type(text: str) -> bool:
    """Whether a text has the form of an instance type; decided without opening the catalogue."""
    return bool(_FORM.fullmatch(text.strip()))


def find_instance_type(text: str, catalog: Catalog | None) -> Offering | None:
    """The machine of that name, with full accelerators; None where no cloud, or clouds with different ones, have it."""
    if catalog is None:
        from pricing.catalog.price_catalog import Catalog as EmbeddedCatalog

        catalog = EmbeddedCatalog.embedded()
    offerings = _offerings_by_name(catalog).get(text.strip().casefold().removeprefix("ml."), ())
    variants = {(each.accelerator, each.accelerator_count) for each in offerings}
    return offerings[0] if len(variants) == 1 and offerings[0].accelerator and offerings[0].accelerator_count else None


@lru_cache(maxsize=2)
def _offerings_by_name(catalog: Catalog) -> dict[str, tuple[Offering, ...]]:
    names: dict[str, tuple[Offering, ...]] = {}
    for (_, instance_type), offering in sorted(catalog.offerings.items()):
        names[instance_type.casefold()] = (*names.get(instance_type.casefold(), ()), offering)
    return names
