"""Matches listed rows to nodes: a known type, a new one, or the sum of a machine and its accelerators.

Known data of a type take precedence over the file. The accelerator of a new type is resolved by name and memory, never
by similarity.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from pricing.accelerator import Accelerator, AcceleratorNames
from pricing.adapters.protocol import RejectedRow, SkippedRows, UnidentifiedAccelerator
from pricing.errors import UnknownName
from pricing.frozen_values import dataclass
from pricing.imports.listings import CatalogListing
from pricing.offering import Offering

NO_ACCELERATOR = SkippedRows("a type without accelerators")
LONE_ACCELERATOR = SkippedRows("an accelerator listed alone that is no type of this catalogue")
HOST_ONLY = SkippedRows("a machine whose accelerators the file prices nowhere in that zone")
MEMORY_TOLERANCE = 0.12
"""The tolerance between stated and specified memory: clouds state an L4 of 24 GiB as 22.35."""


@dataclass(frozen=True, slots=True)
class PricedNode:
    """The prices of one type from one row, or from two that belong together; None if there is none.

    `lines` are its rows. `parts` describes, by kind, the terms of a sum; empty if the price is not a sum.
    """

    offering: Offering
    lines: tuple[int, ...]
    on_demand: float | None
    spot: float | None
    parts: Mapping[str, str]


class NodeMatcher:
    """The nodes of one file. `offerings` are those known, by instance type; new ones are named after `source_id`."""

    def __init__(
        self,
        provider: str,
        rows: Iterable[CatalogListing],
        offerings: Mapping[str, Offering],
        names: AcceleratorNames,
        source_id: str,
    ) -> None:
        self.provider, self.rows, self.offerings, self.names = provider, tuple(rows), offerings, names
        self.source_id = source_id
        self.has_separate_accelerators = any(not row.instance_type for row in self.rows)
        self._new: dict[str, Offering | RejectedRow] = {}
        self._meant: dict[
            tuple[str, float | None, float | None], tuple[Accelerator, float] | UnidentifiedAccelerator
        ] = {}

    def of(self, row: CatalogListing) -> PricedNode | SkippedRows | RejectedRow:
        """The node of a row, or why there is none."""
        if row.other_terms:
            return SkippedRows(row.other_terms)
        if not row.instance_type:
            alone = self._match_lone_accelerator(row)
            return _priced_node(alone, row) if alone else LONE_ACCELERATOR
        known = self.offerings.get(row.instance_type)
        if known and self.has_separate_accelerators and not row.accelerator:
            return self._join_machine(row, known)
        offering = known or self._new_type(row)
        return _priced_node(offering, row) if isinstance(offering, Offering) else offering

    def _new_type(self, row: CatalogListing) -> Offering | SkippedRows | RejectedRow:
        if not row.accelerator or row.accelerator_count == 0:
            return NO_ACCELERATOR
        if row.instance_type not in self._new:
            self._new[row.instance_type] = self._build_offering(row)
        return self._new[row.instance_type]

    def _build_offering(self, row: CatalogListing) -> Offering | RejectedRow:
        subject = f"{self.provider} {row.instance_type}"
        spelled = self._accelerator_spellings[row.instance_type]
        if len(spelled) > 1:
            spellings = ", ".join(sorted(f"{count or 0:g} x {name or 'none'}" for name, count in spelled))
            return RejectedRow(
                subject, f"it is listed with several accelerators, {spellings}: which it has is not told"
            )
        meant = self._identify_accelerator(row)
        if isinstance(meant, UnidentifiedAccelerator):
            return RejectedRow(subject, meant.reason)
        return Offering(
            provider=self.provider,
            family=_derive_family(row.instance_type, {offering.family for offering in self.offerings.values()}),
            instance_type=row.instance_type,
            accelerator=meant[0].name,
            accelerator_count=meant[1],
            accelerator_memory_gib=None,  # unknown: listed values are rounded, or what a driver reports
            vcpus=row.vcpus,
            memory_gib=row.memory_gib,
            local_ssd_gb=None,
            network_gbps=None,
            interconnect="",
            status="current",
            successor=None,
            source_id=self.source_id,
        )

    @cached_property
    def _accelerator_spellings(self) -> dict[str, set[tuple[str, float | None]]]:
        """By instance type, all accelerators and counts that the file gives it."""
        spellings: dict[str, set[tuple[str, float | None]]] = defaultdict(set)
        for row in self.rows:
            spellings[row.instance_type].add((row.accelerator, row.accelerator_count or None))
        return spellings

    def _identify_accelerator(self, row: CatalogListing) -> tuple[Accelerator, float] | UnidentifiedAccelerator:
        """The accelerator and its count, in units of the catalogue."""
        key = (row.accelerator, row.accelerator_count, row.accelerator_memory_gib)
        if key not in self._meant:
            self._meant[key] = self._resolve_accelerator(*key)
        return self._meant[key]

    def _resolve_accelerator(
        self, name: str, count: float | None, memory_gib: float | None
    ) -> tuple[Accelerator, float] | UnidentifiedAccelerator:
        try:
            chip, chips = self.names.tpu_slice(name)
        except UnknownName:
            pass
        else:
            return chip, chips * (count or 1)
        if not count:
            return UnidentifiedAccelerator(f"{name} without a count of accelerators")
        written = [name] if memory_gib is None else [name, f"{name}-{memory_gib:.0f}GB"]
        problem = ""
        for spelling in written:
            try:
                accelerator = self.names.resolve(spelling)
            except UnknownName as unknown:
                problem = problem or str(unknown)
                continue
            if memory_gib is None or accelerator.memory_gib is None:
                return accelerator, count
            if math.isclose(accelerator.memory_gib, memory_gib, rel_tol=MEMORY_TOLERANCE):
                return accelerator, count
            problem = (
                f"{name} is {accelerator.name} of {accelerator.memory_gib:g} GiB here, the file says {memory_gib:g} GiB"
            )
        return UnidentifiedAccelerator(problem)

    def _join_machine(self, row: CatalogListing, known: Offering) -> PricedNode | SkippedRows | RejectedRow:
        """The sum of a machine and of its accelerators, which the file lists separately in the same zone."""
        cards = self._lone_accelerators.get((known.accelerator, known.accelerator_count, row.zone or row.region), [])
        if len({(card.on_demand, card.spot) for card in cards}) > 1:
            description = f"{known.accelerator_count:g} x {known.accelerator}"
            return RejectedRow(
                f"{self.provider} {row.instance_type} {row.zone}", f"the file has two prices of {description} alone"
            )
        if not cards:
            return HOST_ONLY
        pairs = {"on_demand": (row.on_demand, cards[0].on_demand), "spot": (row.spot, cards[0].spot)}
        # A sum needs both terms: a machine without the price of its accelerators would look far too cheap.
        sums = {kind: one + two for kind, (one, two) in pairs.items() if one is not None and two is not None}
        part_notes = {
            kind: f"machine {pairs[kind][0]:g} + accelerators {pairs[kind][1]:g}, local disks untold" for kind in sums
        }
        return PricedNode(known, (row.line, cards[0].line), sums.get("on_demand"), sums.get("spot"), part_notes)

    @cached_property
    def _lone_accelerators(self) -> dict[tuple[str, float | None, str], list[CatalogListing]]:
        """Rows of accelerators alone by name, count and zone."""
        lone_rows: dict[tuple[str, float | None, str], list[CatalogListing]] = defaultdict(list)
        for row in self.rows:
            if row.instance_type or not row.accelerator:
                continue
            meant = self._identify_accelerator(row)
            if not isinstance(meant, UnidentifiedAccelerator):
                lone_rows[meant[0].name, meant[1], row.zone or row.region].append(row)
        return lone_rows

    def _match_lone_accelerator(self, row: CatalogListing) -> Offering | None:
        """The type of an accelerator in a separate row: the type of that name, an attachable card, or a TPU slice."""
        if row.accelerator in self.offerings:
            return self.offerings[row.accelerator]
        meant = self._identify_accelerator(row)
        if isinstance(meant, UnidentifiedAccelerator):
            return None
        same = [o for o in self.offerings.values() if (o.accelerator, o.accelerator_count) == (meant[0].name, meant[1])]
        if meant[0].device_class != "tpu":
            same = [offering for offering in same if offering.part]
        named = [
            offering for offering in same if offering.part or _is_same_slice(offering.instance_type, row.accelerator)
        ]
        return named[0] if len(named) == 1 else None


def _priced_node(offering: Offering, row: CatalogListing) -> PricedNode:
    return PricedNode(offering, (row.line,), row.on_demand, row.spot, {})


def _is_same_slice(one: str, two: str) -> bool:
    """Whether two names of the same slice begin with the same word: tpu-v5e-8 and tpu-v5litepod-8."""
    return one.partition("-")[0] == two.partition("-")[0] and one.partition("-")[2][:1] == two.partition("-")[2][:1]


def _derive_family(instance_type: str, known: Iterable[str]) -> str:
    """The known family that a word of the name begins with (p5 or p5 and a digit, never p5e), else its first word."""
    words = re.split(r"[._-]", instance_type)
    for family in sorted(known, key=lambda name: (-len(name), name)):
        pattern = re.escape(family) + (r"(?=\d|$)" if family[-1:].isalpha() else "$")
        if any(re.match(pattern, word, re.IGNORECASE) for word in words):
            return family
    return words[0].upper()
