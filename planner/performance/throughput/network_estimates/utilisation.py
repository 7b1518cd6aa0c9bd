"""How much of its limit a job reaches, from runs like it.

    ln u = (sum w_i (ln u_i - a ln(r / r_i) + ln(k) log2(n / n_i)) + v m) / (sum w_i + v)

u is the utilisation, r the balance of the accelerator (peak operations a byte of bandwidth), n the count, k what is
kept at each doubling; m is the same mean with every run of the family counted alike, with weight v. A run weighs

    w_i = weight_i x kin x precision x kind x exp(-|ln(N / N_i)| / 1.5 - |log2(n / n_i)| / 3)

kin is by accelerator (the same, of its architecture, of its vendor, another), precision and kind of run are the same or
not, N are parameters. Constants were chosen by leaving groups, sources and accelerators out (see errors.py); the
result is flat around them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.performance.throughput.network_estimates.benchmark_runs import BenchmarkRun, NetworkJob, RooflineLimit
from pricing.accelerator import Accelerator

SCALE_LN_PARAMETERS = 1.5
SCALE_DOUBLINGS = 3.0
WEIGHT_SAME_ACCELERATOR, WEIGHT_SAME_ARCHITECTURE, WEIGHT_SAME_VENDOR, WEIGHT_OTHER_VENDOR = 1.0, 0.5, 0.1, 0.02
OTHER_PRECISION = 0.3
OTHER_KIND = 0.3
"""LoRA against training of all weights."""
MEAN_WEIGHT = 0.1
BALANCE_EXPONENT = {"training": 0.4, "prefill": 0.8, "decode": 0.0}
"""a: with it a part computes at peak^(1 - a) x bandwidth^a."""
EFFICIENCY_PER_DOUBLING = {"training": 0.976, "prefill": 0.6, "decode": 0.6}
"""k: weak scaling as in planner.performance.throughput; one stream gains little from more accelerators."""


@dataclass(frozen=True, slots=True)
class UtilisationEstimate:
    """The utilisation told by runs, and what each run weighs in it, the heaviest first."""

    utilisation: float
    weights: tuple[tuple[float, BenchmarkRun], ...]


def predict_utilisation(job: NetworkJob, limit: RooflineLimit, runs: Sequence[BenchmarkRun]) -> float:
    """The utilisation of `job` from `runs` of its family, of which there must be one."""
    return math.exp(_mean_log_utilisation(job, limit, runs, [_run_weight(job, limit, run) for run in runs]))


def estimate_utilisation(job: NetworkJob, limit: RooflineLimit, runs: Sequence[BenchmarkRun]) -> UtilisationEstimate:
    """The same with the runs it rests on."""
    weights = [_run_weight(job, limit, run) for run in runs]
    ranked = sorted(zip(weights, runs, strict=True), key=lambda pair: -pair[0])
    return UtilisationEstimate(math.exp(_mean_log_utilisation(job, limit, runs, weights)), tuple(ranked))


def _mean_log_utilisation(
    job: NetworkJob, limit: RooflineLimit, runs: Sequence[BenchmarkRun], weights: Sequence[float]
) -> float:
    exponent, log_efficiency = BALANCE_EXPONENT[job.family], math.log(EFFICIENCY_PER_DOUBLING[job.family])
    carried = [
        math.log(run.utilisation)
        - exponent * math.log(limit.balance / run.limit.balance)
        + log_efficiency * math.log2(job.count / run.job.count)
        for run in runs
    ]
    plain = [run.weight for run in runs]
    family = math.fsum(w * y for w, y in zip(plain, carried, strict=True)) / math.fsum(plain)
    near = math.fsum(w * y for w, y in zip(weights, carried, strict=True))
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
    """How much a run on `b` tells of `a`."""
    if a.name == b.name:
        return WEIGHT_SAME_ACCELERATOR
    if not same_stack(a, b):
        return WEIGHT_OTHER_VENDOR
    return WEIGHT_SAME_ARCHITECTURE if a.architecture == b.architecture else WEIGHT_SAME_VENDOR


def same_stack(a: Accelerator, b: Accelerator) -> bool:
    """One vendor's accelerators of one kind: what runs on one runs on the other with the same software."""
    return a.vendor == b.vendor and (a.device_class == "cpu") == (b.device_class == "cpu")


def runs_of_family(runs: Iterable[BenchmarkRun], family: str) -> list[BenchmarkRun]:
    """The runs of a family, in their order."""
    return [run for run in runs if run.job.family == family]
