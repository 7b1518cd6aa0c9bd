"""The catalogue: reads the snapshots of all providers, embedded or the user's own, answers fast, knows its age."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from pricing import local
from pricing.accelerator import Accelerator, Alias, Names
from pricing.errors import RetiredType, UnknownName
from pricing.exchange import Exchange
from pricing.offering import Offering
from pricing.place import Provider, Region, Source, System, Tier
from pricing.price import Price, option_of
from pricing.private import RateCard
from pricing.providers import Layout
from pricing.store import Store, columns, day, values
from pricing.table import nearest

ROOT = Path(__file__).parent
EMBEDDED = Layout.of(ROOT)
"""The catalogue that is shipped."""
NO_EXCHANGE = Exchange(())
NO_CARD = RateCard(())
_PRICE = ", ".join(columns(Price))
_rank = attrgetter("rank")


@dataclass(frozen=True, slots=True)
class Quote:
    """An offering at a price: one answer of a query. `rank` is its place among all prices, the lowest first."""

    offering: Offering
    price: Price
    accelerator: Accelerator
    rank: int


@dataclass(frozen=True, slots=True)
class _Listed:
    """All prices of one offering, by rank; the same again by purchase option."""

    quotes: tuple[Quote, ...]
    by_option: dict[str, list[Quote]]


def memory_of_whole(offering: Offering, accelerator: Accelerator) -> float | None:
    """GiB of one whole accelerator of this type: what the provider states, else what the specification says; of a
    processor its part of the node's."""
    stated, node = offering.accelerator_memory_gib, offering.memory_gib
    if stated is None and accelerator.device_class == "cpu" and node is not None and offering.accelerator_count:
        return node / max(1.0, offering.accelerator_count)
    return stated if stated is not None else accelerator.memory_gib


def memory_of_one(offering: Offering, accelerator: Accelerator) -> float | None:
    """GiB that a job finds on one accelerator of this type; on a slice, its share: a sixth of an A10 with 24 has 4."""
    whole = memory_of_whole(offering, accelerator)
    if whole is None or offering.accelerator_count is None:
        return whole
    return whole * min(1.0, offering.accelerator_count)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is priced: `offerings` have `prices` rows of `option`, dated `oldest` to `newest`; retired types apart."""

    provider: str
    family: str
    option: str
    retired: bool
    offerings: int
    prices: int
    oldest: date
    newest: date


class Catalog:
    """Everything the snapshots hold; one instance is safe to share between threads that only read.

    Names given to filters are canonical: use pricing.accelerator.match or the `check_*` methods first. A filter that
    names something unknown finds nothing. Pickles as its folder: a worker process opens it again, in milliseconds.
    """

    def __init__(
        self,
        layout: Layout,
        cache: Path | None = None,
        exchange: Exchange = NO_EXCHANGE,
        card: RateCard = NO_CARD,
    ) -> None:
        self.layout = layout
        self.exchange = exchange
        self.card = card
        self._cache = cache
        self._store = Store(layout, cache)
        self._listed: dict[tuple[str, str], _Listed] = {}

    @classmethod
    def embedded(cls) -> Catalog:
        """The catalogue that is shipped, compiled on first use; nothing of the user's."""
        return _opened(EMBEDDED)

    @classmethod
    def current(cls, private_prices: Path | None = None, exchange_rates: Path | None = None) -> Catalog:
        """The catalogue as this user has it: refreshed snapshots, own clouds, private prices and exchange rates.

        The two files are looked for in the data folder unless given. Raises BadSnapshot with every fault.
        """
        data = local.folder()
        given = (private_prices or data / local.PRIVATE_PRICES, exchange_rates or data / local.EXCHANGE_RATES)
        card, exchange = (path if path.is_file() or path.parent != data else None for path in given)
        return _with_files(local.layout(EMBEDDED, data), _stamped(card), _stamped(exchange))

    @classmethod
    def read(cls, folder: Path, cache: Path | None = None) -> Catalog:
        """The catalogue in another folder of the same shape; raises BadSnapshot with every fault."""
        return cls(Layout.of(folder), cache)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._cache is None and not self.exchange.rates and not self.card.rules:
            return (_opened, (self.layout,))
        return (Catalog, (self.layout, self._cache, self.exchange, self.card))

    @property
    def digest(self) -> str:
        """A short hash of all rows: equal digests give equal plans."""
        return self._store.digest

    @cached_property
    def names(self) -> Names:
        """The accelerators and aliases of this catalogue."""
        return Names(self._store.table(Accelerator), self._store.table(Alias))

    @cached_property
    def providers(self) -> tuple[str, ...]:
        """The providers' names, sorted."""
        return tuple(self.provider_facts)

    @cached_property
    def provider_facts(self) -> dict[str, Provider]:
        """By name: title, billing increment, Terraform module, reference regions."""
        return {p.name: p for p in self._store.table(Provider)}

    @cached_property
    def offerings(self) -> dict[tuple[str, str], Offering]:
        """By (provider, instance_type); retired types included."""
        return {o.key: o for o in self._ordered}

    @cached_property
    def _ordered(self) -> list[Offering]:
        return self._store.table(Offering)

    @cached_property
    def regions(self) -> dict[tuple[str, str], Region]:
        """By (provider, region)."""
        return {(r.provider, r.region): r for r in self._store.table(Region)}

    @cached_property
    def sources(self) -> dict[str, Source]:
        """By source_id as rows write it, joined ones (a+b) included."""
        return {s.source_id: s for s in self._store.table(Source)}

    @cached_property
    def systems(self) -> tuple[System, ...]:
        """Servers that can be owned."""
        return tuple(self._store.table(System))

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The full names of all purchase options that have a price."""
        return tuple(row[0] for row in self._store.rows("SELECT DISTINCT purchase_option FROM prices ORDER BY 1"))

    @cached_property
    def _tiers(self) -> dict[tuple[str, str, str], tuple[Tier, ...]]:
        found: dict[tuple[str, str, str], list[Tier]] = {}
        for tier in self._store.table(Tier):
            found.setdefault((tier.provider, tier.region, tier.item), []).append(tier)
        return {key: tuple(sorted(steps, key=lambda t: t.from_gb)) for key, steps in found.items()}

    def tiers(self, provider: str, region: str, item: str) -> tuple[Tier, ...]:
        """Price steps in ascending order; empty where no source has them (no other region's price stands in)."""
        return self._tiers.get((provider, region, item), ())

    def reference_tiers(self, provider: str, item: str) -> tuple[Tier, ...]:
        """The provider's steps in its reference region, for estimates that are labelled as such; empty if none."""
        facts = self.provider_facts.get(provider)
        return self.tiers(provider, facts.reference_regions.get(item, ""), item) if facts else ()

    def quotes(
        self,
        *,
        accelerators: Collection[str] | None = None,
        providers: Collection[str] | None = None,
        regions: Collection[str] | None = None,
        options: Collection[str] | None = None,
        instance_types: Collection[str] | None = None,
        offerings: Iterable[Offering] | None = None,
        include_retired: bool = False,
        include_parts: bool = False,
    ) -> list[Quote]:
        """Every price of every offering that passes all filters (None passes all; options match kind or full name).

        Sorted by (price_per_hour, provider, region, instance_type, purchase_option). Prices of parts that only run
        attached to a machine (`Offering.part`) are left out unless asked for. `offerings` are all that is looked at,
        for a caller who has chosen by what the other filters do not tell.
        """
        found: list[Quote] = []
        for offering in self._ordered if offerings is None else offerings:
            if (
                (accelerators is None or offering.accelerator in accelerators)
                and (providers is None or offering.provider in providers)
                and (instance_types is None or offering.instance_type in instance_types)
                and (include_retired or offering.status != "retired")
                and (include_parts or not offering.part)
            ):
                for option, listed in self._listed_of(offering).by_option.items():
                    if options is None or option in options or listed[0].price.kind in options:
                        found += listed if regions is None else [q for q in listed if q.price.region in regions]
        found.sort(key=_rank)
        return found

    def of_type(self, offering: Offering) -> tuple[Quote, ...]:
        """Every price of one offering, in the order of `quotes`."""
        return self._listed_of(offering).quotes

    def by_option(self, offering: Offering) -> Mapping[str, Sequence[Quote]]:
        """Every price of one offering by purchase option, each in the order of `quotes`."""
        return self._listed_of(offering).by_option

    def _listed_of(self, offering: Offering) -> _Listed:
        """Read when first asked for, then kept."""
        return self._listed.get(offering.key) or self._listed.setdefault(offering.key, self._read(offering))

    def _read(self, offering: Offering) -> _Listed:
        number, accelerator = self._numbers[offering.key], self.names.by_name[offering.accelerator]
        rows = self._store.rows(f"SELECT rank, {_PRICE} FROM prices WHERE offering = ? ORDER BY rank", [number])  # noqa: S608 - columns are ours
        prices = values(Price, (row[1:] for row in rows))
        quotes = tuple(Quote(offering, price, accelerator, row[0]) for row, price in zip(rows, prices, strict=True))
        by_option: dict[str, list[Quote]] = {}
        for quote in quotes:
            by_option.setdefault(quote.price.purchase_option, []).append(quote)
        return _Listed(quotes, by_option)

    @cached_property
    def _numbers(self) -> dict[tuple[str, str], int]:
        return {offering.key: number for number, offering in enumerate(self._ordered)}

    @cached_property
    def _with_prices(self) -> tuple[Offering, ...]:
        return tuple(self._ordered[row[0]] for row in self._store.rows("SELECT DISTINCT offering FROM prices"))

    @cached_property
    def priced(self) -> tuple[Offering, ...]:
        """The offerings that have a price somewhere, without retired types and parts: all that can be rented."""
        return tuple(o for o in self._with_prices if o.status != "retired" and not o.part)

    @cached_property
    def kinds(self) -> dict[str, frozenset[str]]:
        """By provider, the kinds of purchase option that can be rented (prices of retired types and parts aside)."""
        rented = {self._numbers[offering.key] for offering in self.priced}
        found: dict[str, set[str]] = {name: set() for name in self.providers}
        for number, kind in self._store.rows("SELECT DISTINCT offering, kind FROM prices"):
            if number in rented:
                found[self._ordered[number].provider].add(kind)
        return {name: frozenset(kinds) for name, kinds in found.items()}

    def unpriced(self) -> tuple[Offering, ...]:
        """Offerings that are not retired and have no price in any region: gaps, never candidates."""
        priced = {offering.key for offering in self._with_prices}
        return tuple(o for o in self._ordered if o.key not in priced and o.status != "retired")

    def oldest(self) -> date:
        """The as_of of the oldest price of a current offering."""
        rows = self._store.rows("SELECT DISTINCT as_of, offering FROM prices ORDER BY as_of")
        return next(day(row[0]) for row in rows if self._ordered[row[1]].status == "current")

    def coverage(self) -> tuple[Coverage, ...]:
        """What is priced, by provider, family and purchase option."""
        rows = self._store.rows(
            "SELECT o.provider, o.family, p.purchase_option, o.status = 'retired' AS gone, count(DISTINCT p.offering),"
            " count(*), min(p.as_of), max(p.as_of) FROM prices p JOIN offerings o ON o.rowid = p.offering + 1"
            " GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        )
        return tuple(Coverage(*(*r[:3], bool(r[3]), *r[4:6], day(r[6]), day(r[7]))) for r in rows)

    def check_provider(self, written: str) -> str:
        """The provider's name for what was written (its title will do); raises UnknownName with the nearest."""
        titles = {p.title: p.name for p in self.provider_facts.values()}
        return _named("provider", written, {name: name for name in self.providers} | titles)

    def check_region(self, written: str, provider: str | None = None) -> tuple[Region, ...]:
        """The regions of that name or title, one per provider that has it; raises UnknownName with the nearest.

        Dashes count: us-east-1 is AWS, us-east1 is Google Cloud, eastus is Azure.
        """
        known = [r for r in self.regions.values() if provider in (None, r.provider)]
        spelled = {r.name: r.region for r in known} | {r.region: r.region for r in known}
        name = _named("region", written, spelled)
        return tuple(r for r in known if r.region == name)

    def check_option(self, written: str) -> str:
        """A kind (reserved) or full name (reserved_1y_no_upfront) with prices; raises UnknownName with the nearest."""
        kinds = {parts.kind for name in self.options if (parts := option_of(name))}
        return _named("purchase option", written, {name: name for name in (*kinds, *self.options)}, _option_spelling)

    def check_type(self, provider: str, written: str, *, include_retired: bool = False) -> Offering:
        """The offering of that name; raises UnknownName with the nearest, or RetiredType with its successor."""
        provider = self.check_provider(provider)
        spelled = {o.instance_type: o.instance_type for o in self._ordered if o.provider == provider}
        offering = self.offerings[provider, _named("instance type", written, spelled)]
        if offering.status == "retired" and not include_retired:
            raise RetiredType(provider, offering.instance_type, offering.successor)
        return offering


@cache
def _opened(layout: Layout) -> Catalog:
    return Catalog(layout)


Stamped = tuple[Path, int, int] | None
"""A file with its size and time of change; None where there is none."""


def _stamped(path: Path | None) -> Stamped:
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return (path, 0, 0)  # whoever reads it tells what is wrong
    return (path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=8)
def _with_files(layout: Layout, card: Stamped, exchange: Stamped) -> Catalog:
    """Read once for as long as no file changes: a service asks for every plan."""
    if card is None and exchange is None:
        return _opened(layout)
    rates = Exchange.read(exchange[0]) if exchange else NO_EXCHANGE
    return Catalog(layout, None, rates, RateCard.read(card[0]) if card else NO_CARD)


def _named(
    what: str,
    written: str,
    spelled: Mapping[str, str],
    alike: Callable[[str], str] = lambda text: text.strip().casefold(),
) -> str:
    wanted = alike(written)
    for spelling, name in spelled.items():
        if alike(spelling) == wanted:
            return name
    close = nearest(written, spelled)
    raise UnknownName(what, written, tuple(dict.fromkeys(spelled[c] for c in close)))


def _option_spelling(text: str) -> str:
    return "_".join(text.casefold().replace("-", " ").replace("_", " ").split())
