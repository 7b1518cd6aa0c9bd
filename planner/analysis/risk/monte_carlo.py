"""Monte Carlo with the decisions fixed: the same draws for every strategy, so that only strategies differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.analysis.risk.cost_model import StrategyCostModel
from planner.analysis.risk.response_surface import NotSeparable, ProductTerm, decompose_cost, evaluate_terms
from planner.analysis.risk.uncertain_assumptions import range_ends
from planner.result import Assumption
from planner.result.risk import Correlation, StrategyRisk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from planner.analysis.risk.response_surface import Vector

CHECKED_DRAWS = 16
"""Draws of each strategy, from the cheapest to the most expensive, that are also priced one by one: all must agree."""
CHECK_TOLERANCE = 1e-9
TIE_TOLERANCE = 1e-9
CLOUD = "cloud"


def draw_values(
    figures: Sequence[Assumption], linked: Sequence[Correlation], count: int, seed: int
) -> dict[str, Vector]:
    """`count` values of each figure, triangular over its range with the planned value as mode.

    Linked figures come from a Gaussian copula; all others are independent.
    """
    import numpy as np

    if not figures:
        return {}
    chance = np.random.Generator(np.random.PCG64(seed))
    ranks = dict(zip((f.name for f in figures), chance.random((len(figures), count)), strict=True))
    pairs = [c for c in linked if c.coefficient and c.first in ranks and c.second in ranks]
    names = sorted({name for c in pairs for name in (c.first, c.second)})
    if names:
        matrix = np.eye(len(names))
        for c in pairs:
            i, j = names.index(c.first), names.index(c.second)
            matrix[i, j] = matrix[j, i] = c.coefficient
        normal = np.einsum("ij,jd->id", np.linalg.cholesky(matrix), chance.standard_normal((len(names), count)))
        halves = (normal / math.sqrt(2)).ravel().tolist()
        uniform = np.array([0.5 + 0.5 * math.erf(half) for half in halves]).reshape(normal.shape)
        ranks.update(zip(names, uniform, strict=True))
    return {figure.name: _sample_triangular(figure, ranks[figure.name]) for figure in figures}


def _sample_triangular(figure: Assumption, ranks: Vector) -> Vector:
    """The inverse of the triangular distribution's cumulative probability."""
    import numpy as np

    mode = figure.value
    low, high = range_ends(figure)
    split = (mode - low) / (high - low)
    rising = low + np.sqrt(ranks * ((high - low) * (mode - low)))
    falling = high - np.sqrt((1 - ranks) * ((high - low) * (high - mode)))
    return np.where(ranks < split, rising, falling)


def cost_draws(
    bill: StrategyCostModel, figures: Sequence[Assumption], draws: Mapping[str, Vector], count: int
) -> tuple[Vector, bool]:
    """Present cost in each draw, and whether it came from arrays: else every draw was paid for one by one."""
    import numpy as np

    def one(index: int) -> float:
        return bill.cost({name: float(column[index]) for name, column in draws.items()})

    try:
        terms: tuple[ProductTerm, ...] = decompose_cost(bill, figures)
    except NotSeparable:
        return np.array([one(index) for index in range(count)]), False
    computed_costs = evaluate_terms(terms, draws, count)
    order = np.argsort(computed_costs, kind="stable")
    checked = (int(order[round(place * (count - 1) / (CHECKED_DRAWS - 1))]) for place in range(CHECKED_DRAWS))
    if all(
        math.isclose(computed_costs[index], one(index), rel_tol=CHECK_TOLERANCE, abs_tol=CHECK_TOLERANCE)
        for index in checked
    ):
        return computed_costs, True
    return np.array([one(index) for index in range(count)]), False


def summarise_costs(costs_by_strategy: Mapping[str, Vector]) -> tuple[StrategyRisk, ...]:
    """Each strategy over all draws."""
    import numpy as np

    least = np.min(np.stack(list(costs_by_strategy.values())), axis=0)
    rows = []
    for name, amounts in costs_by_strategy.items():
        p10, p50, p90 = (float(value) for value in np.quantile(amounts, (0.1, 0.5, 0.9)))
        middle = mean(amounts)
        spread = math.sqrt(math.fsum(((amounts - middle) ** 2).tolist()) / (len(amounts) - 1))
        rows.append(
            StrategyRisk(
                strategy=name,
                mean=middle,
                standard_error=spread / math.sqrt(len(amounts)),
                p10=p10,
                p50=p50,
                p90=p90,
                chance_cheapest=fraction_true(amounts <= least + TIE_TOLERANCE * np.abs(least)),
                expected_regret=mean(amounts - least),
                chance_below_cloud=None
                if name == CLOUD or CLOUD not in costs_by_strategy
                else fraction_below(amounts, costs_by_strategy[CLOUD]),
            )
        )
    return tuple(rows)


def mean(amounts: Vector) -> float:
    """Added up exactly."""
    return math.fsum(amounts.tolist()) / len(amounts)


def fraction_below(amounts: Vector, others: Vector) -> float:
    """The share of draws in which an amount is less than the other, by more than rounding."""
    return fraction_true(amounts < others - TIE_TOLERANCE * abs(others))


def fraction_true(is_so: NDArray[np.bool_]) -> float:
    """The share of draws in which something is so."""
    return int(is_so.sum()) / len(is_so)
