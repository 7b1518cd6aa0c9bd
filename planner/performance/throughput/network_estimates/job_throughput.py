"""The throughput of a job that is told by its network: what its accelerators could do at most, times what runs reach.

Answers what nothing measured is like with the reason, never with a guess: a mixture of experts, serving many requests
at once, a size or a vendor that no run comes near.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from planner.performance.model_catalog import find_model
from planner.performance.throughput import Throughput
from planner.performance.throughput.network_estimates.benchmark_runs import BenchmarkRun, NetworkJob, RooflineLimit
from planner.performance.throughput.network_estimates.intervals import MEASURED, NEW, load_intervals
from planner.performance.throughput.network_estimates.roofline import BYTES, operations_per_token
from planner.performance.throughput.network_estimates.utilisation import (
    UtilisationEstimate,
    estimate_utilisation,
    runs_of_family,
    same_stack,
)
from planner.request.neural_network import NeuralNetwork
from pricing.accelerator import Accelerator

TOKENS = frozenset(("token", "tokens"))
PROMPT_TOKENS = frozenset(("prompt token", "prompt tokens", "input tokens"))
SAMPLES = frozenset(("sample", "samples", "sequence", "sequences"))
SIZE_RATIO_MAX = 10
"""A network this much smaller than the smallest run of its family, or larger than the largest, is like none of them."""
BALANCE_RATIO_MAX = 3
"""So much further from memory-bound, or nearer to it, than any run of the vendor is like none of them."""
YEARS_OLDER_MAX = 1
"""An accelerator that is older than the oldest of the vendor in runs by more has other software."""
EXPLAINED_WEIGHT = 0.8
RUNS_NAMED_MAX = 3
"""Of them an explanation has; and how many kinds of run it names."""
ACCEPTED_UNITS = "tokens, prompt tokens (inference), samples or sequences (training)"


def estimate_throughput(
    network: NeuralNetwork, unit: str, accelerator: Accelerator, count: float, runs: Sequence[BenchmarkRun]
) -> Throughput | str:
    """Units per hour of `count` accelerators together, or why that cannot be told.

    `unit` is tokens, samples or sequences (of `network.sequence_length` tokens) for training; for inference tokens
    (generated, one stream) or prompt tokens (read, one stream).
    """
    job = _build_job(network, unit.strip().casefold(), accelerator, count)
    if isinstance(job, str):
        return job
    limit = job.limit
    if isinstance(limit, str):
        return limit
    like = runs_of_family(runs, job.family)
    problem = _dissimilarity_reason(job, limit, like)
    if problem is not None:
        return problem
    estimated = estimate_utilisation(job, limit, like)
    if estimated.utilisation > 1:
        return f"runs like it would have {accelerator.name} do more than its peak"
    has_runs = any(run.job.accelerator.name == accelerator.name for run in like)
    spread = load_intervals()[job.family, MEASURED if has_runs else NEW]
    most = limit.units_per_second * 3600
    rate = most * estimated.utilisation
    return Throughput(
        rate, rate * spread.low, min(most, rate * spread.high), "described", _explain_estimate(job, limit, estimated)
    )


def _build_job(network: NeuralNetwork, unit: str, accelerator: Accelerator, count: float) -> NetworkJob | str:
    size = _network_size(network)
    if isinstance(size, str):
        return size
    family_and_work = (
        _inference_work(network, unit, *size) if network.run == "inference" else _training_work(network, unit, *size)
    )
    if isinstance(family_and_work, str):
        return family_and_work
    family, work = family_and_work
    return NetworkJob(family, network.run, size[0], work, network.precision, accelerator, count)


def _training_work(
    network: NeuralNetwork, unit: str, parameters: float, shape: float | None
) -> tuple[str, float] | str:
    """The family, and operations a unit."""
    if unit not in TOKENS | SAMPLES:
        return f"the work of a described job is told in {ACCEPTED_UNITS}, not in {unit or 'nothing'!r}"
    if network.precision.startswith("int"):
        return f"no public run trains in {network.precision}"
    work = operations_per_token(network.run, parameters, shape, network.sequence_length)
    return "training", work * (network.sequence_length if unit in SAMPLES else 1)


def _inference_work(
    network: NeuralNetwork, unit: str, parameters: float, shape: float | None
) -> tuple[str, float] | str:
    """The family, and bytes a token generated or operations a token read."""
    if unit not in TOKENS | PROMPT_TOKENS:
        return f"inference is told in tokens (generated) or prompt tokens (read), not in {unit or 'nothing'!r}"
    if network.batch_per_device > 1:
        return "public runs that serve many requests at once tell neither how many nor how long their prompts are"
    if unit in TOKENS:
        return "decode", parameters * BYTES[network.precision]
    return "prefill", operations_per_token("prefill", parameters, shape, network.sequence_length)


def _network_size(network: NeuralNetwork) -> tuple[float, float | None] | str:
    """Parameters and layers x width (None if untold), of the request or else of the model it names."""
    shape = find_model(network.model) if network.model else None
    parameters = network.parameters or (shape.parameters if shape else None)
    if parameters is None:
        return f"the parameters of {network.model!r} are not known" if network.model else "it has no parameters"
    active = network.active_parameters or (shape.active_parameters if shape else parameters)
    if active < parameters * 0.999:
        return "no public run of a mixture of experts tells its speed"
    layers = network.layers or (shape.layers if shape else None)
    width = network.hidden_size or (shape.hidden_size if shape else None)
    return parameters, layers * width if layers and width else None


def _dissimilarity_reason(job: NetworkJob, limit: RooflineLimit, runs: Sequence[BenchmarkRun]) -> str | None:
    """Why nothing measured is like it; None where something is."""
    part, doing = job.accelerator, FAMILY_PHRASES[job.family]
    kin = [run for run in runs if same_stack(part, run.job.accelerator)]
    if not kin:
        return f"no public run of {doing} on {part.name} or another {_device_noun(part)} of {part.vendor}"
    oldest = min(run.job.accelerator.release_year or math.inf for run in kin)
    if (part.release_year or math.inf) < oldest - YEARS_OLDER_MAX:
        return (
            f"{part.name} is of {part.release_year}, the oldest of {part.vendor} in public runs of {doing} of {oldest}"
        )
    sizes = [run.job.parameters for run in runs]
    if not min(sizes) / SIZE_RATIO_MAX <= job.parameters <= max(sizes) * SIZE_RATIO_MAX:
        span = f"{_format_count(min(sizes))} to {_format_count(max(sizes))}"
        return f"public runs of {doing} have {span} parameters; {_format_count(job.parameters)} is like none"
    balances = [run.limit.balance for run in kin]
    if not min(balances) / BALANCE_RATIO_MAX <= limit.balance <= max(balances) * BALANCE_RATIO_MAX:
        span = f"{min(balances):.0f} to {max(balances):.0f}"
        return (
            f"{part.name} computes {limit.balance:.0f} operations at {limit.precision} for each byte it can read, the "
            f"accelerators of {part.vendor} in public runs of {doing} {span}: like none"
        )
    return None


def _device_noun(part: Accelerator) -> str:
    return "CPU" if part.device_class == "cpu" else "accelerator"


FAMILY_PHRASES = {
    "training": "training a language model",
    "prefill": "reading prompts",
    "decode": "generating tokens",
}


def _explain_estimate(job: NetworkJob, limit: RooflineLimit, estimated: UtilisationEstimate) -> str:
    near = _heaviest_runs(estimated)
    named_first: defaultdict[str, float] = defaultdict(float)
    for weight, run in near:
        named_first[f"{run.network} on {run.job.accelerator.name} ({run.source}, {run.date})"] += weight
    first = "; ".join(
        text for text, _ in sorted(named_first.items(), key=lambda item: (-item[1], item[0]))[:RUNS_NAMED_MAX]
    )
    years = sorted({run.date[:4] for _, run in near})
    span = " to ".join(dict.fromkeys((years[0], years[-1])))
    rate = job.precision if (job.precision, limit.precision) == ("bf16", "fp16") else limit.precision
    of = "memory bandwidth" if job.family == "decode" else f"the {rate} peak"
    return (
        f"described, not measured: {_format_count(job.parameters)} parameters at {estimated.utilisation:.0%} "
        f"of {of} of "
        f"{job.count:g} x {job.accelerator.name}, from {len(near)} of {len(estimated.weights)} public runs of "
        f"{FAMILY_PHRASES[job.family]} ({span}) that weigh most, first of all {first}"
    )


def _heaviest_runs(estimated: UtilisationEstimate) -> list[tuple[float, BenchmarkRun]]:
    """The runs that together have most of the weight."""
    aim, passed = EXPLAINED_WEIGHT * math.fsum(weight for weight, _ in estimated.weights), 0.0
    for n, (weight, _) in enumerate(estimated.weights, 1):
        passed += weight
        if passed >= aim:
            return list(estimated.weights[:n])
    return list(estimated.weights)


def _format_count(number: float) -> str:
    unit, name = next((u, n) for u, n in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (0, "")) if number >= u)
    return f"{number / (unit or 1):.3g}{name}"
