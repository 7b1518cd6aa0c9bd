"""Draws by themselves, and costs taken apart into sums of products: against sums by hand and made-up formulas."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from datetime import date

import numpy as np
import pytest

import planner.pipeline
from planner.analysis.risk import monte_carlo, uncertain_assumptions
from planner.analysis.risk.response_surface import NotSeparable, decompose_cost, evaluate_terms
from planner.finance.symbolic import SymbolicValue, larger_of
from planner.result import Assumption
from planner.result.formulas import parse_formula


def figure(name: str, low: float, value: float, high: float) -> Assumption:
    return Assumption(name, "", value, "ratio", low, high, "", date(2026, 11, 21))


def test_draws_are_triangular_and_linked_as_stated():
    """Triangular (0, 1, 4): mean 5/3, median 4 - sqrt(6) = 1.5505, P(x < 1) = 1/4."""
    one, other, alone = figure("a", 0, 1, 4), figure("b", 0, 1, 4), figure("c", -1, 0, 1)
    link = dataclasses.replace(uncertain_assumptions.read_correlations()[0], first="a", second="b", coefficient=-0.5)
    drawn = monte_carlo.draw_values([one, other, alone], [link], 40_000, 7)
    assert drawn["a"].mean() == pytest.approx(5 / 3, abs=0.02)
    assert np.median(drawn["b"]) == pytest.approx(4 - math.sqrt(6), abs=0.02)
    assert (drawn["a"] < 1).mean() == pytest.approx(0.25, abs=0.01)
    assert drawn["a"].min() >= 0
    assert drawn["a"].max() <= 4
    assert np.corrcoef(drawn["a"], drawn["b"])[0, 1] == pytest.approx(-0.5, abs=0.05)
    assert np.corrcoef(drawn["a"], drawn["c"])[0, 1] == pytest.approx(0, abs=0.02)


def test_the_correlations_shipped_can_all_hold_at_once():
    known = {f.name: f for f in uncertain_assumptions.read_price_levels()} | dict.fromkeys(
        a.name for a in planner.request.assumptions.load_defaults().values()
    )
    assert {n for c in uncertain_assumptions.read_correlations() for n in (c.first, c.second)} <= set(known)
    names = {
        f.name: f
        for f in (
            *uncertain_assumptions.read_price_levels(),
            *planner.request.assumptions.load_defaults().values(),
        )
    }
    linked = [names[n] for n in {n for c in uncertain_assumptions.read_correlations() for n in (c.first, c.second)}]
    monte_carlo.draw_values(
        [f for f in linked if uncertain_assumptions.is_drawn(f)], uncertain_assumptions.read_correlations(), 100, 0
    )


def test_summaries_by_hand():
    """Costs 1, 2, 3, 4 against 2, 2, 2, 2: mean 2.5, cheapest in two and in three (one tie), regret (0+0+1+2)/4 and
    (1+0+0+0)/4; P50 2.5; standard error sqrt(5/3)/2."""
    found = {"cloud": np.array([1.0, 2.0, 3.0, 4.0]), "onprem": np.full(4, 2.0)}
    cloud, onprem = monte_carlo.summarise_costs(found)
    assert (cloud.mean, cloud.p50, cloud.chance_cheapest, cloud.expected_regret) == (2.5, 2.5, 0.5, 0.75)
    assert cloud.standard_error == pytest.approx(math.sqrt(5 / 3) / 2)
    assert (onprem.chance_cheapest, onprem.expected_regret, onprem.chance_below_cloud) == (0.75, 0.25, 0.5)
    assert cloud.chance_below_cloud is None


# -- sums of products


PLANNED = {"h": 1.0, "s": 0.08, "i": 0.005, "g": 0.03, "f": 0.0}


@dataclass(frozen=True)
class Made:
    """A bill of one stream with a formula."""

    formula: object

    def streams(self, moves):
        given = PLANNED | dict(moves)
        return {("x", "y"): self.formula(**given)}

    def write_formula(self, _, names):
        """As payments do it: called with figures that remember what is done to them."""
        given = {n: SymbolicValue(v, n) if n in names else v for n, v in PLANNED.items()}
        found = self.formula(**given)
        return parse_formula(found.text) if isinstance(found, SymbolicValue) else None


PARTS = (figure("h", 0.8, 1, 1.4), figure("s", 0.01, 0.08, 0.12), figure("i", 0.003, 0.005, 0.01),
         figure("g", -0.3, 0.03, 0.3), figure("f", -10, 0, 4500))  # fmt: skip
FORMULAS = {
    "product": lambda h, s, g, **_: h * s * (1 + g) ** (59 / 12),
    "support": lambda h, s, i, f, **_: 1e6 * h * (s + i) + 8 * f,
    "growth beside": lambda h, s, i, g, f: h / (1 - s) * (1 + i) + f * (1 + g) ** 4.9,
    "nothing planned": lambda h, f, **_: f * h * 3,
    # what ages by (1 - s) a year and loses i of it, but no less than a part that moves with g: planned, the age decides
    "least loss": lambda h, s, i, g, **_: 7 * h * (1 - larger_of(1 - (1 - s) ** 1.5 * (1 - i), 0.1 + g / 3)),
    # the bend is in one figure alone, and none of the values tried for the others shows that they matter beyond it
    "least loss at work": lambda h, s, i, g, **_: 7 * h * (1 - larger_of(1 - (1 - s) ** 1.5 * (1 - i), 0.14 + g / 9)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_cost_is_taken_apart_exactly(name):
    made = Made(FORMULAS[name])
    drawn = monte_carlo.draw_values(PARTS, (), 300, 3)
    found = evaluate_terms(decompose_cost(made, PARTS), drawn, 300)
    for index in range(300):
        exact = made.streams({n: float(c[index]) for n, c in drawn.items()})["x", "y"]
        assert found[index] == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_a_least_fee_cannot_be_taken_apart_and_is_drawn_one_by_one():
    least = Made(lambda h, s, i, **_: max(0.05, h * s + i))
    with pytest.raises(NotSeparable):
        decompose_cost(least, PARTS)

    class Whole(Made):
        def cost(self, moves):
            return self.streams(moves)["x", "y"]

    drawn = monte_carlo.draw_values(PARTS, (), 100, 3)
    found, from_arrays = monte_carlo.cost_draws(Whole(least.formula), PARTS, drawn, 100)
    assert not from_arrays
    assert found[42] == max(0.05, drawn["h"][42] * drawn["s"][42] + drawn["i"][42])
