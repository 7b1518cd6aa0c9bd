"""Errors of estimates for jobs described by their network, and the intervals that follow from them.

Left out in turn are the run's benchmark group, its whole source (all groups of one publisher: the nearest to a user's
own job, which is not published) and all runs on its accelerator. The interval of an accelerator with public runs comes
from residuals with the source left out (the group, where a family has one source); that of a new accelerator from
residuals with its runs left out too. It is conformal for data in groups: every group has the same weight, and for K
groups the interval holds 80 % x (K + 1) / K of them, since the user's job is one group more (Lee, Barber and Willett
2023, arXiv 2306.06342). Coverage is that of an interval made without what is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from planner.performance.throughput.intervals import MEASURED, NEW, EstimateInterval, LogInterval, estimates_csv
from planner.performance.throughput.network_estimates.benchmark_runs import FAMILIES, BenchmarkRun, public_runs
from planner.performance.throughput.network_estimates.utilisation import predict_utilisation, runs_of_family
from planner.performance.throughput.result_errors import PredictionErrors, Residual, summarise, weighted_quantile
from pricing.text_tables import align_columns
from tools.throughput.errors import COVERAGE_TARGET, FoldKey, cross_validate, group_weights, share_part

TAIL_MIN = 0.03
"""Three groups and fewer cannot give 80 % by the rule; this much of either end is then left out."""
BILLION = 1e9
KINDS = ("training", "training, 1B and more", "training, below 1B", "LoRA", "prefill", "decode")
HEAD = ("kind", "left out", "runs", "groups", "median", "p90", "covered")
RunResidual = Residual[BenchmarkRun]


def _group_key(run: BenchmarkRun) -> tuple[str]:
    return (run.group,)


def _source_key(run: BenchmarkRun) -> tuple[str]:
    return (run.source,)


def _accelerator_key(run: BenchmarkRun) -> tuple[str]:
    return (run.job.accelerator.name,)


FOLDS: dict[str, tuple[FoldKey[BenchmarkRun], str]] = {
    "benchmark group": (_group_key, MEASURED),
    "source": (_source_key, MEASURED),
    "accelerator": (_accelerator_key, NEW),
}
"""What is left out in turn, and the kind of accelerator whose interval then applies."""


def error_table(measurements: Iterable[Mapping[str, str]]) -> list[tuple[str, PredictionErrors]]:
    """The fold and the errors of each kind of job; takes seconds."""
    runs = public_runs(measurements)
    rows = []
    for family in _run_families(runs):
        members = runs_of_family(runs, family)
        for left_out, (key, accelerator) in FOLDS.items():
            residuals = validate_runs(members, key)
            interval_of = _intervals_without(_unpublished_residuals(members, accelerator), key)
            for kind in sorted({kind for r in residuals for kind in kinds_of(r.subject)}, key=KINDS.index):
                selected = [r for r in residuals if kind in kinds_of(r.subject)]
                rows.append((left_out, summarise(kind, selected, interval_of)))
    return rows


def format_table(measurements: Iterable[Mapping[str, str]]) -> list[str]:
    """The lines of the error table as it is printed."""
    rows = [
        (s.title, left_out, str(s.cases), str(s.groups), f"{s.median:.0%}", f"{s.p90:.0%}", f"{s.covered:.0%}")
        for left_out, s in error_table(measurements)
    ]
    return align_columns(HEAD, rows, HEAD[2:])


def intervals_csv(measurements: Iterable[Mapping[str, str]]) -> str:
    """The table of intervals fitted to these measurements; takes seconds."""
    return estimates_csv(fit_intervals(public_runs(measurements)))


def fit_intervals(runs: Sequence[BenchmarkRun]) -> Iterator[EstimateInterval]:
    """The intervals of every family, to three digits."""
    for family in _run_families(runs):
        for accelerator in (MEASURED, NEW):
            residuals = _unpublished_residuals(runs_of_family(runs, family), accelerator)
            interval = conformal_interval(residuals)
            low, high = (round(math.exp(bound), 3) for bound in (interval.low, interval.high))
            groups = len({residual.group for residual in residuals})
            yield EstimateInterval(family, accelerator, low, high, len(residuals), groups)


def validate_runs(runs: Sequence[BenchmarkRun], key: FoldKey[BenchmarkRun]) -> list[RunResidual]:
    """Every run of a family predicted from the runs that share no part of its key; without such runs it is skipped."""

    def predict(is_left_out: Callable[[BenchmarkRun], bool], rest: list[BenchmarkRun]) -> Iterator[RunResidual]:
        for run in filter(is_left_out, runs):
            log_error = math.log(predict_utilisation(run.job, run.limit, rest) / run.utilisation)
            yield Residual(run, run.group, log_error, run.weight)

    return cross_validate(runs, key, predict)


def conformal_interval(residuals: Sequence[RunResidual]) -> LogInterval:
    """Bounds of ln(actual / predicted) for a job of a group that is not among the residuals."""
    groups = len({residual.group for residual in residuals})
    ratios, weights = [-residual.log_error for residual in residuals], group_weights(residuals, 1.0)
    tail = max(TAIL_MIN, (1 - COVERAGE_TARGET * (groups + 1) / groups) / 2)
    return LogInterval(weighted_quantile(ratios, tail, weights), weighted_quantile(ratios, 1 - tail, weights))


def kinds_of(run: BenchmarkRun) -> tuple[str, ...]:
    """The lines of the error table that count a run: its family, and a finer one."""
    if run.job.family != "training":
        return (run.job.family,)
    if run.job.run == "lora":
        return ("training", "LoRA")
    return ("training", "training, 1B and more" if run.job.parameters >= BILLION else "training, below 1B")


def _run_families(runs: Iterable[BenchmarkRun]) -> list[str]:
    return sorted({run.job.family for run in runs}, key=FAMILIES.index)


def _unpublished_residuals(runs: Sequence[BenchmarkRun], accelerator: str) -> list[RunResidual]:
    """Residuals for a job that is not published, on an accelerator with runs of other publishers or without any."""
    publisher_key = _source_key if len({run.source for run in runs}) > 1 else _group_key
    if accelerator == NEW:
        return validate_runs(runs, lambda run: (*publisher_key(run), *_accelerator_key(run)))
    publishers: dict[str, set[str]] = {}
    for run in runs:
        publishers.setdefault(run.job.accelerator.name, set()).update(publisher_key(run))
    residuals = validate_runs(runs, publisher_key)
    return [r for r in residuals if len(publishers[r.subject.job.accelerator.name]) > 1]


def _intervals_without(
    calibration: Sequence[RunResidual], key: FoldKey[BenchmarkRun]
) -> Callable[[RunResidual], LogInterval]:
    """For each residual the interval of the calibration without the fold of its run."""

    @cache
    def interval(value: tuple[str, ...]) -> LogInterval:
        return conformal_interval([r for r in calibration if not share_part(key(r.subject), value)])

    return lambda residual: interval(key(residual.subject))
