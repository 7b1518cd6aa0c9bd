"""The figures of a language model that decide how fast it is served, from a described network or a published family.

data/families.csv names the model of each group of measured results (serving_results.py), with the figures of those that
the table of published models lacks. A family is one architecture under several names: its results serve all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from planner.performance.memory.network_shapes import resolve_shapes
from planner.performance.model_catalog import ModelShape
from planner.performance.network_arithmetic import DEPTH_TIMES_WIDTH
from planner.performance.throughput.accelerator_scores import read_table
from planner.request.neural_network import NeuralNetwork
from planner.result.message import Message
from pricing.frozen_values import dataclass

FAMILIES_FILE = Path(__file__).parent / "data" / "families.csv"
FAMILY_COLUMNS = (
    "group", "family", "model", "layers", "kv_values_per_token", "kv_heads", "source", "source_date",
)  # fmt: skip
SPARSE_FRACTION = 0.98
"""A model that uses a smaller fraction of its weights for a token is a mixture of experts."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """Weights (all, and those that work on one token), layers, values of a token in the key-value cache over
    all layers, and the heads that hold them: 1 for latent attention, whose cache every accelerator of a tensor parallel
    group repeats. `family` is empty where no published result is of its architecture."""

    family: str
    parameters: float
    active_parameters: float
    layers: int
    kv_values_per_token: float
    kv_heads: int

    @property
    def is_mixture(self) -> bool:
        return self.active_parameters < SPARSE_FRACTION * self.parameters

    @property
    def depth_times_width(self) -> float:
        """Layers x width as the active weights imply it (network_arithmetic.DEPTH_TIMES_WIDTH)."""
        return float(DEPTH_TIMES_WIDTH * self.active_parameters ** (2 / 3))


@dataclass(frozen=True, slots=True)
class ServedFamily:
    """One row of families.csv: the family of a group of results, and its figures where models.csv has none."""

    group: str
    family: str
    model: str
    layers: int | None
    kv_values_per_token: float | None
    kv_heads: int | None

    def figures(self, parameters: float, active_parameters: float) -> ServedModel:
        """The model with so many weights: figures of the row, else of the published model, else inferred by size."""
        if self.layers is not None and self.kv_values_per_token is not None and self.kv_heads is not None:
            return ServedModel(
                self.family, parameters, active_parameters, self.layers, self.kv_values_per_token, self.kv_heads
            )
        network = NeuralNetwork(
            model=self.model or None,
            parameters=parameters,
            active_parameters=active_parameters if active_parameters < parameters else None,
            run="inference",
        )
        known = resolve_shapes(network)
        if isinstance(known, Message):  # no model of like size: nearest depth of a dense one of the active weights
            known = resolve_shapes(NeuralNetwork(parameters=active_parameters, run="inference"))
        assert not isinstance(known, Message), self.group
        return _model_of_shape(known.shapes[0], self.family, parameters, active_parameters)


@cache
def load_families() -> Mapping[str, ServedFamily]:
    """Every row of families.csv by its group of results."""
    return {row["group"]: _parse_family(row) for row in read_table(FAMILIES_FILE, FAMILY_COLUMNS)}


def family_of_model(name: str) -> str:
    """The family of a published model by its name; empty where no result is of it."""
    written = name.casefold()
    return next((row.family for row in load_families().values() if written in (row.model, row.group, row.family)), "")


def served_model(network: NeuralNetwork) -> ServedModel | Message:
    """The figures of a described network, or the reason why they are unknown."""
    known = resolve_shapes(network)
    if isinstance(known, Message):
        return known
    shape = known.shapes[0]
    family = family_of_model(network.model or "") if network.parameters is None else ""
    return _model_of_shape(shape, family, shape.parameters, shape.active_parameters)


def _model_of_shape(shape: ModelShape, family: str, parameters: float, active_parameters: float) -> ServedModel:
    values = 2.0 * shape.layers * shape.kv_heads * shape.head_size
    return ServedModel(family, parameters, active_parameters, shape.layers, values, shape.kv_heads)


def _parse_family(row: Mapping[str, str]) -> ServedFamily:
    return ServedFamily(
        row["group"],
        row["family"],
        row["model"],
        int(row["layers"]) if row["layers"] else None,
        float(row["kv_values_per_token"]) if row["kv_values_per_token"] else None,
        int(row["kv_heads"]) if row["kv_heads"] else None,
    )
