"""CSV with any of the usual separators and encodings, read as one sheet of text cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

from planner.inputs.cell_grid import Cell, GridRow, InputSheet
from planner.inputs.parsed_file import ParsedFile, UnreadableFile, reject_file
from planner.inputs.sheet_options import NO_SHEET_OPTIONS, SheetOptions
from planner.inputs.text_encoding import COMMON_SEPARATORS, binary_kind, decode

IS_SHEET = True
SUFFIXES = (".csv", ".tsv", ".txt")
SEPARATORS = (*COMMON_SEPARATORS, "^", "~", "\x1f", "\x01")
ERRORS = frozenset({"#REF!", "#N/A", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!", "#ERROR!", "#SPILL!", "#CALC!"})
"""Error values that spreadsheets write into cells."""
CELLS_MAX = 2_000_000
COLUMNS_MAX = 2_000
SAMPLE_LINES = 60
LINE_MAX = 1_000_000
_LINE = re.compile(r"[^\r\n]+")


def claims(data: bytes) -> bool:
    """Whether the content looks like rows of separated fields."""
    if binary_kind(data):
        return False
    try:
        text, _ = decode(data, "cp1252")
    except UnicodeDecodeError:
        return False
    lines = [line for line in text.splitlines()[:SAMPLE_LINES] if line.strip()]
    if lines and lines[0].lstrip("\ufeff").lstrip()[:1] in ("{", "[", "#"):
        return False
    return any(line.count(separator) >= 1 for line in lines for separator in SEPARATORS) and not _is_mapping(lines)


def read(data: bytes, name: str, options: SheetOptions = NO_SHEET_OPTIONS) -> ParsedFile:
    """The workloads of a CSV file; places are its lines and columns."""
    from planner.inputs.spreadsheet.sheet_reader import read_sheets

    try:
        text, encoding = decode(data, "cp1252")
        text = text.removeprefix("\ufeff")
        _check_lines(text)
        rows = tuple(_read_rows(text, _detect_separator(text)))
    except UnicodeDecodeError as error:
        message = f"not text: byte {error.start} fits neither UTF-8 nor Windows-1252"
        return reject_file(data, name, "csv", message, expected="a text file")
    except UnreadableFile as error:
        return reject_file(data, name, "csv", str(error), expected="a sheet of workloads")
    except csv.Error:
        message = f"not readable as CSV: a field of more than {csv.field_size_limit():,} characters"
        return reject_file(data, name, "csv", message, expected="fields between separators, and quotes in pairs")
    notes = ["not UTF-8: read as Windows-1252"] if encoding == "cp1252" else []
    return read_sheets(data, name, "csv", (InputSheet("", rows),), notes, options)


def _check_lines(text: str) -> None:
    """Raises UnreadableFile for a line that is too long for a row: one of commas alone becomes a million fields."""
    too_long = (line.start() for line in _LINE.finditer(text) if line.end() - line.start() > LINE_MAX)
    if (start := next(too_long, None)) is not None:
        raise UnreadableFile(f"line {text.count(chr(10), 0, start) + 1} has more than {LINE_MAX:,} characters")


def _read_rows(text: str, separator: str) -> Iterator[GridRow]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=False)
    has_separator_line = bool(_named_separator(text))
    line = cells = 0
    for record in reader:
        place = f"line {line + 1}"
        line = reader.line_num
        fields = record if len(record) <= COLUMNS_MAX else _trim_blank_fields(record)
        cells += len(fields)
        if len(fields) > COLUMNS_MAX:
            raise UnreadableFile(f"{len(fields):,} columns in {place}; at most {COLUMNS_MAX:,}")
        if cells > CELLS_MAX:
            raise UnreadableFile(f"more than {CELLS_MAX:,} fields")
        if not (has_separator_line and line == 1):
            yield GridRow(
                place, tuple(_build_cell(f"{place} column {index + 1}", field) for index, field in enumerate(fields))
            )


def _trim_blank_fields(fields: list[str]) -> list[str]:
    """The fields of a row up to the last that is not blank."""
    last = next((index for index in range(len(fields), 0, -1) if fields[index - 1].strip()), 0)
    return fields[:last]


def _build_cell(place: str, field: str) -> Cell:
    if "#" not in field and ":" not in field:
        return Cell(place, field)
    error = field.strip().upper()
    return Cell(place, None, fault=error) if error in ERRORS or error.startswith("ERR:") else Cell(place, field)


def _named_separator(text: str) -> str:
    """The separator named by a first line "sep=;", as Excel writes it; else empty."""
    match = re.match(r"sep=([^\w\s\"']|\t)\r?\n", text, re.IGNORECASE)
    return match[1] if match else ""


def _detect_separator(text: str) -> str:
    """The separator that splits most lines into the same number of fields; a comma where none does."""
    if named := _named_separator(text):
        return named
    sample = [line for line in text.splitlines()[:SAMPLE_LINES] if line.strip()]

    def score(separator: str) -> tuple[int, int]:
        counts = [len(fields) for fields in csv.reader(sample, delimiter=separator) if len(fields) > 1]
        common = max((counts.count(count) for count in set(counts)), default=0)
        return common, max(counts, default=0)

    try:
        return max(SEPARATORS, key=score)
    except csv.Error:
        return ","


def _is_mapping(lines: list[str]) -> bool:
    """Whether the first line is one of a YAML mapping or list."""
    first = lines[0].strip() if lines else ""
    key, colon, _ = first.partition(":")
    return first in ("---", "-") or first.startswith("- ") or bool(colon and key.strip().isidentifier())
