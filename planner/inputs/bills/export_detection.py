"""Detects the kind of a billing file (CSV, also compressed, Parquet, JSON lines), its separator and its header.

Detection reads the head of a file alone; line ends are counted in the entire file.
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
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Literal

from planner.inputs.bills.export_columns import NULLS, Columns, quote_name, quote_text, select
from planner.inputs.bills.export_folders import list_parts
from planner.inputs.bills.exports import ExportModule, recognise_export
from planner.inputs.text_encoding import COMMON_SEPARATORS
from pricing.frozen_values import dataclass

HEAD_BYTES = 1_000_000
CHUNK_BYTES = 1 << 20
FIELD_CHARS_MAX = 10_000_000
COLUMNS_MAX = 5_000
"""Columns of a header; a line of more separators is none and is not split."""
HEADER_LINES = 40
SAMPLE = 500
PARQUET = b"PAR1"
DESCRIBE_SQL = "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)"
"""Folders such as BILLING_PERIOD=2026-10 would be columns otherwise."""
Kind = Literal["csv", "parquet", "lines", "array"]
SUFFIXES = {"csv": ".csv", "parquet": ".parquet", "lines": ".jsonl", "array": ".json"}


class NotABill(ValueError):
    """The file is not a readable billing export; the message is the reason."""


@dataclass(frozen=True, slots=True)
class DetectedExport:
    """A recognised export. `skip` is the number of lines above the header of a CSV file."""

    path: Path
    kind: Kind
    columns: Columns
    export: ExportModule
    recognised_by: str
    compressed: bool = False
    separator: str = ","
    skip: int = 0
    encoding: str = "utf-8"

    @property
    def link(self) -> str:
        """A name for the file with the suffix of its kind, without characters that the engine expands."""
        return f"bill{SUFFIXES[self.kind]}{'.gz' if self.compressed else ''}"

    def rows(self, at: str) -> str:
        """The table at `at` as SQL, with every column as text."""
        place = quote_text(at)
        if self.kind == "csv":
            named = ", ".join(f"{quote_text(name)}: 'VARCHAR'" for name in self.columns.names)
            return (
                f"read_csv({place}, columns = {{{named}}}, auto_detect = false, header = true, skip = {self.skip}, "
                f"delim = {quote_text(self.separator)}, quote = '\"', escape = '\"', store_rejects = true, "
                f"rejects_limit = 0, encoding = '{self.encoding}', nullstr = [{', '.join(map(quote_text, NULLS))}])"
            )
        if self.kind == "parquet":
            return select(self._as_text(), f"read_parquet({place}, hive_partitioning = false)")
        if self.kind == "lines":
            lines = (
                f"read_csv({place}, columns = {{'line': 'VARCHAR'}}, auto_detect = false, header = false, "
                "delim = '\x01', quote = '', escape = '', max_line_size = 20000000)"
            )
            source = select("line", lines, "trim(line) != ''")
        else:
            records = f"read_json({place}, format = 'array', records = false, columns = {{'json': 'JSON'}})"
            source = select("CAST(json AS VARCHAR) AS line", records)
        paths = (quote_text(f'$."{name}"') for name in self.columns.names)
        own = (f"CASE WHEN json_valid(line) THEN json_extract_string(line, {path}) END" for path in paths)
        return select(self._select_filled(own), source)

    def _as_text(self) -> str:
        """Nested values as JSON, all others as text."""
        return self._select_filled(
            f"CASE WHEN typeof({name}) LIKE '%(%' AND typeof({name}) NOT LIKE 'DECIMAL%' OR typeof({name}) LIKE '%[]' "
            f"THEN CAST(to_json({name}) AS VARCHAR) ELSE CAST({name} AS VARCHAR) END"
            for name in map(quote_name, self.columns.names)
        )

    def _select_filled(self, cells: Iterable[str]) -> str:
        """The columns by their names, with NULL for the texts that mean it."""
        nulls = ", ".join(map(quote_text, NULLS))
        pairs = zip(cells, map(quote_name, self.columns.names), strict=True)
        return ", ".join(f"CASE WHEN {cell} NOT IN ({nulls}) THEN {cell} END AS {name}" for cell, name in pairs)


def first_error_line(error: Exception) -> str:
    """The first line of an error of the engine, some of which are empty."""
    return next(iter(str(error).splitlines()), "it is damaged")


def is_parquet(path: Path) -> bool:
    """Whether a file begins as Parquet does. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET


def open_parts(path: Path) -> tuple[DetectedExport, ...]:
    """The files of the export at `path`, a file or a folder; others in the folder are passed over.

    Raises NotABill where none of them is an export, or where they are several; OSError for what cannot be read.
    """
    parts = list_parts(path)
    if parts == (path,):
        return (open_table(path),)
    tables: list[DetectedExport] = []
    for part in parts:
        try:
            tables.append(open_table(part))
        except NotABill:
            continue
    if not tables:
        raise NotABill("a folder without a file of a known billing export")
    if len({(each.export.TITLE, each.columns.comma) for each in tables}) > 1:
        kinds = ", ".join(sorted({each.export.TITLE for each in tables}))
        raise NotABill(f"files of several exports ({kinds}): name the folder of one")
    return tuple(tables)


def open_table(path: Path) -> DetectedExport:
    """The export in a file. Raises NotABill for any other file, OSError for one that cannot be read."""
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
    recognised = recognise_export(columns)
    if recognised is None:
        raise NotABill("its columns are not those of a known billing export")
    return DetectedExport(path, kind, columns, *recognised, compressed)


def _unpack_gzip(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read(HEAD_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise NotABill(f"a damaged gzip archive: {error}") from None


def _decode_head(head: bytes) -> tuple[str, str]:
    """The text of a head, whose last character may be cut, and the engine's name of the encoding."""
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
            described = engine.execute(
                "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [_plain_path(path)]
            ).fetchall()
    except duckdb.Error as error:
        raise NotABill(f"a Parquet file that cannot be read: {first_error_line(error)}") from None
    return tuple(row[0] for row in described) if schema else ()


def _plain_path(path: Path) -> str:
    """The path with the wildcards of the engine in brackets, which make them literal."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in os.fspath(path.absolute()))


def _json_columns(text: str, kind: Kind) -> tuple[str, ...]:
    """The keys of the first records."""
    keys: dict[str, None] = {}
    decoder, at = json.JSONDecoder(), 0
    text = text.lstrip("\ufeff \t\r\n[")
    for _ in range(SAMPLE):
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
        try:
            record, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):  # not JSON, or a number with too many digits
            if kind == "array" or "\n" not in text[at:]:
                break
            at = text.index("\n", at) + 1
            continue
        keys |= dict.fromkeys(record if isinstance(record, dict) else ())
    return tuple(keys)


def _detect_csv(path: Path, text: str, encoding: str, compressed: bool) -> DetectedExport:
    lines = text.splitlines(keepends=True)
    for separator in COMMON_SEPARATORS:
        for skip, line in enumerate(itertools.islice(lines, HEADER_LINES)):
            if not 3 <= line.count(separator) <= COLUMNS_MAX:
                continue
            header = _split_line(line, separator)
            columns = Columns(_unique_names([name.strip().lstrip("\ufeff") for name in header]))
            if export := recognise_export(columns):
                comma = separator != "," and _has_decimal_comma("".join(lines[skip + 1 :]), separator)
                columns = Columns(columns.names, comma)
                return DetectedExport(path, "csv", columns, *export, compressed, separator, skip, encoding)
    raise NotABill("no row is the header of a known billing export")


def _split_line(line: str, separator: str) -> list[str]:
    """The fields of one line; none where a quote is not closed or a field is too long for a title."""
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def _unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Unique names, without regard to case, for columns whose header is empty or repeated."""
    counts: Counter[str] = Counter()
    result = []
    for index, name in enumerate(names):
        called = name or f"column {index + 1}"
        counts[called.casefold()] += 1
        times = counts[called.casefold()]
        result.append(called if times == 1 else f"{called} again {times}")
    return tuple(result)


def _has_decimal_comma(below: str, separator: str) -> bool:
    """Whether amounts have a decimal comma, by the numbers in the first rows."""
    rows = csv.reader(io.StringIO(below), delimiter=separator)
    try:
        fields = [field for row in itertools.islice(rows, SAMPLE) for field in row if field not in NULLS]
    except csv.Error:
        return False
    digits = [field for field in fields if field.lstrip("-").replace(",", "").replace(".", "").isdigit()]
    return sum(field.count(",") == 1 for field in digits) > sum(field.count(".") == 1 for field in digits)


def open_bytes(path: Path, *, compressed: bool) -> IO[bytes]:
    """The uncompressed bytes of the file."""
    return gzip.open(path) if compressed else path.open("rb")  # type: ignore[return-value]  # a GzipFile reads bytes


def has_mixed_line_ends(path: Path, *, compressed: bool) -> bool:
    """Whether a file has more than one kind of line end, in quotes or not. The engine would lose rows without an error.

    Reads the entire file. Raises OSError, EOFError or zlib.error for a damaged archive.
    """
    feeds = returns = both = 0
    last = b""
    with open_bytes(path, compressed=compressed) as file:
        while chunk := file.read(CHUNK_BYTES):
            feeds += chunk.count(b"\n")
            if b"\r" in chunk or last == b"\r":
                returns += chunk.count(b"\r")
                both += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
            last = chunk[-1:]
    return bool(returns and feeds) and not returns == feeds == both


def rewrite_line_ends(path: Path, to: Path, *, compressed: bool, encoding: str, separator: str) -> None:
    """Writes the same table in UTF-8 with one kind of line end; the number of fields of a row does not change.

    Raises csv.Error where a quote is not closed, and the errors of `has_mixed_line_ends`.
    """
    csv.field_size_limit(FIELD_CHARS_MAX)
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    with open_bytes(path, compressed=compressed) as file, to.open("w", encoding="utf-8", newline="") as out:
        text = io.TextIOWrapper(file, name, "replace", newline="")
        csv.writer(out, delimiter=separator, lineterminator="\n").writerows(_read_rows(text, separator))


def _read_rows(text: IO[str], separator: str) -> Iterator[list[str]]:
    """Every record, with the line ends within fields converted."""
    for row in csv.reader(text, delimiter=separator):
        yield [field.replace("\r\n", "\n").replace("\r", "\n") for field in row]
