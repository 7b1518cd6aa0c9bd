"""How each instance type is sold: by which way of paying, where, within which limits and until when.

A price says what something costs; a term of sale says that it can be bought so. A price without a term stays an offer,
marked as not confirmed. Terms are data of the shared table sale.csv, and of tables of that name that a provider's
folder may have. A refresh writes such a table from what the provider's own interfaces tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from datetime import date
from typing import Literal

from pricing.frozen_values import dataclass
from pricing.price import Price

SaleState = Literal["confirmed", "not_confirmed", "not_sold", "ended"]
"""Confirmed by a source; priced, and no source says how it is sold; not sold so; sold until a day that has passed."""

TOLD = "told by the provider's API"
"""The confidence of a term that a refresh read."""
LIMITS = ("min_days", "max_days", "order_ahead_days", "max_nodes", "needs_reservation", "queued")


@dataclass(frozen=True, slots=True)
class SaleTerm:
    """Whether and how a provider sells one instance type by one way of paying, in one place.

    `purchase_option` is the full name of an option or a beginning of it that ends before an underscore: reserved_1y
    is a one-year reservation however it is paid; empty, as for retired types, it is every way. `region` is empty where
    the term holds everywhere; `zones` are those of the region that sell it, all of them where it is empty.
    """

    provider: str
    instance_type: str
    purchase_option: str
    region: str
    zones: tuple[str, ...]
    sold: bool | None
    """None: the source names the option and does not say whether it is open to all."""
    min_days: int | None
    """Shortest purchase, in days."""
    max_days: int | None
    """Longest purchase, in days."""
    order_ahead_days: int | None
    """The latest start, in days after the order."""
    max_nodes: int | None
    """Most nodes of one order."""
    needs_reservation: bool
    """A commitment that exists only together with a reservation of the same capacity."""
    queued: bool
    """Capacity comes when there is some: no start can be counted on."""
    ends: date | None
    """The first day on which it is not sold and does not run any more."""
    successor: str
    """What the provider names instead, in its own words; empty where it names nothing."""
    source: str
    checked: str
    """When the source said so; a year, a month or a day, as precise as it is known."""
    confidence: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.provider, self.instance_type, self.purchase_option, self.region)

    @property
    def limits(self) -> str:
        """The limits in words, empty where there is none."""
        days = f"{self.min_days or 1} to {self.max_days} days" if self.max_days else ""
        parts = (
            days,
            f"ordered at most {self.order_ahead_days} days ahead" if self.order_ahead_days else "",
            f"at most {self.max_nodes} nodes an order" if self.max_nodes else "",
            "with an attached reservation" if self.needs_reservation else "",
            "queued until there is capacity" if self.queued else "",
            f"in {', '.join(self.zones)}" if self.zones else "",
            f"until {self.ends}" if self.ends else "",
        )
        return "; ".join(filter(None, parts))

    def state(self, day: date) -> SaleState:
        """Whether it can be bought on that day."""
        if self.ends is not None and self.ends <= day:
            return "ended"
        if self.sold is None:
            return "not_confirmed"
        return "confirmed" if self.sold else "not_sold"

    def covers(self, price: Price) -> bool:
        """Whether it is a term for the way of paying and the region of this price of its type."""
        return self.names(price.purchase_option) and self.region in ("", price.region)

    def names(self, option: str) -> bool:
        """Whether it is a term for this way of paying, by its full name or a beginning of it."""
        return not self.purchase_option or f"{option}_".startswith(f"{self.purchase_option}_")


SALE_COLUMNS = tuple(field.name for field in fields(SaleTerm))


def find_sale_term(price: Price, terms: Sequence[SaleTerm]) -> SaleTerm | None:
    """The term for a price among those of its type: one for the region before one for everywhere, then the one that
    names the option most closely; its end, where it names none, is that of the type. None where no source says how it
    is sold."""
    covering = [term for term in terms if term.covers(price)]
    closest = max(covering, key=lambda term: (term.region != "", len(term.purchase_option)), default=None)
    ending = max(
        (term for term in covering if not term.purchase_option and term.ends is not None),
        key=lambda term: term.region != "",
        default=None,
    )
    if closest is None or ending is None or closest.ends is not None:
        return closest
    return replace(closest, ends=ending.ends, successor=ending.successor)


@dataclass(frozen=True, slots=True)
class TypeSaleTerms:
    """The terms of one instance type. What was found is kept: prices of one way of paying in regions that no term names
    have the same."""

    terms: tuple[SaleTerm, ...]
    regions: frozenset[str]
    """The regions that a term names."""
    found: dict[tuple[str, str], SaleTerm | None]

    @classmethod
    def of(cls, terms: Iterable[SaleTerm]) -> TypeSaleTerms:
        """The terms, of which nothing has been looked for."""
        known = tuple(terms)
        return cls(known, frozenset(term.region for term in known), {})

    def find(self, price: Price) -> SaleTerm | None:
        """The term for a price of this type, as `find_sale_term` finds it."""
        key = (price.purchase_option, price.region if price.region in self.regions else "")
        if key not in self.found:
            self.found[key] = find_sale_term(price, self.terms)
        return self.found[key]


NO_SALE_TERMS = TypeSaleTerms.of(())


def build_told_term(
    offering: tuple[str, str],
    region: str,
    option: str,
    source: tuple[str, date],
    *,
    sold: bool | None = None,
    ends: date | None = None,
    successor: str = "",
) -> SaleTerm:
    """What an interface of the provider tells on a day (`source`) of one type and way of paying in a region.

    No option means every way. Without `sold` and `ends` it tells nothing more: what it told before holds no longer.
    """
    return SaleTerm(
        *offering, option, region, (), sold, None, None, None, None, False, False, ends, successor,
        source[0], source[1].isoformat(), TOLD,
    )  # fmt: skip


def merge_told_terms(
    known: Iterable[SaleTerm], before: Iterable[SaleTerm], told: Iterable[SaleTerm]
) -> tuple[SaleTerm, ...]:
    """The terms that a refresh adds to the `known` ones of the tables: only what differs from them.

    `before` are those that earlier refreshes added; of them stays what was not told again. An interface tells whether
    and until when, and no limits: those are of the known term for the same way of paying.
    """
    tables: dict[str, list[SaleTerm]] = defaultdict(list)
    for term in known:
        tables[term.instance_type].append(term)
    told = sorted(told, key=lambda term: term.key)  # an end of every way of paying comes first
    again = {(term.instance_type, term.region, term.purchase_option) for term in told}
    added = {
        term.key: term
        for term in before
        if again.isdisjoint((term.instance_type, term.region, option) for option in ("", term.purchase_option))
    }
    for term in told:
        if term.sold is not None or term.ends is not None:
            added |= {news.key: news for news in _find_news(term, tables)}
    return tuple(added.values())


def _find_news(told: SaleTerm, tables: dict[str, list[SaleTerm]]) -> Iterator[SaleTerm]:
    """The told term, and where it holds for every way of paying one for each that the tables know in its region: a
    term for the region counts before one for everywhere, so it must not hide theirs."""
    here = [term for term in tables[told.instance_type] if term.region in ("", told.region)]
    options = {told.purchase_option} | {term.purchase_option for term in here if not told.purchase_option}
    for option in sorted(options):
        covering = (term for term in here if term.names(option))
        first = max(covering, key=lambda term: (term.region != "", len(term.purchase_option)), default=None)
        sold = first.sold if first and told.sold is None else told.sold
        ends = told.ends or (first.ends if first else None)
        if first is None or (first.sold, first.ends) != (sold, ends):
            limited = None if sold is False else _find_limits(first, option, tables[told.instance_type])
            yield replace(
                told,
                purchase_option=option,
                sold=sold,
                ends=ends,
                successor=told.successor or (first.successor if first else ""),
                source=f"{told.source}; limits: {limited.source}" if limited else told.source,
                **{name: getattr(limited or told, name) for name in LIMITS},
            )


def _find_limits(first: SaleTerm | None, option: str, terms: Iterable[SaleTerm]) -> SaleTerm | None:
    """The term whose limits hold: the one for this place, else one for another place where it is sold the same way."""
    candidates = (
        *((first,) if first else ()),
        *(term for term in terms if term.purchase_option == option and term.sold),
    )
    blank = (None, None, None, None, False, False)
    return next((term for term in candidates if tuple(getattr(term, name) for name in LIMITS) != blank), None)
