"""Scans a billing file in one pass of the engine and groups its rows, with sums.

The only module that runs queries. Rows that cannot name an accelerator are grouped by their kind of charge alone, so
that the number of groups stays small for every file; the engine spills to a temporary folder where memory is full.
"""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.inputs.bills.bill import RejectedRows
from planner.inputs.bills.export_columns import quote_name, quote_text, select
from planner.inputs.bills.export_detection import (
    DetectedExport,
    NotABill,
    first_error_line,
    has_mixed_line_ends,
    rewrite_line_ends,
)
from planner.inputs.bills.exports import Fields
from planner.inputs.sandbox import Progress
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass

MEMORY = "1GB"
SMALL_BYTES = 64 * 2**20
"""Files below it together are read by one thread."""
EXAMPLES = 3
DOUBLED_BELOW = 0.6
"""Share of different lines, as the engine estimates it to a few percent, below which a file may be doubled."""
LINES_MIN = 10
"""Different lines from which that is judged."""
TEXT_SEPARATOR = "\x1f"
"""Between the texts of a group."""


FAULT_SQL = """CASE WHEN cost IS NULL THEN 'no cost'
    WHEN billed IS NULL OR NOT isfinite(billed) OR abs(billed) > 1e15 THEN 'its cost is not a number'
    WHEN coalesce(day, '') = '' THEN 'no date' END"""
GROUP_SQL = """fault, charge, provider, option, commitment, currency, day, named,
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
"""The keys and the sums of a group, as `_collect_groups` reads them. Decimals make sums independent of row order."""
MALFORMED_SQL = """SELECT error, count(*), list(DISTINCT line ORDER BY line)[:3] FROM
    (SELECT lower(min(error_type)) AS error, line FROM reject_errors GROUP BY scan_id, file_id, line)
    GROUP BY 1 ORDER BY 1"""
"""Malformed lines by kind of error; a line with two errors counts once."""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Rows with the same keys, and their sums. `named`: they may name an accelerator. None: missing in every row.
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
class BillScan:
    """The groups of a file, and the rejected rows."""

    groups: tuple[RowGroup, ...]
    refused: tuple[RejectedRows, ...]
    rows_in: int
    note: str = ""


def scan(tables: Sequence[DetectedExport], pattern: str, progress: Progress | None = None) -> BillScan:
    """Reads the files of one export. `pattern` (RE2, any case) matches texts that may name an accelerator.

    Lines that are there twice count once: those of one line id, those that several files have, and those of a file that
    has every line twice. Raises NotABill where the engine cannot read it.
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="planner-bill-") as folder:
        try:
            linked = [_link_table(table, Path(folder).resolve(), index) for index, table in enumerate(tables)]
            export, paths = unite_tables(linked), [table.path for table in tables]
            with _open_engine(folder, paths) as engine, _report_progress(engine, progress):
                distinct, repeated = find_distinct_lines(engine, export)
                engine.execute("DROP TABLE IF EXISTS reject_errors; DROP TABLE IF EXISTS reject_scans")
                rows = engine.execute(build_query(export.fields, distinct, pattern)).fetchall()
                malformed = _malformed_rows(engine) if any(table.kind == "csv" for table in tables) else ()
        except duckdb.OutOfMemoryException:
            raise NotABill(f"its rows have too many different names to be summed in {MEMORY} of memory") from None
        except (duckdb.Error, csv.Error, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise NotABill(f"cannot be read: {first_error_line(error)}") from None
    if repeated:
        malformed = (*malformed, RejectedRows("a line that is there twice", repeated, ()))
    note = f"{format_count(repeated, 'line')} there twice, counted once" if repeated else ""
    return replace(_collect_groups(rows, malformed), note=note)


@dataclass(frozen=True, slots=True)
class UnitedExport:
    """The files of an export as one source of rows with the columns of all; `parts` is their number."""

    fields: Fields
    names: tuple[str, ...]
    rows: str
    parts: int


def unite_tables(linked: Sequence[tuple[DetectedExport, Path]]) -> UnitedExport:
    """The rows of all files, each with the number of its file in `part`."""
    first = linked[0][0]
    names = dict.fromkeys(name for table, _ in linked for name in table.columns.names)
    sources = (select(f"*, {part} AS part", table.rows(str(at))) for part, (table, at) in enumerate(linked))
    rows = " UNION ALL BY NAME ".join(select("*", source)[1:-1] for source in sources)
    fields = first.export.fields(replace(first.columns, names=tuple(names)))
    return UnitedExport(fields, tuple(names), f"({rows})", len(linked))


def find_distinct_lines(engine: Any, export: UnitedExport) -> tuple[str, int]:
    """The rows without repeated lines, and the number of those. Two rows are one line if all of their cells agree.

    Of a file without ids of lines only one in which every line is repeated is taken for doubled: equal lines may be
    two machines. A pass of its own, and further ones only where lines may be repeated.
    """
    keyed = select(f"*, hash(row({', '.join(map(quote_name, export.names))})) AS line_key", export.rows)
    is_exact = bool(export.fields.line) or export.parts > 1
    distinct_count = "count(DISTINCT line_key)" if is_exact else "approx_count_distinct(line_key)"
    total, about = engine.execute(select(f"count(*), {distinct_count}", keyed)[1:-1]).fetchone()
    if is_exact and about == total:
        return export.rows, 0
    if export.fields.line:
        kept = f"{export.fields.line} IS NULL OR nth = 1"
    elif export.parts > 1:
        kept = "nth_copy = 1"
    elif LINES_MIN <= about < DOUBLED_BELOW * total:
        copies = f"({select('count(*) AS copies', keyed)[1:-1]} GROUP BY line_key)"
        (least,) = engine.execute(select("min(copies)", copies)[1:-1]).fetchone()
        kept = f"nth * {least} <= copies"
    else:
        return export.rows, 0
    copied = select("*, row_number() OVER (PARTITION BY line_key, part) AS copy", keyed)
    numbers = """*, row_number() OVER (PARTITION BY line_key) AS nth, count(*) OVER (PARTITION BY line_key) AS copies,
        row_number() OVER (PARTITION BY line_key, copy) AS nth_copy"""
    distinct = select("*", select(numbers, copied), kept)
    (rows,) = engine.execute(select("count(*)", distinct)[1:-1]).fetchone()
    return (distinct, total - rows) if rows < total else (export.rows, 0)


def _link_table(table: DetectedExport, folder: Path, index: int) -> tuple[DetectedExport, Path]:
    """The table under a name without wildcards; rewritten where its line ends are mixed."""
    folder = folder / str(index)
    folder.mkdir()
    link = folder / table.link
    if table.kind == "csv" and has_mixed_line_ends(table.path, compressed=table.compressed):
        plain = folder / "plain.csv"
        rewrite_line_ends(
            table.path, plain, compressed=table.compressed, encoding=table.encoding, separator=table.separator
        )
        return replace(table, compressed=False, encoding="utf-8"), plain
    try:
        link.symlink_to(table.path.absolute())
    except OSError:  # Windows allows links to few, and some file systems have none
        shutil.copyfile(table.path, link)
    return table, link


def build_query(fields: Fields, rows: str, pattern: str) -> str:
    """The query over `rows`: normalise the columns, reject rows, group."""
    named = f"coalesce(regexp_matches(texts, {quote_text(pattern)}, 'i'), false)"
    normalised = select(_normalised_columns(fields), rows)
    checked = select(f"*, {FAULT_SQL} AS fault, {named} AS named", normalised)
    return f"{select(GROUP_SQL, checked)[1:-1]} GROUP BY ALL ORDER BY ALL"


def _normalised_columns(fields: Fields) -> str:
    texts = f"concat_ws({quote_text(TEXT_SEPARATOR)}, {', '.join(fields.texts)})"
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


def _collect_groups(rows_by_group: list[tuple[Any, ...]], malformed: tuple[RejectedRows, ...]) -> BillScan:
    groups: list[RowGroup] = []
    faults: dict[str, list[tuple[int, str]]] = {}
    for fault, *names, rows, quantity, unused, billed, effective, credit, end, example in rows_by_group:
        if fault:
            faults.setdefault(fault, []).append((rows, str(example or "")))
            continue
        charge, provider, option, commitment, currency, day, named, account, region, unit, texts, tags, details = names
        groups.append(
            RowGroup(charge, provider or "", option or "", commitment or "", currency or "", day, named, account or "",
                  region or "", unit or "", tuple((texts or "").split(TEXT_SEPARATOR)), tags or "",
                  json.loads(details) if details else {}, rows, quantity, unused, billed, effective, credit, end or "")
        )  # fmt: skip
    refused = [
        RejectedRows(fault, sum(rows for rows, _ in rows_of), tuple(sorted({w for _, w in rows_of if w}))[:EXAMPLES])
        for fault, rows_of in sorted(faults.items())
    ]
    refused += malformed
    return BillScan(tuple(groups), tuple(refused), sum(g.rows for g in groups) + sum(r.rows for r in refused))


@contextmanager
def _open_engine(folder: str, files: Sequence[Path]) -> Iterator[Any]:
    """An engine that may read `files` and write to `folder`, without extensions, other files or network access."""
    import duckdb

    inside = Path(folder).resolve()
    config: dict[str, Any] = {"memory_limit": MEMORY, "temp_directory": f"{inside}/spill"}
    if sum(each.stat().st_size for each in files) < SMALL_BYTES:
        config["threads"] = 1  # each thread has buffers beyond the limit: a damaged file of 0.3 MB took 1.9 GiB
    with duckdb.connect(config=config) as engine:
        engine.execute("SET preserve_insertion_order = false")
        engine.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        engine.execute("SET autoinstall_known_extensions = false; SET autoload_known_extensions = false")
        engine.execute(f"SET allowed_directories = [{quote_text(str(inside))}]")
        engine.execute(f"SET allowed_paths = [{', '.join(quote_text(str(each.resolve())) for each in files)}]")
        engine.execute("SET enable_external_access = false; SET lock_configuration = true")
        yield engine


def _malformed_rows(engine: Any) -> tuple[RejectedRows, ...]:
    """Malformed lines by kind of error, with the numbers of the first ones."""
    rows = engine.execute(MALFORMED_SQL).fetchall()
    return tuple(RejectedRows(f"malformed row: {kind}", n, tuple(f"line {x}" for x in at)) for kind, n, at in rows)


@contextmanager
def _report_progress(engine: Any, progress: Progress | None) -> Iterator[None]:
    """Calls `progress` about twice a second while the query runs."""
    if progress is None:
        yield
        return
    done = threading.Event()

    def poll_progress() -> None:
        while not done.wait(0.5):
            fraction = engine.query_progress()
            if 0 <= fraction < 100:
                progress(fraction / 100)

    watcher = threading.Thread(target=poll_progress, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
