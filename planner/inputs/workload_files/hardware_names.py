"""Accelerators, instance types and places as workload files name them, matched with the catalogue."""

from __future__ import annotations

import re

from planner.inputs.catalog_regions import region_of_zone
from pricing.catalog.price_catalog import Catalog
from pricing.errors import UnknownName

GKE_A100_40GB = "nvidia-tesla-a100"
"""GKE's name of the A100 with 40 GB; the one with 80 GB is nvidia-a100-80gb (GKE: GPU types and zones)."""
_PRODUCT_SUFFIX = re.compile(r"(?i)-(?:SHARED|MIG-[0-9a-z.+]+)$")
"""What GPU feature discovery adds to the product of a shared or divided GPU."""


def find_accelerator(catalog: Catalog, written: str) -> str:
    """The catalogue's name of an accelerator: of one form if the text names it, else the model; empty if unknown."""
    text = _PRODUCT_SUFFIX.sub("", written.strip())
    if text == GKE_A100_40GB:
        return "A100-40GB-SXM"
    try:
        forms = catalog.names.match(text)
    except UnknownName:
        return ""
    return forms[0].name if len(forms) == 1 else forms[0].model


def find_skypilot_accelerator(catalog: Catalog, written: str) -> tuple[str, float]:
    """The accelerator that SkyPilot's catalogue means, and how many one of it is: the chips of a TPU slice."""
    for alias in catalog.names.aliases:
        if alias.used_by == "skypilot" and alias.written.casefold() == written.casefold():
            return alias.name, 1.0
    try:
        accelerator, chips = catalog.names.tpu_slice(written)
    except UnknownName:
        return find_accelerator(catalog, written), 1.0
    return accelerator.name, float(chips)


def find_instance_type(catalog: Catalog, written: str) -> tuple[str, str, float] | None:
    """Provider, accelerator and accelerators of an instance type with accelerators; None for any other name."""
    text = written.casefold()
    for (provider, name), offering in catalog.offerings.items():
        if name.casefold() == text and offering.accelerator_count:
            return provider, offering.accelerator, offering.accelerator_count
    return None


def find_place(catalog: Catalog, written: str) -> list[tuple[str, str]]:
    """The providers and regions that a region or a zone may be; empty for an unknown one."""
    name = written.casefold()
    return [key for key in catalog.regions if key[1].casefold() == region_of_zone(key[0], name)]
