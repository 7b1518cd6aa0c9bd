"""EC2 instance types -> offerings: accelerators, fractions of one, vCPUs, memory, local disk, network.

A known type keeps its accelerator and must have as many as before. That of a new one is found by the name that EC2
reports, and by its memory where the name covers several; what is not found is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pricing.accelerator import Accelerator
from pricing.adapter import Ask, Left, Refused
from pricing.errors import UnknownName
from pricing.offering import Offering
from pricing.providers.aws.clients import Clients

SOURCE = "aws-ec2-types"
WANTED = ["p*", "g*", "trn*", "inf*", "dl*"]
"""Patterns of the filter instance-type. Every family of these letters has accelerators."""
MEMORY_SLACK = 0.13
"""EC2 reports what a driver leaves of a GPU's memory: 22.35 of 24 GiB for L4 and A10G, 268.59 of 288 for B300."""
BLOCKS = "capacity-block"


@dataclass(frozen=True, slots=True)
class Sold:
    """The accelerated types of one region: `offerings` by name, `blocks` those sold in capacity blocks, `refused` and
    `elsewhere` how many EC2 describes and no zone of the region sells."""

    offerings: Mapping[str, Offering]
    blocks: tuple[str, ...]
    refused: tuple[Refused, ...]
    elsewhere: int

    def readings(self) -> Iterator[Offering | Refused | Left]:
        yield from self.offerings.values()
        yield from self.refused
        if self.elsewhere:
            yield Left("instance types that no zone of the region sells", self.elsewhere)


def read(ask: Ask, clients: Clients, region: str) -> Sold:
    """The accelerated instance types that EC2 describes in a region and sells in one of its zones."""
    zones = _zones(clients, region)
    offerings: dict[str, Offering] = {}
    refused, elsewhere, blocks = [], 0, []
    names = [{"Name": "instance-type", "Values": WANTED}]
    for page in clients.pages("ec2", "describe_instance_types", region, "InstanceTypes", Filters=names):
        for told in page:
            name = told["InstanceType"]
            if name not in zones:
                elsewhere += 1
                continue
            found = offering_of(ask, told)
            if isinstance(found, Offering):
                offerings[name] = found
            else:
                refused.append(found)
            if BLOCKS in told.get("SupportedUsageClasses", ()):
                blocks.append(name)
    return Sold(offerings, tuple(sorted(blocks)), tuple(refused), elsewhere)


def _zones(clients: Clients, region: str) -> dict[str, int]:
    """How many zones of the region sell each type."""
    found: dict[str, int] = {}
    part, zones = "InstanceTypeOfferings", "availability-zone"
    for page in clients.pages("ec2", "describe_instance_type_offerings", region, part, LocationType=zones):
        for told in page:
            found[told["InstanceType"]] = found.get(told["InstanceType"], 0) + 1
    return found


def offering_of(ask: Ask, told: Mapping[str, Any]) -> Offering | Refused:
    """The offering for one entry of describe_instance_types."""
    name = told["InstanceType"]
    devices = _devices(told)
    if devices is None:
        return Refused(f"aws {name}", "EC2 tells no accelerator of it")
    count, spelled, memory_gib = devices
    known = ask.known.get(name)
    if known is not None:
        return _known(known, told, count)
    found = _accelerator(ask, spelled, memory_gib)
    if isinstance(found, str):
        return Refused(f"aws {name}", f"{found}, as EC2 reports it")
    disk = told.get("InstanceStorageInfo", {}).get("TotalSizeInGB")
    return Offering(
        provider="aws",
        family=_family(ask, name),
        instance_type=name,
        accelerator=found.name,
        accelerator_count=count,
        accelerator_memory_gib=round(memory_gib, 2) if memory_gib else None,
        vcpus=float(told["VCpuInfo"]["DefaultVCpus"]),
        memory_gib=told["MemoryInfo"]["SizeInMiB"] / 1024,
        local_ssd_gb=float(disk) if disk else None,
        network_gbps=_network_gbps(told),
        interconnect="",
        status="current",
        successor=None,
        source_id=SOURCE,
    )


def _known(known: Offering, told: Mapping[str, Any], count: float) -> Offering | Refused:
    """The known offering, with what it lacked; refused where the count of accelerators differs."""
    if known.accelerator_count is not None and not math.isclose(known.accelerator_count, count, rel_tol=1e-3):
        text = f"EC2 reports {count:g} accelerators, the catalogue has {known.accelerator_count:g}"
        return Refused(f"aws {known.instance_type}", text)
    missing = {
        "accelerator_count": count,
        "vcpus": float(told["VCpuInfo"]["DefaultVCpus"]),
        "memory_gib": told["MemoryInfo"]["SizeInMiB"] / 1024,
        "network_gbps": _network_gbps(told),
    }
    news: dict[str, Any] = {
        field: value for field, value in missing.items() if getattr(known, field) is None and value is not None
    }
    return replace(known, **news, source_id=SOURCE) if news else known


def _devices(told: Mapping[str, Any]) -> tuple[float, str, float | None] | None:
    """How many accelerators, what EC2 calls them, and GiB of one; a share of a GPU is a fraction."""
    for info, entries in (
        ("GpuInfo", "Gpus"),
        ("NeuronInfo", "NeuronDevices"),
        ("InferenceAcceleratorInfo", "Accelerators"),
    ):
        for device in told.get(info, {}).get(entries, ()):
            whole = device.get("Count") or 0
            count = whole or device.get("LogicalGpuCount", 0) * device.get("GpuPartitionSize", 0.0)
            size_mib = device.get("MemoryInfo", {}).get("SizeInMiB")
            if count:
                share = 1.0 if whole else device["GpuPartitionSize"]
                return float(count), f"{device['Name']}", size_mib / 1024 / share if size_mib else None
    return None


def _accelerator(ask: Ask, spelled: str, memory_gib: float | None) -> Accelerator | str:
    """The one accelerator of that name and memory, or what is wrong."""
    try:
        variants = ask.names.match(spelled)
    except UnknownName:
        return f"the accelerator {spelled!r} is unknown"
    fits = [
        v
        for v in variants
        if memory_gib is None or v.memory_gib is None or math.isclose(v.memory_gib, memory_gib, rel_tol=MEMORY_SLACK)
    ]
    if len(fits) > 1 and (usual := ask.names.resolve(spelled)) in fits:
        return usual  # what the clouds mean by the bare name
    if len(fits) == 1:
        return fits[0]
    size = "of unknown memory" if memory_gib is None else f"with {memory_gib:.1f} GiB"
    return f"the accelerator {spelled!r} {size} could be {', '.join(v.name for v in fits) or 'none that is known'}"


def _family(ask: Ask, name: str) -> str:
    """As types of the same letters and number have it: g6e is of G6, as g6 is; else Trn3 for trn3.48xlarge, DL3."""
    generation = re.match(r"[a-z]+\d+", name)
    start = generation[0] if generation else name.partition(".")[0]
    families = {known.family for known in ask.known.values() if re.match(rf"{start}(?!\d)", known.instance_type)}
    return families.pop() if len(families) == 1 else _written(start)


def _written(start: str) -> str:
    return start.capitalize() if start.startswith(("inf", "trn")) else start.upper()


def _network_gbps(told: Mapping[str, Any]) -> float | None:
    """The sum of what the cards reach at most, as all rows of the catalogue have it; small sizes sustain less."""
    cards = told.get("NetworkInfo", {}).get("NetworkCards", ())
    rates = [card.get("PeakBandwidthInGbps") for card in cards]
    return float(sum(rates)) if rates and all(rates) else None
