"""A catalogue's files read into values, checked row by row. Knows no file outside its layout.

A catalogue is a folder of shared tables (accelerators, aliases, systems, sources) and one folder a provider
(provider.toml, offerings.csv, prices.csv, tiers.csv, regions.csv). All folders have the same layout.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args

from pricing.accelerator import Accelerator, AcceleratorNames, Alias
from pricing.catalog.shared_tables import (
    YES_NO,
    parse_ended_family,
    parse_fabric,
    parse_grid_carbon,
    parse_machine,
    parse_sale_term,
)
from pricing.csv_tables import TableRow, read_rows
from pricing.errors import InvalidSnapshot
from pricing.exchange_rates import parse_currency_code
from pricing.fabric import FABRIC_COLUMNS, Fabric
from pricing.frozen_values import dataclass
from pricing.machines import MACHINE_COLUMNS, PlainMachine
from pricing.offering import Offering, Status
from pricing.price import Method, Price, parse_purchase_option
from pricing.providers import CatalogLayout
from pricing.regions import GRID_CARBON_COLUMNS, GridCarbon, Provider, Region, Source
from pricing.retirement import ENDED_COLUMNS, EndedFamily
from pricing.sale import SALE_COLUMNS, SaleTerm
from pricing.systems import ServerSystem
from pricing.transfer_storage_prices import TIER_ITEMS, Tier

T = TypeVar("T")

OFFERING_COLUMNS = tuple(f.name for f in fields(Offering) if f.name != "provider")
PRICE_COLUMNS = (
    "region", "instance_type", "purchase_option", "price_per_hour", "currency", "as_of", "source_id", "method", "note",
)  # fmt: skip
TIER_COLUMNS = tuple(f.name for f in fields(Tier) if f.name != "provider")
REGION_COLUMNS = tuple(f.name for f in fields(Region) if f.name != "provider")
SYSTEM_COLUMNS = tuple(f.name for f in fields(ServerSystem))
SOURCE_COLUMNS = tuple(f.name for f in fields(Source))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The checked content of one catalogue, from which the database is compiled."""

    accelerators: tuple[Accelerator, ...]
    aliases: tuple[Alias, ...]
    providers: tuple[Provider, ...]
    regions: tuple[Region, ...]
    offerings: tuple[Offering, ...]
    prices: tuple[Price, ...]
    tiers: tuple[Tier, ...]
    systems: tuple[ServerSystem, ...]
    sources: tuple[Source, ...]
    sale_terms: tuple[SaleTerm, ...] = ()
    fabrics: tuple[Fabric, ...] = ()
    ended_families: tuple[EndedFamily, ...] = ()
    machines: tuple[PlainMachine, ...] = ()
    grid_carbon: tuple[GridCarbon, ...] = ()


def read_snapshot(layout: CatalogLayout) -> Snapshot:
    """A whole catalogue; raises InvalidSnapshot with every fault of every file, each with its file and line."""
    faults: list[str] = []
    names = _read_names(layout, faults)
    sources = _read_sources(layout, faults)
    known = {s.source_id for s in sources}
    systems = _read_unique_rows(
        layout.data / "systems.csv", SYSTEM_COLUMNS, faults, lambda row: parse_system(row, names), lambda s: s.name
    )
    sale_terms = _read_overridden_rows(layout, "sale.csv", SALE_COLUMNS, parse_sale_term, lambda term: term.key, faults)
    fabrics = _read_overridden_rows(layout, "fabric.csv", FABRIC_COLUMNS, parse_fabric, lambda its: its.key, faults)
    ended_families = _read_unique_rows(
        layout.data / "ended.csv", ENDED_COLUMNS, faults, parse_ended_family, lambda family: family.pattern
    )
    machines = _read_overridden_rows(
        layout, "machines.csv", MACHINE_COLUMNS, partial(parse_machine, sources=known), lambda its: its.key, faults
    )
    grids = _read_overridden_rows(
        layout, "grid_carbon.csv", GRID_CARBON_COLUMNS, parse_grid_carbon, lambda its: its.key, faults
    )
    folders = [_ProviderFolder(name, path, names, known, faults) for name, path in layout.folders]
    if not folders:
        faults.append(f"{layout.data.parent}: no provider folder")
    parts = [folder.read() for folder in folders]
    if faults or names is None:
        raise InvalidSnapshot(tuple(faults))
    return Snapshot(
        accelerators=tuple(names.by_name.values()),
        aliases=names.aliases,
        providers=tuple(p for part in parts for p in part.providers),
        regions=tuple(r for part in parts for r in part.regions),
        offerings=tuple(o for part in parts for o in part.offerings),
        prices=tuple(p for part in parts for p in part.prices),
        tiers=tuple(t for part in parts for t in part.tiers),
        systems=tuple(systems),
        sources=(*sources, *joined_sources(sources, (o.source_id for part in parts for o in part.offerings))),
        sale_terms=sale_terms,
        fabrics=fabrics,
        ended_families=tuple(ended_families),
        machines=tuple(each for each in machines if each.provider in dict(layout.folders)),
        grid_carbon=grids,
    )


def read_provider_facts(folder: Path, faults: list[str]) -> dict[str, Any]:
    """The content of provider.toml; empty after a fault was recorded."""
    import tomllib

    try:
        return tomllib.loads((folder / "provider.toml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        faults.append(f"{folder.name}/provider.toml: cannot be read: {error}")
        return {}


def joined_sources(sources: Iterable[Source], written: Iterable[str]) -> tuple[Source, ...]:
    """One Source for every `a+b` that rows name, so that every source_id has one."""
    known = {s.source_id: s for s in sources}
    joined = []
    for source_id in sorted({w for w in written if "+" in w}):
        members = [known[part] for part in source_id.split("+") if part in known]
        joined.append(
            Source(
                source_id,
                " + ".join(s.reference for s in members),
                min(s.as_of for s in members),
                "; ".join(s.gave for s in members),
            )
        )
    return tuple(joined)


class _ProviderFolder:
    """One provider folder while it is read."""

    def __init__(
        self, provider: str, path: Path, names: AcceleratorNames | None, sources: Collection[str], faults: list[str]
    ) -> None:
        self.path, self.names, self.sources, self.faults, self.provider = path, names, sources, faults, provider

    def read(self) -> Snapshot:
        provider = self._read_provider()
        regions = self._read_provider_table("regions.csv", REGION_COLUMNS, self.region, lambda r: r.region)
        self.regions = {r.region for r in regions}
        offerings = self._read_provider_table(
            "offerings.csv", OFFERING_COLUMNS, self.offering, lambda o: o.instance_type
        )
        self.types = {o.instance_type for o in offerings}
        prices = self._read_provider_table("prices.csv", PRICE_COLUMNS, self.price, lambda p: p.key)
        tiers = self._read_provider_table("tiers.csv", TIER_COLUMNS, self.tier, lambda t: (t.region, t.item, t.from_gb))
        return Snapshot(
            accelerators=(),
            aliases=(),
            providers=(provider,) if provider else (),
            regions=tuple(regions),
            offerings=tuple(offerings),
            prices=tuple(prices),
            tiers=tuple(tiers),
            systems=(),
            sources=(),
        )

    def _read_provider_table(
        self, name: str, columns: tuple[str, ...], make: Callable[[TableRow], T | None], key: Callable[[T], object]
    ) -> list[T]:
        return _read_unique_rows(self.path / name, columns, self.faults, make, key)

    def _read_provider(self) -> Provider | None:
        facts = read_provider_facts(self.path, self.faults)
        if not facts:
            return None
        values = {f.name: facts.get(f.name) for f in fields(Provider)}
        values |= {"not_priced": tuple(facts.get("not_priced", ())), "on_request": facts.get("on_request", False)}
        place = f"{self.provider}/provider.toml"
        self.faults += [f"{place}: {key} is missing" for key, value in values.items() if value is None]
        if values["name"] not in (None, self.provider):
            self.faults.append(f"{place}: name is {values['name']!r}, expected {self.provider!r}, the folder's")
        return Provider(**values) if None not in values.values() else None  # type: ignore[arg-type] # types as in the file

    def region(self, row: TableRow) -> Region | None:
        country = row.text("country", empty=True)
        if country and (len(country) != 2 or not country.isupper()):
            row.fault(f"country is {country!r}, expected two capitals, or an empty cell if unknown")
        return row.build(
            Region,
            provider=self.provider,
            region=row.text("region"),
            name=row.text("name"),
            country=country,
            blocs=tuple(row.text("blocs", empty=True).split()),
            source_id=self._check_source(row),
        )

    def offering(self, row: TableRow) -> Offering | None:
        accelerator = row.text("accelerator")
        if self.names and accelerator not in self.names.by_name:
            row.fault(f"accelerator {accelerator!r} is not in accelerators.csv")
        numbers = ("accelerator_count", "accelerator_memory_gib", "vcpus", "memory_gib", "local_ssd_gb", "network_gbps")
        return row.build(
            Offering,
            provider=self.provider,
            family=row.text("family"),
            instance_type=row.text("instance_type"),
            accelerator=accelerator,
            **{column: row.number(column) for column in numbers},
            interconnect=row.text("interconnect", empty=True),
            status=row.one_of("status", get_args(Status)),
            successor=row.text("successor", empty=True) or None,
            source_id=self._check_source(row),
            part=row.one_of("part", ("yes", "no")) == "yes",
        )

    def price(self, row: TableRow) -> Price | None:
        option = parse_purchase_option(row.text("purchase_option"))
        if option is None:
            row.fault(f"purchase_option {row.values['purchase_option']!r} is none that can be read")
            return None
        for column, known in (("region", self.regions), ("instance_type", self.types)):
            if row.text(column) not in known:
                row.fault(f"{column} {row.values[column]!r} is not in {column.split('_')[0]}s.csv")
        return row.build(
            Price,
            provider=self.provider,
            region=row.text("region"),
            instance_type=row.text("instance_type"),
            purchase_option=row.text("purchase_option"),
            **option._asdict(),
            price_per_hour=row.positive("price_per_hour"),
            currency=parse_currency_code(row, "currency"),
            as_of=row.day("as_of"),
            source_id=self._check_source(row),
            method=row.one_of("method", get_args(Method)),
            note=row.text("note", empty=True),
        )

    def tier(self, row: TableRow) -> Tier | None:
        if row.text("region") not in self.regions:
            row.fault(f"region {row.values['region']!r} is not in regions.csv")
        return row.build(
            Tier,
            provider=self.provider,
            region=row.text("region"),
            item=row.one_of("item", TIER_ITEMS),
            from_gb=row.number("from_gb") or 0.0,
            price_per_gb=row.positive("price_per_gb"),
            currency=parse_currency_code(row, "currency"),
            as_of=row.day("as_of"),
            source_id=self._check_source(row),
            kind=row.text("kind"),
            note=row.text("note", empty=True),
        )

    def _check_source(self, row: TableRow) -> str:
        written = row.text("source_id")
        if unknown := [part for part in written.split("+") if part not in self.sources]:
            row.fault(f"source_id {', '.join(unknown)!r} is not in sources.csv")
        return written


def parse_source(row: TableRow) -> Source | None:
    """One row of sources.csv; None after its faults were noted."""
    return row.build(
        Source,
        source_id=row.text("source_id"),
        reference=row.text("reference"),
        as_of=row.day("as_of"),
        gave=row.text("gave"),
    )


def parse_system(row: TableRow, names: AcceleratorNames | None) -> ServerSystem | None:
    """One row of systems.csv; None after its faults were noted."""
    accelerator = row.text("accelerator")
    if names and accelerator not in names.by_name:
        row.fault(f"accelerator {accelerator!r} is not in accelerators.csv")
    price = row.number("price")
    if (price is None) != (not row.text("price_as_of", empty=True)) or price == 0:
        row.fault("price and price_as_of go together, and a price is above 0")
    count = row.whole("accelerator_count")
    if not count:
        row.fault("accelerator_count is missing")
    return row.build(
        ServerSystem,
        name=row.text("name"),
        accelerator=accelerator,
        accelerator_count=count,
        max_power_kw=row.number("max_power_kw"),
        rack_units=row.number("rack_units"),
        price=price,
        currency=parse_currency_code(row, "currency"),
        price_as_of=None if price is None else row.day("price_as_of"),
        source=row.text("source"),
        notes=row.text("notes", empty=True),
        sold=YES_NO.get(row.one_of("sold", YES_NO)),
    )


def read_accelerator_names(layout: CatalogLayout) -> AcceleratorNames:
    """The accelerators and aliases of a catalogue; raises InvalidSnapshot."""
    return AcceleratorNames.read(layout.own("accelerators.csv"), layout.own("aliases.csv"))


def _read_names(layout: CatalogLayout, faults: list[str]) -> AcceleratorNames | None:
    try:
        return read_accelerator_names(layout)
    except InvalidSnapshot as bad:
        faults += bad.faults
        return None


def _read_sources(layout: CatalogLayout, faults: list[str]) -> list[Source]:
    """Shared ones and those of providers, each id once; two sources of one id that differ are a fault."""
    sources_by_id: dict[str, Source] = {}
    for path in layout.own("sources.csv"):
        for source in _read_unique_rows(path, SOURCE_COLUMNS, faults, parse_source, lambda s: s.source_id):
            first = sources_by_id.setdefault(source.source_id, source)
            faults += [f"{path.parent.name}/{path.name}: {first.source_id!r} is another elsewhere"] * (first != source)
    return list(sources_by_id.values())


def _read_overridden_rows(
    layout: CatalogLayout,
    name: str,
    columns: tuple[str, ...],
    make: Callable[[TableRow], T | None],
    key: Callable[[T], object],
    faults: list[str],
) -> tuple[T, ...]:
    """The values of a shared table, each replaced by the one of the same key that a provider's folder has."""
    values: dict[object, T] = {}
    for path in layout.own(name):
        values |= {key(value): value for value in _read_unique_rows(path, columns, faults, make, key)}
    return tuple(values.values())


def read_sale_terms(paths: Iterable[Path]) -> tuple[SaleTerm, ...]:
    """The terms of these tables, each replaced by one of the same key in a later table; raises InvalidSnapshot."""
    faults: list[str] = []
    terms: dict[object, SaleTerm] = {}
    for path in paths:
        rows = _read_unique_rows(path, SALE_COLUMNS, faults, parse_sale_term, lambda term: term.key)
        terms |= {term.key: term for term in rows}
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return tuple(terms.values())


def _read_unique_rows(
    path: Path,
    columns: tuple[str, ...],
    faults: list[str],
    make: Callable[[TableRow], T | None],
    key: Callable[[T], object],
) -> list[T]:
    """The values of a table; a second row of the same key is a fault."""
    return list(_reject_duplicates(((row, make(row)) for row in read_rows(path, columns, faults)), key))


def _reject_duplicates(pairs: Iterable[tuple[TableRow, T | None]], key: Callable[[T], object]) -> Iterator[T]:
    first_lines: dict[object, int] = {}
    for row, value in pairs:
        if value is None:
            continue
        first = first_lines.setdefault(key(value), row.line)
        if first == row.line:
            yield value
        else:
            row.fault(f"the same key as {row.name_place(first)}")
