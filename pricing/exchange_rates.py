"""Exchange rates: a dated table of them, and the rate between two currencies on a day. Knows no price.

Every rate has a date, and a rate dated after the requested day is never used.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from datetime import date
from functools import cached_property
from pathlib import Path

from pricing.csv_tables import TableRow, read_rows
from pricing.errors import InvalidSnapshot, MissingExchangeRate
from pricing.frozen_values import dataclass

COLUMNS = ("date", "from", "to", "rate", "source")


@dataclass(frozen=True, slots=True)
class ExchangeRate:
    """One unit of `source` costs `value` units of `target`, as of `day`; `reference` names the source."""

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
        """0.9259 EUR per USD of 2026-11-20: without the source."""
        return f"{self.value:.10g} {self.target} per {self.source} of {self.day}"


@dataclass(frozen=True)
class ExchangeRates:
    """All rates that are known; empty without a file."""

    rates: tuple[ExchangeRate, ...]

    @classmethod
    def read(cls, path: Path) -> ExchangeRates:
        """The rates of a CSV table (date,from,to,rate,source); raises InvalidSnapshot with every fault."""
        faults: list[str] = []
        rates_by_key: dict[tuple[str, str, date], tuple[ExchangeRate, str]] = {}
        for row in read_rows(path, COLUMNS, faults):
            rate = _parse_rate(row)
            if rate is None:
                continue
            first, place = rates_by_key.setdefault((rate.source, rate.target, rate.day), (rate, row.place))
            if first.value != rate.value:
                row.fault(f"another rate from {rate.source} to {rate.target} on {rate.day} than {place}")
        if faults:
            raise InvalidSnapshot(tuple(faults))
        return cls(tuple(rate for rate, _ in rates_by_key.values()))

    @cached_property
    def digest(self) -> str:
        """A short hash of the rates, whatever their order."""
        from hashlib import blake2b

        return blake2b(repr(sorted(map(repr, map(astuple, self.rates)))).encode(), digest_size=8).hexdigest()

    def rate(self, source: str, target: str, day: date) -> ExchangeRate:
        """The latest rate on or before `day`; raises MissingExchangeRate if there is none.

        As listed, turned around, or through one currency that both have a rate with (then as old as the older of the
        two); of rates of one day in this order.
        """
        if source == target:
            return ExchangeRate(source, target, 1.0, day, "the same currency")
        candidates = [*self._direct_rates(source, target, day), *self._cross_rates(source, target, day)]
        if not candidates:
            raise MissingExchangeRate(source, target, day)
        return max(candidates, key=lambda rate: rate.day)

    @cached_property
    def _rates_by_pair(self) -> dict[tuple[str, str], tuple[list[date], list[ExchangeRate]]]:
        pairs: dict[tuple[str, str], list[ExchangeRate]] = {}
        for rate in self.rates:
            pairs.setdefault((rate.source, rate.target), []).append(rate)
        ordered = {pair: sorted(rates, key=lambda rate: rate.day) for pair, rates in pairs.items()}
        return {pair: ([rate.day for rate in rates], rates) for pair, rates in ordered.items()}

    @cached_property
    def _linked_currencies(self) -> dict[str, set[str]]:
        partners: dict[str, set[str]] = {}
        for source, target in self._rates_by_pair:
            partners.setdefault(source, set()).add(target)
            partners.setdefault(target, set()).add(source)
        return partners

    def _listed_rates(self, source: str, target: str, day: date) -> Iterator[ExchangeRate]:
        days, rates = self._rates_by_pair.get((source, target), ([], []))
        if at := bisect_right(days, day):
            yield rates[at - 1]

    def _direct_rates(self, source: str, target: str, day: date) -> Iterator[ExchangeRate]:
        yield from self._listed_rates(source, target, day)
        for other in self._listed_rates(target, source, day):
            reference = f"{other.reference}, as 1 {target} = {other.value:g} {source}"
            yield ExchangeRate(source, target, 1 / other.value, other.day, reference)

    def _cross_rates(self, source: str, target: str, day: date) -> Iterator[ExchangeRate]:
        for middle in sorted(self._linked_currencies.get(source, set()) & self._linked_currencies.get(target, set())):
            one = _latest_rate(self._direct_rates(source, middle, day))
            two = _latest_rate(self._direct_rates(middle, target, day))
            if one and two:
                reference = f"through {middle}: {one.words}; {two.words}"
                yield ExchangeRate(source, target, one.value * two.value, min(one.day, two.day), reference)


def is_currency_code(text: str) -> bool:
    """Whether it has the shape of an ISO 4217 code: three capitals."""
    return re.fullmatch("[A-Z]{3}", text) is not None


def parse_currency_code(row: TableRow, column: str) -> str:
    """The currency code of a cell; a fault where it has another shape."""
    code = row.values[column]
    if not is_currency_code(code):
        row.fault(f"{column} is {code!r}, expected a currency code of three capitals such as EUR")
    return code


def _latest_rate(rates: Iterable[ExchangeRate]) -> ExchangeRate | None:
    return max(rates, key=lambda rate: rate.day, default=None)


def _parse_rate(row: TableRow) -> ExchangeRate | None:
    source, target = parse_currency_code(row, "from"), parse_currency_code(row, "to")
    if source == target:
        row.fault(f"a rate from {source} to itself")
    return row.build(
        ExchangeRate,
        source=source,
        target=target,
        value=row.positive("rate"),
        day=row.day("date"),
        reference=row.text("source"),
    )


@dataclass(frozen=True, slots=True)
class RateUsed:
    """A rate of exchange that amounts went through: one unit of `from_currency` costs `value` of `to_currency`."""

    from_currency: str
    """Currency converted from, ISO 4217."""
    to_currency: str
    """Currency converted to, ISO 4217."""
    value: float
    """Price of one unit of `from_currency`, in `to_currency`."""
    as_of: date
    """Date of the rate."""
    source: str
    """Source of the rate."""

    @property
    def words(self) -> str:
        """1 USD = 0.92 EUR of 2026-11-20 (where it is from)."""
        return f"1 {self.from_currency} = {self.value:.10g} {self.to_currency} of {self.as_of} ({self.source})"


def applied_rates(rates: Iterable[ExchangeRate]) -> tuple[RateUsed, ...]:
    """The rates in the form of answers, in the same order."""
    return tuple(RateUsed(r.source, r.target, r.value, r.day, r.reference) for r in rates)
