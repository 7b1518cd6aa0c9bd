"""The compiled catalogue: CSV snapshots -> one indexed SQLite file in the user's cache, keyed by the CSVs' content.

Knows tables and files, not the meaning of a price. Any number of processes may compile at once: each writes its own
file and moves it into place. A file that is damaged is rebuilt; without a writable cache the database is in memory.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import date
from functools import cache
from operator import attrgetter
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from pricing.accelerator import Accelerator, Alias
from pricing.fabric import Fabric
from pricing.file_replacement import write_atomically
from pricing.machines import PlainMachine
from pricing.offering import Offering
from pricing.price import Price
from pricing.providers import CatalogLayout, list_catalog_files
from pricing.regions import GridCarbon, Provider, Region, Source
from pricing.retirement import EndedFamily
from pricing.sale import SaleTerm
from pricing.systems import ServerSystem
from pricing.transfer_storage_prices import Tier

if TYPE_CHECKING:
    from pricing.catalog.snapshot_tables import Snapshot

T = TypeVar("T")

VERSION = 11
"""Raised whenever the tables change, so that an older file is never read."""

SETTLED_NS = 5 * 10**9
"""How long ago the last change must be for a stamp; more than the coarsest tick of a file system's clock (2 s)."""

MAX_CACHED_FILES = 8
"""How many compiled catalogues stay in the cache; the oldest go."""

TABLE_NAMES: dict[type, str] = {
    Accelerator: "accelerators",
    Alias: "aliases",
    Provider: "providers",
    Region: "regions",
    Offering: "offerings",
    Price: "prices",
    Tier: "tiers",
    ServerSystem: "systems",
    Source: "sources",
    SaleTerm: "sale_terms",
    Fabric: "fabrics",
    EndedFamily: "ended_families",
    PlainMachine: "machines",
    GridCarbon: "grid_carbon",
}
"""The table of each kind of value; a snapshot has them under the same names."""
STORED_AS_THEY_ARE = frozenset({str, int, float, bool, type(None)})
"""Types of most cells: a catalogue has some hundred thousand."""
INDEXES = (
    "CREATE INDEX by_offering ON prices (offering)",
    "CREATE INDEX by_type ON sale_terms (provider, instance_type)",
)


def table_columns(kind: type) -> tuple[str, ...]:
    """A table's columns: the fields of its values, in order."""
    return tuple(f.name for f in fields(kind))


class CatalogDatabase:
    """One catalogue behind SQL; safe to share between threads that read. Opens, and compiles if needed."""

    def __init__(self, layout: CatalogLayout, cache: Path | None = None) -> None:
        self.layout = layout
        self.cache = cache_folder() if cache is None else cache
        self._lock = Lock()
        self._open_database()

    def _open_database(self) -> None:
        self.digest = self._find_digest()
        self.path = self.cache / f"catalog-{VERSION}-{self.digest}.sqlite"
        self._connection = _open_compiled(self.path) or self._compile_catalog()

    def _find_digest(self) -> str:
        """The files' digest, without reading them again where no file has changed since the last time."""
        stamp = stamp_catalog(self.layout)
        note = self.cache / f"seen-{VERSION}-{crc32(str(self.layout).encode()):08x}"
        if stamp:
            with suppress(OSError, ValueError):
                known, _, last_stamp = note.read_text(encoding="utf-8").partition("\n")
                if last_stamp == stamp:
                    return known
        digest = hash_catalog(self.layout)
        if stamp and stamp == stamp_catalog(self.layout):
            with suppress(OSError):
                write_atomically(note, f"{digest}\n{stamp}".encode())
        return digest

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows of a query; a file that turns out to be damaged is made again, once."""
        with self._lock:
            try:
                return self._connection.execute(sql, values).fetchall()
            except sqlite3.DatabaseError:
                with suppress(OSError):
                    self.path.unlink(missing_ok=True)
                self._open_database()
                return self._connection.execute(sql, values).fetchall()

    def table(self, kind: type[T]) -> list[T]:
        """All values of a kind, in the order of their file."""
        cells = self.rows(f"SELECT {', '.join(table_columns(kind))} FROM {TABLE_NAMES[kind]} ORDER BY rowid")  # noqa: S608 - constant names
        return list(decode_rows(kind, cells))

    def _compile_catalog(self) -> sqlite3.Connection:
        from pricing.catalog.snapshot_tables import read_snapshot

        connection = sqlite3.connect(":memory:", check_same_thread=False)
        fill_database(connection, read_snapshot(self.layout))
        return (_open_compiled(self.path) if self._write_file(connection) else None) or connection

    def _write_file(self, connection: sqlite3.Connection) -> bool:
        try:
            write_atomically(self.path, connection.serialize())
            _remove_old_files(self.cache)
        except OSError:
            return False
        return True


def cache_folder() -> Path:
    """The folder of compiled catalogues: XDG_CACHE_HOME or ~/.cache, below it gpu-planner."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if given.startswith("/"):
        return Path(given) / "gpu-planner"
    with suppress(RuntimeError):
        return Path.home() / ".cache" / "gpu-planner"
    return Path(os.devnull) / "gpu-planner"


def hash_catalog(layout: CatalogLayout) -> str:
    """A short hash of a catalogue: names and bytes of its tables; missing ones count as empty."""
    from hashlib import blake2b

    hashed = blake2b(digest_size=8)
    names = {path: name for name, path in layout.folders}
    for path in list_catalog_files(layout):
        content = b""
        with suppress(OSError):
            content = path.read_bytes()
        hashed.update(f"{names.get(path.parent, path.parent.name)}/{path.name}:{len(content)}\n".encode())
        hashed.update(content)
    return hashed.hexdigest()


def stamp_catalog(layout: CatalogLayout) -> str:
    """Place, size, times and inode of every file and provider folder: equal stamps, equal content. Empty if that
    is uncertain.

    A file that changed a moment ago may change again within the same tick of the clock, and one that is missing may
    come: then there is no stamp and the content is read. Any later change shows in the time of the change, which
    nobody sets (a restored or touched file has a new one).
    """
    lines, newest = [], 0
    for path in (
        *list_catalog_files(layout),
        *(path for _, path in layout.folders),
    ):  # a folder changes when a table comes
        try:
            file_stat = path.stat()
        except OSError:
            return ""
        newest = max(newest, file_stat.st_mtime_ns, file_stat.st_ctime_ns)
        lines.append(f"{path} {file_stat.st_size} {file_stat.st_mtime_ns} {file_stat.st_ctime_ns} {file_stat.st_ino}")
    return "\n".join(lines) if newest + SETTLED_NS < time_ns() else ""


def fill_database(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Puts a snapshot into an empty database. Prices of one offering lie together, each with its `offering` (counted
    from 0) and its `rank` among all prices."""
    for kind, name in TABLE_NAMES.items():
        extra = ", offering, rank" if kind is Price else ""
        connection.execute(f"CREATE TABLE {name} ({', '.join(table_columns(kind))}{extra})")
        rows = _price_rows(snapshot) if kind is Price else list(_encode_rows(kind, getattr(snapshot, name)))
        _insert_rows(connection, name, rows)
    for index in INDEXES:
        connection.execute(index)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.commit()
    connection.execute("PRAGMA optimize")


def _price_rows(snapshot: Snapshot) -> list[tuple[object, ...]]:
    numbers = {o.key: number for number, o in enumerate(snapshot.offerings)}
    ranked = sorted(
        snapshot.prices, key=lambda p: (p.price_per_hour, p.provider, p.region, p.instance_type, p.purchase_option)
    )
    rows = [
        (*cells, numbers[price.provider, price.instance_type], rank)
        for rank, (price, cells) in enumerate(zip(ranked, _encode_rows(Price, ranked), strict=True))
    ]
    return sorted(rows, key=lambda row: row[-2:])


def _insert_rows(connection: sqlite3.Connection, table: str, rows: Sequence[Sequence[object]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - constant names


def _encode_rows(kind: type, values: Iterable[object]) -> Iterator[tuple[object, ...]]:
    read_cells = attrgetter(*table_columns(kind))
    for value in values:
        yield tuple(cell if type(cell) in STORED_AS_THEY_ARE else _encode_cell(cell) for cell in read_cells(value))


def _encode_cell(value: object) -> object:
    """The form of a value in a table; `_READ` converts it back."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, tuple):
        return "\n".join(value)
    if isinstance(value, dict):
        return "\n".join(f"{key} {entry}" for key, entry in sorted(value.items()))
    return value


def decode_rows(kind: type[T], rows: Iterable[Sequence[Any]]) -> Iterator[T]:
    """The values of a kind from the cells of their columns."""
    converted = [(index, _READ[str(f.type)]) for index, f in enumerate(fields(kind)) if f.type in _READ]  # type: ignore[arg-type] # always a dataclass
    for row in rows:
        cells = list(row)
        for index, read in converted:
            cells[index] = read(cells[index])
        yield kind(*cells)


@cache
def parse_day(text: str) -> date:
    """A date, made once: every row of one snapshot shares it."""
    return date.fromisoformat(text)


_READ: dict[str, Callable[[Any], object]] = {
    "bool": bool,
    "bool | None": lambda cell: None if cell is None else bool(cell),
    "date": parse_day,
    "date | None": lambda cell: None if cell is None else parse_day(cell),
    "tuple[str, ...]": lambda cell: tuple(cell.splitlines()),
    "dict[str, str]": lambda cell: dict(line.split(" ", 1) for line in cell.splitlines()),
}
"""By the type of a field: its value from the cell, where they differ."""


def _open_compiled(path: Path) -> sqlite3.Connection | None:
    """The compiled file, read only and without locks (it is replaced, never changed); None where none can be used."""
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        whole = connection.execute("SELECT count(*) FROM prices").fetchone()[0] > 0
    except sqlite3.Error:
        return None
    return connection if version == VERSION and whole else None


def _remove_old_files(cache: Path) -> None:
    with suppress(OSError):
        compiled: Iterable[Path] = sorted(cache.glob("catalog-*.sqlite"), key=lambda p: p.stat().st_mtime, reverse=True)
        for old in list(compiled)[MAX_CACHED_FILES:]:
            old.unlink(missing_ok=True)
