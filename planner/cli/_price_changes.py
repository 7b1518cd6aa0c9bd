"""Behind `planner prices diff` and `history`: resolves the names of price lists and prints their differences."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from planner.cli._tables import csv_text, format_percent, json_text
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog import data_folder
from pricing.catalog.data_folder import StoredSnapshot
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.catalog.snapshot_tables import read_snapshot
from pricing.csv_tables import find_nearest_names
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


@dataclass(frozen=True, slots=True)
class PriceListDifference:
    """The changes between two lists, for the providers that both have; the others are in `not_compared`."""

    old: dict[str, str]
    new: dict[str, str]
    not_compared: tuple[str, ...]
    tallies: tuple[PriceChangeSummary, ...]
    changes: tuple[PriceChange, ...]


def compare_price_lists(old: str, new: str, providers: Collection[str], data: Path) -> PriceListDifference:
    """Compares; InvalidRequest with every fault of the two names, InvalidSnapshot with those of their files."""
    faults: list[InputProblem] = []
    sides = [_resolve_price_list(name, text, providers, data, faults) for name, text in (("OLD", old), ("NEW", new))]
    if faults:
        raise InvalidRequest(tuple(faults))
    before, after = sides
    both = sorted(before.folders.keys() & after.folders.keys())
    if not both:
        only = f"OLD has {', '.join(before.folders)}; NEW has {', '.join(after.folders)}"
        raise InvalidRequest((InputProblem("", "NEW", "no provider is in both lists", only),))
    price_changes = compare_prices(_read_prices(before, both), _read_prices(after, both))
    return PriceListDifference(
        old={name: before.folders[name][0] for name in both},
        new={name: after.folders[name][0] for name in both},
        not_compared=tuple(sorted(before.folders.keys() ^ after.folders.keys())),
        tallies=summarize_changes(price_changes),
        changes=price_changes,
    )


def _read_prices(side: ComparedPriceList, providers: Sequence[str]) -> tuple[Any, ...]:
    return read_snapshot(CatalogLayout(side.data, tuple((name, side.folders[name][1]) for name in providers))).prices


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
        expected = f"embedded, current, previous, a folder, or an id: {', '.join(dict.fromkeys(known))}"
        close = find_nearest_names(text, known)
        faults.append(
            InputProblem("", name, "no price list", text, expected + (f"; nearest: {close[0]}" if close else ""))
            if text != PREVIOUS
            else InputProblem("", name, "there is none before the one in use", text, "a refresh or an import first")
        )
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
        candidates = ", ".join(each.id for each in exact)
        faults.append(
            InputProblem("", name, f"several snapshots of {used.provider} begin so", text, f"one of {candidates}")
        )
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


def difference_csv(comparison: PriceListDifference) -> str:
    """Every price of either list."""
    return csv_text(CHANGE_COLUMNS, map(_change_record, comparison.changes))


def difference_json(comparison: PriceListDifference) -> str:
    """The same, with the counts."""
    return json_text(
        {
            "old": comparison.old,
            "new": comparison.new,
            "not_compared": comparison.not_compared,
            "tallies": [asdict(tally) for tally in comparison.tallies],
            "changes": [_change_record(change) for change in comparison.changes],
        }
    )


def difference_text(comparison: PriceListDifference, limit: int) -> str:
    """Counts by provider and option, then the largest movers."""
    out = [f"{name}: {comparison.old[name]} -> {comparison.new[name]}" for name in comparison.old]
    out += [f"{name}: in one of the two only, not compared" for name in comparison.not_compared]
    numbers = ("new", "gone", "up", "down", "same", "median", "largest")
    rows = [
        (
            t.provider, t.option, f"{t.new:,}", f"{t.gone:,}", f"{t.up:,}", f"{t.down:,}", f"{t.same:,}",
            format_percent(t.median_percent), format_percent(t.largest_percent), _tally_remarks(t),
        )
        for t in comparison.tallies
    ]  # fmt: skip
    out += ["", *align_columns(("provider", "purchase option", *numbers, ""), rows, numbers)]
    moved = rank_price_moves(comparison.changes)
    out += ["", f"{len(moved):,} prices moved" + (f", the {limit:,} largest:" if len(moved) > limit else "")]
    head = ("provider", "region", "type", "purchase option", "before", "after", "change", "as of", "source")
    out += align_columns(head, map(_mover_row, moved[:limit]), ("before", "after", "change"))[0 if moved else 1 :]
    return "\n".join(out) + "\n"


def _tally_remarks(tally: PriceChangeSummary) -> str:
    remarks = [f"{tally.told_otherwise:,} from another source"] if tally.told_otherwise else []
    remarks += [f"{tally.currency:,} in another currency"] if tally.currency else []
    return ", ".join(remarks)


def _mover_row(change: PriceChange) -> tuple[str, ...]:
    row = _change_record(change)
    prices = (f"{row['before']:,.4f}", f"{row['after']:,.4f}", format_percent(change.percent))
    return (*change.key, *prices, f"{row['before_as_of']} -> {row['after_as_of']}", str(row["after_source"]))


def price_history(
    types: Sequence[tuple[str, str]], regions: Collection[str], options: Collection[str], data: Path
) -> tuple[PricePeriod, ...]:
    """The series of these (provider, type); empty filters pass all. Options match kind or full name."""
    series: list[PricePeriod] = []
    base = dict(data_folder.base_layout(EMBEDDED_LAYOUT, data).folders)
    for provider in dict.fromkeys(name for name, _ in types):
        instance_types = {instance_type for name, instance_type in types if name == provider}
        series += build_price_periods(
            read_observations(data_folder.list_snapshots(provider, base[provider], data), instance_types)
        )
    return tuple(
        line
        for line in series
        if (not regions or line.region in regions)
        and (not options or line.purchase_option in options or _option_kind(line.purchase_option) in options)
    )


def _option_kind(option: str) -> str:
    parts = parse_purchase_option(option)
    return parts.kind if parts else ""


LINE_COLUMNS = tuple(field.name for field in fields(PricePeriod))


def history_csv(series: Sequence[PricePeriod]) -> str:
    rows = (
        {**asdict(each), "sources": "+".join(each.sources), "snapshots": " ".join(each.snapshots)} for each in series
    )
    return csv_text(LINE_COLUMNS, rows)


def history_json(series: Sequence[PricePeriod]) -> str:
    return json_text([asdict(line) for line in series])


def history_text(series: Sequence[PricePeriod]) -> str:
    """One line per period of a constant price, by region and option."""
    return "\n".join(_history_lines(series)) + "\n"


def _history_lines(series: Sequence[PricePeriod]) -> Iterator[str]:
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
