"""Shown numbers add up, and clean text is clean."""

import math
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from planner.reports._content.number_format import apportion, format_money, format_number
from pricing.plain_text import display_width, plain_text, spreadsheet_text

amounts = st.lists(st.floats(-1e9, 1e9), max_size=30)


@given(amounts)
def test_shown_lines_add_up_to_the_shown_total_and_are_less_than_one_off(values):
    shown = apportion(values)
    assert sum(shown) == round(math.fsum(values))
    assert all(abs(one - value) < 1.0001 for one, value in zip(shown, values, strict=True))


@given(amounts)
def test_nothing_stays_nothing(values):
    """A category without a payment must not get a dollar from the rounding."""
    shown = apportion([*values, 0.0, 0.0])
    assert shown[-2:] == [0, 0]


def test_a_total_is_shared_by_the_largest_remainder():
    # 10.4 + 10.4 + 10.2 = 31.0; rounded down 30; the one left goes to the first of the largest remainders (0.4)
    assert apportion([10.4, 10.4, 10.2]) == [11, 10, 10]
    # with a given total of 30 nothing is left to share
    assert apportion([10.4, 10.2, 9.9], 30.49) == [10, 10, 10]
    assert apportion([-10.6, 4.2], -6.4) == [-10, 4]


@given(st.text())
def test_plain_text_is_one_line_without_anything_invisible(text):
    shown = plain_text(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for c in shown)
    assert plain_text(shown) == shown


@given(st.text())
def test_no_cell_of_a_csv_starts_like_a_formula(text):
    assert not spreadsheet_text(text).startswith(tuple("=+-@\t\r＝＋－＠"))


def test_terminal_sequences_leave_nothing_behind():
    assert (
        plain_text("\x1b[1;31mred\x1b[0m \x1b]0;title\x07on\x9b2J \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\")
        == "red on link"
    )


def test_wide_and_combining_characters_are_counted_as_a_terminal_shows_them():
    assert display_width("機械") == 4
    assert display_width("e\u0301") == 1


def test_amounts_that_round_to_nothing_are_a_dash():
    assert format_money(0.49) == "-"
    assert format_money(-0.49) == "-"
    assert format_number(0.0) == "0"
