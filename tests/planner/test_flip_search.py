"""Prices at which the choice changes: what bounds prove without a new solve, and the search over made strategies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.analysis.flip_search import PriceQuestion, SolvedCost, choose_strategy, find_flip, list_cost_ranges
from planner.analysis.recommendation import pick_simplest

TWO_PERCENT = 0.02


def solved(multiple: float, cost: float, spend: float, bound: float | None = None) -> SolvedCost:
    return SolvedCost(multiple, cost, cost if bound is None else bound, spend)


def test_a_fixed_plan_bounds_from_above_and_two_solved_ones_from_below():
    """At 1 it costs 100 and pays 40 at the price; at 3 another plan costs 130 and pays nothing. At 2 the first would
    cost 140, the second 130; costs are concave in a price, so at least (100 + 130) / 2 = 115. At 5 the second still
    costs 130, and costs never fall when a price rises."""
    known = {"cloud": [solved(1, 100, 40), solved(3, 130, 0)]}
    assert list_cost_ranges(known, 2.0, is_linear=True) == {"cloud": (115.0, 130.0)}
    assert list_cost_ranges(known, 5.0, is_linear=True) == {"cloud": (130.0, 130.0)}
    assert list_cost_ranges(known, 0.5, is_linear=True) == {"cloud": (-math.inf, 80.0)}


def test_with_budgets_only_that_costs_rise_with_a_price_is_known():
    known = {"cloud": [solved(1, 100, 40), solved(3, 130, 0)]}
    assert list_cost_ranges(known, 2.0, is_linear=False) == {"cloud": (100.0, 130.0)}
    assert list_cost_ranges(known, 5.0, is_linear=False) == {"cloud": (130.0, math.inf)}


def test_hybrid_costs_no_more_than_what_it_contains_and_they_no_less():
    known = {"cloud": [solved(3, 160, 40)], "hybrid": [solved(1, 90, 60, bound=80)]}
    assert list_cost_ranges(known, 2.0, is_linear=True) == {"cloud": (80.0, 120.0), "hybrid": (80.0, 120.0)}


def test_the_choice_is_known_where_all_costs_in_the_ranges_give_it():
    """Cloud is the choice up to 2 % above the least: at most 101 against at least 100."""
    assert choose_strategy({"cloud": (99.0, 101.0), "hybrid": (100.0, 150.0)}, TWO_PERCENT) == "cloud"
    assert choose_strategy({"cloud": (99.0, 103.0), "hybrid": (100.0, 150.0)}, TWO_PERCENT) is None
    assert choose_strategy({"cloud": (110.0, 120.0), "hybrid": (90.0, 100.0)}, TWO_PERCENT) == "hybrid"
    assert choose_strategy({"cloud": (110.0, 120.0), "hybrid": (90.0, 109.0)}, TWO_PERCENT) is None


@dataclass
class Made:
    """Strategies whose cost is the least of several plans, each a cost without the price and what it pays at it."""

    plans: dict[str, list[tuple[float, float]]]
    solves: list[tuple[str, float]] = field(default_factory=list)
    shorter: list[tuple[str, str]] = field(default_factory=list)

    def cost(self, name: str, multiple: float) -> tuple[float, float]:
        names = self.plans if name == "hybrid" else (name,)
        return min((fixed + paid * multiple, paid) for each in names for fixed, paid in self.plans[each])

    def solve(self, multiple: float):
        """Other searches than those of plans find the last plan of each strategy, and prove a tenth less than the
        optimum."""

        def one(name: str, _bound: float, step: str) -> dict[str, SolvedCost]:
            cost, paid = self.cost(name, multiple)
            if step == "as_planned":
                self.solves.append((name, multiple))
                return {name: solved(multiple, cost, paid)}
            self.shorter.append((name, step))
            fixed, paid = self.plans[name][-1]
            return {name: SolvedCost(multiple, fixed + paid * multiple, 0.9 * cost, paid, step)}

        return one

    def choice(self, multiple: float) -> str:
        return pick_simplest({name: self.cost(name, multiple)[0] for name in self.plans}, TWO_PERCENT)

    def question(self, *, falls: bool, is_linear: bool = True) -> PriceQuestion:
        today = {name: [solved(1.0, *self.cost(name, 1.0))] for name in self.plans}
        return PriceQuestion(today, self.choice(1.0), TWO_PERCENT, falls, is_linear)


def test_a_price_that_another_plan_avoids_takes_one_solve():
    """Cloud pays 50 of 100 today; without it, 120. Owning costs 130 throughout: no price of it changes the choice. The
    roughest search finds the other plan of cloud: nothing has to be solved further."""
    made = Made({"cloud": [(50, 50), (120, 0)], "onprem": [(130, 0)]})
    assert find_flip(made.question(falls=False), made.solve) is None
    assert made.solves == []
    assert set(made.shorter) == {("cloud", "rough")}


def test_a_price_near_a_flip_takes_the_longest_search():
    """Owning costs 100 and allows 102 of cloud. Today's plan of cloud, 50 + 6 m, is just above that at m = 8.67, and
    the shorter searches find no other: only the last finds the one that costs 102 at every price."""
    made = Made({"cloud": [(102, 0), (50, 6.0)], "onprem": [(100, 0)]})
    assert find_flip(made.question(falls=False), made.solve) is None
    assert [name for name, _ in made.solves] == ["cloud"]
    assert [step for name, step in made.shorter if name == "cloud"] == ["rough", "close"]


def test_a_fixed_rival_is_never_solved_again():
    """Cloud is the choice up to 1.02 x 130 = 132.6: 50 + 50 m, at 1.652."""
    made = Made({"cloud": [(50, 50)], "onprem": [(130, 0)]})
    found = find_flip(made.question(falls=False), made.solve)
    assert found is not None
    assert found.multiple == pytest.approx(1.652, rel=0.0016)
    assert found.becomes == "onprem"
    assert "onprem" not in {name for name, _ in made.solves}


def test_a_falling_price_that_hybrid_uses_first():
    """Cloud costs 100. Onprem flips at 1.02 x (80 + 60 m) = 100: m = 0.3007; hybrid, which is less simple, where
    1.02 x (70 + 40 m) = 100: m = 0.7010."""
    made = Made({"cloud": [(100, 0)], "onprem": [(80, 60)], "hybrid": [(70, 40)]})
    found = find_flip(made.question(falls=True), made.solve)
    assert found is not None
    assert found.multiple == pytest.approx(0.7010, rel=0.0016)
    assert found.becomes == "hybrid"


amounts = st.floats(1, 200).map(lambda x: round(x, 1))
plans = st.lists(st.tuples(amounts, st.one_of(st.just(0.0), amounts)), min_size=1, max_size=3)


@given(st.fixed_dictionaries({"cloud": plans, "onprem": plans, "hybrid": plans}), st.booleans(), st.booleans())
def test_what_is_found_is_a_change_of_the_choice(all_plans, falls, is_linear):
    """Within the tolerance of the search the choice is today's just before the multiple found, and another at it."""
    made = Made(all_plans)
    found = find_flip(made.question(falls=falls, is_linear=is_linear), made.solve)
    if found is None:
        assert made.choice(0.01 if falls else 10.0) == made.choice(1.0)
    else:
        assert made.choice(found.multiple) == found.becomes != made.choice(1.0)
        assert made.choice(found.unchanged) == made.choice(1.0)
        assert found.multiple == pytest.approx(found.unchanged, rel=0.0016)
