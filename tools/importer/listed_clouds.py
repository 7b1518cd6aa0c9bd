"""Turns tables that give type and price in one row into rows of offerings and of prices, as the other fact tables have
them: of clouds beside the three, with one accelerator name and one source text in each row.

The source text of a row is the reference of a curated source. A day that the row does not know is that of the source.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from pricing.csv_tables import TableRow
from pricing.regions import Source

LISTED_COLUMNS = (
    "provider", "region", "instance_type", "accelerator", "accelerator_count", "vcpus", "memory_gib", "purchase_option",
    "price_usd_per_hour", "as_of", "source",
)  # fmt: skip


def derive_listed_rows(
    rows: Sequence[TableRow], providers: Container[str], sources: Mapping[str, Source], columns: Sequence[str]
) -> tuple[list[TableRow], list[TableRow]]:
    """The rows of offerings (with `columns`), each type once, and of prices. Rows of providers without a folder are
    left."""
    offerings: dict[tuple[str, str], TableRow] = {}
    prices = []
    for row in rows:
        if row.text("provider") not in providers:
            continue
        source = find_source(row, sources)
        name = row.text("instance_type")
        hardware = {column: row.values[column] for column in columns if column in row.values}
        own = {"family": _family(row), "status": "current", "source_ids": source.source_id}
        offering = TableRow(row.path, row.line, {**dict.fromkeys(columns, ""), **hardware, **own}, row.faults)
        first = offerings.setdefault((row.values["provider"], name), offering)
        if any(first.values[column] != offering.values[column] for column in hardware):
            row.fault(f"{name} has other hardware than in line {first.line}")
        dated = row.values["as_of"] if len(row.values["as_of"]) == len("2026-01-01") else str(source.as_of)
        terms = {"as_of": dated, "source_id": source.source_id, "method": "listed", "note": ""}
        prices.append(TableRow(row.path, row.line, {**row.values, **terms}, row.faults))
    return list(offerings.values()), prices


def find_source(row: TableRow, sources: Mapping[str, Source]) -> Source:
    """The curated source of that reference; a text that none has is a fault."""
    written = row.text("source")
    for source in sources.values():
        if source.reference == written:
            return source
    row.fault(f"source {written!r} is the reference of no source in sources.csv")
    return next(iter(sources.values()))


def _family(row: TableRow) -> str:
    """The accelerator without its memory: a cloud of one type a model has no other families."""
    return re.sub(r"-\d+GB.*$", "", row.text("accelerator"))
