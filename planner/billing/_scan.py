"""One pass of the engine over a file: rows that agree in all that matters become one group with its sums.

The only module that runs queries. Rows that cannot name an accelerator keep only what they are charged for, so that
the number of groups stays small whatever the file; what does not fit in memory is spilled to a temporary folder.
"""

from __future__ import annotations

import csv
import json
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.billing._lines import differ, rewrite
from planner.billing._open import NotABill, Table, reason_of
from planner.billing._sql import select, text_of
from planner.billing.bill import Refused
from planner.billing.exports import Fields

MEMORY = "1GB"
EXAMPLES = 3
APART = "\x1f"
"""Stands between the texts of a group."""
Progress = Callable[[float], None]
"""Called with the fraction of the file that is read."""


FAULT = """CASE WHEN cost IS NULL THEN 'no cost'
    WHEN billed IS NULL OR NOT isfinite(billed) OR abs(billed) > 1e15 THEN 'its cost is no number'
    WHEN coalesce(day, '') = '' THEN 'no date' END"""
SUMMED = """fault, charge, provider, option, commitment, currency, day, named,
    CASE WHEN named OR commitment IS NOT NULL THEN account END AS account,
    CASE WHEN named OR commitment IS NOT NULL THEN region END AS region,
    CASE WHEN named OR unused IS NOT NULL THEN unit END AS unit,
    CASE WHEN named THEN texts END AS texts,
    CASE WHEN named THEN tags END AS tags,
    CASE WHEN named OR commitment IS NOT NULL THEN details END AS details,
    count(*), {quantity}, {unused}, {billed}, CASE WHEN count(effective) = count(*) THEN {effective} END, {credit},
    max("end"), min(CASE WHEN billed IS NULL OR NOT isfinite(billed) THEN cost END)""".format_map(
    {each: f"CAST(sum(try_cast({each} AS DECIMAL(38, 12))) AS DOUBLE)"
     for each in ("quantity", "unused", "billed", "effective", "credit")}
)  # fmt: skip
"""What a group is told by, and its sums, in the order of `_told`. Sums are of decimals: the same in any order."""
MALFORMED = """SELECT lower(error_type), count(DISTINCT line), list(DISTINCT line ORDER BY line)[:3] FROM reject_errors
    WHERE (line, error_type) IN (SELECT line, min(error_type) FROM reject_errors GROUP BY line) GROUP BY 1 ORDER BY 1"""
"""Lines by what is wrong with them; one that is wrong twice is counted once."""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that agree, with sums; `named` tells whether they may name an accelerator. None: not told by any row.
    `end` is the latest end of a charge period, as written."""

    charge: str
    provider: str
    option: str
    commitment: str
    currency: str
    day: str
    named: bool
    account: str
    region: str
    unit: str
    texts: tuple[str, ...]
    tags: str
    details: dict[str, Any]
    rows: int
    quantity: float | None
    unused: float | None
    billed: float
    effective: float | None
    credit: float
    end: str


@dataclass(frozen=True, slots=True)
class Scan:
    """All groups of a file, and the rows that are in none."""

    groups: tuple[Group, ...]
    refused: tuple[Refused, ...]
    rows_in: int


def scan(table: Table, pattern: str, progress: Progress | None = None, memory: str = MEMORY) -> Scan:
    """Read the whole file. `pattern` (RE2, any case) finds in a row's texts what may be an accelerator.

    Raises NotABill where the engine cannot read it at all.
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
        try:
            table, link = _placed(table, Path(folder).resolve())
            with _engine(folder, table.path, memory) as engine, _watched(engine, progress):
                found = engine.execute(query(table, str(link), pattern)).fetchall()
                malformed = _malformed(engine) if table.kind == "csv" else ()
        except duckdb.OutOfMemoryException:
            raise NotABill(f"its rows differ in too many names to be summed in {memory} of memory") from None
        except (duckdb.Error, csv.Error, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise NotABill(f"cannot be read: {reason_of(error)}") from None
    return _told(found, malformed)


def _placed(table: Table, folder: Path) -> tuple[Table, Path]:
    """The table under a name that the engine does not expand; written anew where its line ends differ."""
    link = folder / table.link
    if table.kind == "csv" and differ(table.path, compressed=table.compressed):
        plain = folder / "plain.csv"
        rewrite(table.path, plain, compressed=table.compressed, encoding=table.encoding, separator=table.separator)
        return replace(table, compressed=False, encoding="utf-8"), plain
    link.symlink_to(table.path.absolute())
    return table, link


def query(table: Table, at: str, pattern: str) -> str:
    """The one query: normalise, refuse, group."""
    fields = table.export.fields(table.columns)
    named = f"coalesce(regexp_matches(texts, {text_of(pattern)}, 'i'), false)"
    told = select(_normalised(fields), table.rows(at))
    seen = select(f"*, {FAULT} AS fault, {named} AS named", told)
    return f"{select(SUMMED, seen)[1:-1]} GROUP BY ALL ORDER BY ALL"


def _normalised(fields: Fields) -> str:
    texts = f"concat_ws({text_of(APART)}, {', '.join(fields.texts)})"
    start = fields.start
    day = rf"CASE WHEN substr({start}, 5, 1) = '-' THEN left({start}, 10) ELSE regexp_extract({start}, '^[^ T]+') END"
    parts = {
        "charge": fields.charge, "provider": fields.provider, "option": fields.option,
        "commitment": fields.commitment, "currency": f"upper(trim({fields.currency}))", "day": day,
        "account": fields.account, "region": fields.region, "unit": fields.unit, "texts": texts,
        "tags": fields.tags, "details": fields.details, '"end"': fields.end, "quantity": fields.quantity,
        "unused": fields.unused, "billed": fields.billed, "effective": fields.effective, "credit": fields.credit,
        "cost": fields.cost,
    }  # fmt: skip
    return ", ".join(f"{expression} AS {name}" for name, expression in parts.items())


def _told(found: list[tuple[Any, ...]], malformed: tuple[Refused, ...]) -> Scan:
    groups: list[Group] = []
    faults: dict[str, list[tuple[int, str]]] = {}
    for fault, *names, rows, quantity, unused, billed, effective, credit, end, wrong in found:
        if fault:
            faults.setdefault(fault, []).append((rows, str(wrong or "")))
            continue
        charge, provider, option, commitment, currency, day, named, account, region, unit, texts, tags, details = names
        groups.append(
            Group(charge, provider or "", option or "", commitment or "", currency or "", day, named, account or "",
                  region or "", unit or "", tuple((texts or "").split(APART)), tags or "",
                  json.loads(details) if details else {}, rows, quantity, unused, billed, effective, credit, end or "")
        )  # fmt: skip
    refused = [
        Refused(fault, sum(rows for rows, _ in rows_of), tuple(sorted({w for _, w in rows_of if w}))[:EXAMPLES])
        for fault, rows_of in sorted(faults.items())
    ]
    refused += malformed
    return Scan(tuple(groups), tuple(refused), sum(g.rows for g in groups) + sum(r.rows for r in refused))


@contextmanager
def _engine(folder: str, file: Path, memory: str) -> Iterator[Any]:
    """An engine that reads `file`, writes inside `folder` alone, loads nothing and goes nowhere."""
    import duckdb

    with duckdb.connect(config={"memory_limit": memory, "temp_directory": f"{Path(folder).resolve()}/spill"}) as engine:
        engine.execute("SET preserve_insertion_order = false")
        engine.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        engine.execute("SET autoinstall_known_extensions = false; SET autoload_known_extensions = false")
        engine.execute(f"SET allowed_directories = [{text_of(str(Path(folder).resolve()))}]")
        engine.execute(f"SET allowed_paths = [{text_of(str(file.resolve()))}]")
        engine.execute("SET enable_external_access = false; SET lock_configuration = true")
        yield engine


def _malformed(engine: Any) -> tuple[Refused, ...]:
    """The lines that are no row of this table, by what is wrong, with the numbers of the first."""
    rows = engine.execute(MALFORMED).fetchall()
    return tuple(Refused(f"no row of the table: {kind}", n, tuple(f"line {x}" for x in at)) for kind, n, at in rows)


@contextmanager
def _watched(engine: Any, progress: Progress | None) -> Iterator[None]:
    """Tells `progress` how far the query is, about twice a second, while it runs."""
    if progress is None:
        yield
        return
    done = threading.Event()

    def tell() -> None:
        while not done.wait(0.5):
            fraction = engine.query_progress()
            if 0 <= fraction < 100:
                progress(fraction / 100)

    watcher = threading.Thread(target=tell, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
