"""Fits the coefficients of the speed model of served models: Gauss-Newton on ln(cycle), effects shrunk to 0.

Each coefficient has a prior of its own kind, so that an engine with few results stays near all of them. Results of one
model, accelerator and engine count as their number to the power of -GROUP_POWER; residuals beyond HUBER standard
deviations count less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from planner.performance.serving.serving_results import ServingResult
from planner.performance.serving.speed_model import ALL, FACTORS, PARTS, Effects, cycle_parts, list_levels

PRIOR = {
    (ALL, "engine"): 0.3, (ALL, "engine_kind"): 0.2, ("fixed", "engine"): 0.3, ("memory", "kind"): 0.3,
    ("compute", "kind"): 0.3, ("memory", "bits"): 0.2, (ALL, "load"): 0.3, ("fixed", "kind"): 0.3,
    ("sequence", "kind"): 0.4, ("sync", "kind"): 0.4, (ALL, "engine_architecture"): 0.2,
    ("fixed", "engine_architecture"): 0.3, ("memory", "engine_architecture"): 0.2,
    ("cache", "engine_architecture"): 0.3, ("prompt", "engine"): 0.4, ("sequence", "engine"): 0.5,
    ("sync", "engine"): 0.5,
}  # fmt: skip
"""Standard deviations of effects."""
START = dict.fromkeys(PARTS, 0.0) | {"weights": 0.3, "kv": 0.3, "compute": 0.6, "step": -1.0, "layer": -0.3,
                                     "prefill": 1.0, "attention": 1.0, "start": -0.5}  # fmt: skip
"""First values and, with a standard deviation of 1, priors of the coefficients of parts."""
NOISE, HUBER, PASSES, LARGEST_STEP = 0.15, 1.5, 14, 0.7
GROUP_POWER = 0.35


def fitted_results(results: Sequence[ServingResult]) -> list[ServingResult]:
    """Those with a rate at a known load."""
    return [each for each in results if each.point is not None and each.output_tokens_per_s]


def log_cycle(result: ServingResult) -> float:
    """ln of the measured seconds of a cycle."""
    assert result.point is not None
    assert result.output_tokens_per_s is not None
    return math.log(result.point.concurrency / result.output_tokens_per_s)


def fit_coefficients(results: Sequence[ServingResult]) -> Effects:
    """The coefficients of both fits."""
    found: dict[tuple[str, str, str, str], float] = {}
    usable = fitted_results(results)
    for name in ("served", "static"):
        mine = [each for each in usable if each.point is not None and each.point.fit == name]
        if mine:
            found |= {(name, *key): value for key, value in _fit_one(mine).items()}
    return found


def _fit_one(results: Sequence[ServingResult]) -> dict[tuple[str, str, str], float]:
    points = [each.point for each in results if each.point is not None]
    parts = np.array([cycle_parts(point) for point in points])
    measured = np.array([log_cycle(each) for each in results])
    levels = [list(list_levels(point)) for point in points]
    index = {level: number for number, level in enumerate(sorted({each for one in levels for each in one}))}
    factors = sorted({factor for factor, _, _ in index})
    member: dict[str, Any] = {factor: np.zeros((len(points), len(index))) for factor in factors}
    for row, one in enumerate(levels):
        for each in one:
            member[each[0]][row, index[each]] = 1.0
    centre = np.array([START[part] for part in PARTS] + [0.0] * len(index))
    spread = np.array([1.0] * len(PARTS) + [PRIOR[level[0], level[1]] for level in index])
    base = _group_weights(results)
    values, weights = centre.copy(), base.copy()
    for _ in range(PASSES):
        effects = values[len(PARTS) :]
        by_part = np.stack(
            [member[FACTORS[part]] @ effects if FACTORS[part] in member else np.zeros(len(points)) for part in PARTS], 1
        )
        seconds = parts * np.exp(values[: len(PARTS)] + by_part)
        total = seconds.sum(1)
        share = seconds / total[:, None]
        residual = measured - np.log(total) - member[ALL] @ effects
        slopes = member[ALL].copy()
        for factor in factors:
            if factor != ALL:
                of_factor = [number for number, part in enumerate(PARTS) if FACTORS[part] == factor]
                slopes += share[:, of_factor].sum(1)[:, None] * member[factor]
        jacobian = np.hstack([share, slopes])
        weighted = jacobian.T * (weights / NOISE**2)
        step = np.linalg.solve(
            weighted @ jacobian + np.diag(spread**-2), weighted @ residual - (values - centre) / spread**2
        )
        values += np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        weights = base * np.minimum(1.0, HUBER * NOISE / np.maximum(1e-9, np.abs(residual)))
    found = {(part, "", ""): float(value) for part, value in zip(PARTS, values[: len(PARTS)], strict=True)}
    return found | {level: float(values[len(PARTS) + number]) for level, number in index.items()}


def _group_weights(results: Sequence[ServingResult]) -> Any:
    def cell(result: ServingResult) -> tuple[str, str, str]:
        assert result.point is not None
        return result.family, result.point.part.name, result.point.engine

    sizes = Counter(map(cell, results))
    weights = np.array([sizes[cell(result)] ** -GROUP_POWER for result in results])
    return weights / weights.mean()
