"""Machine types and accelerator types of all zones -> offerings, and the regions that sell each.

An accelerator-optimised type carries its accelerators; an N1 type is sold with a GPU in the zones that have both. TPU
slices come from `slices.py`. Knows no price.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pricing.accelerator import Names
from pricing.adapter import Ask, Left, Refused
from pricing.calls import Call
from pricing.errors import Failed, UnknownName
from pricing.offering import Offering
from pricing.providers.gcp.clients import Clients, sdk
from pricing.providers.gcp.parts import parts
from pricing.providers.gcp.sums import PROVIDER

SOURCE = "gcp-compute-api"
PAGE_SIZE = 500
MIB_PER_GIB = 1024
GONE = frozenset({"OBSOLETE", "DELETED"})


@dataclass(slots=True)
class Found:
    """What the zones sell. `offerings` holds new types and those that differ from what was known; `refused` the types
    whose numbers contradict what is known; `sold` the regions of every type, N1 with GPUs and bare GPUs among them."""

    offerings: dict[str, Offering] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    sold: dict[str, set[str]] = field(default_factory=dict)
    regions: set[str] = field(default_factory=set)

    def readings(self) -> Iterator[Offering | Left | Refused]:
        yield from self.offerings.values()
        yield from self.refused.values()
        yield from (Left(reason, rows) for reason, rows in sorted(self.left.items()))


def region_of(zone: str) -> str:
    """us-central1 for us-central1-a, also in front of a path."""
    return zone.rpartition("/")[2].rpartition("-")[0]


def read(ask: Ask, clients: Clients) -> Found:
    """All zones, page by page; only types with accelerators and the N1 shapes of known combinations are kept."""
    found = Found()
    n1_zones = _machine_types(ask, clients, found)
    gpu_zones = _accelerator_types(ask, clients, found)
    for offering in ask.known.values():
        machine, plus, attached = offering.instance_type.partition("+")
        gpu = re.sub("^[0-9]+x", "", attached if plus else machine)
        zones = gpu_zones.get(gpu, set())
        if plus or offering.part:
            both = zones & n1_zones.get(machine, set()) if plus else zones
            found.sold[offering.instance_type] = {region_of(zone) for zone in both}
    return found


def _pages(clients: Clients, client: Any, request: Any, what: str) -> Iterator[tuple[str, Any]]:
    """Every (zone, scope) of an aggregated list. A zone out of reach fails the call: else it would look unsold."""
    call = Call("compute", f"{what}.aggregatedList", f"projects/{request.project}")
    seen = False
    for page in clients.pages(call, client.aggregated_list, request):
        unreached = [zone for zone, scope in page.items.items() if scope.warning.code == "UNREACHABLE"]
        if unreached or page.unreachables:
            raise Failed("unreachable", f"{call}: no answer for {', '.join(sorted({*unreached, *page.unreachables}))}")
        for scope_name, scope in sorted(page.items.items()):  # a protobuf map comes in any order
            seen = True
            yield scope_name.rpartition("/")[2], scope
    if not seen:
        raise Failed("changed_format", f"{call}: items is empty")


def _machine_types(ask: Ask, clients: Clients, found: Found) -> dict[str, set[str]]:
    """Fills offerings and regions; gives the zones of every N1 type."""
    client = clients.compute("MachineTypesClient")
    request = sdk("cloud.compute_v1").AggregatedListMachineTypesRequest(
        project=clients.project(), max_results=PAGE_SIZE
    )
    attachable = {o.instance_type.partition("+")[0]: o for o in ask.known.values() if "+" in o.instance_type}
    n1_zones: dict[str, set[str]] = {}
    for zone, scope in _pages(clients, client, request, "machineTypes"):
        found.regions.add(region_of(zone))
        for row in scope.machine_types:
            _check(row, zone)
            if ask.regions and region_of(zone) not in ask.regions:
                found.left["in regions that were not asked for"] += 1
            elif row.deprecated.state in GONE:
                found.left["machine types that can no longer be started"] += 1
            elif row.accelerators:
                found.sold.setdefault(row.name, set()).add(region_of(zone))
                _take(ask, row, zone, found)
            elif row.name in attachable:
                n1_zones.setdefault(row.name, set()).add(zone)
                _check_shape(row, attachable[row.name], found)
            else:
                found.left["machine types without accelerators"] += 1
    return n1_zones


def _check(row: Any, zone: str) -> None:
    needed = {"name": row.name, "guestCpus": row.guest_cpus, "memoryMb": row.memory_mb}
    if missing := [name for name, value in needed.items() if not value]:
        raise Failed("changed_format", f"compute machineTypes in {zone}: {', '.join(missing)} missing in {row.name!r}")


def _check_shape(row: Any, known: Offering, found: Found) -> None:
    if (row.guest_cpus, row.memory_mb / MIB_PER_GIB) == (known.vcpus, known.memory_gib):
        found.left["machine types known as they are"] += 1
        return
    found.left["more zones of types that were refused"] += row.name in found.refused
    read = f"{row.guest_cpus} vCPU and {row.memory_mb / MIB_PER_GIB:g} GiB"
    found.refused[row.name] = Refused(row.name, f"{read}, known with GPUs as {known.vcpus:g} and {known.memory_gib:g}")


def _take(ask: Ask, row: Any, zone: str, found: Found) -> None:
    """One type in one zone: new, known as it is, better known now, or in contradiction."""
    before = found.offerings.get(row.name) or ask.known.get(row.name)
    read = _offering(ask.names, row, before)
    if isinstance(read, Refused):
        seen_before = row.name in found.refused
        found.refused.setdefault(row.name, replace(read, reason=f"{read.reason} ({zone})"))
        found.offerings.pop(row.name, None)
        found.left["more zones of types that were refused"] += seen_before
    elif row.name in found.refused or read == before:
        found.left["machine types known as they are"] += 1
    elif row.name in found.offerings:
        found.refused[row.name] = Refused(row.name, f"its numbers differ between zones ({zone})")
        del found.offerings[row.name]
    else:
        found.offerings[row.name] = read


def _offering(names: Names, row: Any, known: Offering | None) -> Offering | Refused:
    kinds = {a.guest_accelerator_type: a.guest_accelerator_count for a in row.accelerators}
    if len(kinds) != 1:
        return Refused(row.name, f"accelerators of {len(kinds)} kinds: {', '.join(sorted(kinds))}")
    [(written, count)] = kinds.items()
    try:
        accelerator = names.resolve(written)
    except UnknownName as unknown:
        if known is None:
            return Refused(row.name, f"guestAcceleratorType: {unknown}")
        accelerator = names.by_name[known.accelerator]
    rule = parts().machine(row.name)
    partition_gib = rule.ssd_partition_gib if rule else None
    ssd = row.bundled_local_ssds.partition_count * partition_gib if partition_gib else 0.0
    numbers = {"vcpus": float(row.guest_cpus), "memory_gib": row.memory_mb / MIB_PER_GIB}
    if known is None:
        family = rule.family if rule else row.name.partition("-")[0].upper()
        return Offering(
            PROVIDER, family, row.name, accelerator.name, float(count), accelerator.memory_gib, **numbers,
            local_ssd_gb=ssd or None, network_gbps=None, interconnect="", status="current", successor=None,
            source_id=SOURCE,
        )  # fmt: skip
    if accelerator.name != known.accelerator:
        return Refused(row.name, f"accelerator {written} is {accelerator.name}, known as {known.accelerator}")
    fraction = (known.accelerator_count or 1) < 1  # the answer counts whole accelerators
    if not fraction and known.accelerator_count not in {None, count}:
        return Refused(row.name, f"{count} accelerators, known with {known.accelerator_count:g}")
    counted = known.accelerator_count if fraction else float(count)
    now = replace(known, accelerator_count=counted, local_ssd_gb=ssd or known.local_ssd_gb, **numbers)
    return known if now == known else replace(now, source_id=SOURCE)


def _accelerator_types(ask: Ask, clients: Clients, found: Found) -> Mapping[str, set[str]]:
    """Zones of every GPU that the catalogue knows as attached to a machine."""
    client = clients.compute("AcceleratorTypesClient")
    request = sdk("cloud.compute_v1").AggregatedListAcceleratorTypesRequest(
        project=clients.project(), max_results=PAGE_SIZE
    )
    attached = {o.instance_type for o in ask.known.values() if o.part}
    zones: dict[str, set[str]] = {}
    for zone, scope in _pages(clients, client, request, "acceleratorTypes"):
        for row in scope.accelerator_types:
            if not row.name:
                raise Failed("changed_format", f"compute acceleratorTypes in {zone}: name missing")
            wanted = row.name in attached and (not ask.regions or region_of(zone) in ask.regions)
            if wanted:
                zones.setdefault(row.name, set()).add(zone)
            found.left["GPUs known as they are" if wanted else "accelerators that are not attached to machines"] += 1
    return zones
