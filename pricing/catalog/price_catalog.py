"""The catalogue: reads the snapshots of all providers, embedded or the user's own, with fast queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from pricing.accelerator import Accelerator, AcceleratorNames, Alias
from pricing.catalog import data_folder
from pricing.catalog.database import TABLE_NAMES, CatalogDatabase, decode_rows, parse_day, table_columns
from pricing.catalog.quotes import Coverage, LowestPrice, OfferingQuotes, Quote
from pricing.csv_tables import find_nearest_names
from pricing.errors import UnknownName
from pricing.exchange_rates import ExchangeRates
from pricing.fabric import Fabric, unknown_fabric
from pricing.machines import PlainMachine
from pricing.offering import Offering
from pricing.price import Price, parse_purchase_option
from pricing.private_prices import RateCard
from pricing.providers import CatalogLayout
from pricing.regions import GridCarbon, Provider, Region, Source
from pricing.retirement import EndedFamily
from pricing.sale import NO_SALE_TERMS, SaleTerm, TypeSaleTerms
from pricing.systems import ServerSystem
from pricing.transfer_storage_prices import Tier

ROOT = Path(__file__).parents[1]
EMBEDDED_LAYOUT = CatalogLayout.of(ROOT)
"""The shipped catalogue."""
NO_EXCHANGE_RATES = ExchangeRates(())
NO_RATE_CARD = RateCard(())
_PRICE = ", ".join(table_columns(Price))
_SALE_TERMS = f"SELECT {', '.join(table_columns(SaleTerm))} FROM {TABLE_NAMES[SaleTerm]}"  # noqa: S608 - constant names
_rank = attrgetter("rank")


class Catalog:
    """All data of the snapshots; one instance is safe to share between threads that only read.

    Names given to filters are canonical: use pricing.accelerator.match or the `check_*` methods first. A filter that
    names something unknown matches no price. Pickles as its folder: a worker process opens it again, in milliseconds.
    """

    def __init__(
        self,
        layout: CatalogLayout,
        cache: Path | None = None,
        exchange: ExchangeRates = NO_EXCHANGE_RATES,
        card: RateCard = NO_RATE_CARD,
    ) -> None:
        self.layout = layout
        self.exchange = exchange
        self.card = card
        self._cache = cache
        self._store = CatalogDatabase(layout, cache)
        self._listed: dict[tuple[str, str], OfferingQuotes] = {}
        self._sale_terms: dict[tuple[str, str], TypeSaleTerms] = {}

    @classmethod
    def embedded(cls) -> Catalog:
        """The shipped catalogue, compiled on first use, without the user's data."""
        return _open_catalog(EMBEDDED_LAYOUT)

    @classmethod
    def current(cls, private_prices: Path | None = None, exchange_rates: Path | None = None) -> Catalog:
        """The catalogue as this user has it: refreshed snapshots, own clouds, private prices and exchange rates.

        The two files default to those in the data folder. Raises InvalidSnapshot with every fault.
        """
        data = data_folder.user_data_folder()
        given = (
            private_prices or data / data_folder.PRIVATE_PRICES_FILE,
            exchange_rates or data / data_folder.EXCHANGE_RATES_FILE,
        )
        card, exchange = (path if path.is_file() or path.parent != data else None for path in given)
        return _open_with_user_files(
            data_folder.current_layout(EMBEDDED_LAYOUT, data),
            data_folder.stamp_file(card),
            data_folder.stamp_file(exchange),
        )

    @classmethod
    def read(cls, folder: Path, cache: Path | None = None) -> Catalog:
        """The catalogue in another folder of the same shape; raises InvalidSnapshot with every fault."""
        return cls(CatalogLayout.of(folder), cache)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._cache is None and not self.exchange.rates and not self.card.rules:
            return (_open_catalog, (self.layout,))
        return (Catalog, (self.layout, self._cache, self.exchange, self.card))

    @property
    def digest(self) -> str:
        """A short hash of all rows: equal digests give equal plans."""
        return self._store.digest

    @cached_property
    def names(self) -> AcceleratorNames:
        """The accelerators and aliases of this catalogue."""
        return AcceleratorNames(self._store.table(Accelerator), self._store.table(Alias))

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
        return {o.key: o for o in self._ordered_offerings}

    @cached_property
    def _ordered_offerings(self) -> list[Offering]:
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
    def _fabrics(self) -> dict[tuple[str, str], Fabric]:
        return {fabric.key: fabric for fabric in self._store.table(Fabric)}

    def fabric(self, offering: Offering) -> Fabric:
        """How the nodes of a type are joined; where no source says it, they are taken to stand alone."""
        return self._fabrics.get(offering.key) or unknown_fabric(*offering.key, offering.network_gbps)

    @cached_property
    def ended_families(self) -> tuple[EndedFamily, ...]:
        """The families that ended and of which the catalogue has no types."""
        return tuple(self._store.table(EndedFamily))

    def ended_family(self, instance_type: str) -> EndedFamily | None:
        """The ended family that a name belongs to; None for names of types that the catalogue has or nobody knows."""
        return next((family for family in self.ended_families if family.covers(instance_type)), None)

    def _terms_of_type(self, key: tuple[str, str]) -> TypeSaleTerms:
        known = self._sale_terms.get(key)
        if known is None:
            rows = self._store.rows(f"{_SALE_TERMS} WHERE provider = ? AND instance_type = ? ORDER BY rowid", key)
            found = TypeSaleTerms.of(decode_rows(SaleTerm, rows)) if rows else NO_SALE_TERMS
            known = self._sale_terms.setdefault(key, found)
        return known

    def sale_terms(self, provider: str, instance_type: str) -> tuple[SaleTerm, ...]:
        """How a type is sold, by way of paying and place; empty where no source says it."""
        return self._terms_of_type((provider, instance_type)).terms

    def sale_term(self, price: Price) -> SaleTerm | None:
        """How what a price is for is sold; None where no source says it."""
        return self._terms_of_type((price.provider, price.instance_type)).find(price)

    @cached_property
    def systems(self) -> tuple[ServerSystem, ...]:
        """Servers that can be owned."""
        return tuple(self._store.table(ServerSystem))

    @cached_property
    def machines(self) -> tuple[PlainMachine, ...]:
        """Types with CPUs only or with FPGAs, at each price: shown and compared with, never planned."""
        return tuple(self._store.table(PlainMachine))

    @cached_property
    def grid_carbon(self) -> dict[tuple[str, str], GridCarbon]:
        """Carbon intensity by (provider, region); regions without a figure are not in it."""
        return {(grid.provider, grid.region): grid for grid in self._store.table(GridCarbon)}

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The full names of all purchase options that have a price."""
        return tuple(row[0] for row in self._store.rows("SELECT DISTINCT purchase_option FROM prices ORDER BY 1"))

    @cached_property
    def currencies(self) -> tuple[str, ...]:
        """The currencies of all list prices: of offerings, data, systems and machines."""
        tables = ("prices", "tiers", "systems", "machines")
        queries = (f"SELECT DISTINCT currency FROM {table}" for table in tables)  # noqa: S608 - constant tables
        return tuple(sorted({row[0] for query in queries for row in self._store.rows(query)}))

    @cached_property
    def prices_by_day(self) -> tuple[tuple[date, int], ...]:
        """How many prices are dated each day."""
        rows = self._store.rows("SELECT as_of, count(*) FROM prices GROUP BY as_of ORDER BY as_of")
        return tuple((parse_day(row[0]), row[1]) for row in rows)

    @cached_property
    def _tiers_by_item(self) -> dict[tuple[str, str, str], tuple[Tier, ...]]:
        steps_by_item: dict[tuple[str, str, str], list[Tier]] = {}
        for tier in self._store.table(Tier):
            steps_by_item.setdefault((tier.provider, tier.region, tier.item), []).append(tier)
        return {key: tuple(sorted(steps, key=lambda t: t.from_gb)) for key, steps in steps_by_item.items()}

    def tiers(self, provider: str, region: str, item: str) -> tuple[Tier, ...]:
        """Price steps in ascending order; empty if no source has them (never from another region)."""
        return self._tiers_by_item.get((provider, region, item), ())

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
        attached to a machine (`Offering.part`) are left out unless requested. `offerings` limits the search.
        """
        matches: list[Quote] = []
        for offering in self._ordered_offerings if offerings is None else offerings:
            if (
                (accelerators is None or offering.accelerator in accelerators)
                and (providers is None or offering.provider in providers)
                and (instance_types is None or offering.instance_type in instance_types)
                and (include_retired or offering.status != "retired")
                and (include_parts or not offering.part)
            ):
                for option, listed in self._quotes_of_offering(offering).by_option.items():
                    if options is None or option in options or listed[0].price.kind in options:
                        matches += listed if regions is None else [q for q in listed if q.price.region in regions]
        matches.sort(key=_rank)
        return matches

    def of_type(self, offering: Offering) -> tuple[Quote, ...]:
        """Every price of one offering, in the order of `quotes`."""
        return self._quotes_of_offering(offering).quotes

    def by_option(self, offering: Offering) -> Mapping[str, Sequence[Quote]]:
        """Every price of one offering by purchase option, each in the order of `quotes`."""
        return self._quotes_of_offering(offering).by_option

    def lowest_by_option(self, offering: Offering) -> dict[str, LowestPrice]:
        """The lowest price of one offering under each purchase option, without reading the others."""
        return self._lowest_prices.get(self._offering_numbers[offering.key], {})

    @cached_property
    def _lowest_prices(self) -> dict[int, dict[str, LowestPrice]]:
        # SQLite gives the other columns of the row that has the minimum
        rows = self._store.rows(
            f"SELECT offering, count(*), min(rank), {_PRICE} FROM prices GROUP BY offering, purchase_option"  # noqa: S608 - constant columns
        )
        lowest: dict[int, dict[str, LowestPrice]] = {}
        for row, price in zip(rows, decode_rows(Price, (row[3:] for row in rows)), strict=True):
            lowest.setdefault(row[0], {})[price.purchase_option] = LowestPrice(price, row[2], row[1])
        return lowest

    def _quotes_of_offering(self, offering: Offering) -> OfferingQuotes:
        """The quotes of an offering, read on first use and cached."""
        return self._listed.get(offering.key) or self._listed.setdefault(offering.key, self._read_quotes(offering))

    def _read_quotes(self, offering: Offering) -> OfferingQuotes:
        number, accelerator = self._offering_numbers[offering.key], self.names.by_name[offering.accelerator]
        rows = self._store.rows(f"SELECT rank, {_PRICE} FROM prices WHERE offering = ? ORDER BY rank", [number])  # noqa: S608 - constant columns
        prices = decode_rows(Price, (row[1:] for row in rows))
        quotes = tuple(
            Quote(offering, price, accelerator, row[0], self.sale_term(price))
            for row, price in zip(rows, prices, strict=True)
        )
        by_option: dict[str, list[Quote]] = {}
        for quote in quotes:
            by_option.setdefault(quote.price.purchase_option, []).append(quote)
        return OfferingQuotes(quotes, by_option)

    @cached_property
    def _offering_numbers(self) -> dict[tuple[str, str], int]:
        return {offering.key: number for number, offering in enumerate(self._ordered_offerings)}

    @cached_property
    def _with_prices(self) -> tuple[Offering, ...]:
        rows = self._store.rows("SELECT DISTINCT offering FROM prices")
        return tuple(self._ordered_offerings[row[0]] for row in rows)

    @cached_property
    def priced(self) -> tuple[Offering, ...]:
        """The offerings that have a price somewhere, without retired types and parts: all that can be rented."""
        return tuple(o for o in self._with_prices if o.status != "retired" and not o.part)

    @cached_property
    def kinds(self) -> dict[str, frozenset[str]]:
        """By provider, the kinds of purchase option that can be rented (without retired types and parts)."""
        rented = {self._offering_numbers[offering.key] for offering in self.priced}
        kinds_by_provider: dict[str, set[str]] = {name: set() for name in self.providers}
        for number, kind in self._store.rows("SELECT DISTINCT offering, kind FROM prices"):
            if number in rented:
                kinds_by_provider[self._ordered_offerings[number].provider].add(kind)
        return {name: frozenset(kinds) for name, kinds in kinds_by_provider.items()}

    def unpriced(self) -> tuple[Offering, ...]:
        """Offerings that are not retired and have no price in any region: gaps, never candidates."""
        priced = {offering.key for offering in self._with_prices}
        return tuple(o for o in self._ordered_offerings if o.key not in priced and o.status != "retired")

    def oldest(self) -> date:
        """The as_of of the oldest price of a current offering."""
        rows = self._store.rows("SELECT DISTINCT as_of, offering FROM prices ORDER BY as_of")
        return next(parse_day(row[0]) for row in rows if self._ordered_offerings[row[1]].status == "current")

    def coverage(self) -> tuple[Coverage, ...]:
        """Price coverage by provider, family and purchase option."""
        rows = self._store.rows(
            "SELECT o.provider, o.family, p.purchase_option, o.status = 'retired' AS gone, count(DISTINCT p.offering),"
            " count(*), min(p.as_of), max(p.as_of) FROM prices p JOIN offerings o ON o.rowid = p.offering + 1"
            " GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        )
        return tuple(Coverage(*(*r[:3], bool(r[3]), *r[4:6], parse_day(r[6]), parse_day(r[7]))) for r in rows)

    def check_provider(self, written: str) -> str:
        """The provider's name for a written name or title; raises UnknownName with the nearest."""
        titles = {p.title: p.name for p in self.provider_facts.values()}
        return _resolve_name("provider", written, {name: name for name in self.providers} | titles)

    def check_region(self, written: str, provider: str | None = None) -> tuple[Region, ...]:
        """The regions of that name or title, one per provider that has it; raises UnknownName with the nearest. Dashes
        count: us-east-1 is AWS, us-east1 is Google Cloud, eastus is Azure."""
        known = [r for r in self.regions.values() if provider in (None, r.provider)]
        spelled = {r.name: r.region for r in known} | {r.region: r.region for r in known}
        name = _resolve_name("region", written, spelled)
        return tuple(r for r in known if r.region == name)

    def check_option(self, written: str) -> str:
        """A kind (reserved) or full name (reserved_1y_no_upfront) with prices; raises UnknownName with the nearest."""
        kinds = {parts.kind for name in self.options if (parts := parse_purchase_option(name))}
        names = {name: name for name in (*kinds, *self.options)}
        return _resolve_name("purchase option", written, names, _option_spelling)

    def check_type(self, provider: str, written: str) -> Offering:
        """The offering of that name, retired ones included; raises UnknownName with the nearest."""
        provider = self.check_provider(provider)
        spelled = {o.instance_type: o.instance_type for o in self._ordered_offerings if o.provider == provider}
        return self.offerings[provider, _resolve_name("instance type", written, spelled)]


@cache
def _open_catalog(layout: CatalogLayout) -> Catalog:
    return Catalog(layout)


@lru_cache(maxsize=8)
def _open_with_user_files(
    layout: CatalogLayout, card: data_folder.FileStamp, exchange: data_folder.FileStamp
) -> Catalog:
    """Cached until a file changes: the service calls this for every plan."""
    if card is None and exchange is None:
        return _open_catalog(layout)
    rates = ExchangeRates.read(exchange[0]) if exchange else NO_EXCHANGE_RATES
    return Catalog(layout, None, rates, RateCard.read(card[0]) if card else NO_RATE_CARD)


def _resolve_name(
    kind: str,
    written: str,
    spelled: Mapping[str, str],
    normalize: Callable[[str], str] = lambda text: text.strip().casefold(),
) -> str:
    normalized = normalize(written)
    for spelling, name in spelled.items():
        if normalize(spelling) == normalized:
            return name
    raise UnknownName(kind, written, tuple(dict.fromkeys(spelled[c] for c in find_nearest_names(written, spelled))))


def _option_spelling(text: str) -> str:
    return "_".join(text.casefold().replace("-", " ").replace("_", " ").split())
