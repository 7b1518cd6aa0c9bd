"""The shape of a network: as stated, of a published model, or inferred from published models of like size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from planner.performance.memory.footprint import GATED_MATRICES
from planner.performance.model_catalog import ModelShape, find_model, published_models
from planner.request.neural_network import NeuralNetwork

SHAPE_FIELDS = ("layers", "hidden_size", "attention_heads", "kv_heads", "head_size", "feed_forward_size", "vocabulary")
REQUIRED_FIELDS = ("layers", "hidden_size", "attention_heads", "vocabulary")
"""With these and the parameters, the rest of a shape follows."""
SIZE_RATIO_MAX = 2.0
"""A model more than twice or less than half as large is not of like size."""
NEIGHBOURS = 5


@dataclass(frozen=True, slots=True)
class ShapeCandidates:
    """The shape to reckon with first; where it is inferred, the others of like size that it might have as well."""

    shapes: tuple[ModelShape, ...]
    basis: str
    explanation: str


def resolve_shapes(network: NeuralNetwork) -> ShapeCandidates | str:
    """What is known of the network's shape, or why nothing is."""
    if network.model is not None and (base := find_model(network.model)) is not None:
        words = f"shape of {base.name}: {base.source} ({base.source_date})"
        return ShapeCandidates((_override_shape(base, network),), "published", words)
    if network.parameters is None:
        return "neither a published model nor its parameters are given"
    if all(getattr(network, name) is not None for name in REQUIRED_FIELDS):
        return ShapeCandidates((_shape_from_fields(network, network.parameters),), "stated", "shape as stated")
    return _inferred_shapes(network, network.parameters)


def _override_shape(base: ModelShape, network: NeuralNetwork) -> ModelShape:
    """The shape with what the network says instead; a size of its own changes the weights of every layer alike."""
    given: dict[str, Any] = {name: value for name in SHAPE_FIELDS if (value := getattr(network, name)) is not None}
    if network.parameters is not None:
        given["parameters"] = network.parameters
        given["active_parameters"] = network.parameters
    if network.active_parameters is not None:
        given["active_parameters"] = network.active_parameters
    return replace(base, **given)


def _shape_from_fields(network: NeuralNetwork, parameters: float) -> ModelShape:
    """The rest follows: the heads share the hidden size, and what no other matrix holds is the feed-forward's, taken
    to be gated (the larger of the two when trained)."""
    layers, hidden = network.layers or 1, network.hidden_size or 1
    heads, vocabulary = network.attention_heads or 1, network.vocabulary or 1
    kv_heads = network.kv_heads or heads
    head_size = network.head_size or max(1, hidden // heads)
    active = network.active_parameters or parameters
    embeddings = 2 * vocabulary * hidden
    attention = 2 * hidden * head_size * (heads + kv_heads)
    width = (max(0.0, active - embeddings) / layers - attention) / (GATED_MATRICES * hidden)
    return ModelShape(
        name="as stated",
        parameters=parameters,
        active_parameters=active,
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        feed_forward_size=network.feed_forward_size or max(hidden, round(width)),
        feed_forward_matrices=GATED_MATRICES,
        vocabulary=vocabulary,
        embedding_matrices=2 if embeddings < parameters else 1,
        source="as stated",
        source_date=next(iter(published_models().values())).source_date,
    )


def _inferred_shapes(network: NeuralNetwork, parameters: float) -> ShapeCandidates | str:
    def distance(shape: ModelShape) -> float:
        return abs(math.log(shape.parameters / parameters))

    sparse = network.active_parameters is not None and network.active_parameters < parameters
    alike = [s for s in published_models().values() if (s.active_parameters < s.parameters) == sparse]
    near = [s for s in sorted(alike, key=lambda s: (distance(s), s.name)) if distance(s) <= math.log(SIZE_RATIO_MAX)]
    if not near:
        missing = ", ".join(name for name in REQUIRED_FIELDS if getattr(network, name) is None)
        return f"no published model is of like size ({parameters:.3g} parameters): give {missing}"
    chosen = near[:NEIGHBOURS]
    scaled = tuple(_override_shape(_scale_shape(shape, parameters), network) for shape in chosen)
    names = ", ".join(shape.name for shape in chosen)
    return ShapeCandidates(scaled, "inferred", f"shape not given: inferred from models of like size ({names})")


def _scale_shape(shape: ModelShape, parameters: float) -> ModelShape:
    """The shape made larger or smaller alike: layers and width each by the cube root, as weights go by layers times
    width squared."""
    ratio = parameters / shape.parameters
    by = ratio ** (1 / 3)
    hidden = max(shape.head_size, round(shape.hidden_size * by))
    heads = max(1, round(shape.attention_heads * by))
    return replace(
        shape,
        parameters=parameters,
        active_parameters=shape.active_parameters * ratio,
        layers=max(1, round(shape.layers * by)),
        hidden_size=hidden,
        attention_heads=heads,
        kv_heads=min(shape.kv_heads, heads),
        feed_forward_size=max(1, round(shape.feed_forward_size * by)),
    )
