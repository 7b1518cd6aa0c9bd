"""Private prices: a dated card of discounts and negotiated prices. Knows no list price and no rate.

A rule names the prices that it applies to: an empty cell means any, a cell with * or ? is a pattern, any other is an
exact name. One rule decides a price: the most specific. Rules are compared column by column, in the order of
`PRECEDENCE`; in a column an exact name beats a pattern, which beats an empty cell, and a full purchase option beats its
kind. Two rules that are equal in every column and both match one price contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple
from datetime import date
from functools import cached_property
from pathlib import Path

from pricing.csv_tables import TableRow, find_nearest_names, parse_number, read_rows
from pricing.errors import InvalidSnapshot
from pricing.exchange_rates import parse_currency_code
from pricing.frozen_values import dataclass
from pricing.offering import Offering
from pricing.price import parse_purchase_option, purchase_kinds

NAME_COLUMNS = ("provider", "family", "instance_type", "region", "purchase_option")
COLUMNS = (*NAME_COLUMNS, "percent_off", "price_per_hour", "currency", "valid_from", "valid_to", "note")
PRECEDENCE = ("instance_type", "family", "region", "purchase_option", "provider")
SOURCE_ID = "private-prices"
"""The source id of a negotiated price."""
ANY, PATTERN, IS_KIND, EXACT = range(4)
PriceKey = tuple[str, str, str, str]
"""Provider, region, instance type and full purchase option: Price.key."""


@dataclass(frozen=True, slots=True)
class PrivatePriceRule:
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
        """How specific its columns are, in the order of PRECEDENCE; the greatest rule decides."""
        return tuple(cell_specificity(name, getattr(self, name)) for name in PRECEDENCE)

    @property
    def adds(self) -> bool:
        """Whether it is a price by itself, of one type in one region under one purchase option."""
        named = all(cell_specificity(n, getattr(self, n)) == EXACT for n in NAME_COLUMNS if n != "family")
        return named and self.price_per_hour is not None

    @property
    def words(self) -> str:
        """Its effect and its place."""
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

    def overlaps(self, other: PrivatePriceRule) -> bool:
        """Whether there is a day on which both hold."""
        first = max(self.valid_from, other.valid_from)
        return all(rule.valid_to is None or first <= rule.valid_to for rule in (self, other))

    def matches(self, name: str, value: str) -> bool:
        """Whether its cell `name` lets a value through; a purchase option may be given by its kind."""
        cell = getattr(self, name)
        if cell_specificity(name, cell) == IS_KIND:
            parts = parse_purchase_option(value)
            return parts is not None and parts.kind == cell
        return cell_matcher(cell)(value)


@dataclass(frozen=True)
class RateCard:
    """The rules of one file, called `name`; empty without a file."""

    rules: tuple[PrivatePriceRule, ...]
    name: str = ""

    @classmethod
    def read(cls, path: Path) -> RateCard:
        """The rules of a CSV table (`COLUMNS`); raises InvalidSnapshot with every fault.

        Whether the names are known, and no two rules contradict each other, takes the catalogue: see
        pricing.catalog.adjusted_prices.
        """
        faults: list[str] = []
        rules = [rule for row in read_rows(path, COLUMNS, faults) if (rule := _parse_rule(row))]
        if faults:
            raise InvalidSnapshot(tuple(faults))
        return cls(tuple(rules), path.name)

    @cached_property
    def digest(self) -> str:
        """A short hash of the rules with their places."""
        from hashlib import blake2b

        return blake2b(repr(tuple(map(astuple, self.rules))).encode(), digest_size=8).hexdigest()

    def in_force(self, day: date) -> tuple[PrivatePriceRule, ...]:
        """The rules that hold on a day, the most specific first."""
        return tuple(sorted((r for r in self.rules if r.holds(day)), key=lambda r: r.specificity, reverse=True))

    def out_of_force(self, day: date) -> tuple[PrivatePriceRule, ...]:
        """The rules that have ended or not begun on a day, in the order of the file."""
        return tuple(rule for rule in self.rules if not rule.holds(day))


@dataclass(frozen=True)
class CatalogNames:
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
class RuleScope:
    """The prices that a rule applies to, in the names of a catalogue."""

    rule: PrivatePriceRule
    offerings: frozenset[tuple[str, str]]
    regions: frozenset[tuple[str, str]]
    options: frozenset[str]

    @classmethod
    def of(cls, rule: PrivatePriceRule, known: CatalogNames) -> RuleScope:
        """The scope of a rule, without types that cannot be rented (retired types and parts)."""
        provider, family, of_type, region = map(
            cell_matcher, (rule.provider, rule.family, rule.instance_type, rule.region)
        )
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

    def touches(self, key: PriceKey) -> bool:
        """Whether it is for the price of that key."""
        provider, region, instance_type, option = key
        is_type = (provider, instance_type) in self.offerings
        return is_type and (provider, region) in self.regions and option in self.options

    def faults(self, known: CatalogNames) -> Iterator[str]:
        """Names of the rule that are unknown or do not go together."""
        rule, has_unknown = self.rule, False
        for name in NAME_COLUMNS:
            cell = getattr(rule, name)
            is_known = cell_specificity(name, cell) == ANY or any(
                rule.matches(name, value) for value in known.names[name]
            )
            if is_known or (name == "purchase_option" and rule.adds):
                continue
            has_unknown, column = True, name.replace("_", " ")
            if cell_specificity(name, cell) == PATTERN:
                yield f"{rule.place}: {name} is {cell!r}, which fits no {column} of the catalogue"
            else:
                close = ", ".join(find_nearest_names(cell, known.names[name]))
                yield f"{rule.place}: unknown {column} {cell!r}{f'; nearest: {close}' if close else ''}"
        if not has_unknown and not self.offerings:
            yield f"{rule.place}: no type that can be rented has this provider, family and instance type together"
        elif not has_unknown and not {p for p, _ in self.offerings} & {p for p, _ in self.regions}:
            yield f"{rule.place}: the provider of these types has no such region"


def cell_specificity(name: str, cell: str) -> int:
    """How exact a cell is."""
    if not cell:
        return ANY
    if "*" in cell or "?" in cell:
        return PATTERN
    return (
        IS_KIND
        if name == "purchase_option" and parse_purchase_option(cell) is None and cell in purchase_kinds()
        else EXACT
    )


def cell_matcher(cell: str) -> Callable[[str], bool]:
    """The test of a value against a cell: empty (any value), a pattern, or an exact name."""
    kind = cell_specificity("", cell)
    if kind == ANY:
        return lambda _: True
    if kind == EXACT:
        return cell.__eq__
    parts = {"*": ".*", "?": "."}
    pattern = re.compile("".join(parts.get(sign) or re.escape(sign) for sign in cell), re.DOTALL)
    return lambda value: pattern.fullmatch(value) is not None


def _parse_rule(row: TableRow) -> PrivatePriceRule | None:
    percent, price = row.values["percent_off"], row.values["price_per_hour"]
    if bool(percent) == bool(price):
        row.fault("expected exactly one of percent_off and price_per_hour")
    if percent:
        _check_percent(row)
    currency = row.values["currency"]
    if price:
        parse_currency_code(row, "currency")
    elif currency:
        row.fault(f"currency is {currency!r}, expected none: a discount is in the currency of the list price")
    last = row.day("valid_to") if row.values["valid_to"] else None
    first = row.day("valid_from")
    if last is not None and date.min < last < first:
        row.fault(f"valid_to {last} is before valid_from {first}")
    return row.build(
        PrivatePriceRule,
        **{name: row.text(name, empty=True) for name in NAME_COLUMNS},
        percent_off=parse_number(percent) if percent else None,
        price_per_hour=row.positive("price_per_hour") if price else None,
        currency=currency,
        valid_from=first,
        valid_to=last,
        note=row.text("note", empty=True),
        place=f"{row.path.name}:{row.line}",
    )


def _check_percent(row: TableRow) -> None:
    value = parse_number(row.values["percent_off"])
    if value is None or not 0 <= value < 100:
        row.fault(f"percent_off is {row.values['percent_off']!r}, expected 0 to below 100")
