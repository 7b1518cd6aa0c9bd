"""Behind `planner prices diff` and `history`: resolves the names of price lists and prints their differences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from planner.cli._catalog_options import check_names, match_types, raise_problems, select_providers
from planner.cli._exit_codes import DONE
from planner.cli._tables import format_percent, print_report
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog import data_folder
from pricing.catalog.data_folder import StoredSnapshot
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT, Catalog
from pricing.catalog.snapshot_tables import read_snapshot
from pricing.counted_nouns import format_count
from pricing.csv_tables import find_nearest_names
from pricing.frozen_values import dataclass
from pricing.price import parse_purchase_option
from pricing.providers import CatalogLayout
from pricing.snapshots.price_changes import (
    PriceChange,
    PriceChangeSummary,
    compare_prices,
    rank_price_moves,
    summarize_changes,
)
from pricing.snapshots.price_history import PricePeriod, build_price_periods, read_observations
from pricing.text_tables import align_columns

CURRENT, PREVIOUS = "current", "previous"


@dataclass(frozen=True, slots=True)
class ComparedPriceList:
    """One of the two lists: name and folder by provider; `data` has the shared tables."""

    data: Path
    folders: dict[str, tuple[str, Path]]


def show_differences(old: str, new: str, provider: Sequence[str], limit: int, format_name: str) -> int:
    """Print the differences of two price lists, `limit` of them as text, and return the exit code."""
    faults = list[InputProblem]()
    among = select_providers(Catalog.current(), provider, faults)
    raise_problems(faults)
    before, after = (
        _resolve_price_list(name, text, among, data_folder.user_data_folder(), faults)
        for name, text in (("OLD", old), ("NEW", new))
    )
    raise_problems(faults)
    both = sorted(before.folders.keys() & after.folders.keys())
    if not both:
        only = f"OLD has {', '.join(before.folders)}; NEW has {', '.join(after.folders)}"
        raise InvalidRequest((InputProblem("", "NEW", "no provider is in both lists", only),))
    prices_before, prices_after = (
        read_snapshot(CatalogLayout(side.data, tuple((name, side.folders[name][1]) for name in both))).prices
        for side in (before, after)
    )
    changes = compare_prices(prices_before, prices_after)
    tallies, records = summarize_changes(changes), map(_change_record, changes)
    names = {
        "old": {name: before.folders[name][0] for name in both},
        "new": {name: after.folders[name][0] for name in both},
    }
    others = sorted(before.folders.keys() ^ after.folders.keys())
    lines = (
        *(f"{name}: {names['old'][name]} -> {names['new'][name]}" for name in both),
        *(f"{name}: in one of the two only, not compared" for name in others),
        "",
        *_tally_lines(tallies),
        "",
        *_mover_lines(rank_price_moves(changes), limit),
    )
    counts = {"not_compared": others, "tallies": [asdict(tally) for tally in tallies]}
    print_report(format_name, lines, CHANGE_COLUMNS, records, lambda: names | counts | {"changes": [*records]})
    return DONE


def _resolve_price_list(
    name: str, text: str, providers: Collection[str], data: Path, faults: list[InputProblem]
) -> ComparedPriceList:
    """The folders that a name means: embedded, current, previous, (the beginning of) an id, or a path."""
    base = data_folder.base_layout(EMBEDDED_LAYOUT, data)
    if "/" in text or Path(text).is_dir():
        return _price_list_in_folder(name, Path(text), providers, faults)
    matched: dict[str, tuple[str, Path]] = {}
    known: list[str] = []
    for provider, fallback in base.folders:
        if provider in providers:
            available = data_folder.list_snapshots(provider, fallback, data)
            used = next(data_folder.find_current_snapshot(provider, fallback, data), available[0])
            known += [each.id for each in available]
            log = data_folder.read_snapshot_log(provider, data)
            if one := _match_snapshot(name, text, available, used, log, faults):
                matched[provider] = (one.id, one.path)
    if not matched and not faults:
        close = find_nearest_names(text, known)
        expected = f"embedded, current, previous, a folder, or an id: {', '.join(dict.fromkeys(known))}"
        expected += f"; nearest: {close[0]}" if close else ""
        message = "no price list"
        if text == PREVIOUS:
            message, expected = "there is none before the one in use", "a refresh or an import first"
        faults.append(InputProblem("", name, message, text, expected))
    return ComparedPriceList(base.data, matched)


def _match_snapshot(
    name: str,
    text: str,
    snapshots: Sequence[StoredSnapshot],
    used: StoredSnapshot,
    log: Sequence[str],
    faults: list[InputProblem],
) -> StoredSnapshot | None:
    """The snapshot that a name means. The previous one is that which the log has before the one in use: a folder that
    a killed refresh left behind was never in use."""
    if text == data_folder.EMBEDDED_ID:
        return snapshots[0]
    if text == CURRENT:
        return used
    if text == PREVIOUS:
        if used.id == data_folder.EMBEDDED_ID:
            return None
        before = [each for each in snapshots if each.id in log[: log.index(used.id)]]
        return before[-1] if before else snapshots[0]
    begin = [each for each in snapshots if each.id.startswith(text)] if text else []
    exact = [each for each in begin if each.id == text] or begin
    if len(exact) > 1:
        expected = f"one of {', '.join(each.id for each in exact)}"
        faults.append(InputProblem("", name, f"several snapshots of {used.provider} begin so", text, expected))
    return exact[0] if exact else None


def _price_list_in_folder(
    name: str, path: Path, providers: Collection[str], faults: list[InputProblem]
) -> ComparedPriceList:
    import tomllib

    if (path / "provider.toml").is_file():
        try:
            called = tomllib.loads((path / "provider.toml").read_text(encoding="utf-8")).get("name", path.name)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            faults.append(InputProblem("", name, f"provider.toml cannot be read: {error}", str(path)))
            return ComparedPriceList(EMBEDDED_LAYOUT.data, {})
        return ComparedPriceList(EMBEDDED_LAYOUT.data, {str(called): (str(path), path)})
    layout = CatalogLayout.of(path)
    if not layout.folders:
        expected = "a provider folder (provider.toml) or a catalogue (providers/)"
        faults.append(InputProblem("", name, "no folder of prices", str(path), expected))
    shared = layout.data if layout.data.is_dir() else EMBEDDED_LAYOUT.data
    return ComparedPriceList(shared, {each: (str(place), place) for each, place in layout.folders if each in providers})


CHANGE_COLUMNS = (
    "provider", "region", "instance_type", "purchase_option", "what", "before", "after", "currency", "percent",
    "before_as_of", "after_as_of", "before_source", "after_source",
)  # fmt: skip


def _change_record(change: PriceChange) -> dict[str, Any]:
    one, two = change.before, change.after
    either = two or one
    return {
        **dict(zip(CHANGE_COLUMNS[:4], change.key, strict=True)),
        "what": change.what,
        "before": one.price_per_hour if one else None,
        "after": two.price_per_hour if two else None,
        "currency": either.currency if either else "",
        "percent": None if change.percent is None else round(change.percent, 4),
        "before_as_of": one.as_of if one else None,
        "after_as_of": two.as_of if two else None,
        "before_source": one.source_id if one else None,
        "after_source": two.source_id if two else None,
    }


def _tally_lines(tallies: Iterable[PriceChangeSummary]) -> list[str]:
    """Counts by provider and option."""
    numbers = ("new", "gone", "up", "down", "same", "median", "largest")
    rows = []
    for t in tallies:
        remarks = [f"{t.told_otherwise:,} from another source"] if t.told_otherwise else []
        remarks += [f"{t.currency:,} in another currency"] if t.currency else []
        counts = (f"{count:,}" for count in (t.new, t.gone, t.up, t.down, t.same))
        percents = format_percent(t.median_percent), format_percent(t.largest_percent)
        rows.append((t.provider, t.option, *counts, *percents, ", ".join(remarks)))
    return align_columns(("provider", "purchase option", *numbers, ""), rows, numbers)


def _mover_lines(moved: Sequence[PriceChange], limit: int) -> Iterator[str]:
    yield f"{format_count(len(moved), 'price')} moved" + (f", the {limit:,} largest:" if len(moved) > limit else "")
    head = ("provider", "region", "type", "purchase option", "before", "after", "change", "as of", "source")
    yield from align_columns(head, map(_mover_row, moved[:limit]), ("before", "after", "change"))[0 if moved else 1 :]


def _mover_row(change: PriceChange) -> tuple[str, ...]:
    row = _change_record(change)
    prices = (f"{row['before']:,.4f}", f"{row['after']:,.4f}", format_percent(change.percent))
    return (*change.key, *prices, f"{row['before_as_of']} -> {row['after_as_of']}", str(row["after_source"]))


def show_history(
    instance_type: str, provider: Sequence[str], region: Sequence[str], option: Sequence[str], format_name: str
) -> int:
    """Print the prices of a type over time and return the exit code. Options match kind or full name."""
    catalog, faults = Catalog.current(), list[InputProblem]()
    among = select_providers(catalog, provider, faults)
    types = match_types(catalog, instance_type, among, faults)
    regions = check_names("--region", region, lambda text: catalog.check_region(text)[0].region, faults)
    options = check_names("--option", option, catalog.check_option, faults)
    raise_problems(faults)
    series = [
        line
        for line in _read_history(types, data_folder.user_data_folder())
        if (not regions or line.region in regions)
        and (not options or line.purchase_option in options or _option_kind(line.purchase_option) in options)
    ]
    records = (
        {**asdict(each), "sources": "+".join(each.sources), "snapshots": " ".join(each.snapshots)} for each in series
    )
    columns = [field.name for field in fields(PricePeriod)]
    print_report(format_name, _history_lines(series), columns, records, lambda: [asdict(line) for line in series])
    return DONE


def _read_history(types: Sequence[tuple[str, str]], data: Path) -> Iterator[PricePeriod]:
    """The series of these (provider, type)."""
    base = dict(data_folder.base_layout(EMBEDDED_LAYOUT, data).folders)
    for provider in dict.fromkeys(name for name, _ in types):
        instance_types = {instance_type for name, instance_type in types if name == provider}
        snapshots = data_folder.list_snapshots(provider, base[provider], data)
        yield from build_price_periods(read_observations(snapshots, instance_types))


def _option_kind(option: str) -> str:
    parts = parse_purchase_option(option)
    return parts.kind if parts else ""


def _history_lines(series: Sequence[PricePeriod]) -> Iterator[str]:
    """One line per period of a constant price, by region and option."""
    head = ("provider", "type", "region", "purchase option", "from", "to", "$/h", "change", "source")
    rows = []
    for line in series:
        price = f"{line.price_per_hour:,.4f}" + ("" if line.currency == "USD" else f" {line.currency}")
        named = (line.provider, line.instance_type, line.region, line.purchase_option)
        rows.append((*named, line.first, line.last, price, format_percent(line.percent), ", ".join(line.sources)))
    yield from align_columns(head, rows, ("$/h", "change")) if rows else ["no price of it is known there"]
    moved = sum(line.percent is not None for line in series)
    yield ""
    yield f"{len({(i.provider, i.region, i.purchase_option) for i in series}):,} prices, {moved:,} changes known"
