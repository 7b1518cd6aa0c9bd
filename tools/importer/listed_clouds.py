"""Turns tables that give type and price in one row into rows of offerings and of prices, as the other fact tables have
them: of clouds beside the three, with one accelerator name and one source text in each row.

The source text of a row is the reference of a source, or begins with its name. A day that the row does not know is that
of the source.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import get_args

from pricing.csv_tables import TableRow
from pricing.machines import MACHINE_COLUMNS, MachineKind
from pricing.regions import Source

LISTED_COLUMNS = (
    "provider", "region", "instance_type", "accelerator", "accelerator_count", "vcpus", "memory_gib", "purchase_option",
    "price_usd_per_hour", "as_of", "source",
)  # fmt: skip


MACHINE_FACT_COLUMNS = (
    "provider", "region", "instance_type", "vcpus", "memory_gib", "kind", "fpga_count", "purchase_option",
    "price_usd_per_hour", "as_of", "source", "note",
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
    """The source that the text of a row names first, or whose reference it is; a text that does neither is a fault."""
    written = row.text("source")
    by_reference = {source.reference: source for source in sources.values()}
    source = sources.get(written.partition(" ")[0]) or by_reference.get(written)
    if source is not None:
        return source
    row.fault(f"source {written!r} names no source of sources.csv")
    return next(iter(sources.values()))


def _family(row: TableRow) -> str:
    """The accelerator without its memory: a cloud of one type a model has no other families."""
    return re.sub(r"-\d+GB.*$", "", row.text("accelerator"))


def build_machines(rows: Sequence[TableRow], sources: Mapping[str, Source]) -> list[dict[str, object]]:
    """The rows of machines without an accelerator, in the columns of the catalogue."""
    return [
        {
            **{column: row.values.get(column, "") for column in MACHINE_COLUMNS},
            "kind": row.one_of("kind", get_args(MachineKind)),
            **{column: row.number(column) for column in ("vcpus", "memory_gib", "fpga_count")},
            "price_per_hour": row.values["price_usd_per_hour"],
            "currency": "USD",
            "as_of": row.day("as_of"),
            "source_id": find_source(row, sources).source_id,
        }
        for row in rows
    ]
