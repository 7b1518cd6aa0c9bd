"""Builds the files of the catalogue from checked facts: columns, order and spelling of every table."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, fields
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from pricing.accelerator import ACCELERATOR_COLUMNS
from pricing.catalog import snapshot_tables
from pricing.csv_tables import format_sorted_table, quote_toml_strings
from pricing.fabric import FABRIC_COLUMNS
from pricing.machines import MACHINE_COLUMNS
from pricing.regions import GRID_CARBON_COLUMNS
from pricing.sale import SALE_COLUMNS
from pricing.snapshots.price_history import HISTORY_COLUMNS, HISTORY_FILE
from pricing.transfer_storage_prices import Tier
from tools.importer.fact_tables import FACT_TABLES, Facts, format_accelerator_count
from tools.importer.price_rows import check_outliers
from tools.importer.transfer_storage_tiers import build_tiers

MADE_BY = "planner prices import"


def build_catalog_files(facts: Facts) -> tuple[dict[str, bytes], int, dict[str, int]]:
    """Every file by its path below the target, the number of tier rows used, and of the others by reason."""
    check_outliers(facts.prices, facts.superseded)
    files = {
        "data/accelerators.csv": _accelerator_table(facts),
        "data/sources.csv": format_sorted_table(
            snapshot_tables.SOURCE_COLUMNS, (asdict(s) for s in facts.sources.values())
        ),
        "data/fabric.csv": format_sorted_table(FABRIC_COLUMNS, (asdict(fabric) for fabric in facts.fabrics)),
        "data/grid_carbon.csv": _grid_carbon_table(facts),
        "data/machines.csv": format_sorted_table(MACHINE_COLUMNS, facts.machines),
        "data/sale.csv": format_sorted_table(SALE_COLUMNS, (asdict(term) for term in facts.sale[0])),
        "data/systems.csv": _system_table(facts),
    }
    left: Counter[str] = Counter()
    unknown_rows = [row for row in facts.tiers if row.text("provider") not in facts.providers]
    for row in unknown_rows:
        row.fault(f"provider {row.values['provider']!r} has no folder with a provider.toml")
    for name, own in facts.providers.items():
        rows = [row for row in facts.tiers if row.values["provider"] == name]
        tiers = build_tiers(name, own, rows, facts.regions[name], left)
        tables = {
            "offerings.csv": _offering_table(facts, name),
            "prices.csv": _price_table(facts, name),
            "tiers.csv": format_sorted_table(
                snapshot_tables.TIER_COLUMNS, (_tier_row(t) for t in tiers), number=("from_gb",)
            ),
            **_history_table(facts, name),
        }
        files |= {f"providers/{name}/{file}": content for file, content in tables.items()}
        files[f"providers/{name}/snapshot.toml"] = _snapshot_manifest(facts, name, tables, tiers)
    return files, len(facts.tiers) - left.total(), dict(sorted(left.items()))


def _grid_carbon_table(facts: Facts) -> bytes:
    """The carbon intensity of the regions that the catalogue has."""
    known = {name: {row.values["region"] for row in rows} for name, rows in facts.regions.items()}
    rows = (row.values for row in facts.grids if row.text("region") in known.get(row.text("provider"), ()))
    return format_sorted_table(GRID_CARBON_COLUMNS, rows)


def _accelerator_table(facts: Facts) -> bytes:
    rows = [{**asdict(a), "ecc": {True: "yes", False: "no", None: ""}[a.ecc]} for a in facts.accelerators]
    return format_sorted_table(ACCELERATOR_COLUMNS, rows)


def _system_table(facts: Facts) -> bytes:
    rows: list[dict[str, Any]] = [dict(row.values) for row in facts.servers]
    for row in facts.systems:
        curated = facts.curated_systems.get(row.text("name"))
        year = row.values["list_price_year"]
        dated = curated.values["price_as_of"] if curated else ""
        rows.append(
            {
                "name": row.values["name"],
                "accelerator": row.values["accelerator"],
                "accelerator_count": row.text("count"),
                "max_power_kw": row.number("max_power_kw"),
                "rack_units": row.number("rack_units"),
                "price": row.number("list_price_usd"),
                "currency": "USD",
                "price_as_of": dated or (f"{year}-01-01" if year else ""),
                "source": "; ".join(filter(None, (row.text("source"), curated.values["source"] if curated else ""))),
                "notes": row.values["notes"]
                + ("" if dated or not year else f" (of the price only the year {year} is known)"),
                "sold": curated.values["sold"] if curated else "",
            }
        )
    return format_sorted_table(snapshot_tables.SYSTEM_COLUMNS, rows)


def _offering_table(facts: Facts, provider: str) -> bytes:
    parts = facts.providers[provider]["import"].get("parts", [])
    networks = {fabric.key: fabric.network_gbps for fabric in facts.fabrics}
    rows = []
    for row, accelerator in facts.offerings:
        values = row.values
        if values["provider"] != provider:
            continue
        successor = facts.successors.get((provider, values["instance_type"]), "")
        numbers = ("accelerator_memory_gib", "vcpus", "memory_gib", "local_ssd_gb", "network_gbps")
        rows.append(
            {
                **values,
                "accelerator": accelerator,
                "accelerator_count": format_accelerator_count(row, "accelerator_count"),
                **{column: row.number(column) for column in numbers},
                "network_gbps": networks.get((provider, values["instance_type"])) or row.number("network_gbps"),
                "interconnect": "" if values["interconnect"] == "none" else values["interconnect"],
                "status": "retired" if successor else values["status"],  # facts may be older than an end
                "successor": successor,
                "source_id": values["source_ids"],
                "part": "yes" if any(fnmatchcase(values["instance_type"], part) for part in parts) else "no",
            }
        )
    return format_sorted_table(snapshot_tables.OFFERING_COLUMNS, rows, key=("family", "instance_type"))


def _price_table(facts: Facts, provider: str) -> bytes:
    currency = facts.providers[provider]["currency"]
    rows = [
        {
            **row.values,
            "purchase_option": option,
            "price_per_hour": row.values["price_usd_per_hour"],
            "currency": currency,
            "method": row.values["method"].split()[0].rstrip(":;"),  # newer tables tell more after the word
        }
        for row, option in facts.prices
        if row.values["provider"] == provider
    ]
    return format_sorted_table(snapshot_tables.PRICE_COLUMNS, rows)


def _history_table(facts: Facts, provider: str) -> dict[str, bytes]:
    """The superseded prices of a provider, as a table of its folder; none where the facts have none."""
    rows = [
        {
            **row.values,
            "purchase_option": option,
            "price_per_hour": row.values["price_usd_per_hour"],
            "currency": facts.providers[provider]["currency"],
            "since": row.values["first_seen"],
            "note": f"commit {row.values['commit']}" if row.values["commit"] else "",
        }
        for row, option in facts.superseded
        if row.values["provider"] == provider
    ]
    return {HISTORY_FILE: format_sorted_table(HISTORY_COLUMNS, rows)} if rows else {}


def _tier_row(tier: Tier) -> dict[str, Any]:
    return {f.name: getattr(tier, f.name) for f in fields(tier)}


def _snapshot_manifest(facts: Facts, provider: str, tables: dict[str, bytes], tiers: list[Tier]) -> bytes:
    """The sources of the tables in this folder, without traces of the machine or time: same input, same bytes."""
    rows = [row for row, _ in facts.prices if row.values["provider"] == provider]
    offered = [row for row, _ in facts.offerings if row.values["provider"] == provider]
    dates = sorted({row.values["as_of"] for row in rows}) or ["", ""]
    used = {row.values["source_id"] for row in rows} | {t.source_id for t in tiers}
    used |= {part for row in offered for part in row.values["source_ids"].split("+")}
    lines = [
        f"# Made by `{MADE_BY}`; not to be edited.",
        f'made_by = "{MADE_BY}"',
        f'oldest = "{dates[0]}"',
        f'newest = "{dates[-1]}"',
        f"sources = [{', '.join(quote_toml_strings(sorted(used)))}]",
        "",
        "[rows]",
        f"offerings = {len(offered)}",
        f"prices = {len(rows)}",
        f"tiers = {len(tiers)}",
        "",
        "[sha256]",
        *(f'"{name}" = "{sha256(content).hexdigest()}"' for name, content in tables.items()),
        "",
        "[facts] # sha256 of the tables that were read",
        *(f'"{name}" = "{sha256((facts.folder / name).read_bytes()).hexdigest()}"' for name in FACT_TABLES),
    ]
    return ("\n".join(lines) + "\n").encode()
