"""Machine types and accelerator types of all zones -> offerings, and the regions that sell each.

An accelerator-optimised type carries its accelerators; an N1 type is sold with a GPU in the zones that have both. Both
lists say which types are deprecated, until when and what replaces them. TPU slices come from `tpu_slices.py`. Knows no
price.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import date
from typing import Any

from pricing.accelerator import AcceleratorNames
from pricing.adapters.api_calls import ApiCall
from pricing.adapters.protocol import FetchRequest, RejectedRow, SkippedRows
from pricing.errors import ProviderFailure, UnknownName
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.providers.gcp.billed_parts import load_parts_table
from pricing.providers.gcp.clients import GcpClients, import_sdk
from pricing.providers.gcp.machine_prices import PROVIDER
from pricing.sale import SaleTerm, build_told_term

SOURCE = "gcp-compute-api"
PAGE_SIZE = 500
MIB_PER_GIB = 1024
REMOVED_STATES = frozenset({"OBSOLETE", "DELETED"})
ENDING_STATES = REMOVED_STATES | {"DEPRECATED"}


@dataclass(frozen=True, slots=True)
class GcpDeprecation:
    """What one zone says of the end of a type: `ends` is the day from which it cannot be started, None if it has none;
    `removed` that this day has come."""

    removed: bool
    ends: date | None
    successor: str


@dataclass(slots=True)
class GcpZoneTypes:
    """The types that the zones sell. `offerings` has new types and those that differ from the known ones; `refused` has
    types whose numbers contradict the known ones; `sold` the regions of every type, including N1 with GPUs;
    `deprecations` what each zone says of every machine and accelerator type, by type and region."""

    offerings: dict[str, Offering] = field(default_factory=dict)
    refused: dict[str, RejectedRow] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)
    sold: dict[str, set[str]] = field(default_factory=dict)
    regions: set[str] = field(default_factory=set)
    deprecations: dict[tuple[str, str], list[GcpDeprecation]] = field(default_factory=dict)
    sale_terms: list[SaleTerm] = field(default_factory=list)

    def readings(self) -> Iterator[Offering | SaleTerm | SkippedRows | RejectedRow]:
        yield from self.offerings.values()
        yield from self.sale_terms
        yield from self.refused.values()
        yield from (SkippedRows(reason, rows) for reason, rows in sorted(self.left.items()))


def zone_region(zone: str) -> str:
    """us-central1 for us-central1-a, also in front of a path."""
    return zone.rpartition("/")[2].rpartition("-")[0]


def read(request: FetchRequest, clients: GcpClients) -> GcpZoneTypes:
    """All zones, page by page; only types with accelerators and the N1 shapes of known combinations are used."""
    zone_types = GcpZoneTypes()
    n1_zones = _read_machine_types(request, clients, zone_types)
    gpu_zones = _read_accelerator_types(request, clients, zone_types)
    for offering in request.known.values():
        machine, plus, attached = offering.instance_type.partition("+")
        gpu = re.sub("^[0-9]+x", "", attached if plus else machine)
        zones = gpu_zones.get(gpu, set())
        if plus or offering.part:
            both = zones & n1_zones.get(machine, set()) if plus else zones
            zone_types.sold[offering.instance_type] = {zone_region(zone) for zone in both}
    for name in sorted({*request.known, *zone_types.offerings}):
        zone_types.sale_terms += _build_sale_terms(name, zone_types, request)
    return zone_types


def _build_sale_terms(instance_type: str, zone_types: GcpZoneTypes, request: FetchRequest) -> Iterator[SaleTerm]:
    """The end of a type in each region that lists its parts: that of the zone that keeps it longest, and of a machine
    with a GPU that of the part that ends first. A region that states none tells that none holds."""
    machine, plus, attached = instance_type.partition("+")
    parts = [machine, re.sub("^[0-9]+x", "", attached)] if plus else [instance_type]
    for region in sorted(zone_types.regions & set(request.regions or zone_types.regions)):
        by_zone = [zone_types.deprecations.get((part, region), []) for part in parts]
        if not all(by_zone):
            continue  # a part that no zone lists: nothing is told
        ended = [max(zones, key=_sort_end) for zones in by_zone if all(zone.ends for zone in zones)]
        last = min(ended, key=_sort_end, default=GcpDeprecation(removed=False, ends=None, successor=""))
        source = ("Compute Engine API, deprecated of machineTypes and acceleratorTypes", request.today)
        sold = False if last.removed else None
        yield build_told_term(
            (PROVIDER, instance_type), region, "", source, sold=sold, ends=last.ends, successor=last.successor
        )


def _sort_end(deprecation: GcpDeprecation) -> date:
    return deprecation.ends or date.max


def _note_deprecation(row: Any, zone: str, zone_types: GcpZoneTypes, today: date) -> None:
    """Keeps what a zone says of the end of a machine or accelerator type. Only DEPRECATED, OBSOLETE and DELETED speak
    of an end; without a date, one that cannot be started any more ended by today."""
    state, stated = row.deprecated.state, row.deprecated.obsolete or row.deprecated.deleted
    ends: date | None = None
    if state in ENDING_STATES and re.match(r"\d{4}-\d\d-\d\d", stated):
        ends = date.fromisoformat(stated[:10])
    if state in REMOVED_STATES:
        ends = min(ends or today, today)
    deprecation = GcpDeprecation(state in REMOVED_STATES, ends, row.deprecated.replacement.rpartition("/")[2])
    zone_types.deprecations.setdefault((row.name, zone_region(zone)), []).append(deprecation)


def _list_pages(clients: GcpClients, client: Any, api_request: Any, method: str) -> Iterator[tuple[str, Any]]:
    """Every (zone, scope) of an aggregated list. An unreachable zone fails the call: it would look empty."""
    call = ApiCall("compute", f"{method}.aggregatedList", f"projects/{api_request.project}")
    has_items = False
    for page in clients.pages(call, client.aggregated_list, api_request):
        unreached = [zone for zone, scope in page.items.items() if scope.warning.code == "UNREACHABLE"]
        if unreached or page.unreachables:
            raise ProviderFailure(
                "unreachable", f"{call}: no answer for {', '.join(sorted({*unreached, *page.unreachables}))}"
            )
        for scope_name, scope in sorted(page.items.items()):  # a protobuf map comes in any order
            has_items = True
            yield scope_name.rpartition("/")[2], scope
    if not has_items:
        raise ProviderFailure("changed_format", f"{call}: items is empty")


def _read_machine_types(request: FetchRequest, clients: GcpClients, zone_types: GcpZoneTypes) -> dict[str, set[str]]:
    """Adds offerings and regions to `zone_types`; gives the zones of every N1 type."""
    client = clients.compute("MachineTypesClient")
    api_request = import_sdk("cloud.compute_v1").AggregatedListMachineTypesRequest(
        project=clients.project(), max_results=PAGE_SIZE
    )
    attachable = {o.instance_type.partition("+")[0]: o for o in request.known.values() if "+" in o.instance_type}
    n1_zones: dict[str, set[str]] = {}
    for zone, scope in _list_pages(clients, client, api_request, "machineTypes"):
        zone_types.regions.add(zone_region(zone))
        for row in scope.machine_types:
            _check_fields(row, zone)
            _note_deprecation(row, zone, zone_types, request.today)
            if request.regions and zone_region(zone) not in request.regions:
                zone_types.left["in regions that were not requested"] += 1
            elif row.deprecated.state in REMOVED_STATES:
                zone_types.left["machine types that can no longer be started"] += 1
            elif row.accelerators:
                zone_types.sold.setdefault(row.name, set()).add(zone_region(zone))
                _add_type(request, row, zone, zone_types)
            elif row.name in attachable:
                n1_zones.setdefault(row.name, set()).add(zone)
                _check_shape(row, attachable[row.name], zone_types)
            else:
                zone_types.left["machine types without accelerators"] += 1
    return n1_zones


def _check_fields(row: Any, zone: str) -> None:
    needed = {"name": row.name, "guestCpus": row.guest_cpus, "memoryMb": row.memory_mb}
    if missing := [name for name, value in needed.items() if not value]:
        raise ProviderFailure(
            "changed_format", f"compute machineTypes in {zone}: {', '.join(missing)} missing in {row.name!r}"
        )


def _check_shape(row: Any, known: Offering, zone_types: GcpZoneTypes) -> None:
    if (row.guest_cpus, row.memory_mb / MIB_PER_GIB) == (known.vcpus, known.memory_gib):
        zone_types.left["machine types known as they are"] += 1
        return
    zone_types.left["more zones of types that were refused"] += row.name in zone_types.refused
    read = f"{row.guest_cpus} vCPU and {row.memory_mb / MIB_PER_GIB:g} GiB"
    zone_types.refused[row.name] = RejectedRow(
        row.name, f"{read}, known with GPUs as {known.vcpus:g} and {known.memory_gib:g}"
    )


def _add_type(request: FetchRequest, row: Any, zone: str, zone_types: GcpZoneTypes) -> None:
    """Adds one type of one zone: new, unchanged, with filled gaps, or rejected as contradictory."""
    before = zone_types.offerings.get(row.name) or request.known.get(row.name)
    read = _build_offering(request.names, row, before)
    if isinstance(read, RejectedRow):
        is_repeated = row.name in zone_types.refused
        zone_types.refused.setdefault(row.name, replace(read, reason=f"{read.reason} ({zone})"))
        zone_types.offerings.pop(row.name, None)
        zone_types.left["more zones of types that were refused"] += is_repeated
    elif row.name in zone_types.refused or read == before:
        zone_types.left["machine types known as they are"] += 1
    elif row.name in zone_types.offerings:
        zone_types.refused[row.name] = RejectedRow(row.name, f"its numbers differ between zones ({zone})")
        del zone_types.offerings[row.name]
    else:
        zone_types.offerings[row.name] = read


def _build_offering(names: AcceleratorNames, row: Any, known: Offering | None) -> Offering | RejectedRow:
    kinds = {a.guest_accelerator_type: a.guest_accelerator_count for a in row.accelerators}
    if len(kinds) != 1:
        return RejectedRow(row.name, f"accelerators of {len(kinds)} kinds: {', '.join(sorted(kinds))}")
    [(written, count)] = kinds.items()
    try:
        accelerator = names.resolve(written)
    except UnknownName as unknown:
        if known is None:
            return RejectedRow(row.name, f"guestAcceleratorType: {unknown}")
        accelerator = names.by_name[known.accelerator]
    rule = load_parts_table().machine(row.name)
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
        return RejectedRow(row.name, f"accelerator {written} is {accelerator.name}, known as {known.accelerator}")
    fraction = (known.accelerator_count or 1) < 1  # the answer counts whole accelerators
    if not fraction and known.accelerator_count not in {None, count}:
        return RejectedRow(row.name, f"{count} accelerators, known with {known.accelerator_count:g}")
    counted = known.accelerator_count if fraction else float(count)
    now = replace(known, accelerator_count=counted, local_ssd_gb=ssd or known.local_ssd_gb, **numbers)
    return known if now == known else replace(now, source_id=SOURCE)


def _read_accelerator_types(
    request: FetchRequest, clients: GcpClients, zone_types: GcpZoneTypes
) -> Mapping[str, set[str]]:
    """Zones of every GPU that the catalogue knows as attached to a machine."""
    client = clients.compute("AcceleratorTypesClient")
    api_request = import_sdk("cloud.compute_v1").AggregatedListAcceleratorTypesRequest(
        project=clients.project(), max_results=PAGE_SIZE
    )
    attached = {o.instance_type for o in request.known.values() if o.part}
    zones: dict[str, set[str]] = {}
    for zone, scope in _list_pages(clients, client, api_request, "acceleratorTypes"):
        for row in scope.accelerator_types:
            if not row.name:
                raise ProviderFailure("changed_format", f"compute acceleratorTypes in {zone}: name missing")
            _note_deprecation(row, zone, zone_types, request.today)
            is_attached = row.name in attached and (not request.regions or zone_region(zone) in request.regions)
            if is_attached:
                zones.setdefault(row.name, set()).add(zone)
            zone_types.left[
                "GPUs known as they are" if is_attached else "accelerators that are not attached to machines"
            ] += 1
    return zones
