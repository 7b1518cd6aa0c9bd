"""Merges the catalogue of another tool: one price per type, region and purchase option, with every row accounted for.

The files carry no date, so the user states it. An import has no covered scope, so no known price vanishes: it adds
prices, and replaces those that are not newer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date
from statistics import median

from pricing.accelerator import AcceleratorNames
from pricing.adapters.protocol import RejectedRow, SkippedRows
from pricing.catalog.snapshot_tables import Snapshot
from pricing.frozen_values import dataclass
from pricing.imports.listings import CatalogListing, UnreadableListing
from pricing.imports.node_matching import NodeMatcher, PricedNode
from pricing.offering import Offering
from pricing.price import Price, PurchaseKind, spot_level
from pricing.regions import Source
from pricing.snapshots.quality_gate import MAX_RATE_FACTOR, FetchedRows, PriceKey

PRICE_DIGITS = 6
"""Of a price per hour: one more than either tool writes, so that only the noise of sums and medians goes."""
ATTACHED_PART_NOTE = "per attached accelerator, machine not included"
NO_PRICE = "no price, or one of 0: a gap"
SPOT_AT_ON_DEMAND = "a spot price at or above on demand in every zone: there is no spot to be had"
OLDER_PRICE = "older than the price in use"
OTHER_PROVIDER = "a row of another provider"
LINES_NAMED_MAX = 8


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """The outcome of the rows of a file: rows = taken + refused + all of left."""

    rows: int
    taken: int
    refused: int
    left: Mapping[str, int]


@dataclass(slots=True)
class _RowOutcomes:
    """The outcome of each line; of several, the best counts: imported, then rejected, then skipped."""

    imported: set[int] = field(default_factory=set)
    refused: dict[tuple[str, str, PriceKey | None], set[int]] = field(default_factory=lambda: defaultdict(set))
    left: dict[int, str] = field(default_factory=dict)

    def counted(self, rows: int) -> ImportCounts:
        refused = {line for lines in self.refused.values() for line in lines} - self.imported
        better = self.imported | refused
        left = Counter(why for line, why in self.left.items() if line not in better)
        return ImportCounts(rows, len(self.imported), len(refused), dict(sorted(left.items())))

    def left_with_lines(self) -> Counter[str]:
        """The number of skipped rows by reason and lines, so that each can be found in the file."""
        better = self.imported.union(*self.refused.values())
        lines: dict[str, list[int]] = defaultdict(list)
        for line, why in sorted(self.left.items()):
            if line not in better:
                lines[why].append(line)
        return Counter({f"{why} ({_list_lines(its)})": len(its) for why, its in sorted(lines.items())})

    def readings(self) -> tuple[RejectedRow, ...]:
        """Each reason once, with the number of rows and the first line."""
        return tuple(
            RejectedRow(subject, f"{reason} ({_describe_lines(lines)})", key)
            for (subject, reason, key), lines in sorted(self.refused.items(), key=lambda item: min(item[1]))
        )


def merge_listings(
    provider: str,
    rows: Iterable[CatalogListing | UnreadableListing],
    before: Snapshot,
    names: AcceleratorNames,
    as_of: date,
    source: Source,
) -> tuple[FetchedRows, ImportCounts]:
    """The readings of a file for the quality gate, and the outcome of its rows. `before` is the provider's snapshot."""
    everything = tuple(rows)
    fate = _RowOutcomes()
    for row in everything:
        if isinstance(row, UnreadableListing):
            fate.refused[f"{provider} line {row.line}", row.reason, None].add(row.line)
    currency = before.providers[0].currency
    listed = [
        row for row in everything if isinstance(row, CatalogListing) and _is_usable(row, provider, currency, fate)
    ]
    offerings = {o.instance_type: o for o in before.offerings}
    nodes = NodeMatcher(provider, listed, offerings, names, source.source_id)
    merge = _ZonePriceMerger(provider, before, as_of, source.source_id, fate)
    for (_, region), group in _group_by_region(listed, nodes, {r.region for r in before.regions}, fate).items():
        merge.add(region, group)
    counted = fate.counted(len(everything))
    fetched_rows = FetchedRows(
        offerings={name: o for name, o in merge.offerings.items() if name not in offerings},
        prices=merge.prices,
        covered=frozenset(),
        refused=fate.readings(),
        left=fate.left_with_lines(),
        sources=(source,),
    )
    return fetched_rows, counted


def _is_usable(row: CatalogListing, provider: str, currency: str, fate: _RowOutcomes) -> bool:
    """Whether a row is of this provider and in its currency; if not, its outcome is recorded."""
    if row.provider not in ("", provider):
        fate.left[row.line] = OTHER_PROVIDER
    elif row.currency != currency:
        why = f"its currency is {row.currency}, the prices of {provider} are in {currency}"
        fate.refused[f"{provider} line {row.line}", why, None].add(row.line)
    else:
        return True
    return False


def _group_by_region(
    rows: Sequence[CatalogListing], nodes: NodeMatcher, regions: set[str], fate: _RowOutcomes
) -> dict[tuple[str, str], list[tuple[str, PricedNode]]]:
    """The nodes of each type in each region, with their zones."""
    groups: dict[tuple[str, str], list[tuple[str, PricedNode]]] = defaultdict(list)
    for row in rows:
        node = nodes.of(row)
        if isinstance(node, SkippedRows):
            fate.left[row.line] = node.reason
        elif isinstance(node, RejectedRow):
            fate.refused[node.subject, node.reason, None].add(row.line)
        elif not row.region:
            fate.refused[f"{nodes.provider} {node.offering.instance_type}", "it has no region", None].add(row.line)
        else:
            region, zone = _split_zone(row, regions)
            groups[node.offering.instance_type, region].append((zone, node))
    return groups


def _split_zone(row: CatalogListing, regions: set[str]) -> tuple[str, str]:
    """Region and zone; where the file has one column for both, a name that is a known region and a suffix is a zone."""
    region = row.region.rpartition("-")[0]
    if not row.zone and row.region not in regions and region in regions:
        return region, row.region
    return row.region, row.zone


class _ZonePriceMerger:
    """Merges the prices of zones into one of the region."""

    def __init__(self, provider: str, before: Snapshot, as_of: date, source_id: str, fate: _RowOutcomes) -> None:
        self.provider, self.as_of, self.source_id, self.fate = provider, as_of, source_id, fate
        self.currency = before.providers[0].currency
        self.known: dict[PriceKey, Price] = {p.key: p for p in before.prices}
        self.highest_rates = _highest_rates(before)
        self.offerings: dict[str, Offering] = {}
        self.prices: dict[PriceKey, Price] = {}

    def add(self, region: str, group: Sequence[tuple[str, PricedNode]]) -> None:
        self.offerings[group[0][1].offering.instance_type] = group[0][1].offering
        listed = [(zone, node) for zone, node in group if node.on_demand is not None]
        spot = [(zone, node) for zone, node in group if node.spot is not None]
        priced = {line for _, node in (*listed, *spot) for line in node.lines}
        for line in (line for _, node in group for line in node.lines if line not in priced):
            self.fate.left[line] = NO_PRICE
        if listed:
            self._merge_on_demand(region, listed)
        if spot:
            self._merge_spot(region, spot, {zone: node.on_demand for zone, node in listed})

    def _merge_on_demand(self, region: str, group: Sequence[tuple[str, PricedNode]]) -> None:
        offering, key = group[0][1].offering, self._price_key(region, group, "on_demand")
        values = sorted({node.on_demand for _, node in group if node.on_demand is not None})
        per_one = values[-1] / offering.accelerator_count if offering.accelerator_count else None
        highest = self.highest_rates.get(offering.accelerator)
        if len(values) > 1:
            self._record_rejection(key, group, f"its zones differ on demand: {', '.join(f'{v:g}' for v in values)}")
        elif per_one and highest and key not in self.known and per_one > MAX_RATE_FACTOR * highest:
            text = f"{per_one:g} per accelerator-hour, the dearest known for {offering.accelerator} is {highest:g}"
            self._record_rejection(key, group, f"{text}: a stand-in for a price that is not known")
        else:
            self._record_price(key, "on_demand", values[0], group, group[0][1].parts.get("on_demand", ""))

    def _merge_spot(
        self, region: str, group: Sequence[tuple[str, PricedNode]], on_demand: Mapping[str, float | None]
    ) -> None:
        """The median of the zones below on-demand; a zone at or above it has no spot capacity to sell."""
        key = self._price_key(region, group, "spot")
        plain = max((v for v in on_demand.values() if v is not None), default=None)
        prices = [
            (zone, node)
            for zone, node in group
            if node.spot is not None and (plain is None or node.spot < (on_demand.get(zone) or plain))
        ]
        if not prices:
            for line in (line for _, node in group for line in node.lines):
                self.fate.left[line] = SPOT_AT_ON_DEMAND
            return
        values = [node.spot for _, node in prices if node.spot is not None]
        note = prices[0][1].parts.get("spot", "")
        if any(zone for zone, _ in prices):
            _, level_note = spot_level(values, len(group) - len(values))
            note = f"{level_note}; {note}" if note else level_note
        self._record_price(key, "spot", median(values), group, note)

    def _record_price(
        self, key: PriceKey, kind: PurchaseKind, price: float, group: Sequence[tuple[str, PricedNode]], note: str
    ) -> None:
        known = self.known.get(key)
        lines = {line for _, node in group for line in node.lines}
        if known and known.as_of > self.as_of:
            self.fate.left.update(dict.fromkeys(lines, OLDER_PRICE))
            return
        self.fate.imported |= lines
        price = round(price, PRICE_DIGITS)
        if known and (known.as_of, known.price_per_hour) == (self.as_of, price):
            self.prices[key] = known  # unchanged: it retains its first source
            return
        self.prices[key] = Price(
            *key,
            kind=kind,
            term_months=0,
            upfront="",
            offering_class="",
            price_per_hour=price,
            currency=self.currency,
            as_of=self.as_of,
            source_id=self.source_id,
            method="derived" if group[0][1].parts else "listed",
            note="; ".join(filter(None, (note, ATTACHED_PART_NOTE if group[0][1].offering.part else ""))),
        )

    def _record_rejection(self, key: PriceKey, group: Sequence[tuple[str, PricedNode]], reason: str) -> None:
        self.fate.refused[" ".join(key), reason, key] |= {line for _, node in group for line in node.lines}

    def _price_key(self, region: str, group: Sequence[tuple[str, PricedNode]], option: str) -> PriceKey:
        return (self.provider, region, group[0][1].offering.instance_type, option)


def _highest_rates(before: Snapshot) -> dict[str, float]:
    offerings = {o.instance_type: o for o in before.offerings}
    return dict(sorted(_accelerator_rates(before.prices, offerings)))  # sorted, so the highest rate of a name wins


def _accelerator_rates(prices: Iterable[Price], offerings: Mapping[str, Offering]) -> Iterator[tuple[str, float]]:
    for price in prices:
        offering = offerings.get(price.instance_type)
        if offering and price.kind == "on_demand" and offering.accelerator_count:
            yield offering.accelerator, price.price_per_hour / offering.accelerator_count


def _list_lines(lines: Sequence[int]) -> str:
    named = ", ".join(map(str, lines[:LINES_NAMED_MAX]))
    more = f" and {len(lines) - LINES_NAMED_MAX:,} more" if len(lines) > LINES_NAMED_MAX else ""
    return f"line{'s' if len(lines) > 1 else ''} {named}{more}"


def _describe_lines(lines: set[int]) -> str:
    return f"line {min(lines)}" if len(lines) == 1 else f"{len(lines):,} rows, the first in line {min(lines)}"
