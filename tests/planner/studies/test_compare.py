"""Printed figures against ours, apart from any method."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.studies.comparison import compare_values


def held(expected, ours, tolerance) -> list[bool]:
    return [leaf.ok for leaf in compare_values(expected, ours, tolerance)]


@pytest.mark.parametrize(
    ("printed", "ours", "tolerance", "ok"),
    [
        (10, 10.5, {"abs": 0.5}, True),
        (10, 10.6, {"abs": 0.5}, False),
        (10, 10.6, {"abs": 0.5, "rel": 0.06}, True),  # the wider of the two
        (-10, -10.6, {"rel": 0.06}, True),
        (10, 10.0, {}, True),
        (10, 10.001, {}, False),
        (0.3, 0.1 + 0.2, {}, True),  # what floats make of it
        (0, 0.001, {"rel": 1.0}, False),
        (None, None, {}, True),
        ("never", None, {}, True),
        ("Never", math.inf, {}, True),
        (5, None, {"abs": 100}, False),
        (None, 5, {"abs": 100}, False),
        ("about five", 5, {"abs": 100}, False),
    ],
)
def test_one_figure(printed, ours, tolerance, ok):
    assert held({"x": printed}, {"x": ours}, tolerance) == [ok]


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1e6), st.floats(0, 1))
def test_the_rule(printed, ours, absolute, relative):
    allowed = max(absolute, relative * abs(printed))
    if abs(abs(ours - printed) - allowed) > 1e-8 * (1 + abs(printed)):  # not at the edge
        assert held({"x": printed}, {"x": ours}, {"abs": absolute, "rel": relative}) == [abs(ours - printed) <= allowed]


@pytest.mark.parametrize(
    "tolerance",
    [
        {"abs": 1},
        {"x": {"abs": 1}},
        {"a": {"abs": 1}, "b": {"abs": 1}},  # by the figure, whatever it stands under
        {"x": {"a": {"abs": 1}, "b": [{"abs": 1}, {"abs": 1}]}},
        {"abs": 0, "x": {"abs": 1}},  # the nearest counts
        {"abs": 1, "x": {"q": {"abs": 0}}},
    ],
)
def test_a_tolerance_holds_for_all_below_it(tolerance):
    assert held({"x": {"a": 1, "b": [2, 3]}}, {"x": {"a": 1.5, "b": [2.5, 3.5]}}, tolerance) == [True] * 3


def test_a_nearer_tolerance_wins():
    assert held({"x": {"a": 1, "b": 1}}, {"x": {"a": 2, "b": 2}}, {"abs": 1, "x": {"b": {"abs": 0.5}}}) == [True, False]


def test_names_and_places():
    leaves = compare_values({"a": {"b": [1, 2]}, "c": 3}, {"a": {"b": [1.0, 2.0]}, "c": 3.0}, {})
    assert [leaf.name for leaf in leaves] == ["a.b[0]", "a.b[1]", "c"]


def test_one_figure_for_many_and_many_for_one():
    assert held({"a": {"x": 1, "y": 1}}, {"a": 1.0}, {}) == [True, True]
    assert held({"a": 1}, {"a": {"x": 1.0}}, {}) == [True]
    (leaf,) = compare_values({"a": 1}, {"a": {"x": 1.0, "y": 1.0}}, {})
    assert not leaf.ok
    assert leaf.message == "not one figure but 2: x, y"


def test_what_is_not_there_is_told_for_every_figure_of_it():
    leaves = compare_values({"q": {"a": 1, "b": [2, 3]}, "breakeven_hour": 1}, {"breakeven_hours": 1.0}, {"abs": 9})
    assert [leaf.name for leaf in leaves] == ["q.a", "q.b[0]", "q.b[1]", "breakeven_hour"]
    assert not any(leaf.ok for leaf in leaves)
    assert "it gives breakeven_hours" in leaves[0].message
    assert "nearest breakeven_hours" in leaves[3].message
    (beyond,) = compare_values({"a": [1, 2]}, {"a": [1.0]}, {})[1:]
    assert "a list of 1" in beyond.message
