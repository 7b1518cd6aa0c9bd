"""The catalogue of one user: negotiated prices in place of list prices, all in one currency.

A discount applies to the list price in the list currency; the result is converted at the rate of the day. Knows no
plan. Prices are adjusted when an offering is first used; only their ranking needs all of them at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

from pricing.catalog.price_catalog import Catalog
from pricing.catalog.quotes import LowestPrice, OfferingQuotes, Quote
from pricing.errors import InvalidSnapshot, MissingExchangeRate
from pricing.exchange_rates import ExchangeRate
from pricing.frozen_values import dataclass
from pricing.machines import PlainMachine
from pricing.offering import Offering
from pricing.price import AdjustedPrice, Price, parse_purchase_option
from pricing.private_prices import (
    NAME_COLUMNS,
    PATTERN,
    SOURCE_ID,
    CatalogNames,
    PriceKey,
    PrivatePriceRule,
    RuleScope,
    cell_specificity,
)
from pricing.regions import Source
from pricing.systems import ServerSystem
from pricing.transfer_storage_prices import Tier

ADJUSTED_MAX = 4
"""Catalogues kept for the next plan; one with every price shipped has 5.1 MiB."""


@dataclass(frozen=True, slots=True)
class UnconvertedPrices:
    """`prices` rows are in a currency without a rate on that day (`why`) and cannot be used."""

    currency: str
    prices: int
    why: str


@lru_cache(maxsize=ADJUSTED_MAX)
def adjust_catalog(catalog: Catalog, currency: str, day: date) -> Catalog:
    """Every price, tier and system price in `currency`, at the rates of `day`, with the private prices that hold then.

    Gives `catalog` itself if no price would differ. Prices without a rate are excluded and counted in
    `AdjustedCatalog.left_out`. Raises InvalidSnapshot with every rule that names something unknown or contradicts
    another.
    """
    if problems := check_rate_card(catalog):
        raise InvalidSnapshot(problems)
    adjusted = AdjustedCatalog(catalog, currency, day)
    return adjusted if adjusted.differs else catalog


def select_for_plan(catalog: Catalog, named: Iterable[str]) -> Catalog:
    """The catalogue of a plan that names these providers: without the others that are used only on request.

    A private price names its provider, too: who has a price agreed means to use it.
    """
    asked = {*named, *(rule.provider for rule in catalog.card.rules)}
    left = frozenset(each.name for each in catalog.provider_facts.values() if each.on_request) - asked
    return _open_without(catalog, left) if left else catalog


@lru_cache(maxsize=8)
def _open_without(catalog: Catalog, left: frozenset[str]) -> Catalog:
    if isinstance(catalog, AdjustedCatalog):
        return adjust_catalog(_open_without(catalog.base, left), catalog.currency, catalog.day)
    cache = catalog._cache  # noqa: SLF001  (the same catalogue with fewer folders)
    return Catalog(catalog.layout.without(left), cache, catalog.exchange, catalog.card)


def check_rate_card(catalog: Catalog) -> tuple[str, ...]:
    """The problems of the private prices with this catalogue, each with its file and line."""
    if not catalog.card.rules:
        return ()
    reaches = _resolve_rules(catalog, catalog.card.rules)
    known = _catalog_names(catalog)
    unknown = [fault for reach in reaches for fault in reach.faults(known)]
    return (*unknown, *_find_contradictions(reaches, catalog))


def _resolve_rules(catalog: Catalog, rules: Iterable[PrivatePriceRule]) -> list[RuleScope]:
    resolved = tuple(rules)
    if not resolved:
        return []  # most users have no private prices, and the names are not for nothing
    known = _catalog_names(catalog)
    return [RuleScope.of(rule, known) for rule in resolved]


def _catalog_names(catalog: Catalog) -> CatalogNames:
    return CatalogNames(catalog.providers, tuple(catalog.offerings.values()), tuple(catalog.regions), catalog.options)


def _find_contradictions(reaches: Iterable[RuleScope], catalog: Catalog) -> Iterator[str]:
    """Pairs of rules that are equally specific, hold on one day and match one price."""
    groups: dict[object, list[RuleScope]] = defaultdict(list)
    for reach in reaches:
        rule = reach.rule
        exact = tuple(cell for name in NAME_COLUMNS if cell_specificity(name, cell := getattr(rule, name)) > PATTERN)
        groups[rule.specificity, exact].append(reach)
    for group in groups.values():
        for one, other in combinations(group, 2):
            if one.rule.overlaps(other.rule) and (key := _find_overlap(one, other, catalog)):
                yield f"{other.rule.place}: as specific as {one.rule.place}, and both match {' '.join(key)}"


def _find_overlap(one: RuleScope, other: RuleScope, catalog: Catalog) -> PriceKey | None:
    """A price that both match; where both are prices by themselves, that price."""
    for key in sorted(one.offerings & other.offerings):
        for quote in catalog.of_type(catalog.offerings[key]):
            if one.touches(quote.price.key) and other.touches(quote.price.key):
                return quote.price.key
    rule = one.rule
    is_same = rule.adds and other.rule.adds and bool(one.offerings)
    return (rule.provider, rule.region, rule.instance_type, rule.purchase_option) if is_same else None


class AdjustedCatalog(Catalog):
    """A catalogue over another: same store, other prices. Its coverage and dates are those of the list prices."""

    def __init__(self, base: Catalog, currency: str, day: date) -> None:
        own = {*vars(AdjustedCatalog), "priced", "_listed"}  # all else equals the base: its cached values are shared
        vars(self).update({name: value for name, value in vars(base).items() if name not in own})
        self.base, self.currency, self.day = base, currency, day
        self._listed = {}
        self._reaches = _resolve_rules(base, base.card.in_force(day))
        self._rates: dict[str, ExchangeRate | MissingExchangeRate] = {
            code: self._find_rate(code) for code in self._list_currencies()
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return (adjust_catalog, (self.base, self.currency, self.day))

    @property
    def differs(self) -> bool:
        """Whether any price differs from the base."""
        return bool(self._reaches) or self._rates.keys() > {self.currency} or self.currency not in self._rates

    @property
    def rates(self) -> tuple[ExchangeRate, ...]:
        """The rates that prices were converted at, one for each other currency."""
        return tuple(
            rate for code, rate in self._rates.items() if isinstance(rate, ExchangeRate) and code != self.currency
        )

    @cached_property
    def left_out(self) -> tuple[UnconvertedPrices, ...]:
        """The prices that cannot be converted, by currency."""
        missing = {code: rate for code, rate in self._rates.items() if isinstance(rate, MissingExchangeRate)}
        return tuple(UnconvertedPrices(code, self._ranked_prices[1][code], str(why)) for code, why in missing.items())

    @property
    def digest(self) -> str:
        """That of the base, the card and the rates used, in one."""
        from hashlib import blake2b

        parts = (self.base.digest, self.card.digest, self.currency, str(self.day), *map(repr, self.rates))
        return blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()

    def _list_currencies(self) -> list[str]:
        agreed = {r.rule.currency for r in self._reaches if r.rule.price_per_hour is not None}
        return sorted({*self.base.currencies, *agreed})

    def _find_rate(self, code: str) -> ExchangeRate | MissingExchangeRate:
        try:
            return self.exchange.rate(code, self.currency, self.day)
        except MissingExchangeRate as missing:
            return missing

    def _convert_amount(self, amount: float, code: str) -> float | None:
        """The amount in the view's currency; None without a rate."""
        rate = self._rates[code]
        if code == self.currency:
            return amount
        return amount * rate.value if isinstance(rate, ExchangeRate) else None

    @cached_property
    def systems(self) -> tuple[ServerSystem, ...]:
        """As in the base; a price without a rate is unknown. `list_prices` describes the converted ones."""
        return tuple(self._convert_system(system) for system in self.base.systems)

    @cached_property
    def list_prices(self) -> dict[str, str]:
        """List price and exchange rate of each system whose price was converted."""
        return {
            system.name: f"{system.price:,.0f} {system.currency} at {rate.brief}"
            for system in self.base.systems
            if isinstance(rate := self._rates[system.currency], ExchangeRate)
            if system.price is not None and system.currency != self.currency
        }

    @cached_property
    def machines(self) -> tuple[PlainMachine, ...]:
        """As in the base, converted; without those whose currency has no rate."""
        converted = ((each, self._convert_amount(each.price_per_hour, each.currency)) for each in self.base.machines)
        return tuple(
            replace(each, price_per_hour=amount, currency=self.currency)
            for each, amount in converted
            if amount is not None
        )

    def _convert_system(self, system: ServerSystem) -> ServerSystem:
        rate = self._rates[system.currency]
        if system.price is None or system.currency == self.currency:
            return system
        if isinstance(rate, MissingExchangeRate):
            return replace(system, price=None, price_as_of=None)
        return replace(system, price=system.price * rate.value, currency=self.currency)

    @cached_property
    def sources(self) -> dict[str, Source]:
        """As in the base, and the private prices."""
        card = Source(SOURCE_ID, f"{self.card.name}: prices agreed with the provider", self.day, "negotiated prices")
        return self.base.sources | {SOURCE_ID: card}

    def tiers(self, provider: str, region: str, item: str) -> tuple[Tier, ...]:
        """As in the base; no steps if one has no rate."""
        steps = self.base.tiers(provider, region, item)
        prices = [self._convert_amount(step.price_per_gb, step.currency) for step in steps]
        return tuple(
            replace(step, price_per_gb=price, currency=self.currency)
            for step, price in zip(steps, prices, strict=True)
            if price is not None and None not in prices
        )

    @cached_property
    def _scopes_by_offering(self) -> dict[tuple[str, str], list[RuleScope]]:
        """The rules for each type, the most specific first."""
        scopes_by_offering: dict[tuple[str, str], list[RuleScope]] = defaultdict(list)
        for reach in self._reaches:
            for key in reach.offerings:
                scopes_by_offering[key].append(reach)
        return scopes_by_offering

    def _find_rule(self, key: PriceKey) -> PrivatePriceRule | None:
        provider, _, instance_type, _ = key
        for reach in self._scopes_by_offering.get((provider, instance_type), ()):
            if reach.touches(key):
                return reach.rule
        return None

    def _adjusted_amount(self, rule: PrivatePriceRule | None, list_price: float, currency: str) -> float | None:
        """The adjusted price; None if its currency has no rate."""
        if rule is not None and rule.price_per_hour is not None:
            return self._convert_amount(rule.price_per_hour, rule.currency)
        off = 0.0 if rule is None or rule.percent_off is None else rule.percent_off
        return self._convert_amount(list_price * (1 - off / 100), currency)

    @cached_property
    def _ranked_prices(self) -> tuple[dict[PriceKey, int], Counter[str]]:
        """The rank of every usable price, and the number of unusable ones by currency."""
        rows = self._store.rows(
            "SELECT provider, region, instance_type, purchase_option, price_per_hour, currency FROM prices"
        )
        order: list[tuple[float, PriceKey]] = []
        missing: Counter[str] = Counter()
        for *names, price, currency in rows:
            key: PriceKey = (names[0], names[1], names[2], names[3])
            rule = self._find_rule(key)
            amount = self._adjusted_amount(rule, price, currency)
            if amount is None:
                missing[rule.currency if rule is not None and rule.currency else currency] += 1
            else:
                order.append((amount, key))
        for key, rule in self._added_rules.items():
            if (amount := self._adjusted_amount(rule, 0.0, rule.currency)) is None:
                missing[rule.currency] += 1
            else:
                order.append((amount, key))
        return {key: rank for rank, (_, key) in enumerate(sorted(order))}, missing

    @cached_property
    def _added_rules(self) -> dict[PriceKey, PrivatePriceRule]:
        """The private prices of keys without a list price."""
        rules_by_key: dict[PriceKey, PrivatePriceRule] = {}
        for reach in self._reaches:
            rule = reach.rule
            key: PriceKey = (rule.provider, rule.region, rule.instance_type, rule.purchase_option)
            if rule.adds and reach.offerings and not self._is_listed(key):
                rules_by_key.setdefault(key, rule)
        return rules_by_key

    def lowest_by_option(self, offering: Offering) -> dict[str, LowestPrice]:
        return {option: LowestPrice.of(quotes) for option, quotes in self.by_option(offering).items()}

    def _is_listed(self, key: PriceKey) -> bool:
        offering = self.base.offerings[key[0], key[2]]
        return any(quote.price.key == key for quote in self.base.of_type(offering))

    @cached_property
    def _with_prices(self) -> tuple[Offering, ...]:
        priced = {(provider, instance_type) for provider, _, instance_type, _ in self._ranked_prices[0]}
        return tuple(offering for offering in self._ordered_offerings if offering.key in priced)

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The full names of all purchase options that have a price here."""
        return tuple(sorted({option for *_, option in self._ranked_prices[0]}))

    @cached_property
    def kinds(self) -> dict[str, frozenset[str]]:
        """By provider, the kinds of purchase option that can be rented."""
        rented = {offering.key for offering in self.priced}
        kinds_by_provider: dict[str, set[str]] = {name: set() for name in self.providers}
        for provider, _, instance_type, option in self._ranked_prices[0]:
            if (provider, instance_type) in rented and (parts := parse_purchase_option(option)):
                kinds_by_provider[provider].add(parts.kind)
        return {name: frozenset(kinds) for name, kinds in kinds_by_provider.items()}

    def _read_quotes(self, offering: Offering) -> OfferingQuotes:
        accelerator, ranks = self.names.by_name[offering.accelerator], self._ranked_prices[0]
        listed = [quote.price for quote in self.base.of_type(offering) if quote.price.key in ranks]
        prices = [self._adjust_price(price, self._find_rule(price.key)) for price in listed]
        added = {
            key: rule for key, rule in self._added_rules.items() if (key[0], key[2]) == offering.key and key in ranks
        }
        prices += [self._build_agreed_price(key, rule) for key, rule in added.items()]
        unsorted_quotes = [
            # a price that was agreed and that no list has is sold to the one who agreed it
            Quote(offering, price, accelerator, ranks[price.key], None if price.key in added else self.sale_term(price))
            for price in prices
        ]
        quotes = tuple(sorted(unsorted_quotes, key=lambda quote: quote.rank))
        by_option: dict[str, list[Quote]] = {}
        for quote in quotes:
            by_option.setdefault(quote.price.purchase_option, []).append(quote)
        return OfferingQuotes(quotes, by_option)

    def _adjust_price(self, price: Price, rule: PrivatePriceRule | None) -> Price:
        """The adjusted list price; the same object if it does not differ."""
        if rule is None and price.currency == self.currency:
            return price
        amount = self._adjusted_amount(rule, price.price_per_hour, price.currency)
        assert amount is not None  # it has a rank
        values = {name: getattr(price, name) for name in Price.__slots__}
        values |= {"price_per_hour": amount, "currency": self.currency}
        if rule is not None and rule.price_per_hour is not None:
            values |= {"as_of": rule.valid_from, "source_id": SOURCE_ID, "method": "listed"}
        words = rule.words if rule else ""
        return AdjustedPrice(
            **values, list_price_per_hour=price.price_per_hour, list_currency=price.currency, adjustment=words
        )

    def _build_agreed_price(self, key: PriceKey, rule: PrivatePriceRule) -> Price:
        """A price that only the card has."""
        amount, parts = self._adjusted_amount(rule, 0.0, rule.currency), parse_purchase_option(rule.purchase_option)
        assert amount is not None  # it has a rank
        assert parts is not None  # the rule adds
        provider, region, instance_type, option = key
        return AdjustedPrice(
            provider,
            region,
            instance_type,
            option,
            **parts._asdict(),
            price_per_hour=amount,
            currency=self.currency,
            as_of=rule.valid_from,
            source_id=SOURCE_ID,
            method="listed",
            note=rule.note,
            adjustment=rule.words,
        )


def list_rates_used(catalog: Catalog, source: str, target: str, day: date) -> tuple[ExchangeRate, ...]:
    """The rates that prices, and other amounts in the currency `source`, were converted to `target` at; empty if all
    amounts are in one currency."""
    if source == target and not isinstance(catalog, AdjustedCatalog):
        return ()
    of_prices = catalog.rates if isinstance(catalog, AdjustedCatalog) else ()
    rates = {rate.source: rate for rate in (catalog.exchange.rate(source, target, day), *of_prices)}
    return tuple(rate for currency, rate in sorted(rates.items()) if currency != target)


def count_newer(catalog: Catalog, day: date) -> int:
    """The prices that are dated after a day."""
    return sum(count for dated, count in catalog.prices_by_day if dated > day)


def find_inactive_rules(
    catalog: Catalog, day: date, keys: Iterable[PriceKey]
) -> tuple[tuple[PrivatePriceRule, int], ...]:
    """The rules that do not hold on `day` and match some of these prices, each with how many."""
    reaches = _resolve_rules(catalog, catalog.card.out_of_force(day))
    checked_keys = set(keys) if reaches else set()
    counts = ((reach.rule, sum(reach.touches(key) for key in checked_keys)) for reach in reaches)
    return tuple((rule, count) for rule, count in counts if count)
