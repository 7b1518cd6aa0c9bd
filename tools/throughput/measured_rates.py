"""Errors of predictions from measurements, and the intervals that follow from them.

Four tasks: another accelerator at the same count; more of the same with the batch per device constant; more of the same
for a fixed job; and both at once. Each is compared with the baseline that the model must beat:

    y(b, n2) = y(a, n1) x n2/n1 x e^log2(n2/n1) x (F_b/F_a)^0.4 x (B_b/B_a)^0.6 x k_b/k_a

with k fitted by accelerator on the same folds (exponents 0.05 and 0.95 for decode), and e 0.976 (weak), 0.99
(replicas), 0.89 (strong), 0.83 (time to train).
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from planner.performance.throughput import intervals
from planner.performance.throughput.accelerator_scores import accelerator_score, missing_specification, peak_tflops
from planner.performance.throughput.scaling import log_efficiency
from pricing.accelerator import Accelerator, AcceleratorNames
from pricing.text_tables import align_columns
from tools.throughput.errors import (
    COVERAGE_TARGET,
    ErrorSummary,
    FoldKey,
    Residual,
    cross_validate,
    group_weights,
    summarise,
    weighted_quantile,
)
from tools.throughput.model_fitting import FittedThroughput, comparable_blocks, fit_model, scaling_pairs
from tools.throughput.published_results import PublishedResult, merge_results

BASELINE_EFFICIENCY = {"weak": 0.976, "replicas": 0.99, "strong": 0.89, "time_to_train": 0.83, "stream": 0.5}
GROUPS_MIN = 3
"""Benchmarks that must have grown in one way before this way can be predicted."""
PAIRS_BOTH_MAX = 20
"""Pairs of one cell for the fourth task, drawn with a fixed seed: cells with many results would drown the others."""
TASKS = {
    "accelerator": "another accelerator, same count",
    "weak": "more of the same, batch per device held",
    "strong": "more of the same, job held: throughput",
    "time_to_train": "more of the same, job held: time to train",
    "replicas": "more independent replicas",
    "stream": "more accelerators for one stream",
    "both": "accelerator and count",
}
HEAD = ("cases", "groups", "median / p90", "baseline", "in the 80 % interval")
NEW_PARTS = ("accelerator", "architecture")
"""Folds after which the accelerator predicted is not in the fit."""
Pair = tuple[PublishedResult, PublishedResult]


@dataclass(frozen=True, slots=True)
class PredictedStep:
    """The kind of a prediction; `step` joins its kinds of steps with plus signs."""

    task: str
    step: str
    family: str
    vendors: str

    @property
    def steps(self) -> list[str]:
        return self.step.split("+")


Case = Residual[PredictedStep]


def folds_by_title(names: AcceleratorNames) -> dict[str, FoldKey[PublishedResult]]:
    """The folds: benchmark groups, sources of results, accelerators, architectures."""
    parts = names.by_name
    return {
        "group": lambda result: (result.group,),
        "source": lambda result: (result.group.split(":")[0],),
        "accelerator": lambda result: (result.accelerator,),
        "architecture": lambda result: (parts[result.accelerator].architecture,),
    }


def validate_folds(
    results: Sequence[PublishedResult], names: AcceleratorNames, report: Callable[[str], object]
) -> dict[str, list[Case]]:
    """The residuals of every fold by its title; `report` is called with each title before its turn."""

    def predict(is_left_out: Callable[[PublishedResult], bool], rest: list[PublishedResult]) -> list[Case]:
        coverage = _FoldCoverage.from_results(rest)
        pairs = prediction_pairs(results, names, is_left_out)
        pairs = [(task, pair) for task, pair in pairs if coverage.can_predict(task, pair[1])]
        return predict_pairs(pairs, fit_model(rest, names), fit_baseline(rest, names), names.by_name) if pairs else []

    cases = {}
    for title, key in folds_by_title(names).items():
        report(title)
        cases[title] = cross_validate(results, key, predict)
    return cases


@dataclass(frozen=True, slots=True)
class _FoldCoverage:
    """Families of work, and ways to grow, that the rest of a fold has results of."""

    families: frozenset[str]
    scalings: frozenset[str]

    @classmethod
    def from_results(cls, rest: Sequence[PublishedResult]) -> _FoldCoverage:
        groups: dict[str, set[str]] = defaultdict(set)
        for first, _ in scaling_pairs(rest):
            groups[first.scaling].add(first.group)
        scalings = frozenset(scaling for scaling, names in groups.items() if len(names) >= GROUPS_MIN)
        return cls(frozenset(result.family for result in rest), scalings)

    def can_predict(self, task: str, result: PublishedResult) -> bool:
        return result.family in self.families and (task == "accelerator" or result.scaling in self.scalings)


def validate_unseen(
    known: Sequence[PublishedResult], new: Sequence[PublishedResult], names: AcceleratorNames
) -> list[Case]:
    """Every case of `new` results, predicted by the fit of the known ones."""
    pairs = prediction_pairs(new, names, lambda _: True)
    return predict_pairs(pairs, fit_model(known, names), fit_baseline(known, names), names.by_name)


def prediction_pairs(
    results: Sequence[PublishedResult], names: AcceleratorNames, is_predicted: Callable[[PublishedResult], bool]
) -> list[tuple[str, Pair]]:
    """Pairs to predict the second of from the first, with their task; at least one of the two `is_predicted`."""
    pairs: list[tuple[str, Pair]] = []
    for block in comparable_blocks(results, names):
        pairs += [("accelerator", (a, b)) for a in block for b in block if a.accelerator != b.accelerator]
    pairs += [(a.scaling, (a, b)) for a, b in scaling_pairs(results)]
    pairs += [("both", pair) for pair in _combined_pairs(results, names)]
    return [(task, (a, b)) for task, (a, b) in pairs if is_predicted(a) or is_predicted(b)]


def _combined_pairs(results: Sequence[PublishedResult], names: AcceleratorNames) -> Iterable[Pair]:
    cells: dict[str, list[PublishedResult]] = defaultdict(list)
    for result in merge_results(results, by_submitter=False):
        if missing_specification(names.by_name[result.accelerator], result.precision) is None:
            cells[result.cell].append(result)
    chance = random.Random(0)  # noqa: S311  (a sample, no secret)
    for _, cell in sorted(cells.items()):
        pairs = [(a, b) for a in cell for b in cell if a.accelerator != b.accelerator and a.count != b.count]
        yield from pairs if len(pairs) <= PAIRS_BOTH_MAX else chance.sample(pairs, PAIRS_BOTH_MAX)


def predict_pairs(
    pairs: Sequence[tuple[str, Pair]],
    model: FittedThroughput,
    efficiency: Mapping[str, float],
    parts: Mapping[str, Accelerator],
) -> list[Case]:
    """Each pair predicted by the model and by the baseline."""
    return [_predict_pair(task, a, b, model, efficiency, parts) for task, (a, b) in pairs]


def _predict_pair(
    task: str,
    a: PublishedResult,
    b: PublishedResult,
    model: FittedThroughput,
    efficiency: Mapping[str, float],
    parts: Mapping[str, Accelerator],
) -> Case:
    first, second = parts[a.accelerator], parts[b.accelerator]
    linear, steps = math.log(b.count / a.count), []
    predicted = baseline = linear
    if a.count != b.count:
        predicted += log_efficiency(a.scaling, a.family, a.count, b.count, model.scalings)
        baseline += math.log2(b.count / a.count) * math.log(BASELINE_EFFICIENCY[a.scaling])
        steps.append(intervals.count_step(a.scaling, a.count, b.count))
    if first.name != second.name:
        known = model.coefficients
        predicted += accelerator_score(second, b.family, b.precision, known) - accelerator_score(
            first, a.family, a.precision, known
        )
        baseline += _baseline_score(second, b, efficiency) - _baseline_score(first, a, efficiency)
        steps.append(intervals.accelerator_step(first, second, known))
    measured = math.log(b.rate / a.rate)
    vendors = first.vendor if first.vendor == second.vendor else "across vendors"
    step = PredictedStep(task, "+".join(steps), b.family, vendors)
    return Residual(step, b.group, predicted - measured, baseline_error=baseline - measured)


def _baseline_score(part: Accelerator, result: PublishedResult, efficiency: Mapping[str, float]) -> float:
    share = 0.05 if result.family == "decode" else 0.4
    rate, bandwidth = peak_tflops(part, result.precision) or math.nan, part.memory_bandwidth_gbs or math.nan
    return share * math.log(rate) + (1 - share) * math.log(bandwidth) + efficiency.get(part.name, 0.0)


def fit_baseline(results: Sequence[PublishedResult], names: AcceleratorNames) -> dict[str, float]:
    """ln k of the baseline, by accelerator: medians within blocks, three times over."""
    blocks = comparable_blocks(results, names)
    known: dict[str, float] = {}
    for _ in range(3):
        off: dict[str, list[float]] = defaultdict(list)
        for block in blocks:
            left = [(r, math.log(r.rate) - _baseline_score(names.by_name[r.accelerator], r, {})) for r in block]
            level = median(value - known.get(r.accelerator, 0.0) for r, value in left)
            for result, value in left:
                off[result.accelerator].append(value - level)
        known = {name: median(values) for name, values in off.items()}
    return known


def fit_spreads(cases: Mapping[str, Sequence[Case]]) -> dict[str, float]:
    """By kind of step, the spread that covers COVERAGE_TARGET of the cases left out; a far step has at least the spread
    of a near one.

    Every group weighs as its number of cases to the power 1/2. `cases` by fold: groups and sources for accelerators in
    the fit, the others for those that are not.
    """
    cases_by_step: dict[str, list[Case]] = defaultdict(list)
    for fold, residuals in cases.items():
        for case in residuals:
            step = case.subject.step
            if "+" not in step and (fold in NEW_PARTS) == step.endswith("not_fitted"):
                cases_by_step[step].append(case)
    spreads = {
        step: weighted_quantile([abs(case.log_error) for case in near], COVERAGE_TARGET, group_weights(near, 0.5))
        for step, near in cases_by_step.items()
    }
    return {step: max(value, spreads.get(step.removesuffix("_far"), 0.0)) for step, value in spreads.items()}


def format_errors(cases: Mapping[str, Sequence[Case]]) -> str:
    """Errors in per cent by what was left out."""
    lines: list[str] = []
    for title, residuals in cases.items():
        lines += (f"left out: each {title}", "", *_fold_lines(title, residuals))
    return "\n".join(lines) + "\n"


def format_file_errors(cases: Sequence[Case]) -> str:
    """The same for one set of results that the fit does not have."""
    return "\n".join(_fold_lines("", cases)) + "\n"


def _fold_lines(title: str, cases: Sequence[Case]) -> Iterator[str]:
    if title in NEW_PARTS:
        cases = [case for case in cases if case.subject.step.endswith("not_fitted")]
    to_accelerator = [case for case in cases if case.subject.task == "accelerator"]
    single_steps = [case for case in cases if "+" not in case.subject.step]
    for attribute, residuals in (
        ("task", cases), ("family", to_accelerator), ("vendors", to_accelerator), ("step", single_steps),
    ):  # fmt: skip
        if residuals:
            rows = [_format_row(summary) for summary in summarise_by(residuals, attribute)]
            yield from (f"  {text}" for text in align_columns((attribute, *HEAD), rows, HEAD))
            yield ""


def summarise_by(cases: Sequence[Case], attribute: str) -> list[ErrorSummary]:
    """A summary for each value of an attribute of PredictedStep, most cases first."""
    cases_by_value: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        cases_by_value[str(getattr(case.subject, attribute))].append(case)
    ranked = sorted(cases_by_value.items(), key=lambda item: (-len(item[1]), item[0]))
    return [summarise(value, residuals, _step_interval) for value, residuals in ranked]


def _step_interval(case: Case) -> intervals.LogInterval:
    return intervals.step_interval(case.subject.steps)


def _format_row(summary: ErrorSummary) -> tuple[str, ...]:
    return (
        TASKS.get(summary.title, summary.title.replace("_", " ")), f"{summary.cases:,d}", str(summary.groups),
        f"{100 * summary.median:.1f} / {100 * summary.p90:.0f}",
        f"{100 * summary.baseline_median:.1f} / {100 * summary.baseline_p90:.0f}", f"{summary.covered:.0%}",
    )  # fmt: skip
