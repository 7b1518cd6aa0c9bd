"""Slices of accelerators with Multi-Instance GPU: the profiles of NVIDIA's guide, in slices.csv (by hand)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields
from functools import cache
from pathlib import Path

from pricing.csv_tables import TableRow, read_rows
from pricing.errors import InvalidSnapshot
from pricing.frozen_values import dataclass

TABLE = Path(__file__).parent / "data" / "slices.csv"


@dataclass(frozen=True, slots=True)
class MigSlice:
    """One way to divide an accelerator: `instances` with these fractions of its processors and memory each."""

    accelerator: str
    profile: str
    speed_fraction: float
    memory_fraction: float
    instances: int
    source: str


COLUMNS = tuple(field.name for field in fields(MigSlice))


@cache
def load_slices() -> dict[str, tuple[MigSlice, ...]]:
    """Every way to divide an accelerator, by its name; InvalidSnapshot with every fault of the table."""
    faults: list[str] = []
    by_accelerator: dict[str, list[MigSlice]] = defaultdict(list)
    for row in read_rows(TABLE, COLUMNS, faults):
        if (one := _parse_slice(row)) is not None:
            by_accelerator[one.accelerator].append(one)
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return {name: tuple(rows) for name, rows in by_accelerator.items()}


def _parse_slice(row: TableRow) -> MigSlice | None:
    texts = {key: row.text(key) for key in ("accelerator", "profile", "source")}
    fractions = {key: row.positive(key) for key in ("speed_fraction", "memory_fraction")}
    return row.build(MigSlice, **texts, **fractions, instances=int(row.positive("instances")))
