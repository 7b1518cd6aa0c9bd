"""Private prices: a dated card of discounts and negotiated prices. Knows no list price and no rate.

A rule names what it is for: an empty cell means any, a cell with * or ? is a pattern, any other is an exact name. One
rule decides a price: the most specific. Rules are compared column by column, in the order of `PRECEDENCE`; in a column
an exact name beats a pattern, which beats an empty cell, and a full purchase option beats its kind. Two rules that are
equal in every column and both match one price contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import get_args

from pricing.errors import BadSnapshot
from pricing.exchange import code_in
from pricing.offering import Offering
from pricing.price import Kind, option_of
from pricing.table import Row, nearest, number_in, read_rows

NAMES = ("provider", "family", "instance_type", "region", "purchase_option")
COLUMNS = (*NAMES, "percent_off", "price_per_hour", "currency", "valid_from", "valid_to", "note")
PRECEDENCE = ("instance_type", "family", "region", "purchase_option", "provider")
SOURCE_ID = "private-prices"
"""What a negotiated price names as its source."""
KINDS = get_args(Kind)
ANY, PATTERN, IS_KIND, EXACT = range(4)
Key = tuple[str, str, str, str]
"""Provider, region, instance type and full purchase option: Price.key."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a card: `percent_off` the list price, or `price_per_hour` of a whole node in `currency`.

    Exactly one of the two is set. It holds from `valid_from` to `valid_to` (None: open end), both days included.
    `place` is its file and line.
    """

    provider: str
    family: str
    instance_type: str
    region: str
    purchase_option: str
    percent_off: float | None
    price_per_hour: float | None
    currency: str
    valid_from: date
    valid_to: date | None
    note: str
    place: str

    @property
    def specificity(self) -> tuple[int, ...]:
        """How exactly it says what it is for; the greater decides."""
        return tuple(level(name, getattr(self, name)) for name in PRECEDENCE)

    @property
    def adds(self) -> bool:
        """Whether it is a price by itself, of one type in one region bought in one way."""
        named = all(level(n, getattr(self, n)) == EXACT for n in NAMES if n != "family")
        return named and self.price_per_hour is not None

    @property
    def words(self) -> str:
        """What it does, and where it stands."""
        if self.percent_off is not None:
            does = f"{self.percent_off:g} % off the list price"
        else:
            does = f"agreed at {self.price_per_hour:g} {self.currency} an hour"
        return f"{does} ({self.place}{f': {self.note}' if self.note else ''})"

    @property
    def period(self) -> str:
        return f"{self.valid_from} to {self.valid_to}" if self.valid_to else f"{self.valid_from} on"

    def holds(self, day: date) -> bool:
        return self.valid_from <= day and (self.valid_to is None or day <= self.valid_to)

    def overlaps(self, other: Rule) -> bool:
        """Whether there is a day on which both hold."""
        first = max(self.valid_from, other.valid_from)
        return all(rule.valid_to is None or first <= rule.valid_to for rule in (self, other))

    def matches(self, name: str, value: str) -> bool:
        """Whether its cell `name` lets a value through; a purchase option may be told by its kind."""
        cell = getattr(self, name)
        if level(name, cell) == IS_KIND:
            parts = option_of(value)
            return parts is not None and parts.kind == cell
        return matcher(cell)(value)


@dataclass(frozen=True)
class RateCard:
    """The rules of one file, called `name`; empty where nobody gave one."""

    rules: tuple[Rule, ...]
    name: str = ""

    @classmethod
    def read(cls, path: Path) -> RateCard:
        """The rules of a CSV table (`COLUMNS`); raises BadSnapshot with every fault.

        Whether the names are known, and no two rules contradict each other, takes the catalogue: see pricing.view.
        """
        faults: list[str] = []
        rules = [rule for row in read_rows(path, COLUMNS, faults) if (rule := _rule_of(row))]
        if faults:
            raise BadSnapshot(tuple(faults))
        return cls(tuple(rules), path.name)

    @cached_property
    def digest(self) -> str:
        """A short hash of the rules and where each stands."""
        from hashlib import blake2b

        return blake2b(repr(self.rules).encode(), digest_size=8).hexdigest()

    def in_force(self, day: date) -> tuple[Rule, ...]:
        """The rules that hold on a day, the most specific first."""
        return tuple(sorted((r for r in self.rules if r.holds(day)), key=lambda r: r.specificity, reverse=True))

    def out_of_force(self, day: date) -> tuple[Rule, ...]:
        """The rules that have ended or not begun on a day, as they stand."""
        return tuple(rule for rule in self.rules if not rule.holds(day))


@dataclass(frozen=True)
class Known:
    """The names that a catalogue has; regions as (provider, region)."""

    providers: tuple[str, ...]
    offerings: tuple[Offering, ...]
    regions: tuple[tuple[str, str], ...]
    options: tuple[str, ...]

    @cached_property
    def names(self) -> Mapping[str, Iterable[str]]:
        """The values of every column that names something."""
        return {
            "provider": self.providers,
            "family": dict.fromkeys(offering.family for offering in self.offerings),
            "instance_type": dict.fromkeys(offering.instance_type for offering in self.offerings),
            "region": dict.fromkeys(region for _, region in self.regions),
            "purchase_option": self.options,
        }


@dataclass(frozen=True, slots=True)
class Reach:
    """All that a rule is for, in the names of a catalogue."""

    rule: Rule
    offerings: frozenset[tuple[str, str]]
    regions: frozenset[tuple[str, str]]
    options: frozenset[str]

    @classmethod
    def of(cls, rule: Rule, known: Known) -> Reach:
        """Types that nobody can rent, retired ones and parts, are out of any reach."""
        provider, family, of_type, region = map(matcher, (rule.provider, rule.family, rule.instance_type, rule.region))
        offerings = frozenset(
            offering.key
            for offering in known.offerings
            if provider(offering.provider)
            and of_type(offering.instance_type)
            and family(offering.family)
            and offering.status != "retired"
            and not offering.part
        )
        options = frozenset(name for name in known.options if rule.matches("purchase_option", name))
        return cls(
            rule,
            offerings,
            frozenset(key for key in known.regions if provider(key[0]) and region(key[1])),
            options | {rule.purchase_option} if rule.adds else options,
        )

    def touches(self, key: Key) -> bool:
        """Whether it is for the price of that key."""
        provider, region, instance_type, option = key
        is_type = (provider, instance_type) in self.offerings
        return is_type and (provider, region) in self.regions and option in self.options

    def faults(self, known: Known) -> Iterator[str]:
        """What its rule names that is unknown, or does not go together."""
        rule, found = self.rule, False
        for name in NAMES:
            cell = getattr(rule, name)
            is_known = level(name, cell) == ANY or any(rule.matches(name, value) for value in known.names[name])
            if is_known or (name == "purchase_option" and rule.adds):
                continue
            found, what = True, name.replace("_", " ")
            if level(name, cell) == PATTERN:
                yield f"{rule.place}: {name} is {cell!r}, which fits no {what} of the catalogue"
            else:
                close = ", ".join(nearest(cell, known.names[name]))
                yield f"{rule.place}: unknown {what} {cell!r}{f'; nearest: {close}' if close else ''}"
        if not found and not self.offerings:
            yield f"{rule.place}: no type that can be rented has this provider, family and instance type together"
        elif not found and not {p for p, _ in self.offerings} & {p for p, _ in self.regions}:
            yield f"{rule.place}: the provider of these types has no such region"


def level(name: str, cell: str) -> int:
    """How exact a cell is."""
    if not cell:
        return ANY
    if "*" in cell or "?" in cell:
        return PATTERN
    return IS_KIND if name == "purchase_option" and option_of(cell) is None and cell in KINDS else EXACT


def matcher(cell: str) -> Callable[[str], bool]:
    """Whether a value is what a cell says: anything, a pattern, or the same text."""
    kind = level("", cell)
    if kind == ANY:
        return lambda _: True
    if kind == EXACT:
        return cell.__eq__
    parts = {"*": ".*", "?": "."}
    pattern = re.compile("".join(parts.get(sign) or re.escape(sign) for sign in cell), re.DOTALL)
    return lambda value: pattern.fullmatch(value) is not None


def _rule_of(row: Row) -> Rule | None:
    percent, price = row.values["percent_off"], row.values["price_per_hour"]
    if bool(percent) == bool(price):
        row.fault("expected exactly one of percent_off and price_per_hour")
    if percent:
        _percent(row)
    currency = row.values["currency"]
    if price:
        code_in(row, "currency")
    elif currency:
        row.fault(f"currency is {currency!r}, expected none: a discount is in the currency of the list price")
    last = row.day("valid_to") if row.values["valid_to"] else None
    first = row.day("valid_from")
    if last is not None and date.min < last < first:
        row.fault(f"valid_to {last} is before valid_from {first}")
    return row.build(
        Rule,
        **{name: row.text(name, empty=True) for name in NAMES},
        percent_off=number_in(percent) if percent else None,
        price_per_hour=row.positive("price_per_hour") if price else None,
        currency=currency,
        valid_from=first,
        valid_to=last,
        note=row.text("note", empty=True),
        place=f"{row.path.name}:{row.line}",
    )


def _percent(row: Row) -> None:
    value = number_in(row.values["percent_off"])
    if value is None or not 0 <= value < 100:
        row.fault(f"percent_off is {row.values['percent_off']!r}, expected 0 to below 100: nothing is free")
