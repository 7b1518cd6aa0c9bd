"""Build or call in a sheet: a price of input and of output tokens beside a workload, or a fault that names what is
missing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planner.inputs.parsed_file import ParsedFile

HEADER = [
    "Workload", "Kind", "GPU", "Work / month", "Tokens/s per GPU", "Called model", "Call price, input (USD / M tokens)",
    "Call price, output (USD / M tokens)",
]  # fmt: skip
ROW = ["Chat", "inference", "H100", "2B tokens", 900, "model of a vendor", 0.5, 1.5]


def test_a_row_has_its_price(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ROW])
    assert found.complaints == ()
    [price] = found.document["call_prices"]
    assert price == {
        "workload": "Chat", "name": "model of a vendor", "input_per_million": 0.5, "output_per_million": 1.5,
    }  # fmt: skip
    assert found.places["call_prices[0].input_per_million"].endswith("G2")
    assert found.document["currency"] == "USD"


def test_a_price_of_a_thousand_tokens_is_that_of_a_million_by_a_thousand(read_rows: Callable[..., ParsedFile]) -> None:
    header = [*HEADER[:6], "API price input per 1K tokens", "API price output per 1K tokens"]
    found = read_rows([header, [*ROW[:6], 0.0005, 0.0015]])
    assert found.complaints == ()
    [price] = found.document["call_prices"]
    assert (price["input_per_million"], price["output_per_million"]) == pytest.approx((0.5, 1.5))


def test_lengths_of_requests_are_those_of_the_row(read_rows: Callable[..., ParsedFile]) -> None:
    header = [*HEADER[:3], "Requests / s (mean)", "Requests/s per GPU", *HEADER[5:], "Input tokens", "Output tokens"]
    found = read_rows([header, ["Chat", "inference", "H100", 3, 5, *ROW[5:], 800, 200]])
    assert found.complaints == ()
    [price] = found.document["call_prices"]
    assert (price["input_tokens_per_unit"], price["output_tokens_per_unit"]) == (800, 200)


def test_rows_without_a_price_have_none(read_rows: Callable[..., ParsedFile]) -> None:
    found = read_rows([HEADER, ROW, ["Other", *ROW[1:5], "", "", ""]])
    assert found.complaints == ()
    assert len(found.document["call_prices"]) == 1
    assert "call_prices" not in read_rows([HEADER, ["Other", *ROW[1:5], "", "", ""]]).document


@pytest.mark.parametrize(
    ("input_price", "output_price", "headers", "message"),
    [
        (0.5, "", HEADER[6:], "a price of calls without that of output tokens"),
        ("", 1.5, HEADER[6:], "a price of calls without that of input tokens"),
        (0.5, 1.5, ["Call price, input", "Call price, output"], "has no unit"),
    ],
)
def test_half_a_price_is_a_fault(
    read_rows: Callable[..., ParsedFile], input_price: object, output_price: object, headers: list[str], message: str
) -> None:
    found = read_rows([[*HEADER[:6], *headers], [*ROW[:6], input_price, output_price]])
    assert message in found.complaints[0].message
    assert "call_prices" not in found.document
