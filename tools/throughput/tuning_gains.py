"""Speed-ups by mixed precision and by larger batches, from results that differ in nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from planner.performance.throughput.accelerator_scores import computed_peak
from planner.performance.throughput.published_results import PublishedResult, merge_results
from planner.performance.throughput.result_errors import weighted_quantile
from planner.performance.throughput.result_pairs import BATCH_TOLERANCE
from planner.performance.throughput.tuning_gains import DOUBLED_BATCH, MIXED, WIDE_PRECISIONS, TuningGain
from pricing.accelerator import Accelerator, AcceleratorNames

GROUPS_MIN = 2
Ratios = dict[tuple[str, str], list[tuple[str, float]]]


def fit_gains(results: Sequence[PublishedResult], names: AcceleratorNames) -> list[TuningGain]:
    """The gain of each change, with its group and ratio of every case behind it."""
    ratios: Ratios = defaultdict(list)
    for key, group, ratio in (*_precision_ratios(results, names.by_name), *_batch_ratios(results)):
        ratios[key].append((group, ratio))
    return [
        _summarise_gain(key, cases)
        for key, cases in sorted(ratios.items())
        if len({group for group, _ in cases}) >= GROUPS_MIN
    ]


def _summarise_gain(key: tuple[str, str], cases: Sequence[tuple[str, float]]) -> TuningGain:
    values = [ratio for _, ratio in cases]
    low, median, high = (round(weighted_quantile(values, share), 2) for share in (0.1, 0.5, 0.9))
    return TuningGain(*key, low, median, high, len(cases), len({group for group, _ in cases}))


def _precision_ratios(
    results: Sequence[PublishedResult], parts: Mapping[str, Accelerator]
) -> Iterator[tuple[tuple[str, str], str, float]]:
    """Half precision over a wider one: the same work, accelerator, count and submitter, at the batch of each."""
    rates: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for result in merge_results(results, by_setup=True):
        if result.kind == "throughput":
            setup = result.group, result.accelerator, result.setting, f"{result.count:g}", result.submitter
            known = rates[setup].get(result.precision, 0.0)
            rates[setup][result.precision] = max(known, result.rate)
    for (group, accelerator, *_), by_precision in rates.items():
        part = parts[accelerator]
        for precision in WIDE_PRECISIONS:
            peak = computed_peak(part, precision)
            if peak is not None and precision in by_precision and "fp16" in by_precision:
                change = MIXED.format(precision=peak[0])
                yield (change, part.architecture), group, by_precision["fp16"] / by_precision[precision]


def _batch_ratios(results: Sequence[PublishedResult]) -> Iterator[tuple[tuple[str, str], str, float]]:
    setups: dict[tuple[str, ...], list[PublishedResult]] = defaultdict(list)
    for result in merge_results(results, by_setup=True):
        if result.batch and result.scaling == "weak":
            setups[result.cell, result.accelerator, f"{result.count:g}", result.submitter].append(result)
    for same in setups.values():
        for less, more in pairwise(sorted(same, key=lambda result: result.batch or 0.0)):
            if abs((more.batch or 0.0) / (less.batch or 1.0) / 2 - 1) <= BATCH_TOLERANCE:
                yield (DOUBLED_BATCH, ""), less.group, more.rate / less.rate
