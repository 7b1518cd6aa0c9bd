"""The catalogue of another tool -> prices of ours: one row a type, region and way of paying, every row accounted for.

The files carry no date: whoever imports one says of which day it is. An import covers nothing, so nothing vanishes;
it adds, and replaces what is not newer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from statistics import median

from pricing.accelerator import Names
from pricing.adapter import Left, Refused
from pricing.gate import FAR_ABOVE, Fetched, Key
from pricing.importer.listed import Listed, Unreadable
from pricing.importer.nodes import Node, Nodes
from pricing.offering import Offering
from pricing.place import Source
from pricing.price import Kind, Price, spot_level
from pricing.snapshot import Snapshot

CURRENCY = "USD"
"""Of both tools' files."""
DIGITS = 6
"""Of a price per hour: one more than either tool writes, so that only the noise of sums and medians goes."""
PART = "per attached accelerator, machine not included"
NO_PRICE = "no price, or one of 0: a gap"
AT_ON_DEMAND = "a spot price at or above on demand in every zone: there is no spot to be had"
OLDER = "older than the price in use"


@dataclass(frozen=True, slots=True)
class Counted:
    """What became of the rows of a file: rows = taken + refused + all of left."""

    rows: int
    taken: int
    refused: int
    left: Mapping[str, int]


@dataclass(slots=True)
class _Fate:
    """What became of each line: the best of what its prices came to."""

    taken: set[int] = field(default_factory=set)
    refused: dict[tuple[str, str, Key | None], set[int]] = field(default_factory=lambda: defaultdict(set))
    left: dict[int, str] = field(default_factory=dict)

    def counted(self, rows: int) -> Counted:
        refused = {line for lines in self.refused.values() for line in lines} - self.taken
        better = self.taken | refused
        left = Counter(why for line, why in self.left.items() if line not in better)
        return Counted(rows, len(self.taken), len(refused), dict(sorted(left.items())))

    def readings(self) -> tuple[Refused, ...]:
        """Each reason once, with the number of rows and the first of them."""
        return tuple(
            Refused(subject, f"{reason} ({_rows(lines)})", key)
            for (subject, reason, key), lines in sorted(self.refused.items(), key=lambda item: min(item[1]))
        )


def fetched(
    provider: str,
    rows: Iterable[Listed | Unreadable],
    before: Snapshot,
    names: Names,
    as_of: date,
    source: Source,
) -> tuple[Fetched, Counted]:
    """What a file says, ready for the gate, and what became of each of its rows. `before` is the provider's alone."""
    everything = tuple(rows)
    fate = _Fate()
    for row in everything:
        if isinstance(row, Unreadable):
            fate.refused[f"{provider} line {row.line}", row.reason, None].add(row.line)
    listed = [row for row in everything if isinstance(row, Listed)]
    offerings = {o.instance_type: o for o in before.offerings}
    nodes = Nodes(provider, listed, offerings, names, source.source_id)
    merge = _Merge(provider, before, as_of, source.source_id, fate)
    for (_, region), group in _by_region(listed, nodes, {r.region for r in before.regions}, fate).items():
        merge.add(region, group)
    counted = fate.counted(len(everything))
    found = Fetched(
        offerings={name: o for name, o in merge.offerings.items() if name not in offerings},
        prices=merge.prices,
        covered=frozenset(),
        refused=fate.readings(),
        left=Counter(counted.left),
        sources=(source,),
    )
    return found, counted


def _by_region(
    rows: Sequence[Listed], nodes: Nodes, regions: set[str], fate: _Fate
) -> dict[tuple[str, str], list[tuple[str, Node]]]:
    """The nodes of each type in each region, with their zones."""
    found: dict[tuple[str, str], list[tuple[str, Node]]] = defaultdict(list)
    for row in rows:
        node = nodes.of(row)
        if isinstance(node, Left):
            fate.left[row.line] = node.reason
        elif isinstance(node, Refused):
            fate.refused[node.subject, node.reason, None].add(row.line)
        elif not row.region:
            fate.refused[f"{nodes.provider} {node.offering.instance_type}", "it has no region", None].add(row.line)
        else:
            region, zone = _place(row, regions)
            found[node.offering.instance_type, region].append((zone, node))
    return found


def _place(row: Listed, regions: set[str]) -> tuple[str, str]:
    """Region and zone; where the file has one column for both, a name that is a known region and a suffix is a zone."""
    region = row.region.rpartition("-")[0]
    if not row.zone and row.region not in regions and region in regions:
        return region, row.region
    return row.region, row.zone


class _Merge:
    """Prices of zones become one of the region."""

    def __init__(self, provider: str, before: Snapshot, as_of: date, source_id: str, fate: _Fate) -> None:
        self.provider, self.as_of, self.source_id, self.fate = provider, as_of, source_id, fate
        self.known: dict[Key, Price] = {p.key: p for p in before.prices}
        self.dearest = _dearest(before)
        self.offerings: dict[str, Offering] = {}
        self.prices: dict[Key, Price] = {}

    def add(self, region: str, group: Sequence[tuple[str, Node]]) -> None:
        self.offerings[group[0][1].offering.instance_type] = group[0][1].offering
        listed = [(zone, node) for zone, node in group if node.on_demand is not None]
        spot = [(zone, node) for zone, node in group if node.spot is not None]
        priced = {line for _, node in (*listed, *spot) for line in node.lines}
        for line in (line for _, node in group for line in node.lines if line not in priced):
            self.fate.left[line] = NO_PRICE
        if listed:
            self._on_demand(region, listed)
        if spot:
            self._spot(region, spot, {zone: node.on_demand for zone, node in listed})

    def _on_demand(self, region: str, group: Sequence[tuple[str, Node]]) -> None:
        offering, key = group[0][1].offering, self._key(region, group, "on_demand")
        values = sorted({node.on_demand for _, node in group if node.on_demand is not None})
        per_one = values[-1] / offering.accelerator_count if offering.accelerator_count else None
        dearest = self.dearest.get(offering.accelerator)
        if len(values) > 1:
            self._refuse(key, group, f"its zones differ on demand: {', '.join(f'{v:g}' for v in values)}")
        elif per_one and dearest and key not in self.known and per_one > FAR_ABOVE * dearest:
            text = f"{per_one:g} per accelerator-hour, the dearest known for {offering.accelerator} is {dearest:g}"
            self._refuse(key, group, f"{text}: a stand-in for a price that is not known")
        else:
            self._take(key, "on_demand", values[0], group, group[0][1].parts.get("on_demand", ""))

    def _spot(self, region: str, group: Sequence[tuple[str, Node]], on_demand: Mapping[str, float | None]) -> None:
        """The median of the zones that are below on demand: one at or above it has none to give."""
        key = self._key(region, group, "spot")
        plain = max((v for v in on_demand.values() if v is not None), default=None)
        prices = [
            (zone, node)
            for zone, node in group
            if node.spot is not None and (plain is None or node.spot < (on_demand.get(zone) or plain))
        ]
        if not prices:
            for line in (line for _, node in group for line in node.lines):
                self.fate.left[line] = AT_ON_DEMAND
            return
        values = [node.spot for _, node in prices if node.spot is not None]
        note = prices[0][1].parts.get("spot", "")
        if any(zone for zone, _ in prices):
            _, told = spot_level(values, len(group) - len(values))
            note = f"{told}; {note}" if note else told
        self._take(key, "spot", median(values), group, note)

    def _take(self, key: Key, kind: Kind, price: float, group: Sequence[tuple[str, Node]], note: str) -> None:
        known = self.known.get(key)
        lines = {line for _, node in group for line in node.lines}
        if known and known.as_of > self.as_of:
            self.fate.left.update(dict.fromkeys(lines, OLDER))
            return
        self.fate.taken |= lines
        price = round(price, DIGITS)
        if known and (known.as_of, known.price_per_hour) == (self.as_of, price):
            self.prices[key] = known  # the same again: it keeps the source that it came from first
            return
        self.prices[key] = Price(
            *key,
            kind=kind,
            term_months=0,
            upfront="",
            offering_class="",
            price_per_hour=price,
            currency=CURRENCY,
            as_of=self.as_of,
            source_id=self.source_id,
            method="derived" if group[0][1].parts else "listed",
            note="; ".join(filter(None, (note, PART if group[0][1].offering.part else ""))),
        )

    def _refuse(self, key: Key, group: Sequence[tuple[str, Node]], reason: str) -> None:
        self.fate.refused[" ".join(key), reason, key] |= {line for _, node in group for line in node.lines}

    def _key(self, region: str, group: Sequence[tuple[str, Node]], option: str) -> Key:
        return (self.provider, region, group[0][1].offering.instance_type, option)


def _dearest(before: Snapshot) -> dict[str, float]:
    offerings = {o.instance_type: o for o in before.offerings}
    return dict(sorted(_per_accelerator(before.prices, offerings)))  # of one name the last, the dearest, stays


def _per_accelerator(prices: Iterable[Price], offerings: Mapping[str, Offering]) -> Iterator[tuple[str, float]]:
    for price in prices:
        offering = offerings.get(price.instance_type)
        if offering and price.kind == "on_demand" and offering.accelerator_count:
            yield offering.accelerator, price.price_per_hour / offering.accelerator_count


def _rows(lines: set[int]) -> str:
    return f"line {min(lines)}" if len(lines) == 1 else f"{len(lines):,} rows, the first in line {min(lines)}"
