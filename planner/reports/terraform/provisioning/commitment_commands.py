"""How commitments are purchased at their providers: console path and commands, from purchases.toml in this folder.

The facts of one commitment are written into its commands. An unknown fact stays a word in capitals; where no command is
known, the note has the reason.
"""

from __future__ import annotations

import calendar
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from math import ceil
from shlex import quote
from typing import Any

from planner.reports.terraform.provisioning import read_table
from planner.reports.terraform.provisioning.gang_fabrics import catalog_of
from planner.result import DatedOrder, Purchase
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass
from pricing.price import PurchaseOptionParts, parse_purchase_option
from pricing.units import HOURS_PER_DAY

PAYMENTS = {"": "No Upfront", "none": "No Upfront", "partial": "Partial Upfront", "all": "All Upfront"}
CLASSES = {"": "standard", "convertible": "convertible"}
PLAN_TYPES = {"": "Compute", "compute": "Compute", "instance": "EC2Instance"}
INSTANCE_FAMILY = "instanceFamily"
OPTIONS = ("monthly_billing", "upfront_option", "family_filter", "attached")
"""Facts that are empty or options of a command already; every other one is quoted for a shell."""
SECONDS_A_YEAR = 31_536_000
"""AWS counts a term of one year as this many seconds."""


@dataclass(frozen=True, slots=True)
class PurchaseInstructions:
    """The provider's name for it, the path in its console, and the commands that purchase it; `steps` may be empty."""

    title: str
    console: str
    steps: tuple[str, ...]
    source: str
    note: str


def find_instructions(order: Purchase, name: str, month: str, currency: str) -> PurchaseInstructions | None:
    """How a commitment is ordered in a `month` (YYYY-MM), under a `name` that every provider takes; None for a kind
    without instructions at its provider."""
    option = parse_purchase_option(order.purchase_option)
    template = None if option is None else _command_table().get(order.provider, {}).get(option.kind)
    if option is None or template is None:
        return None
    facts, note = _command_facts(order, option, month, currency) | {"name": name}, template.get("note", "")
    if order.provider == "gcp":
        machine = _machine_facts(order)
        if machine is None:
            note = "no gcloud command is documented for this type: buy it in the console, or from the account team"
            return PurchaseInstructions(template["title"], template["console"], (), template["source"], note)
        facts |= machine
    steps = tuple(
        step.format(**{key: value if key in OPTIONS else quote(value) for key, value in {**facts, **each}.items()})
        for each in _list_order_facts(order, name, month)
        for step in template["steps"]
    )
    return PurchaseInstructions(template["title"], template["console"], steps, template["source"], note)


def list_orders(purchase: Purchase) -> tuple[DatedOrder, ...]:
    """The orders of a purchase of dated days, none of more nodes than the provider sells at once."""
    limit = most_nodes_of_order(purchase.provider, purchase.name, purchase.purchase_option)
    return tuple(
        replace(order, nodes=min(limit or order.nodes, order.nodes - first))
        for order in purchase.orders
        for first in range(0, order.nodes, limit or order.nodes)
    )


def most_nodes_of_order(provider: str, instance_type: str, purchase_option: str) -> int | None:
    """The most nodes that one order may have; None where no limit is known."""
    terms = catalog_of(provider).sale_terms(provider, instance_type)
    return min((term.max_nodes for term in terms if term.names(purchase_option) and term.max_nodes), default=None)


def _list_order_facts(order: Purchase, name: str, month: str) -> Iterator[dict[str, str]]:
    """What differs between the orders of a purchase of dated days: one without facts for any other, and for plans of
    before, which do not tell their orders."""
    orders = list_orders(order)
    for number, each in enumerate(orders, start=1):
        yield {
            "name": name if len(orders) == 1 else f"{name}-{number}",
            "nodes": str(each.nodes),
            "days": str(each.days),
            "hours": str(round(each.days * HOURS_PER_DAY)),
            "date": f"{month}-{each.first_day:02d}",
        }
    if not orders:
        yield {"nodes": "NODES", "days": "DAYS", "hours": "HOURS"}


def _command_facts(order: Purchase, option: PurchaseOptionParts, month: str, currency: str) -> dict[str, str]:
    years = option.term_months // 12
    is_partial = option.upfront == "partial"
    family = order.name.partition(".")[0]
    last_day = calendar.monthrange(*map(int, month.split("-")))[1]
    values = (
        quote(f"name={name},values={value}") for name, value in (("region", order.region), (INSTANCE_FAMILY, family))
    )
    of_family = f" --filters {' '.join(values)}"
    return {
        "region": order.region,
        "instance_type": order.name,
        "count": str(order.count),
        "date": f"{month}-01",
        "month_end": f"{month}-{last_day:02d}",
        # days that begin at noon and fill the month end on the first of the next
        "month_over": f"{date.fromisoformat(f'{month}-{last_day}') + timedelta(days=1)}",
        "commitment": f"{{amount:{order.money_per_hour:.5f},currency-code:{currency},grain:Hourly}}",
        "offering_class": CLASSES.get(option.offering_class, "standard"),
        "plan_type": PLAN_TYPES.get(option.offering_class, "Compute"),
        "payment": PAYMENTS[option.upfront],
        "seconds": str(years * SECONDS_A_YEAR),
        "months": str(option.term_months),
        "iso_term": f"P{years}Y",
        "billing_plan": "Upfront" if order.upfront > 0 else "Monthly",
        "monthly_billing": "" if order.upfront > 0 else " --billing-plan P1M",
        "money_per_hour": f"{order.money_per_hour:.5f}",
        "upfront_option": f" --upfront-payment-amount {ceil(order.upfront)}" if is_partial else "",
        "family_filter": of_family if option.offering_class == "instance" else "",
    }


def _machine_facts(order: Purchase) -> dict[str, str] | None:
    """The units of a Compute Engine commitment: processors, memory and accelerators of all nodes together."""
    offering = Catalog.embedded().offerings.get((order.provider, order.name))
    for row in _command_table()["machine"]:
        match = re.fullmatch(row["pattern"], order.name)
        if match and offering and offering.vcpus and offering.memory_gib:
            parts = match.groupdict()
            accelerator = row.get("accelerator") or parts["accelerator"]
            each = round(order.accelerators_per_node)
            return {
                "machine_type": parts["machine"],
                "machine_series": row["series"],
                "accelerator_type": accelerator,
                "accelerators": str(each * order.count),
                "vcpus": f"{offering.vcpus * order.count:g}",
                "memory_gib": f"{offering.memory_gib * order.count:g}",
                "attached": f" --accelerator=count={each},type={quote(accelerator)}" if row.get("attach") else "",
            }
    return None


@cache
def _command_table() -> Mapping[str, Any]:
    return tomllib.loads(read_table("purchases.toml"))
