"""Instance types that can no longer be started, and their successors, as the catalogue has them."""

from __future__ import annotations

from planner.reports.terraform.provisioning.reasons import reason
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog


def retirement_reason(provider: str, instance_type: str) -> Message | None:
    """The reason why a type can no longer be started, with its successor; None for one that can."""
    catalog = Catalog.embedded()
    family = catalog.ended_family(instance_type)
    if family is not None and family.provider == provider:
        return reason(
            "family_ended", title=family.title, ended=family.ended, successor=family.successor, source=family.source
        )
    offering = catalog.offerings.get((provider, instance_type))
    if offering is None or offering.status != "retired":
        return None
    if not offering.successor:
        return reason("type_retired_without_successor")
    return reason("type_retired", successor=offering.successor)
