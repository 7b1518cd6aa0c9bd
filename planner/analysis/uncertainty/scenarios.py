"""Weighted scenarios: draws of all uncertain figures together, reduced to a few.

The reduction is the forward selection by Kantorovich distance of H. Heitsch and W. Roemisch, Scenario reduction
algorithms in stochastic programming, Computational Optimization and Applications 24 (2003): next is always the draw
that leaves the least mean distance of all draws from those selected; in the end each draw gives its weight to the
nearest selected one. Distances are Euclidean, each figure in its standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.analysis.risk.monte_carlo import draw_values
from planner.analysis.risk.uncertain_assumptions import read_correlations
from planner.analysis.uncertainty.uncertain_figures import LEAD_TIME, is_wide, take_logarithm
from planner.result import Assumption
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from planner.analysis.risk.response_surface import Vector

THROUGHPUT_RANK = "throughput of "
"""Before the name of a workload: where its predicted throughput lies in its interval, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One future: a value of each uncertain figure, and its weight; the weights of all add up to 1."""

    weight: float
    values: Mapping[str, float]


def draw_scenarios(
    figures: Sequence[Assumption], ranks: Sequence[str], draws: int, count: int, seed: int
) -> tuple[Scenario, ...]:
    """`count` scenarios of `draws` draws. `ranks` are figures that are uniform from 0 to 1. Equal seed, equal
    scenarios; fewer where there are fewer different draws."""
    import numpy as np

    shown = [take_logarithm(figure) if is_wide(figure) else figure for figure in figures]
    linked = tuple(c for c in read_correlations() if {c.first, c.second} <= {figure.name for figure in figures})
    drawn: dict[str, Vector] = dict(draw_values(shown, linked, draws, seed))
    uniform = np.random.Generator(np.random.PCG64([seed, 1])).random((len(ranks), draws))
    drawn.update(zip(ranks, uniform, strict=True))
    names = list(drawn)
    if not names:
        return (Scenario(1.0, {}),)
    points = np.column_stack([drawn[name] for name in names])
    chosen = reduce_draws(points, count)
    wide = {figure.name for figure in figures if is_wide(figure)}
    return tuple(
        Scenario(
            weight,
            {name: _unfold_value(name, float(value), wide) for name, value in zip(names, points[i], strict=True)},
        )
        for i, weight in chosen
    )


def mean_scenario(scenarios: Sequence[Scenario], figures: Sequence[Assumption]) -> Scenario:
    """The scenario of the mean of each figure: of the logarithm of a wide one."""
    wide = {figure.name for figure in figures if is_wide(figure)}
    values = {}
    for name in scenarios[0].values:
        folded = ((math.log(s.values[name]) if name in wide else s.values[name]) * s.weight for s in scenarios)
        values[name] = _unfold_value(name, math.fsum(folded), wide)
    return Scenario(1.0, values)


def reduce_draws(points: NDArray[np.float64], count: int) -> list[tuple[int, float]]:
    """The rows selected, in their order, with their weights: each row of `points` weighs the same."""
    import numpy as np

    spread = points.std(axis=0)
    scaled = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    products = np.einsum("ik,jk->ij", scaled, scaled)  # not @: its library may add up in another order elsewhere
    squares = products.diagonal()
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0.0)).round(9)
    nearest = np.full(len(points), np.inf)
    selected: list[int] = []
    for _ in range(min(count, len(points))):
        left = np.minimum(nearest[:, None], distances).mean(axis=0).round(9)
        left[selected] = np.inf
        best = int(left.argmin())
        if selected and not nearest.max() > 0:
            break
        selected.append(best)
        nearest = np.minimum(nearest, distances[:, best])
    selected.sort()
    owners = distances[:, selected].argmin(axis=1)
    return [(row, int((owners == number).sum()) / len(points)) for number, row in enumerate(selected)]


def _unfold_value(name: str, value: float, wide: set[str]) -> float:
    """The value of a figure as plans use it: months are whole."""
    if name in wide:
        return math.exp(value)
    return float(round(value)) if name == LEAD_TIME else value
