"""Turns the table of networks, whose limits are words, into the fabrics of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from pricing.csv_tables import TableRow, parse_number
from pricing.fabric import Fabric
from tools.importer.sale_terms import tidy_source

FABRIC_FACT_COLUMNS = (
    "provider", "instance_type", "network_gbps", "rdma", "rdma_gbps", "nics", "nodes_per_domain", "tpu_topology",
    "tpu_chips", "tpu_hosts", "gke_machine_type", "source", "date", "confidence",
)  # fmt: skip
_COUNTED = re.compile(r"^(\d+)(?: (?:VMs?|instances))?(?: \(|;|$| in one scale set| unless)")
_BEYOND = re.compile(r"beyond|further over")
"""A rack or domain that a wider fabric joins to others: its own number is no limit."""
_PATTERNS = {"n1+nvidia-tesla-*": "n1-*+*xnvidia-tesla-*"}
"""Names of types that stand for many."""


def build_fabrics(rows: Sequence[TableRow], types: Mapping[str, Sequence[str]]) -> list[Fabric]:
    """The fabric of each known type; of several rows of one TPU slice the one with the fewest hosts."""
    fabrics: dict[tuple[str, str], Fabric] = {}
    for row in rows:
        provider, written = row.text("provider"), row.text("instance_type")
        pattern = _PATTERNS.get(written, written)
        for name in (name for name in types.get(provider, ()) if fnmatchcase(name, pattern)):
            fabric = build_fabric(row, name)
            known = fabrics.get(fabric.key)
            if known is None or (fabric.hosts or 1) < (known.hosts or 1):
                fabrics[fabric.key] = fabric
    return list(fabrics.values())


def build_fabric(row: TableRow, instance_type: str) -> Fabric:
    """The fabric that a row states. A slice is one node, whatever its hosts: slices are not joined with each other."""
    network = parse_number(row.values["network_gbps"])  # a range over the sizes of a series (5-80) says nothing of one
    rdma = "" if row.values["rdma"] == "none" else row.values["rdma"]
    words = row.values["nodes_per_domain"]
    counted = None if _BEYOND.search(words) else _COUNTED.search(words)
    joined = int(counted[1]) if counted and rdma else None
    if not rdma or rdma == "ICI":
        joined = 1
    return Fabric(
        provider=row.values["provider"],
        instance_type=instance_type,
        network_gbps=network,
        rdma=rdma,
        rdma_gbps=row.number("rdma_gbps") if rdma else None,
        nodes_joined=joined,
        network_interfaces=row.whole("nics"),
        topology=row.values["tpu_topology"] if " " not in row.values["tpu_topology"] else "",
        hosts=row.whole("tpu_hosts"),
        machine_type=row.values["gke_machine_type"],
        source=tidy_source(row.text("source")),
        checked=row.text("date"),
        confidence=row.text("confidence"),
    )
