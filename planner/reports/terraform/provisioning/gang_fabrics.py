"""Whether the nodes of a gang can be joined: by the fabric of their type, within what it joins."""

from __future__ import annotations

from planner.reports.terraform.provisioning.reasons import reason
from planner.result.message import Message
from pricing.catalog.price_catalog import Catalog
from pricing.fabric import SLICE_FABRIC, unknown_fabric


def catalog_of(provider: str) -> Catalog:
    """The shipped catalogue, or for a cloud of one's own the user's."""
    shipped = Catalog.embedded()
    return shipped if provider in shipped.provider_facts else Catalog.current()


def gang_problem(provider: str, instance_type: str, gang_nodes: int, in_one: int) -> Message | None:
    """The reason why a gang of `gang_nodes` nodes cannot be joined, where a placement has to hold `in_one` nodes; None
    where it can."""
    if gang_nodes <= 1:
        return None
    catalog = catalog_of(provider)
    offering = catalog.offerings.get((provider, instance_type))
    fabric = catalog.fabric(offering) if offering else unknown_fabric(provider, instance_type, None)
    facts = {"nodes": str(gang_nodes), "instance_type": instance_type}
    if fabric.rdma == SLICE_FABRIC or fabric.topology:
        return reason("gang_beyond_slice", **facts)
    if not fabric.rdma:
        return reason("gang_without_fabric", **facts)
    if not fabric.joins(in_one):
        return reason("gang_beyond_placement", **facts, pool=str(in_one), limit=str(fabric.nodes_joined))
    return None
