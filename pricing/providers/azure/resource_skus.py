"""Resource SKUs -> offerings: the hardware of each virtual machine size, with the accelerator that its name gives.

The SKU list has the number of accelerators of a size (a fraction is rounded up), but never their model. The model of a
known size is in the catalogue; that of a new size must be part of its name. Knows no price.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import date, datetime
from threading import Lock
from typing import Any

from pricing.accelerator import Accelerator
from pricing.adapters.protocol import FetchRequest, RejectedRow, SkippedRows
from pricing.adapters.retries import RetryBudget
from pricing.errors import ProviderFailure, UnknownName
from pricing.frozen_values import dataclass
from pricing.offering import Offering, Status
from pricing.providers.azure.clients import AzureClients
from pricing.sale import SaleTerm, build_told_term
from pricing.units import GB

PROVIDER = "azure"
SOURCE = "azure-resource-skus"
FAMILIES = ("NC", "ND", "NG", "NV")
SHARED_FAMILIES = frozenset({"NG", "NV"})
"""Families whose sizes may have a fraction of an accelerator (NVv4, NVadsA10 v5, NGads V620, NVads V710 v5)."""
WHOLE_COUNTS = frozenset({1, 2, 4, 8, 16})
"""Counts that nodes have. The list has once stated 12 for 8 (Azure/azure-cli issue 31176), so others are rejected."""
NOT_MACHINES = "no virtual machines"
PROMOTIONS = "promotional sizes"
NO_ACCELERATORS = "types without accelerators"
UNCHANGED_TYPES = "known types of which nothing new was told"
MIB = 2**20
MEASURES = ("vcpus", "memory_gib", "local_ssd_gb")
MEASURE_TOLERANCE = 1e-3
"""Numbers closer than this are the same."""


@dataclass(frozen=True, slots=True)
class Sku:
    """One size in one region. `restrictions` give the reasons and zones in which this subscription may not use it."""

    name: str
    family: str
    capabilities: Mapping[str, str]
    restrictions: tuple[str, ...]

    def number(self, name: str) -> float | None:
        """A capability that is a number; None if missing or not a number."""
        try:
            value = float(self.capabilities.get(name, ""))
        except ValueError:
            return None
        return value if math.isfinite(value) and value >= 0 else None

    @property
    def local_ssd_gb(self) -> float | None:
        """Temporary disk and NVMe together. MaxResourceVolumeMB counts MiB (see Azure/karpenter-provider-azure; the
        736 GiB of NC6s_v3 are stated as 753664); 0 does not exclude NVMe disks on newer sizes."""
        mib = (self.number("MaxResourceVolumeMB") or 0) + (self.number("NvmeDiskSizeInMiB") or 0)
        return round(mib * MIB / GB, 3) if mib else None

    @property
    def retires(self) -> date | None:
        """Its date of retirement (08/31/2023), if it has one."""
        try:
            return datetime.strptime(self.capabilities.get("RetirementDateUtc", ""), "%m/%d/%Y").date()  # noqa: DTZ007 - a day
        except ValueError:
            return None

    def retired_on(self, day: date) -> bool:
        """Whether its date of retirement is past."""
        return self.retires is not None and self.retires <= day

    def sale_terms(self, instance_type: str, region: str, today: date) -> Iterator[SaleTerm]:
        """Its end, and whether spot is ruled out. Restrictions are of the subscription, not of the sale: no term."""
        offering, source = (PROVIDER, instance_type), (f"Azure Compute API, Microsoft.Compute/skus of {region}", today)
        sold = False if self.retired_on(today) else None
        yield build_told_term(offering, region, "", source, sold=sold, ends=self.retires)
        if self.capabilities.get("LowPriorityCapable") == "False":
            yield build_told_term(offering, region, "spot", source, sold=False)


@dataclass(slots=True)
class AzureRegionSizes:
    """The sizes with accelerators of a region, their offerings by type, and all readings."""

    skus: list[Sku] = field(default_factory=list)
    offerings: dict[str, Offering] = field(default_factory=dict)
    readings: list[Offering | SaleTerm | SkippedRows | RejectedRow] = field(default_factory=list)


class SkuCache:
    """The SKU lists of a refresh, each read once, by the first task that needs it."""

    def __init__(self, request: FetchRequest, clients: AzureClients) -> None:
        self._request, self._clients = request, clients
        self._sizes_by_region: dict[str, AzureRegionSizes] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()
        self._permanent_failure: ProviderFailure | None = None

    def of(self, region: str, patience: RetryBudget) -> AzureRegionSizes:
        """The list of a region. A later call retries a failed one, unless the failure affects every region."""
        with self._lock:
            lock = self._locks.setdefault(region, Lock())
        with lock:
            if region not in self._sizes_by_region:
                if self._permanent_failure:
                    raise type(self._permanent_failure)(self._permanent_failure.kind, self._permanent_failure.detail)
                try:
                    self._sizes_by_region[region] = _read_skus(self._request, self._clients, region, patience)
                except ProviderFailure as failed:
                    if failed.kind in {"no_sdk", "no_credentials"}:
                        self._permanent_failure = failed
                    raise
            return self._sizes_by_region[region]


def accelerator_family(instance_type: str) -> str:
    """The catalogue's family of a type by its name; empty for a type without accelerators."""
    family = instance_type.casefold().removeprefix("standard_")[:2].upper()
    return family if family in FAMILIES else ""


def _read_skus(request: FetchRequest, clients: AzureClients, region: str, patience: RetryBudget) -> AzureRegionSizes:
    region_sizes, left, rows = AzureRegionSizes(), Counter[str](), 0
    known = {name.casefold(): offering for name, offering in request.known.items()}
    for page in clients.resource_skus(region, patience):
        for model in page:
            rows += 1
            sku = parse_sku(model, region)
            reading = build_offering(sku, known, request) if sku else SkippedRows(NOT_MACHINES)
            if sku and (sku.number("GPUs") or sku.name.casefold() in known):
                region_sizes.skus.append(sku)
            if isinstance(reading, SkippedRows):
                left[reading.reason] += 1
            else:
                region_sizes.readings.append(reading)
            if isinstance(reading, Offering):
                region_sizes.offerings[reading.instance_type] = reading
            offering = reading if isinstance(reading, Offering) else sku and known.get(sku.name.casefold())
            if sku and offering:
                region_sizes.readings += sku.sale_terms(offering.instance_type, region, request.today)
    if not rows:
        raise ProviderFailure("changed_format", f"compute resource_skus.list of {region}: no SKU at all under value")
    region_sizes.readings += [SkippedRows(reason, count) for reason, count in left.items()]
    return region_sizes


def parse_sku(model: Any, region: str) -> Sku | None:
    """A Sku from a model of the SDK; None for disks, hosts and the like. Raises ProviderFailure for a missing field."""
    if _text_field(model, "resource_type", region) != "virtualMachines":
        return None
    if not model.capabilities:
        raise ProviderFailure(
            "changed_format", f"compute resource_skus.list of {region}: {model.name} has no capabilities"
        )
    capabilities = {str(c.name): str(c.value) for c in model.capabilities}
    restrictions = tuple(_describe_restriction(r) for r in model.restrictions or ())
    return Sku(_text_field(model, "name", region), str(model.family or ""), capabilities, restrictions)


def _text_field(model: Any, name: str, region: str) -> str:
    value = getattr(model, name)
    if not isinstance(value, str) or not value:
        raise ProviderFailure(
            "changed_format", f"compute resource_skus.list of {region}: {name} is missing in {model.name!r}"
        )
    return value


def _describe_restriction(model: Any) -> str:
    zones = sorted((model.restriction_info.zones if model.restriction_info else None) or ())
    where = f"in zones {' '.join(zones)}" if model.type == "Zone" and zones else "in the region"
    return f"{getattr(model.reason_code, 'value', model.reason_code)} {where}"


def build_offering(
    sku: Sku, known: Mapping[str, Offering], request: FetchRequest
) -> Offering | SkippedRows | RejectedRow:
    """The offering of a size, given the `known` ones by lower-case type; else why it has none."""
    count, old = sku.number("GPUs") or 0, known.get(sku.name.casefold())
    if old is not None:
        return _update_known(old, sku, count, request.today)
    if "promo" in sku.name.casefold():
        return SkippedRows(PROMOTIONS)
    return _build_new_offering(sku, count, known, request) if count else SkippedRows(NO_ACCELERATORS)


def _update_known(old: Offering, sku: Sku, count: float, today: date) -> Offering | SkippedRows | RejectedRow:
    """A known size keeps its accelerator and its count; an unknown count is filled in if it cannot be a fraction.

    The list rounds fractions up, so a stated 1 agrees with a known 1/6 but does not reveal it.
    """
    if old.accelerator_count is None:
        if count and count not in WHOLE_COUNTS:
            return RejectedRow(old.instance_type, f"GPUs is {count:g}, which is no number of accelerators in a node")
    elif not (count == math.ceil(old.accelerator_count) or math.isclose(count, old.accelerator_count, rel_tol=0.02)):
        stated = f"GPUs is {count:g}" if count else "GPUs is missing"
        return RejectedRow(old.instance_type, f"{stated}, the catalogue has {old.accelerator_count:g}")
    retired: Status = "retired" if sku.retired_on(today) else old.status
    updates: dict[str, Any] = {"status": retired}
    if old.accelerator_count is None and count > 1:
        updates["accelerator_count"] = count
    for name, value in zip(MEASURES, _size_measures(sku), strict=True):
        before = getattr(old, name)
        if value and not (before is not None and math.isclose(value, before, rel_tol=MEASURE_TOLERANCE)):
            updates[name] = value
    new = replace(old, **updates)
    if new == old:
        return SkippedRows(UNCHANGED_TYPES)
    sources = [part for part in old.source_id.split("+") if not part.startswith(SOURCE)]
    return replace(new, source_id="+".join([*sources, SOURCE]))


def _build_new_offering(
    sku: Sku, count: float, known: Mapping[str, Offering], request: FetchRequest
) -> Offering | RejectedRow:
    family = accelerator_family(sku.name)
    if not family:
        return RejectedRow(sku.name, f"GPUs is {count:g} in none of the families {' '.join(FAMILIES)}")
    if count not in WHOLE_COUNTS:
        return RejectedRow(sku.name, f"GPUs is {count:g}, which is no number of accelerators in a node")
    named = _accelerators_in_name(sku.name, request)
    if len(named) != 1:
        names = ", ".join(sorted(a.name for a in named))
        which = f"may mean {names}" if named else "names no accelerator that is known"
        return RejectedRow(sku.name, f"unknown accelerator: the name {which}")
    accelerator = named[0]
    may_be_fraction = count == 1 and (family in SHARED_FAMILIES or _may_be_shared(accelerator.name, known))
    vcpus, memory_gib, local_ssd_gb = _size_measures(sku)
    return Offering(
        provider=PROVIDER,
        family=family,
        instance_type=sku.name,
        accelerator=accelerator.name,
        accelerator_count=None if may_be_fraction else count,
        accelerator_memory_gib=accelerator.memory_gib,
        vcpus=vcpus,
        memory_gib=memory_gib,
        local_ssd_gb=local_ssd_gb,
        network_gbps=None,
        interconnect="",
        status="retired" if sku.retired_on(request.today) else "current",
        successor=None,
        source_id=SOURCE,
    )


def _size_measures(sku: Sku) -> tuple[float | None, float | None, float | None]:
    """vCPUs, memory in GiB and local disk in GB. `MemoryGB` counts GiB, as the documentation of the sizes shows."""
    return sku.number("vCPUs"), sku.number("MemoryGB"), sku.local_ssd_gb


def _accelerators_in_name(instance_type: str, request: FetchRequest) -> list[Accelerator]:
    """Every accelerator that a part of the name may mean: the A100 of Standard_NC24ads_A100_v4 has four variants."""
    accelerators: dict[str, Accelerator] = {}
    for part in instance_type.split("_")[2:]:
        if not re.fullmatch(r"v\d+", part):
            for accelerator in _match_accelerators(part, request):
                accelerators[accelerator.name] = accelerator
    return list(accelerators.values())


def _match_accelerators(part: str, request: FetchRequest) -> Iterator[Accelerator]:
    try:
        yield from request.names.match(part)
    except UnknownName:
        return


def _may_be_shared(accelerator: str, known: Mapping[str, Offering]) -> bool:
    """Whether a known size has a fraction of it, or an unknown count."""
    counts = [o.accelerator_count for o in known.values() if o.accelerator == accelerator]
    return any(count is None or count < 1 for count in counts)
