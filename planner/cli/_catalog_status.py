"""Behind `planner prices status`: the prices in use, with their age, coverage and gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from datetime import date
from itertools import groupby
from pathlib import Path

from planner.cli._catalog_options import raise_problems, select_providers
from planner.cli._exit_codes import DONE
from planner.cli._tables import print_report
from planner.request.errors import InputProblem
from pricing.catalog import data_folder as local
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, Catalog
from pricing.catalog.quotes import Coverage
from pricing.clock import today
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass
from pricing.price import parse_purchase_option
from pricing.providers import find_plug_in_folders
from pricing.text_tables import align_columns

COMMITMENTS = ("reserved", "committed_use", "savings_plan")


@dataclass(frozen=True, slots=True)
class SnapshotInUse:
    """The prices of one provider that plans use. `snapshot` is embedded, own (a folder of the user), plug-in or an id.

    `quarantined` counts the rows rejected by the last refresh or import; `quarantine` is the file that lists them, or
    empty.
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
class OptionCoverage:
    """Priced types of one provider, purchase option and, with --by family, family; without retired types."""

    provider: str
    family: str
    option: str
    types: int
    prices: int
    oldest: date
    newest: date


@dataclass(frozen=True, slots=True)
class CatalogGap:
    """A type without a price, or a refresh that is not installed; `what` is the kind of gap."""

    what: str
    provider: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class CatalogStatus:
    """The whole report; `retired` counts types that are never planned."""

    catalogue: str
    data_folder: str
    private_prices: int
    exchange_rates: int
    in_use: tuple[SnapshotInUse, ...]
    coverage: tuple[OptionCoverage, ...]
    retired: int
    gaps: tuple[CatalogGap, ...]


def show_status(provider: Sequence[str], by_family: bool, format_name: str) -> int:
    """Print the status of the catalogue, of these providers or all, and return the exit code."""
    catalog, faults = Catalog.current(), list[InputProblem]()
    providers = select_providers(catalog, provider, faults)
    raise_problems(faults)
    report = _describe_catalog(catalog, local.user_data_folder(), providers, by_family)
    columns = [field.name for field in fields(OptionCoverage)]
    print_report(format_name, _status_lines(report), columns, map(asdict, report.coverage), lambda: asdict(report))
    return DONE


def _describe_catalog(catalog: Catalog, data: Path, providers: Collection[str], by_family: bool) -> CatalogStatus:
    coverage = [line for line in catalog.coverage() if line.provider in providers]
    current = [line for line in coverage if not line.retired]
    names = [name for name in catalog.providers if name in providers]
    return CatalogStatus(
        catalogue=catalog.digest,
        data_folder=str(data),
        private_prices=len(catalog.card.rules),
        exchange_rates=len(catalog.exchange.rates),
        in_use=tuple(_snapshot_in_use(catalog, name, data, today()) for name in names),
        coverage=tuple(_group_coverage(current, by_family)),
        retired=sum(o.status == "retired" for o in catalog.offerings.values() if o.provider in providers),
        gaps=(*_catalog_gaps(catalog, current, providers), *_refresh_gaps(names)),
    )


def _snapshot_in_use(catalog: Catalog, provider: str, data: Path, day: date) -> SnapshotInUse:
    import tomllib

    path = dict(catalog.layout.folders)[provider]
    shipped = dict(local.base_layout(EMBEDDED_LAYOUT, data).folders)[provider]
    local_snapshot = next(iter(local.find_current_snapshot(provider, shipped, data)), None)
    place = path / "snapshot.toml"
    facts = tomllib.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    coverage = [line for line in catalog.coverage() if line.provider == provider]
    oldest, newest = min((c.oldest for c in coverage), default=None), max((c.newest for c in coverage), default=None)
    listed = data / "snapshots" / provider / local.QUARANTINE_FILE
    quarantined_rows = _count_rows(listed)
    return SnapshotInUse(
        provider=provider,
        snapshot=local_snapshot.id if local_snapshot else _snapshot_origin(provider, path, data),
        made_by=str(facts.get("made_by", "")),
        oldest=oldest,
        newest=newest,
        days_oldest=(day - oldest).days if oldest else None,
        days_newest=(day - newest).days if newest else None,
        types=sum(o.provider == provider for o in catalog.offerings.values()),
        prices=sum(line.prices for line in coverage),
        quarantined=quarantined_rows,
        quarantine=str(listed) if quarantined_rows else "",
    )


def _snapshot_origin(provider: str, path: Path, data: Path) -> str:
    if path.is_relative_to(data):
        return "own"
    return "plug-in" if path == dict(find_plug_in_folders()).get(provider) else local.EMBEDDED_ID


def _count_rows(path: Path) -> int:
    import csv

    if not path.is_file():
        return 0
    with path.open(encoding="utf-8", newline="") as file:
        return max(0, sum(1 for _ in csv.reader(file)) - 1)


def _group_coverage(lines: Iterable[Coverage], by_family: bool) -> Iterator[OptionCoverage]:
    def group(line: Coverage) -> tuple[str, str, str]:
        return line.provider, line.family if by_family else "", line.option

    for (provider, family, option), grouped in groupby(sorted(lines, key=group), group):
        rows = list(grouped)
        yield OptionCoverage(
            provider=provider,
            family=family,
            option=option,
            types=sum(line.offerings for line in rows),
            prices=sum(line.prices for line in rows),
            oldest=min(line.oldest for line in rows),
            newest=max(line.newest for line in rows),
        )


def _catalog_gaps(catalog: Catalog, current: Iterable[Coverage], providers: Collection[str]) -> Iterator[CatalogGap]:
    for offering in catalog.unpriced():
        if offering.provider in providers:
            yield CatalogGap("type without a price", offering.provider, offering.instance_type, offering.accelerator)
    kinds: dict[tuple[str, str], set[str]] = {}
    for line in current:
        option = parse_purchase_option(line.option)
        kinds.setdefault((line.provider, line.family), set()).update([option.kind] if option else [])
    for (provider, family), known in sorted(kinds.items()):
        if not known.intersection(COMMITMENTS):
            priced_kinds = f"priced: {', '.join(sorted(known))}"
            yield CatalogGap("family without a commitment price", provider, family, priced_kinds)
    priced = {q.price.key[:2] for q in catalog.quotes(providers=providers, include_retired=True, include_parts=True)}
    for key, region in catalog.regions.items():
        if region.provider in providers and key not in priced:
            yield CatalogGap("region without a price", region.provider, region.region, region.name)


def _refresh_gaps(providers: Iterable[str]) -> Iterator[CatalogGap]:
    from pricing.refresh.price_refresh import load_adapter

    for provider in providers:
        adapter = load_adapter(provider)
        missing = _missing_distributions(adapter.EXTRA) if adapter else []
        if adapter and missing:
            command = f"pip install 'gpu-planner[{adapter.EXTRA}]'"
            yield CatalogGap("no refresh here", provider, ", ".join(missing), command)


def _missing_distributions(extra: str) -> list[str]:
    """The distributions of an optional dependency that are not installed."""
    from importlib.metadata import PackageNotFoundError, requires, version
    from re import match, search

    missing = []
    for requirement in requires("gpu-planner") or ():
        name = match(r"[A-Za-z0-9_.-]+", requirement)
        if name and search(rf"extra == ['\"]{extra}['\"]", requirement):
            try:
                version(name[0])
            except PackageNotFoundError:
                missing.append(name[0])
    return missing


def _status_lines(report: CatalogStatus) -> Iterator[str]:
    """Snapshots in use, coverage, gaps."""
    yield from (f"catalogue {report.catalogue}", "")
    head = ("provider", "in use", "made by", "types", "prices", "oldest", "newest", "age of the newest")
    rows = [
        (
            each.provider, each.snapshot, each.made_by or "by hand", f"{each.types:,}", f"{each.prices:,}",
            str(each.oldest or "none"), str(each.newest or "none"),
            "" if each.days_newest is None else format_count(each.days_newest, "day"),
        )
        for each in report.in_use
    ]  # fmt: skip
    yield from align_columns(head, rows, ("types", "prices"))
    for each in report.in_use:
        if each.quarantined:
            yield f"{each.provider}: {each.quarantined:,} in quarantine, listed in {each.quarantine}"
    if report.private_prices:
        yield f"private prices: {report.private_prices:,} rules"
    if report.exchange_rates:
        yield f"exchange rates: {report.exchange_rates:,}"
    yield ""
    yield from _coverage_lines(report)


def _coverage_lines(report: CatalogStatus) -> Iterator[str]:
    by_family = any(line.family for line in report.coverage)
    head = ("provider", *(["family"] if by_family else []), "purchase option", "types", "prices", "oldest", "newest")
    rows = [
        (
            line.provider, *([line.family] if by_family else []), line.option, f"{line.types:,}", f"{line.prices:,}",
            str(line.oldest), str(line.newest),
        )
        for line in report.coverage
    ]  # fmt: skip
    yield from align_columns(head, rows, ("types", "prices"))
    yield ""
    yield f"{report.retired:,} retired types are known by name but never planned"
    for kind, grouped in groupby(report.gaps, lambda gap: gap.what):
        gaps = list(grouped)
        yield f"{format_count(len(gaps), 'gap')}: {kind}"
        yield from (f"  {gap.provider} {gap.subject} ({gap.detail})" for gap in gaps)
