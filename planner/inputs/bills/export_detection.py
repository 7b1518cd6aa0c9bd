"""A file as a table of text columns: what kind of file it is, how its fields are parted, which header it has.

Knows how CSV (also compressed), Parquet and JSON lines are written, and no export. Reads only the head of a file.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from planner.inputs.bills.export_columns import NULLS, Columns
from planner.inputs.bills.exports import BillingExport, recognise_export
from planner.inputs.bills.sql_quoting import quote_name, quote_text, select

HEAD_BYTES = 1_000_000
HEADER_LINES = 40
SAMPLE = 500
PARQUET = b"PAR1"
SEPARATORS = (",", ";", "\t", "|")
Kind = Literal["csv", "parquet", "lines", "array"]
SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "lines": ".jsonl", "array": ".json"}


class NotABill(ValueError):
    """The file is no billing export that can be read; the words say why."""


@dataclass(frozen=True, slots=True)
class DetectedExport:
    """A recognised export. `skip` are the lines above its header; the rest says how a CSV file is written."""

    path: Path
    kind: Kind
    columns: Columns
    export: BillingExport
    recognised_by: str
    compressed: bool = False
    separator: str = ","
    skip: int = 0
    encoding: str = "utf-8"

    @property
    def link(self) -> str:
        """A name for the file that tells the engine its kind and holds no sign that it would expand."""
        return f"bill{SUFFIXES[self.kind]}{'.gz' if self.compressed else ''}"

    def rows(self, at: str) -> str:
        """The table at `at` as SQL: every column by its name, all of them text."""
        place = quote_text(at)
        if self.kind == "csv":
            named = ", ".join(f"{quote_text(name)}: 'VARCHAR'" for name in self.columns.names)
            return (
                f"read_csv({place}, columns = {{{named}}}, auto_detect = false, header = true, skip = {self.skip}, "
                f"delim = {quote_text(self.separator)}, quote = '\"', escape = '\"', store_rejects = true, "
                f"rejects_limit = 0, encoding = '{self.encoding}', nullstr = [{', '.join(map(quote_text, NULLS))}])"
            )
        if self.kind == "parquet":
            return select(self._as_text(), f"read_parquet({place})")
        if self.kind == "lines":
            lines = (
                f"read_csv({place}, columns = {{'line': 'VARCHAR'}}, auto_detect = false, header = false, "
                "delim = '\x01', quote = '', escape = '', max_line_size = 20000000)"
            )
            source = select("line", lines, "trim(line) != ''")
        else:
            records = f"read_json({place}, format = 'array', records = false, columns = {{'json': 'JSON'}})"
            source = select("CAST(json AS VARCHAR) AS line", records)
        own = (
            f"CASE WHEN json_valid(line) THEN json_extract_string(line, {quote_text(_json_path(name))}) END"
            for name in self.columns.names
        )
        parts = self._select_filled(own)
        return select(parts, source)

    def _as_text(self) -> str:
        """Nested values as JSON, all others as they are written."""
        return self._select_filled(
            f"CASE WHEN typeof({name}) LIKE '%(%' AND typeof({name}) NOT LIKE 'DECIMAL%' OR typeof({name}) LIKE '%[]' "
            f"THEN CAST(to_json({name}) AS VARCHAR) ELSE CAST({name} AS VARCHAR) END"
            for name in map(quote_name, self.columns.names)
        )

    def _select_filled(self, cells: Iterable[str]) -> str:
        """The columns by their names, with null for what stands for it."""
        nulls = ", ".join(map(quote_text, NULLS))
        pairs = zip(cells, map(quote_name, self.columns.names), strict=True)
        return ", ".join(f"CASE WHEN {cell} NOT IN ({nulls}) THEN {cell} END AS {name}" for cell, name in pairs)


def _json_path(name: str) -> str:
    return f'$."{name}"'


def first_error_line(error: Exception) -> str:
    """The first line of what an engine says is wrong; some of its errors say nothing."""
    return next(iter(str(error).splitlines()), "it is damaged")


def is_parquet(path: Path) -> bool:
    """Whether a file begins as Parquet does. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET


def open_table(path: Path) -> DetectedExport:
    """What `path` is. Raises NotABill for a file that is no known export, OSError for one that cannot be read."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if head.startswith(PARQUET):
        return _detect_columns(path, "parquet", Columns(_parquet_columns(path)))
    if compressed := head.startswith(b"\x1f\x8b"):
        head = _unpack_gzip(path)
    if head.startswith(b"PK\x03\x04"):
        raise NotABill("a ZIP archive: unpack it and name the file in it")
    text, encoding = _decode_head(head)
    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        kind: Kind = "array" if text.lstrip("\ufeff \t\r\n").startswith("[") else "lines"
        return _detect_columns(path, kind, Columns(_json_columns(text, kind)), compressed)
    return _detect_csv(path, text, encoding, compressed)


def _detect_columns(path: Path, kind: Kind, columns: Columns, compressed: bool = False) -> DetectedExport:
    found = recognise_export(columns)
    if found is None:
        raise NotABill("its columns are those of no billing export")
    return DetectedExport(path, kind, columns, *found, compressed)


def _unpack_gzip(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read(HEAD_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise NotABill(f"a gzip archive that does not unpack: {error}") from None


def _decode_head(head: bytes) -> tuple[str, str]:
    """The text of a head, whose last sign may be cut in two, and the encoding as the engine calls it."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head[: len(head) // 2 * 2].decode("utf-16", "replace"), "utf-16"
    try:
        return head.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError as error:
        if error.start >= len(head) - 4:
            return head[: error.start].decode("utf-8-sig"), "utf-8"
        return head.decode("latin-1"), "latin-1"


def _parquet_columns(path: Path) -> tuple[str, ...]:
    import duckdb

    try:
        with duckdb.connect(config={"threads": 1}) as engine:
            schema = engine.execute("SELECT name FROM parquet_schema(?)", [_plain_path(path)]).fetchall()
            described = engine.execute("DESCRIBE SELECT * FROM read_parquet(?)", [_plain_path(path)]).fetchall()
    except duckdb.Error as error:
        raise NotABill(f"a Parquet file that cannot be read: {first_error_line(error)}") from None
    return tuple(row[0] for row in described) if schema else ()


def _plain_path(path: Path) -> str:
    """The path with the signs that the engine would expand put in brackets, which stand for themselves."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in os.fspath(path.absolute()))


def _json_columns(text: str, kind: Kind) -> tuple[str, ...]:
    """The keys of the first records."""
    keys: dict[str, None] = {}
    decoder, at = json.JSONDecoder(), 0
    text = text.lstrip("\ufeff \t\r\n[")
    for _ in range(SAMPLE):
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
        try:
            record, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):  # no JSON, or a number of too many digits
            if kind == "array" or "\n" not in text[at:]:
                break
            at = text.index("\n", at) + 1
            continue
        keys |= dict.fromkeys(record if isinstance(record, dict) else ())
    return tuple(keys)


def _detect_csv(path: Path, text: str, encoding: str, compressed: bool) -> DetectedExport:
    lines = text.splitlines(keepends=True)
    for separator in SEPARATORS:
        for skip, line in enumerate(itertools.islice(lines, HEADER_LINES)):
            if line.count(separator) < 3:
                continue
            header = _split_line(line, separator)
            columns = Columns(_unique_names([name.strip().lstrip("\ufeff") for name in header]))
            if export := recognise_export(columns):
                comma = separator != "," and _has_decimal_comma("".join(lines[skip + 1 :]), separator)
                columns = Columns(columns.names, comma)
                return DetectedExport(path, "csv", columns, *export, compressed, separator, skip, encoding)
    raise NotABill("no row in it is the header of a known billing export")


def _split_line(line: str, separator: str) -> list[str]:
    """The fields of one line; none where one of them does not end or is longer than any title."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def _unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names for columns whose header is empty or said twice, whatever their case."""
    seen: Counter[str] = Counter()
    result = []
    for index, name in enumerate(names):
        called = name or f"column {index + 1}"
        seen[called.casefold()] += 1
        times = seen[called.casefold()]
        result.append(called if times == 1 else f"{called} again {times}")
    return tuple(result)


def _has_decimal_comma(below: str, separator: str) -> bool:
    """Whether amounts have a decimal comma: fields of the first rows that only make a number with one."""
    rows = csv.reader(io.StringIO(below), delimiter=separator)
    try:
        fields = [field for row in itertools.islice(rows, SAMPLE) for field in row if field not in NULLS]
    except csv.Error:
        return False
    digits = [field for field in fields if field.lstrip("-").replace(",", "").replace(".", "").isdigit()]
    return sum(field.count(",") == 1 for field in digits) > sum(field.count(".") == 1 for field in digits)
