"""Figures that remember how they were computed: the text says the value, whatever was done to them."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.finance.symbolic import (
    Growth,
    SymbolicError,
    SymbolicValue,
    annuity_factor,
    formula_text,
    growth_factor,
    larger_of,
    power,
)
from planner.result.formulas import evaluate_formula, parse_formula

FIGURES = {"price": 2.5, "pue": 1.54, "fraction": 0.125, "offer_1": 40.0, "nothing": 0.0, "fall": -0.3}
BINARY = (operator.add, operator.sub, operator.mul, operator.truediv, larger_of)

numbers = st.one_of(
    st.sampled_from([0, 1, 2, 12, 1 / 12, 0.5, -1, -2.5, 1e-7, 8760.0]), st.floats(-50, 50).map(lambda x: round(x, 4))
)
figures = st.sampled_from(sorted(FIGURES)).map(lambda name: SymbolicValue(FIGURES[name], name))
leaves = st.one_of(figures, numbers)


def _combined(children):
    """An operation on two, an opposite, a power of something above 0, or an annuity."""
    return st.one_of(
        st.tuples(st.sampled_from(BINARY), children, children).map(_applied),
        children.map(lambda x: -x),
        st.tuples(children, numbers).map(lambda pair: power(abs(float(pair[0])) + 0.1, min(pair[1], 3))),
        st.tuples(figures, st.integers(1, 60)).map(lambda pair: annuity_factor(pair[0], pair[1])),
        st.tuples(figures, st.sampled_from([2, 1 / 12, -1, 0.5])).map(
            lambda pair: pair[0] ** pair[1] if pair[0] > 0 else pair[0]
        ),
    )


def _applied(parts):
    do, left, right = parts
    if do is operator.truediv and abs(right) < 1e-9:
        return left
    return do(left, right)


expressions = st.recursive(leaves, _combined, max_leaves=12)


@given(expressions)
def test_the_text_computed_gives_the_value(figure):
    assert evaluate_formula(parse_formula(formula_text(figure)), FIGURES) == pytest.approx(
        float(figure), rel=1e-9, abs=1e-9
    )


@given(expressions, st.integers(1, 60))
def test_growth_is_kept_apart_and_the_text_is_that_of_the_first_month(figure, month):
    rate = SymbolicValue(0.04, "drift")
    later = figure * growth_factor(rate, month)
    assert float(later) == pytest.approx(float(figure) * 1.04 ** ((month - 1) / 12), rel=1e-9, abs=1e-12)
    if isinstance(later, SymbolicValue):
        assert later.growth == Growth("drift", month)
        assert later.ungrown == pytest.approx(float(figure), rel=1e-9, abs=1e-12)
        assert evaluate_formula(parse_formula(later.text), FIGURES) == pytest.approx(float(figure), rel=1e-9, abs=1e-9)


def test_sums_by_hand():
    price, pue = SymbolicValue(2.5, "price"), SymbolicValue(1.54, "pue")
    # (2.5 - 1.54) x 2 = 1.92; 2.5 - (1.54 - 1) = 1.96; 2.5 / (1.54 x 2) = 0.8117
    for figure, text, amount in (
        ((price - pue) * 2, "(price - pue) * 2", 1.92),
        (price - (pue - 1), "price - (pue - 1)", 1.96),
        (price / (pue * 2), "price / (pue * 2)", 2.5 / 3.08),
        (-(price + 1) * 2, "-(price + 1) * 2", -7.0),
        (1 - price, "1 - price", -1.5),
    ):
        assert formula_text(figure) == text
        assert float(figure) == pytest.approx(amount)
        assert evaluate_formula(parse_formula(text), FIGURES) == pytest.approx(amount)


def test_nothing_added_or_multiplied_by_one_leaves_no_trace():
    price = SymbolicValue(2.5, "price")
    assert {formula_text(each) for each in (price + 0, 0 + price, price * 1, 1 * price, price / 1, price - 0)} == {
        "price"
    }
    assert price * 0 == 0
    assert not isinstance(price * 0, SymbolicValue)


def test_a_payment_of_nothing_now_is_still_a_payment():
    assert SymbolicValue(0.0, "tax")
    assert [each for each in (SymbolicValue(0.0, "tax"), 0.0) if each] == [0.0]


def test_what_converts_or_rounds_takes_the_value():
    months = SymbolicValue(6.4, "lead_time_months")
    for plain in (round(months), float(months), int(months), max(1, round(months))):
        assert not isinstance(plain, SymbolicValue)


def test_two_growths_in_one_figure_are_refused():
    one, other = (SymbolicValue(1.0, "a") * growth_factor(SymbolicValue(0.04, name), 5) for name in ("drift", "rise"))
    alike = SymbolicValue(1.0, "b") * growth_factor(SymbolicValue(0.04, "drift"), 5)
    assert formula_text(one + alike) == "a + b"
    assert (one + alike).growth == Growth("drift", 5)
    for act in (
        lambda: one + other,
        lambda: one * other,
        lambda: 1 / one,
        lambda: one + 1,
        lambda: one**2,
        lambda: larger_of(one, 2.0),
        lambda: annuity_factor(one, 3),
    ):
        with pytest.raises(SymbolicError):
            act()


def test_the_same_figure_later_grew_otherwise():
    early, late = (SymbolicValue(1.0, "a") * growth_factor(SymbolicValue(0.04, "drift"), month) for month in (2, 3))
    with pytest.raises(SymbolicError):
        _ = early + late
