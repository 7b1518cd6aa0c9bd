"""Reads the CSV tables that ship with the models of this room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pricing.csv_tables import read_rows
from pricing.errors import InvalidSnapshot


def read_table(path: Path, columns: Sequence[str]) -> list[Mapping[str, str]]:
    """The cells of every row by column. InvalidSnapshot with every fault of the file."""
    faults: list[str] = []
    rows = [row.values for row in read_rows(path, columns, faults)]
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return rows
