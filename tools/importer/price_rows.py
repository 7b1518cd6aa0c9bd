"""Selects and checks the rows of prices: the newest of each, those that a rule excludes, and the option of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from statistics import median
from typing import Any

from pricing.csv_tables import TableRow
from pricing.price import parse_purchase_option

REGIONS_MIN = 3
"""Fewest regions that have a usual price."""
BAND = (0.5, 2.0)
BANDS = {"spot": (0.2, 5.0)}
"""Lowest and highest ratio to the usual price, by purchase option."""


def select_newest(rows: Sequence[TableRow]) -> tuple[list[TableRow], list[TableRow]]:
    """The newest row of each price, and the others as rows of superseded prices. Rows of one day are left alone: they
    are a fault later."""
    newest: dict[tuple[str, ...], date] = {}
    for row in rows:
        key = _price_key(row)
        newest[key] = max(newest.get(key, date.min), row.day("as_of"))
    current, older = [], []
    for row in rows:
        if row.values["as_of"] == str(newest[_price_key(row)]):
            current.append(row)
        else:
            values = {**row.values, "first_seen": row.values["as_of"], "commit": ""}
            older.append(TableRow(row.path, row.line, values, row.faults))
    return current, older


def exclude_prices(rows: Sequence[TableRow], rules: Sequence[TableRow]) -> tuple[list[TableRow], int]:
    """The rows that no rule excludes, and the number of the others. A rule that excludes nothing is a fault."""
    columns = ("provider", "region", "instance_type", "purchase_option")
    kept, used = [], set()
    for row in rows:
        rule = next((r for r in rules if all(fnmatchcase(row.values[c], r.values[c]) for c in columns)), None)
        if rule is None:
            kept.append(row)
        else:
            used.add(rule.line)
    for rule in rules:
        if rule.line not in used:
            rule.fault("excludes no price")
    return kept, len(rows) - len(kept)


def check_outliers(prices: Sequence[tuple[TableRow, str]], superseded: Sequence[tuple[TableRow, str]]) -> None:
    """A fault for each price far from the median of its type and option over regions (of three or more), and for each
    far from the price that it superseded. Spot, which moves with the hour, has a wider band."""
    by_place: dict[tuple[str, ...], list[tuple[TableRow, str]]] = {}
    for row, option in prices:
        by_place.setdefault((*type_key(row), option), []).append((row, option))
    for rows in by_place.values():
        usual = median(row.positive("price_usd_per_hour") for row, _ in rows)
        for row, option in rows if len(rows) >= REGIONS_MIN else ():
            _check_ratio(row, option, usual, f"the median of {len(rows)} regions")
    before = {_price_key(row): row for row, _ in superseded}
    for row, option in prices:
        if old := before.get(_price_key(row)):
            since = old.values["first_seen"]
            _check_ratio(row, option, old.positive("price_usd_per_hour"), f"the price of {since}")


def _check_ratio(row: TableRow, option: str, usual: float, what: str) -> None:
    low, high = BANDS.get(option, BAND)
    ratio = row.positive("price_usd_per_hour") / usual
    if not low <= ratio <= high:
        row.fault(f"{' '.join(_price_key(row))} is {ratio:.2f} of {what}: exclude it with a reason, or correct it")


def _price_key(row: TableRow) -> tuple[str, ...]:
    return (*type_key(row), row.values["region"], row.values["purchase_option"])


def resolve_prices(
    rows: list[TableRow],
    types: set[tuple[str, str]],
    own: dict[str, dict[str, Any]],
    regions: dict[str, list[TableRow]],
    dated: str,
) -> list[tuple[TableRow, str]]:
    """Price rows with the purchase option that the catalogue uses. Superseded rows are identified by day as well."""
    places = {(name, row.values["region"]) for name, region_rows in regions.items() for row in region_rows}
    resolved: list[tuple[TableRow, str]] = []
    first_places: dict[tuple[str, ...], str] = {}
    for row in rows:
        provider, written = row.text("provider"), row.text("purchase_option")
        if provider not in own:
            row.fault(f"provider {provider!r} has no folder with a provider.toml")
        elif type_key(row) not in types:
            row.fault(f"instance_type {row.values['instance_type']!r} is not in offerings.csv")
        elif (provider, row.values["region"]) not in places:
            row.fault(f"region {row.values['region']!r} is not in {provider}/regions.csv")
        option = own.get(provider, {}).get("import", {}).get("options", {}).get(written, written)
        if parse_purchase_option(option) is None:
            row.fault(f"purchase_option {written!r} is unknown")
        row.positive("price_usd_per_hour")
        row.day(dated)
        since = (row.values[dated], row.values["source_id"]) if dated == "first_seen" else ()
        key = (*type_key(row), row.values["region"], option, *since)
        if first_places.setdefault(key, row.place) != row.place:
            row.fault(f"the same price is listed in {first_places[key]}")
        resolved.append((row, option))
    return resolved


def type_key(row: TableRow) -> tuple[str, str]:
    return row.values["provider"], row.values["instance_type"]
