"""Shown amounts: they read well and shown parts add up to the shown total."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.money import format_amount, rounded_shares


@pytest.mark.parametrize(
    ("amount", "digits", "currency", "text"),
    [
        (1234.5, 2, "", "1,234.50"),
        (1234.5, 0, "USD", "USD 1,234"),
        (-1234567.891, 2, "EUR", "EUR -1,234,567.89"),
        (-0.001, 2, "", "0.00"),
        (0, 2, "USD", "USD 0.00"),
        (0.00456, 4, "", "0.0046"),
    ],
)
def test_amounts_read_well(amount, digits, currency, text):
    assert format_amount(amount, digits, currency) == text


def test_three_thirds_of_a_hundred():
    # 33.333... each: the cent that is missing goes to the first
    assert rounded_shares([100 / 3] * 3) == [33.34, 33.33, 33.33]
    assert rounded_shares([0.5, 0.5, 0.5, 0.5], 0) == [1, 1, 0, 0]
    assert rounded_shares([]) == []
    assert rounded_shares([-1 / 3, -1 / 3, -1 / 3]) == [-0.33, -0.33, -0.34]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_amount_is_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        rounded_shares([1.0, bad])


@given(st.lists(st.floats(-1e9, 1e9), max_size=30), st.integers(0, 4))
def test_shown_parts_add_up_to_the_shown_total_and_none_moves_far(parts, digits):
    shares = rounded_shares(parts, digits)
    unit = 10**-digits
    assert round(math.fsum(shares) / unit) == round(math.fsum(part * 10**digits for part in parts))
    assert all(abs(share - part) < unit * (1 + 1e-6) for share, part in zip(shares, parts, strict=True))
