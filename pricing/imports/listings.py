"""A row of another tool's catalogue, in one shape, whatever tool it came from. Knows no provider."""

from __future__ import annotations

from dataclasses import dataclass

from pricing.csv_tables import TableRow, parse_number


@dataclass(frozen=True, slots=True)
class CatalogListing:
    """One row: `line` is where it stands. Empty texts and None are what the file does not say.

    `memory_gib` and `vcpus` are the node's, `accelerator_memory_gib` that of one accelerator. A zone stands only where
    the file lists zones. Prices are in US dollars per hour; None where the file has none, or a 0, which is none either.
    `other_terms` says why the row is no price of ours, where the tool itself marks it so.
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


@dataclass(frozen=True, slots=True)
class UnreadableListing:
    """A row that cannot be read, and why."""

    line: int
    reason: str


class ListingCells:
    """The cells of one row as numbers; what is none is remembered, so that the row is told and left, never guessed."""

    def __init__(self, row: TableRow) -> None:
        self.row, self.problems = row, list[str]()

    def text(self, column: str) -> str:
        return self.row.values.get(column, "").strip()

    def number(self, column: str) -> float | None:
        """None where the cell is empty or the column is missing."""
        written = self.text(column)
        number = parse_number(written) if written else None
        if written and (number is None or number < 0):
            self.problems.append(f"{column} is {written!r}, expected a number")
        return number

    def price(self, column: str) -> float | None:
        """The same; 0 is no price: both tools write it where they know none."""
        return self.number(column) or None
