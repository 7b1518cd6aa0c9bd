"""Resource SKUs -> offerings: what a size of virtual machine has, and whether its name tells the accelerator.

The SKU list tells how many accelerators a size has (rounded up where it rents a fraction), never which ones: those of
a known size are in the catalogue, those of a new one must stand in its name. Knows no price.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from threading import Lock
from typing import Any

from pricing.accelerator import Accelerator
from pricing.adapter import Ask, Left, Refused
from pricing.errors import Failed, UnknownName
from pricing.offering import Offering, Status
from pricing.patience import Patience
from pricing.providers.azure.clients import Clients
from pricing.units import GB

PROVIDER = "azure"
SOURCE = "azure-resource-skus"
FAMILIES = ("NC", "ND", "NG", "NV")
SHARED_FAMILIES = frozenset({"NG", "NV"})
"""Families whose sizes may have a fraction of an accelerator (NVv4, NVadsA10 v5, NGads V620, NVads V710 v5)."""
WHOLE_COUNTS = frozenset({1, 2, 4, 8, 16})
"""What nodes have. The list has told 12 for a size of 8 (Azure/azure-cli issue 31176): another number is refused."""
NOT_MACHINES = "no virtual machines"
PROMOTIONS = "promotional sizes"
NO_ACCELERATORS = "types without accelerators"
NOTHING_NEW = "known types of which nothing new was told"
MIB = 2**20
MEASURES = ("vcpus", "memory_gib", "local_ssd_gb")
SAME = 1e-3
"""Numbers closer than this are the same."""


@dataclass(frozen=True, slots=True)
class Sku:
    """One size in one region. `restrictions` say why, and in which zones, this subscription may not have it."""

    name: str
    family: str
    capabilities: Mapping[str, str]
    restrictions: tuple[str, ...]

    def number(self, name: str) -> float | None:
        """A capability that is a number; None where it is missing or none."""
        try:
            value = float(self.capabilities.get(name, ""))
        except ValueError:
            return None
        return value if math.isfinite(value) and value >= 0 else None

    @property
    def local_ssd_gb(self) -> float | None:
        """Temporary disk and NVMe together. MaxResourceVolumeMB counts MiB (Azure/karpenter-provider-azure says so;
        736 GiB of NC6s_v3 are told as 753664); 0 says nothing about NVMe disks of newer sizes."""
        mib = (self.number("MaxResourceVolumeMB") or 0) + (self.number("NvmeDiskSizeInMiB") or 0)
        return round(mib * MIB / GB, 3) if mib else None

    def retired_on(self, day: date) -> bool:
        """Whether its date of retirement (08/31/2023) is past."""
        try:
            return datetime.strptime(self.capabilities.get("RetirementDateUtc", ""), "%m/%d/%Y").date() <= day  # noqa: DTZ007 - a day
        except ValueError:
            return False


@dataclass(slots=True)
class Found:
    """What a region sells: sizes with accelerators, the offerings that they make (by type), and all readings."""

    skus: list[Sku] = field(default_factory=list)
    offerings: dict[str, Offering] = field(default_factory=dict)
    readings: list[Offering | Left | Refused] = field(default_factory=list)


class Shelf:
    """The SKU lists of a refresh, each read once, by whichever task needs it first."""

    def __init__(self, ask: Ask, clients: Clients) -> None:
        self._ask, self._clients = ask, clients
        self._found: dict[str, Found] = {}
        self._locks: dict[str, Lock] = {}
        self._lock = Lock()
        self._hopeless: Failed | None = None

    def of(self, region: str, patience: Patience) -> Found:
        """The list of a region; a later call tries again where one failed, unless no region can be read."""
        with self._lock:
            lock = self._locks.setdefault(region, Lock())
        with lock:
            if region not in self._found:
                if self._hopeless:
                    raise Failed(self._hopeless.kind, self._hopeless.detail)
                try:
                    self._found[region] = _read(self._ask, self._clients, region, patience)
                except Failed as failed:
                    if failed.kind in {"no_sdk", "no_credentials"}:
                        self._hopeless = failed
                    raise
            return self._found[region]


def family_of(instance_type: str) -> str:
    """The catalogue's family of a type by its name; empty where it is none with accelerators."""
    family = instance_type.casefold().removeprefix("standard_")[:2].upper()
    return family if family in FAMILIES else ""


def _read(ask: Ask, clients: Clients, region: str, patience: Patience) -> Found:
    found, left, rows = Found(), Counter[str](), 0
    known = {name.casefold(): offering for name, offering in ask.known.items()}
    for page in clients.resource_skus(region, patience):
        for model in page:
            rows += 1
            sku = sku_of(model, region)
            told = offering_of(sku, known, ask) if sku else Left(NOT_MACHINES)
            if sku and (sku.number("GPUs") or sku.name.casefold() in known):
                found.skus.append(sku)
            if isinstance(told, Left):
                left[told.reason] += 1
            else:
                found.readings.append(told)
            if isinstance(told, Offering):
                found.offerings[told.instance_type] = told
    if not rows:
        raise Failed("changed_format", f"compute resource_skus.list of {region}: no SKU at all under value")
    found.readings += [Left(reason, count) for reason, count in left.items()]
    return found


def sku_of(model: Any, region: str) -> Sku | None:
    """A model of the SDK as ours; None for disks, hosts and the like. Raises Failed for a missing field."""
    if _text(model, "resource_type", region) != "virtualMachines":
        return None
    if not model.capabilities:
        raise Failed("changed_format", f"compute resource_skus.list of {region}: {model.name} has no capabilities")
    told = {str(c.name): str(c.value) for c in model.capabilities}
    restrictions = tuple(_restriction(r) for r in model.restrictions or ())
    return Sku(_text(model, "name", region), str(model.family or ""), told, restrictions)


def _text(model: Any, name: str, region: str) -> str:
    value = getattr(model, name)
    if not isinstance(value, str) or not value:
        raise Failed("changed_format", f"compute resource_skus.list of {region}: {name} is missing in {model.name!r}")
    return value


def _restriction(model: Any) -> str:
    zones = sorted((model.restriction_info.zones if model.restriction_info else None) or ())
    where = f"in zones {' '.join(zones)}" if model.type == "Zone" and zones else "in the region"
    return f"{getattr(model.reason_code, 'value', model.reason_code)} {where}"


def offering_of(sku: Sku, known: Mapping[str, Offering], ask: Ask) -> Offering | Left | Refused:
    """The offering that a size makes, given those `known` by lower-case type; else why it makes none."""
    count, old = sku.number("GPUs") or 0, known.get(sku.name.casefold())
    if old is not None:
        return _updated(old, sku, count, ask.today)
    if "promo" in sku.name.casefold():
        return Left(PROMOTIONS)
    return _new(sku, count, known, ask) if count else Left(NO_ACCELERATORS)


def _updated(old: Offering, sku: Sku, count: float, today: date) -> Offering | Left | Refused:
    """A known size keeps its accelerator and its count; a count that nobody knew is taken if it cannot be a fraction.

    The list rounds a fraction up: 1 agrees with 1/6, and does not tell it.
    """
    if old.accelerator_count is None:
        if count and count not in WHOLE_COUNTS:
            return Refused(old.instance_type, f"GPUs is {count:g}, which is no number of accelerators in a node")
    elif not (count == math.ceil(old.accelerator_count) or math.isclose(count, old.accelerator_count, rel_tol=0.02)):
        stated = f"GPUs is {count:g}" if count else "GPUs is missing"
        return Refused(old.instance_type, f"{stated}, the catalogue has {old.accelerator_count:g}")
    retired: Status = "retired" if sku.retired_on(today) else old.status
    told: dict[str, Any] = {"status": retired}
    if old.accelerator_count is None and count > 1:
        told["accelerator_count"] = count
    for name, value in zip(MEASURES, _measures(sku), strict=True):
        before = getattr(old, name)
        if value and not (before is not None and math.isclose(value, before, rel_tol=SAME)):
            told[name] = value
    new = replace(old, **told)
    if new == old:
        return Left(NOTHING_NEW)
    sources = [part for part in old.source_id.split("+") if not part.startswith(SOURCE)]
    return replace(new, source_id="+".join([*sources, SOURCE]))


def _new(sku: Sku, count: float, known: Mapping[str, Offering], ask: Ask) -> Offering | Refused:
    family = family_of(sku.name)
    if not family:
        return Refused(sku.name, f"GPUs is {count:g} in none of the families {' '.join(FAMILIES)}")
    if count not in WHOLE_COUNTS:
        return Refused(sku.name, f"GPUs is {count:g}, which is no number of accelerators in a node")
    named = _named(sku.name, ask)
    if len(named) != 1:
        names = ", ".join(sorted(a.name for a in named))
        which = f"may mean {names}" if named else "names no accelerator that is known"
        return Refused(sku.name, f"unknown accelerator: the name {which}")
    accelerator = named[0]
    may_be_fraction = count == 1 and (family in SHARED_FAMILIES or _shared(accelerator.name, known))
    vcpus, memory_gib, local_ssd_gb = _measures(sku)
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
        status="retired" if sku.retired_on(ask.today) else "current",
        successor=None,
        source_id=SOURCE,
    )


def _measures(sku: Sku) -> tuple[float | None, float | None, float | None]:
    """MemoryGB counts GiB, as the documentation of every size does."""
    return sku.number("vCPUs"), sku.number("MemoryGB"), sku.local_ssd_gb


def _named(instance_type: str, ask: Ask) -> list[Accelerator]:
    """Every accelerator that a part of the name may mean: Standard_NC24ads_A100_v4 says A100, which are four."""
    found: dict[str, Accelerator] = {}
    for part in instance_type.split("_")[2:]:
        if not re.fullmatch(r"v\d+", part):
            for accelerator in _matches(part, ask):
                found[accelerator.name] = accelerator
    return list(found.values())


def _matches(part: str, ask: Ask) -> Iterator[Accelerator]:
    try:
        yield from ask.names.match(part)
    except UnknownName:
        return


def _shared(accelerator: str, known: Mapping[str, Offering]) -> bool:
    """Whether a known size has a fraction of it, or a count that nobody knows."""
    counts = [o.accelerator_count for o in known.values() if o.accelerator == accelerator]
    return any(count is None or count < 1 for count in counts)
