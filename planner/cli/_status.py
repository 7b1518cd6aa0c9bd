"""Behind `planner prices status`: which prices are in use, how old they are, what they cover and what they lack."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from datetime import date
from itertools import groupby
from pathlib import Path

from planner.cli._tables import aligned, csv_text, days, json_text
from pricing import local
from pricing.catalog import EMBEDDED, Catalog, Coverage
from pricing.price import option_of
from pricing.providers import plug_ins

COMMITMENTS = ("reserved", "committed_use", "savings_plan")


@dataclass(frozen=True, slots=True)
class InUse:
    """The prices of one provider that plans use. `snapshot` is embedded, own (a cloud of one's own), plug-in or an id.

    `quarantined` rows were held back when it was made; `quarantine` lists them, empty where none were.
    """

    provider: str
    snapshot: str
    made_by: str
    oldest: date | None
    newest: date | None
    days_oldest: int | None
    days_newest: int | None
    types: int
    prices: int
    quarantined: int
    quarantine: str


@dataclass(frozen=True, slots=True)
class Covered:
    """What is priced of one provider, purchase option and, where asked for, family; retired types aside."""

    provider: str
    family: str
    option: str
    types: int
    prices: int
    oldest: date
    newest: date


@dataclass(frozen=True, slots=True)
class Gap:
    """What no price is known for, or cannot be had here: `what` is the kind of gap."""

    what: str
    provider: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class Status:
    """All that is told; `retired` counts types that are never planned."""

    catalogue: str
    data_folder: str
    private_prices: int
    exchange_rates: int
    in_use: tuple[InUse, ...]
    coverage: tuple[Covered, ...]
    retired: int
    gaps: tuple[Gap, ...]


def status(catalog: Catalog, data: Path, today: date, providers: Collection[str], by_family: bool) -> Status:
    """What the catalogue holds of these providers."""
    coverage = [line for line in catalog.coverage() if line.provider in providers]
    current = [line for line in coverage if not line.retired]
    return Status(
        catalogue=catalog.digest,
        data_folder=str(data),
        private_prices=len(catalog.card.rules),
        exchange_rates=len(catalog.exchange.rates),
        in_use=tuple(_in_use(catalog, name, data, today) for name in catalog.providers if name in providers),
        coverage=tuple(_covered(current, by_family)),
        retired=sum(o.status == "retired" for o in catalog.offerings.values() if o.provider in providers),
        gaps=(*_gaps(catalog, current, providers), *_adapters(name for name in catalog.providers if name in providers)),
    )


def _in_use(catalog: Catalog, provider: str, data: Path, today: date) -> InUse:
    import tomllib

    path = dict(catalog.layout.folders)[provider]
    kept = next((k for k in local.in_use(provider, _fallback(provider, data), data)), None)
    place = path / "snapshot.toml"
    facts = tomllib.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    mine = [line for line in catalog.coverage() if line.provider == provider]
    oldest, newest = min((c.oldest for c in mine), default=None), max((c.newest for c in mine), default=None)
    listed = path / "quarantine.csv"
    held = _rows(listed)
    return InUse(
        provider=provider,
        snapshot=kept.id if kept else _origin(provider, path, data),
        made_by=str(facts.get("made_by", "")),
        oldest=oldest,
        newest=newest,
        days_oldest=(today - oldest).days if oldest else None,
        days_newest=(today - newest).days if newest else None,
        types=sum(o.provider == provider for o in catalog.offerings.values()),
        prices=sum(line.prices for line in mine),
        quarantined=held,
        quarantine=str(listed) if held else "",
    )


def _fallback(provider: str, data: Path) -> Path:
    return dict(local.base(EMBEDDED, data).folders)[provider]


def _origin(provider: str, path: Path, data: Path) -> str:
    if path.is_relative_to(data):
        return "own"
    return "plug-in" if path == dict(plug_ins()).get(provider) else local.EMBEDDED


def _rows(path: Path) -> int:
    import csv

    if not path.is_file():
        return 0
    with path.open(encoding="utf-8", newline="") as file:
        return max(0, sum(1 for _ in csv.reader(file)) - 1)


def _covered(lines: Iterable[Coverage], by_family: bool) -> Iterator[Covered]:
    def group(line: Coverage) -> tuple[str, str, str]:
        return line.provider, line.family if by_family else "", line.option

    for (provider, family, option), grouped in groupby(sorted(lines, key=group), group):
        rows = list(grouped)
        yield Covered(
            provider=provider,
            family=family,
            option=option,
            types=sum(line.offerings for line in rows),
            prices=sum(line.prices for line in rows),
            oldest=min(line.oldest for line in rows),
            newest=max(line.newest for line in rows),
        )


def _gaps(catalog: Catalog, current: Iterable[Coverage], providers: Collection[str]) -> Iterator[Gap]:
    for offering in catalog.unpriced():
        if offering.provider in providers:
            yield Gap("type without a price", offering.provider, offering.instance_type, offering.accelerator)
    kinds: dict[tuple[str, str], set[str]] = {}
    for line in current:
        option = option_of(line.option)
        kinds.setdefault((line.provider, line.family), set()).update([option.kind] if option else [])
    for (provider, family), known in sorted(kinds.items()):
        if not known.intersection(COMMITMENTS):
            yield Gap("family without a commitment price", provider, family, f"priced: {', '.join(sorted(known))}")
    priced = {q.price.key[:2] for q in catalog.quotes(providers=providers, include_retired=True, include_parts=True)}
    for key, region in catalog.regions.items():
        if region.provider in providers and key not in priced:
            yield Gap("region without a price", region.provider, region.region, region.name)


def _adapters(providers: Iterable[str]) -> Iterator[Gap]:
    from pricing.refresh import adapter_of

    for provider in providers:
        adapter = adapter_of(provider)
        missing = _missing(adapter.EXTRA) if adapter else []
        if adapter and missing:
            command = f"pip install 'gpu-planner[{adapter.EXTRA}]'"
            yield Gap("no refresh here", provider, ", ".join(missing), command)


def _missing(extra: str) -> list[str]:
    """The distributions of an optional dependency that are not installed."""
    from importlib.metadata import PackageNotFoundError, requires, version
    from re import match, search

    found = []
    for requirement in requires("gpu-planner") or ():
        name = match(r"[A-Za-z0-9_.-]+", requirement)
        if name and search(rf"extra == ['\"]{extra}['\"]", requirement):
            try:
                version(name[0])
            except PackageNotFoundError:
                found.append(name[0])
    return found


COVERED_COLUMNS = tuple(field.name for field in fields(Covered))


def as_csv(found: Status) -> str:
    """The coverage, one line a group."""
    return csv_text(COVERED_COLUMNS, (asdict(line) for line in found.coverage))


def as_json(found: Status) -> str:
    return json_text(asdict(found))


def as_text(found: Status) -> str:
    """In use, coverage, then what is missing."""
    return "\n".join([f"catalogue {found.catalogue}", "", *_used_text(found), "", *_coverage_text(found)]) + "\n"


def _used_text(found: Status) -> Iterator[str]:
    head = ("provider", "in use", "made by", "types", "prices", "oldest", "newest", "age of the newest")
    rows = [
        (
            each.provider,
            each.snapshot,
            each.made_by or "by hand",
            f"{each.types:,}",
            f"{each.prices:,}",
            str(each.oldest or "none"),
            str(each.newest or "none"),
            "" if each.days_newest is None else days(each.days_newest),
        )
        for each in found.in_use
    ]
    yield from aligned(head, rows, ("types", "prices"))
    for each in found.in_use:
        if each.quarantined:
            yield f"{each.provider}: {each.quarantined:,} in quarantine, listed in {each.quarantine}"
    if found.private_prices:
        yield f"private prices: {found.private_prices:,} rules"
    if found.exchange_rates:
        yield f"exchange rates: {found.exchange_rates:,}"


def _coverage_text(found: Status) -> Iterator[str]:
    by_family = any(line.family for line in found.coverage)
    head = ("provider", *(["family"] if by_family else []), "purchase option", "types", "prices", "oldest", "newest")
    rows = [
        (
            line.provider,
            *([line.family] if by_family else []),
            line.option,
            f"{line.types:,}",
            f"{line.prices:,}",
            str(line.oldest),
            str(line.newest),
        )
        for line in found.coverage
    ]
    yield from aligned(head, rows, ("types", "prices"))
    yield ""
    yield f"{found.retired:,} retired types are kept for their names and never planned"
    for what, grouped in groupby(found.gaps, lambda gap: gap.what):
        gaps = list(grouped)
        yield f"{len(gaps):,} gap{'' if len(gaps) == 1 else 's'}: {what}"
        yield from (f"  {gap.provider} {gap.subject} ({gap.detail})" for gap in gaps)
