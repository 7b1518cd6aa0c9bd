"""Output tokens a second of a replica: the speed model, corrected by the published results nearest to the question.

Errors of the model on results of the same family are carried over by nearness: with r = ln(measured / modelled cycle),

    correction = sum k r / sum k x max k / (max k + SHRINKAGE),      k = exp(-distance)

Of what is left of the error after that, what the asker measured on the replica takes sum k r / sum k x max k: published
results give the shape of the curve, the own ones its level, and at their own load the estimate is the measurement. The
time to first token at the corrected cycle is corrected by its own residuals in the same ways.

distance adds up squares of doublings (requests at once, input, output: 0.1; accelerators and tensor parallel: 0.4),
2 for another engine, 2 for other bits, 2 for expert parallelism on one side only, 3 for another accelerator, and 3 for
an estimate of another program.
data/intervals.csv has the bounds that hold 80 % of results left out, by how near the nearest result is (`basis`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from planner.performance.serving.serving_results import ESTIMATED, OWN, ServingResult, shipped_results
from planner.performance.serving.speed_model import SERVED, Effects, ServingPoint, first_token_seconds, split_cycle
from planner.performance.throughput.accelerator_scores import read_table
from pricing.frozen_values import dataclass

INTERVALS_FILE = Path(__file__).parent / "data" / "intervals.csv"
INTERVAL_COLUMNS = ("fit", "basis", "low", "high", "results")
NEAR_PER_DOUBLING = 0.1
FAR_PER_DOUBLING = 0.4
OTHER_ENGINE, OTHER_BITS, OTHER_PART, OTHER_EXPERTS = 2.0, 2.0, 3.0, 2.0
SHRINKAGE = 0.02
WITHIN_REACH = 6.0
"""Results further than the nearest by more weigh less than 1 / 400 of it."""
MEASURED_WITHIN = 1.5
"""A result nearer than this, on the same accelerator, counts as the replica measured: only its load differs."""
BASES = (OWN, "measured", "model_elsewhere", "accelerator_not_served", "model_not_served", "neither_served")
"""How near the nearest results are: measured by the asker; published, of this model on this accelerator; of this model
on another one; that, but no result at all of the accelerator; no result of the model; none of either."""


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """Output tokens a second of the replica with the bounds of 80 % of cases, their basis (BASES), and the nearest
    results that it rests on."""

    output_tokens_per_s: float
    low: float
    high: float
    basis: str
    nearest: tuple[ServingResult, ...]


class ReplicaPlace(NamedTuple):
    """What distances between replicas are made of; lengths and sizes as logarithms to base 2."""

    log_input: float
    log_output: float
    log_count: float
    log_tensor: float
    engine: str
    bits: float
    compute: str
    part: str
    expert_parallel: bool

    @classmethod
    def from_point(cls, point: ServingPoint) -> ReplicaPlace:
        return cls(
            math.log2(point.input_tokens), math.log2(point.output_tokens), math.log2(point.count),
            math.log2(point.tensor), point.engine, point.bits, point.compute, point.part.name, point.expert_parallel,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnownResult:
    """A result with its place and the residuals of the model, ln(measured / modelled): of the cycle, and of the time to
    first token beside the measured cycle (None where it was not measured)."""

    result: ServingResult
    point: ServingPoint
    place: ReplicaPlace
    log_concurrency: float
    cycle: float
    first_token: float | None


@dataclass(frozen=True, slots=True)
class KnownResults:
    """The results that correct the model, by family; and the parts with results."""

    by_family: Mapping[tuple[str, str], Sequence[KnownResult]]
    parts: frozenset[tuple[str, str]]


def known_results(results: Sequence[ServingResult], coefficients: Effects | None = None) -> KnownResults:
    """Those of `results` with a rate at a known load."""
    by_family: dict[tuple[str, str], list[KnownResult]] = {}
    parts: set[tuple[str, str]] = set()
    for each in results:
        point = each.point
        if point is None or each.output_tokens_per_s is None:
            continue
        split = split_cycle(point, coefficients)
        residual, first = math.log(point.concurrency / each.output_tokens_per_s / math.fsum(split.values())), None
        if each.ttft_s and point.load == SERVED:
            measured = {part: seconds * math.exp(residual) for part, seconds in split.items()}
            first = math.log(each.ttft_s / first_token_seconds(point, measured, coefficients))
        place, log = ReplicaPlace.from_point(point), math.log2(point.concurrency)
        found = KnownResult(each, point, place, log, residual, first)
        by_family.setdefault((point.fit, each.family), []).append(found)
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
class NearResult:
    """A known result with its distance from a replica but for the requests at once, and their logarithm to base 2."""

    distance: float
    log: float
    known: KnownResult

    def distance_at(self, log: float) -> float:
        return self.distance + NEAR_PER_DOUBLING * (log - self.log) ** 2


Residual = Callable[[KnownResult], float | None]


def _cycle_residual(known: KnownResult) -> float | None:
    return known.cycle


def _first_token_residual(known: KnownResult) -> float | None:
    return known.first_token


@dataclass(frozen=True, slots=True)
class ResidualsAtLoad:
    """All residuals at one number of requests at once (`log` to base 2): the sum of their weights but for it, the sum
    of weight x residual, and the largest weight. Curves are measured at few loads, so that a question at another one
    sums over these and not over all results."""

    log: float
    weight: float
    weighted: float
    largest: float


def sum_residuals(near: Sequence[NearResult], residual: Residual) -> tuple[ResidualsAtLoad, ...]:
    """The residuals that were measured, by their load."""
    weights: dict[float, list[tuple[float, float]]] = {}
    for each in near:
        value = residual(each.known)
        if value is not None:
            weights.setdefault(each.log, []).append((math.exp(-each.distance), value))
    return tuple(
        ResidualsAtLoad(
            log,
            math.fsum(weight for weight, _ in found),
            math.fsum(weight * value for weight, value in found),
            max(weight for weight, _ in found),
        )
        for log, found in weights.items()
    )


def _weigh_residuals(loads: Sequence[ResidualsAtLoad], log: float) -> tuple[float, float]:
    """The mean of residuals by nearness, and the nearness of the nearest: 1 at its place, 0 without any."""
    if not loads:
        return 0.0, 0.0
    fading = [math.exp(-NEAR_PER_DOUBLING * (log - each.log) ** 2) for each in loads]
    weight = math.fsum(fade * each.weight for fade, each in zip(fading, loads, strict=True))
    weighted = math.fsum(fade * each.weighted for fade, each in zip(fading, loads, strict=True))
    return weighted / weight, max(fade * each.largest for fade, each in zip(fading, loads, strict=True))


@dataclass(frozen=True, slots=True)
class ResidualCorrection:
    """A correction by the residuals of others, and by `own` ones of what is left after that."""

    others: tuple[ResidualsAtLoad, ...] = ()
    own: tuple[ResidualsAtLoad, ...] = ()

    @classmethod
    def from_results(
        cls, others: Sequence[NearResult], own: Sequence[NearResult], residual: Residual
    ) -> ResidualCorrection:
        theirs = cls(sum_residuals(others, residual))

        def left(known: KnownResult) -> float | None:
            value = residual(known)
            return None if value is None else value - theirs.at(known.log_concurrency)

        return cls(theirs.others, sum_residuals(own, left))

    def at(self, log: float) -> float:
        """ln of the factor at so many requests at once; results of others correct nothing where none is near."""
        mean, nearness = _weigh_residuals(self.others, log)
        own_mean, own_nearness = _weigh_residuals(self.own, log)
        return mean * nearness / (nearness + SHRINKAGE) + own_mean * own_nearness


@dataclass(frozen=True, slots=True)
class NearbyResults:
    """The results that may correct the times of one replica at any number of requests at once, and the corrections of
    the cycle and of the time to first token. `own` were measured by the asker on the replica, or one like it: they
    correct what is left after the correction by the others."""

    results: tuple[NearResult, ...]
    part_known: bool
    part: str
    own: tuple[NearResult, ...] = ()
    cycle: ResidualCorrection = ResidualCorrection()
    first_token: ResidualCorrection = ResidualCorrection()

    def judge(self, concurrency: float) -> tuple[str, tuple[ServingResult, ...]]:
        """The basis, and up to three results nearest to the question."""
        log = math.log2(concurrency)
        nearest = sorted((*self.own, *self.results), key=lambda each: each.distance_at(log))
        if not nearest:
            return "model_not_served" if self.part_known else "neither_served", ()
        on_part = {
            each.known.result.origin
            for each in nearest
            if each.distance_at(log) < MEASURED_WITHIN and each.known.point.part.name == self.part
        }
        elsewhere = "model_elsewhere" if self.part_known else "accelerator_not_served"
        basis = OWN if OWN in on_part else "measured" if on_part else elsewhere
        return basis, tuple(each.known.result for each in nearest[:3])

    def is_measured(self, concurrency: float) -> bool:
        """Whether the asker measured the replica, but for its load."""
        log = math.log2(concurrency)
        return any(
            each.distance_at(log) < MEASURED_WITHIN for each in self.own if each.known.point.part.name == self.part
        )


def find_nearby(point: ServingPoint, known: KnownResults) -> NearbyResults:
    """The results of the model's family, without those too far away to weigh beside the nearest one."""
    mine = known.by_family.get((point.fit, point.model.family), ()) if point.model.family else ()
    own, others, place = list[NearResult](), list[NearResult](), ReplicaPlace.from_point(point)
    for each in mine:
        distance = replica_distance(place, each.place) + OTHER_PART * (each.result.origin == ESTIMATED)
        near = NearResult(distance, each.log_concurrency, each)
        (own if each.result.origin == OWN and distance < MEASURED_WITHIN else others).append(near)
    reach = min((each.distance for each in others), default=0.0) + WITHIN_REACH
    nearby = [each for each in others if each.distance < reach]
    return NearbyResults(
        tuple(nearby), (point.fit, point.part.name) in known.parts, point.part.name, tuple(own),
        ResidualCorrection.from_results(nearby, own, _cycle_residual),
        ResidualCorrection.from_results(nearby, own, _first_token_residual),
    )  # fmt: skip


def correct_split(point: ServingPoint, nearby: NearbyResults, coefficients: Effects | None = None) -> dict[str, float]:
    """Seconds of each part of the corrected cycle."""
    factor = math.exp(nearby.cycle.at(math.log2(point.concurrency)))
    return {part: seconds * factor for part, seconds in split_cycle(point, coefficients).items()}


def correct_first_token(
    point: ServingPoint, split: Mapping[str, float], nearby: NearbyResults, coefficients: Effects | None = None
) -> float:
    """Seconds to the first token (speed_model.first_token_seconds) of a corrected cycle, corrected in its turn."""
    factor = math.exp(nearby.first_token.at(math.log2(point.concurrency)))
    return first_token_seconds(point, split, coefficients) * factor


def replica_distance(one: ReplicaPlace, other: ReplicaPlace) -> float:
    """How far a result is from the question but for the requests at once; 0 is the same."""
    inputs, outputs, count, tensor, engine, bits, compute, part, is_expert_parallel = one
    distance = NEAR_PER_DOUBLING * ((inputs - other[0]) ** 2 + (outputs - other[1]) ** 2)
    distance += FAR_PER_DOUBLING * ((count - other[2]) ** 2 + (tensor - other[3]) ** 2)
    if engine != other[4]:
        distance += OTHER_ENGINE
    if bits != other[5] or compute != other[6]:
        distance += OTHER_BITS
    if part != other[7]:
        distance += OTHER_PART
    return distance + OTHER_EXPERTS if is_expert_parallel != other[8] else distance


@cache
def load_intervals() -> Mapping[tuple[str, str], tuple[float, float]]:
    """Low and high of measured over estimated rate, by fit and basis."""
    return {
        (row["fit"], row["basis"]): (float(row["low"]), float(row["high"]))
        for row in read_table(INTERVALS_FILE, INTERVAL_COLUMNS)
    }
