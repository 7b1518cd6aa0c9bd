"""Exchange rates: a dated table of them, and the rate between two currencies on a day. Knows no price.

A rate without a date does not exist here, and none from after the day asked for is ever used.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path

from pricing.errors import BadSnapshot, NoRate
from pricing.table import Row, read_rows

COLUMNS = ("date", "from", "to", "rate", "source")


@dataclass(frozen=True, slots=True)
class Rate:
    """One unit of `source` costs `value` units of `target`, as of `day`; `reference` says who tells so."""

    source: str
    target: str
    value: float
    day: date
    reference: str

    @property
    def words(self) -> str:
        """1 EUR = 1.08 USD of 2026-11-20 (where it is from)."""
        return f"1 {self.source} = {self.value:.10g} {self.target} of {self.day} ({self.reference})"

    @property
    def brief(self) -> str:
        """0.9259 EUR per USD of 2026-11-20: where it is from stands elsewhere."""
        return f"{self.value:.10g} {self.target} per {self.source} of {self.day}"


@dataclass(frozen=True)
class Exchange:
    """All rates that are known; empty where nobody gave any."""

    rates: tuple[Rate, ...]

    @classmethod
    def read(cls, path: Path) -> Exchange:
        """The rates of a CSV table (date,from,to,rate,source); raises BadSnapshot with every fault."""
        faults: list[str] = []
        found: dict[tuple[str, str, date], tuple[Rate, str]] = {}
        for row in read_rows(path, COLUMNS, faults):
            rate = _rate_of(row)
            if rate is None:
                continue
            first, place = found.setdefault((rate.source, rate.target, rate.day), (rate, row.place))
            if first.value != rate.value:
                row.fault(f"another rate from {rate.source} to {rate.target} on {rate.day} than {place}")
        if faults:
            raise BadSnapshot(tuple(faults))
        return cls(tuple(rate for rate, _ in found.values()))

    @cached_property
    def digest(self) -> str:
        """A short hash of the rates, whatever their order."""
        from hashlib import blake2b

        return blake2b(repr(sorted(map(repr, self.rates))).encode(), digest_size=8).hexdigest()

    def rate(self, source: str, target: str, day: date) -> Rate:
        """The latest rate on or before `day`; raises NoRate where there is none.

        As listed, turned around, or through one currency that both have a rate with (then as old as the older of the
        two); of rates of one day in this order.
        """
        if source == target:
            return Rate(source, target, 1.0, day, "the same currency")
        found = [*self._between(source, target, day), *self._through(source, target, day)]
        if not found:
            raise NoRate(source, target, day)
        return max(found, key=lambda rate: rate.day)

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], tuple[list[date], list[Rate]]]:
        pairs: dict[tuple[str, str], list[Rate]] = {}
        for rate in self.rates:
            pairs.setdefault((rate.source, rate.target), []).append(rate)
        ordered = {pair: sorted(rates, key=lambda rate: rate.day) for pair, rates in pairs.items()}
        return {pair: ([rate.day for rate in rates], rates) for pair, rates in ordered.items()}

    @cached_property
    def _partners(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for source, target in self._by_pair:
            found.setdefault(source, set()).add(target)
            found.setdefault(target, set()).add(source)
        return found

    def _listed(self, source: str, target: str, day: date) -> Iterator[Rate]:
        days, rates = self._by_pair.get((source, target), ([], []))
        if at := bisect_right(days, day):
            yield rates[at - 1]

    def _between(self, source: str, target: str, day: date) -> Iterator[Rate]:
        yield from self._listed(source, target, day)
        for other in self._listed(target, source, day):
            reference = f"{other.reference}, as 1 {target} = {other.value:g} {source}"
            yield Rate(source, target, 1 / other.value, other.day, reference)

    def _through(self, source: str, target: str, day: date) -> Iterator[Rate]:
        for middle in sorted(self._partners.get(source, set()) & self._partners.get(target, set())):
            one = _latest(self._between(source, middle, day))
            two = _latest(self._between(middle, target, day))
            if one and two:
                reference = f"through {middle}: {one.words}; {two.words}"
                yield Rate(source, target, one.value * two.value, min(one.day, two.day), reference)


def is_code(text: str) -> bool:
    """Whether it has the shape of an ISO 4217 code: three capitals."""
    return re.fullmatch("[A-Z]{3}", text) is not None


def code_in(row: Row, column: str) -> str:
    """The currency code of a cell; a fault where it has another shape."""
    code = row.values[column]
    if not is_code(code):
        row.fault(f"{column} is {code!r}, expected a currency code of three capitals such as EUR")
    return code


def _latest(rates: Iterable[Rate]) -> Rate | None:
    return max(rates, key=lambda rate: rate.day, default=None)


def _rate_of(row: Row) -> Rate | None:
    source, target = code_in(row, "from"), code_in(row, "to")
    if source == target:
        row.fault(f"a rate from {source} to itself")
    return row.build(
        Rate,
        source=source,
        target=target,
        value=row.positive("rate"),
        day=row.day("date"),
        reference=row.text("source"),
    )
