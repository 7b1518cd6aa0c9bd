"""Utilisation of a described job, from public runs of similar jobs.

    ln u = (sum w_i (ln u_i - a ln(r / r_i) + ln(k) log2(n / n_i)) + v m) / (sum w_i + v)

u is the utilisation, r the balance of the accelerator (peak operations per byte of bandwidth), n the count, k the
efficiency at each doubling; m is the same mean with equal weights of all runs of the family, and v its weight. The
weight of a run is

    w_i = weight_i x similarity x precision x kind x exp(-|ln(N / N_i)| / 1.5 - |log2(n / n_i)| / 3)

similarity is by accelerator (the same, of its architecture, of its vendor, another), precision and kind of run are the
same or not, N are parameters. Constants were set by leaving groups, sources and accelerators out (tools/throughput);
the errors are flat around them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from planner.performance.throughput.network_estimates.benchmark_runs import BenchmarkRun
from planner.performance.throughput.network_estimates.roofline import NetworkJob, RooflineLimit
from pricing.accelerator import Accelerator
from pricing.frozen_values import dataclass

SCALE_LN_PARAMETERS = 1.5
SCALE_DOUBLINGS = 3.0
WEIGHT_SAME_ACCELERATOR, WEIGHT_SAME_ARCHITECTURE, WEIGHT_SAME_VENDOR, WEIGHT_OTHER_VENDOR = 1.0, 0.5, 0.1, 0.02
OTHER_PRECISION = 0.3
OTHER_KIND = 0.3
"""Between LoRA and training of all weights."""
MEAN_WEIGHT = 0.1
BALANCE_EXPONENT = {"training": 0.4, "prefill": 0.8, "decode": 0.0}
"""The exponent a: an accelerator computes at peak^(1 - a) x bandwidth^a."""
EFFICIENCY_PER_DOUBLING = {"training": 0.976, "prefill": 0.6, "decode": 0.6}
"""The efficiency k: weak scaling as in planner.performance.throughput; a single stream gains little."""


@dataclass(frozen=True, slots=True)
class UtilisationEstimate:
    """A utilisation and the weight of each run in it, the heaviest first."""

    utilisation: float
    weights: tuple[tuple[float, BenchmarkRun], ...]


def predict_utilisation(job: NetworkJob, limit: RooflineLimit, runs: Sequence[BenchmarkRun]) -> float:
    """The utilisation of `job` from `runs` of its family, of which there must be one."""
    return math.exp(_mean_log_utilisation(job, limit, runs, [_run_weight(job, limit, run) for run in runs]))


def estimate_utilisation(job: NetworkJob, limit: RooflineLimit, runs: Sequence[BenchmarkRun]) -> UtilisationEstimate:
    """The same with the weights of the runs."""
    weights = [_run_weight(job, limit, run) for run in runs]
    ranked = sorted(zip(weights, runs, strict=True), key=lambda pair: -pair[0])
    return UtilisationEstimate(math.exp(_mean_log_utilisation(job, limit, runs, weights)), tuple(ranked))


def _mean_log_utilisation(
    job: NetworkJob, limit: RooflineLimit, runs: Sequence[BenchmarkRun], weights: Sequence[float]
) -> float:
    exponent, log_efficiency = BALANCE_EXPONENT[job.family], math.log(EFFICIENCY_PER_DOUBLING[job.family])
    transferred = [
        math.log(run.utilisation)
        - exponent * math.log(limit.balance / run.limit.balance)
        + log_efficiency * math.log2(job.count / run.job.count)
        for run in runs
    ]
    plain = [run.weight for run in runs]
    family = math.fsum(w * y for w, y in zip(plain, transferred, strict=True)) / math.fsum(plain)
    near = math.fsum(w * y for w, y in zip(weights, transferred, strict=True))
    return (near + MEAN_WEIGHT * family) / (math.fsum(weights) + MEAN_WEIGHT)


def _run_weight(job: NetworkJob, limit: RooflineLimit, run: BenchmarkRun) -> float:
    weight = run.weight * accelerator_similarity(job.accelerator, run.job.accelerator)
    if limit.precision != run.limit.precision:
        weight *= OTHER_PRECISION
    if (job.run == "lora") != (run.job.run == "lora"):
        weight *= OTHER_KIND
    size = abs(math.log(job.parameters / run.job.parameters)) / SCALE_LN_PARAMETERS
    return weight * math.exp(-size - abs(math.log2(job.count / run.job.count)) / SCALE_DOUBLINGS)


def accelerator_similarity(a: Accelerator, b: Accelerator) -> float:
    """Weight of a run on `b` in an estimate for `a`."""
    if a.name == b.name:
        return WEIGHT_SAME_ACCELERATOR
    if not same_stack(a, b):
        return WEIGHT_OTHER_VENDOR
    return WEIGHT_SAME_ARCHITECTURE if a.architecture == b.architecture else WEIGHT_SAME_VENDOR


def same_stack(a: Accelerator, b: Accelerator) -> bool:
    """Whether two accelerators run the same software: one vendor and one kind of device."""
    return a.vendor == b.vendor and (a.device_class == "cpu") == (b.device_class == "cpu")


def runs_of_family(runs: Iterable[BenchmarkRun], family: str) -> list[BenchmarkRun]:
    """The runs of a family, in their order."""
    return [run for run in runs if run.job.family == family]
