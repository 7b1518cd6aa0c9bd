"""What splitting a job over a gang costs: the most that can be kept of linear growth, from first principles.

    kept = 1 / ((1 + tensor) / (1 - bubble) + waited)    times as fractions of the time spent computing

    bubble   (p - 1) / (m + p - 1)             p stages, m micro-batches     Huang et al. 2019, arXiv:1811.06965
    tensor   4 all-reduces a layer (6 where    each of a micro-batch's       Shoeybi et al. 2019, arXiv:1909.08053
             it is computed again)             activations; never hidden
    all-reduce of x bytes over n               2 (n - 1) / n * x / bandwidth Patarasuk and Yuan 2009,
                                                                             doi 10.1016/j.jpdc.2008.09.002
    ZeRO 3   1.5 times that, for every         gathered again each time      Rajbhandari et al. 2020, arXiv:1910.02054
             micro-batch
    parameter server: 2 n x bytes over the     a server on every node        Li et al. 2014, OSDI, section 3
             servers' links
    waited   what copies exchange beyond the backward pass, which hides the rest

It is a bound: latency, stragglers, uneven stages and busy networks cost more. Pure: knows neither prices nor requests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from planner.performance.model_catalog import ModelShape
from planner.request.neural_network import NeuralNetwork, Parallelism

BACKWARD = 2 / 3
"""Of the time spent computing, what may hide the exchange of copies: a backward pass is twice a forward one."""
ONE_WAY = 0.5
"""Of an accelerator's interconnect as data sheets tell it: they add both directions."""
BYTES = {"fp32": 4.0, "tf32": 4.0}
"""Of a gradient or an activation; 2 in every other precision, as they are exchanged in half precision."""


@dataclass(frozen=True, slots=True)
class GangLinks:
    """What joins a gang: `within_gbs` of one accelerator to others of its node in GB/s (both directions together),
    `between_gbps` of a node to others in Gbit/s, and accelerators a node. None is unknown."""

    per_node: float
    within_gbs: float | None
    between_gbps: float | None


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step of training: `micro_batches` of each copy (None: unknown) and what one accelerator does in a second
    (`tflops` that count for the network, not its peak)."""

    tflops: float
    micro_batches: float | None = None


@dataclass(frozen=True, slots=True)
class ScalingEfficiency:
    """The most that is kept of linear growth from one accelerator, and the share of computing time that each part
    adds (`bubble` is of the whole)."""

    fraction: float
    bubble: float
    tensor: float
    copies: float
    waited: float
    explanation: str


def max_scaling_efficiency(
    network: NeuralNetwork, shape: ModelShape, split: Parallelism, count: int, links: GangLinks, step: TrainingStep
) -> ScalingEfficiency | str:
    """What `count` accelerators keep of linear growth at most, or why that cannot be told."""
    accelerators_per_copy = split.tensor * split.pipeline
    if count % accelerators_per_copy:
        return f"{count:,} accelerators are no multiple of tensor {split.tensor} x pipeline {split.pipeline}"
    if split.pipeline > 1 and step.micro_batches is None:
        return "a pipeline waits by how many micro-batches a step has, and the batch of a step is not given"
    computing = _seconds_computing(network, shape, step) / accelerators_per_copy
    tensor = _seconds_of_tensor(network, shape, split, links)
    copies = _seconds_of_copies(network, shape, split, count // accelerators_per_copy, links)
    if isinstance(tensor, str):
        return tensor
    if isinstance(copies, str):
        return copies
    batches = step.micro_batches or 1.0
    work = computing * batches
    exchange = copies * (batches if split.zero_stage == 3 else 1.0) / work
    waited = max(0.0, exchange - BACKWARD)
    bubble = (split.pipeline - 1) / (batches + split.pipeline - 1)
    fraction = 1 / ((1 + tensor / computing) / (1 - bubble) + waited)
    efficiency = ScalingEfficiency(fraction, bubble, tensor / computing, exchange, waited, "")
    return replace(efficiency, explanation=_explain_efficiency(efficiency, split, count // accelerators_per_copy))


def _seconds_computing(network: NeuralNetwork, shape: ModelShape, step: TrainingStep) -> float:
    """One micro-batch on one accelerator: 6 operations a weight and token (2 forward, 4 backward), with the scores of
    attention (Narayanan et al. 2021, arXiv:2104.04473, equation 3 without its recomputation)."""
    tokens = network.batch_per_device * network.sequence_length
    scores = 12 * shape.layers * shape.hidden_size * network.sequence_length
    return tokens * (6 * shape.active_parameters + scores) / (step.tflops * 1e12)


def _seconds_of_tensor(network: NeuralNetwork, shape: ModelShape, split: Parallelism, links: GangLinks) -> float | str:
    if split.tensor == 1:
        return 0.0
    size = network.batch_per_device * network.sequence_length * shape.hidden_size * BYTES.get(network.precision, 2.0)
    times = (6 if network.checkpointing == "full" else 4) * shape.layers / split.pipeline
    speed = _link_bandwidth(links, math.ceil(split.tensor / links.per_node - 1e-9))
    return speed if isinstance(speed, str) else times * _ring_volume(split.tensor) * size / speed


def _seconds_of_copies(
    network: NeuralNetwork, shape: ModelShape, split: Parallelism, copies: int, links: GangLinks
) -> float | str:
    """Gradients (and for ZeRO 3 weights) that the copies exchange once; in a node first, then once between nodes."""
    if copies == 1:
        return 0.0
    accelerators_per_copy = split.tensor * split.pipeline
    size = shape.parameters / accelerators_per_copy * BYTES.get(network.precision, 2.0)
    volume = 1.5 if split.zero_stage == 3 else 1.0
    nodes = math.ceil(copies * accelerators_per_copy / links.per_node - 1e-9)
    speed = _link_bandwidth(links, nodes)
    if isinstance(speed, str):
        return speed
    if nodes == 1:  # a server on every accelerator moves what a ring does
        return _ring_volume(copies) * volume * size / speed
    of_a_node = size * min(links.per_node, accelerators_per_copy)
    together = max(1.0, links.per_node / accelerators_per_copy)
    if split.exchange == "parameter_server":
        return 2 * together * of_a_node / speed
    return _ring_volume(copies / together) * volume * of_a_node / speed


def _ring_volume(count: float) -> float:
    return 2 * (count - 1) / count


def _link_bandwidth(links: GangLinks, nodes: int) -> float | str:
    """Bytes a second one way: of an accelerator to others of its node, or of a node to others."""
    if nodes == 1:
        if links.within_gbs is None:
            return "how fast the accelerators of a node reach each other is unknown"
        return links.within_gbs * ONE_WAY * 1e9
    if links.between_gbps is None:
        return "how fast the network between its nodes is, is unknown"
    return links.between_gbps / 8 * 1e9


def _explain_efficiency(efficiency: ScalingEfficiency, split: Parallelism, copies: int) -> str:
    clauses = []
    if split.pipeline > 1:
        clauses.append(f"a pipeline of {split.pipeline} idles {efficiency.bubble:.1%} of the time")
    if split.tensor > 1:
        clauses.append(f"tensor parallelism over {split.tensor} adds {efficiency.tensor:.1%} to the time of computing")
    if copies > 1:
        how = "parameter servers" if split.exchange == "parameter_server" else "all-reduce"
        clauses.append(
            f"{copies} copies exchange by {how} for {efficiency.copies:.0%} of that time, and wait for "
            f"{efficiency.waited:.0%}"
        )
    return f"at most {efficiency.fraction:.3g} of linear: {', '.join(clauses) or 'nothing is split'}"
