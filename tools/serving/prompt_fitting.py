"""Fits the time to first token of served load to its measured medians and means, by least absolute deviations.

    first token = exp(prompt) P (1 + exp(queue) B^power) + exp(cycles) cycle + exp(fixed) seconds

with P the seconds of one prompt and `cycle` those of the speed model. Found by cyclic steps on each of the five values,
halved until none helps: the measured times differ by factors between engines, so that more precision has no use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from planner.performance.serving.serving_results import ServingResult
from planner.performance.serving.speed_model import PROMPT_TERMS, Effects, prompt_seconds, split_cycle

START = (0.0, -4.0, 1.2, 1.0, -4.0)
FIRST_STEP, LAST_STEP = 0.5, 0.005


def fit_prompt_times(results: Sequence[ServingResult], coefficients: Effects) -> dict[tuple[str, str, str, str], float]:
    """The five values, as rows of the coefficients."""
    usable = [
        (each.point, each.ttft_s)
        for each in results
        if each.point is not None and each.point.load == "served" and each.ttft_s and each.output_tokens_per_s
    ]
    splits = [split_cycle(point, coefficients) for point, _ in usable]
    prompts = np.array([prompt_seconds(point, split) for (point, _), split in zip(usable, splits, strict=True)])
    cycles = np.array([math.fsum(split.values()) for split in splits])
    requests = np.array([point.concurrency for point, _ in usable])
    measured = np.log([seconds for _, seconds in usable])

    def loss(values: Sequence[float]) -> float:
        prompt, queue, power, cycle, fixed = values
        times = np.exp(prompt) * prompts * (1 + np.exp(queue) * requests**power) + np.exp(cycle) * cycles
        return float(np.abs(measured - np.log(times + np.exp(fixed))).sum())

    values, step = list(START), FIRST_STEP
    best = loss(values)
    while step > LAST_STEP:
        improved = False
        for place in range(len(values)):
            for change in (step, -step):
                trial = [*values[:place], values[place] + change, *values[place + 1 :]]
                if (found := loss(trial)) < best:
                    values, best, improved = trial, found, True
        if not improved:
            step /= 2
    return {("first_token", name, "", ""): value for name, value in zip(PROMPT_TERMS, values, strict=True)}
