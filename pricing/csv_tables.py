"""The CSV tables: strict rows in, sorted rows out; every fault with its file and line. Knows no meaning of a column."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class TableRow:
    """One row of a table: getters note a fault and give a harmless value; `build` gives None once one was wrong."""

    __slots__ = ("bad", "faults", "line", "path", "values")

    def __init__(self, path: Path, line: int, values: Mapping[str, str], faults: list[str]) -> None:
        self.path, self.line, self.values, self.faults, self.bad = path, line, values, faults, False

    @property
    def place(self) -> str:
        """The last two parts of the path and the line: aws/prices.csv:12."""
        return self.name_place(self.line)

    def name_place(self, line: int) -> str:
        """Another line of the same table: aws/prices.csv:7."""
        return f"{short_path(self.path)}:{line}"

    def fault(self, message: str) -> None:
        self.bad = True
        self.faults.append(f"{self.place}: {message}")

    def text(self, column: str, *, empty: bool = False) -> str:
        value = self.values[column]
        if not value and not empty:
            self.fault(f"{column} is empty")
        return value

    def one_of(self, column: str, allowed: Iterable[str]) -> str:
        value = self.values[column]
        if value not in (choices := tuple(allowed)):
            self.fault(f"{column} is {value!r}, expected one of {', '.join(c or 'an empty cell' for c in choices)}")
        return value

    def number(self, column: str) -> float | None:
        """Decimal or a fraction such as 1/6; None where empty; a fault where below zero or not finite."""
        value = self.values[column]
        if not value:
            return None
        number = parse_number(value)
        if number is None:
            self.fault(f"{column} is {value!r}, expected a number")
        elif number < 0:
            self.fault(f"{column} is {value!r}, expected no negative number")
        return number

    def positive(self, column: str) -> float:
        number = parse_number(self.values[column])
        if number is None or number <= 0:
            self.fault(f"{column} is {self.values[column]!r}, expected a number above 0")
            return 1.0
        return number

    def whole(self, column: str) -> int | None:
        value = self.values[column]
        if not value:
            return None
        if not (value.isascii() and value.isdecimal() and len(value) < 16):
            self.fault(f"{column} is {value!r}, expected a whole number")
            return None
        return int(value)

    def day(self, column: str) -> date:
        try:
            return date.fromisoformat(self.values[column])
        except ValueError:
            self.fault(f"{column} is {self.values[column]!r}, expected a date such as 2026-07-20")
            return date.min

    def build(self, kind: type[T], /, **values: Any) -> T | None:
        return None if self.bad else kind(**values)


def short_path(path: Path) -> str:
    """The last two parts of a path, which identify a table: aws/prices.csv."""
    return "/".join(path.parts[-2:])


def parse_number(text: str) -> float | None:
    """The value of a decimal or of a fraction such as 1/6; None where it is neither, or not finite."""
    over, slash, under = text.partition("/")
    try:
        number = float(over) / (float(under) if slash else 1)
    except (ValueError, ZeroDivisionError):
        return None
    return number if math.isfinite(number) and "_" not in text else None


def read_rows(path: Path, columns: Sequence[str], faults: list[str], *, optional: bool = False) -> Iterator[TableRow]:
    """The rows of a table that has at least these columns; a missing file, column or cell is a fault.

    `optional` lets the file be absent.
    """
    import csv

    place = short_path(path)
    try:
        content = path.read_text(encoding="utf-8-sig")  # spreadsheets save CSV with a mark in front
    except FileNotFoundError:
        if not optional:
            faults.append(f"{place}: the file is missing")
        return
    except (OSError, UnicodeDecodeError) as error:
        faults.append(f"{place}: cannot be read: {error}")
        return
    reader = csv.reader(StringIO(content, newline=""), strict=True)
    try:
        header = next(reader, [])
        if missing := [c for c in columns if c not in header]:
            faults.append(f"{place}:1: missing column {', '.join(missing)}")
            return
        for cells in filter(None, reader):  # skip blank lines
            if len(cells) != len(header):
                faults.append(f"{place}:{reader.line_num}: {len(cells)} cells, expected {len(header)}")
                continue
            yield TableRow(path, reader.line_num, dict(zip(header, cells, strict=True)), faults)
    except csv.Error as error:
        faults.append(f"{place}:{reader.line_num}: not a CSV table: {error}")


def format_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as text: columns, then the rows in the order given."""
    import csv

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def format_sorted_table(
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    *,
    key: Sequence[str] = (),
    number: Sequence[str] = (),
) -> bytes:
    """A table as we write it: rows sorted by `key` (else by their columns from the left), `number` columns by value."""
    order = (*key, *columns)

    def rank(row: Mapping[str, Any]) -> list[Any]:
        return [row[column] if column in number else format_cell(row[column]) for column in order]

    spelled = [[format_cell(row[column]) for column in columns] for row in sorted(rows, key=rank)]
    return format_table(columns, spelled).encode()


def format_cell(value: object) -> str:
    """A cell: numbers without needless digits, dates as ISO, yes and no, lists joined by spaces, empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, tuple):
        return " ".join(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def quote_toml_strings(values: Iterable[str]) -> list[str]:
    """Each as a TOML string."""
    return ['"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values]


def find_nearest_names(written: str, known: Iterable[str], count: int = 5) -> tuple[str, ...]:
    """The known names closest to the written one, best first; none if no name is close."""
    from difflib import get_close_matches

    spelled = {name.casefold(): name for name in known}
    return tuple(spelled[match] for match in get_close_matches(written.casefold(), spelled, n=count, cutoff=0.5))
