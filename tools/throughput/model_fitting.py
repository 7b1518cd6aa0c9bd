"""Fits the coefficients of accelerator scores and of scaling to public measurements.

Score: ridge regression of ln(rate) inside blocks (one cell and count), each coefficient shrunk to 0 by a prior of its
own kind, so that a part with few measurements stays near its architecture and vendor, and one that nobody measured near
the plain ratio. What one source alone says of a class, an architecture or the balance is taken up by coefficients of
that source, which are not shipped. Residuals beyond one standard deviation count less (Huber). Scaling: least absolute
deviations over pairs of counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from planner.performance.throughput.accelerator_scores import (
    PLAIN_PRECISION,
    PREDICTORS,
    Coefficients,
    base_score,
    effect_levels,
    predictors,
)
from planner.performance.throughput.published_results import PublishedResult
from planner.performance.throughput.result_pairs import comparable_blocks, scaling_pairs
from planner.performance.throughput.scaling import TERMS_BY_SCALING, Scalings, doubling_terms
from pricing.accelerator import Accelerator, AcceleratorNames

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

PRIOR = {"balance": 0.1, "capacity": 0.12, "vendor": 0.3, "class": 0.15, "architecture": 0.08, "accelerator": 0.04,
         "architecture_precision": 0.06, "source_balance": 0.15, "source_class": 0.1,
         "source_architecture": 0.1}  # fmt: skip
"""Standard deviations of coefficients. The optimum is flat: half or twice any of them moves the median error of sources
left out by at most 0.7 points."""
OF_SOURCE = "source_"
"""Begins the names of coefficients of one source."""
NOISE = 0.15
"""Of ln(rate): published results of one benchmark, accelerator and count differ by as much as setups do."""
HUBER = 1.0
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


def fit_model(
    results: Sequence[PublishedResult], names: AcceleratorNames, prior_scale: float = 1.0
) -> FittedThroughput:
    """The model of these results; `prior_scale` multiplies every prior."""
    return FittedThroughput(fit_score(results, names, prior_scale), fit_scaling(results))


def fit_score(results: Sequence[PublishedResult], names: AcceleratorNames, prior_scale: float = 1.0) -> Coefficients:
    """Coefficients by term and level."""
    import numpy as np

    blocks = [block for block in comparable_blocks(results, names) if block[0].precision != PLAIN_PRECISION]
    design = _build_design(blocks, names.by_name)
    weight: Floats = design.weight
    values: Floats = np.zeros(len(design.terms))
    for _ in range(HUBER_PASSES):
        x, y = (
            _subtract_block_means(design.x, design.block, weight),
            _subtract_block_means(design.y[:, None], design.block, weight)[:, 0],
        )
        scaled = x * (weight / NOISE**2)[:, None]
        values = np.linalg.solve(scaled.T @ x + np.diag((prior_scale * design.prior) ** -2.0), scaled.T @ y)
        off = np.abs(y - x @ values)
        weight = design.weight * np.clip(HUBER * NOISE / np.maximum(off, 1e-9), 0.0, 1.0)
    fitted = {term: float(value) for term, value in zip(design.terms, values, strict=True)}
    general = {term: value for term, value in fitted.items() if not term[0].startswith(OF_SOURCE)}
    return {("centre", name): value for name, value in design.centre.items()} | general


def _build_design(blocks: Sequence[Sequence[PublishedResult]], parts: Mapping[str, Accelerator]) -> RegressionDesign:
    import numpy as np

    flat = [(number, result, parts[result.accelerator]) for number, block in enumerate(blocks) for result in block]
    predictor_rows = [predictors(part, result.precision) for _, result, part in flat]
    centre = {name: _mean_known([row[name] for row in predictor_rows]) for name in PREDICTORS}
    columns: dict[tuple[str, str], Floats] = {}
    for row, (_, result, part) in enumerate(flat):
        for term, value in _row_terms(result, part, predictor_rows[row], centre):
            columns.setdefault(term, np.zeros(len(flat)))[row] = value
    terms = tuple(sorted(columns))
    return RegressionDesign(
        terms,
        np.array([columns[term] for term in terms]).T,
        np.array([math.log(r.rate) - base_score(part, r.family, r.precision) for _, r, part in flat]),
        np.array([PRIOR[term] for term, _ in terms]),
        np.array([number for number, _, _ in flat]),
        _group_weights([result for _, result, _ in flat], GROUP_POWER["score"]),
        centre,
    )


def _row_terms(
    result: PublishedResult, part: Accelerator, predictor: Mapping[str, float | None], centre: Mapping[str, float]
) -> Iterator[tuple[tuple[str, str], float]]:
    """The terms of one result and their values, those of its source included."""
    for name, value in predictor.items():
        centred = 0.0 if value is None else value - centre[name]
        yield (name, ""), centred
        if OF_SOURCE + name in PRIOR:
            yield (OF_SOURCE + name, result.publisher), centred
    for name, level in effect_levels(part, result.precision):
        yield (name, level), 1.0
        if OF_SOURCE + name in PRIOR:
            yield (OF_SOURCE + name, f"{result.publisher}|{level}"), 1.0


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


def fit_scaling(results: Sequence[PublishedResult]) -> Scalings:
    """ln(efficiency per doubling) of every way to grow, by term."""
    pairs = scaling_pairs(results)
    table: dict[tuple[str, str], float] = {}
    for scaling, terms in TERMS_BY_SCALING.items():
        selected = [(pair.first, pair.second) for pair in pairs if pair.scaling == scaling]
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
