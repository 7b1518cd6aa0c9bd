"""Behind `planner prices diff` and `history`: which price lists are meant, and what is printed of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from planner.cli._tables import aligned, csv_text, json_text, percent
from planner.errors import Complaint, InvalidRequest
from pricing import local
from pricing.catalog import EMBEDDED
from pricing.changes import Change, Tally, changes, movers, tallies
from pricing.history import Line, lines, seen
from pricing.local import Kept
from pricing.price import option_of
from pricing.providers import Layout
from pricing.snapshot import read
from pricing.table import nearest

CURRENT, PREVIOUS = "current", "previous"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two lists: for each provider the folder and what to call it; `data` has the shared tables."""

    data: Path
    folders: dict[str, tuple[str, Path]]


@dataclass(frozen=True, slots=True)
class Difference:
    """What happened between two lists, of the providers that both have; the others are named."""

    old: dict[str, str]
    new: dict[str, str]
    not_compared: tuple[str, ...]
    tallies: tuple[Tally, ...]
    changes: tuple[Change, ...]


def difference(old: str, new: str, providers: Collection[str], data: Path) -> Difference:
    """Compares; InvalidRequest with every fault of the two names, BadSnapshot with those of their files."""
    faults: list[Complaint] = []
    sides = [_side(name, text, providers, data, faults) for name, text in (("OLD", old), ("NEW", new))]
    if faults:
        raise InvalidRequest(tuple(faults))
    before, after = sides
    both = sorted(before.folders.keys() & after.folders.keys())
    if not both:
        only = f"OLD has {', '.join(before.folders)}; NEW has {', '.join(after.folders)}"
        raise InvalidRequest((Complaint("", "NEW", "no provider is in both lists", only),))
    found = changes(_prices(before, both), _prices(after, both))
    return Difference(
        old={name: before.folders[name][0] for name in both},
        new={name: after.folders[name][0] for name in both},
        not_compared=tuple(sorted(before.folders.keys() ^ after.folders.keys())),
        tallies=tallies(found),
        changes=found,
    )


def _prices(side: Side, providers: Sequence[str]) -> tuple[Any, ...]:
    return read(Layout(side.data, tuple((name, side.folders[name][1]) for name in providers))).prices


def _side(name: str, text: str, providers: Collection[str], data: Path, faults: list[Complaint]) -> Side:
    """The folders that a name means: embedded, current, previous, (the beginning of) an id, or a path."""
    base = local.base(EMBEDDED, data)
    if "/" in text or Path(text).is_dir():
        return _folder(name, Path(text), providers, faults)
    found: dict[str, tuple[str, Path]] = {}
    known: list[str] = []
    for provider, fallback in base.folders:
        if provider in providers:
            kept = local.snapshots(provider, fallback, data)
            used = next(local.in_use(provider, fallback, data), kept[0])
            known += [each.id for each in kept]
            if one := _meant(name, text, kept, used, faults):
                found[provider] = (one.id, one.path)
    if not found and not faults:
        wanted = f"embedded, current, previous, a folder, or an id: {', '.join(dict.fromkeys(known))}"
        close = nearest(text, known)
        faults.append(
            Complaint("", name, "no price list", text, wanted + (f"; nearest: {close[0]}" if close else ""))
            if text != PREVIOUS
            else Complaint("", name, "there is none before the one in use", text, "a refresh or an import first")
        )
    return Side(base.data, found)


def _meant(name: str, text: str, kept: Sequence[Kept], used: Kept, faults: list[Complaint]) -> Kept | None:
    if text == local.EMBEDDED:
        return kept[0]
    if text == CURRENT:
        return used
    ids = [each.id for each in kept]
    if text == PREVIOUS:
        index = ids.index(used.id)
        return kept[index - 1] if index else None
    begin = [each for each in kept if each.id.startswith(text)] if text else []
    exact = [each for each in begin if each.id == text] or begin
    if len(exact) > 1:
        told = ", ".join(each.id for each in exact)
        faults.append(Complaint("", name, f"several snapshots of {used.provider} begin so", text, f"one of {told}"))
    return exact[0] if exact else None


def _folder(name: str, path: Path, providers: Collection[str], faults: list[Complaint]) -> Side:
    import tomllib

    if (path / "provider.toml").is_file():
        try:
            called = tomllib.loads((path / "provider.toml").read_text(encoding="utf-8")).get("name", path.name)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            faults.append(Complaint("", name, f"provider.toml cannot be read: {error}", str(path)))
            return Side(EMBEDDED.data, {})
        return Side(EMBEDDED.data, {str(called): (str(path), path)})
    layout = Layout.of(path)
    if not layout.folders:
        expected = "a provider folder (provider.toml) or a catalogue (providers/)"
        faults.append(Complaint("", name, "no folder of prices", str(path), expected))
    shared = layout.data if layout.data.is_dir() else EMBEDDED.data
    return Side(shared, {each: (str(place), place) for each, place in layout.folders if each in providers})


CHANGE_COLUMNS = (
    "provider", "region", "instance_type", "purchase_option", "what", "before", "after", "currency", "percent",
    "before_as_of", "after_as_of", "before_source", "after_source",
)  # fmt: skip


def _change(change: Change) -> dict[str, Any]:
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


def difference_csv(found: Difference) -> str:
    """Every price of either list."""
    return csv_text(CHANGE_COLUMNS, map(_change, found.changes))


def difference_json(found: Difference) -> str:
    """The same, with the counts."""
    return json_text(
        {
            "old": found.old,
            "new": found.new,
            "not_compared": found.not_compared,
            "tallies": [asdict(tally) for tally in found.tallies],
            "changes": [_change(change) for change in found.changes],
        }
    )


def difference_text(found: Difference, limit: int) -> str:
    """Counts by provider and option, then the largest movers."""
    out = [f"{name}: {found.old[name]} -> {found.new[name]}" for name in found.old]
    out += [f"{name}: in one of the two only, not compared" for name in found.not_compared]
    numbers = ("new", "gone", "up", "down", "same", "median", "largest")
    rows = [
        (
            t.provider, t.option, f"{t.new:,}", f"{t.gone:,}", f"{t.up:,}", f"{t.down:,}", f"{t.same:,}",
            percent(t.median_percent), percent(t.largest_percent), _remarks(t),
        )
        for t in found.tallies
    ]  # fmt: skip
    out += ["", *aligned(("provider", "purchase option", *numbers, ""), rows, numbers)]
    moved = movers(found.changes)
    out += ["", f"{len(moved):,} prices moved" + (f", the {limit:,} largest:" if len(moved) > limit else "")]
    head = ("provider", "region", "type", "purchase option", "before", "after", "change", "as of", "source")
    out += aligned(head, map(_mover, moved[:limit]), ("before", "after", "change"))[0 if moved else 1 :]
    return "\n".join(out) + "\n"


def _remarks(tally: Tally) -> str:
    told = [f"{tally.told_otherwise:,} from another source"] if tally.told_otherwise else []
    told += [f"{tally.currency:,} in another currency"] if tally.currency else []
    return ", ".join(told)


def _mover(change: Change) -> tuple[str, ...]:
    row = _change(change)
    prices = (f"{row['before']:,.4f}", f"{row['after']:,.4f}", percent(change.percent))
    return (*change.key, *prices, f"{row['before_as_of']} -> {row['after_as_of']}", str(row["after_source"]))


def history(
    types: Sequence[tuple[str, str]], regions: Collection[str], options: Collection[str], data: Path
) -> tuple[Line, ...]:
    """The series of these (provider, type); empty filters pass all. Options match kind or full name."""
    found: list[Line] = []
    base = dict(local.base(EMBEDDED, data).folders)
    for provider in dict.fromkeys(name for name, _ in types):
        wanted = {instance_type for name, instance_type in types if name == provider}
        found += lines(seen(local.snapshots(provider, base[provider], data), wanted))
    return tuple(
        line
        for line in found
        if (not regions or line.region in regions)
        and (not options or line.purchase_option in options or _kind(line.purchase_option) in options)
    )


def _kind(option: str) -> str:
    parts = option_of(option)
    return parts.kind if parts else ""


LINE_COLUMNS = tuple(field.name for field in fields(Line))


def history_csv(found: Sequence[Line]) -> str:
    rows = (
        {**asdict(each), "sources": "+".join(each.sources), "snapshots": " ".join(each.snapshots)} for each in found
    )
    return csv_text(LINE_COLUMNS, rows)


def history_json(found: Sequence[Line]) -> str:
    return json_text([asdict(line) for line in found])


def history_text(found: Sequence[Line]) -> str:
    """One line for each time that a price held, the regions and options apart."""
    return "\n".join(_history_lines(found)) + "\n"


def _history_lines(found: Sequence[Line]) -> Iterator[str]:
    head = ("provider", "type", "region", "purchase option", "from", "to", "$/h", "change", "source")
    rows = []
    for line in found:
        price = f"{line.price_per_hour:,.4f}" + ("" if line.currency == "USD" else f" {line.currency}")
        named = (line.provider, line.instance_type, line.region, line.purchase_option)
        rows.append((*named, line.first, line.last, price, percent(line.percent), ", ".join(line.sources)))
    yield from aligned(head, rows, ("$/h", "change")) if rows else ["no price of it is known there"]
    moved = sum(line.percent is not None for line in found)
    yield ""
    yield f"{len({(i.provider, i.region, i.purchase_option) for i in found}):,} prices, {moved:,} changes known"
