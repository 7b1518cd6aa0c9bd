"""Limits a prediction for another count of accelerators by the scaling efficiency that its parallelism allows.

The bound is relative to the measured gang: the efficiency of the predicted gang over that of the measured one, both by
`planner.performance.parallelism`. Independent of offerings and prices.
"""

from __future__ import annotations

import math
from dataclasses import replace

from planner.performance.memory.network_shapes import resolve_shapes
from planner.performance.model_catalog import ModelShape
from planner.performance.network_arithmetic import SEQUENCE_UNITS, TOKEN_UNITS, operations_per_token
from planner.performance.parallelism import USUAL_SERVER_SIZE, GangLinks, TrainingStep, max_scaling_efficiency
from planner.performance.throughput import Throughput, predict_throughput
from planner.request.models import Measurement, Workload
from planner.request.neural_network import NeuralNetwork
from planner.result.message import Message, message
from planner.workloads.eligibility import measured_rates
from pricing.accelerator import Accelerator, AcceleratorNames


def limit_by_parallelism(
    workload: Workload, names: AcceleratorNames, prediction: Throughput, part: Accelerator, gang: float, node: GangLinks
) -> Throughput:
    """The prediction, or the bound where that is lower; its explanation names the bound, or why there is none.

    The measured gang is assumed to have had usual servers, and between them the network of this one.
    """
    network = workload.network
    if network is None or network.parallelism is None or network.run == "inference" or not workload.measurements:
        return prediction
    base = min(workload.measurements, key=lambda m: (abs(math.log2(gang / m.count)), -m.count))
    if base.count == gang or min(base.count, gang) < 1:
        return prediction
    limit = _parallelism_limit(workload, names, network, base, part, gang, node)
    if isinstance(limit, Message):
        note = message("parallelism_bound_unknown", reason=limit)
        return replace(prediction, explanation=(*prediction.explanation, note))
    units_per_hour, bound = limit
    if units_per_hour >= prediction.units_per_hour:
        return prediction
    ratio = units_per_hour / prediction.units_per_hour
    note = message("bound_by_parallelism", ratio=ratio, bound=bound)
    return replace(
        prediction,
        units_per_hour=units_per_hour,
        low=prediction.low * ratio,
        high=prediction.high * ratio,
        explanation=(*prediction.explanation, note),
    )


def _parallelism_limit(
    workload: Workload,
    names: AcceleratorNames,
    network: NeuralNetwork,
    base: Measurement,
    part: Accelerator,
    gang: float,
    node: GangLinks,
) -> tuple[float, Message] | Message:
    """The most work per hour of the gang with its explanation, or the reason why it is unknown."""
    shapes = resolve_shapes(network)
    if isinstance(shapes, Message):
        return shapes
    same = predict_throughput(measured_rates(workload, names), part, base.count)
    operations = _operations_per_unit(workload.unit, network, shapes.shapes[0])
    if isinstance(same, Message):
        return same
    if operations is None:
        return message("operations_of_unit_unknown", unit=workload.unit)
    tflops = same.units_per_hour / 3600 / base.count * operations / 1e12
    split = network.parallelism
    assert split is not None
    accelerators_per_copy = split.tensor * split.pipeline
    measured_node = replace(node, per_node=min(base.count, USUAL_SERVER_SIZE))
    efficiencies = []
    for count, links in ((base.count, measured_node), (gang, node)):
        step = TrainingStep(tflops, _micro_batches(base, count, accelerators_per_copy, network))
        efficiency = max_scaling_efficiency(network, shapes.shapes[0], split, round(count), links, step)
        if isinstance(efficiency, Message):
            return efficiency
        efficiencies.append(efficiency)
    measured, predicted = efficiencies
    # the measured rate has the losses of its own gang in it: only the ratio of the two efficiencies is still to come
    units_per_hour = same.units_per_hour * gang / base.count * predicted.fraction / measured.fraction
    return units_per_hour, predicted.explanation


def _operations_per_unit(unit: str, network: NeuralNetwork, shape: ModelShape) -> float | None:
    """Operations of training on one unit of work; None for other units than tokens and sequences."""
    depth_times_width = shape.layers * shape.hidden_size
    token = operations_per_token("pretraining", shape.active_parameters, depth_times_width, network.sequence_length)
    if unit.casefold() in TOKEN_UNITS:
        return token
    return token * network.sequence_length if unit.casefold() in SEQUENCE_UNITS else None


def _micro_batches(base: Measurement, count: float, accelerators_per_copy: int, network: NeuralNetwork) -> float | None:
    """Micro-batches of each copy in a step: constant under weak scaling, fewer with more copies of a fixed batch."""
    if base.batch is None:
        return None
    copies = count / accelerators_per_copy
    job = base.batch * (count if base.scaling == "weak" else 1.0)
    return max(1.0, job / copies / network.batch_per_device)
