"""The table of published models: whole, sourced, and of one piece (the parameters follow from the shape)."""

from __future__ import annotations

import pytest

from planner.performance.model_catalog import (
    ModelShape,
    describe_unknown_model,
    find_model,
    nearest_models,
    published_models,
)

EXPERTS = {"mixtral-8x7b": (8, 2), "qwen3-30b-a3b": (128, 8), "qwen3-235b-a22b": (128, 8)}
"""In all, and at work on one token."""


@pytest.mark.parametrize("shape", published_models().values(), ids=lambda shape: shape.name)
def test_parameters_follow_from_the_shape(shape: ModelShape):
    """Attention 2 h d (a + a_kv), feed-forward, embeddings; norms, biases and positions are the rest, and what a paper
    rounds (2.5 %)."""
    total, active = EXPERTS.get(shape.name, (1, 1))
    attention = 2 * shape.hidden_size * shape.head_size * (shape.attention_heads + shape.kv_heads)
    working = shape.feed_forward_matrices * shape.hidden_size * shape.feed_forward_size
    for parameters, times in ((shape.parameters, total / active), (shape.active_parameters, 1)):
        reckoned = shape.layers * (attention + working * times) + shape.embedding_parameters
        assert reckoned == pytest.approx(parameters, rel=0.025)


def test_the_table_is_wide_and_sourced():
    assert len(published_models()) >= 25
    assert {"gpt2", "gpt-3-175b", "bert-large", "llama-7b", "llama-3.1-405b", "mixtral-8x7b", "bloom-176b"} <= set(
        published_models()
    )
    assert all(("github.com/" in s.source or "arXiv:" in s.source) for s in published_models().values())
    assert list(published_models()) == sorted(published_models())


def test_names_are_found_whatever_their_case():
    assert find_model("LLaMA-2-7B") is published_models()["llama-2-7b"]
    assert find_model("llama 2 7b") is None
    assert nearest_models("llama 2 7b")[0] == "llama-2-7b"
    assert describe_unknown_model("lama-2-7b").startswith("no published model of this name; nearest: llama-2-7b")
    assert describe_unknown_model("LLaMA-2-7B") == ""
