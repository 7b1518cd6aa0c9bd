"""An upper bound on the scaling efficiency of a job that is split over a gang, from first principles.

    efficiency = 1 / ((1 + tensor) / (1 - bubble) + waited)    times as fractions of the time spent computing

    bubble   (p - 1) / (m + p - 1)             p stages, m micro-batches     Huang et al. 2019, arXiv:1811.06965
    tensor   4 all-reduces a layer (6 where    each of a micro-batch's       Shoeybi et al. 2019, arXiv:1909.08053
             it is computed again)             activations; never hidden
    all-reduce of x bytes over n               2 (n - 1) / n * x / bandwidth Patarasuk and Yuan 2009,
                                                                             doi 10.1016/j.jpdc.2008.09.002
    ZeRO 3   1.5 times that, for every         weights gathered each time     Rajbhandari et al. 2020, arXiv:1910.02054
             micro-batch
    parameter server: 2 n x bytes over the     a server on every node        Li et al. 2014, OSDI, section 3
             servers' links
    waited   the exchange between copies that outlasts the backward pass, which hides the rest

A bound, not an estimate: latency, stragglers, uneven stages and busy networks cost more. Pure functions.
"""

from __future__ import annotations

import math

from planner.performance.model_catalog import ModelShape
from planner.performance.network_arithmetic import exchanged_bytes, operations_per_token
from planner.request.neural_network import NeuralNetwork, Parallelism
from planner.result.message import Message, message
from pricing.frozen_values import dataclass

USUAL_SERVER_SIZE = 8
"""Accelerators of a usual server."""
BACKWARD = 2 / 3
"""Share of the computing time that can hide the exchange between copies: a backward pass is twice a forward one."""
ONE_WAY = 0.5
"""Share of an accelerator's interconnect bandwidth as in data sheets, which add both directions."""


@dataclass(frozen=True, slots=True)
class GangLinks:
    """The links of a gang: `per_node` accelerators on a node, `within_gbs` of one accelerator to others of its node in
    GB/s (both directions together), `between_gbps` of a node to others in Gbit/s. None is unknown."""

    per_node: float
    within_gbs: float | None
    between_gbps: float | None


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step of training: `micro_batches` of each copy (None: unknown) and the useful work of one accelerator in
    TFLOPS (operations of the network, not the peak of the accelerator)."""

    tflops: float
    micro_batches: float | None = None


@dataclass(frozen=True, slots=True)
class ScalingEfficiency:
    """The most of linear growth from one accelerator that a gang can reach (`fraction`), and the share of computing
    time that each part adds (`bubble` is of the whole). `copies` exchange for `exchange`, of which `waited` is not
    hidden."""

    fraction: float
    bubble: float
    tensor: float
    copies: float
    waited: float
    explanation: Message


def copies_in_gang(split: Parallelism, count: int) -> int | Message:
    """Complete copies of the network in a gang, or the reason where the gang does not divide into copies."""
    copies, rest = divmod(count, split.tensor * split.pipeline)
    return message("gang_not_divisible", gang=count, tensor=split.tensor, pipeline=split.pipeline) if rest else copies


def max_scaling_efficiency(
    network: NeuralNetwork, shape: ModelShape, split: Parallelism, count: int, links: GangLinks, step: TrainingStep
) -> ScalingEfficiency | Message:
    """The most of linear growth that `count` accelerators can reach, or the reason why it is unknown."""
    copies = copies_in_gang(split, count)
    if isinstance(copies, Message):
        return copies
    if split.pipeline > 1 and step.micro_batches is None:
        return message("step_batch_unknown")
    computing = _seconds_computing(network, shape, step) / (split.tensor * split.pipeline)
    tensor_exchange = _seconds_of_tensor(network, shape, split, links)
    copy_exchange = _seconds_of_copies(network, shape, split, copies, links)
    other_exchange = _seconds_of_copies(network, shape, _with_other_exchange(split), copies, links)
    if isinstance(tensor_exchange, Message):
        return tensor_exchange
    if isinstance(copy_exchange, Message):
        return copy_exchange
    assert not isinstance(other_exchange, Message)  # it uses the same links
    tensor = tensor_exchange / computing
    batches = step.micro_batches or 1.0
    # copies exchange gradients once a step, after all micro-batches; ZeRO 3 gathers its weights for each of them
    exchanges = batches if split.zero_stage == 3 else 1.0
    exchange = copy_exchange * exchanges / (computing * batches)
    waited = max(0.0, exchange - BACKWARD)
    bubble = (split.pipeline - 1) / (batches + split.pipeline - 1)
    fraction = 1 / ((1 + tensor) / (1 - bubble) + waited)
    explanation = message(
        "scaling_bound", fraction=fraction, pipeline=split.pipeline, bubble_fraction=bubble, tensor=split.tensor,
        tensor_fraction=tensor, copies=copies, exchange=split.exchange, exchange_fraction=exchange,
        waited_fraction=waited, exchange_seconds=copy_exchange * exchanges,
        other_exchange_seconds=other_exchange * exchanges,
    )  # fmt: skip
    return ScalingEfficiency(fraction, bubble, tensor, exchange, waited, explanation)


def _with_other_exchange(split: Parallelism) -> Parallelism:
    other = "parameter_server" if split.exchange == "all_reduce" else "all_reduce"
    return split.model_copy(update={"exchange": other})


def _seconds_computing(network: NeuralNetwork, shape: ModelShape, step: TrainingStep) -> float:
    """One micro-batch on one accelerator, counted as training of all weights."""
    tokens = network.batch_per_device * network.sequence_length
    depth_times_width = shape.layers * shape.hidden_size
    per_token = operations_per_token("pretraining", shape.active_parameters, depth_times_width, network.sequence_length)
    return tokens * per_token / (step.tflops * 1e12)


def _seconds_of_tensor(
    network: NeuralNetwork, shape: ModelShape, split: Parallelism, links: GangLinks
) -> float | Message:
    """All-reduces of a micro-batch's activations inside the layers of one stage, which wait for each other."""
    if split.tensor == 1:
        return 0.0
    tokens = network.batch_per_device * network.sequence_length
    size = tokens * shape.hidden_size * exchanged_bytes(network.precision)
    times = (6 if network.checkpointing == "full" else 4) * shape.layers / split.pipeline
    speed = _link_bandwidth(links, math.ceil(split.tensor / links.per_node - 1e-9))
    return speed if isinstance(speed, Message) else times * _ring_volume(split.tensor) * size / speed


def _seconds_of_copies(
    network: NeuralNetwork, shape: ModelShape, split: Parallelism, copies: int, links: GangLinks
) -> float | Message:
    """Gradients (and for ZeRO 3 weights) that the copies exchange once; in a node first, then once between nodes."""
    if copies == 1:
        return 0.0
    accelerators_per_copy = split.tensor * split.pipeline
    size = shape.parameters / accelerators_per_copy * exchanged_bytes(network.precision)
    volume = 1.5 if split.zero_stage == 3 else 1.0
    nodes = math.ceil(copies * accelerators_per_copy / links.per_node - 1e-9)
    speed = _link_bandwidth(links, nodes)
    if isinstance(speed, Message):
        return speed
    if nodes == 1:  # a server on every accelerator moves as much as a ring does
        return _ring_volume(copies) * volume * size / speed
    # Between nodes each distinct shard of the weights crosses the node's link once, however many copies of it the
    # node has: they add up their gradients over the links within the node first.
    shards_of_node = size * min(links.per_node, accelerators_per_copy)
    copies_of_node = max(1.0, links.per_node / accelerators_per_copy)
    if split.exchange == "parameter_server":
        return 2 * copies_of_node * shards_of_node / speed
    return _ring_volume(copies / copies_of_node) * volume * shards_of_node / speed


def _ring_volume(count: float) -> float:
    """Bytes that a ring all-reduce moves over each link, as a multiple of the bytes reduced."""
    return 2 * (count - 1) / count


def _link_bandwidth(links: GangLinks, nodes: int) -> float | Message:
    """Bytes per second one way: of an accelerator to others of its node, or of a node to others."""
    if nodes == 1:
        if links.within_gbs is None:
            return message("interconnect_unknown")
        return links.within_gbs * ONE_WAY * 1e9
    if links.between_gbps is None:
        return message("node_network_unknown")
    return links.between_gbps / 8 * 1e9
