"""What a file to import is, told from its content, and what taking it in means. Nothing is written while it is judged.

A folder is one of fact tables. A table is known by its columns, whatever the file is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path

from pricing import exchange, local, private, view
from pricing.catalog import EMBEDDED, Catalog
from pricing.errors import BadSnapshot
from pricing.gate import Fetched
from pricing.importer import gpuhunt, skypilot
from pricing.importer.peers import Counted, fetched
from pricing.landing import Landed, land
from pricing.place import Source
from pricing.providers import Layout
from pricing.snapshot import names_of, read
from pricing.table import nearest, read_rows, write_atomically

MADE_BY = "planner prices import"
FACTS, PRIVATE, EXCHANGE = "fact tables", "private prices", "exchange rates"
PEERS = {module.NAME: module for module in (skypilot, gpuhunt)}
COLUMNS: Mapping[str, tuple[str, ...]] = {
    **{name: module.COLUMNS for name, module in PEERS.items()},
    PRIVATE: private.COLUMNS,
    EXCHANGE: exchange.COLUMNS,
}
"""By kind of table, the columns that it is known by."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The catalogue of another tool, read and not yet written."""

    provider: str
    fetched: Fetched
    counted: Counted

    def land(self, data: Path, day: date, accept: Mapping[str, str]) -> Landed:
        """Through the gate, into a snapshot; raises Failed where the gate refuses the whole."""
        return land(self.provider, self.fetched, data, made_by=MADE_BY, day=day, accept=accept)


def kind_of(path: Path) -> str:
    """FACTS, PRIVATE, EXCHANGE or the name of a tool in PEERS; raises BadSnapshot where it is none."""
    if path.is_dir():
        return FACTS
    header = _header(path)
    missing = {kind: [c for c in columns if c not in header] for kind, columns in COLUMNS.items()}
    for kind, absent in missing.items():
        if not absent:
            return kind
    near = min(missing, key=lambda kind: len(missing[kind]) / len(COLUMNS[kind]))
    if len(missing[near]) < len(COLUMNS[near]):
        raise BadSnapshot((f"{path}:1: taken for {near} it lacks the column {', '.join(missing[near])}",))
    known = "; ".join(f"{kind} ({','.join(columns)})" for kind, columns in COLUMNS.items())
    raise BadSnapshot((f"{path}:1: no kind of file that can be imported, its columns are known as none of: {known}",))


def provider_of(path: Path, kind: str, layout: Layout, given: str | None) -> str:
    """The provider that a tool's file is about: as given, else by its place; raises BadSnapshot where it is unknown."""
    known = [name for name, _ in layout.folders]
    place = path.absolute()
    name = given or PEERS[kind].provider(place.parent.name, place.stem)
    if name in known:
        return name
    if given is None:
        fault = f"{path}: whose prices these are is not told: neither --provider nor its place names a known provider"
        raise BadSnapshot((f"{fault} ({', '.join(known)})",))
    close = nearest(name, known)
    hint = f"; nearest: {', '.join(close)}" if close else ""
    advice = "make a cloud of your own of it first, see docs/guides/own-cloud.md"
    raise BadSnapshot((f"--provider {name}: no known provider{hint}; {advice}",))


def read_peer(path: Path, kind: str, provider: str, as_of: date, told: str, data: Path) -> Pending:
    """Reads and merges the file of another tool; raises BadSnapshot with every fault of the file.

    `told` is what to write as its source; empty for the file's name and checksum.
    """
    faults: list[str] = []
    module = PEERS[kind]
    rows = [module.listed(row) for row in read_rows(path, module.COLUMNS, faults)]
    if faults:
        raise BadSnapshot(tuple(faults))
    digest = sha256(path.read_bytes() + told.encode()).hexdigest()[:8]
    place = f"{path.absolute().parent.name}/{path.name}"
    reference = told or f"{module.TITLE} {place}, sha256 {digest}..."
    gave = "on-demand and spot prices, as that tool lists them; imported from a file"
    source = Source(f"{kind}-{provider}-{digest}", reference, as_of, gave)  # files of one day stay told apart
    layout = local.layout(EMBEDDED, data)
    own = Layout(layout.data, ((provider, dict(layout.folders)[provider]),))
    found, counted = fetched(provider, rows, read(own), names_of(own), as_of, source)
    return Pending(provider, found, counted)


def check_own(path: Path, kind: str) -> int:
    """How many rules or rates a file of private prices or exchange rates holds; raises BadSnapshot with every fault,
    names that the catalogue does not know included."""
    if kind == EXCHANGE:
        return len(exchange.Exchange.read(path).rates)
    catalog = Catalog.current(private_prices=path)
    if faults := view.faults_of_card(catalog):
        raise BadSnapshot(faults)
    return len(catalog.card.rules)


def copy_own(path: Path, kind: str, data: Path) -> tuple[Path, bool]:
    """Where in the data folder the file is used from now on, and whether that changed anything."""
    target = data / (local.PRIVATE_PRICES if kind == PRIVATE else local.EXCHANGE_RATES)
    content = path.read_bytes()
    changed = not target.is_file() or target.read_bytes() != content
    if changed:
        write_atomically(target, content)
    return target, changed


def _header(path: Path) -> list[str]:
    import csv

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except FileNotFoundError:
        raise BadSnapshot((f"{path}: there is no such file or folder",)) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadSnapshot((f"{path}: cannot be read as a table: {error}",)) from None
