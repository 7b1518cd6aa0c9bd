"""Offers of machines without an accelerator: those that a query names by type or asks for by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pricing.catalog.price_catalog import Catalog
from pricing.machines import PlainMachine
from pricing.price import parse_purchase_option
from pricing.search.results import OfferRow

if TYPE_CHECKING:
    from pricing.search import OfferQuery


def find_machine_rows(query: OfferQuery, catalog: Catalog) -> list[OfferRow]:
    """The lowest price first. Empty where the query asks for something that only an accelerator has."""
    needs_accelerator = (query.accelerator, query.count, query.min_count, query.min_memory_gib)
    if any(needs_accelerator) or query.min_memory_gib_per_node or query.kind == "accelerator":
        return []
    if query.kind is None and not query.type:
        return []
    found = sorted((m for m in catalog.machines if _matches(m, query)), key=lambda m: (m.price_per_hour, m.key))
    return [_build_row(machine, query.precision, catalog) for machine in found]


def _matches(machine: PlainMachine, query: OfferQuery) -> bool:
    option = parse_purchase_option(machine.purchase_option)
    options = (machine.purchase_option, option.kind if option else "")
    return (
        query.kind in (None, machine.kind)
        and (not query.provider or machine.provider in query.provider)
        and (not query.region or machine.region in query.region)
        and (not query.type or machine.instance_type in query.type)
        and (not query.option or any(option in query.option for option in options))
        and is_large_enough(machine.vcpus, query.min_vcpus)
        and is_large_enough(machine.memory_gib, query.min_host_memory_gib)
    )


def is_large_enough(amount: float | None, needed: float | None) -> bool:
    """Whether an amount is known to reach what is needed, if anything is."""
    return needed is None or (amount is not None and amount >= needed)


def _build_row(machine: PlainMachine, precision: str, catalog: Catalog) -> OfferRow:
    source = catalog.sources.get(machine.source_id)
    return OfferRow(
        provider=machine.provider,
        region=machine.region,
        instance_type=machine.instance_type,
        accelerator="",
        accelerator_count=machine.fpga_count if machine.kind == "fpga" else 0.0,
        purchase_option=machine.purchase_option,
        price_per_hour=machine.price_per_hour,
        currency=machine.currency,
        price_per_accelerator_hour=None,
        accelerator_memory_gib=None,
        memory_gib_per_node=None,
        memory_bandwidth_gbs_per_node=None,
        cores_per_node=None,
        precision=precision,
        tflops_per_node=None,
        vcpus=machine.vcpus,
        host_memory_gib=machine.memory_gib,
        status="current",
        as_of=machine.as_of,
        source_id=machine.source_id,
        source=source.reference if source else machine.source_id,
        method="listed",
        sale="not_confirmed",
        sale_limits="",
        sale_source="",
        kind=machine.kind,
    )
