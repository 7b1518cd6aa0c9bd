"""Reads the fact tables together with the files maintained by hand, and checks them. Writes nothing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pricing.accelerator import (
    ACCELERATOR_COLUMNS,
    ALIAS_COLUMNS,
    Accelerator,
    AcceleratorNames,
    parse_accelerator,
    parse_alias,
)
from pricing.catalog import snapshot_tables
from pricing.csv_tables import TableRow, read_rows
from pricing.errors import InvalidSnapshot, UnknownName
from pricing.fabric import Fabric
from pricing.providers import find_provider_folders
from pricing.regions import Source
from pricing.sale import SaleTerm
from pricing.transfer_storage_prices import TIER_ITEMS
from tools.importer.fabrics import FABRIC_FACT_COLUMNS, build_fabrics, derive_slice_prices, derive_slices
from tools.importer.listed_clouds import LISTED_COLUMNS, MACHINE_FACT_COLUMNS, build_machines, derive_listed_rows
from tools.importer.price_rows import exclude_prices, resolve_prices, select_newest, type_key
from tools.importer.sale_terms import SALE_TYPE_COLUMNS, SOLD_HOW_COLUMNS, build_sale_terms
from tools.importer.transfer_storage_tiers import GB_PER_STEP_UNIT

FACT_TABLES: dict[str, tuple[str, ...]] = {
    "accelerators.csv": (
        "name", "vendor", "architecture", "release_year", "memory_gib", "memory_bandwidth_gbs", "cores", "fp32_tflops",
        "tf32_tflops", "fp16_bf16_tflops", "fp8_tflops", "fp4_tflops", "tdp_w", "interconnect_gbs", "ecc", "class",
        "list_price_usd", "list_price_year", "source", "notes",
    ),
    "cpu_prices.csv": MACHINE_FACT_COLUMNS,
    "fabric.csv": FABRIC_FACT_COLUMNS,
    "grid_carbon.csv": ("provider", "region", "grid_gco2e_per_kwh", "carbon_free_share", "year", "source"),
    "neocloud_prices.csv": LISTED_COLUMNS,
    "offerings.csv": (
        "provider", "family", "instance_type", "accelerator", "accelerator_count", "accelerator_memory_gib", "vcpus",
        "memory_gib", "local_ssd_gb", "network_gbps", "interconnect", "status", "source_ids",
    ),
    "prices.csv": (
        "provider", "region", "instance_type", "purchase_option", "price_usd_per_hour", "as_of", "source_id", "method",
        "note",
    ),
    "price_history.csv": (
        "provider", "region", "instance_type", "purchase_option", "price_usd_per_hour", "first_seen", "source_id",
        "commit",
    ),
    "sources.csv": ("source_id", "repo", "path", "commit", "as_of", "gave"),
    "sold_how.csv": SOLD_HOW_COLUMNS,
    "systems.csv": (
        "name", "accelerator", "count", "max_power_kw", "rack_units", "list_price_usd", "list_price_year", "source",
        "notes",
    ),
    "term_prices.csv": (
        "provider", "region", "instance_type", "purchase_option", "price_usd_per_hour", "as_of", "source_id", "method",
        "note",
    ),
    "transfer_storage_prices.csv": ("provider", "region", "item", "unit", "tier", "price_usd", "as_of", "source_id"),
}  # fmt: skip
SUPERSEDED_TABLE = "price_history.csv"
COUNTED_TABLES = ("price_suspect.csv",)
"""Doubtful prices: counted, never imported."""

CURATED_FOLDER = Path(__file__).parent / "data" / "curated"
CURATED_TABLES: dict[str, tuple[str, ...]] = {
    "accelerators.csv": ACCELERATOR_COLUMNS,
    "excluded_prices.csv": ("provider", "region", "instance_type", "purchase_option", "why"),
    "offering_accelerators.csv": ("provider", "written", "instance_types", "name", "source"),
    "sale_types.csv": SALE_TYPE_COLUMNS,
    "servers.csv": snapshot_tables.SYSTEM_COLUMNS,
    "sources.csv": snapshot_tables.SOURCE_COLUMNS,
    "successors.csv": ("provider", "instance_type", "successor", "source_id"),
    "systems.csv": ("name", "sold", "price_as_of", "source"),
}
"""Tables maintained by hand. systems.csv adds to the systems of the facts; servers.csv has those missing there."""
CURATED_REGION_COLUMNS = ("region", "country")
MAX_SHARE_DENOMINATOR = 8
"""The finest fraction of an accelerator that any provider rents is an eighth."""

COUNTED_AS = {"-die": "die", "-board": "board"}
_SUFFIXES = re.compile(r"-(\d+(\.\d+)?GB|SXM\d?|PCIe|NVL|die|board|SE|WS|GDDR5|Ironwood)(?=-|$)")


@dataclass(frozen=True)
class Facts:
    """All rows, each with its file and line, and the additions from the curated tables."""

    folder: Path
    target: Path
    names: AcceleratorNames
    accelerators: list[Accelerator]
    sources: dict[str, Source]
    offerings: list[tuple[TableRow, str]]
    prices: list[tuple[TableRow, str]]
    systems: list[TableRow]
    tiers: list[TableRow]
    curated_systems: dict[str, TableRow]
    servers: list[TableRow]
    successors: dict[tuple[str, str], str]
    providers: dict[str, dict[str, Any]]
    regions: dict[str, list[TableRow]]
    superseded: list[tuple[TableRow, str]]
    suspect: int
    no_folder: int
    sold_how: list[TableRow]
    sale_types: list[TableRow]
    networks: list[TableRow]
    plain: list[TableRow]
    grids: list[TableRow]

    @property
    def options(self) -> set[tuple[str, str]]:
        """Provider and purchase option, by the name that the catalogue uses."""
        return {(row.values["provider"], option) for row, option in self.prices}

    @cached_property
    def sale(self) -> tuple[list[SaleTerm], dict[str, int]]:
        """The terms of sale, and how often each reason left something of the facts out."""
        names = {name: {row.values["region"]: row.values["name"] for row in its} for name, its in self.regions.items()}
        options = {name: facts.get("import", {}).get("options", {}) for name, facts in self.providers.items()}
        return build_sale_terms(self.sold_how, self.sale_types, self._types, names, options)

    @cached_property
    def fabrics(self) -> list[Fabric]:
        """How the nodes of each type are joined."""
        return build_fabrics(self.networks, self._types)

    @property
    def machines(self) -> list[dict[str, object]]:
        """The types without an accelerator, at each price."""
        return build_machines(self.plain, self.sources)

    @property
    def _types(self) -> dict[str, list[str]]:
        types: dict[str, list[str]] = {}
        for row, _ in self.offerings:
            types.setdefault(row.values["provider"], []).append(row.values["instance_type"])
        return types

    @classmethod
    def read(cls, folder: Path, target: Path, curated_folder: Path, faults: list[str]) -> Facts:
        """Reads and checks all tables. Problems are added to `faults`; the value is then unusable.

        Raises InvalidSnapshot at once if a whole table is unusable.
        """
        read = _read_tables(folder, target, curated_folder, faults)
        tables = {name: read[folder / name] for name in (*FACT_TABLES, *COUNTED_TABLES)}
        curated = {name: read[curated_folder / name] for name in CURATED_TABLES}
        own = {path.name: snapshot_tables.read_provider_facts(path, faults) for path in find_provider_folders(target)}
        faults += _provider_faults(target, own)
        own = {name: its for name, its in own.items() if "import" in its}  # others are made by `planner prices import`
        accelerators = _parse_accelerators(tables["accelerators.csv"], curated["accelerators.csv"], faults)
        aliases = [parse_alias(row) for row in read[target / "data" / "aliases.csv"]]
        names = AcceleratorNames(accelerators, [a for a in aliases if a])
        faults += names.faults()
        sources = _parse_sources(tables["sources.csv"], curated["sources.csv"])
        regions = {name: read[_regions_file(target, name)] for name in own}
        picked = _pick_rows(tables, curated["excluded_prices.csv"], own, sources)
        offerings = _resolve_offerings(picked.offered, curated["offering_accelerators.csv"], names, own)
        types = {type_key(row) for row, _ in offerings}
        prices = resolve_prices(picked.listed, types, own, regions, "as_of")
        superseded = resolve_prices([*tables[SUPERSEDED_TABLE], *picked.older], types, own, regions, "first_seen")
        dated = [row for row, _ in (*prices, *superseded)]
        _check_sources([*dated, *tables["transfer_storage_prices.csv"]], "source_id", sources)
        _check_sources([r for r, _ in offerings], "source_ids", sources)
        _check_accelerators(tables["systems.csv"], names)
        return cls(
            folder=folder,
            target=target,
            names=names,
            accelerators=list(names.by_name.values()),
            sources=sources,
            offerings=offerings,
            prices=prices,
            systems=tables["systems.csv"],
            tiers=tables["transfer_storage_prices.csv"],
            curated_systems={r.values["name"]: r for r in curated["systems.csv"]},
            servers=curated["servers.csv"],
            successors=_parse_successors(curated["successors.csv"], types, sources),
            providers=own,
            regions=regions,
            superseded=superseded,
            suspect=len(tables[COUNTED_TABLES[0]]) + picked.excluded,
            no_folder=picked.no_folder,
            sold_how=tables["sold_how.csv"],
            sale_types=curated["sale_types.csv"],
            networks=tables["fabric.csv"],
            plain=tables["cpu_prices.csv"],
            grids=tables["grid_carbon.csv"],
        )


class _PickedRows(NamedTuple):
    """The rows that the catalogue is made of: types, prices and superseded prices; the number of excluded prices and of
    rows of clouds without a folder."""

    offered: list[TableRow]
    listed: list[TableRow]
    older: list[TableRow]
    excluded: int
    no_folder: int


def _pick_rows(
    tables: dict[str, list[TableRow]], rules: list[TableRow], own: dict[str, dict[str, Any]], sources: dict[str, Source]
) -> _PickedRows:
    """The newest prices that no rule excludes, with TPU slices and clouds beside the three, of which a type without a
    price is left out."""
    slices = derive_slices(tables["fabric.csv"], tables["offerings.csv"])
    beside = tables["neocloud_prices.csv"]
    more, more_prices = derive_listed_rows(beside, own, sources, FACT_TABLES["offerings.csv"])
    listed, older = select_newest([*tables["prices.csv"], *tables["term_prices.csv"], *more_prices])
    listed, excluded = exclude_prices(listed, rules)
    priced = {type_key(row) for row in listed}
    offered = [*tables["offerings.csv"], *slices, *(row for row in more if type_key(row) in priced)]
    listed += derive_slice_prices(tables["fabric.csv"], slices, listed)
    return _PickedRows(offered, listed, older, excluded, len(beside) - len(more_prices))


def _read_tables(folder: Path, target: Path, curated_folder: Path, faults: list[str]) -> dict[Path, list[TableRow]]:
    """The rows of every table. Raises InvalidSnapshot with one fault for each file that is missing or lacks a column.

    Further checks stop there: every other fault would only follow from that one.
    """
    needed = {folder / name: columns for name, columns in FACT_TABLES.items()}
    needed |= {folder / name: () for name in COUNTED_TABLES}
    needed |= {_regions_file(target, path.name): CURATED_REGION_COLUMNS for path in find_provider_folders(target)}
    needed |= {target / "data" / "aliases.csv": ALIAS_COLUMNS}
    needed |= {curated_folder / name: columns for name, columns in CURATED_TABLES.items()}
    tables: dict[Path, list[TableRow]] = {}
    unusable: list[str] = []
    for path, columns in needed.items():
        before = len(faults)
        tables[path] = list(read_rows(path, columns, faults))
        unusable += faults[before:] if not tables[path] else []
    if unusable:
        raise InvalidSnapshot(tuple(unusable))
    return tables


def format_accelerator_count(row: TableRow, column: str) -> str:
    """A count as the catalogue writes it: 8, 1/6; empty if unknown. 0.167 is a sixth that the source rounded."""
    written = row.text(column, empty=True)
    if not written:
        return ""
    number = row.positive(column)
    if number >= 1 and number.is_integer():
        return str(int(number))
    exact = Fraction(number).limit_denominator(MAX_SHARE_DENOMINATOR)
    if abs(float(exact) - number) > 0.0005:
        row.fault(f"{column} is {written!r}, no whole number and no fraction down to 1/{MAX_SHARE_DENOMINATOR}")
    return str(exact)


def _provider_faults(target: Path, own: dict[str, dict[str, Any]]) -> list[str]:
    """Problems of each provider.toml that the import depends on."""
    problems = [] if own else [f"{target}: no provider folder with a provider.toml"]
    for name, facts in own.items():
        place = f"{name}/provider.toml"
        how = facts.get("import", {})
        if facts and not facts.get("currency"):
            problems.append(f"{place}: currency is missing")
        if how and how.get("step_unit") not in GB_PER_STEP_UNIT:
            problems.append(
                f"{place}: import.step_unit is {how.get('step_unit')!r}, expected {' or '.join(GB_PER_STEP_UNIT)}"
            )
        for rule in how.get("tiers", []):
            if missing := [key for key in ("item", "fact", "kind", "steps") if key not in rule]:
                problems.append(f"{place}: an import.tiers entry has no {', '.join(missing)}")
            elif rule["item"] not in TIER_ITEMS:
                problems.append(
                    f"{place}: import.tiers item is {rule['item']!r}, expected one of {', '.join(TIER_ITEMS)}"
                )
    return problems


def _regions_file(target: Path, provider: str) -> Path:
    return target / "providers" / provider / "regions.csv"


def _parse_accelerators(rows: list[TableRow], curated_rows: list[TableRow], faults: list[str]) -> list[Accelerator]:
    parsed = [_parse_accelerator(row) for row in rows] + [parse_accelerator(row) for row in curated_rows]
    times = Counter(accelerator.name for accelerator in parsed if accelerator)
    faults += [
        f"accelerators.csv: {name} is listed {n} times, in the facts or the curated rows"
        for name, n in times.items()
        if n > 1
    ]
    return [accelerator for accelerator in parsed if accelerator]


def _parse_accelerator(row: TableRow) -> Accelerator | None:
    renamed = {
        **row.values,
        "model": _SUFFIXES.sub("", row.values["name"]),
        "fp16_tflops": row.values["fp16_bf16_tflops"],
        "device_class": row.values["class"],
        "counted_as": _counted_as(row.values["name"], row.values["class"], row.values["notes"]),
        "list_price": row.values["list_price_usd"],
    }
    return parse_accelerator(TableRow(row.path, row.line, renamed, row.faults))


def _counted_as(name: str, device_class: str, notes: str) -> str:
    for ending, unit in COUNTED_AS.items():
        if name.endswith(ending):
            return unit
    if notes.startswith("per module"):
        return "module"
    return {"tpu": "chip", "cpu": "socket"}.get(device_class, "device")


def _parse_sources(rows: list[TableRow], curated_rows: list[TableRow]) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for row in rows:
        reference = " ".join(part for part in (row.text("repo"), row.values["path"], row.values["commit"]) if part)
        renamed = TableRow(row.path, row.line, {**row.values, "reference": reference}, row.faults)
        _add_source(sources, renamed, snapshot_tables.parse_source(renamed))
    for row in curated_rows:
        _add_source(sources, row, snapshot_tables.parse_source(row))
    return sources


def _add_source(sources: dict[str, Source], row: TableRow, source: Source | None) -> None:
    if source and sources.setdefault(source.source_id, source) is not source:
        row.fault(f"source {source.source_id!r} is listed twice")


def _resolve_offerings(
    rows: list[TableRow], decided: list[TableRow], names: AcceleratorNames, own: dict[str, dict[str, Any]]
) -> list[tuple[TableRow, str]]:
    for row in decided:
        if row.text("name") not in names.by_name:
            row.fault(f"accelerator {row.values['name']!r} is unknown")
    resolved, listed_types = [], set()
    for row in rows:
        if row.text("provider") not in own:
            row.fault(f"provider {row.values['provider']!r} has no folder with a provider.toml")
        if type_key(row) in listed_types:
            row.fault(f"{' '.join(type_key(row))} is listed twice")
        listed_types.add(type_key(row))
        format_accelerator_count(row, "accelerator_count")
        resolved.append((row, _accelerator_name(row, decided, names)))
    return resolved


def _accelerator_name(row: TableRow, decided: list[TableRow], names: AcceleratorNames) -> str:
    """The canonical name: from the curated row of this type if a short name is ambiguous, else from the name."""
    for rule in decided:
        values = rule.values
        if (values["provider"], values["written"]) == (
            row.values["provider"],
            row.values["accelerator"],
        ) and fnmatchcase(row.values["instance_type"], values["instance_types"]):
            return values["name"]
    try:
        return names.resolve(row.text("accelerator")).name
    except UnknownName as unknown:
        row.fault(str(unknown))
        return ""


def _check_accelerators(systems: list[TableRow], names: AcceleratorNames) -> None:
    for row in systems:
        if row.text("accelerator") not in names.by_name:
            row.fault(f"accelerator {row.values['accelerator']!r} is unknown")


def _check_sources(rows: list[TableRow], column: str, sources: dict[str, Source]) -> None:
    for row in rows:
        if unknown := [part for part in row.text(column).split("+") if part not in sources]:
            row.fault(f"{column} {', '.join(unknown)!r} is not in sources.csv")


def _parse_successors(
    rows: list[TableRow], types: set[tuple[str, str]], sources: dict[str, Source]
) -> dict[tuple[str, str], str]:
    successors = {}
    for row in rows:
        for name in (row.text("instance_type"), row.text("successor")):
            if (row.values["provider"], name) not in types:
                row.fault(f"instance type {name!r} of {row.values['provider']!r} is not among the offerings")
        if row.text("source_id") not in sources:
            row.fault(f"source_id {row.values['source_id']!r} is unknown")
        successors[type_key(row)] = row.values["successor"]
    return successors
