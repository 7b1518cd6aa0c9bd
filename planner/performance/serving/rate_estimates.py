"""Output tokens a second of a replica: the speed model, corrected by the published results nearest to the question.

Errors of the model on results of the same family are carried over by nearness: with r = ln(measured / modelled cycle),

    correction = sum k r / sum k x max k / (max k + SHRINKAGE),      k = exp(-distance)

distance adds up squares of doublings (requests at once, input, output: 0.1 each; accelerators and tensor parallel 0.4),
2 for another engine, 2 for other bits, 3 for another accelerator. data/intervals.csv has the bounds that hold 80 % of
results left out, by how near the nearest result is (`basis`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from planner.performance.serving.serving_results import ServingResult, shipped_results
from planner.performance.serving.speed_model import SERVED, Effects, ServingPoint, cycle_seconds, split_cycle
from planner.performance.throughput.accelerator_scores import read_table

INTERVALS_FILE = Path(__file__).parent / "data" / "intervals.csv"
INTERVAL_COLUMNS = ("fit", "basis", "low", "high", "results")
NEAR_PER_DOUBLING = 0.1
FAR_PER_DOUBLING = 0.4
OTHER_ENGINE, OTHER_BITS, OTHER_PART = 2.0, 2.0, 3.0
SHRINKAGE = 0.02
WITHIN_REACH = 6.0
"""Results further than the nearest by more weigh less than 1 / 400 of it."""
MEASURED_WITHIN = 1.5
"""A result nearer than this, on the same accelerator, counts as the replica measured: only its load differs."""
BASES = ("measured", "model_elsewhere", "accelerator_not_served", "model_not_served", "neither_served")
"""How near the nearest results are: this model on this accelerator; this model on another one; that, but no result at
all of the accelerator; no result of the model; none of either."""


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """Output tokens a second of the replica with the bounds of 80 % of cases, their basis (BASES), and the nearest
    results that it rests on."""

    output_tokens_per_s: float
    low: float
    high: float
    basis: str
    nearest: tuple[ServingResult, ...]


@dataclass(frozen=True, slots=True)
class KnownResults:
    """The results that correct the model, by family, with the model's residual of each; and the parts with results."""

    by_family: Mapping[tuple[str, str], Sequence[tuple[ServingResult, ServingPoint, float]]]
    parts: frozenset[tuple[str, str]]


def known_results(results: Sequence[ServingResult], coefficients: Effects | None = None) -> KnownResults:
    """Those of `results` with a rate at a known load."""
    by_family: dict[tuple[str, str], list[tuple[ServingResult, ServingPoint, float]]] = {}
    parts: set[tuple[str, str]] = set()
    for each in results:
        point = each.point
        if point is None or each.output_tokens_per_s is None:
            continue
        residual = math.log(point.concurrency / each.output_tokens_per_s / cycle_seconds(point, coefficients))
        by_family.setdefault((point.fit, each.family), []).append((each, point, residual))
        parts.add((point.fit, point.part.name))
    return KnownResults(by_family, frozenset(parts))


def add_results(
    known: KnownResults, results: Sequence[ServingResult], coefficients: Effects | None = None
) -> KnownResults:
    """The known results with further ones."""
    more = known_results(results, coefficients)
    keys = known.by_family.keys() | more.by_family.keys()
    merged = {key: (*known.by_family.get(key, ()), *more.by_family.get(key, ())) for key in keys}
    return KnownResults(merged, known.parts | more.parts)


@cache
def shipped_known(family: str) -> KnownResults:
    """The shipped results that a question on a family needs: its own, and which accelerators have any."""
    everything = [each for each in shipped_results() if each.point is not None and each.output_tokens_per_s]
    parts = frozenset((each.point.fit, each.point.part.name) for each in everything if each.point is not None)
    return KnownResults(known_results([each for each in everything if each.family == family]).by_family, parts)


@cache
def oldest_year() -> int:
    """The year of release of the oldest accelerator with a served result."""
    years = (each.point.part.release_year for each in shipped_results() if each.point and each.point.fit == SERVED)
    return min(year for year in years if year is not None)


@dataclass(frozen=True, slots=True)
class NearbyResults:
    """The results that may correct the cycles of one replica at any number of requests at once: each with its distance
    but for that number, the number's logarithm to base 2, and the residual of the model."""

    results: tuple[tuple[float, float, float, ServingResult], ...]
    part_known: bool
    part: str

    def correct(self, concurrency: float) -> tuple[float, str, tuple[ServingResult, ...]]:
        """ln of the factor on the modelled cycle, the basis, and up to three results nearest to the question."""
        if not self.results:
            return 0.0, "model_not_served" if self.part_known else "neither_served", ()
        log = math.log2(concurrency)
        distances = [base + NEAR_PER_DOUBLING * (log - at) ** 2 for base, at, _, _ in self.results]
        weights = [math.exp(-distance) for distance in distances]
        mean = math.fsum(w * each[2] for w, each in zip(weights, self.results, strict=True)) / math.fsum(weights)
        order = sorted(range(len(distances)), key=lambda number: (distances[number], number))
        nearest = tuple(self.results[number][3] for number in order[:3])
        on_part = any(
            distance < MEASURED_WITHIN and each[3].point is not None and each[3].point.part.name == self.part
            for distance, each in zip(distances, self.results, strict=True)
        )
        basis = "measured" if on_part else "model_elsewhere" if self.part_known else "accelerator_not_served"
        best = weights[order[0]]
        return mean * best / (best + SHRINKAGE), basis, nearest


def find_nearby(point: ServingPoint, known: KnownResults) -> NearbyResults:
    """The results of the model's family, without those too far away to weigh beside the nearest one."""
    mine = known.by_family.get((point.fit, point.model.family), ()) if point.model.family else ()
    candidates = [
        (result_distance(replace(point, concurrency=other.concurrency), other), each, other, residual)
        for each, other, residual in mine
    ]
    least = min((distance for distance, *_ in candidates), default=0.0)
    near = tuple(
        (distance, math.log2(other.concurrency), residual, each)
        for distance, each, other, residual in candidates
        if distance < least + WITHIN_REACH
    )
    return NearbyResults(near, (point.fit, point.part.name) in known.parts, point.part.name)


def correct_split(
    point: ServingPoint, nearby: NearbyResults
) -> tuple[dict[str, float], str, tuple[ServingResult, ...]]:
    """Seconds of each part of the corrected cycle, the basis of the correction, and the results nearest to the
    question."""
    correction, basis, nearest = nearby.correct(point.concurrency)
    factor = math.exp(correction)
    return {part: seconds * factor for part, seconds in split_cycle(point).items()}, basis, nearest


def correct_cycle(point: ServingPoint, known: KnownResults) -> tuple[float, str, tuple[ServingResult, ...]]:
    """The correction at the requests at once of one point (NearbyResults.correct)."""
    return find_nearby(point, known).correct(point.concurrency)


def result_distance(point: ServingPoint, other: ServingPoint) -> float:
    """How far a result is from the question; 0 is the same."""
    near = math.fsum(
        math.log2(a / b) ** 2
        for a, b in (
            (point.concurrency, other.concurrency),
            (point.input_tokens, other.input_tokens),
            (point.output_tokens, other.output_tokens),
        )
    )
    far = math.log2(point.count / other.count) ** 2 + math.log2(point.tensor / other.tensor) ** 2
    distance = OTHER_ENGINE * (point.engine != other.engine)
    distance += OTHER_BITS * ((point.bits, point.compute) != (other.bits, other.compute))
    distance += OTHER_PART * (point.part.name != other.part.name)
    return NEAR_PER_DOUBLING * near + FAR_PER_DOUBLING * far + distance


@cache
def load_intervals() -> Mapping[tuple[str, str], tuple[float, float]]:
    """Low and high of measured over estimated rate, by fit and basis."""
    return {
        (row["fit"], row["basis"]): (float(row["low"]), float(row["high"]))
        for row in read_table(INTERVALS_FILE, INTERVAL_COLUMNS)
    }
