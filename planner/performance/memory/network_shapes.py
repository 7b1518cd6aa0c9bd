"""The shape of a network: as stated, of a published model, or inferred from published models of similar size."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from planner.performance.memory.footprint import GATED_MATRICES
from planner.performance.model_catalog import ModelShape, find_model, published_models
from planner.request.neural_network import NeuralNetwork
from planner.result.message import Message, message
from pricing.frozen_values import dataclass

SHAPE_FIELDS = ("layers", "hidden_size", "attention_heads", "kv_heads", "head_size", "feed_forward_size", "vocabulary")
REQUIRED_FIELDS = ("layers", "hidden_size", "attention_heads", "vocabulary")
"""The fields from which, with the number of parameters, the rest of a shape follows."""
SIZE_RATIO_MAX = 2.0
"""A model more than twice or less than half as large is not of similar size."""
NEIGHBOURS = 5


@dataclass(frozen=True, slots=True)
class ShapeCandidates:
    """The likeliest shape first; where the shape is inferred, then the other plausible ones. `explanation` names their
    origin."""

    shapes: tuple[ModelShape, ...]
    basis: str
    explanation: Message


def resolve_shapes(network: NeuralNetwork) -> ShapeCandidates | Message:
    """The shape of a network or its candidates; the reason where it can be neither looked up nor inferred."""
    if network.model is not None and (base := find_model(network.model)) is not None:
        origin = message("shape_published", model=base.name, source=base.source, source_date=base.source_date)
        return ShapeCandidates((_override_shape(base, network),), "published", origin)
    if network.parameters is None:
        return message("network_size_not_given")
    if all(getattr(network, name) is not None for name in REQUIRED_FIELDS):
        return ShapeCandidates((_shape_from_fields(network, network.parameters),), "stated", message("shape_stated"))
    return _inferred_shapes(network, network.parameters)


def _override_shape(base: ModelShape, network: NeuralNetwork) -> ModelShape:
    """The published shape with the fields that the request states; another number of parameters scales every layer."""
    stated: dict[str, Any] = {name: value for name in SHAPE_FIELDS if (value := getattr(network, name)) is not None}
    if network.parameters is not None:
        stated["parameters"] = network.parameters
        stated["active_parameters"] = network.parameters
    if network.active_parameters is not None:
        stated["active_parameters"] = network.active_parameters
    return replace(base, **stated)


def _shape_from_fields(network: NeuralNetwork, parameters: float) -> ModelShape:
    """The shape from REQUIRED_FIELDS: the heads share the hidden size, and parameters that belong to no other matrix
    are the feed-forward's. It is assumed to be gated, the kind that needs more memory in training."""
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


def _inferred_shapes(network: NeuralNetwork, parameters: float) -> ShapeCandidates | Message:
    def distance(shape: ModelShape) -> float:
        return abs(math.log(shape.parameters / parameters))

    sparse = network.active_parameters is not None and network.active_parameters < parameters
    # a mixture of experts and a dense network of one size differ in width and depth: compare like with like
    candidates = [s for s in published_models().values() if (s.active_parameters < s.parameters) == sparse]
    near = [
        s for s in sorted(candidates, key=lambda s: (distance(s), s.name)) if distance(s) <= math.log(SIZE_RATIO_MAX)
    ]
    if not near:
        missing = [name for name in REQUIRED_FIELDS if getattr(network, name) is None]
        return message("no_model_of_similar_size", parameters=parameters, missing_fields=missing)
    nearest = near[:NEIGHBOURS]
    scaled = tuple(_override_shape(_scale_shape(shape, parameters), network) for shape in nearest)
    origin = message("shape_inferred", models=[shape.name for shape in nearest])
    return ShapeCandidates(scaled, "inferred", origin)


def _scale_shape(shape: ModelShape, parameters: float) -> ModelShape:
    """The shape scaled to a number of parameters: depth and width each grow with the cube root of the ratio, since
    weights grow with depth x width squared."""
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
