"""Selects and checks the rows of prices: the newest of each, those that a rule excludes, and the option of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from pricing.csv_tables import TableRow
from pricing.price import parse_purchase_option


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
