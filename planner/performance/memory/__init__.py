"""Memory that a network needs on each accelerator of a gang, and the smallest gang that has enough of it.

Pure functions of a network and a count; `footprint` has the formulas, each with its paper. Independent of offerings,
prices and throughput. Every answer is a band, since frameworks, allocators and drivers differ.
"""

from __future__ import annotations

import math
from typing import Literal

from planner.performance.memory.footprint import GIB, HIGH, LIKELY, LOW, GangLayout, memory_parts
from planner.performance.memory.network_shapes import ShapeCandidates, resolve_shapes
from planner.performance.parallelism import copies_in_gang
from planner.request.neural_network import NeuralNetwork, Parallelism
from planner.result.message import Message, message
from pricing.accelerator import Accelerator
from pricing.frozen_values import dataclass

Verdict = Literal["yes", "tight", "no"]
USABLE_FRACTIONS = (0.91, 0.99)
"""Least and most of the nominal memory that programs can use: 14.56 of 16 GiB on a T4, whose error correction code
takes part of the same memory (github.com/Zheng-Chong/CatVTON issue 133), 79.25 of 80 GiB on an A100
(github.com/wbfwonderful/Vad-R1 issue 11)."""
TENSOR_PARALLEL_MAX = 8
"""Accelerators that tensor parallelism spans by default: beyond a server it is slow."""
GANG_MAX = 16_384
"""The search for the smallest gang ends here."""


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """GiB on the fullest accelerator of a gang: the likely parts, and the band of the total.

    `basis` is the origin of the shape: published, stated or inferred (from models of similar size, with a band that
    covers them); `explanation` has this origin in detail and how the gang shares the network.
    """

    weights_gib: float
    gradients_gib: float
    optimizer_gib: float
    activations_gib: float
    kv_cache_gib: float
    overhead_gib: float
    total_gib: float
    low_gib: float
    high_gib: float
    parallelism: Parallelism
    basis: str
    explanation: tuple[Message, Message]


@dataclass(frozen=True, slots=True)
class SmallestGang:
    """The fewest accelerators on which a network fits: `count` at the high end of the band, `tight` only at its low end
    (a smaller gang); None where there is none. `memory` is that of `count`, else of `tight`."""

    count: int | None
    tight: int | None
    memory: MemoryEstimate


def estimate_memory(network: NeuralNetwork, gang: float = 1) -> MemoryEstimate | Message:
    """Memory of the network on each of `gang` accelerators, or the reason why it cannot be estimated."""
    known = resolve_shapes(network)
    return known if isinstance(known, Message) else _compute_memory(network, gang, known)


def judge_fit(memory: MemoryEstimate, memory_gib: float) -> Verdict:
    """Whether it fits on accelerators of `memory_gib` (nominal, as in data sheets): yes, perhaps (tight), or no."""
    if memory.high_gib <= memory_gib * USABLE_FRACTIONS[0]:
        return "yes"
    return "no" if memory.low_gib > memory_gib * USABLE_FRACTIONS[1] else "tight"


def smallest_gang(network: NeuralNetwork, accelerator: Accelerator) -> SmallestGang | Message:
    """The fewest accelerators of one kind on which the network fits, or the reason why it fits on none.

    Powers of two, times the accelerators of one copy where the request states a parallelism.
    """
    if accelerator.memory_gib is None:
        return message("accelerator_memory_unknown", accelerator=accelerator.name)
    known = resolve_shapes(network)
    if isinstance(known, Message):
        return known
    unit = network.parallelism.tensor * network.parallelism.pipeline if network.parallelism else 1
    tight: tuple[int, MemoryEstimate] | None = None
    problem: Message | None = None
    count = unit
    while problem is None and count <= max(GANG_MAX, unit):
        memory = _compute_memory(network, count, known)
        if isinstance(memory, Message):
            problem = memory
            continue
        fit = judge_fit(memory, accelerator.memory_gib)
        if fit == "yes":
            return SmallestGang(count, tight[0] if tight else None, memory)
        if fit == "tight" and tight is None:
            tight = (count, memory)
        # more accelerators cannot help where copies repeat activations, or a stated split leaves parts unshared
        last = message("network_too_large", needed_gib=memory.low_gib, gang=count)
        count *= 2
    if tight is not None:
        return SmallestGang(None, *tight)
    return problem or last


def default_parallelism(network: NeuralNetwork, known: ShapeCandidates, gang: int) -> Parallelism:
    """How a gang shares the network where the request states no parallelism: ZeRO 3 for training; for inference tensor
    parallelism within a server as far as heads divide, a pipeline beyond it as far as layers divide, then copies."""
    if network.run != "inference":
        return Parallelism(zero_stage=3 if gang > 1 else 0)
    tensor = math.gcd(gang, TENSOR_PARALLEL_MAX, known.shapes[0].attention_heads)
    rest, layers = gang // tensor, min(shape.layers for shape in known.shapes)
    pipeline = max(stages for stages in range(1, min(rest, layers) + 1) if rest % stages == 0)
    return Parallelism(tensor=tensor, pipeline=pipeline)


def _compute_memory(network: NeuralNetwork, gang: float, known: ShapeCandidates) -> MemoryEstimate | Message:
    count = max(1, math.ceil(gang - 1e-9))
    split = network.parallelism or default_parallelism(network, known, count)
    copies = copies_in_gang(split, count)
    if isinstance(copies, Message):
        return copies
    if any(split.pipeline > shape.layers for shape in known.shapes):
        return message("pipeline_longer_than_network", stages=split.pipeline)
    layouts = [GangLayout(network, shape, split, copies) for shape in known.shapes]
    likely = memory_parts(layouts[0], LIKELY)
    return MemoryEstimate(
        weights_gib=likely.weights / GIB,
        gradients_gib=likely.gradients / GIB,
        optimizer_gib=likely.optimizer / GIB,
        activations_gib=likely.activations / GIB,
        kv_cache_gib=likely.kv_cache / GIB,
        overhead_gib=likely.overhead / GIB,
        total_gib=likely.total / GIB,
        low_gib=min(memory_parts(layout, LOW).total for layout in layouts) / GIB,
        high_gib=max(memory_parts(layout, HIGH).total for layout in layouts) / GIB,
        parallelism=split,
        basis=known.basis,
        explanation=(known.explanation, _describe_split(split, copies, assumed=network.parallelism is None)),
    )


def _describe_split(split: Parallelism, copies: int, *, assumed: bool) -> Message:
    return message(
        "gang_split", tensor=split.tensor, pipeline=split.pipeline, copies=copies, zero_stage=split.zero_stage,
        assumed=assumed,
    )  # fmt: skip
