"""A rate of exchange as an answer tells it: for plans and for lists of offers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from pricing.exchange import Rate


@dataclass(frozen=True, slots=True)
class RateUsed:
    """A rate of exchange that amounts went through: one unit of `from_currency` costs `value` of `to_currency`."""

    from_currency: str
    to_currency: str
    value: float
    as_of: date
    source: str

    @property
    def words(self) -> str:
        """1 USD = 0.92 EUR of 2026-11-20 (where it is from)."""
        return f"1 {self.from_currency} = {self.value:.10g} {self.to_currency} of {self.as_of} ({self.source})"


def used(rates: Iterable[Rate]) -> tuple[RateUsed, ...]:
    """The rates as an answer tells them, in the order given."""
    return tuple(RateUsed(r.source, r.target, r.value, r.day, r.reference) for r in rates)
