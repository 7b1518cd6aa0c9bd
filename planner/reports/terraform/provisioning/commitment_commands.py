"""How commitments are purchased at their providers: console path and commands, from purchases.toml in this folder.

The facts of one commitment are written into its commands. An unknown fact stays a word in capitals; where no command is
known, the note has the reason.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil
from shlex import quote
from typing import Any

from planner.reports.terraform.provisioning import read_table
from pricing.catalog.price_catalog import Catalog
from pricing.price import PurchaseOptionParts

PAYMENTS = {"": "No Upfront", "none": "No Upfront", "partial": "Partial Upfront", "all": "All Upfront"}
CLASSES = {"": "standard", "convertible": "convertible"}
PLAN_TYPES = {"": "Compute", "compute": "Compute", "instance": "EC2Instance"}
INSTANCE_FAMILY = "instanceFamily"
OPTIONS = ("monthly_billing", "upfront_option", "family_filter", "attached")
"""Facts that are empty or options of a command already; every other one is quoted for a shell."""
SECONDS_A_YEAR = 31_536_000
"""AWS counts a term of one year as this many seconds."""


@dataclass(frozen=True, slots=True)
class CommitmentOrder:
    """One commitment of a plan; `date` and `month_end` are days, YYYY-MM-DD, `name` one that every provider takes."""

    name: str
    provider: str
    region: str
    instance_type: str
    option: PurchaseOptionParts
    count: int
    accelerators: int
    money_per_hour: float
    upfront: float
    currency: str
    date: str
    month_end: str


@dataclass(frozen=True, slots=True)
class PurchaseInstructions:
    """The provider's name for it, the path in its console, and the commands that purchase it; `steps` may be empty."""

    title: str
    console: str
    steps: tuple[str, ...]
    source: str
    note: str


def describe_purchase(order: CommitmentOrder) -> PurchaseInstructions | None:
    """How an order is placed; None for a kind of commitment without instructions at its provider."""
    template = _command_table().get(order.provider, {}).get(order.option.kind)
    if template is None:
        return None
    facts, note = _command_facts(order), template.get("note", "")
    if order.provider == "gcp":
        machine = _machine_facts(order)
        if machine is None:
            note = "no gcloud command is documented for this type: buy it in the console, or from the account team"
            return PurchaseInstructions(template["title"], template["console"], (), template["source"], note)
        facts |= machine
    quoted = {key: value if key in OPTIONS else quote(value) for key, value in facts.items()}
    steps = tuple(step.format(**quoted) for step in template["steps"])
    return PurchaseInstructions(template["title"], template["console"], steps, template["source"], note)


def _command_facts(order: CommitmentOrder) -> dict[str, str]:
    option = order.option
    years = option.term_months // 12
    is_partial = option.upfront == "partial"
    family = order.instance_type.partition(".")[0]
    values = (
        quote(f"name={name},values={value}") for name, value in (("region", order.region), (INSTANCE_FAMILY, family))
    )
    of_family = f" --filters {' '.join(values)}"
    return {
        "name": order.name,
        "region": order.region,
        "instance_type": order.instance_type,
        "count": str(order.count),
        "date": order.date,
        "month_end": order.month_end,
        "commitment": f"{{amount:{order.money_per_hour:.5f},currency-code:{order.currency},grain:Hourly}}",
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


def _machine_facts(order: CommitmentOrder) -> dict[str, str] | None:
    """The units of a Compute Engine commitment: processors, memory and accelerators of all nodes together."""
    offering = Catalog.embedded().offerings.get((order.provider, order.instance_type))
    for row in _command_table()["machine"]:
        match = re.fullmatch(row["pattern"], order.instance_type)
        if match and offering and offering.vcpus and offering.memory_gib:
            parts = match.groupdict()
            accelerator = row.get("accelerator") or parts["accelerator"]
            each = order.accelerators
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
