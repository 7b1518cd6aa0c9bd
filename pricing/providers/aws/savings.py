"""Savings Plans offering rates -> prices per hour under a Compute or an EC2 Instance plan, by term and payment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pricing.adapter import Ask, Covered, Left, Reading, Refused
from pricing.price import Price, option_of
from pricing.providers.aws.clients import HOME, Clients
from pricing.providers.aws.price_list import OTHER_TYPES, OTHER_USAGES, PLAIN_OPERATION

SOURCE = "aws-savings-plans"
CLASSES = {"Compute": "compute", "EC2Instance": "instance"}
UPFRONTS = {"No Upfront": "no", "Partial Upfront": "partial", "All Upfront": "all"}
YEAR_S = 365 * 24 * 3600
YEARS = {YEAR_S: 1, 3 * YEAR_S: 3}
MOST_ROWS = 1000
"""Rows a page: the service's own limit."""


def read(ask: Ask, clients: Clients, region: str, plan: str, is_ours: Callable[[str], bool]) -> Iterator[Reading]:
    """All rates of one type of plan in a region, for the types that are ours."""
    filters = {"region": region, "productDescription": "Linux/UNIX", "tenancy": "shared"}
    pages = clients.pages(
        "savingsplans",
        "describe_savings_plans_offering_rates",
        HOME,
        "searchResults",
        f"{plan} plans in {region}",
        savingsPlanTypes=[plan],
        products=["EC2"],
        serviceCodes=["AmazonEC2"],
        filters=[{"name": name, "values": [value]} for name, value in filters.items()],
        maxResults=MOST_ROWS,
    )
    for page in pages:
        for told in page:
            yield rate_of(ask, told, region, is_ours)


def covered(region: str) -> Covered:
    """To be said once the rates of all types of plan were read."""
    return Covered(region, "savings_plan")


def rate_of(ask: Ask, told: Mapping[str, Any], region: str, is_ours: Callable[[str], bool]) -> Price | Left | Refused:
    """The price for one rate; what it is for stands in its properties."""
    properties = {entry["name"]: entry["value"] for entry in told["properties"]}
    name, offering = properties["instanceType"], told["savingsPlanOffering"]
    if not is_ours(name):
        return Left(OTHER_TYPES)
    # UnusedBox is an empty capacity reservation
    plain = told["operation"] == PLAIN_OPERATION and "BoxUsage" in told["usageType"]
    if not plain or properties["productDescription"] != "Linux/UNIX" or properties["tenancy"] != "shared":
        return Left(OTHER_USAGES)
    years = YEARS.get(offering["durationSeconds"])
    upfront, of_class = UPFRONTS.get(offering["paymentOption"]), CLASSES.get(offering["planType"])
    if not years or not upfront or not of_class:
        text = f"{offering['durationSeconds']} s, {offering['paymentOption']}, {offering['planType']}"
        return Refused(f"aws {region} {name} savings plan", f"a plan of {text} is none that can be read")
    key = ("aws", region, name, f"savings_plan_{years}y_{of_class}_{upfront}_upfront")
    rate = float(told["rate"])
    if told["unit"] != "Hrs" or offering["currency"] != "USD" or rate <= 0:
        return Refused(" ".join(key), f"{rate:g} {offering['currency']} per {told['unit']}: expected USD per Hrs", key)
    option = option_of(key[3])
    assert option is not None
    return Price(*key, *option, rate, "USD", ask.today, SOURCE, "listed", "")
