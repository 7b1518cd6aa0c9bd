"""Throughput of a job described by its network: the roofline of its accelerators times the utilisation of public runs.

A job that no public run is similar to has no estimate but a reason: a mixture of experts, serving many requests at
once, a size or a vendor far from all runs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from planner.performance.model_catalog import find_model
from planner.performance.network_arithmetic import BITS, SEQUENCE_UNITS, TOKEN_UNITS, operations_per_token
from planner.performance.throughput import Throughput
from planner.performance.throughput.intervals import MEASURED, NEW, load_estimate_intervals
from planner.performance.throughput.network_estimates.benchmark_runs import BenchmarkRun
from planner.performance.throughput.network_estimates.roofline import NetworkJob, RooflineLimit
from planner.performance.throughput.network_estimates.utilisation import (
    UtilisationEstimate,
    estimate_utilisation,
    runs_of_family,
    same_stack,
)
from planner.request.neural_network import NeuralNetwork
from planner.result.message import Message, message
from pricing.accelerator import Accelerator

PROMPT_UNITS = frozenset(("prompt token", "prompt tokens", "input tokens"))
SAMPLE_UNITS = SEQUENCE_UNITS | {"sample", "samples"}
SIZE_RATIO_MAX = 10
"""A network smaller than the smallest run of its family by more, or larger than the largest, has no estimate."""
BALANCE_RATIO_MAX = 3
"""An accelerator with a balance outside that of the vendor's runs by more has no estimate."""
YEARS_OLDER_MAX = 1
"""An accelerator older than the oldest of the vendor's runs by more has other software, and no estimate."""
EXPLAINED_WEIGHT = 0.8
RUNS_NAMED_MAX = 3
"""Share of the weight of the runs that an explanation counts, and how many kinds of run it names."""


def estimate_throughput(
    network: NeuralNetwork, unit: str, accelerator: Accelerator, count: float, runs: Sequence[BenchmarkRun]
) -> Throughput | Message:
    """Units per hour of `count` accelerators together, or the reason why there is no estimate.

    `unit` is tokens, samples or sequences (of `network.sequence_length` tokens) for training; for inference tokens
    (generated, one stream) or prompt tokens (read, one stream).
    """
    job = _build_job(network, unit.strip().casefold(), accelerator, count)
    if isinstance(job, Message):
        return job
    limit = job.limit
    if isinstance(limit, Message):
        return limit
    like = runs_of_family(runs, job.family)
    problem = _dissimilarity_reason(job, limit, like)
    if problem is not None:
        return problem
    estimated = estimate_utilisation(job, limit, like)
    if estimated.utilisation > 1:
        return message("estimate_above_peak", accelerator=accelerator.name)
    has_runs = any(run.job.accelerator.name == accelerator.name for run in like)
    interval = load_estimate_intervals()[job.family, MEASURED if has_runs else NEW].log_interval
    peak_rate = limit.units_per_second * 3600
    rate = peak_rate * estimated.utilisation
    low, high = interval.around(rate, maximum=peak_rate)
    return Throughput(rate, low, high, "described", (_explain_estimate(job, limit, estimated),))


def most_units_per_hour(network: NeuralNetwork, unit: str, accelerator: Accelerator) -> float | None:
    """Units per hour of one accelerator that did all that its data sheet allows; None where the work or the data sheet
    does not tell. No run comes near: a bound, not an estimate."""
    job = _build_job(network, unit.strip().casefold(), accelerator, 1)
    limit = job if isinstance(job, Message) else job.limit
    return None if isinstance(limit, Message) else limit.units_per_second * 3600


def _build_job(network: NeuralNetwork, unit: str, accelerator: Accelerator, count: float) -> NetworkJob | Message:
    size = _network_size(network)
    if isinstance(size, Message):
        return size
    family_and_work = (
        _inference_work(network, unit, *size) if network.run == "inference" else _training_work(network, unit, *size)
    )
    if isinstance(family_and_work, Message):
        return family_and_work
    family, work = family_and_work
    return NetworkJob(family, network.run, size[0], work, network.precision, accelerator, count)


def _training_work(
    network: NeuralNetwork, unit: str, parameters: float, depth_times_width: float | None
) -> tuple[str, float] | Message:
    """The family, and operations per unit."""
    if unit not in TOKEN_UNITS | SAMPLE_UNITS:
        return message("training_unit_unknown", unit=unit)
    if network.precision.startswith("int"):
        return message("no_training_run_in_precision", precision=network.precision)
    per_token = operations_per_token(network.run, parameters, depth_times_width, network.sequence_length)
    return "training", per_token * (network.sequence_length if unit in SAMPLE_UNITS else 1)


def _inference_work(
    network: NeuralNetwork, unit: str, parameters: float, depth_times_width: float | None
) -> tuple[str, float] | Message:
    """The family, and bytes per token generated or operations per token read."""
    if unit not in TOKEN_UNITS | PROMPT_UNITS:
        return message("inference_unit_unknown", unit=unit)
    if network.batch_per_device > 1:
        return message("no_batched_inference_runs")
    if unit in TOKEN_UNITS:
        return "decode", parameters * (BITS[network.precision] / 8)
    return "prefill", operations_per_token("prefill", parameters, depth_times_width, network.sequence_length)


def _network_size(network: NeuralNetwork) -> tuple[float, float | None] | Message:
    """Parameters and layers x width (None if unknown), of the request or else of the model it names."""
    shape = find_model(network.model) if network.model else None
    parameters = network.parameters or (shape.parameters if shape else None)
    if parameters is None:
        return message("parameters_unknown", model=network.model or "")
    active = network.active_parameters or (shape.active_parameters if shape else parameters)
    if active < parameters * 0.999:
        return message("no_mixture_of_experts_runs")
    layers = network.layers or (shape.layers if shape else None)
    width = network.hidden_size or (shape.hidden_size if shape else None)
    return parameters, layers * width if layers and width else None


def _dissimilarity_reason(job: NetworkJob, limit: RooflineLimit, runs: Sequence[BenchmarkRun]) -> Message | None:
    """The reason why no public run is similar enough for an estimate; None where one is."""
    part = job.accelerator
    same_vendor = [run for run in runs if same_stack(part, run.job.accelerator)]
    if not same_vendor:
        return message(
            "no_run_of_vendor", family=job.family, accelerator=part.name, vendor=part.vendor,
            device_class=part.device_class,
        )  # fmt: skip
    oldest = min(run.job.accelerator.release_year or math.inf for run in same_vendor)
    if (part.release_year or math.inf) < oldest - YEARS_OLDER_MAX:
        return message(
            "accelerator_older_than_runs", accelerator=part.name, year=part.release_year, vendor=part.vendor,
            family=job.family, oldest_year=oldest,
        )  # fmt: skip
    sizes = [run.job.parameters for run in runs]
    if not min(sizes) / SIZE_RATIO_MAX <= job.parameters <= max(sizes) * SIZE_RATIO_MAX:
        return message(
            "network_size_unlike_runs", family=job.family, parameters=job.parameters, parameters_min=min(sizes),
            parameters_max=max(sizes),
        )  # fmt: skip
    balances = [run.limit.balance for run in same_vendor]
    if not min(balances) / BALANCE_RATIO_MAX <= limit.balance <= max(balances) * BALANCE_RATIO_MAX:
        return message(
            "balance_unlike_runs", accelerator=part.name, vendor=part.vendor, family=job.family,
            precision=limit.precision, operations_per_byte=limit.balance, operations_per_byte_min=min(balances),
            operations_per_byte_max=max(balances),
        )  # fmt: skip
    return None


def _explain_estimate(job: NetworkJob, limit: RooflineLimit, estimated: UtilisationEstimate) -> Message:
    near = _heaviest_runs(estimated)
    weight_by_kind: defaultdict[str, float] = defaultdict(float)
    for weight, run in near:
        weight_by_kind[f"{run.network} on {run.job.accelerator.name} ({run.source}, {run.date})"] += weight
    heaviest = sorted(weight_by_kind.items(), key=lambda item: (-item[1], item[0]))[:RUNS_NAMED_MAX]
    years = sorted({run.date[:4] for _, run in near})
    same_format = (job.precision, limit.precision) == ("bf16", "fp16")
    return message(
        "described_estimate", parameters=job.parameters, utilisation=estimated.utilisation, family=job.family,
        precision=job.precision if same_format else limit.precision, count=job.count, accelerator=job.accelerator.name,
        heavy_runs=len(near), runs=len(estimated.weights), first_year=years[0], last_year=years[-1],
        heaviest=[kind for kind, _ in heaviest],
    )  # fmt: skip


def _heaviest_runs(estimated: UtilisationEstimate) -> list[tuple[float, BenchmarkRun]]:
    """The fewest runs that together have EXPLAINED_WEIGHT of the weight."""
    aim, passed = EXPLAINED_WEIGHT * math.fsum(weight for weight, _ in estimated.weights), 0.0
    for n, (weight, _) in enumerate(estimated.weights, 1):
        passed += weight
        if passed >= aim:
            return list(estimated.weights[:n])
    return list(estimated.weights)
