"""Behind `planner cloud`: a folder of one's own prices is begun, judged and found; and set aside where it is faulty."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from planner.cli._run import DONE
from planner.cli._tables import aligned
from planner.errors import Complaint, InvalidRequest
from pricing import local
from pricing.catalog import EMBEDDED
from pricing.errors import BadSnapshot
from pricing.place import ITEMS
from pricing.providers import Layout, plug_in_packages, plug_ins, walk
from pricing.snapshot import (
    OFFERING_COLUMNS,
    PRICE_COLUMNS,
    REGION_COLUMNS,
    SOURCE_COLUMNS,
    TIER_COLUMNS,
    Snapshot,
    provider_facts,
    read,
)
from pricing.table import nearest, quoted

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
TABLES = {
    "offerings.csv": OFFERING_COLUMNS,
    "prices.csv": PRICE_COLUMNS,
    "regions.csv": REGION_COLUMNS,
    "sources.csv": SOURCE_COLUMNS,
    "tiers.csv": TIER_COLUMNS,
}
PROVIDER = """\
name = {name}
title = {title} # what a reader sees
home_page = "" # where its prices can be looked up
currency = {currency} # of its price list; other than USD takes exchange rates, see docs/guides/own-cloud.md
billing_increment_seconds = 1 # how finely use is billed ...
billing_minimum_seconds = 0 # ... and what is billed at least
terraform_module = "" # none: a plan says that these nodes are left out of the Terraform

[reference_regions] # where an estimate looks when a region has no price of its own; always labelled as an estimate
# egress_internet = "here-1"
"""
README = """\
# {title}

Prices of a cloud that the planner does not ship. Fill the tables in, then: planner cloud check {name}

An empty cell is an unknown figure, never a zero; dates are 2026-11-21; every row names a source.
The tables are strict: no comments, no column renamed.

{columns}
"""
ABOUT = {
    "offerings.csv": (
        "one line an instance type: what one node gives. accelerator is a canonical name (planner offers shows them;"
        " one that is missing goes into an accelerators.csv of this folder); status is current, legacy or retired;"
        " part is no."
    ),
    "prices.csv": (
        "one line a region, type and purchase option. purchase_option: on_demand, spot, reserved_1y,"
        " reserved_3y_no_upfront, committed_use_1y ...; price_per_hour is for the whole node, Linux, before tax, of a"
        " commitment the effective rate over its term; method is listed (a source states it) or derived (note says"
        " from what)."
    ),
    "regions.csv": (
        "one line a region. country is two capitals such as DE, empty where unknown: no residency rule finds it"
        " then; blocs such as EU EEA, separated by spaces."
    ),
    "sources.csv": "what each source_id stands for: a page, a quote, a contract; as_of is the day it was read.",
    "tiers.csv": (
        f"storage and egress per GB, by step from from_gb (the first is 0). item is one of {', '.join(ITEMS)}; may stay"
        " without rows: work that moves or keeps data is then not priced here."
    ),
}
"""What is to be said of each table, in the README of a new folder."""


def create(name: str, title: str, currency: str) -> int:
    """Writes an empty folder of the right shape into the data folder; never into one that is there."""
    data = local.folder()
    target = data / "providers" / name
    taken = dict(EMBEDDED.replaced(plug_ins()).folders)
    faults = []
    if not NAME.fullmatch(name):
        faults.append(Complaint("", "NAME", "no name of a provider", name, "small letters, digits and dashes"))
    elif target.exists():
        faults.append(Complaint("", "NAME", f"{target} is there already", name, "another name"))
    elif name in taken:
        faults.append(Complaint("", "NAME", "that provider is there already", name, "another name"))
    if not re.fullmatch(r"[A-Z]{3}", currency):
        faults.append(Complaint("", "--currency", "no currency", currency, "a code of three capitals such as EUR"))
    if faults:
        raise InvalidRequest(tuple(faults))
    try:
        _write(target, name, title or name, currency)
    except OSError as error:
        text = f"{target} cannot be written"
        raise InvalidRequest((Complaint("", "NAME", text, error.strerror or str(error)),)) from None
    click.echo(f"{target}: fill in its tables as its README.md says, then: planner cloud check {name}")
    return DONE


def _write(target: Path, name: str, title: str, currency: str) -> None:
    """All files in a folder beside the others, then that folder in its place."""
    from tempfile import TemporaryDirectory

    target.parent.mkdir(parents=True, exist_ok=True)
    columns = "\n".join(
        f"- {table}: {ABOUT[table]}\n  Columns: {', '.join(columns)}." for table, columns in TABLES.items()
    )
    named, titled, in_currency = quoted((name, title, currency))
    with TemporaryDirectory(dir=target.parent.parent, prefix=".new-") as beside:
        folder = Path(beside) / name
        folder.mkdir()
        text = PROVIDER.format(name=named, title=titled, currency=in_currency)
        (folder / "provider.toml").write_text(text, encoding="utf-8")
        (folder / "README.md").write_text(README.format(title=title, name=name, columns=columns), encoding="utf-8")
        for table, header in TABLES.items():
            (folder / table).write_text(",".join(header) + "\n", encoding="utf-8")
        folder.rename(target)


def check(asked: str | None) -> int:
    """Reads one provider, or all own clouds and plug-ins, alone and beside the others; BadSnapshot with every fault."""
    data = local.folder()
    folders = _added(data) if asked is None else [_folder(asked, data)]
    faults = [] if asked is not None else _passed_over(data)
    found = []
    for name, path in folders:
        try:
            found.append((path, read(Layout(EMBEDDED.data, ((name, path),)))))
        except BadSnapshot as bad:
            faults += bad.faults
    if not faults and folders:
        try:
            read(local.layout(EMBEDDED, data).replaced(folders))  # two clouds may not mean different things by one name
        except BadSnapshot as bad:
            faults += bad.faults
    if faults:
        raise BadSnapshot(tuple(faults))
    in_use = [path for _, path in local.base(EMBEDDED, data).folders]
    for path, snapshot in found:
        for line in told(snapshot, path, in_use=path in in_use):
            click.echo(line)
    if not folders:
        click.echo(f"no cloud of your own in {data / 'providers'}: begin one with planner cloud new NAME")
    return DONE


def _added(data: Path) -> list[tuple[str, Path]]:
    """Own clouds and plug-ins, by name: what is in use beside the embedded providers, or instead of one."""
    return sorted({**dict(plug_ins()), **{path.name: path for path in walk(data)}}.items())


def _passed_over(data: Path) -> list[str]:
    """What was meant to be a provider and is none to any command: told here, since nothing else would."""
    text = "provider.toml: the file is missing, so no command takes the folder for a provider's"
    faults = [f"{name}/{text}" for name in _unread(data)]
    return faults + [
        f"{name}: the plug-in names the package {package}, which is not there" for name, package in _lost()
    ]


def _unread(data: Path) -> dict[str, Path]:
    """Folders beside the own clouds that have no provider.toml, by name."""
    there = sorted(path for path in (data / "providers").glob("[!.]*") if path.is_dir())
    return {path.name: path for path in there if not (path / "provider.toml").is_file()}


def _lost() -> list[tuple[str, str]]:
    """Plug-ins whose package is not found, with its name."""
    return [(name, package) for name, package in plug_in_packages() if name not in dict(plug_ins())]


def _folder(asked: str, data: Path) -> tuple[str, Path]:
    """The folder that a name or a path means, by the name of its provider."""
    path = Path(asked)
    known = {**dict(local.base(EMBEDDED, data).folders), **_unread(data)}
    if asked in known and not path.is_dir():
        return asked, known[asked]
    if not path.is_dir() or not asked:
        near = nearest(asked, known)
        expected = f"nearest: {', '.join(near)}" if near else "the name of a provider, or a folder"
        raise InvalidRequest((Complaint("", "NAME", f"neither a folder nor in {data / 'providers'}", asked, expected),))
    path = path.absolute()
    return str(provider_facts(path, []).get("name") or path.name), path


def told(snapshot: Snapshot, path: Path, *, in_use: bool) -> Iterator[str]:
    """What a folder that is right holds, and what it lacks."""
    (provider,) = snapshot.providers
    yield f"{provider.name}: {provider.title}, {path}"
    nowhere = sum(not region.country for region in snapshot.regions)
    without = f"; {nowhere} without a country, which no residency rule finds" if nowhere else ""
    yield f"  {_many(len(snapshot.regions), 'region')}{without}"
    parts = len({offering.accelerator for offering in snapshot.offerings})
    yield f"  {_many(len(snapshot.offerings), 'type')} with {_many(parts, 'accelerator')}"
    options = Counter(price.purchase_option for price in snapshot.prices)
    listed = ", ".join(f"{option} {count:,}" for option, count in sorted(options.items()))
    days = sorted({price.as_of for price in snapshot.prices})
    span = "" if not days else f", of {days[0]}" if len(days) == 1 else f", of {days[0]} to {days[-1]}"
    yield f"  {_many(len(snapshot.prices), 'price')}{f': {listed}' if listed else ''}{span}"
    yield from _lacking(snapshot)
    if in_use:
        yield "  right, and in use: no command needs to be told of it"
    else:
        yield f"  right; to use it, copy it to {local.folder() / 'providers' / provider.name}"


def _lacking(snapshot: Snapshot) -> Iterator[str]:
    priced = {price.instance_type for price in snapshot.prices}
    unpriced = [o.instance_type for o in snapshot.offerings if o.instance_type not in priced and o.status != "retired"]
    if unpriced:
        yield f"  no price, so never planned: {', '.join(unpriced)}"
    uncounted = [o.instance_type for o in snapshot.offerings if o.accelerator_count is None]
    if uncounted:
        yield f"  no number of accelerators, so never planned: {', '.join(uncounted)}"
    missing = [item for item in ITEMS if item not in {tier.item for tier in snapshot.tiers}]
    if missing:
        yield f"  no price of {', '.join(missing)}"
    foreign = sorted(({p.currency for p in snapshot.prices} | {t.currency for t in snapshot.tiers}) - {"USD"})
    if foreign:
        yield f"  in {', '.join(foreign)}: plans in another currency need an exchange rate"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def listed() -> int:
    """Every provider: where it comes from, where it lies, whether it can be refreshed."""
    from pricing.refresh import adapter_of

    data = local.folder()
    own, plugged = {path.name for path in walk(data)}, dict(plug_ins())
    rows = []
    for name, path in local.base(EMBEDDED, data).folders:
        origin = "own" if name in own else "plug-in" if name in plugged else local.EMBEDDED
        title = str(provider_facts(path, []).get("title", "?"))
        kept = next((kept.id for kept in local.in_use(name, path, data)), "")
        rows.append((name, title, origin, kept or "-", "yes" if adapter_of(name) else "import only", str(path)))
    rows += [(name, "?", "plug-in", "-", "no", f"no package {package} is there") for name, package in _lost()]
    for line in aligned(("provider", "title", "origin", "snapshot in use", "refresh", "folder"), rows):
        click.echo(line)
    return DONE


def aside(faults: Iterable[str]) -> Iterator[str]:
    """For each own cloud or plug-in that has a fault, how to go on without it."""
    data = local.folder()
    concerned = {fault.partition("/")[0] for fault in faults}
    for path in walk(data):
        if path.name in concerned:
            yield f"  to go on without {path.name}: mv '{path}' '{data / path.name}.aside'"
    for name, path in plug_ins():
        if path.name in concerned:
            yield f"  to go on without {name}: uninstall the plug-in that brings {path}"
