"""Pairs of published results: a user of a measurement has one of a pair and needs the other.

Four questions: another accelerator at the same count; more of the same accelerator; both at once. Pairs of one cell
only. Growth with the batch of each device fixed, and with that of the job fixed, follows from the batches where a
source states them.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from planner.performance.throughput.accelerator_scores import missing_specification
from planner.performance.throughput.published_results import PublishedResult, Scaling, merge_results
from pricing.accelerator import AcceleratorNames
from pricing.frozen_values import dataclass

BATCH_TOLERANCE = 0.02
PAIRS_BOTH_MAX = 20
"""Pairs of one cell that differ in accelerator and count, drawn with a fixed seed: cells with many results would drown
the others."""
ACCELERATOR, BOTH = "accelerator", "both"


@dataclass(frozen=True, slots=True)
class ResultPair:
    """Predict the second from the first; `task` is ACCELERATOR, BOTH or the scaling."""

    task: str
    first: PublishedResult
    second: PublishedResult
    scaling: Scaling


def comparable_blocks(results: Sequence[PublishedResult], names: AcceleratorNames) -> list[list[PublishedResult]]:
    """Blocks of results of several accelerators in one cell at one count; of parts without a score none."""
    blocks: dict[tuple[str, float], list[PublishedResult]] = defaultdict(list)
    for result in _scored_results(results, names):
        blocks[result.cell, result.count].append(result)
    return [block for block in blocks.values() if len(block) > 1]


def _scored_results(results: Sequence[PublishedResult], names: AcceleratorNames) -> Iterator[PublishedResult]:
    for result in merge_results(results, by_setup=False):
        if missing_specification(names.by_name[result.accelerator], result.precision) is None:
            yield result


def scaling_pairs(results: Sequence[PublishedResult]) -> list[ResultPair]:
    """Pairs of results of one cell, accelerator and submitter, the second with more accelerators."""
    results_by_key: dict[tuple[str, str, str], list[PublishedResult]] = defaultdict(list)
    for result in merge_results(results, by_setup=True):
        results_by_key[result.cell, result.accelerator, result.submitter].append(result)
    pairs = [(a, b) for same in results_by_key.values() for a in same for b in same if a.count < b.count]
    grown = [(a, b, growth_between(a, b)) for a, b in pairs]
    return [ResultPair(scaling, a, b, scaling) for a, b, scaling in grown if scaling is not None]


def growth_between(first: PublishedResult, second: PublishedResult) -> Scaling | None:
    """How the job grew: as its source grows; weak growth only where the batch of a device is held or unknown, strong
    where that of the job is; None where neither is, or only one is known."""
    if first.scaling != "weak" or (first.batch is None and second.batch is None):
        return first.scaling
    if first.batch is None or second.batch is None:
        return None
    grown = second.batch / first.batch
    if abs(grown - 1) <= BATCH_TOLERANCE:
        return "weak"
    return "strong" if abs(grown * second.count / first.count - 1) <= BATCH_TOLERANCE else None


def prediction_pairs(
    results: Sequence[PublishedResult], names: AcceleratorNames, is_predicted: Callable[[PublishedResult], bool]
) -> list[ResultPair]:
    """Pairs of every task; at least one of the two `is_predicted`."""
    pairs = [
        ResultPair(ACCELERATOR, a, b, a.scaling)
        for block in comparable_blocks(results, names)
        for a in block
        for b in block
        if a.accelerator != b.accelerator
    ]
    pairs += scaling_pairs(results)
    pairs += _combined_pairs(results, names)
    return [pair for pair in pairs if is_predicted(pair.first) or is_predicted(pair.second)]


def _combined_pairs(results: Sequence[PublishedResult], names: AcceleratorNames) -> Iterator[ResultPair]:
    """Another accelerator may hold another batch: only a batch of the job that is held tells of the growth here."""
    cells: dict[str, list[PublishedResult]] = defaultdict(list)
    for result in _scored_results(results, names):
        cells[result.cell].append(result)
    chance = random.Random(0)  # noqa: S311  (a sample, no secret)
    for _, cell in sorted(cells.items()):
        pairs = [(a, b) for a in cell for b in cell if a.accelerator != b.accelerator and a.count != b.count]
        drawn = pairs if len(pairs) <= PAIRS_BOTH_MAX else chance.sample(pairs, PAIRS_BOTH_MAX)
        yield from (ResultPair(BOTH, a, b, growth_between(a, b) or a.scaling) for a, b in drawn)
