"""How a cost answers to many figures at once, as a short sum of products, so that ten thousand draws are arrays.

Nothing is known of payments here. The cost of a stream (one thing paid for, one category) is asked for at chosen
values only. A figure that multiplies the stream whatever the others are becomes a factor; one that adds in a straight
line splits the stream in two; what is left after that is taken apart the same way. A factor is a straight line, or the
Chebyshev interpolation of what was asked. What cannot be taken apart is refused, and drawn one by one instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from planner.answer import Assumption
from planner.risk.bill import Bill, Moves
from planner.risk.levers import ends

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

DEGREE = 20
"""Of an interpolation: yearly changes and losses over ten years come out to the last digits."""
EXACT = 1e-11
ROUNDING = 1e-14
"""Of the largest stream."""
BETWEEN = (0.013, 0.271, 0.509, 0.733, 0.989)
"""Parts of a range at which an interpolation is looked at: none of them is one of its nodes."""
Cost = Callable[[Moves], float]


class NotSeparable(Exception):
    """A stream is no sum of products of the figures (it has a minimum fee, say, or whole operators)."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What one figure multiplies a stream by: Chebyshev coefficients over `low` to `high`; two make a straight line."""

    figure: str
    low: float
    high: float
    coefficients: tuple[float, ...]

    def at(self, values: Vector) -> Vector:
        """The factor for each value."""
        import numpy as np

        scaled = (2 * values - (self.low + self.high)) / (self.high - self.low)
        return np.asarray(np.polynomial.chebyshev.chebval(scaled, self.coefficients), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Term:
    """`amount` times every curve."""

    amount: float
    curves: tuple[Curve, ...]


def terms_of(bill: Bill, figures: Sequence[Assumption]) -> tuple[Term, ...]:
    """All terms of a strategy's cost within the ranges of `figures`; NotSeparable where it has none."""
    asked: dict[frozenset[tuple[str, float]], dict[tuple[str, str], float]] = {}

    def streams(moves: Moves) -> dict[tuple[str, str], float]:
        key = frozenset(moves.items())
        if key not in asked:
            asked[key] = bill.streams(moves)
        return asked[key]

    away = {figure.name: _away(figure) for figure in figures}
    names = dict.fromkeys((*streams({}), *streams(away)))

    def cost(name: tuple[str, str], moves: Moves) -> float:
        return streams(moves).get(name, 0.0)

    scale = max(abs(worth) for found in asked.values() for worth in found.values())
    return tuple(term for name in names for term in _terms(partial(cost, name), figures, ROUNDING * scale))


def values(terms: Sequence[Term], draws: Mapping[str, Vector], count: int) -> Vector:
    """The cost in each of `count` draws."""
    import numpy as np

    total = np.zeros(count)
    for term in terms:
        product = np.full(count, term.amount)
        for curve in term.curves:
            product *= curve.at(draws[curve.figure])
        total += product
    return total


def _away(figure: Assumption) -> float:
    """A value inside its range that is no special one."""
    low, high = ends(figure)
    return low + (high - low) * 0.618


def _terms(cost: Cost, figures: Sequence[Assumption], noise: float) -> list[Term]:
    """The terms of one stream; differences up to `noise` are rounding, not an effect."""
    planned = cost({})
    away = {figure.name: _away(figure) for figure in figures}
    there = cost(away)
    active = [
        f
        for f in figures
        if abs(cost({f.name: away[f.name]}) - planned) > noise or abs(cost(_less(away, f)) - there) > noise
    ]
    has_plan = abs(planned) > noise
    if not active:
        return [Term(planned, ())] if has_plan else []
    away = {figure.name: away[figure.name] for figure in active}
    factors = [f for f in active if has_plan and _multiplies(cost, f, planned, away, noise)]
    rest = [f for f in active if f not in factors]
    curves = tuple(_curve(partial(_alone, cost, f, {}), f, planned, noise) for f in factors)
    if not rest:
        return [Term(planned, curves)]
    if factors:
        return [Term(t.amount, (*curves, *t.curves)) for t in _terms(cost, rest, noise)]
    straight = next((f for f in rest if _is_straight(partial(_alone, cost, f, away), f, noise)), None)
    if straight is None:
        raise NotSeparable(", ".join(figure.name for figure in rest))
    return _split(cost, straight, [f for f in rest if f != straight], noise)


def _split(cost: Cost, figure: Assumption, others: Sequence[Assumption], noise: float) -> list[Term]:
    """The stream with the figure as planned, and what each unit that the figure is off adds."""
    low, high = ends(figure)

    def slope(moves: Moves) -> float:
        return (cost({**moves, figure.name: high}) - cost({**moves, figure.name: low})) / (high - low)

    off = Curve(figure.name, low, high, ((low + high) / 2 - figure.value, (high - low) / 2))
    off_terms = _terms(slope, others, 4 * noise / (high - low))
    return [*_terms(cost, others, noise), *(Term(t.amount, (off, *t.curves)) for t in off_terms)]


def _less(moves: Moves, figure: Assumption) -> dict[str, float]:
    return {name: value for name, value in moves.items() if name != figure.name}


def _alone(cost: Cost, figure: Assumption, others: Moves, value: float) -> float:
    return cost({**others, figure.name: value})


def _multiplies(cost: Cost, figure: Assumption, planned: float, away: Moves, noise: float) -> bool:
    """Whether the figure changes the stream by the same factor whatever the others are."""
    others = _less(away, figure)
    there = cost(others)
    enough = noise * max(abs(planned), abs(there))
    return all(
        math.isclose(
            cost({**others, figure.name: end}) * planned,
            cost({figure.name: end}) * there,
            rel_tol=EXACT,
            abs_tol=enough,
        )
        for end in ends(figure)
    )


def _is_straight(at: Callable[[float], float], figure: Assumption, noise: float) -> bool:
    start, stop = ends(figure)
    low, high = at(start), at(stop)
    enough = max(noise, EXACT * max(abs(low), abs(high)))
    return all(abs(at(start + (stop - start) * part) - (low + (high - low) * part)) <= enough for part in (0.5, 0.1875))


def _curve(at: Callable[[float], float], figure: Assumption, planned: float, noise: float) -> Curve:
    """The factor by which the figure alone changes the stream, 1 where it is as planned."""
    low, high = ends(figure)
    if _is_straight(at, figure, noise):
        first, last = at(low) / planned, at(high) / planned
        return Curve(figure.name, low, high, ((first + last) / 2, (last - first) / 2))
    import numpy as np

    def factors(nodes: Vector) -> Vector:
        return np.array([at(float(node)) / planned for node in nodes])

    fitted = np.polynomial.Chebyshev.interpolate(factors, DEGREE, domain=[low, high])
    curve = Curve(figure.name, low, high, tuple(float(value) for value in fitted.coef))
    between = np.array([low + (high - low) * part for part in BETWEEN])
    if not np.allclose(curve.at(between), factors(between), rtol=EXACT, atol=4 * noise / abs(planned)):
        raise NotSeparable(f"{figure.name} has a step or a bend")
    return curve
