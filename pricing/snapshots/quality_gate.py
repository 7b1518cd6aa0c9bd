"""The quality gate before a snapshot is written: compares readings with known prices. Knows neither clouds nor files.

A suspicious row goes to quarantine with its reason, and its known price stays in use. A feed that fails as a whole
raises ProviderFailure("changed_format").
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatchcase

from pricing.accelerator import AcceleratorNames
from pricing.adapters.protocol import CoveredScope, RejectedRow
from pricing.catalog.snapshot_tables import Snapshot
from pricing.errors import ProviderFailure
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.price import Price, PurchaseKind, parse_purchase_option
from pricing.regions import Source
from pricing.sale import SaleTerm

PriceKey = tuple[str, str, str, str]

PRICE_BANDS: Mapping[str, tuple[float, float]] = {"spot": (0.1, 10.0), "capacity_block": (0.4, 2.5)}
"""The factor by which a price may move in one refresh, by kind.

Spot prices follow a market, so only errors of magnitude (a wrong unit, cents for dollars) fall outside a factor of ten.
Capacity block rates vary with season and length, by less.
"""
LIST_PRICE_BAND = (0.65, 1.5)
"""The factor for list prices. The largest cut since 2023, of P5 in June 2025, was to 0.56: such a cut needs a reason,
since a feed that drops a part of a price looks the same."""
MIN_ROW_RATIO, MAX_ROW_RATIO = 0.7, 3.0
"""Rows of one kind in the covered scopes, as a factor of those known there.

Below the lower limit a feed is truncated rather than prices withdrawn. The upper limit holds between refreshes only:
the first refresh may have far more rows than the shipped snapshot.
"""
MAX_QUARANTINED_FRACTION = 0.5
"""If a larger fraction of the prices fails, the feed has changed, not the prices."""
MIN_RATE_FACTOR, MAX_RATE_FACTOR = 0.5, 5.0
"""Factors of the lowest and the highest known price per accelerator-hour of the same accelerator.

A new on-demand price below the range lacks a part (a GPU without its machine); one above it is a placeholder for an
unknown price, such as the 700 an hour that some catalogues list.
"""
COMMITMENT_KINDS: tuple[PurchaseKind, ...] = ("reserved", "committed_use", "savings_plan")


@dataclass(frozen=True, slots=True)
class FetchedRows:
    """All readings of one refresh or import of a provider."""

    offerings: dict[str, Offering]
    prices: dict[PriceKey, Price]
    covered: frozenset[CoveredScope]
    refused: tuple[RejectedRow, ...] = ()
    left: Counter[str] = field(default_factory=Counter)
    sources: tuple[Source, ...] = ()
    sale_terms: tuple[SaleTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class QuarantinedRow:
    """One row in quarantine with its reason and its two prices, None if missing; `before` stays in use."""

    subject: str
    reason: str
    before: Price | None = None
    after: Price | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """All offerings and prices to write, old and new, by key; `held` is the quarantine, `gone` the vanished prices."""

    offerings: dict[str, Offering]
    prices: dict[PriceKey, Price]
    held: tuple[QuarantinedRow, ...]
    gone: tuple[Price, ...]


def apply_quality_gate(
    before: Snapshot,
    fetched: FetchedRows,
    names: AcceleratorNames,
    accept: Mapping[str, str],
    *,
    refreshed_before: bool,
) -> GateResult:
    """Merges readings into the known offerings and prices.

    `accept` maps patterns of instance types to the reason why a move past the band is right. `refreshed_before` says
    that `before` is the result of a refresh, so that the number of rows is compared upwards too.
    """
    gate = _QualityGate(before, fetched, names, accept)
    gate.offerings()
    gate.prices()
    gate.remove_vanished(refreshed_before)
    wrong, read = [row for row in gate.quarantined if row.after is not None], len(fetched.prices)
    if not read:  # nothing to judge by: then every price that the adapter itself rejected counts
        unusable = [QuarantinedRow(r.subject, r.reason) for r in fetched.refused if r.key or not fetched.offerings]
        wrong, read = unusable, len(unusable)
    if len(wrong) > MAX_QUARANTINED_FRACTION * read:
        text = f"{len(wrong)} of {read} rows fail, the first: {wrong[0].subject}: {wrong[0].reason}"
        raise ProviderFailure("changed_format", text)
    return GateResult(gate.all_offerings, gate.all_prices, tuple(gate.quarantined), tuple(gate.gone))


class _QualityGate:
    def __init__(
        self, before: Snapshot, fetched: FetchedRows, names: AcceleratorNames, accept: Mapping[str, str]
    ) -> None:
        self.fetched, self.names, self.accept = fetched, names, accept
        self.currencies = {p.currency for p in before.providers}
        self.known = {p.key: p for p in before.prices}
        self.all_offerings = {o.instance_type: o for o in before.offerings}
        self.all_prices = dict(self.known)
        self.quarantined = [QuarantinedRow(r.subject, r.reason) for r in fetched.refused]
        self.gone: list[Price] = []
        self.usual = self._accelerator_rate_ranges()

    def offerings(self) -> None:
        for instance_type, new in self.fetched.offerings.items():
            old = self.all_offerings.get(instance_type)
            if problem := self._offering_problem(old, new):
                self.quarantined.append(QuarantinedRow(f"{new.provider} {instance_type}", problem))
            else:
                self.all_offerings[instance_type] = new

    def _offering_problem(self, old: Offering | None, new: Offering) -> str | None:
        if new.accelerator not in self.names.by_name:
            return f"the accelerator {new.accelerator!r} is unknown"
        if old is None:
            return None
        if old.accelerator != new.accelerator:
            return f"its accelerator was {old.accelerator} and would be {new.accelerator}"
        counts = (old.accelerator_count, new.accelerator_count)
        if None not in counts and not math.isclose(counts[0] or 0, counts[1] or 0, rel_tol=1e-3):
            return f"it had {counts[0]:g} accelerators and would have {counts[1]:g}"
        return None

    def prices(self) -> None:
        for key, new in self.fetched.prices.items():
            old = self.known.get(key)
            if old is not None and old.as_of > new.as_of:
                continue
            if problem := self._price_problem(old, new):
                self.quarantined.append(QuarantinedRow(" ".join(key), problem, old, new))
            else:
                self.all_prices[key] = new

    def _price_problem(self, old: Price | None, new: Price) -> str | None:
        if not (math.isfinite(new.price_per_hour) and new.price_per_hour > 0):
            return f"the price is {new.price_per_hour:g}: a price is above 0"
        if new.currency not in self.currencies:
            return f"the currency is {new.currency!r}, expected {', '.join(sorted(self.currencies))}"
        if parse_purchase_option(new.purchase_option) is None:
            return f"the purchase option {new.purchase_option!r} is none that can be read"
        if new.instance_type not in self.all_offerings:
            return "the instance type is unknown: it has no offering"
        if any(fnmatchcase(new.instance_type, pattern) for pattern in self.accept):
            return None
        return self._move_problem(old, new) if old is not None else self._plausibility_problem(new)

    def _move_problem(self, old: Price, new: Price) -> str | None:
        # Compared with the last accepted price, so that a slow drift passes and a jump needs --accept with a reason.
        low, high = PRICE_BANDS.get(new.kind, LIST_PRICE_BAND)
        factor = new.price_per_hour / old.price_per_hour
        if low <= factor <= high:
            return self._commitment_problem(new)
        text = f"moved from {old.price_per_hour:g} of {old.as_of} to {new.price_per_hour:g}, by {factor - 1:+.0%}"
        return f"{text}: past the band of {low - 1:+.0%} to {high - 1:+.0%} without a listed reason"

    def _plausibility_problem(self, new: Price) -> str | None:
        # There is no earlier price to compare with. Prices per accelerator-hour of one model lie close together across
        # instance types, regions and clouds, so their known range stands in for it.
        offering = self.all_offerings[new.instance_type]
        usual, count = self.usual.get(offering.accelerator), offering.accelerator_count
        if new.kind == "on_demand" and usual and count:
            rate, (low, high) = new.price_per_hour / count, usual
            text = f"{rate:g} per accelerator-hour, known for {offering.accelerator} are {low:g} to {high:g}"
            if rate < MIN_RATE_FACTOR * low:
                return f"{text}: a part of the machine seems to be missing"
            if rate > MAX_RATE_FACTOR * high:
                return f"{text}: it may stand for a price that is unknown"
        return self._commitment_problem(new)

    def _commitment_problem(self, new: Price) -> str | None:
        """A commitment above the on-demand price has a wrong unit, such as a price per term read as per hour."""
        if new.kind not in COMMITMENT_KINDS:
            return None
        key = (new.provider, new.region, new.instance_type, "on_demand")
        plain = self.fetched.prices.get(key) or self.known.get(key)
        if plain is None or new.price_per_hour <= plain.price_per_hour * 1.001:
            return None
        return f"committed at {new.price_per_hour:g} an hour, on demand costs {plain.price_per_hour:g}"

    def _accelerator_rate_ranges(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest on-demand price per accelerator-hour, by accelerator."""
        rates_by_accelerator: dict[str, list[float]] = defaultdict(list)
        for price in self.known.values():
            offering = self.all_offerings.get(price.instance_type)
            if price.kind == "on_demand" and offering and offering.accelerator_count and not offering.part:
                rates_by_accelerator[offering.accelerator].append(price.price_per_hour / offering.accelerator_count)
        return {name: (min(rates), max(rates)) for name, rates in rates_by_accelerator.items()}

    def remove_vanished(self, refreshed_before: bool) -> None:
        """Removes known prices that a covered scope lacks, unless too many of a kind or a whole family vanish."""
        missing: dict[tuple[str, str], list[Price]] = defaultdict(list)
        doubtful = {refused.key for refused in self.fetched.refused}
        for key, price in self.known.items():
            if key not in self.fetched.prices and key not in doubtful and self._is_covered(price):
                missing[self.family(price), price.kind].append(price)
        read = Counter((self.family(p), str(p.kind)) for p in self.fetched.prices.values())
        too_few = set(self._kinds_out_of_band(missing, refreshed_before))
        for (family, kind), prices in sorted(missing.items()):
            if kind in too_few:
                reason = (
                    f"more than {1 - MIN_ROW_RATIO:.0%} of all {kind} prices read again are missing: the old ones stay"
                )
            elif not read[family, kind]:
                reason = f"the whole family vanished, {len(prices)} {kind} prices: the old ones stay"
            else:
                self.gone += prices
                for price in prices:
                    del self.all_prices[price.key]
                continue
            self.quarantined.append(QuarantinedRow(f"{prices[0].provider} {family} {kind}", reason))

    def _kinds_out_of_band(
        self, missing: Mapping[tuple[str, str], list[Price]], refreshed_before: bool
    ) -> Iterator[str]:
        before = Counter(p.kind for p in self.known.values() if self._is_covered(p))
        after = Counter(p.kind for p in self.fetched.prices.values())
        lost: Counter[str] = Counter()
        for (_, kind), prices in missing.items():
            lost[kind] += len(prices)
        for kind, rows in before.items():
            if refreshed_before and after[kind] > MAX_ROW_RATIO * rows:
                text = f"{after[kind]} {kind} prices, {rows} before: past the band of {MAX_ROW_RATIO:g} times"
                raise ProviderFailure("changed_format", text)
            if lost[kind] > (1 - MIN_ROW_RATIO) * rows:
                yield kind

    def _is_covered(self, price: Price) -> bool:
        scopes = self.fetched.covered
        return (
            CoveredScope(price.region, price.kind) in scopes
            or CoveredScope(price.region, price.kind, self.family(price)) in scopes
        )

    def family(self, price: Price) -> str:
        offering = self.all_offerings.get(price.instance_type)
        return offering.family if offering else ""
