"""Switching values: where the runner-up becomes cheaper than the recommended strategy, the decisions of both fixed, one
assumption at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from planner.analysis.risk.uncertain_assumptions import SEARCH_FACTOR_MAX, has_range, is_searched, search_range
from planner.result import Assumption
from planner.result.risk import SwitchingValue

STEPS_MAX = 60
ROOT_TOLERANCE = 1e-10
COST_ROUNDING = 1e-9
"""Of the cost: a smaller change of the difference between two plans is none."""
DISTANCE_DIGITS = 9
"""Distances that differ beyond these are equal: two factors of one product lie equally far."""


class FixedDecisions(Protocol):
    """A strategy whose decisions can be paid for at other figures."""

    @property
    def name(self) -> str: ...

    def cost(self, moves: Mapping[str, float]) -> float: ...


def search_switching_values(
    figures: Sequence[Assumption], chosen: FixedDecisions, runner_up: FixedDecisions
) -> tuple[SwitchingValue, ...]:
    """One for every figure that changes the difference between the two, the nearest first; those without effect are
    left out."""
    planned = runner_up.cost({}) - chosen.cost({})
    noise = COST_ROUNDING * abs(chosen.cost({}))
    flips = []
    for figure in figures:
        if not is_searched(figure):
            continue

        def difference(value: float, name: str = figure.name) -> float:
            moves = {name: value}
            return runner_up.cost(moves) - chosen.cost(moves)

        lower, upper = search_range(figure)
        ends = [(end, difference(end)) for end in (lower, upper) if end != figure.value]
        if any(abs(away - planned) > noise for _, away in ends):
            roots = [
                _find_root(difference, (figure.value, planned), end) for end in ends if (end[1] > 0) != (planned > 0)
            ]
            at = min(roots, key=lambda root: abs(root - figure.value), default=None)
            flips.append(_build_flip(figure, at, (lower, upper), runner_up.name if planned > 0 else chosen.name))
    return tuple(sorted(flips, key=_nearest_first))


def _build_flip(figure: Assumption, at: float | None, searched: tuple[float, float], cheaper: str) -> SwitchingValue:
    inside = at is not None and has_range(figure) and (figure.low or 0.0) <= at <= (figure.high or 0.0)
    return SwitchingValue(
        name=figure.name,
        meaning=figure.meaning,
        unit=figure.unit,
        value=figure.value,
        at=at,
        distance_fraction=None if at is None or not figure.value else at / figure.value - 1,
        searched_from=searched[0],
        searched_to=searched[1],
        cheaper_beyond="" if at is None else cheaper,
        is_inside_range=inside,
    )


def _nearest_first(flip: SwitchingValue) -> tuple[bool, float, str]:
    """By times the figure (a half is as far as the double), else by the share of the way to the end of the search."""
    if flip.at is None:
        return True, 0.0, flip.name
    if flip.at > 0 and flip.value > 0:
        distance = abs(math.log(flip.at / flip.value)) / math.log(SEARCH_FACTOR_MAX)
    else:
        end = flip.searched_to if flip.at > flip.value else flip.searched_from
        distance = (flip.at - flip.value) / (end - flip.value)
    return False, round(distance, DISTANCE_DIGITS), flip.name


def _find_root(difference: Callable[[float], float], one: tuple[float, float], other: tuple[float, float]) -> float:
    """The value between two of unlike sign at which the difference is none, to about ten digits: false position with
    the weight of an end that stays put halved (Illinois), and halving where that is slow, as at a step."""
    (a, at_a), (b, at_b) = one, other
    weight_a, weight_b = at_a, at_b
    for step in range(STEPS_MAX):
        if abs(b - a) <= ROOT_TOLERANCE * max(abs(a), abs(b)):
            break
        middle = (a + b) / 2 if step % 4 == 3 else (a * weight_b - b * weight_a) / (weight_b - weight_a)
        here = difference(middle)
        if abs(here) <= ROOT_TOLERANCE * max(abs(at_a), abs(at_b)):
            return middle
        if (here > 0) == (at_b > 0):
            b, at_b, weight_b, weight_a = middle, here, here, weight_a / 2
        else:
            a, at_a, weight_a, weight_b = middle, here, here, weight_b / 2
    return b
