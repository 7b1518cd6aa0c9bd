"""The billing catalogue -> rates of parts, by region and purchase option: read in one pass, named parts only.

Knows no machine: `machine_prices.py` adds the parts up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from datetime import UTC, datetime, time
from typing import Any

from pricing.adapters.api_calls import ApiCall
from pricing.adapters.protocol import FetchRequest, RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.frozen_values import dataclass
from pricing.providers.gcp.billed_parts import OPTIONS, GcpBilledPart, load_parts_table
from pricing.providers.gcp.clients import GcpClients, import_sdk
from pricing.units import HOURS_PER_MONTH

COMPUTE_ENGINE = "services/6F81-5844-456A"
CLOUD_TPU = "Cloud TPU"
"""The display name of the service that bills TPU v2 to v4; its number is looked up."""
PAGE_SIZE = 5000
HOURS_OF = {"h": 1.0, "GiBy.h": 1.0, "GiBy.mo": HOURS_PER_MONTH}
"""Hours that a usage unit of the feed lasts."""
ACCELERATOR_GROUPS = frozenset({"GPU", "TPU"})
USED_RATES = SkippedRows("rates of parts, summed into the prices of machines")
UNRELATED_SKUS = SkippedRows("no part of a machine with accelerators")


@dataclass(frozen=True, slots=True)
class GcpPartRate:
    """USD for one unit of a part per hour; `since` is the first day of the rate, if stated."""

    per_hour: float
    sku: str
    since: str


@dataclass(slots=True)
class GcpPartRates:
    """The rates of one service: `by[part, option][region]` lists them, more than one if they differ.

    `readings` account for every SKU: used, skipped or rejected.
    """

    by: dict[tuple[str, str], dict[str, list[GcpPartRate]]] = field(default_factory=dict)
    readings: list[SkippedRows | RejectedRow] = field(default_factory=list)

    @property
    def regions(self) -> set[str]:
        return {region for by_region in self.by.values() for region in by_region}

    def add(self, part: str, option: str, region: str, rate: GcpPartRate) -> None:
        known = self.by.setdefault((part, option), {}).setdefault(region, [])
        if all(rate.per_hour != other.per_hour for other in known):
            known.append(rate)


def compute_rates(request: FetchRequest, clients: GcpClients) -> GcpPartRates:
    """Rates of the service Compute Engine: machines, GPUs, local SSD, TPU v5e and later."""
    return _read_rates(request, clients, COMPUTE_ENGINE)


def tpu_rates(request: FetchRequest, clients: GcpClients) -> GcpPartRates:
    """Rates of the service Cloud TPU: v2 to v4. The service is looked up by its display name."""
    client = clients.catalog()
    call = ApiCall("cloudbilling", "list_services", "the catalogue")
    api_request = import_sdk("cloud.billing_v1").ListServicesRequest(page_size=PAGE_SIZE)
    for page in clients.pages(call, client.list_services, api_request):
        for service in page.services:
            if service.display_name == CLOUD_TPU:
                return _read_rates(request, clients, service.name)
    raise ProviderFailure("changed_format", f"{call}: no service has the display_name {CLOUD_TPU!r}")


def _read_rates(request: FetchRequest, clients: GcpClients, service: str) -> GcpPartRates:
    client = clients.catalog()
    call = ApiCall("cloudbilling", "list_skus", service)
    api_request = import_sdk("cloud.billing_v1").ListSkusRequest(
        parent=service, currency_code="USD", page_size=PAGE_SIZE
    )
    rates, left, unknown = GcpPartRates(), Counter[str](), set[str]()
    for page in clients.pages(call, client.list_skus, api_request):
        for sku in page.skus:
            reading = _add_sku_rate(request, call, sku, rates)
            if isinstance(reading, SkippedRows):
                left[reading.reason] += 1
            elif reading.subject in unknown:
                left["as a SKU of that name that was refused"] += 1
            else:
                unknown.add(reading.subject)
                rates.readings.append(reading)
    if not left[USED_RATES.reason]:
        first = next((f"; first: {r.subject}: {r.reason}" for r in rates.readings if isinstance(r, RejectedRow)), "")
        raise ProviderFailure(
            "changed_format", f"{call}: no rate of any part among {left.total() + len(unknown)} SKUs{first}"
        )
    rates.readings += [SkippedRows(reason, rows) for reason, rows in sorted(left.items())]
    return rates


def _add_sku_rate(request: FetchRequest, call: ApiCall, sku: Any, rates: GcpPartRates) -> SkippedRows | RejectedRow:
    """Adds the rate of the SKU; gives what it counts as (USED_RATES if added), or the rejection."""
    description, usage_type = sku.description, sku.category.usage_type
    if missing := [
        name for name, value in (("description", description), ("category.usage_type", usage_type)) if not value
    ]:
        raise ProviderFailure(
            "changed_format", f"{call}: {', '.join(missing)} missing in {sku.name or 'a SKU without name'}"
        )
    table = load_parts_table()
    if reason := table.another_product(description):
        return SkippedRows(reason)
    meaning = table.match(description)
    if meaning is None:
        return _classify_unnamed(sku)
    part, option = meaning
    if usage_type not in OPTIONS[option][1]:
        return RejectedRow(_describe_sku(sku), f"described as {option}, filed under usage type {usage_type}")
    try:
        rate = parse_rate(sku, part, datetime.combine(request.today, time.max, UTC))
    except ValueError as wrong:
        return RejectedRow(_describe_sku(sku), str(wrong))
    for region in sku.service_regions:
        if not request.regions or region in request.regions:
            rates.add(part.name, option, region, rate)
    return USED_RATES


def parse_rate(sku: Any, part: GcpBilledPart, by: datetime) -> GcpPartRate:
    """The SKU's rate in force at `by`. Raises ValueError with the problem."""
    if wrong := [r for r in sku.service_regions if not re.fullmatch("[a-z]+-[a-z]+[0-9]+", r)]:
        raise ValueError(f"service_regions names {', '.join(wrong)}, expected regions such as us-central1")
    if not sku.service_regions:
        raise ValueError("service_regions is missing")
    started = [info for info in sku.pricing_info if not info.effective_time or info.effective_time <= by]
    if not started:
        raise ValueError("pricing_info is missing" if not sku.pricing_info else "no price is in force yet")
    info = max(started, key=lambda i: i.effective_time.timestamp() if i.effective_time else 0.0)
    expression = info.pricing_expression
    if expression.usage_unit not in part.usage_units:
        raise ValueError(f"usage_unit is {expression.usage_unit!r}, expected {' or '.join(part.usage_units)}")
    amounts = {_parse_usd(tier.unit_price) for tier in expression.tiered_rates}
    if not amounts:
        raise ValueError("tiered_rates is missing")
    if len(amounts) > 1:
        raise ValueError(f"the rate depends on the volume: {', '.join(f'{a:g}' for a in sorted(amounts))}")
    since = info.effective_time.date().isoformat() if info.effective_time else ""
    return GcpPartRate(amounts.pop() / HOURS_OF[expression.usage_unit], sku.sku_id, since)


def _parse_usd(money: Any) -> float:
    if money.currency_code != "USD":
        raise ValueError(f"currency_code is {money.currency_code!r}, expected USD")
    amount = float(money.units + money.nanos / 1e9)
    if amount <= 0:
        raise ValueError(f"unit_price is {amount:g}, expected a price above 0")
    return amount


def _classify_unnamed(sku: Any) -> SkippedRows | RejectedRow:
    """Rejects an accelerator SKU that no part is named after, so that it is reported; skips all others."""
    if sku.category.resource_group not in ACCELERATOR_GROUPS:
        return UNRELATED_SKUS
    stem = re.split(" (?:running|attached|in) ", sku.description.removeprefix("Commitment v1: "))[0]
    return RejectedRow(f"SKU {stem}", f"no part has this name ({sku.description}, {sku.sku_id})")


def _describe_sku(sku: Any) -> str:
    return f"SKU {sku.sku_id} {sku.description}"


def merge_rates(rates: Iterator[GcpPartRates]) -> GcpPartRates:
    """Rates of several services as one, without their readings."""
    whole = GcpPartRates()
    for one in rates:
        for (part, option), by_region in one.by.items():
            for region, region_rates in by_region.items():
                for rate in region_rates:
                    whole.add(part, option, region, rate)
    return whole
