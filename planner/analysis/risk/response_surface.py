"""The response of a cost to many assumptions at once as a short sum of products, to price ten thousand draws as arrays.

Works on a cost function alone and knows no payments. The cost of a stream (one resource, one category) is evaluated at
chosen values. An assumption that multiplies the stream by a factor independent of the others becomes a factor; one that
acts linearly splits the stream in two; the rest is decomposed in the same way. A factor is linear, or a Chebyshev
interpolation of evaluations. What is left, such as a least loss that begins where another ends, is the formula that its
payments write. A stream without one is refused, and its draws are priced one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from planner.analysis.risk.cost_model import AssumptionOverrides, StrategyCostModel
from planner.analysis.risk.uncertain_assumptions import range_ends
from planner.result import Assumption
from planner.result.formulas import OPERATIONS, FormulaNode, evaluate_formula
from pricing.frozen_values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

CHEBYSHEV_DEGREE = 20
"""Of an interpolation: yearly changes and losses over ten years come out to the last digits."""
SEPARATION_TOLERANCE = 1e-11
STREAM_ROUNDING = 1e-14
"""Of the largest stream."""
CHECK_POINTS = (0.013, 0.271, 0.509, 0.733, 0.989)
"""Parts of a range at which an interpolation is checked: none of them is one of its nodes."""
CostFunction = Callable[[AssumptionOverrides], float]
FormulaWriter = Callable[[Sequence[Assumption]], FormulaNode | None]
"""The formula of a stream over some assumptions, all others as planned; None where it has none."""


class NotSeparable(Exception):
    """A stream is no sum of products of the figures and has no formula (it counts whole operators, for example)."""


@dataclass(frozen=True, slots=True)
class FactorCurve:
    """The factor of one assumption on a stream: Chebyshev coefficients over `low` to `high`; two make a line."""

    figure: str
    low: float
    high: float
    coefficients: tuple[float, ...]

    def at(self, draws: Mapping[str, Vector]) -> Vector:
        """The factor in each draw."""
        import numpy as np

        scaled = (2 * draws[self.figure] - (self.low + self.high)) / (self.high - self.low)
        return np.asarray(np.polynomial.chebyshev.chebval(scaled, self.coefficients), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class FactorFormula:
    """The factor of several assumptions that act together."""

    formula: FormulaNode

    def at(self, draws: Mapping[str, Vector]) -> Vector:
        """The factor in each draw."""
        import numpy as np

        operations: dict[tuple[str, int], Callable[..., Vector | float]] = {
            **OPERATIONS,
            ("^", 2): np.power,
            ("MAX", 2): np.maximum,
        }
        return np.asarray(evaluate_formula(self.formula, draws, operations), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class ProductTerm:
    """`amount` times every factor."""

    amount: float
    factors: tuple[FactorCurve | FactorFormula, ...]


def decompose_cost(bill: StrategyCostModel, figures: Sequence[Assumption]) -> tuple[ProductTerm, ...]:
    """All terms of a strategy's cost within the ranges of `figures`; NotSeparable where it has none."""
    streams_by_moves: dict[frozenset[tuple[str, float]], dict[tuple[str, str], float]] = {}

    def streams(moves: AssumptionOverrides) -> dict[tuple[str, str], float]:
        key = frozenset(moves.items())
        if key not in streams_by_moves:
            streams_by_moves[key] = bill.streams(moves)
        return streams_by_moves[key]

    away = {figure.name: _probe_value(figure) for figure in figures}
    names = dict.fromkeys((*streams({}), *streams(away)))

    def cost(name: tuple[str, str], moves: AssumptionOverrides) -> float:
        return streams(moves).get(name, 0.0)

    scale = max((abs(cost) for costs in streams_by_moves.values() for cost in costs.values()), default=0.0)

    def formula(name: tuple[str, str], rest: Sequence[Assumption]) -> FormulaNode | None:
        return bill.write_formula(name, [figure.name for figure in rest])

    noise = STREAM_ROUNDING * scale
    return tuple(
        term
        for name in names
        for term in _decompose_stream(partial(cost, name), figures, noise, partial(formula, name))
    )


def evaluate_terms(terms: Sequence[ProductTerm], draws: Mapping[str, Vector], count: int) -> Vector:
    """The cost in each of `count` draws."""
    import numpy as np

    total = np.zeros(count)
    for term in terms:
        product = np.full(count, term.amount)
        for factor in term.factors:
            product *= factor.at(draws)
        total += product
    return total


def _probe_value(figure: Assumption) -> float:
    """A value inside its range that is no special one."""
    low, high = range_ends(figure)
    return low + (high - low) * 0.618


def _decompose_stream(
    cost: CostFunction, figures: Sequence[Assumption], noise: float, formula: FormulaWriter
) -> list[ProductTerm]:
    """The terms of one stream; differences up to `noise` are rounding, not an effect."""
    planned = cost({})
    away = {figure.name: _probe_value(figure) for figure in figures}
    there = cost(away)
    active = [
        f
        for f in figures
        if abs(cost({f.name: away[f.name]}) - planned) > noise
        or abs(cost(_without_assumption(away, f)) - there) > noise
    ]
    has_plan = abs(planned) > noise
    if not active:
        return [ProductTerm(planned, ())] if has_plan else []
    away = {figure.name: away[figure.name] for figure in active}
    factors = [f for f in active if has_plan and _is_multiplicative(cost, f, planned, away, noise)]
    fitted = [_fit_curve(partial(_cost_with_value, cost, f, {}), f, planned, noise) for f in factors]
    curves = tuple(curve for curve in fitted if curve is not None)
    rest = [f for f in active if f.name not in {curve.figure for curve in curves}]
    if not rest:
        return [ProductTerm(planned, curves)]
    # an assumption without an effect at the values tried may have one beyond a bend: a formula has all that are left
    left = [f for f in figures if f.name not in {curve.figure for curve in curves}]
    if curves:
        return [ProductTerm(t.amount, (*curves, *t.factors)) for t in _decompose_stream(cost, left, noise, formula)]
    straight = next((f for f in rest if _is_linear(partial(_cost_with_value, cost, f, away), f, noise)), None)
    if straight is not None:
        with suppress(NotSeparable):  # its slope may have a bend
            return _split_linear_effect(cost, straight, [f for f in left if f != straight], noise, formula)
    written = formula(left)
    if written is None or not _agrees(written, cost, left, noise):
        raise NotSeparable(", ".join(figure.name for figure in rest))
    return [ProductTerm(1.0, (FactorFormula(written),))]


def _agrees(written: FormulaNode, cost: CostFunction, figures: Sequence[Assumption], noise: float) -> bool:
    """Whether the formula gives the cost at both ends of each assumption, the others as planned and off it: a payment
    that rounds, or chooses, writes only what it found."""
    planned = {figure.name: figure.value for figure in figures}
    away = {figure.name: _probe_value(figure) for figure in figures}
    tried = ({**others, f.name: end} for others in (planned, away) for f in figures for end in range_ends(f))
    return all(
        math.isclose(evaluate_formula(written, moves), cost(moves), rel_tol=SEPARATION_TOLERANCE, abs_tol=noise)
        for moves in tried
    )


def _split_linear_effect(
    cost: CostFunction, figure: Assumption, others: Sequence[Assumption], noise: float, formula: FormulaWriter
) -> list[ProductTerm]:
    """The stream with the assumption as planned, and the addition of each unit that it is off."""
    low, high = range_ends(figure)

    def slope(moves: AssumptionOverrides) -> float:
        return (cost({**moves, figure.name: high}) - cost({**moves, figure.name: low})) / (high - low)

    def no_formula(_: Sequence[Assumption]) -> None:
        """The payments write amounts, not their changes."""

    off = FactorCurve(figure.name, low, high, ((low + high) / 2 - figure.value, (high - low) / 2))
    off_terms = _decompose_stream(slope, others, 4 * noise / (high - low), no_formula)
    return [
        *_decompose_stream(cost, others, noise, formula),
        *(ProductTerm(t.amount, (off, *t.factors)) for t in off_terms),
    ]


def _without_assumption(moves: AssumptionOverrides, figure: Assumption) -> dict[str, float]:
    return {name: value for name, value in moves.items() if name != figure.name}


def _cost_with_value(cost: CostFunction, figure: Assumption, others: AssumptionOverrides, value: float) -> float:
    return cost({**others, figure.name: value})


def _is_multiplicative(
    cost: CostFunction, figure: Assumption, planned: float, away: AssumptionOverrides, noise: float
) -> bool:
    """Whether the assumption changes the stream by the same factor for all values of the others."""
    others = _without_assumption(away, figure)
    there = cost(others)
    enough = noise * max(abs(planned), abs(there))
    return all(
        math.isclose(
            cost({**others, figure.name: end}) * planned,
            cost({figure.name: end}) * there,
            rel_tol=SEPARATION_TOLERANCE,
            abs_tol=enough,
        )
        for end in range_ends(figure)
    )


def _is_linear(at: Callable[[float], float], figure: Assumption, noise: float) -> bool:
    start, stop = range_ends(figure)
    low, high = at(start), at(stop)
    enough = max(noise, SEPARATION_TOLERANCE * max(abs(low), abs(high)))
    return all(abs(at(start + (stop - start) * part) - (low + (high - low) * part)) <= enough for part in (0.5, 0.1875))


def _fit_curve(at: Callable[[float], float], figure: Assumption, planned: float, noise: float) -> FactorCurve | None:
    """The factor by which the figure alone changes the stream, 1 where it is as planned; None where it has a step or a
    bend."""
    low, high = range_ends(figure)
    if _is_linear(at, figure, noise):
        first, last = at(low) / planned, at(high) / planned
        return FactorCurve(figure.name, low, high, ((first + last) / 2, (last - first) / 2))
    import numpy as np

    def factors(nodes: Vector) -> Vector:
        return np.array([at(float(node)) / planned for node in nodes])

    fitted = np.polynomial.Chebyshev.interpolate(factors, CHEBYSHEV_DEGREE, domain=[low, high])
    curve = FactorCurve(figure.name, low, high, tuple(float(value) for value in fitted.coef))
    between = np.array([low + (high - low) * part for part in CHECK_POINTS])
    at_between = curve.at({figure.name: between})
    fits = np.allclose(at_between, factors(between), rtol=SEPARATION_TOLERANCE, atol=4 * noise / abs(planned))
    return curve if fits else None
