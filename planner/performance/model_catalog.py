"""Shapes of published models: layers and their sizes, each with its source (models.csv, maintained by hand)."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from functools import cache
from pathlib import Path

from pricing.csv_tables import TableRow, find_nearest_names, read_rows
from pricing.errors import InvalidSnapshot
from pricing.frozen_values import dataclass

TABLE = Path(__file__).parent / "models.csv"


@dataclass(frozen=True, slots=True)
class ModelShape:
    """One transformer. `feed_forward_size` is the width of all experts that work on one token together;
    `feed_forward_matrices` is 3 where the feed-forward is gated, else 2; `embedding_matrices` is 1 where input and
    output share one."""

    name: str
    parameters: float
    active_parameters: float
    layers: int
    hidden_size: int
    attention_heads: int
    kv_heads: int
    head_size: int
    feed_forward_size: int
    feed_forward_matrices: int
    vocabulary: int
    embedding_matrices: int
    source: str
    source_date: date

    @property
    def embedding_parameters(self) -> float:
        return float(self.embedding_matrices * self.vocabulary * self.hidden_size)

    @property
    def layer_parameters(self) -> float:
        """Parameters of one layer, all its experts included."""
        return max(0.0, self.parameters - self.embedding_parameters) / self.layers


@cache
def published_models() -> dict[str, ModelShape]:
    """Every model of the table, by name; InvalidSnapshot with every fault of it."""
    faults: list[str] = []
    shapes = [_parse_shape(row) for row in read_rows(TABLE, COLUMNS, faults)]
    if faults:
        raise InvalidSnapshot(tuple(faults))
    return {shape.name: shape for shape in shapes if shape}


def find_model(written: str) -> ModelShape | None:
    """The model that `written` means, case aside; None where it is not in the table."""
    return published_models().get(written.casefold())


def describe_unknown_model(written: str) -> str:
    """Error text for a name that is no published model, with the nearest names; empty where it is one."""
    if find_model(written) is not None:
        return ""
    near = ", ".join(nearest_models(written))
    return f"no published model of this name{f'; nearest: {near}' if near else ''}"


def nearest_models(written: str) -> tuple[str, ...]:
    """The names of the table nearest to the written one, best first."""
    return find_nearest_names(written, published_models())


def _parse_shape(row: TableRow) -> ModelShape | None:
    texts = {key: row.text(key) for key in ("name", "source")}
    sizes = {key: row.positive(key) for key in ("parameters", "active_parameters")}
    counts = {key: int(row.positive(key)) for key in COUNTS}
    return row.build(ModelShape, **texts, **sizes, **counts, source_date=row.day("source_date"))


COLUMNS = tuple(field.name for field in fields(ModelShape))
COUNTS = tuple(field.name for field in fields(ModelShape) if field.type == "int")
