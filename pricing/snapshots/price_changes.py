"""Changes between two lists of prices, by key and in counts. Knows no file and no plan.

Pure functions. With the lists swapped, every change is reversed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from statistics import median
from typing import Literal

from pricing.frozen_values import dataclass
from pricing.price import Price
from pricing.regions import strip_source_date

ChangeKind = Literal["new", "gone", "up", "down", "same", "currency"]
MOVE_KINDS: tuple[ChangeKind, ...] = ("up", "down")


@dataclass(frozen=True, slots=True)
class PriceChange:
    """One price in both lists, or in one: `before` is None if it is new, `after` if it is gone."""

    key: tuple[str, str, str, str]
    before: Price | None
    after: Price | None

    @property
    def what(self) -> ChangeKind:
        """The kind of change. An equal price of another date is the same; two currencies cannot be compared."""
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        if self.before.currency != self.after.currency:
            return "currency"
        step = self.after.price_per_hour - self.before.price_per_hour
        return "up" if step > 0 else "down" if step < 0 else "same"

    @property
    def percent(self) -> float | None:
        """The move in percent of the old price; None without two comparable prices."""
        if self.before is None or self.after is None or self.what == "currency":
            return None
        return (self.after.price_per_hour / self.before.price_per_hour - 1) * 100

    @property
    def told_otherwise(self) -> bool:
        """Whether an equal price now comes from another source, or is derived where it was listed, or the reverse."""
        if self.what != "same" or self.before is None or self.after is None:
            return False
        return (strip_source_date(self.before.source_id), self.before.method) != (
            strip_source_date(self.after.source_id),
            self.after.method,
        )


@dataclass(frozen=True, slots=True)
class PriceChangeSummary:
    """The changes of one provider and purchase option, counted. Percentages are of prices that moved, by their size;
    None where none did. `told_otherwise` counts among `same`."""

    provider: str
    option: str
    new: int
    gone: int
    up: int
    down: int
    same: int
    currency: int
    told_otherwise: int
    median_percent: float | None
    largest_percent: float | None


def compare_prices(old: Iterable[Price], new: Iterable[Price]) -> tuple[PriceChange, ...]:
    """Every price of either list, sorted by (provider, region, instance_type, purchase_option)."""
    before, after = {p.key: p for p in old}, {p.key: p for p in new}
    return tuple(PriceChange(key, before.get(key), after.get(key)) for key in sorted(before.keys() | after.keys()))


def summarize_changes(changes: Iterable[PriceChange]) -> tuple[PriceChangeSummary, ...]:
    """Counts by provider and purchase option, sorted."""
    return tuple(_summarize_groups(changes))


def rank_price_moves(changes: Iterable[PriceChange]) -> tuple[PriceChange, ...]:
    """The prices that moved, the largest factor first; a doubling ranks with a halving."""
    moved = [change for change in changes if change.what in MOVE_KINDS]
    return tuple(sorted(moved, key=lambda change: (-_change_factor(change), change.key)))


def _summarize_groups(price_changes: Iterable[PriceChange]) -> Iterator[PriceChangeSummary]:
    def group(change: PriceChange) -> tuple[str, str]:
        return change.key[0], change.key[3]

    for (provider, option), grouped in groupby(sorted(price_changes, key=group), group):
        rows = list(grouped)
        kinds = [change.what for change in rows]
        steps = [change.percent or 0.0 for change in rank_price_moves(rows)]
        yield PriceChangeSummary(
            provider=provider,
            option=option,
            new=kinds.count("new"),
            gone=kinds.count("gone"),
            up=kinds.count("up"),
            down=kinds.count("down"),
            same=kinds.count("same"),
            currency=kinds.count("currency"),
            told_otherwise=sum(change.told_otherwise for change in rows),
            median_percent=median(steps) if steps else None,
            largest_percent=steps[0] if steps else None,
        )


def _change_factor(change: PriceChange) -> float:
    """The move as a factor above 1, equal for a rise and the fall that reverses it."""
    assert change.before is not None
    assert change.after is not None
    low, high = sorted((change.before.price_per_hour, change.after.price_per_hour))
    return high / low
