"""The work in one unit of a described job, and what an accelerator could do of it at most.

Training takes 6 N operations a token, 2 N forward and 4 N backward, for N weights (Kaplan et al. 2020, arXiv
2001.08361, section 2.1), and 12 L h s for attention, with L layers of width h at sequence length s (Chowdhery et al.
2022, arXiv 2204.02311, appendix B). LoRA (Hu et al. 2021, arXiv 2106.09685) freezes the N weights: the half of the
backward pass that would give their gradients is not done, which leaves 4 N; attention has no weights and costs the
same. Reading a prompt is the forward pass alone: 2 N + 4 L h s. Generating a token for one stream reads every active
weight once (roofline of Williams et al. 2009, doi 10.1145/1498765.1498785). Activations computed again are no work
done: utilisation here is that of the model, not of the hardware.
"""

from __future__ import annotations

from planner.performance.throughput.accelerator_scores import computed_peak
from pricing.accelerator import Accelerator

PER_WEIGHT = {"pretraining": 6, "finetuning": 6, "lora": 4, "prefill": 2}
"""Operations a weight and token, by run."""
PER_ATTENTION = {"pretraining": 12, "finetuning": 12, "lora": 12, "prefill": 4}
"""Operations a token for each layer x width x position."""
DEPTH_TIMES_WIDTH = 0.037
"""L h = 0.037 N^(2/3), where the shape of a network is not told: the middle of the language models in networks.csv."""
BYTES = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1, "fp4": 0.5, "int4": 0.5}
"""Bytes a weight."""
COMPUTE_PRECISION = {"int8": "fp16", "int4": "fp16"}
"""Whole numbers are how weights are kept; they are unpacked to be computed with, unless the software says better."""


def operations_per_token(run: str, parameters: float, depth_times_width: float | None, sequence_length: float) -> float:
    """Floating-point operations of the model for one token; `depth_times_width` is layers x width, None if untold."""
    shape = depth_times_width or DEPTH_TIMES_WIDTH * parameters ** (2 / 3)
    return PER_WEIGHT[run] * parameters + PER_ATTENTION[run] * shape * sequence_length


def peak_operations(accelerator: Accelerator, precision: str) -> tuple[str, float] | None:
    """The precision computed at and its dense operations a second: `precision`, or the next wider the part has.

    bf16 counts as fp16; single precision where it is faster than half (Pascal). None if no rate is known.
    """
    rate = computed_peak(accelerator, COMPUTE_PRECISION.get(precision, precision))
    return None if rate is None else (rate[0], rate[1] * 1e12)


def bytes_per_second(accelerator: Accelerator) -> float | None:
    """Memory bandwidth; None if unknown."""
    bandwidth = accelerator.memory_bandwidth_gbs
    return None if bandwidth is None else bandwidth * 1e9
