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
SLICE_CHIPS_MAX = 1024
SLICE_SOURCE = "xpk-slices"
_SLICE = re.compile(r"tpu[a-z0-9-]*-\d+")
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


def derive_slices(rows: Sequence[TableRow], offerings: Sequence[TableRow]) -> list[TableRow]:
    """Rows of offerings for the TPU slices that only the table of networks names, up to SLICE_CHIPS_MAX chips.

    A slice has the accelerator of its sisters, whose names begin alike: tpu-v5p-512 is of tpu-v5p-8's. A generation of
    which no offering is known has none.
    """
    known = {row.values["instance_type"] for row in offerings}
    sisters = {_stem(row.values["instance_type"]): row for row in offerings if row.values["family"] == "TPU"}
    slices: dict[str, TableRow] = {}
    for row in rows:
        name, sister = row.values["instance_type"], sisters.get(_stem(row.values["instance_type"]))
        chips = row.whole("tpu_chips") if _SLICE.fullmatch(name) else None
        if sister is None or not chips or chips > SLICE_CHIPS_MAX or name in known:
            continue
        blank = dict.fromkeys(sister.values, "")
        kept = {column: sister.values[column] for column in ("provider", "family", "accelerator", "status")}
        own = {"instance_type": name, "accelerator_count": str(chips), "source_ids": SLICE_SOURCE}
        slices[name] = TableRow(row.path, row.line, {**blank, **kept, **own}, row.faults)
    return list(slices.values())


def derive_slice_prices(
    rows: Sequence[TableRow], slices: Sequence[TableRow], prices: Sequence[TableRow]
) -> list[TableRow]:
    """Rows of prices for derived slices: so many hosts at the price of their machine type, where that has one."""
    hosts = {row.values["instance_type"]: row for row in rows}
    by_machine: dict[str, list[TableRow]] = {}
    for price in prices:
        by_machine.setdefault(price.values["instance_type"], []).append(price)
    derived = []
    for name in (row.values["instance_type"] for row in slices):
        made_of = hosts[name]
        count, machine = made_of.whole("tpu_hosts") or 0, made_of.values["gke_machine_type"]
        for price in by_machine.get(machine, ()):
            amount = f"{price.positive('price_usd_per_hour') * count:.6g}"
            own = {"instance_type": name, "price_usd_per_hour": amount, "method": "derived"}
            note = {"note": f"{count} hosts at the price of {machine}"}
            derived.append(TableRow(price.path, price.line, {**price.values, **own, **note}, price.faults))
    return derived


def _stem(name: str) -> str:
    """The name without its number: tpu-v5p of tpu-v5p-512; tpu7x of the machine type tpu7x-standard-4t."""
    return re.sub(r"-(standard-)?\d+t?$", "", name)


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
