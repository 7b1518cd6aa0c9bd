"""The common form of a row from another tool's catalogue, and the protocol of a parser for one. Knows no provider."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pricing.csv_tables import TableRow, parse_number
from pricing.frozen_values import dataclass

DEFAULT_CURRENCY = "USD"
"""Of files that name none: both tools write US dollars."""


@dataclass(frozen=True, slots=True)
class CatalogListing:
    """One row, in line `line` of the file. A value that the file does not give is empty or None.

    `memory_gib` and `vcpus` are those of the node, `accelerator_memory_gib` that of one accelerator. `zone` is set only
    if the file lists zones. Prices are in `currency` per hour; None if missing or 0, which the tools write for unknown.
    `other_terms` is the reason to skip the row if the tool marks it as neither an on-demand nor a spot price.
    `provider` is set only if the file names it in a column.
    """

    line: int
    instance_type: str
    accelerator: str
    accelerator_count: float | None
    accelerator_memory_gib: float | None
    vcpus: float | None
    memory_gib: float | None
    region: str
    zone: str
    on_demand: float | None
    spot: float | None
    other_terms: str = ""
    currency: str = DEFAULT_CURRENCY
    provider: str = ""


@dataclass(frozen=True, slots=True)
class UnreadableListing:
    """A row that cannot be parsed, and why."""

    line: int
    reason: str


class ListingCells:
    """Parses the cells of one row. Bad numbers are collected, so that the row is reported and skipped."""

    def __init__(self, row: TableRow) -> None:
        self.row, self.problems = row, list[str]()

    def text(self, column: str) -> str:
        return self.row.values.get(column, "").strip()

    def number(self, column: str) -> float | None:
        """None if the cell is empty or the column is missing."""
        written = self.text(column)
        number = parse_number(written) if written else None
        if written and (number is None or number < 0):
            self.problems.append(f"{column} is {written!r}, expected a number")
        return number

    def price(self, column: str) -> float | None:
        """A number; None for 0, which tools write for an unknown price."""
        return self.number(column) or None


class CatalogFormat(Protocol):
    """The module that parses the files of one tool. `COLUMNS` are required, and identify the format.

    `provider_of_path` gives the provider that the file name or folder stands for, which may be an unknown one.
    """

    NAME: str
    TITLE: str
    COLUMNS: tuple[str, ...]

    def provider_of_path(self, path: Path) -> str: ...

    def parse_listing(self, row: TableRow) -> CatalogListing | UnreadableListing: ...
