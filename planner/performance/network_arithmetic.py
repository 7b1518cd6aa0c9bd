"""Operations of a network per token, bytes of its values, and the units in which its work is counted.

Training takes 6 N operations per token, 2 N forward and 4 N backward, for N weights (Kaplan et al. 2020, arXiv
2001.08361, section 2.1), and 12 L h s for attention, with L layers of width h at sequence length s (Chowdhery et al.
2022, arXiv 2204.02311, appendix B). LoRA (Hu et al. 2021, arXiv 2106.09685) freezes the N weights: the half of the
backward pass that computes their gradients is skipped, which leaves 4 N; attention has no weights and costs the same.
Reading a prompt is the forward pass alone: 2 N + 4 L h s. Recomputed activations do not count as work.
"""

from __future__ import annotations

OPERATIONS_PER_WEIGHT = {"pretraining": 6, "finetuning": 6, "lora": 4, "prefill": 2}
"""Operations for each weight and token, by run."""
OPERATIONS_PER_ATTENTION = {"pretraining": 12, "finetuning": 12, "lora": 12, "prefill": 4}
"""Operations per token for each layer x width x position, by run."""
DEPTH_TIMES_WIDTH = 0.037
"""L h = 0.037 N^(2/3) where the shape of a network is unknown: the middle of the language models in networks.csv."""
BITS = {"fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8, "fp4": 4, "int4": 4}
"""Of a weight or a cached value, by precision."""
HALF_BYTES, FULL_BYTES = 2.0, 4.0
TOKEN_UNITS = frozenset(("token", "tokens"))
SEQUENCE_UNITS = frozenset(("sequence", "sequences"))


def operations_per_token(run: str, parameters: float, depth_times_width: float | None, sequence_length: float) -> float:
    """Floating-point operations of the model for one token; `depth_times_width` is layers x width, None if unknown."""
    shape = depth_times_width or DEPTH_TIMES_WIDTH * parameters ** (2 / 3)
    return OPERATIONS_PER_WEIGHT[run] * parameters + OPERATIONS_PER_ATTENTION[run] * shape * sequence_length


def exchanged_bytes(precision: str) -> float:
    """Bytes of a gradient or an activation between accelerators: lower precisions are exchanged in 16 bits."""
    return max(HALF_BYTES, BITS[precision] / 8)
