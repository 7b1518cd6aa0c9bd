"""How far off described jobs are: every run predicted without what it must not know, and the intervals that follow.

Left out in turn are the run's benchmark group, its whole source (all groups of one publisher: the nearest to an
asker's own job, which nobody published) and all runs on its accelerator. The interval of an accelerator with public
runs comes from misses with the source left out (the group, where a family has one source); that of a new accelerator
from misses with its runs left out too. It is conformal for data in groups: every group counts alike, and for K groups
the interval holds 80 % x (K + 1) / K of them, since the asker's job is one group more (Lee, Barber and Willett 2023,
arXiv 2306.06342). Coverage is that of an interval made without what is left out.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

from planner.performance.throughput.network_estimates.benchmark_runs import FAMILIES, BenchmarkRun, public_runs
from planner.performance.throughput.network_estimates.intervals import MEASURED, NEW, EstimateInterval
from planner.performance.throughput.network_estimates.utilisation import predict_utilisation, runs_of_family

COVERAGE_TARGET = 0.8
TAIL_MIN = 0.03
"""Three groups and fewer cannot give 80 % by the rule; this much of either end is then left out."""
BILLION = 1e9
KINDS = ("training", "training, 1B and more", "training, below 1B", "LoRA", "prefill", "decode")


@dataclass(frozen=True, slots=True)
class RunResidual:
    """A run and ln(actual / predicted)."""

    run: BenchmarkRun
    ln_ratio: float


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """Errors |predicted / actual - 1| of the runs of one kind, and what share of them the 80 % interval covers: all as
    fractions, rows of a cell (group, accelerator, precision) weighing together as the root of their number."""

    kind: str
    left_out: str
    runs: int
    groups: int
    median: float
    p90: float
    coverage: float


RunMatch = Callable[[BenchmarkRun, BenchmarkRun], bool]


def _same_group(a: BenchmarkRun, b: BenchmarkRun) -> bool:
    return a.group == b.group


def _same_source(a: BenchmarkRun, b: BenchmarkRun) -> bool:
    return a.source == b.source


def _same_accelerator(a: BenchmarkRun, b: BenchmarkRun) -> bool:
    return a.job.accelerator.name == b.job.accelerator.name


LEFT_OUT: dict[str, tuple[RunMatch, str]] = {
    "benchmark group": (_same_group, MEASURED),
    "source": (_same_source, MEASURED),
    "accelerator": (_same_accelerator, NEW),
}
"""What is left out in turn, and the interval that is then asked for."""


def error_table(measurements: Iterable[Mapping[str, str]]) -> list[ErrorRow]:
    """How far off described jobs are, by kind of job and by what is left out; takes seconds."""
    runs = public_runs(measurements)
    rows = []
    for family in _run_families(runs):
        members = runs_of_family(runs, family)
        for left_out, (same, accelerator) in LEFT_OUT.items():
            residuals = left_out_residuals(members, same)
            inside = _inside_interval(residuals, _unpublished_residuals(members, accelerator), same)
            for kind in sorted({kind for miss in residuals for kind in kinds_of(miss.run)}, key=KINDS.index):
                picked = [n for n, miss in enumerate(residuals) if kind in kinds_of(miss.run)]
                rows.append(_error_row(kind, left_out, [residuals[n] for n in picked], [inside[n] for n in picked]))
    return rows


def intervals_of(runs: Sequence[BenchmarkRun]) -> list[EstimateInterval]:
    """The intervals of every family made anew, to three digits; takes seconds."""
    rows = []
    for family in _run_families(runs):
        for accelerator in (MEASURED, NEW):
            residuals = _unpublished_residuals(runs_of_family(runs, family), accelerator)
            low, high = (round(math.exp(bound), 3) for bound in log_interval(residuals))
            groups = len({miss.run.group for miss in residuals})
            rows.append(EstimateInterval(family, accelerator, low, high, len(residuals), groups))
    return rows


def intervals_csv(measurements: Iterable[Mapping[str, str]]) -> str:
    """intervals.csv as it should be."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(field.name for field in fields(EstimateInterval))
    writer.writerows(astuple(row) for row in intervals_of(public_runs(measurements)))
    return out.getvalue()


def left_out_residuals(runs: Sequence[BenchmarkRun], same: RunMatch) -> list[RunResidual]:
    """Every run of a family predicted from those that are not the `same`; runs with nothing left are passed over."""
    residuals = []
    for run in runs:
        others = [other for other in runs if not same(run, other)]
        if others:
            residuals.append(
                RunResidual(run, math.log(run.utilisation / predict_utilisation(run.job, run.limit, others)))
            )
    return residuals


def log_interval(residuals: Sequence[RunResidual]) -> tuple[float, float]:
    """Low and high of ln(actual / predicted) for the job of a group that is not among them."""
    rows = Counter(miss.run.group for miss in residuals)
    weighed = [(miss.ln_ratio, 1 / rows[miss.run.group]) for miss in residuals]
    tail = max(TAIL_MIN, (1 - COVERAGE_TARGET * (len(rows) + 1) / len(rows)) / 2)
    return weighted_quantile(weighed, tail), weighted_quantile(weighed, 1 - tail)


def weighted_quantile(weighed: Iterable[tuple[float, float]], level: float) -> float:
    """The least value at or below which `level` of the weight lies, of (value, weight) pairs."""
    ranked = sorted(weighed)
    aim, passed = level * math.fsum(weight for _, weight in ranked), 0.0
    for value, weight in ranked:
        passed += weight
        if passed >= aim * (1 - 1e-12):
            return value
    return ranked[-1][0]


def kinds_of(run: BenchmarkRun) -> tuple[str, ...]:
    """The lines of the error table that a run is counted in: its family, and a finer one."""
    if run.job.family != "training":
        return (run.job.family,)
    if run.job.run == "lora":
        return ("training", "LoRA")
    return ("training", "training, 1B and more" if run.job.parameters >= BILLION else "training, below 1B")


def _run_families(runs: Iterable[BenchmarkRun]) -> list[str]:
    return sorted({run.job.family for run in runs}, key=FAMILIES.index)


def _unpublished_residuals(runs: Sequence[BenchmarkRun], accelerator: str) -> list[RunResidual]:
    """Misses as an asker meets them: nobody published the job, with or without other runs on the accelerator."""
    publisher = _same_source if len({run.source for run in runs}) > 1 else _same_group
    if accelerator == NEW:
        return left_out_residuals(runs, lambda a, b: publisher(a, b) or _same_accelerator(a, b))
    residuals = left_out_residuals(runs, publisher)
    return [
        miss
        for miss in residuals
        if any(_same_accelerator(miss.run, other) and not publisher(miss.run, other) for other in runs)
    ]


def _inside_interval(
    residuals: Sequence[RunResidual], calibration: Sequence[RunResidual], same: RunMatch
) -> list[bool]:
    """Whether each miss is within the interval that the others give."""
    known: dict[tuple[str, str, str], tuple[float, float]] = {}
    flags = []
    for miss in residuals:
        if miss.run.cell not in known:
            known[miss.run.cell] = log_interval([other for other in calibration if not same(miss.run, other.run)])
        low, high = known[miss.run.cell]
        flags.append(low <= miss.ln_ratio <= high)
    return flags


def _error_row(kind: str, left_out: str, residuals: Sequence[RunResidual], inside: Sequence[bool]) -> ErrorRow:
    off = [(abs(math.expm1(-miss.ln_ratio)), miss.run.weight) for miss in residuals]
    covered = math.fsum(miss.run.weight for miss, within in zip(residuals, inside, strict=True) if within)
    groups = len({miss.run.group for miss in residuals})
    share = covered / math.fsum(weight for _, weight in off)
    return ErrorRow(
        kind, left_out, len(residuals), groups, weighted_quantile(off, 0.5), weighted_quantile(off, 0.9), share
    )
