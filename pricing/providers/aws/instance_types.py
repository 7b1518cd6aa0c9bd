"""EC2 instance types -> offerings: accelerators, fractions of one, vCPUs, memory, local disk, network; ways of paying
that EC2 does not support for a type.

A known type keeps its accelerator and its count. The accelerator of a new type is identified by the name that EC2
reports, and by its memory if several variants have that name; otherwise the type is rejected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pricing.accelerator import Accelerator
from pricing.adapters.protocol import FetchRequest, RejectedRow, SkippedRows, UnidentifiedAccelerator
from pricing.errors import ProviderFailure, UnknownName
from pricing.frozen_values import dataclass
from pricing.offering import Offering, Status
from pricing.providers.aws.clients import AwsClients
from pricing.sale import SaleTerm, build_told_term

SOURCE = "aws-ec2-types"
TYPE_PATTERNS = ["p*", "g*", "trn*", "inf*", "dl*"]
"""Patterns of the filter instance-type. Every family of these letters has accelerators."""
MEMORY_TOLERANCE = 0.13
"""EC2 reports the GPU memory that the driver leaves free: 22.35 of 24 GiB for L4 and A10G, 268.59 of 288 for B300."""
CAPACITY_BLOCK_CLASS = "capacity-block"
USAGE_CLASSES = {"on-demand": "on_demand", "spot": "spot", CAPACITY_BLOCK_CLASS: "capacity_block"}
"""Usage class of EC2 -> purchase option. A class that a type lacks is not sold; one that it has is supported, which is
no offer: EC2 lists on-demand for p5e and trn2, which are sold in blocks only."""


@dataclass(frozen=True, slots=True)
class AwsRegionTypes:
    """The accelerated types of one region: `offerings` by name, `blocks` those sold in capacity blocks, `sale_terms`
    how they are not sold, `refused` the rejected ones, `elsewhere` the number that EC2 describes and no zone of the
    region sells."""

    offerings: Mapping[str, Offering]
    blocks: tuple[str, ...]
    refused: tuple[RejectedRow, ...]
    elsewhere: int
    sale_terms: tuple[SaleTerm, ...]

    def readings(self) -> Iterator[Offering | SaleTerm | RejectedRow | SkippedRows]:
        yield from self.offerings.values()
        yield from self.sale_terms
        yield from self.refused
        if self.elsewhere:
            yield SkippedRows("instance types that no zone of the region sells", self.elsewhere)


def read(request: FetchRequest, clients: AwsClients, region: str) -> AwsRegionTypes:
    """The accelerated instance types that EC2 describes in a region and sells in one of its zones."""
    zones = _count_zones(clients, region)
    offerings: dict[str, Offering] = {}
    refused, elsewhere, blocks = [], 0, []
    sale_terms: list[SaleTerm] = []
    names = [{"Name": "instance-type", "Values": TYPE_PATTERNS}]
    for page in clients.pages("ec2", "describe_instance_types", region, "InstanceTypes", Filters=names):
        for type_info in page:
            name = type_info["InstanceType"]
            if name not in zones:
                elsewhere += 1
                continue
            outcome = build_offering(request, type_info)
            if isinstance(outcome, Offering):
                offerings[name] = outcome
                sale_terms += _read_usage_classes(request, type_info, region)
            else:
                refused.append(outcome)
            if CAPACITY_BLOCK_CLASS in type_info.get("SupportedUsageClasses", ()):
                blocks.append(name)
    return AwsRegionTypes(offerings, tuple(sorted(blocks)), tuple(refused), elsewhere, tuple(sale_terms))


def _read_usage_classes(request: FetchRequest, type_info: Mapping[str, Any], region: str) -> Iterator[SaleTerm]:
    """The ways of paying that a type lacks, and those of which EC2 tells nothing against."""
    classes = type_info.get("SupportedUsageClasses") or USAGE_CLASSES
    for usage_class, option in USAGE_CLASSES.items():
        lacks = usage_class not in classes
        if lacks or usage_class != CAPACITY_BLOCK_CLASS:  # blocks on offer are told by capacity_blocks.py
            offering = ("aws", type_info["InstanceType"])
            source = ("EC2 DescribeInstanceTypes, SupportedUsageClasses", request.today)
            yield build_told_term(offering, region, option, source, sold=False if lacks else None)


def _count_zones(clients: AwsClients, region: str) -> dict[str, int]:
    """How many zones of the region sell each type."""
    zone_counts: dict[str, int] = {}
    part, zones = "InstanceTypeOfferings", "availability-zone"
    for page in clients.pages("ec2", "describe_instance_type_offerings", region, part, LocationType=zones):
        for entry in page:
            zone_counts[entry["InstanceType"]] = zone_counts.get(entry["InstanceType"], 0) + 1
    if not zone_counts:  # every region sells machines, with accelerators or without
        raise ProviderFailure("changed_format", f"ec2 describe_instance_type_offerings of {region}: {part} is empty")
    return zone_counts


def build_offering(request: FetchRequest, type_info: Mapping[str, Any]) -> Offering | RejectedRow:
    """The offering for one entry of describe_instance_types."""
    name = type_info["InstanceType"]
    devices = _parse_devices(type_info)
    if devices is None:
        return RejectedRow(f"aws {name}", "EC2 tells no accelerator of it")
    count, spelled, memory_gib = devices
    known = request.known.get(name)
    if known is not None:
        return _update_known(known, type_info, count)
    accelerator = _identify_accelerator(request, spelled, memory_gib)
    if isinstance(accelerator, UnidentifiedAccelerator):
        return RejectedRow(f"aws {name}", f"{accelerator.reason}, as EC2 reports it")
    disk = type_info.get("InstanceStorageInfo", {}).get("TotalSizeInGB")
    return Offering(
        provider="aws",
        family=_derive_family(request, name),
        instance_type=name,
        accelerator=accelerator.name,
        accelerator_count=count,
        accelerator_memory_gib=round(memory_gib, 2) if memory_gib else None,
        vcpus=float(type_info["VCpuInfo"]["DefaultVCpus"]),
        memory_gib=type_info["MemoryInfo"]["SizeInMiB"] / 1024,
        local_ssd_gb=float(disk) if disk else None,
        network_gbps=_network_gbps(type_info),
        interconnect="",
        status=_read_status(type_info, "current"),
        successor=None,
        source_id=SOURCE,
    )


def _update_known(known: Offering, type_info: Mapping[str, Any], count: float) -> Offering | RejectedRow:
    """The known offering with its gaps filled; rejected if the number of accelerators differs."""
    if known.accelerator_count is not None and not math.isclose(known.accelerator_count, count, rel_tol=1e-3):
        text = f"EC2 reports {count:g} accelerators, the catalogue has {known.accelerator_count:g}"
        return RejectedRow(f"aws {known.instance_type}", text)
    missing = {
        "accelerator_count": count,
        "vcpus": float(type_info["VCpuInfo"]["DefaultVCpus"]),
        "memory_gib": type_info["MemoryInfo"]["SizeInMiB"] / 1024,
        "network_gbps": _network_gbps(type_info),
    }
    news: dict[str, Any] = {
        field: value for field, value in missing.items() if getattr(known, field) is None and value is not None
    }
    if (status := _read_status(type_info, known.status)) != known.status:
        news["status"] = status
    return replace(known, **news, source_id=SOURCE) if news else known


def _read_status(type_info: Mapping[str, Any], known: Status) -> Status:
    """EC2 tells current from previous generations; a type that is known as retired stays so."""
    if known == "retired" or "CurrentGeneration" not in type_info:
        return known
    return "current" if type_info["CurrentGeneration"] else "legacy"


def _parse_devices(type_info: Mapping[str, Any]) -> tuple[float, str, float | None] | None:
    """The number of accelerators, their name in EC2, and GiB of one; a share of a GPU is a fraction."""
    for info, entries in (
        ("GpuInfo", "Gpus"),
        ("NeuronInfo", "NeuronDevices"),
        ("InferenceAcceleratorInfo", "Accelerators"),
    ):
        for device in type_info.get(info, {}).get(entries, ()):
            whole = device.get("Count") or 0
            count = whole or device.get("LogicalGpuCount", 0) * device.get("GpuPartitionSize", 0.0)
            size_mib = device.get("MemoryInfo", {}).get("SizeInMiB")
            if count:
                share = 1.0 if whole else device["GpuPartitionSize"]
                return float(count), f"{device['Name']}", size_mib / 1024 / share if size_mib else None
    return None


def _identify_accelerator(
    request: FetchRequest, spelled: str, memory_gib: float | None
) -> Accelerator | UnidentifiedAccelerator:
    """The only accelerator of that name and memory."""
    try:
        variants = request.names.match(spelled)
    except UnknownName:
        return UnidentifiedAccelerator(f"the accelerator {spelled!r} is unknown")
    fits = [
        v
        for v in variants
        if memory_gib is None
        or v.memory_gib is None
        or math.isclose(v.memory_gib, memory_gib, rel_tol=MEMORY_TOLERANCE)
    ]
    if len(fits) > 1 and (usual := request.names.resolve(spelled)) in fits:
        return usual  # the variant that clouds mean by the bare name
    if len(fits) == 1:
        return fits[0]
    size = "of unknown memory" if memory_gib is None else f"with {memory_gib:.1f} GiB"
    candidates = ", ".join(v.name for v in fits) or "none that is known"
    return UnidentifiedAccelerator(f"the accelerator {spelled!r} {size} could be {candidates}")


def _derive_family(request: FetchRequest, name: str) -> str:
    """The family of known types with the same letters and number (g6e belongs to G6); else Trn3 for trn3.48xlarge."""
    generation = re.match(r"[a-z]+\d+", name)
    start = generation[0] if generation else name.partition(".")[0]
    families = {known.family for known in request.known.values() if re.match(rf"{start}(?!\d)", known.instance_type)}
    return families.pop() if len(families) == 1 else _format_family(start)


def _format_family(start: str) -> str:
    return start.capitalize() if start.startswith(("inf", "trn")) else start.upper()


def _network_gbps(type_info: Mapping[str, Any]) -> float | None:
    """What EC2 states for the whole node ("4x 100 Gigabit"; "Up to 25 Gigabit" is a peak that small sizes do not
    sustain), else the sum of its network cards. Cards that share a link have a larger sum: g6e.24xlarge has two of 200
    on a node of 200."""
    network = type_info.get("NetworkInfo", {})
    if stated := re.search(r"(?:(\d+)x )?(\d+(?:\.\d+)?) Gigabit", network.get("NetworkPerformance", "")):
        return int(stated[1] or 1) * float(stated[2])
    rates = [card.get("PeakBandwidthInGbps") for card in network.get("NetworkCards", ())]
    return float(sum(rates)) if rates and all(rates) else None
