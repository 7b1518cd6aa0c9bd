"""The Price List API -> on-demand and reserved prices: Linux, shared tenancy, no licence, whole instances.

A reserved rate is (upfront + hourly x term hours) / term hours, at 8,760 hours a year.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pricing.adapters.protocol import CoveredScope, FetchRequest, PriceReading, RejectedRow, SkippedRows
from pricing.errors import ProviderFailure
from pricing.price import Price, parse_purchase_option
from pricing.providers.aws.clients import HOME_REGION, AwsClients
from pricing.units import HOURS_PER_YEAR

SOURCE = "aws-price-list"
FILTERS = {"operatingSystem": "Linux", "tenancy": "Shared", "capacitystatus": "Used", "preInstalledSw": "NA"}
"""The attributes of the products that the catalogue prices; sent with the query and checked again in each answer."""
PLAIN_OPERATION = "RunInstances"
"""Any other operation is another licence (RunInstances:0002) or a capacity block at a price of 0 (RunInstances:CB)."""
OTHER_TYPES = "types that are not ours: without accelerators, or refused"
OTHER_USAGES = "other licences, tenancies and usages"
YEARS = {"1yr": 1, "3yr": 3}
UPFRONTS = {"No Upfront": "no", "Partial Upfront": "partial", "All Upfront": "all"}
Terms = Mapping[str, Mapping[str, Any]]


def read(
    request: FetchRequest, clients: AwsClients, region: str, is_catalogued: Callable[[str], bool]
) -> Iterator[PriceReading]:
    """All prices of a region for catalogued types, page by page."""
    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in FILTERS.items()]
    filters.append({"Type": "TERM_MATCH", "Field": "regionCode", "Value": region})
    pages = clients.pages(
        "pricing",
        "get_products",
        HOME_REGION,
        "PriceList",
        region,
        ServiceCode="AmazonEC2",
        Filters=filters,
        FormatVersion="aws_v1",
    )
    products = 0
    for page in pages:
        products += len(page)
        for text in page:
            yield from parse_product(
                request, json.loads(text) if isinstance(text, str) else text, region, is_catalogued
            )
    if not products:  # every region sells machines, with accelerators or without
        raise ProviderFailure("changed_format", f"pricing get_products of {region}: PriceList is empty")
    yield CoveredScope(region, "on_demand")
    yield CoveredScope(region, "reserved")


def parse_product(
    request: FetchRequest, item: Mapping[str, Any], region: str, is_catalogued: Callable[[str], bool]
) -> Iterator[PriceReading]:
    """The prices of one product; a product without its attributes means that the format has changed."""
    try:
        attributes, terms = item["product"]["attributes"], item["terms"]
        name = attributes.get("instanceType", "")
        wrong = [f for f, value in FILTERS.items() if name and attributes[f] != value]
        operation, usage = attributes["operation"], attributes["usagetype"]
    except KeyError as missing:
        raise ProviderFailure(
            "changed_format", f"pricing get_products of {region}: a product without {missing}"
        ) from missing
    if not is_catalogued(name):
        yield SkippedRows(OTHER_TYPES)
    elif wrong or operation != PLAIN_OPERATION or "BoxUsage" not in usage:
        yield SkippedRows(OTHER_USAGES)
    else:
        yield from _on_demand_prices(request, name, region, terms.get("OnDemand", {}))
        yield from _reserved_prices(request, name, region, terms.get("Reserved", {}))


def _on_demand_prices(request: FetchRequest, name: str, region: str, terms: Terms) -> Iterator[Price | RejectedRow]:
    for term in _terms_in_force(request, terms.values()):
        yield _compute_price(request, ("aws", region, name, "on_demand"), term)


def _reserved_prices(request: FetchRequest, name: str, region: str, terms: Terms) -> Iterator[Price | RejectedRow]:
    by_option: dict[str, list[Mapping[str, Any]]] = {}
    for term in terms.values():
        attributes = term["termAttributes"]
        try:
            years = YEARS[attributes["LeaseContractLength"]]
            upfront = UPFRONTS[attributes["PurchaseOption"]]
            of_class = {"standard": "", "convertible": "_convertible"}[attributes["OfferingClass"]]
        except KeyError as unknown:
            yield RejectedRow(f"aws {region} {name} reserved", f"a term with {unknown} is none that can be read")
            continue
        by_option.setdefault(f"reserved_{years}y{of_class}_{upfront}_upfront", []).append(term)
    for option, option_terms in sorted(by_option.items()):
        for term in _terms_in_force(request, option_terms):
            yield _compute_price(request, ("aws", region, name, option), term)


def _terms_in_force(request: FetchRequest, terms: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The terms of the latest date that is not in the future: one, or several that should agree."""
    begun = [term for term in terms if term["effectiveDate"][:10] <= request.today.isoformat()]
    latest = max((str(term["effectiveDate"]) for term in begun), default="")
    return [term for term in begun if term["effectiveDate"] == latest]


def _compute_price(
    request: FetchRequest, key: tuple[str, str, str, str], term: Mapping[str, Any]
) -> Price | RejectedRow:
    """The hourly price of a term: its rate, and for a commitment its fee spread over the hours of the term."""
    option = parse_purchase_option(key[3])
    assert option is not None
    hours = HOURS_PER_YEAR * option.term_months / 12
    rate, fee = 0.0, 0.0
    for dimension in term["priceDimensions"].values():
        unit, amounts = dimension["unit"], dimension["pricePerUnit"]
        if "USD" not in amounts:
            return RejectedRow(" ".join(key), f"priced in {', '.join(amounts)}, expected USD", key)
        if unit == "Hrs":
            rate += float(amounts["USD"])
        elif unit == "Quantity" and hours:
            fee += float(amounts["USD"])
        else:
            return RejectedRow(" ".join(key), f"the unit {unit!r} is none that can be read", key)
    effective = rate + fee / hours if hours else rate
    if effective <= 0:
        return RejectedRow(" ".join(key), f"the price is {effective:g}", key)
    note = f"effective {term['effectiveDate'][:10]}"
    if fee:
        note += f"; {fee:g} upfront and {rate:g} an hour"
    return Price(*key, *option, effective, "USD", request.today, SOURCE, "listed", note)
