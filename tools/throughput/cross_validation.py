"""How wrong the model is on work that it has not seen: each fold is left out, the rest fitted, the fold predicted.

Four tasks: another accelerator at the same count; more of the same with the batch per device held; more of the same
for a fixed job; and both at once. Beside each stands the baseline that the model must beat:

    y(b, n2) = y(a, n1) x n2/n1 x e^log2(n2/n1) x (F_b/F_a)^0.4 x (B_b/B_a)^0.6 x k_b/k_a

with k fitted by accelerator on the same folds (exponents 0.05 and 0.95 for decode), and e 0.976 (weak), 0.99
(replicas), 0.89 (strong), 0.83 (time to train).
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from planner.performance.throughput import intervals
from planner.performance.throughput.accelerator_scores import accelerator_score, missing_specification, peak_tflops
from planner.performance.throughput.scaling import log_efficiency
from pricing.accelerator import Accelerator, AcceleratorNames
from tools.throughput.model_fitting import FittedThroughput, comparable_blocks, fit_model, scaling_pairs
from tools.throughput.published_results import PublishedResult, merge_results

BASELINE_EFFICIENCY = {"weak": 0.976, "replicas": 0.99, "strong": 0.89, "time_to_train": 0.83, "stream": 0.5}
COVERAGE_TARGET = 0.8
GROUPS_MIN = 3
"""Benchmarks that must have grown in the same way, for a way to grow to be known at all."""
PAIRS_BOTH_MAX = 20
"""Pairs of one cell for the fourth task, drawn with a fixed seed: cells with many results would drown the others."""
AcceleratorsByName = Mapping[str, Accelerator]
Pair = tuple[PublishedResult, PublishedResult]
Fold = Callable[[PublishedResult], str]


@dataclass(frozen=True, slots=True)
class PredictionCase:
    """One prediction of a result that the fit had not seen: logarithms of predicted over measured."""

    task: str
    step: str
    group: str
    family: str
    vendors: str
    error: float
    baseline: float
    spread: float


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """Errors over some cases, in per cent (median, 90th percentile), and how many lie in the 80 % interval."""

    title: str
    cases: int
    groups: int
    median: float
    p90: float
    baseline_median: float
    baseline_p90: float
    covered: float


def folds_by_title(names: AcceleratorNames) -> dict[str, Fold]:
    """What may be left out whole: a benchmark group, a source of results, an accelerator, an architecture."""
    parts = names.by_name
    return {
        "group": lambda result: result.group,
        "source": lambda result: result.group.split(":")[0],
        "accelerator": lambda result: result.accelerator,
        "architecture": lambda result: parts[result.accelerator].architecture,
    }


def validate_fold(results: Sequence[PublishedResult], names: AcceleratorNames, fold: Fold) -> list[PredictionCase]:
    """Every case of a fold, predicted by the fit of all other folds."""
    cases: list[PredictionCase] = []
    for name in sorted({fold(result) for result in results}):
        rest = [result for result in results if fold(result) != name]
        predicted = prediction_pairs(results, names, _fold_filter(fold, name))
        known = _FoldCoverage.from_results(rest)
        predicted = [(task, pair) for task, pair in predicted if known.can_predict(task, pair[1])]
        if predicted:
            cases += predict_pairs(predicted, fit_model(rest, names), fit_baseline(rest, names), names.by_name)
    return cases


def _fold_filter(fold: Fold, name: str) -> Callable[[PublishedResult], bool]:
    return lambda result: fold(result) == name


@dataclass(frozen=True, slots=True)
class _FoldCoverage:
    """What is left of a fold says something of: families of work, and ways to grow."""

    families: frozenset[str]
    ways: frozenset[str]

    @classmethod
    def from_results(cls, rest: Sequence[PublishedResult]) -> _FoldCoverage:
        groups: dict[str, set[str]] = defaultdict(set)
        for first, _ in scaling_pairs(rest):
            groups[first.scaling].add(first.group)
        ways = frozenset(way for way, found in groups.items() if len(found) >= GROUPS_MIN)
        return cls(frozenset(result.family for result in rest), ways)

    def can_predict(self, task: str, result: PublishedResult) -> bool:
        return result.family in self.families and (task == "accelerator" or result.scaling in self.ways)


def cross_validate(
    results: Sequence[PublishedResult], names: AcceleratorNames, tell: Callable[[str], object]
) -> dict[str, list[PredictionCase]]:
    """`left_out` for everything that may be left out, by its title; `tell` hears each title before its turn."""
    cases = {}
    for title, fold in folds_by_title(names).items():
        tell(title)
        cases[title] = validate_fold(results, names, fold)
    return cases


def validate_unseen(
    known: Sequence[PublishedResult], new: Sequence[PublishedResult], names: AcceleratorNames
) -> list[PredictionCase]:
    """Every case of `new` results, predicted by the fit of the known ones."""
    predicted = prediction_pairs(new, names, lambda _: True)
    return predict_pairs(predicted, fit_model(known, names), fit_baseline(known, names), names.by_name)


def prediction_pairs(
    results: Sequence[PublishedResult], names: AcceleratorNames, wanted: Callable[[PublishedResult], bool]
) -> list[tuple[str, Pair]]:
    """Pairs to predict the second of from the first, with their task; one of them at least is `wanted`."""
    pairs: list[tuple[str, Pair]] = []
    for block in comparable_blocks(results, names):
        pairs += [("accelerator", (a, b)) for a in block for b in block if a.accelerator != b.accelerator]
    pairs += [(a.scaling, (a, b)) for a, b in scaling_pairs(results)]
    pairs += [("both", pair) for pair in _combined_pairs(results, names)]
    return [(task, (a, b)) for task, (a, b) in pairs if wanted(a) or wanted(b)]


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
    parts: AcceleratorsByName,
) -> list[PredictionCase]:
    """Each pair predicted by the model and by the baseline."""
    return [_predict_pair(task, a, b, model, efficiency, parts) for task, (a, b) in pairs]


def _predict_pair(
    task: str,
    a: PublishedResult,
    b: PublishedResult,
    model: FittedThroughput,
    efficiency: Mapping[str, float],
    parts: AcceleratorsByName,
) -> PredictionCase:
    first, second = parts[a.accelerator], parts[b.accelerator]
    linear, steps = math.log(b.count / a.count), []
    ours = theirs = linear
    if a.count != b.count:
        ours += log_efficiency(a.scaling, a.family, a.count, b.count, model.scalings)
        theirs += math.log2(b.count / a.count) * math.log(BASELINE_EFFICIENCY[a.scaling])
        steps.append(intervals.count_step(a.scaling, a.count, b.count))
    if first.name != second.name:
        known = model.coefficients
        ours += accelerator_score(second, b.family, b.precision, known) - accelerator_score(
            first, a.family, a.precision, known
        )
        theirs += _baseline_score(second, b, efficiency) - _baseline_score(first, a, efficiency)
        steps.append(intervals.accelerator_step(first, second, known))
    measured = math.log(b.rate / a.rate)
    vendors = first.vendor if first.vendor == second.vendor else "across vendors"
    spread = intervals.combined_spread(tuple(steps))
    return PredictionCase(task, "+".join(steps), b.group, b.family, vendors, ours - measured, theirs - measured, spread)


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


def summarise_by(cases: Sequence[PredictionCase], *, by: str = "task") -> list[ErrorSummary]:
    """A line for each value of `by` (task, family, vendors, step), most cases first."""
    groups: dict[str, list[PredictionCase]] = defaultdict(list)
    for case in cases:
        groups[str(getattr(case, by))].append(case)
    return [
        summarise_errors(title, mine)
        for title, mine in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    ]


def summarise_errors(title: str, cases: Sequence[PredictionCase]) -> ErrorSummary:
    """The errors of these cases; at least one."""
    ours, theirs = ([_per_cent(getattr(case, name)) for case in cases] for name in ("error", "baseline"))
    inside = sum(abs(case.error) <= case.spread for case in cases)
    return ErrorSummary(
        title, len(cases), len({case.group for case in cases}), median(ours), weighted_quantile(ours, 0.9),
        median(theirs), weighted_quantile(theirs, 0.9), inside / len(cases),
    )  # fmt: skip


def _per_cent(error: float) -> float:
    return 100 * abs(math.expm1(error))


def weighted_quantile(values: Iterable[float], share: float, weights: Iterable[float] | None = None) -> float:
    """The least value that `share` of the weight does not pass."""
    ordered = sorted(zip(values, weights or iter(lambda: 1.0, None), strict=False))
    total, reached = math.fsum(weight for _, weight in ordered), 0.0
    for value, weight in ordered:
        reached += weight
        if reached >= share * total * (1 - 1e-12):
            return value
    raise ValueError("no values")


def with_spreads(cases: Iterable[PredictionCase]) -> list[PredictionCase]:
    """The same cases held against the intervals that are in force now."""
    return [replace(case, spread=intervals.combined_spread(tuple(case.step.split("+")))) for case in cases]


def fit_spreads(cases: Mapping[str, Sequence[PredictionCase]]) -> dict[str, float]:
    """By kind of step, the spread that covers SHARE of the cases left out; a far step is never surer than a near one.

    Every group weighs as its number of cases to the power 1/2. `cases` by fold: groups and sources for accelerators in
    the fit, the others for those that are not.
    """
    errors_by_step: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for fold, mine in cases.items():
        for case in mine:
            if "+" in case.step or (fold in ("accelerator", "architecture")) != case.step.endswith("not_fitted"):
                continue
            errors_by_step[case.step].append((abs(case.error), case.group))
    near = {step: _covering_spread(values) for step, values in errors_by_step.items()}
    return {step: max(value, near.get(step.removesuffix("_far"), 0.0)) for step, value in near.items()}


def _covering_spread(values: Sequence[tuple[float, str]]) -> float:
    sizes: dict[str, int] = defaultdict(int)
    for _, group in values:
        sizes[group] += 1
    return weighted_quantile(
        [error for error, _ in values], COVERAGE_TARGET, [sizes[group] ** -0.5 for _, group in values]
    )
