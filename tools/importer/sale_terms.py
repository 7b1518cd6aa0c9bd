"""Turns the table of how types are sold, whose names and limits are words, into the terms of sale of the catalogue.

A name may be a type, a pattern (`g5.*`), a list of both, or a family in words, which the curated table sale_types.csv
maps to patterns. Limits are read by the patterns below. What neither understands is counted and listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase

from pricing.csv_tables import TableRow
from pricing.sale import SaleTerm

SOLD_HOW_COLUMNS = (
    "provider", "instance_type", "purchase_option", "sold", "constraint", "regions_or_zones", "source", "date",
    "confidence",
)  # fmt: skip
SALE_TYPE_COLUMNS = ("provider", "written", "types")
SOLD = {"yes": True, "no": False, "": None}

_NUMBERS: dict[str, tuple[str, ...]] = {
    "min_days": (r"^(\d+) to \d+ days$", r"durations (\d+)-\d+ days"),
    "max_days": (r"max run (\d+) days", r"\bmax (\d+) days", r"^\d+ to (\d+) days$", r"multiples of 7 up to (\d+)"),
    "order_ahead_days": (r"up to (\d+) days ahead", r"look ahead \d+ to (\d+) days"),
    "max_nodes": (r"\d+ to (\d+) GPU VMs a request", r"at most (\d+) instances a block"),
}
_WEEKS_AHEAD = re.compile(r"at most (\d+) weeks ahead")
_RESERVATION = re.compile(r"attached reservation|attached when reserved|reservation and commitment are one purchase")
_QUEUED = re.compile(r"best effort|queued|resize request")
_END = re.compile(r"^(?:retired|ended) (\d{4}-\d\d-\d\d)")
_SUCCESSOR = re.compile(r"^successor (.+)")
_EXCEPTION = re.compile(r"^(?P<places>.+) until (?P<day>\d{4}-\d\d-\d\d)$")
_PLAN_YEARS = re.compile(r"(\d) years?: (only the Compute plan|EC2 Instance plan)")


@dataclass(frozen=True, slots=True)
class _ReadLimits:
    """The limits of one row, by column of SaleTerm; `exceptions` are places with another end."""

    columns: dict[str, object]
    exceptions: tuple[tuple[str, date], ...]


def build_sale_terms(
    rows: Sequence[TableRow],
    families: Sequence[TableRow],
    types: Mapping[str, Sequence[str]],
    regions: Mapping[str, Mapping[str, str]],
    option_names: Mapping[str, Mapping[str, str]],
) -> tuple[list[SaleTerm], dict[str, int]]:
    """The terms of all types, and how often each reason left something out.

    `types` are the instance types by provider, `regions` the names of regions by their code, by provider;
    `option_names` are the catalogue's names of purchase options that the facts spell in another way. Where several
    rows speak of one type, option and place, the one whose name is narrowest holds; two of equal rank that disagree
    are a fault.
    """
    left: Counter[str] = Counter()
    best: dict[tuple[str, str, str, str], tuple[int, TableRow, SaleTerm]] = {}
    patterns = {(row.values["provider"], row.values["written"]): row.text("types").split() for row in families}
    for row in rows:
        provider = row.text("provider")
        limits = _read_limits(row, left)
        options = list(_read_options(row, option_names.get(provider, {}), ends="ends" in limits.columns))
        places = _read_places(row, regions.get(provider, {}), left)
        matched = list(_match_types(row, patterns, types.get(provider, ()), left))
        for instance_type, rank in matched:
            for option, sold in options:
                plain = _build_term(row, instance_type, option, sold, limits)
                terms = [replace(plain, region=region, zones=zones) for region, zones in places]
                for term in (*terms, *_exceptional_terms(plain, limits, regions.get(provider, {}), left)):
                    key = (provider, instance_type, term.purchase_option, term.region)
                    known = best.get(key)
                    if known is None or (rank, term.sold is not None) > (known[0], known[2].sold is not None):
                        best[key] = rank, row, term
                    elif rank == known[0] and term.sold is (not known[2].sold):
                        row.fault(f"{' '.join(key).strip()} is sold: {row.values['sold']!r}, unlike {known[1].place}")
    return _drop_terms_of_retired([term for _, _, term in best.values()], left), dict(sorted(left.items()))


def _read_limits(row: TableRow, left: Counter[str]) -> _ReadLimits:
    columns: dict[str, object] = {}
    exceptions = []
    for clause in filter(None, (part.strip() for part in row.values["constraint"].split(";"))):
        read = False
        for column, spellings in _NUMBERS.items():
            found = next((match for each in spellings if (match := re.search(each, clause))), None)
            if found:
                columns[column], read = int(found[1]), True
        if weeks := _WEEKS_AHEAD.search(clause):
            columns["order_ahead_days"], read = 7 * int(weeks[1]), True
        for column, spelling in (("needs_reservation", _RESERVATION), ("queued", _QUEUED)):
            if spelling.search(clause):
                columns[column] = read = True
        if end := _END.search(clause):
            columns["ends"], read = date.fromisoformat(end[1]), True
        if successor := _SUCCESSOR.search(clause):
            columns["successor"], read = successor[1], True
        if other := _EXCEPTION.search(clause):
            exceptions.append((other["places"], date.fromisoformat(other["day"])))
            read = True
        if not read and not _PLAN_YEARS.search(clause):
            left[f"limit in words, not needed or not understood: {clause}"] += 1
    return _ReadLimits(columns, tuple(exceptions))


def _read_options(row: TableRow, names: Mapping[str, str], *, ends: bool) -> Iterator[tuple[str, bool | None]]:
    """The purchase options that a row is about, each with whether it is sold; a retirement is about every option."""
    sold = SOLD[row.one_of("sold", SOLD)] if row.values["sold"] in SOLD else None
    written = row.text("purchase_option")
    plans = _PLAN_YEARS.findall(row.values["constraint"]) if written == "savings_plan" else []
    if ends:
        yield "", False
    elif plans:
        for years, plan in plans:
            only_compute = plan.startswith("only")
            yield f"savings_plan_{years}y_instance", not only_compute
            yield f"savings_plan_{years}y_compute", True
    else:
        yield names.get(written, written), sold


def _read_places(row: TableRow, regions: Mapping[str, str], left: Counter[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The regions that a row names, each with its zones; everywhere where it names none."""
    cell = row.values["regions_or_zones"]
    zones: dict[str, list[str]] = {}
    for word in re.split(r"[\s,]+", re.sub(r"\([^)]*\)", " ", cell)):
        region = re.sub(r"-[a-z]$", "", word)
        if word in regions:
            zones.setdefault(word, [])
        elif region in regions:
            zones.setdefault(region, []).append(word)
        elif re.search(r"\d", word) and "." not in word:
            left[f"place that is no region of the catalogue: {word}"] += 1
    if not zones or "rates read" in cell:  # where a price was read says nothing of where else it is sold
        return [("", ())]
    return [(region, tuple(its)) for region, its in zones.items()]


def _match_types(
    row: TableRow, patterns: Mapping[tuple[str, str], Sequence[str]], types: Sequence[str], left: Counter[str]
) -> Iterator[tuple[str, int]]:
    """The types that a name means, with its rank: the number of letters that it fixes; an exact name is above all."""
    provider, written = row.values["provider"], row.text("instance_type")
    parts = [written] if (provider, written) in patterns else _split_names(written)
    for part in parts:
        globs = patterns.get((provider, part), [part])
        found = [
            (name, 1000 if name in (part, glob) else len(glob.replace("*", "")))
            for name in types
            for glob in globs
            if fnmatchcase(name, glob)
        ]
        if not found:
            left[f"name that means no offering: {provider} {part}"] += 1
        yield from found


def _split_names(written: str) -> list[str]:
    """The names of a list; the first one's prefix belongs to all: Standard_NC6, NC12 (K80)."""
    bare = re.sub(r"\([^)]*\)| and _Promo", "", written)
    names = [name.strip() for name in bare.split(",")]
    prefix = "Standard_" if names[0].startswith("Standard_") else ""
    return [name if name.startswith(prefix) else f"{prefix}{name}" for name in names]


def _build_term(row: TableRow, instance_type: str, option: str, sold: bool | None, limits: _ReadLimits) -> SaleTerm:
    empty: dict[str, object] = {
        "min_days": None, "max_days": None, "order_ahead_days": None, "max_nodes": None, "needs_reservation": False,
        "queued": False, "ends": None, "successor": "",
    }  # fmt: skip
    return SaleTerm(
        provider=row.values["provider"],
        instance_type=instance_type,
        purchase_option=option,
        region="",
        zones=(),
        sold=sold,
        source=tidy_source(row.text("source")),
        checked=row.text("date"),
        confidence=row.text("confidence"),
        **{**empty, **limits.columns},  # type: ignore[arg-type] # columns of SaleTerm, each of its type
    )


def tidy_source(written: str) -> str:
    """A source without remarks on the copy that was read."""
    plain = re.sub(r"\s*\((?:copy|ids?)\b[^)]*\)?|; a stored copy[^;]*|,? cited in id \d+|, id \d+\)?", "", written)
    return re.sub(r"\s*\((?:copy|ids?)\b[^)]*\)?", "", plain).strip(" ;,")


def _exceptional_terms(
    term: SaleTerm, limits: _ReadLimits, regions: Mapping[str, str], left: Counter[str]
) -> Iterator[SaleTerm]:
    """The term in places where a type runs longer than elsewhere."""
    codes = {name.casefold(): code for code, name in regions.items()}
    for places, day in limits.exceptions:
        names = _place_names(places)
        for name in names:
            if name.casefold() in codes:
                yield replace(term, region=codes[name.casefold()], sold=True, ends=day)
            else:
                left[f"place that is no region of the catalogue: {name}"] += 1


def _place_names(words: str) -> list[str]:
    """US Gov Virginia and Arizona: the country stands once; Jio India West and China North 3: each has its own."""
    first, _, second = words.partition(" and ")
    if second and " " not in second:
        second = f"{first.rpartition(' ')[0]} {second}"
    return [name for name in (first, second) if name]


def _drop_terms_of_retired(terms: list[SaleTerm], left: Counter[str]) -> list[SaleTerm]:
    """A retired type is sold in no way, whatever a row about its whole series says."""
    retired = {(t.provider, t.instance_type) for t in terms if t.ends is not None and not t.region}
    kept = [t for t in terms if t.ends is not None or (t.provider, t.instance_type) not in retired]
    if dropped := len(terms) - len(kept):
        left["term of a whole series for a retired type of it"] += dropped
    return kept
