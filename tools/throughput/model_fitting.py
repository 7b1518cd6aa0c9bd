"""Fits the coefficients of accelerator scores and of scaling to public measurements.

Score: ridge regression of ln(rate) inside blocks (one cell and count), each coefficient shrunk to 0 by a prior of its
own kind, so that a part with few measurements stays near its architecture and vendor; residuals beyond two standard
deviations count less (Huber). Scaling: least absolute deviations over pairs of counts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.performance.throughput.accelerator_scores import (
    PREDICTORS,
    Coefficients,
    base_score,
    effect_levels,
    missing_specification,
    predictors,
)
from planner.performance.throughput.scaling import TERMS_BY_SCALING, Scalings, doubling_terms
from planner.request.models import WorkFamily
from pricing.accelerator import Accelerator, AcceleratorNames
from tools.throughput.published_results import PublishedResult, merge_results

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

FAMILIES: tuple[WorkFamily, ...] = ("training", "llm_training", "inference", "prefill", "decode")
PRIOR = {"size": 0.2, "balance": 0.25, "capacity": 0.2, "power": 0.3, "vendor": 0.2, "class": 0.08,
         "architecture": 0.15, "accelerator": 0.05, "architecture_family": 0.1,
         "architecture_precision": 0.1}  # fmt: skip
"""Standard deviations of coefficients. The optimum is flat: 0.4 or 2.5 times any of them moves the median error of
groups left out by at most 0.2 points."""
PRIOR_OF_FAMILY = {"size": 0.2, "balance": 0.125, "capacity": 0.1, "power": 0.15}
"""Of how much the slope of one family differs from that of all."""
NOISE = 0.15
"""Of ln(rate): published results of one benchmark, accelerator and count differ by as much as setups do."""
HUBER = 2.0
HUBER_PASSES = 4
GROUP_POWER = {"score": 0.25, "scaling": 0.5}
"""A result counts as its group's size to minus this."""
SMALLEST_RESIDUAL = 1e-3


@dataclass(frozen=True, slots=True)
class FittedThroughput:
    """The fitted coefficients of scores and of scaling."""

    coefficients: Coefficients
    scalings: Scalings


@dataclass(frozen=True, slots=True)
class RegressionDesign:
    """The regression of scores: `y` and rows of `x` by result, `prior` by column of `x`; `block` numbers blocks."""

    terms: tuple[tuple[str, str], ...]
    x: Floats
    y: Floats
    prior: Floats
    block: Any
    weight: Floats
    centre: Mapping[str, float]


def fit_model(results: Sequence[PublishedResult], names: AcceleratorNames) -> FittedThroughput:
    """The model of these results."""
    return FittedThroughput(fit_score(results, names), fit_scaling(results))


def comparable_blocks(results: Sequence[PublishedResult], names: AcceleratorNames) -> list[list[PublishedResult]]:
    """Blocks of results of several accelerators in one cell at one count; of parts without a score none."""
    blocks: dict[tuple[str, float], list[PublishedResult]] = defaultdict(list)
    for result in merge_results(results, by_submitter=False):
        if missing_specification(names.by_name[result.accelerator], result.precision) is None:
            blocks[result.cell, result.count].append(result)
    return [block for block in blocks.values() if len(block) > 1]


def fit_score(results: Sequence[PublishedResult], names: AcceleratorNames) -> Coefficients:
    """Coefficients by term and level."""
    import numpy as np

    design = _build_design(comparable_blocks(results, names), names.by_name)
    weight: Floats = design.weight
    values: Floats = np.zeros(len(design.terms))
    for _ in range(HUBER_PASSES):
        x, y = (
            _subtract_block_means(design.x, design.block, weight),
            _subtract_block_means(design.y[:, None], design.block, weight)[:, 0],
        )
        scaled = x * (weight / NOISE**2)[:, None]
        values = np.linalg.solve(scaled.T @ x + np.diag(design.prior**-2.0), scaled.T @ y)
        off = np.abs(y - x @ values)
        weight = design.weight * np.clip(HUBER * NOISE / np.maximum(off, 1e-9), 0.0, 1.0)
    fitted = {term: float(value) for term, value in zip(design.terms, values, strict=True)}
    return {("centre", name): value for name, value in design.centre.items()} | fitted


def _build_design(blocks: Sequence[Sequence[PublishedResult]], parts: Mapping[str, Accelerator]) -> RegressionDesign:
    import numpy as np

    flat = [(number, result, parts[result.accelerator]) for number, block in enumerate(blocks) for result in block]
    predictor_rows = [predictors(part, result.precision) for _, result, part in flat]
    centre = {name: _mean_known([row[name] for row in predictor_rows]) for name in PREDICTORS}
    columns: dict[tuple[str, str], Floats] = {}
    prior: dict[tuple[str, str], float] = {}
    families = np.array([result.family for _, result, _ in flat])
    for name in PREDICTORS:
        values = np.array([0.0 if (value := row[name]) is None else value - centre[name] for row in predictor_rows])
        columns[name, ""], prior[name, ""] = values, PRIOR[name]
        for family in FAMILIES:
            columns[name, family], prior[name, family] = values * (families == family), PRIOR_OF_FAMILY[name]
    for row, (_, result, part) in enumerate(flat):
        for level in effect_levels(part, result.family, result.precision):
            column = columns.setdefault(level, np.zeros(len(flat)))
            column[row], prior[level] = 1.0, PRIOR[level[0]]
    terms = tuple(sorted(columns))
    return RegressionDesign(
        terms,
        np.array([columns[term] for term in terms]).T,
        np.array([math.log(result.rate) - base_score(part, result.precision) for _, result, part in flat]),
        np.array([prior[term] for term in terms]),
        np.array([number for number, _, _ in flat]),
        _group_weights([result for _, result, _ in flat], GROUP_POWER["score"]),
        centre,
    )


def _mean_known(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known)


def _group_weights(results: Sequence[PublishedResult], power: float) -> Floats:
    """By result, from the size of its group; their mean is 1."""
    import numpy as np

    sizes = Counter(result.group for result in results)
    weight = np.array([float(sizes[result.group]) ** -power for result in results])
    scaled: Floats = weight * (len(weight) / weight.sum())
    return scaled


def _subtract_block_means(values: Floats, block: Any, weight: Floats) -> Floats:
    """Values less the weighted mean of their block."""
    import numpy as np

    sums = np.zeros((int(block.max()) + 1, values.shape[1]))
    np.add.at(sums, block, values * weight[:, None])
    means: Floats = (sums / np.bincount(block, weight)[:, None])[block]
    return values - means


def scaling_pairs(results: Sequence[PublishedResult]) -> list[tuple[PublishedResult, PublishedResult]]:
    """Pairs of results of one cell, accelerator and submitter, the second with more accelerators."""
    results_by_key: dict[tuple[str, str, str], list[PublishedResult]] = defaultdict(list)
    for result in merge_results(results, by_submitter=True):
        results_by_key[result.cell, result.accelerator, result.submitter].append(result)
    return [(a, b) for same in results_by_key.values() for a in same for b in same if a.count < b.count]


def fit_scaling(results: Sequence[PublishedResult]) -> Scalings:
    """ln(efficiency per doubling) of every way to grow, by term."""
    pairs = scaling_pairs(results)
    table: dict[tuple[str, str], float] = {}
    for scaling, terms in TERMS_BY_SCALING.items():
        selected = [pair for pair in pairs if pair[0].scaling == scaling]
        values = _fit_least_absolute(selected, terms) if selected else [0.0] * len(terms)
        table |= {(scaling, term): value for term, value in zip(terms, values, strict=True)}
    return table


def _fit_least_absolute(pairs: Sequence[tuple[PublishedResult, PublishedResult]], terms: Sequence[str]) -> list[float]:
    """Least absolute deviations by iteratively reweighted least squares (60 passes)."""
    import numpy as np

    def steps(result: PublishedResult) -> list[float]:
        values = doubling_terms(result.count, result.family)
        return [values[term] for term in terms]

    x = np.array([steps(b) for _, b in pairs]) - np.array([steps(a) for a, _ in pairs])
    y = np.array([math.log(b.rate / a.rate * a.count / b.count) for a, b in pairs])
    start = _group_weights([a for a, _ in pairs], GROUP_POWER["scaling"])
    weight: Floats = start
    values: Floats = np.zeros(len(terms))
    for _ in range(60):
        scaled = x * weight[:, None]
        values = np.linalg.solve(scaled.T @ x + 1e-6 * np.eye(len(terms)), scaled.T @ y)
        weight = start / np.maximum(np.abs(y - x @ values), SMALLEST_RESIDUAL)
    return [float(value) for value in values]
