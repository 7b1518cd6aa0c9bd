"""Savings Plans offering rates -> prices per hour under a Compute or an EC2 Instance plan, by term and payment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pricing.adapters.protocol import CoveredScope, FetchRequest, PriceReading, RejectedRow, SkippedRows
from pricing.price import Price, parse_purchase_option
from pricing.providers.aws.clients import HOME_REGION, AwsClients
from pricing.providers.aws.price_list import OTHER_TYPES, OTHER_USAGES, PLAIN_OPERATION

SOURCE = "aws-savings-plans"
CLASSES = {"Compute": "compute", "EC2Instance": "instance"}
UPFRONTS = {"No Upfront": "no", "Partial Upfront": "partial", "All Upfront": "all"}
YEAR_S = 365 * 24 * 3600
YEARS = {YEAR_S: 1, 3 * YEAR_S: 3}
PAGE_SIZE = 1000
"""Rows a page: the service's own limit."""


def read(
    request: FetchRequest, clients: AwsClients, region: str, plan: str, is_catalogued: Callable[[str], bool]
) -> Iterator[PriceReading]:
    """All rates of one type of plan in a region, for catalogued types."""
    filters = {"region": region, "productDescription": "Linux/UNIX", "tenancy": "shared"}
    pages = clients.pages(
        "savingsplans",
        "describe_savings_plans_offering_rates",
        HOME_REGION,
        "searchResults",
        f"{plan} plans in {region}",
        savingsPlanTypes=[plan],
        products=["EC2"],
        serviceCodes=["AmazonEC2"],
        filters=[{"name": name, "values": [value]} for name, value in filters.items()],
        maxResults=PAGE_SIZE,
    )
    for page in pages:
        for offering_rate in page:
            yield parse_rate(request, offering_rate, region, is_catalogued)


def covered_scope(region: str) -> CoveredScope:
    """The scope to report once the rates of all types of plan were read."""
    return CoveredScope(region, "savings_plan")


def parse_rate(
    request: FetchRequest, offering_rate: Mapping[str, Any], region: str, is_catalogued: Callable[[str], bool]
) -> Price | SkippedRows | RejectedRow:
    """The price for one rate; its properties describe the product."""
    properties = {entry["name"]: entry["value"] for entry in offering_rate["properties"]}
    name, offering = properties["instanceType"], offering_rate["savingsPlanOffering"]
    if not is_catalogued(name):
        return SkippedRows(OTHER_TYPES)
    # UnusedBox is an empty capacity reservation
    plain = offering_rate["operation"] == PLAIN_OPERATION and "BoxUsage" in offering_rate["usageType"]
    if not plain or properties["productDescription"] != "Linux/UNIX" or properties["tenancy"] != "shared":
        return SkippedRows(OTHER_USAGES)
    years = YEARS.get(offering["durationSeconds"])
    upfront, of_class = UPFRONTS.get(offering["paymentOption"]), CLASSES.get(offering["planType"])
    if not years or not upfront or not of_class:
        text = f"{offering['durationSeconds']} s, {offering['paymentOption']}, {offering['planType']}"
        return RejectedRow(f"aws {region} {name} savings plan", f"a plan of {text} is none that can be read")
    key = ("aws", region, name, f"savings_plan_{years}y_{of_class}_{upfront}_upfront")
    rate = float(offering_rate["rate"])
    if offering_rate["unit"] != "Hrs" or offering["currency"] != "USD" or rate <= 0:
        return RejectedRow(
            " ".join(key), f"{rate:g} {offering['currency']} per {offering_rate['unit']}: expected USD per Hrs", key
        )
    option = parse_purchase_option(key[3])
    assert option is not None
    return Price(*key, *option, rate, "USD", request.today, SOURCE, "listed", "")
