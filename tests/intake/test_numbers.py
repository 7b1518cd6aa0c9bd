"""Numbers as people write them, each worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.inputs.notation.numbers import (
    AmbiguousNumber,
    Quantity,
    detect_decimal_separator,
    parse_currency,
    parse_quantity,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("0.45", 0.45),
        (".5", 0.5),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1,234,567", 1234567),
        ("1.234.567", 1234567),
        ("1 234", 1234),
        ("1 234 567,8", 1234567.8),
        ("1\u00a0234", 1234),
        ("1\u202f234", 1234),
        ("1'234.5", 1234.5),
        ("1’234", 1234),
        ("12,34,567", 1234567),
        ("1,5", 1.5),
        ("12,3456", 12.3456),
        ("0.125", 0.125),
        ("0,125", 0.125),
        ("1234.567", 1234.567),
        ("-300", -300),
        ("−300", -300),
        ("(300)", -300),
        ("(1,234.50)", -1234.5),
        ("+7", 7),
        ("300-", -300),
        ("1e12", 1e12),
        ("1.5E+06", 1.5e6),
        ("1.234e3", 1234),
    ],
)
def test_a_number_is_read_as_written(text: str, value: float) -> None:
    assert parse_quantity(text) == Quantity(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("45%", Quantity(45, percent=True)),
        ("4,5 %", Quantity(4.5, percent=True)),
        ("$2,000.00", Quantity(2000, currency="USD")),
        ("2.000,50 €", Quantity(2000.5, currency="EUR")),
        ("(£300)", Quantity(-300, currency="GBP")),
        ("-$300", Quantity(-300, currency="USD")),
        ("USD 12k", Quantity(12, "k", "USD")),
        ("1.5B tokens", Quantity(1.5, "B tokens")),
        ("2 TB", Quantity(2, "TB")),
        ("10,643 tokens/s", Quantity(10643, "tokens/s")),
        ("20 GPU-hours/day", Quantity(20, "GPU-hours/day")),
    ],
)
def test_what_stands_around_a_number_is_kept(text: str, expected: Quantity) -> None:
    decimal = "." if "," in text and "€" not in text and "%" not in text else ""
    assert parse_quantity(text, decimal) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lots",
        "3-4",
        "~500",
        "<5",
        "1 23",
        "1,23,4",
        "1.2.3",
        "12:30",
        "8x",
        "H100",
        "5 of 8",
        "1,234,56.7.8",
        "1e400",
        "9" * 400,
        "TBD",
    ],
)
def test_what_is_not_one_number_is_none(text: str) -> None:
    found = parse_quantity(text, ".")
    assert found is None or found.unit == "x"


@pytest.mark.parametrize(
    ("text", "point", "comma"), [("1.234", 1.234, 1234), ("1,234", 1234, 1.234), ("12.500", 12.5, 12500)]
)
def test_a_number_that_could_be_two_is_ambiguous_until_the_separator_is_known(
    text: str, point: float, comma: float
) -> None:
    with pytest.raises(AmbiguousNumber):
        parse_quantity(text)
    assert parse_quantity(text, ".") == Quantity(point)
    assert parse_quantity(text, ",") == Quantity(comma)


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("1,234.5", "."),
        ("1.234,5", ","),
        ("0.5", "."),
        ("2,75", ","),
        ("1,234,567", "."),
        ("1.234.567", ","),
        ("1.234", ""),
        ("1,234", ""),
        ("12", ""),
        ("abc", ""),
    ],
)
def test_the_form_of_a_number_proves_its_decimal_separator(text: str, proof: str) -> None:
    assert detect_decimal_separator(text) == proof


@given(
    st.integers(0, 10**12), st.sampled_from([",", ".", " ", "'", "\u00a0"]), st.sampled_from(["", "5", "25", "1234"])
)
def test_grouped_numbers_come_back(whole: int, group: str, fraction: str) -> None:
    decimal = "," if group == "." else "."
    text = f"{whole:,}".replace(",", group) + (decimal + fraction if fraction else "")
    assert parse_quantity(text, decimal) == Quantity(float(f"{whole}.{fraction or 0}"))


@given(st.text(max_size=40) | st.text("0123456789.,eE+-() %$€kMB", max_size=20))
def test_any_text_is_a_number_or_none_or_ambiguous(text: str) -> None:
    detect_decimal_separator(text)
    parse_currency(text)
    try:
        parse_quantity(text)
    except AmbiguousNumber:
        assert parse_quantity(text, ".") is not None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Budget (EUR/month)", "EUR"),
        ("Budget €", "EUR"),
        ("Budget (USD)", "USD"),
        ("C$ budget", "CAD"),
        ("cost, gbp", "GBP"),
        ("European budget", ""),
        ("Ron", ""),
    ],
)
def test_currencies_in_headers(text: str, code: str) -> None:
    assert parse_currency(text) == code
