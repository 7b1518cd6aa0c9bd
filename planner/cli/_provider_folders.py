"""Behind `planner cloud`: creates, checks and lists the price folders of the user's own clouds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from planner.cli._exit_codes import DONE
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog import data_folder
from pricing.catalog.price_catalog import EMBEDDED_LAYOUT
from pricing.catalog.snapshot_tables import (
    OFFERING_COLUMNS,
    PRICE_COLUMNS,
    REGION_COLUMNS,
    SOURCE_COLUMNS,
    TIER_COLUMNS,
    Snapshot,
    read_provider_facts,
    read_snapshot,
)
from pricing.counted_nouns import format_count
from pricing.csv_tables import find_nearest_names, quote_toml_strings
from pricing.errors import InvalidSnapshot
from pricing.imports.importable_files import PROVIDER_NAME
from pricing.providers import CatalogLayout, find_plug_in_folders, find_plug_in_packages, find_provider_folders
from pricing.text_tables import align_columns
from pricing.transfer_storage_prices import TIER_ITEMS

TABLES = {
    "offerings.csv": OFFERING_COLUMNS,
    "prices.csv": PRICE_COLUMNS,
    "regions.csv": REGION_COLUMNS,
    "sources.csv": SOURCE_COLUMNS,
    "tiers.csv": TIER_COLUMNS,
}
PROVIDER = """\
name = {name}
title = {title} # in reports
home_page = "" # page of its price list
currency = {currency} # of its price list; other than USD needs exchange rates, see docs/guides/own-cloud.md
billing_increment_seconds = 1 # granularity of billing
billing_minimum_seconds = 0 # minimal billed time
terraform_module = "" # a folder of modules beside this file, or aws; empty: its nodes are left out of the Terraform

[reference_regions] # regions whose prices stand in for missing ones, labelled as estimates
# egress_internet = "here-1"
"""
README = """\
# {title}

Prices of a cloud that the package lacks. Fill in the tables, then run: planner cloud check {name}

An empty cell is an unknown value, not zero; dates have the form 2026-11-21; every row refers to a source.
The tables allow no comments and no renamed columns.

{columns}
"""
TABLE_NOTES = {
    "offerings.csv": (
        "one line per instance type, with the resources of one node. accelerator is a canonical name (see planner"
        " offers; add a missing one in an accelerators.csv of this folder); status is current, legacy or retired;"
        " part is no."
    ),
    "prices.csv": (
        "one line per region, type and purchase option. purchase_option: on_demand, spot, reserved_1y,"
        " reserved_3y_no_upfront, committed_use_1y ...; price_per_hour is for the whole node, Linux, before tax, of a"
        " commitment the effective rate over its term; method is listed (published by the source) or derived (as"
        " described in note)."
    ),
    "regions.csv": (
        "one line per region. country is two capitals such as DE, empty if unknown: residency rules then exclude it;"
        " blocs such as EU EEA, separated by spaces."
    ),
    "sources.csv": "the page, quote or contract of each source_id; as_of is the day it was read.",
    "tiers.csv": (
        f"storage and egress per GB, by step from from_gb (the first is 0). item is one of {', '.join(TIER_ITEMS)}; the"
        " table may be empty: workloads with stored or transferred data are then not priced here."
    ),
}
"""The description of each table in the README of a new folder."""


def create_folder(name: str, title: str, currency: str) -> int:
    """Create a folder of empty tables in the data folder; an existing folder is a problem."""
    data = data_folder.user_data_folder()
    target = data / "providers" / name
    existing = dict(EMBEDDED_LAYOUT.replaced(find_plug_in_folders()).folders)
    faults = []
    if not PROVIDER_NAME.fullmatch(name):
        faults.append(InputProblem("", "NAME", "no name of a provider", name, "lower-case letters, digits and dashes"))
    elif target.exists():
        faults.append(InputProblem("", "NAME", f"{target} already exists", name, "another name"))
    elif name in existing:
        faults.append(InputProblem("", "NAME", "that provider already exists", name, "another name"))
    if not re.fullmatch(r"[A-Z]{3}", currency):
        faults.append(InputProblem("", "--currency", "no currency", currency, "a code of three capitals such as EUR"))
    if faults:
        raise InvalidRequest(tuple(faults))
    try:
        write_tables(target, name, title or name, currency)
    except OSError as error:
        text = f"{target} cannot be written"
        raise InvalidRequest((InputProblem("", "NAME", text, error.strerror or str(error)),)) from None
    click.echo(f"{target}: fill in its tables (see its README.md), then run: planner cloud check {name}")
    return DONE


def write_tables(target: Path, name: str, title: str, currency: str) -> None:
    """Write all files into a temporary folder, then rename it."""
    from tempfile import TemporaryDirectory

    target.parent.mkdir(parents=True, exist_ok=True)
    columns = "\n".join(
        f"- {table}: {TABLE_NOTES[table]}\n  Columns: {', '.join(columns)}." for table, columns in TABLES.items()
    )
    named, titled, in_currency = quote_toml_strings((name, title, currency))
    with TemporaryDirectory(dir=target.parent.parent, prefix=".new-") as temporary:
        folder = Path(temporary) / name
        folder.mkdir()
        text = PROVIDER.format(name=named, title=titled, currency=in_currency)
        (folder / "provider.toml").write_text(text, encoding="utf-8")
        (folder / "README.md").write_text(README.format(title=title, name=name, columns=columns), encoding="utf-8")
        for table, header in TABLES.items():
            (folder / table).write_text(",".join(header) + "\n", encoding="utf-8")
        folder.rename(target)


def check_folders(provider: str | None) -> int:
    """Read one provider, or all own clouds and plug-ins, first alone and then with all others; InvalidSnapshot with
    every problem."""
    data = data_folder.user_data_folder()
    if provider is None:
        # own clouds and plug-ins, by name: the providers that add to the embedded ones or replace one
        added = {**dict(find_plug_in_folders()), **{path.name: path for path in find_provider_folders(data)}}
        folders, faults = sorted(added.items()), [*_find_ignored_providers(data)]
    else:
        folders, faults = [_resolve_folder(provider, data)], []
    snapshots = []
    for name, path in folders:
        try:
            snapshots.append((path, read_snapshot(CatalogLayout(EMBEDDED_LAYOUT.data, ((name, path),)))))
        except InvalidSnapshot as bad:
            faults += bad.faults
    if not faults and folders:
        try:
            # two clouds may not give one name different meanings
            read_snapshot(data_folder.current_layout(EMBEDDED_LAYOUT, data).replaced(folders))
        except InvalidSnapshot as bad:
            faults += bad.faults
    if faults:
        raise InvalidSnapshot(tuple(faults))
    in_use = [path for _, path in data_folder.base_layout(EMBEDDED_LAYOUT, data).folders]
    for path, snapshot in snapshots:
        for line in describe_folder(snapshot, path, in_use=path in in_use):
            click.echo(line)
    if not folders:
        click.echo(f"no cloud of your own in {data / 'providers'}: create one with planner cloud new NAME")
    return DONE


def _find_ignored_providers(data: Path) -> Iterator[str]:
    """Folders and plug-ins that every command ignores as incomplete; only this check reports them."""
    for name in _folders_without_provider_file(data):
        yield f"{name}/provider.toml: the file is missing, so every command ignores the folder"
    for name, package in _plug_ins_without_package():
        yield f"{name}: the plug-in refers to the package {package}, which is not installed"


def _folders_without_provider_file(data: Path) -> dict[str, Path]:
    """Provider folders without a provider.toml, by name."""
    there = sorted(path for path in (data / "providers").glob("[!.]*") if path.is_dir())
    return {path.name: path for path in there if not (path / "provider.toml").is_file()}


def _plug_ins_without_package() -> list[tuple[str, str]]:
    """Plug-ins whose package is not installed, with its name."""
    return [(name, package) for name, package in find_plug_in_packages() if name not in dict(find_plug_in_folders())]


def _resolve_folder(provider: str, data: Path) -> tuple[str, Path]:
    """Provider name and folder for a name or a path."""
    path = Path(provider)
    known = {**dict(data_folder.base_layout(EMBEDDED_LAYOUT, data).folders), **_folders_without_provider_file(data)}
    if provider in known and not path.is_dir():
        return provider, known[provider]
    if not path.is_dir() or not provider:
        near = find_nearest_names(provider, known)
        expected = f"nearest: {', '.join(near)}" if near else "the name of a provider, or a folder"
        message = f"neither a folder nor in {data / 'providers'}"
        raise InvalidRequest((InputProblem("", "NAME", message, provider, expected),))
    path = path.absolute()
    return str(read_provider_facts(path, []).get("name") or path.name), path


def describe_folder(snapshot: Snapshot, path: Path, *, in_use: bool) -> Iterator[str]:
    """The contents and gaps of a valid folder."""
    (provider,) = snapshot.providers
    yield f"{provider.name}: {provider.title}, {path}"
    nowhere = sum(not region.country for region in snapshot.regions)
    without = f"; {nowhere} without a country, which residency rules exclude" if nowhere else ""
    yield f"  {format_count(len(snapshot.regions), 'region')}{without}"
    parts = len({offering.accelerator for offering in snapshot.offerings})
    yield f"  {format_count(len(snapshot.offerings), 'type')} with {format_count(parts, 'accelerator')}"
    options = Counter(price.purchase_option for price in snapshot.prices)
    listed = ", ".join(f"{option} {count:,}" for option, count in sorted(options.items()))
    days = sorted({price.as_of for price in snapshot.prices})
    span = "" if not days else f", of {days[0]}" if len(days) == 1 else f", of {days[0]} to {days[-1]}"
    yield f"  {format_count(len(snapshot.prices), 'price')}{f': {listed}' if listed else ''}{span}"
    yield from _describe_gaps(snapshot)
    if in_use:
        yield "  valid, and in use by every command"
    else:
        yield f"  valid; to use it, copy it to {data_folder.user_data_folder() / 'providers' / provider.name}"


def _describe_gaps(snapshot: Snapshot) -> Iterator[str]:
    priced = {price.instance_type for price in snapshot.prices}
    unpriced = [o.instance_type for o in snapshot.offerings if o.instance_type not in priced and o.status != "retired"]
    if unpriced:
        yield f"  no price, so never planned: {', '.join(unpriced)}"
    uncounted = [o.instance_type for o in snapshot.offerings if o.accelerator_count is None]
    if uncounted:
        yield f"  no number of accelerators, so never planned: {', '.join(uncounted)}"
    missing = [item for item in TIER_ITEMS if item not in {tier.item for tier in snapshot.tiers}]
    if missing:
        yield f"  no price of {', '.join(missing)}"
    foreign = sorted(({p.currency for p in snapshot.prices} | {t.currency for t in snapshot.tiers}) - {"USD"})
    if foreign:
        yield f"  in {', '.join(foreign)}: plans in another currency need an exchange rate"


def list_providers() -> int:
    """Print every provider with its origin, its folder, and whether it can be refreshed."""
    from pricing.refresh.price_refresh import load_adapter

    data = data_folder.user_data_folder()
    own, plugged = {path.name for path in find_provider_folders(data)}, dict(find_plug_in_folders())
    rows = []
    for name, path in data_folder.base_layout(EMBEDDED_LAYOUT, data).folders:
        origin = "own" if name in own else "plug-in" if name in plugged else data_folder.EMBEDDED_ID
        facts = read_provider_facts(path, [])
        title = str(facts.get("title", "?"))
        origin += ", on request" if facts.get("on_request") else ""
        snapshot_id = next((each.id for each in data_folder.find_current_snapshot(name, path, data)), "")
        refresh = "yes" if load_adapter(name) else "import only"
        rows.append((name, title, origin, snapshot_id or "-", refresh, str(path)))
    rows += [
        (name, "?", "plug-in", "-", "no", f"the package {package} is not installed")
        for name, package in _plug_ins_without_package()
    ]
    for line in align_columns(("provider", "title", "origin", "snapshot in use", "refresh", "folder"), rows):
        click.echo(line)
    return DONE


def suggest_removal(faults: Iterable[str]) -> Iterator[str]:
    """For each own cloud or plug-in that has a problem, a command that disables it."""
    data = data_folder.user_data_folder()
    concerned = {fault.partition("/")[0] for fault in faults}
    for path in find_provider_folders(data):
        if path.name in concerned:
            yield f"  to continue without {path.name}: mv '{path}' '{data / path.name}.aside'"
    for name, path in find_plug_in_folders():
        if path.name in concerned:
            yield f"  to continue without {name}: uninstall the plug-in that provides {path}"
