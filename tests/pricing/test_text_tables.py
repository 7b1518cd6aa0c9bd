"""Tables and lines of text for terminals: what comes from outside cannot steer them, and columns line up."""

from hypothesis import given
from hypothesis import strategies as st

from pricing.plain_text import display_width, plain_line, truncate_text
from pricing.text_tables import align_columns


def test_columns_line_up_as_a_terminal_shows_them():
    rows = [("機械 a", "1", "x"), ("e\u0301", "12,345", "longer")]
    # widths: 機械 a is 2 + 2 + 1 + 1 = 6, 12,345 is 6; no spaces at the end of a line
    assert align_columns(("name", "hours", "note"), rows, right=["hours"]) == [
        "name     hours  note",
        "機械 a       1  x",
        "e\u0301       12,345  longer",
    ]


def test_cells_are_made_plain():
    lines = align_columns(("name",), [("\x1b[31mred\x1b[0m\r\nnext",)], indent="  ")
    assert lines == ["  name", "  red next"]


def test_all_columns_but_the_last_are_truncated():
    lines = align_columns(("first", "last"), [("a" * 20, "b" * 20)], width_max=10)
    assert lines == ["first       last", f"aaaaaaa...  {'b' * 20}"]


def test_a_table_without_rows_is_its_head():
    assert align_columns(("a", "b"), []) == ["a  b"]


def test_a_plain_line_keeps_its_spaces():
    assert plain_line("  a\tb\x00  c\x1b[2J") == "  a b  c"


@given(st.text(), st.integers(3, 40))
def test_a_truncated_text_fits(text, width):
    short = truncate_text(text, width)
    assert display_width(short) <= width
    assert short == text or short.endswith("...")
