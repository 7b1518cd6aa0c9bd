"""The formulas of a ledger taken apart: computed, written for spreadsheets by their rules, hostile texts refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.reports.xlsx.spreadsheet_formulas import spreadsheet_formula
from planner.result.formulas import (
    MAX_NESTING,
    FormulaSyntaxError,
    evaluate_formula,
    parse_formula,
    referenced_names,
)

FIGURES = {"price": 2.5, "pue": 1.54, "fraction": 0.125, "offer_1": 40.0, "fall": -0.3}
CELLS = {name: f"'Offers'!$F${row}" for row, name in enumerate(FIGURES, start=1)}

numbers = st.one_of(st.integers(0, 99), st.floats(0, 99).map(lambda x: round(x, 3))).map(repr)
leaves = st.one_of(numbers, st.sampled_from(sorted(FIGURES)))


def _combined(children):
    """Texts with brackets or without, so that precedence has something to do."""
    bare = st.tuples(children, st.sampled_from(["+", " - ", "*", " / "]), children).map("".join)
    power = st.tuples(
        st.sampled_from(["price", "pue", "2", "(1 + fraction)"]), st.sampled_from([" ^ 2", "^(1/12)", "^-1"])
    )
    return st.one_of(
        bare,
        bare.map(lambda text: f"({text})"),
        children.map(lambda text: f"-{text}"),
        power.map("".join),
        st.tuples(children, children).map(lambda pair: f"MAX({pair[0]}, {pair[1]})"),
        st.tuples(st.sampled_from(["fraction", "0.01", "0"]), st.integers(1, 60)).map(
            lambda p: f"PV({p[0]}, {p[1]}, -1)"
        ),
    )


texts = st.recursive(leaves, _combined, max_leaves=10)


@given(text=texts)
def test_a_spreadsheet_computes_what_is_written_to_the_same_value(text, sheets):
    """The second opinion binds a sign tighter than ^, as spreadsheets do: -2^2 is 4 there and -4 here."""
    node = parse_formula(text)
    try:
        expected = evaluate_formula(node, FIGURES)
    except ZeroDivisionError:
        assume(False)
    assume(math.isfinite(expected))
    cells = sheets.Sheets.__new__(sheets.Sheets)
    cells.names, cells._values = {}, {("Offers", CELLS[name][-2:].replace("$", "F")): v for name, v in FIGURES.items()}
    assert cells.compute(spreadsheet_formula(node, CELLS.__getitem__)) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert referenced_names(node) <= set(FIGURES)


@pytest.mark.parametrize(
    ("text", "amount", "as_written"),
    [
        ("-2 ^ 2", -4.0, "(-(2^2))"),
        ("2 ^ -1", 0.5, "2^(-1)"),
        ("(-2) ^ 2", 4.0, "(-2)^2"),
        ("10 - (4 - 3)", 9.0, "10-(4-3)"),
        ("10 - 4 - 3", 3.0, "10-4-3"),
        ("12 / (2 * 3)", 2.0, "12/(2*3)"),
        ("12 / 2 * 3", 18.0, "12/2*3"),
        ("2 * (3 + 4)", 14.0, "2*(3+4)"),
        ("2 - -3", 5.0, "2-(-3)"),
        ("MAX(1, 2) * 3", 6.0, "MAX(1,2)*3"),
        # two payments of 1 at 10 %: 1 / 1.1 + 1 / 1.21
        ("PV(0.1, 2, -1)", 1 / 1.1 + 1 / 1.21, "PV(0.1,2,(-1))"),
        ("PV(0, 3, -1)", 3.0, "PV(0,3,(-1))"),
        ("1e3 + 1.5E-2", 1000.015, "1e3+1.5E-2"),
    ],
)
def test_by_hand(text, amount, as_written, sheets):
    assert evaluate_formula(parse_formula(text), {}) == pytest.approx(amount)
    assert spreadsheet_formula(parse_formula(text), str) == as_written
    empty = sheets.Sheets.__new__(sheets.Sheets)
    assert empty.compute(as_written) == pytest.approx(amount)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "()", "1 +", "* 2", "1 2", "a b", "(1", "1)", "MAX(1)", "MAX(1, 2, 3)", "PV(1)", "SUM(1, 2)",
        "max(1, 2)", "1e999",
        "1 + =2", 'HYPERLINK("http://x")', "cmd|'/c calc'!A0", "=1", "@a", "a!b", "'Offers'!A1", "A1:B2", "a & b",
        "a;b",
        "1,2", "a\nb", "__import__('os')", "a.b", "a[0]", "{1}", "1 < 2", "a % b", "$A$1", "\x00", "１", "é",
        "MAX(",
        "(" * 200 + "1" + ")" * 200, "-" * 200 + "1",
    ],
)  # fmt: skip
def test_what_is_not_of_the_grammar_is_no_formula(text):
    with pytest.raises(FormulaSyntaxError):
        parse_formula(text)


def test_a_figure_may_be_called_as_a_function_is():
    assert referenced_names(parse_formula("MAX + PV")) == {"MAX", "PV"}


@given(st.text(max_size=40))
def test_any_text_is_a_formula_or_is_refused(text):
    try:
        node = parse_formula(text)
    except FormulaSyntaxError:
        return
    assert spreadsheet_formula(node, lambda name: f"<{name}>").isascii()


@given(st.integers(2, 2 * MAX_NESTING))
def test_a_long_sum_is_not_deep(terms):
    assert evaluate_formula(parse_formula(" + ".join(["1"] * terms)), {}) == terms


def test_a_figure_that_is_not_there_is_told():
    with pytest.raises(KeyError, match="nowhere"):
        evaluate_formula(parse_formula("1 + nowhere"), FIGURES)
