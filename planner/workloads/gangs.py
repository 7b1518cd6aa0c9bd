"""What a stated parallelism leaves of a prediction for more accelerators: the lesser of what was fitted and a bound.

The bound is relative to what was measured: kept by the gang in question over kept by the gang measured, both by
`planner.performance.parallelism`. Knows workloads and accelerators; neither offerings nor prices.
"""

from __future__ import annotations

import math
from dataclasses import replace

from planner.performance.memory.network_shapes import resolve_shapes
from planner.performance.model_catalog import ModelShape
from planner.performance.parallelism import GangLinks, TrainingStep, max_scaling_efficiency
from planner.performance.throughput import Throughput, predict_throughput
from planner.request.models import Measurement, Workload
from planner.request.neural_network import NeuralNetwork
from planner.workloads.eligibility import measured_rates
from pricing.accelerator import Accelerator, AcceleratorNames

TOKENS, SEQUENCES = ("token", "tokens"), ("sequence", "sequences")
"""Units whose computing a network tells."""


def limit_by_parallelism(
    workload: Workload,
    names: AcceleratorNames,
    prediction: Throughput,
    part: Accelerator,
    gang: float,
    node: GangLinks,
    usual_node: int,
) -> Throughput:
    """The prediction, or less of it where its parallelism cannot keep so much; it says which, and why if untold.

    The gang that was measured is taken to have had nodes of `usual_node`, and between them the network of this one.
    """
    network = workload.network
    if network is None or network.parallelism is None or network.run == "inference" or not workload.measurements:
        return prediction
    base = min(workload.measurements, key=lambda m: (abs(math.log2(gang / m.count)), -m.count))
    if base.count == gang or min(base.count, gang) < 1:
        return prediction
    most = _parallelism_limit(workload, names, network, base, part, gang, node, usual_node)
    if isinstance(most, str):
        return replace(
            prediction, explanation=f"{prediction.explanation}; what its parallelism costs cannot be told: {most}"
        )
    units, words = most
    if units >= prediction.units_per_hour:
        return prediction
    less = units / prediction.units_per_hour
    words = f"{prediction.explanation}; bound by its parallelism, x {less:.3g}: {words}"
    return replace(
        prediction, units_per_hour=units, low=prediction.low * less, high=prediction.high * less, explanation=words
    )


def _parallelism_limit(
    workload: Workload,
    names: AcceleratorNames,
    network: NeuralNetwork,
    base: Measurement,
    part: Accelerator,
    gang: float,
    node: GangLinks,
    usual_node: int,
) -> tuple[float, str] | str:
    """The most work per hour that the gang can do, with the reason, or why that cannot be told."""
    shapes = resolve_shapes(network)
    if isinstance(shapes, str):
        return shapes
    same = predict_throughput(measured_rates(workload, names), part, base.count)
    operations = _operations_per_unit(workload.unit, network, shapes.shapes[0])
    if isinstance(same, str):
        return same
    if operations is None:
        return f"how much computing one of {workload.unit or 'its units'} takes is unknown"
    tflops = same.units_per_hour / 3600 / base.count * operations / 1e12
    split = network.parallelism
    assert split is not None
    accelerators_per_copy = split.tensor * split.pipeline
    there_node = replace(node, per_node=min(base.count, usual_node))
    results = []
    for count, links in ((base.count, there_node), (gang, node)):
        step = TrainingStep(tflops, _micro_batches(base, count, accelerators_per_copy, network))
        result = max_scaling_efficiency(network, shapes.shapes[0], split, round(count), links, step)
        if isinstance(result, str):
            return result
        results.append(result)
    there, here = results
    return same.units_per_hour * gang / base.count * here.fraction / there.fraction, here.explanation


def _operations_per_unit(unit: str, network: NeuralNetwork, shape: ModelShape) -> float | None:
    """Operations of training on one unit of work; None where the unit does not tell."""
    token = 6 * shape.active_parameters + 12 * shape.layers * shape.hidden_size * network.sequence_length
    if unit.casefold() in TOKENS:
        return token
    return token * network.sequence_length if unit.casefold() in SEQUENCES else None


def _micro_batches(base: Measurement, count: float, accelerators_per_copy: int, network: NeuralNetwork) -> float | None:
    """Of each copy in a step: with the batch per device held, as many at every count; with that of the job, fewer."""
    if base.batch is None:
        return None
    copies = count / accelerators_per_copy
    job = base.batch * (count if base.scaling == "weak" else 1.0)
    return max(1.0, job / copies / network.batch_per_device)
