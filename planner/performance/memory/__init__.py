"""Does the model fit: memory that a network needs on each accelerator of a gang, and the smallest gang that has it.

Pure functions of a network and a count; the formulas stand in `_bytes`, each with its paper. Knows no offering, no
price and no throughput. Every answer is a band, since frameworks, allocators and drivers differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from planner.performance.memory.footprint import GIB, HIGH, LIKELY, LOW, GangLayout, memory_parts
from planner.performance.memory.network_shapes import ShapeCandidates, resolve_shapes
from planner.request.neural_network import NeuralNetwork, Parallelism
from pricing.accelerator import Accelerator

Verdict = Literal["yes", "tight", "no"]
USABLE_FRACTIONS = (0.91, 0.99)
"""Of the memory that a data sheet tells, what programs can have: 14.56 of 16 GiB on a T4, whose error correction lives
in the same memory (github.com/Zheng-Chong/CatVTON issue 133), 79.25 of 80 GiB on an A100
(github.com/wbfwonderful/Vad-R1 issue 11)."""
TENSOR_PARALLEL_MAX = 8
"""Accelerators that tensor parallelism spans unless the request says otherwise: beyond a server it is slow."""
GANG_MAX = 16_384


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """GiB on the fullest accelerator of a gang: the likely parts, and the band of the total.

    `basis` says where the shape comes from: published, stated or inferred (from models of like size, with a band that
    covers them); `explanation` says it in words, with the parallelism that was assumed if none was stated.
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
    explanation: str


@dataclass(frozen=True, slots=True)
class SmallestGang:
    """The fewest accelerators that hold a network: `count` surely, `tight` perhaps and fewer; None where none do.
    `memory` is that of `count`, else of `tight`."""

    count: int | None
    tight: int | None
    memory: MemoryEstimate


def estimate_memory(network: NeuralNetwork, gang: float = 1) -> MemoryEstimate | str:
    """What the network needs on each of `gang` accelerators, or why it cannot be told."""
    known = resolve_shapes(network)
    if isinstance(known, str):
        return known
    return _compute_memory(network, gang, known)


per_accelerator_gib = estimate_memory


def judge_fit(memory: MemoryEstimate, memory_gib: float) -> Verdict:
    """Whether accelerators of `memory_gib` (as data sheets tell it) hold it: surely, perhaps, or not."""
    if memory.high_gib <= memory_gib * USABLE_FRACTIONS[0]:
        return "yes"
    return "no" if memory.low_gib > memory_gib * USABLE_FRACTIONS[1] else "tight"


def network_fits(network: NeuralNetwork, memory_gib: float, gang: float = 1) -> Verdict | str:
    """`verdict` of what the network needs, or why that cannot be told."""
    memory = estimate_memory(network, gang)
    return memory if isinstance(memory, str) else judge_fit(memory, memory_gib)


def smallest_gang(network: NeuralNetwork, accelerator: Accelerator) -> SmallestGang | str:
    """The fewest accelerators of one kind that hold the network, or why none do.

    Powers of two, times what holds one copy if the request states it.
    """
    if accelerator.memory_gib is None:
        return f"the memory of {accelerator.name} is unknown"
    known = resolve_shapes(network)
    if isinstance(known, str):
        return known
    unit = network.parallelism.tensor * network.parallelism.pipeline if network.parallelism else 1
    tight: tuple[int, MemoryEstimate] | None = None
    memory: MemoryEstimate | str = "no gang was tried"
    count = unit
    while count <= max(GANG_MAX, unit):
        memory = _compute_memory(network, count, known)
        if isinstance(memory, str):
            break
        judged = judge_fit(memory, accelerator.memory_gib)
        if judged == "yes":
            return SmallestGang(count, tight[0] if tight else None, memory)
        if judged == "tight" and tight is None:
            tight = (count, memory)
        count *= 2
    if tight is not None:
        return SmallestGang(None, *tight)
    return memory if isinstance(memory, str) else _explain_too_large(memory, count // 2)


def _explain_too_large(memory: MemoryEstimate, count: int) -> str:
    """What more accelerators do not share: activations of copies, or what a stated split leaves whole."""
    return f"still {memory.low_gib:.3g} GiB or more on each of {count:,}: split otherwise, recompute or ask for less"


def default_parallelism(network: NeuralNetwork, known: ShapeCandidates, gang: int) -> Parallelism:
    """How a gang shares the network if the request does not say: ZeRO 3 to train; to infer, tensor parallel within a
    server as far as the heads can be shared out, a pipeline beyond as far as the layers can, and copies beyond that."""
    if network.run != "inference":
        return Parallelism(zero_stage=3 if gang > 1 else 0)
    tensor = math.gcd(gang, TENSOR_PARALLEL_MAX, known.shapes[0].attention_heads)
    rest, layers = gang // tensor, min(shape.layers for shape in known.shapes)
    pipeline = max(stages for stages in range(1, min(rest, layers) + 1) if rest % stages == 0)
    return Parallelism(tensor=tensor, pipeline=pipeline)


def _compute_memory(network: NeuralNetwork, gang: float, known: ShapeCandidates) -> MemoryEstimate | str:
    count = max(1, math.ceil(gang - 1e-9))
    split = network.parallelism or default_parallelism(network, known, count)
    accelerators_per_copy = split.tensor * split.pipeline
    if count % accelerators_per_copy:
        return f"{count:,} accelerators are no multiple of tensor {split.tensor} x pipeline {split.pipeline}"
    if any(split.pipeline > shape.layers for shape in known.shapes):
        return f"a pipeline of {split.pipeline:,} has more stages than the network has layers"
    layouts = [GangLayout(network, shape, split, count // accelerators_per_copy) for shape in known.shapes]
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
        explanation=f"{known.explanation}; "
        f"{_describe_split(split, count // accelerators_per_copy, stated=network.parallelism is not None)}",
    )


def _describe_split(split: Parallelism, copies: int, *, stated: bool) -> str:
    found = [f"{name} {size}" for name, size in (("tensor", split.tensor), ("pipeline", split.pipeline)) if size > 1]
    if copies > 1:
        found.append(f"{copies:,} copies" + (f" sharing by ZeRO {split.zero_stage}" if split.zero_stage else ""))
    return f"{' x '.join(found) or 'one accelerator'}{'' if stated or not found else ' (assumed)'}"
