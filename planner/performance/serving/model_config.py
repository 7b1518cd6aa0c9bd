"""The network in a Hugging Face `config.json`: its weights are counted from its sizes, as the architecture has them.

Attention of grouped heads, or latent attention (DeepSeek-V2, arXiv:2405.04434: one vector of kv_lora_rank and
qk_rope_head_dim values a layer, written here as one head of half that size for keys and values each); a gated
feed-forward, or experts of which some work on a token. Layers without a full cache (sliding or linear attention in
`layer_types`) count in the mean size of a head.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

REQUIRED = ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
EXPERT_COUNTS = ("n_routed_experts", "num_experts", "num_local_experts")
FULL_ATTENTION = "full_attention"


def network_of_config(document: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fields of a NeuralNetwork, and every fault; the fields are empty where there is one."""
    nested = document.get("text_config")
    config = nested if isinstance(nested, Mapping) else document
    sizes = {name: value for name, value in config.items() if isinstance(value, int) and not isinstance(value, bool)}
    faults = tuple(f"{name} is missing or no whole number above 0" for name in REQUIRED if sizes.get(name, 0) < 1)
    experts = next((sizes[name] for name in EXPERT_COUNTS if sizes.get(name)), 0)
    if not faults and "intermediate_size" not in sizes and not (experts and "moe_intermediate_size" in sizes):
        faults = ("intermediate_size is missing or no whole number above 0",)
    if not faults and experts and not sizes.get("num_experts_per_tok"):
        faults = ("num_experts_per_tok is missing or no whole number above 0",)
    if faults:
        return {}, faults
    layers, hidden, heads = (sizes[name] for name in REQUIRED[:3])
    attention, kv_heads, head_size = _read_attention(sizes)
    dense, active = _feed_forward(sizes, experts)
    tied = bool(config.get("tie_word_embeddings", document.get("tie_word_embeddings", False)))
    embeddings = (1 if tied else 2) * sizes["vocab_size"] * hidden
    norms = (2 * layers + 1) * hidden
    kinds = config.get("layer_types")
    full = kinds.count(FULL_ATTENTION) / layers if isinstance(kinds, list) and len(kinds) == layers else 1.0
    network = {
        "parameters": float(layers * attention + dense + embeddings + norms),
        "layers": layers,
        "hidden_size": hidden,
        "attention_heads": heads,
        "kv_heads": kv_heads,
        "head_size": max(1, round(head_size * full)),
        "vocabulary": sizes["vocab_size"],
        "run": "inference",
    }
    if active < dense:
        network["active_parameters"] = float(layers * attention + active + embeddings + norms)
    if "intermediate_size" in sizes:
        network["feed_forward_size"] = sizes["intermediate_size"]
    return network, ()


def _read_attention(sizes: Mapping[str, int]) -> tuple[int, int, int]:
    """Weights of the attention of a layer, heads that are cached, and their size."""
    hidden, heads = sizes["hidden_size"], sizes["num_attention_heads"]
    if rank := sizes.get("kv_lora_rank", 0):
        rotary, plain = sizes.get("qk_rope_head_dim", 0), sizes.get("qk_nope_head_dim", 0)
        value = sizes.get("v_head_dim", plain)
        query = sizes.get("q_lora_rank", 0)
        queries = query * (hidden + heads * (plain + rotary)) if query else hidden * heads * (plain + rotary)
        shared = hidden * (rank + rotary) + rank * heads * (plain + value)
        return queries + shared + heads * value * hidden, 1, math.ceil((rank + rotary) / 2)
    kv_heads = sizes.get("num_key_value_heads") or heads
    head_size = sizes.get("head_dim") or hidden // heads
    return 2 * hidden * head_size * (heads + kv_heads), kv_heads, head_size


def _feed_forward(sizes: Mapping[str, int], experts: int) -> tuple[int, int]:
    """Weights of all feed-forward layers, and those of them that work on one token."""
    layers, hidden, width = sizes["num_hidden_layers"], sizes["hidden_size"], sizes.get("intermediate_size", 0)
    if not experts:
        return layers * 3 * hidden * width, layers * 3 * hidden * width
    each = 3 * hidden * sizes.get("moe_intermediate_size", width)
    shared = each * sizes.get("n_shared_experts", 0) + 3 * hidden * sizes.get("shared_expert_intermediate_size", 0)
    first = min(layers, sizes.get("first_k_dense_replace", 0))
    every = shared + hidden * experts
    dense = first * 3 * hidden * width
    total = dense + (layers - first) * (each * experts + every)
    return total, dense + (layers - first) * (each * sizes["num_experts_per_tok"] + every)
