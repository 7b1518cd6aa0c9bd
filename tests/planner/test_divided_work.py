"""Whole nodes on two sides: what each owned group saves, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.optimization.divided_work import DividedWork, divide_work

HOURS = 100.0


def divided(
    owned: float, elsewhere: float, steady: float, spot: float = math.inf, share: float = 0.0, data: float = 0.0
) -> DividedWork:
    return divide_work(*(np.array([value]) for value in (owned, elsewhere, steady, spot, share, data, HOURS)))


def saved(work: DividedWork) -> list[tuple[float, float]]:
    """Groups and what each of them saves, of one slot; levels without groups left out."""
    levels = [(hours[0] / HOURS, rates[0] * HOURS) for hours, rates in work.levels() if hours[0]]
    return [(pytest.approx(count), pytest.approx(rate)) for count, rate in levels]


@pytest.mark.parametrize(
    ("work", "by_the_hour", "levels"),
    [
        # three replicas: two on an owned node, one on a rented one at 10: the first node saves two of them
        (divided(1.5, 3.0, 10.0), 30.0, [(1, 20.0), (1, 10.0)]),
        # four on a rented node, which stays whole until the second owned node does all
        (divided(1.5, 0.75, 10.0), 10.0, [(2, 5.0)]),
        # as many on both: each owned node saves one, so does the part of the third
        (divided(2.5, 2.5, 10.0), 30.0, [(3, 10.0)]),
        # half of it may be on spot at 4, and the rest is not sold: one node must be owned
        (divided(2.0, 2.0, math.inf, 4.0, 0.5), 4.0, [(1, math.inf), (1, 4.0)]),
        (divided(2.0, 2.0, 10.0, 4.0, 0.5), 14.0, [(1, 10.0), (1, 4.0)]),
        # nothing is sold
        (divided(1.2, 3.0, math.inf), 0.0, [(2, math.inf)]),
        # its data cost 6 there: in all parts alike
        (divided(2.0, 2.0, 10.0, data=6.0), 26.0, [(2, 13.0)]),
        # of many nodes parts are counted: 24 of 32 at 10, 8 on spot
        (divided(32.0, 32.0, 10.0, 4.0, 0.25), 272.0, [(24, 10.0), (8, 4.0)]),
    ],
)
def test_each_owned_group_saves_what_the_rest_costs_less(work, by_the_hour, levels):
    assert work.by_the_hour()[0] == pytest.approx(by_the_hour)
    assert saved(work) == levels


def test_a_place_is_never_dearer_only_where_no_part_costs_more_there():
    small, large = divided(1.5, 3.0, 10.0), divided(1.5, 0.75, 20.0)  # 30, 10, 0 and 20, 20, 0
    assert not small.never_dearer(large)
    assert not large.never_dearer(small)
    assert divided(1.5, 3.0, 9.0).never_dearer(small)
    assert not divided(2.0, 4.0, 9.0).never_dearer(small)  # other parts are not compared
